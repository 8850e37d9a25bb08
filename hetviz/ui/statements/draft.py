"""The statement in the bar before it is added, and the map after it."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
import streamlit as st

from hetviz._types import Ints
from hetviz.algorithms.base import Capability
from hetviz.data.model.statements import set_names, statement_rows
from hetviz.errors import HetvizError
from hetviz.ui.shell import background, session
from hetviz.ui.statements import commands, wording
from hetviz.ui.statements.commands import Draft
from hetviz.workspace import State, SwitchSet

REFIT = "refit-after-each"
# In the session: that the map should be made again, and which rows find their places anew.
_WANTED = "refit-wanted"


def draft(state: State) -> Draft | None:
    """Return the statement that is about to be made, or None while something is lacking."""
    data, saying, groups = state.data, wording.saying(), wording.groups(state)
    if data is None or saying.how == "label" or wording.lacking(saying.how, groups):
        return None
    make = commands.closer if saying.how == "closer" else commands.pairs
    mark = hashlib.sha256(b"".join(name.encode() + groups[name].tobytes() for name in groups))
    key = ("draft", id(data), saying.how, saying.weight, saying.most, mark.hexdigest())

    def drafted() -> Draft | None:
        try:
            return make(data, groups, saying)
        except HetvizError:
            # Such as two groups of the very same items: there is nothing to say of them.
            return None

    return session.cached(key, data, drafted)


def add() -> None:
    """Add what the bar says."""
    state = session.workspace().state
    made = draft(state)
    if made is not None and session.do(made.command()):
        wording.clear(selection=True)
        want(state)


def label(rows: Ints, column: str, value: str) -> None:
    """Label these global rows."""
    state = session.workspace().state
    made = commands.label(state.opened(), rows, column, value)
    if session.do(made.command()):
        st.session_state["label-value"] = ""
        wording.clear(selection=True)
        want(state)


def switch(name: str, on: bool) -> None:
    """Switch a set of statements on or off."""
    state = session.workspace().state
    if session.do(SwitchSet(name, on)):
        rows = np.empty(0, dtype=np.int64)
        if not on and state.data is not None:
            ends = statement_rows(state.data)[set_names(state.data) == name]
            rows = np.unique(ends[ends >= 0])
        want(state, rows)


def refits() -> bool:
    """Whether the map follows each change."""
    return bool(st.session_state.get(REFIT, True))


def want(before: State, loose: Ints | None = None) -> None:
    """Let the map follow what was just said, unless the user wants to wait."""
    state = session.workspace().state
    if state.run is None or state.guided is before.guided or state.is_current(state.run):
        return
    kept: Ints | None = st.session_state.get(_WANTED)
    rows = np.empty(0, dtype=np.int64) if loose is None else loose
    st.session_state[_WANTED] = rows if kept is None else np.union1d(kept, rows)
    if refits():
        follow()


def now() -> None:
    """Let the map follow what was said while it waited."""
    st.session_state.setdefault(_WANTED, np.empty(0, dtype=np.int64))
    _go()


def follow() -> None:
    """Go on with a refit that is wanted, where the map follows each change."""
    if refits():
        _go()


def _go() -> None:
    """Start the refit that is wanted, as soon as nothing else is being made."""
    rows: Any = st.session_state.get(_WANTED)
    state = session.workspace().state
    if rows is None:
        return
    if state.run is None or state.is_current(state.run):
        del st.session_state[_WANTED]
    elif state.pending is not None and state.pending.outcome is not None:
        # It failed or was stopped, which the page tells; it is not tried for ever.
        del st.session_state[_WANTED]
    elif background.live() is None:
        background.refit(state, rows if len(rows) else None)


def deaf(state: State) -> str:
    """Say that the method of the map makes no use of what the bar says; empty where it does."""
    from hetviz.algorithms.registry import get_method

    run = state.run
    if run is None or wording.saying().how != "closer":
        return ""
    try:
        card = get_method(run.method).card
    except HetvizError:
        return ""
    if Capability.COMPARISONS in card.capabilities:
        return ""
    return (
        f"{card.title} makes no use of comparisons: the map will not move, "
        "but is judged by them. Map by comparisons does."
    )
