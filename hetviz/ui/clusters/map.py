"""The map of the Clusters page: names written where the clusters lie; a click picks one."""

from __future__ import annotations

from typing import Any

import numpy as np
import streamlit as st

from hetviz.errors import HetvizError
from hetviz.ui.clusters import cards
from hetviz.ui.clusters.find import coloured
from hetviz.ui.map import component, description, selection_codec
from hetviz.ui.shell import session
from hetviz.workspace import State

_NAME = "clusters-map"
_HEIGHT = "max(300px, calc(100vh - 395px))"


def show(state: State) -> None:
    """Show the map; members of picked clusters stand out."""
    shown = coloured(state)
    run, found = state.run, state.clustering
    if run is None:
        return
    rows = np.empty(0, dtype=np.int64)
    numbers: list[int] = []
    if found is not None:
        numbers = cards.picked(found)
        rows = np.flatnonzero(np.isin(found.of(state.opened()), np.array(numbers) - 1))
    # The component takes over a selection that is newer than its own.
    told = st.session_state.setdefault("clusters-told", (0, None))
    if told[1] != (id(found), tuple(numbers)):
        told = (told[0] + 1, (id(found), tuple(numbers)))
        st.session_state["clusters-told"] = told
    spec = description.spec(
        shown,
        run,
        session=str(st.session_state["sid"]),
        theme=session.theme(),
        mode="work",
        selection=rows,
        version=told[0],
    )
    with st.container(key=_NAME, border=False):
        component.draw(
            {**spec, "together": "clusters"},
            _key(),
            height=_HEIGHT,
            on_selection=_selected,
        )


def _key() -> str:
    return f"{_NAME}-{st.session_state['sid'].encode().hex()[:16]}"


def _selected() -> None:
    """Pick the clusters of what was selected on the map."""
    result: Any = st.session_state.get(_key())
    value = None if result is None else result.get("selection")
    state = session.workspace().state
    found = state.clustering
    if not isinstance(value, dict) or state.data is None or found is None:
        return
    try:
        rows = selection_codec.rows_of_message(value, state.data)
    except HetvizError:
        return
    codes = set(found.of(state.data)[rows].tolist())
    for number in range(1, len(found.names) + 1):
        st.session_state[f"pick-{cards.mark(found)}-{number}"] = number - 1 in codes
