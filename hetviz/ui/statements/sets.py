"""Guidance in sets above the map: each may be switched off and on to see what it does."""

from __future__ import annotations

from collections import Counter

import streamlit as st

from hetviz.data.model.statements import set_names
from hetviz.ui.shell import session, theme
from hetviz.ui.statements import draft
from hetviz.ui.widgets import set_switches
from hetviz.workspace import State

_HEIGHT, _WIDTH = 380, 340


def popover(state: State) -> None:
    """Show the button that opens the list."""
    data = state.data
    if data is None:
        return
    sizes: Counter[str] = session.cached(
        ("sets", id(data)), data, lambda: Counter(str(name) for name in set_names(data))
    )
    with st.popover("Guidance", key="sets"):
        if sizes:
            theme.quiet("Switch a set off, and the map goes without it.")
        else:
            theme.quiet("Nothing has been said yet. Make groups on the map and relate them.")
        # The newest is what one would try first.
        newest = [(name, size, name not in state.off) for name, size in reversed(sizes.items())]
        set_switches.show(newest, draft.switch, "set-list", _HEIGHT, _WIDTH)
        st.toggle(
            "Refit after each change",
            value=draft.refits(),
            key="refit-each",
            on_change=_refits,
        )
        if not draft.refits() and state.run is not None and not state.is_current(state.run):
            st.button("Refit now", key="refit-now", on_click=draft.now)


def _refits() -> None:
    st.session_state[draft.REFIT] = bool(st.session_state["refit-each"])
