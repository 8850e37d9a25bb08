"""The sets of what was said: switched off and on to see what each does, and renamed."""

from __future__ import annotations

import streamlit as st

from hetviz.ui.guidance.ledger import Ledger
from hetviz.ui.shell import session, theme
from hetviz.ui.statements import draft
from hetviz.ui.widgets import set_switches
from hetviz.workspace import RenameSet, State

_HEIGHT = 260


def show(state: State, ledger: Ledger) -> None:
    """Show a switch for each set, with how many statements it holds."""
    sets = ledger.sets
    if sets.empty:
        return
    off = int((~sets["on"]).sum())
    theme.section("What counts", f"{theme.count(off, 'set')} off" if off else "")
    theme.quiet("What one action said is a set. Switch one off, and the map goes without it.")
    rows = [(str(name), int(number), bool(on)) for name, number, on in sets.to_numpy()]
    # The newest is what one would try first.
    set_switches.show(rows[::-1], draft.switch, "sets", _HEIGHT)
    st.toggle("Refit after each change", value=draft.refits(), key="refit-each", on_change=_refits)
    if not draft.refits() and state.run is not None and not state.is_current(state.run):
        st.button("Refit now", key="refit-now", on_click=draft.now)
    with st.popover("Rename a set", type="tertiary", key="rename-set"):
        old = st.selectbox("Set", list(sets["set"]), key="rename-set-which")
        new = st.text_input("New name", max_chars=150, key=f"rename-set-to-{old}")
        st.button(
            "Rename",
            key="rename-set-do",
            disabled=not new.strip() or new.strip() == old,
            on_click=_rename,
            args=(str(old), new.strip()),
        )


def _refits() -> None:
    st.session_state[draft.REFIT] = bool(st.session_state["refit-each"])


def _rename(old: str, new: str) -> None:
    session.do(RenameSet(old, new))
