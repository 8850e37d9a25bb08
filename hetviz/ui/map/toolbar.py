"""Over the map: filters by a column, and the maps, those made and another one."""

from __future__ import annotations

import streamlit as st

from hetviz.ui.map import history
from hetviz.ui.map import new_map as maker
from hetviz.ui.widgets import filters
from hetviz.workspace import State


def tools(state: State) -> None:
    """Show what chooses among the items, below the legend."""
    with st.container(horizontal=True, vertical_alignment="center", key="tools", gap="small"):
        filters.popover(state)
        filters.chips(state)


def new_map(state: State) -> None:
    """Show the button that opens the form for another map, and the list of those made.

    It loads the numerical libraries, so it comes after the map.
    """
    # Another key once a map was started: that closes it, and the map can be seen to move.
    key = f"maker-{st.session_state.get(maker.STARTED, 0)}"
    with (
        st.container(key="new-map"),
        st.popover("New map", icon=":material/add:", key=key),
        st.container(width=400, key="maker"),
    ):
        maker.show(state)
        history.show(state)
