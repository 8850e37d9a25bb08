"""The map as a chart of Streamlit's own, for browsers without WebGL: slower, and less of it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import streamlit as st

from hetviz.data import Embedding
from hetviz.plots import MapPicture, hide_rules, map_figure
from hetviz.ui.map import parts, pictures
from hetviz.ui.shell import session, theme
from hetviz.ui.widgets import charts
from hetviz.workspace import Run, State

_KEY = "native"
# More points than this the browser cannot draw one by one without its graphics card.
_MOST = 8_000
_CONFIG = {
    "displaylogo": False,
    "scrollZoom": True,
    "modeBarButtonsToRemove": ["toImage", "autoScale2d", "zoom2d"],
}


def show(state: State) -> list[str]:
    """Show the map, which can be selected from; return what must be said of it."""
    if state.run is None:
        return []
    # A changed figure is a new chart, which forgets its selection: the rows selected before are
    # then drawn into it. They must not be while it stays, or every selection would redraw it.
    glance = session.workspace().glance
    basis = (id(state.data), id(state.run), state.view, state.filters, session.theme())
    if st.session_state.get("native-basis") != basis:
        st.session_state["native-basis"] = basis
        st.session_state["native-selected"] = tuple(map(int, glance.selection))
    selected = st.session_state["native-selected"]
    picture = session.cached(
        ("native", *basis, selected),
        (state.data, state.run),
        lambda: _drawn(state, state.run, selected),
    )
    if picture is None:
        return []
    theme.rules(hide_rules(f".st-key-{_KEY}", picture.written))
    with st.container(key=_KEY, height=600, border=False):
        st.plotly_chart(
            picture.figure,
            key=f"{_KEY}-map",
            theme=None,
            height="stretch",
            config=_CONFIG,
            on_select=_keep_selection,
            alt=picture.alt,
        )
    said = ["This browser offers no WebGL, so the map is a simpler chart.", *picture.notes]
    if picture.outside:
        said.append(f"{theme.count(picture.outside, 'item')} beyond the edge: drag or zoom out.")
    if picture.unplaced:
        said.append(f"{theme.count(picture.unplaced, 'item')} not drawn or without a place.")
    return said


def _drawn(state: State, run: Run | None, selected: tuple[int, ...]) -> MapPicture | None:
    data, sid = state.opened(), str(st.session_state["sid"])
    embedding = None if run is None else charts.embedding_of(state, run)
    if embedding is None:
        return None
    return map_figure(
        data,
        _few(state, embedding),
        charts.colours(state),
        session.theme(),
        hidden=state.view.hidden,
        picture_of=lambda name, row: pictures.address(sid, data, name, row),
        selected=selected,
        webgl=False,
    )


def _few(state: State, embedding: Embedding) -> Embedding:
    """Return the embedding without the rows that filters hide, nor more than can be drawn."""
    keep = parts.passing_rows(state)
    keep = np.ones(state.opened().n_rows, dtype=bool) if keep is None else keep.copy()
    rows = np.flatnonzero(keep)
    if len(rows) > _MOST:
        keep[:] = False
        keep[rows[np.linspace(0, len(rows) - 1, _MOST).astype(np.int64)]] = True
    coordinates = {
        name: np.where(keep[state.opened().offsets[name], None], Y, np.nan)
        for name, Y in embedding.coordinates.items()
    }
    placed = {name: np.asarray(~np.isnan(Y).any(axis=1)) for name, Y in coordinates.items()}
    return replace(embedding, coordinates=coordinates, placed=placed)


def _keep_selection() -> None:
    event: Any = st.session_state.get(f"{_KEY}-map")
    rows = set()
    for point in event["selection"]["points"] if event else []:
        row = point.get("customdata")
        # One number a point comes back as itself or in a list, as Plotly pleases.
        rows.add(int(row[0] if isinstance(row, list) else row))
    session.workspace().set_glance(selection=np.array(sorted(rows), dtype=np.int64))
