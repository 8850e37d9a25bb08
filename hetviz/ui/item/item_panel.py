"""Panel of one selected item: columns, neighbours, links and explanations."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st

from hetviz._text import shorten
from hetviz.data import HeteroData
from hetviz.data.queries.rows import TouchingLinks, links_touching
from hetviz.metrics.fit.nearest import NearestItems
from hetviz.plots.colour import display_name
from hetviz.ui.item import item_alike, item_chip, item_head, item_text, item_trust, item_why
from hetviz.ui.item.item import MapItem, find_item
from hetviz.ui.map_data import layers
from hetviz.ui.shell import selection, theme
from hetviz.ui.shell.page_state import project_id
from hetviz.ui.widgets.select_buttons import show_select_button
from hetviz.workspace import MapResult, State

_MAX_NAMES = 8
_N_FACTS, _MAX_TEXT_CHARS = 5, 400


def show_item(
    state: State, row: int, offer_closer: Callable[[int, Sequence[int]], None] | None = None
) -> None:
    """Show the panel. `offer_closer` is called with the item and its linked items far away."""
    data, run = state.data, state.run
    if data is None:
        return
    item = find_item(data, row)
    links = links_touching(data, [row])
    item_chip.show_head(
        data, item, item_head.item_line(data, item, row, layers.colours_of(state, state.run))
    )
    nearest_by_dataset = {} if run is None else item_head.nearest_items(state, run, row)
    if run is not None and not nearest_by_dataset:
        theme.show_note("This item has no position on this map.")
    _show_links(state, row, links, nearest_by_dataset)
    far = [
        int(end)
        for items in nearest_by_dataset.values()
        for end in items.ends[(items.weight > 0) & ~items.is_satisfied()]
    ]
    if far and offer_closer is not None and run is not None and state.is_current(run):
        offer_closer(row, far)
    # The browser shows head and links until this element arrives.
    st.html(f'<i class="hv-shown-item" data-of="{row}"></i>')
    if run is not None:
        _show_neighbours(state, run, row, item, nearest_by_dataset)
    _show_facts(data, item)
    if run is not None and nearest_by_dataset:
        item_why.show_item_why(state, run, row)
        item_trust.show_item_trust(state, run, row)
    neighbours = [
        int(other) for nearest_items in nearest_by_dataset.values() for other in nearest_items.rows
    ]
    linked = links.leads_to().tolist()
    with st.container(horizontal=True, gap="small"):
        show_select_button(
            state, "Select neighbours", "pick-near", neighbours, noun="neighbour", selected=[row]
        )
        show_select_button(state, "Select linked", "pick-linked", linked, noun="linked item")
        st.button("Clear", type="tertiary", key="clear", on_click=selection.clear_selection)


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


def _show_neighbours(
    state: State,
    run: MapResult,
    row: int,
    item: MapItem,
    nearest_by_dataset: dict[str, NearestItems],
) -> None:
    """Show the nearest items on the map, and those that are most alike in the data."""
    data, own = state.opened(), item.dataset.name
    listed: dict[str, list[int]] = {}
    for name in sorted(nearest_by_dataset, key=lambda name: name != own):
        rows = nearest_by_dataset[name].rows.tolist()
        listed[name] = rows if item_chip.have_pictures(data, rows) else rows[:_MAX_NAMES]
    alike = item_alike.find_alike(
        state, run, row, [other for rows in listed.values() for other in rows]
    )
    for name, rows in listed.items():
        nearest_items = nearest_by_dataset[name]
        linked = set(nearest_items.rows[nearest_items.linked].tolist())
        is_own = alike is not None and name == own
        key = theme.evidence_key(*(("alike", row, "map") if is_own else ("nearest", row, name)))
        aside = "on the map" + (", outline: linked" if linked else "")
        theme.show_section(f"Nearest {name}", aside, key)
        marks = {} if alike is None else alike.unsupported
        item_chip.show_items(data, rows, linked, unsupported=marks)
        for alike_list in alike.lists if is_own and alike is not None else ():
            item_alike.show_alike(state, row, alike_list)


def _show_links(
    state: State, row: int, links: TouchingLinks, nearest_by_dataset: dict[str, NearestItems]
) -> None:
    data = state.data
    if data is None:
        return
    held_out = _held_out_links(state, row)
    sections = item_head.linked_sections(nearest_by_dataset)
    if len(links) and not sections:
        theme.show_section("Linked with", theme.count(len(links), "link"))
        return
    if not len(links) and held_out is not None:
        theme.show_note("Its links are hidden: they score the map but were not used to make it.")
    elif not len(links) and data.links:
        theme.show_note("This item has no links.")
    for name, nearest_items, title, n_close_text in sections:
        theme.show_section(title, n_close_text, theme.evidence_key("item-links", row, name))
        _show_linked(data, name, nearest_items)
    if held_out is not None and state.run is not None:
        unseen = item_head.nearest_items(state, state.run, row, 1, held_out)
        theme.show_pairs(
            [
                (
                    f"Hidden links to {name} that are close",
                    _n_near_text(nearest_items),
                )
                for name, nearest_items in unseen.items()
                if nearest_items.n_links
            ]
        )


def _n_near_text(nearest_items: NearestItems) -> str:
    return f"{nearest_items.n_links_close:,} of {nearest_items.n_links:,}"


def _held_out_links(state: State, row: int) -> TouchingLinks | None:
    held_out = state.held_out
    if held_out is None or state.data is None or held_out.n_rows != state.data.n_rows:
        return None
    links = links_touching(held_out, [row])
    return links if len(links) else None


def _show_linked(data: HeteroData, name: str, nearest_items: NearestItems) -> None:
    """List the linked items of a dataset, the nearest first."""
    theme.show_note(item_head.bar_legend(name, nearest_items))
    rows = []
    ends = item_head.linked_items(data, nearest_items, project_id())
    for other, end in zip(nearest_items.ends.tolist(), ends, strict=False):
        face = (
            f'<img src="{theme.escape_html(end["picture"])}" alt="" loading="lazy">'
            if end["picture"]
            else f'<i aria-hidden="true">{end["glyph"]}</i>'
        )
        apart = " <em>apart</em>" if end["is_apart"] else ""
        rows.append(
            f"<li{'' if end['is_met'] else ' class=not'}>{face}"
            f"{item_chip.button_html(other, theme.escape_html(end['title']) + apart)}"
            f'<u aria-hidden="true"><i style="width:{end["share"]}%"></i></u>'
            f"<b>{end['n_closer']}</b></li>"
        )
    more = item_head.n_unlisted(nearest_items)
    tail = f"<li class=more>… and {more:,} more, farther away</li>" if more else ""
    st.html(f'<ul class="hv-link-list">{"".join(rows)}{tail}</ul>')
