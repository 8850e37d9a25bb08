"""State of the pages of a visitor, one object in the session of Streamlit."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

import streamlit as st

from hetviz.memo import Memo
from hetviz.serve.people import Person
from hetviz.workspace import ReadOnlyWorkspace

_KEY = "page-state"
_MAX_CACHED = 64

T = TypeVar("T")


@dataclass
class PageState:
    """State of the pages of one project. Opening another project replaces it."""

    sid: str | None = None  # Project id
    person: Person | None = None
    login: str = ""  # Hash of the login of the person
    # Name that a visitor without login chose for statements, None until the browser is asked
    name: str | None = None
    # Part of the keys of upload fields: a new key frees the memory of the field.
    n_uploads: int = 0
    asks_last: bool = False  # Whether the browser is asked for its last project
    # at, arrived, go_to: Address of the page, whether it was just opened, and the page to open
    # next.
    at: str | None = None
    arrived: bool = False
    go_to: str | None = None
    # drawn, panel_drawn: What the page and its panel were drawn for.
    drawn: tuple[object, ...] = ()
    panel_drawn: tuple[object, ...] = ()
    # messages, late: Messages for the next run, and those from outside a run.
    messages: list[tuple[str, str]] = field(default_factory=list)
    late: list[str] = field(default_factory=list)
    own_view: ReadOnlyWorkspace | None = None  # For a visitor who is not the owner
    measured_until: float = 0.0  # Time until which the measured size of the projects counts
    new_link: tuple[str, str] | None = None  # Project and address of a new share link
    # See `session.get_or_compute`.
    cache: Memo = field(default_factory=lambda: Memo(max_entries=_MAX_CACHED))
    parts: dict[type, Any] = field(default_factory=dict)  # See `state_of`

    def part(self, kind: type[T]) -> T:
        """Return the part of one package of the app, made on first use."""
        if kind not in self.parts:
            self.parts[kind] = kind()
        part: T = self.parts[kind]
        return part


_CARRIED = threading.local()


def page_state() -> PageState:
    """Return the state of the visitor's pages."""
    carried: PageState | None = getattr(_CARRIED, "state", None)
    if carried is not None:
        return carried
    state = st.session_state.get(_KEY)
    if not isinstance(state, PageState):
        state = st.session_state[_KEY] = PageState()
    return state


def state_of(kind: type[T]) -> T:
    """Return the part of the page state that a package declares as a dataclass."""
    return page_state().part(kind)


def carry(work: Callable[[], T]) -> Callable[[], T]:
    """Return a function that another thread can call, with the page state of this one."""
    state = page_state()

    def carried() -> T:
        _CARRIED.state = state
        try:
            return work()
        finally:
            _CARRIED.state = None

    return carried


def project_id() -> str:
    """Return the id of the open project."""
    return str(page_state().sid)


def replace_page_state(sid: str) -> None:
    """Start with the state of another project, for the same person."""
    before = page_state()
    for key in set(st.session_state):
        del st.session_state[key]
    # The browser still holds the files of the upload fields.
    st.session_state[_KEY] = PageState(
        sid, before.person, before.login, before.name, before.n_uploads
    )
