"""Guidance in sets above the map: each may be switched off and on to see what it does."""

from __future__ import annotations

from collections import Counter
from typing import Literal

import streamlit as st

from hetviz.data.statements import set_names
from hetviz.ui import act_draft, look, session
from hetviz.workspace import State

_SCROLLS_FROM = 9
_HEIGHT = 380


def popover(state: State) -> None:
    """Show the button that opens the list."""
    data = state.data
    if data is None:
        return
    sizes: Counter[str] = session.cached(
        ("sets", id(data)), data, lambda: Counter(str(name) for name in set_names(data))
    )
    with st.popover("Guidance", key="sets"):
        height: int | Literal["content"] = _HEIGHT if len(sizes) >= _SCROLLS_FROM else "content"
        with st.container(width=340, height=height, border=False, gap="xsmall", key="set-list"):
            if sizes:
                look.quiet("Switch a set off, and the map goes without it.")
            else:
                look.quiet("Nothing has been said yet. Make groups on the map and relate them.")
            # The newest is what one would try first.
            for place, (name, size) in reversed(list(enumerate(sizes.items()))):
                on = name not in state.off
                key = f"set-{place}-{name}-{on}"
                st.toggle(
                    look.plain(f"{name} ({size:,})"),
                    value=on,
                    key=key,
                    on_change=act_draft.switch,
                    args=(name, key),
                )
        st.toggle(
            "Refit after each change",
            value=act_draft.refits(),
            key="refit-each",
            on_change=_refits,
        )
        if not act_draft.refits() and state.run is not None and not state.is_current(state.run):
            st.button("Refit now", key="refit-now", on_click=act_draft.now)


def _refits() -> None:
    st.session_state[act_draft.REFIT] = bool(st.session_state["refit-each"])
