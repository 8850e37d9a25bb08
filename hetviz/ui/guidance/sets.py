"""The sets of what was said: switched off and on to see what each does, and renamed."""

from __future__ import annotations

import streamlit as st

from hetviz.ui.guidance.ledger import Ledger
from hetviz.ui.shell import session, theme
from hetviz.ui.widgets import set_switches
from hetviz.workspace import RenameSet, SwitchSet

_HEIGHT = 260


def show(ledger: Ledger) -> None:
    """Show a switch for each set, with how many statements it holds."""
    sets = ledger.sets
    if sets.empty:
        return
    off = int((~sets["on"]).sum())
    theme.section("What counts", f"{theme.count(off, 'set')} off" if off else "")
    theme.quiet("What one action said is a set. Switch one off and refit to see what it does.")
    rows = [(str(name), int(number), bool(on)) for name, number, on in sets.to_numpy()]
    set_switches.show(rows, _switch, "sets", _HEIGHT)
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


def _switch(name: str, on: bool) -> None:
    session.do(SwitchSet(name, on))


def _rename(old: str, new: str) -> None:
    session.do(RenameSet(old, new))
