"""The panel of one selected item: what it is, what lies nearest, and what its links lead to."""

from __future__ import annotations

import streamlit as st

from hetviz._text import short
from hetviz.data import HeteroData
from hetviz.data.queries.rows import Touching, touching
from hetviz.metrics.fit.nearest import Nearest
from hetviz.plots.colour import spoken
from hetviz.ui.map import item_head, item_trust, item_why
from hetviz.ui.shell import selection, session, theme
from hetviz.ui.widgets import charts, item_chip, item_text
from hetviz.ui.widgets.item_chip import Item
from hetviz.workspace import Run, State

_WORDS = 8
_FACTS, _LONG = 5, 400


def show(state: State, row: int) -> None:
    """Show one item."""
    data, run = state.data, state.run
    if data is None:
        return
    item = item_chip.item_at(data, row)
    links = touching(data, [row])
    item_chip.head(data, item, item_head.line(data, item, row, charts.colours(state)))
    near = {} if run is None else _nearest(state, run, row)
    if run is not None and not near:
        theme.quiet("This item has no place on this map.")
    _links(state, row, links, near)
    # The browser shows head and links by itself until they are here.
    st.html(f'<i class="hv-of" data-of="{row}"></i>')
    for name, found in near.items():
        _neighbours(data, name, found)
    _facts(data, item)
    if run is not None and near:
        item_why.show(state, run, row)
        item_trust.show(state, run, row)
    neighbours = [int(other) for found in near.values() for other in found.rows]
    linked = links.leads_to().tolist()
    with st.container(horizontal=True, gap="small"):
        _button("Select neighbours", "pick-near", [row, *neighbours], bool(neighbours))
        _button("Select linked", "pick-linked", linked, bool(linked))
        st.button("Clear", type="tertiary", key="clear", on_click=selection.clear)


def _facts(data: HeteroData, item: Item) -> None:
    """Show the row's columns: few at once, all on request, long texts as text."""
    dataset = item.dataset
    hidden = {dataset.title_column, (dataset.recipe or {}).get("media")}
    facts: list[tuple[str, str]] = []
    own = str(dataset.ids[item.row])
    texts: list[tuple[str, str]] = []
    for name, (kind, words) in item_text.facts_of(data, dataset.name, item.row).items():
        if name in hidden or not words or words in (item.title, own):
            continue
        if kind == "text" or len(words) > 60:
            texts.append((name, words))
        else:
            unit = f" {dataset.units[name]}" if name in dataset.units else ""
            facts.append((spoken(name), f"{words}{unit}"))
    if own != item.title:
        facts.append(("Id", short(own, 40)))
    if facts or texts:
        theme.section("What is known of it")
    if facts:
        theme.pairs(facts[:_FACTS])
    for _, words in texts[:1]:
        theme.quiet(short(words, _LONG))
    longer = [pair for pair in texts if len(pair[1]) > _LONG] or texts[1:]
    if len(facts) > _FACTS or longer:
        with st.expander(f"All {theme.count(len(facts) + len(texts), 'column')}"):
            theme.pairs(facts)
            for name, words in texts:
                st.html(
                    f'<p class="hv-text"><b>{theme.esc(spoken(name))}</b> {theme.esc(words)}</p>'
                )


def _nearest(state: State, run: Run, row: int) -> dict[str, Nearest]:
    data = state.data
    if data is None:
        return {}
    return session.cached(
        ("nearest", id(data), id(run), row),
        (data, run),
        lambda: item_head.near_of(state, run, row),
    )


def _neighbours(data: HeteroData, name: str, found: Nearest) -> None:
    rows = found.rows
    pictures = [item_chip.picture_of(data, item_chip.item_at(data, int(row))) for row in rows]
    mostly = sum(address is not None for address in pictures) > len(rows) / 2
    rows = rows if mostly else rows[:_WORDS]
    marked = set(found.rows[found.linked].tolist())
    aside = f"{len(rows)} of {found.n_others:,}" + ("; outlined: linked" if marked else "")
    theme.section(f"Nearest {name}", aside)
    (item_chip.strip if mostly else item_chip.chips)(data, rows.tolist(), marked)


def _links(state: State, row: int, links: Touching, near: dict[str, Nearest]) -> None:
    """Say what it is linked with, and how near that lies on the map."""
    data = state.data
    if data is None:
        return
    held = _held_out(state, row)
    there = item_head.sections(near)
    if len(links) and not there:
        theme.section("Linked with", theme.count(len(links), "link"))
        return
    if not len(links) and held is not None:
        theme.quiet("Its links are held out: the map is judged by them and was not made from them.")
    elif not len(links) and data.links:
        theme.quiet("No link touches this item.")
    for name, found, title, kept in there:
        theme.section(title, kept)
        _ends(data, name, found)
    if held is not None and state.run is not None:
        unseen = item_head.near_of(state, state.run, row, 1, held)
        theme.pairs(
            [
                (f"Held-out {name} among the {found.n_near:,} that count as near", _kept(found))
                for name, found in unseen.items()
                if found.n_links
            ]
        )


def _kept(found: Nearest) -> str:
    return f"{found.n_links_near:,} of {found.n_links:,}"


def _held_out(state: State, row: int) -> Touching | None:
    """Return the links that came with the data to judge a map by, of this item."""
    held = state.held_out
    if held is None or state.data is None or held.n_rows != state.data.n_rows:
        return None
    found = touching(held, [row])
    return found if len(found) else None


def _button(label: str, key: str, rows: list[int], enabled: bool) -> None:
    st.button(label, key=key, disabled=not enabled, on_click=selection.choose, args=(rows,))


def _ends(data: HeteroData, name: str, found: Nearest) -> None:
    """List what of one dataset the item is linked with, the nearest first."""
    theme.quiet(item_head.told(name, found))
    rows = []
    for end in item_head.ends(data, found, str(st.session_state["sid"])):
        face = (
            f'<img src="{theme.esc(end["picture"])}" alt="" loading="lazy">'
            if end["picture"]
            else f'<i aria-hidden="true">{end["glyph"]}</i>'
        )
        apart = " <em>apart</em>" if end["apart"] else ""
        rows.append(
            f"<li{'' if end['met'] else ' class=not'}>{face}"
            f"<span>{theme.esc(end['title'])}{apart}</span>"
            f'<u aria-hidden="true"><i style="width:{end["share"]}%"></i></u>'
            f"<b>{end['nearer']}</b></li>"
        )
    more = item_head.more(found)
    tail = f"<li class=more>… and {more:,} more, farther away</li>" if more else ""
    st.html(f'<ul class="hv-ends-of">{"".join(rows)}{tail}</ul>')
