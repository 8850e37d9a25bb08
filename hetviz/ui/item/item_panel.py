"""Panel of one selected item: columns, neighbours, links and explanations."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import streamlit as st

from hetviz._text import shorten
from hetviz._types import Ints
from hetviz.data import HeteroData
from hetviz.data.queries.rows import links_touching
from hetviz.errors import HetvizError
from hetviz.metrics.fit.nearest import NearestItems
from hetviz.plots.colour import display_name
from hetviz.ui.item import (
    blocks,
    item_alike,
    item_chip,
    item_head,
    item_text,
    item_trust,
    item_why,
)
from hetviz.ui.item.blocks import Block
from hetviz.ui.item.item import MapItem, find_item
from hetviz.ui.map_data import layers
from hetviz.ui.shell import background, selection, theme
from hetviz.ui.shell.page_state import project_id
from hetviz.ui.widgets.select_buttons import show_select_button
from hetviz.workspace import MapResult, Workspace

_CLOSER, _TRY_AGAIN = "bring-closer", "again-alike"
_MAX_NAMES = 8
_N_FACTS, _MAX_TEXT_CHARS = 5, 400


def show_item(
    workspace: Workspace,
    row: int,
    draft_closer: Callable[[int, Sequence[int]], None],
    show_more: Callable[[Ints], None],
) -> None:
    """Show the panel.

    `draft_closer`: Called with the item and its linked items far away. `show_more`: Shows further
        actions for rows.
    """
    state, run = workspace.state, workspace.state.run
    data = state.data
    if data is None:
        return
    item = find_item(data, row)
    item_chip.show_head(
        data, item, item_head.item_line(data, item, row, layers.colours_of(state, run))
    )
    nearest_by_dataset = {} if run is None else item_head.nearest_items(state, run, row)
    on_click = {
        _CLOSER: partial(draft_closer, row, _far_ends(nearest_by_dataset)),
        item_trust.MEASURE: partial(background.measure_spread, state),
    }
    if run is not None:
        on_click[item_why.FIND_OUT] = partial(item_why.allow, workspace, run)
        on_click[_TRY_AGAIN] = partial(item_alike.drop, data, run, row)
    for block in panel_blocks(workspace, row, project_id()):
        _show_block(block, on_click)
    # The browser shows these blocks until this element arrives.
    st.html(f'<i class="hv-shown-item" data-of="{row}"></i>')
    if run is not None and nearest_by_dataset:
        item_why.show_details(workspace, run, row)
    _show_facts(data, item)
    neighbours = [
        int(other) for nearest_items in nearest_by_dataset.values() for other in nearest_items.rows
    ]
    linked = links_touching(data, [row]).leads_to().tolist()
    with st.container(horizontal=True, gap="small"):
        show_select_button(
            state, "Select neighbours", "pick-near", neighbours, noun="neighbour", selected=[row]
        )
        show_select_button(state, "Select linked", "pick-linked", linked, noun="linked item")
        show_more(np.array([row]))
        st.button("Clear", type="tertiary", key="clear", on_click=selection.clear_selection)


def panel_blocks(
    workspace: Workspace, row: int, session: str, is_preview: bool = False
) -> list[Block]:
    """Return the blocks below the head: linked, nearest, why, how reliable.

    `is_preview`: Wait for similar items, which a thread computes for large data, and leave out
        the last blocks if the first explanation on a map would have to be awaited.
    """
    state, run = workspace.state, workspace.state.run
    nearest_by_dataset = {} if run is None else item_head.nearest_items(state, run, row)
    parts: list[Block] = []
    if run is not None and not nearest_by_dataset:
        parts.append(blocks.note("This item has no position on this map."))
    parts += item_head.link_blocks(state, run, row, nearest_by_dataset, session)
    if run is None:
        return parts
    n_far = len(_far_ends(nearest_by_dataset))
    if n_far and state.is_current(run):
        text = "Bring the far one closer" if n_far == 1 else f"Bring the {n_far:,} far ones closer"
        parts.append(blocks.button(_CLOSER, text))
    parts += _nearest_blocks(workspace, run, row, nearest_by_dataset, session, is_preview)
    if nearest_by_dataset and not (is_preview and not item_why.is_ready(workspace, run)):
        parts += item_why.why_blocks(workspace, run, row, session)
        parts += item_trust.trust_blocks(workspace, run, row, session)
    return parts


def _far_ends(nearest_by_dataset: dict[str, NearestItems]) -> list[int]:
    return [
        int(end)
        for items in nearest_by_dataset.values()
        for end in items.ends[(items.weight > 0) & ~items.is_satisfied()]
    ]


def panel_content(workspace: Workspace, row: int, session: str) -> dict[str, Any] | None:
    """Return the head and the blocks of an item, JSON-ready; None without a position."""
    run = workspace.state.run
    head = None if run is None else item_head.item_head(workspace.state, run, row, session)
    if head is None:
        return None
    return head | {"blocks": panel_blocks(workspace, row, session, is_preview=True)}


def explain(workspace: Workspace, row: int) -> None:
    """Compute the explanation of an item, so that the previews of all items have one."""
    run = workspace.state.run
    if run is not None and run.method:
        item_why.why_blocks(workspace, run, row, "")


def _show_block(block: Block, on_click: Mapping[str, Callable[[], None]]) -> None:
    kind = block["kind"]
    if kind == "section":
        theme.show_section(block["title"], block["aside"], block["evidence"])
    elif kind == "note":
        theme.show_note(block["text"], block["evidence"])
    elif kind == "pairs":
        theme.show_pairs([(name, value) for name, value in block["rows"]])
    elif kind == "links":
        st.html(_links_html(block))
    elif kind == "items":
        st.html(item_chip.items_html(block))
    elif kind == "like":
        st.html(
            f'<button type="button" class="hv-preview-button" data-hv-like="{block["row"]}" '
            f'data-hv-title="{theme.escape_html(block["title"])}">{block["text"]}</button>'
        )
    elif block["is_quiet"]:
        st.button(
            block["text"],
            type="tertiary",
            key=block["key"],
            disabled=background.running_job() is not None,
            on_click=on_click[block["key"]],
            help="Refits the map several times with resampled links. Takes up to three times as "
            "long as making the map.",
        )
    else:
        st.button(block["text"], key=block["key"], on_click=on_click[block["key"]])


def _show_facts(data: HeteroData, item: MapItem) -> None:
    """Show the first columns, with all columns and long texts in an expander."""
    dataset = item.dataset
    hidden = {dataset.title_column, (dataset.recipe or {}).get("media")}
    facts: list[tuple[str, str]] = []
    id_text = str(dataset.ids[item.row])
    texts: list[tuple[str, str]] = []
    for name, (kind, text) in item_text.facts_of(data, dataset.name, item.row).items():
        if name in hidden or not text or text in (item.title, id_text):
            continue
        if kind == "text" or len(text) > 60:
            texts.append((name, text))
        else:
            unit = f" {dataset.units[name]}" if name in dataset.units else ""
            facts.append((display_name(name), f"{text}{unit}"))
    if id_text != item.title:
        facts.append(("Id", shorten(id_text, 40)))
    if facts or texts:
        theme.show_section("Columns")
    if facts:
        theme.show_pairs(facts[:_N_FACTS])
    for _, text in texts[:1]:
        theme.show_note(shorten(text, _MAX_TEXT_CHARS))
    longer = [pair for pair in texts if len(pair[1]) > _MAX_TEXT_CHARS] or texts[1:]
    if len(facts) > _N_FACTS or longer:
        with st.expander(f"All {theme.count(len(facts) + len(texts), 'column')}"):
            theme.show_pairs(facts)
            for name, text in texts:
                title, content = theme.escape_html(display_name(name)), theme.escape_html(text)
                st.html(f'<p class="hv-text"><b>{title}</b> {content}</p>')


def _nearest_blocks(
    workspace: Workspace,
    run: MapResult,
    row: int,
    nearest_by_dataset: dict[str, NearestItems],
    session: str,
    wait: bool,
) -> list[Block]:
    """Return the nearest items on the map, and those that are most alike in the data."""
    data = workspace.state.opened()
    own = find_item(data, row).dataset.name
    listed: dict[str, list[int]] = {}
    for name in sorted(nearest_by_dataset, key=lambda name: name != own):
        rows = nearest_by_dataset[name].rows.tolist()
        if rows:
            pictured = item_chip.have_pictures(data, rows, session)
            listed[name] = rows if pictured else rows[:_MAX_NAMES]
    alike, parts = None, list[Block]()
    try:
        alike = item_alike.find_alike(
            workspace,
            run,
            row,
            [row for rows in listed.values() for row in rows],
            session,
            wait,
        )
    except HetvizError as error:
        parts = [blocks.note(str(error)), blocks.button(_TRY_AGAIN, "Try again")]
    for name, rows in listed.items():
        nearest_items = nearest_by_dataset[name]
        linked = set(nearest_items.rows[nearest_items.linked].tolist())
        is_own = alike is not None and name == own
        key = theme.evidence_key(*(("alike", row, "map") if is_own else ("nearest", row, name)))
        aside = "on the map" + (", outline: linked" if linked else "")
        marks = {} if alike is None else alike.unsupported
        parts += [
            blocks.section(f"Nearest {name}", aside, key),
            item_chip.items_block(data, rows, session, linked, unsupported=marks),
        ]
        for alike_list in alike.lists if is_own and alike is not None else ():
            parts += item_alike.alike_blocks(data, row, alike_list, session)
    return [*parts, blocks.like(row, find_item(data, row).title)] if listed else parts


def _links_html(block: Block) -> str:
    rows = []
    for end in block["ends"]:
        face = (
            f'<img src="{theme.escape_html(end["picture"])}" alt="" loading="lazy">'
            if end["picture"]
            else f'<i aria-hidden="true">{end["glyph"]}</i>'
        )
        apart = " <em>apart</em>" if end["is_apart"] else ""
        rows.append(
            f"<li{'' if end['is_met'] else ' class=not'}>{face}"
            f"{item_chip.button_html(end['row'], theme.escape_html(end['title']) + apart)}"
            f'<u aria-hidden="true"><i style="width:{end["share"]}%"></i></u>'
            f"<b>{end['n_closer']}</b></li>"
        )
    more = f"<li class=more>{theme.escape_html(block['more'])}</li>" if block["more"] else ""
    return f'<ul class="hv-link-list">{"".join(rows)}{more}</ul>'
