"""The items that lie most differently on two maps."""

from __future__ import annotations

import numpy as np
import streamlit as st

from hetviz._text import short
from hetviz._types import Floats, Ints
from hetviz.data import HeteroData
from hetviz.metrics.fit.moved import moved
from hetviz.ui.shell import selection, session, theme
from hetviz.ui.widgets import item_chip
from hetviz.workspace import Run, State

_ITEMS, _NEAR = 12, 10
_TITLE = 24


def show(state: State, shown: list[Run], titles: dict[str, str]) -> None:
    """Show the list; a click selects an item on all maps."""
    data = state.opened()
    first, others = shown[0], shown[1:]
    with st.container(horizontal=True, vertical_alignment="center", key="compare-moved-head"):
        theme.section("Moved most")
        names = {run.id: titles[run.id] for run in others}
        after = others[0].id
        if len(others) > 1:
            after = st.segmented_control(
                f"Between {titles[first.id]} and",
                list(names),
                format_func=lambda id: theme.plain(names[id]),
                default=after,
                required=True,
                key=f"compare-moved-{'-'.join(names)}",
                label_visibility="collapsed",
            )
    other = next(run for run in others if run.id == after)
    rows, shares = session.cached(
        ("moved", id(data), id(first), id(other)),
        (data, first, other),
        lambda: _movers(first, other),
    )
    if not len(rows):
        theme.quiet("No item has a place on both maps.")
        return
    theme.quiet(
        f"From {titles[first.id]} to {titles[other.id]}, as a share of the map's width; a click "
        "selects the item on all maps."
    )
    chosen = set(selection.chosen(state).tolist())
    with st.grid(6, min_column_width=200, gap="small", key="compare-moved"):
        for row, share in zip(rows, shares, strict=True):
            _item(data, int(row), float(share), int(row) in chosen)


def _movers(first: Run, other: Run) -> tuple[Ints, Floats]:
    distance = moved(first.embedding, other.embedding)
    there = np.flatnonzero(np.isfinite(distance))
    rows = there[np.argsort(-distance[there], kind="stable")][:_ITEMS]
    return rows, distance[rows]


def _item(data: HeteroData, row: int, share: float, chosen: bool) -> None:
    item = item_chip.item_at(data, row)
    source = item_chip.picture_of(data, item)
    face = (
        f'<img src="{theme.esc(source)}" alt="" loading="lazy">'
        if source
        else f"<i>{item.glyph}</i>"
    )
    with st.container(
        horizontal=True, vertical_alignment="center", gap="xsmall", key=f"moved-box-{row}"
    ):
        st.html(f'<span class="hv-moved">{face}</span>', width="content")
        st.button(
            theme.plain(f"{short(item.title, _TITLE)}, {100 * share:.0f} %"),
            key=f"moved-{row}",
            type="tertiary",
            disabled=chosen,
            on_click=selection.choose,
            args=([row],),
        )
