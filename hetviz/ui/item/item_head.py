"""Head of the item panel: title, picture and linked items.

The browser requests it when the pointer is on an item, and shows it on a click until the panel
arrives.
"""

from __future__ import annotations

from itertools import islice
from math import log1p
from typing import Any

import numpy as np

from hetviz._text import count, join_words, shorten
from hetviz.data import HeteroData
from hetviz.data.queries.rows import TouchingLinks, links_touching
from hetviz.memo import Memo
from hetviz.metrics.fit.nearest import NearestItems, nearest
from hetviz.plots.colour import Colouring
from hetviz.ui.item import blocks, pictures
from hetviz.ui.item.blocks import Block
from hetviz.ui.item.item import MapItem, find_item
from hetviz.ui.map_data.layers import colours_of
from hetviz.ui.map_data.parts import get_geometry, link_reach
from hetviz.ui.shell.evidence_key import evidence_key
from hetviz.workspace import MapResult, State

N_NEAREST = 10
MAX_LINKED = 12
_MAX_NAME_CHARS, _MAX_LINKED_PICTURES = 44, 4
_NEAREST = Memo(max_entries=32)


def item_head(state: State, run: MapResult, row: int, session: str) -> dict[str, Any] | None:
    """Return the head of the item panel, JSON-ready."""
    data = state.data
    embedding = None if data is None else state.embedding(run)
    if data is None or embedding is None:
        return None
    item = find_item(data, row)
    links = links_touching(data, [row])
    nearest_by_dataset = nearest_items(state, run, row)
    if not nearest_by_dataset:
        return None
    return {
        "title": item.title,
        "map_id": get_geometry(state, run).id,
        "line": item_line(data, item, row, colours_of(state, run)),
        "pictures": picture_addresses(data, item, session, links),
        "has_picture": has_picture(data, item),
        "glyph": item.glyph,
        "blocks": link_blocks(state, run, row, nearest_by_dataset, session),
    }


def link_blocks(
    state: State,
    run: MapResult | None,
    row: int,
    nearest_by_dataset: dict[str, NearestItems],
    session: str,
) -> list[Block]:
    """Return the linked items of each dataset, the nearest first."""
    data = state.opened()
    n_links, held_out = len(links_touching(data, [row])), _held_out_links(state, row)
    sections = linked_sections(nearest_by_dataset)
    if n_links and not sections:
        return [blocks.section("Linked with", count(n_links, "link"))]
    parts: list[Block] = []
    if not n_links and held_out is not None:
        parts.append(
            blocks.note("Its links are hidden: they score the map but were not used to make it.")
        )
    elif not n_links and data.links:
        parts.append(blocks.note("This item has no links."))
    for name, items, title, n_close_text in sections:
        more = n_unlisted(items)
        parts += [
            blocks.section(title, n_close_text, evidence_key("item-links", row, name)),
            blocks.note(bar_legend(name, items)),
            {
                "kind": "links",
                "ends": linked_items(data, items, session),
                "more": f"… and {more:,} more, farther away" if more else "",
            },
        ]
    if held_out is not None and run is not None:
        unseen = nearest_items(state, run, row, 1, held_out)
        close = [
            (
                f"Hidden links to {name} that are close",
                f"{items.n_links_close:,} of {items.n_links:,}",
            )
            for name, items in unseen.items()
            if items.n_links
        ]
        parts += [blocks.pairs(close)] if close else []
    return parts


def _held_out_links(state: State, row: int) -> TouchingLinks | None:
    held_out = state.held_out
    if held_out is None or state.data is None or held_out.n_rows != state.data.n_rows:
        return None
    links = links_touching(held_out, [row])
    return links if len(links) else None


def nearest_items(
    state: State, run: MapResult, row: int, n: int = N_NEAREST, links: TouchingLinks | None = None
) -> dict[str, NearestItems]:
    """Return the nearest items of each dataset, with the distance that counts as close."""
    data, embedding = state.opened(), state.embedding(run)
    if embedding is None:
        return {}

    def make() -> dict[str, NearestItems]:
        return nearest(data, embedding, row, n, links=links, max_distances=link_reach(state, run))

    if links is not None:
        return make()
    # The hover card and the panel need the same.
    key, held_out = (id(run), id(state.held_out), row, n), state.held_out
    return _NEAREST.get_or_compute(data, key, make, (run, held_out))


def linked_sections(
    nearest_by_dataset: dict[str, NearestItems],
) -> list[tuple[str, NearestItems, str, str]]:
    """Return the linked datasets with a title and the number of close links."""
    linked = {name: items for name, items in nearest_by_dataset.items() if len(items.ends)}
    return [
        (
            name,
            items,
            "Linked with" if len(linked) == 1 else f"Linked {name}",
            f"{int(items.is_satisfied().sum()):,} of {len(items.ends):,} {_met_text(items)}",
        )
        for name, items in linked.items()
    ]


def _met_text(items: NearestItems) -> str:
    return "as linked" if (items.weight < 0).any() else "close"


def bar_legend(name: str, items: NearestItems) -> str:
    """Return the legend of the bars of linked items."""
    if not items.n_close:
        return f"The number of {name} that are closer. None is near enough to count as close."
    close = "only the nearest counts" if items.n_close == 1 else f"{items.n_close:,} count"
    return f"The number of {name} that are closer. Up to the mark, {close} as close."


def n_unlisted(items: NearestItems) -> int:
    """Return the number of linked items that are not listed."""
    return max(len(items.ends) - MAX_LINKED, 0)


def linked_items(data: HeteroData, linked: NearestItems, session: str) -> list[dict[str, Any]]:
    """Return the linked items of a dataset, the nearest first."""
    rows = []
    for row, nearer, weight, met in zip(
        linked.ends[:MAX_LINKED].tolist(),
        linked.n_closer.tolist(),
        linked.weight.tolist(),
        linked.is_satisfied().tolist(),
        strict=False,
    ):
        item = find_item(data, row)
        share = 100.0 * bar_length(nearer, linked.n_close, linked.n_others)
        rows.append(
            {
                "row": row,
                "title": shorten(item.title, _MAX_NAME_CHARS),
                "picture": pictures.picture_address(session, data, item.dataset.name, item.row),
                "glyph": item.glyph,
                "is_apart": weight < 0,
                "is_met": met,
                "share": max(round(share), 3),
                "n_closer": f"{nearer:,}",
            }
        )
    return rows


def bar_length(nearer: int, n_near: int, n_others: int) -> float:
    """Return the bar length of a rank on a log scale: 1 for the nearest, 0.5 at the close limit."""
    edge = log1p(n_near)
    if nearer < n_near:
        return 1.0 - 0.5 * log1p(nearer) / edge
    beyond = log1p(max(n_others, n_near + 1)) - edge
    return 0.5 * (1.0 - min((log1p(nearer) - edge) / beyond, 1.0))


def item_line(data: HeteroData, item: MapItem, row: int, colours: Colouring) -> str:
    """Return the dataset of an item and the category of its colour."""
    dataset = item.dataset
    text = dataset.name
    own_id = dataset.ids[item.row]
    others = [name for name in data.views(dataset.entity) if name != dataset.name]
    also = [name for name in others if data[name].find([own_id])[0] >= 0]
    if also:
        text += f", also in {join_words(also)}"
    code = int(colours.code[row]) if colours.categories else -1
    if code < 0 or colours.option.kind == "dataset":
        return text
    group = colours.value_text(row)
    if colours.categories[code].lower() in ("yes", "no", "true", "false"):
        return f"{text} · {colours.option.title}: {group}"
    # A number needs the title of its column.
    is_word = colours.categories[code][:1].isalpha()
    return f"{text} · {group if is_word else f'{colours.option.title} {group}'}"


def picture_addresses(
    data: HeteroData, item: MapItem, session: str, links: TouchingLinks | None = None
) -> list[str]:
    """Return the address of an item's picture, or up to four of its most strongly linked items."""
    own_address = pictures.picture_address(session, data, item.dataset.name, item.row)
    if own_address:
        return [own_address]
    if all(dataset.media is None for dataset in data.datasets.values()):
        return []
    touching_links = links or links_touching(
        data, [data.offsets[item.dataset.name].start + item.row]
    )
    together = touching_links.weight > 0
    order = np.argsort(-touching_links.weight[together], kind="stable")
    rows = dict.fromkeys(touching_links.outer[together][order].tolist())
    others = (find_item(data, row) for row in rows)
    addresses = (
        pictures.picture_address(session, data, other.dataset.name, other.row) for other in others
    )
    return list(islice(filter(None, addresses), _MAX_LINKED_PICTURES))


def has_picture(data: HeteroData, item: MapItem) -> bool:
    """Return whether an item has a picture."""
    media = item.dataset.media
    return media is not None and media[item.row] is not None
