"""The visitor's session: its id in the address, its workspace, its small caches."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, Literal, TypeVar

import streamlit as st

from hetviz._samples import samples
from hetviz.errors import HetvizError
from hetviz.plots.palette import Theme
from hetviz.ui.shell import people
from hetviz.ui.shell.paths import FIRST_SAMPLE
from hetviz.workspace import SESSIONS, Command, OpenSample, ReadOnlyWorkspace, Workspace
from hetviz.workspace.store.sessions import is_session_id, new_session_id

_MAX_CACHED = 64

T = TypeVar("T")


def session_id(takes_up: bool = False) -> str:
    """Return this visitor's session id and write it into the address.

    An address without one is of a new project, or with `takes_up` of the one that this browser had
    last, if it says so: see `resume_project`. Only a project that is there is opened by its address. An id
    that somebody else made up, and may know, never becomes the key to a project.
    """
    in_address, current = st.query_params.get("s"), st.session_state.get("sid")
    if (
        isinstance(in_address, str)
        and (in_address == current or SESSIONS.exists(in_address))
        and people.may_open(in_address)
    ):
        sid = in_address
    elif isinstance(current, str) and people.may_open(current):
        sid = current
    elif (newest := people.newest_project()) is not None:
        sid = newest
    else:
        sid = new_session()
        st.session_state["asks-last"] = takes_up and in_address is None
    # An address may be typed without it, so it is written back on every run.
    if in_address != sid:
        st.query_params["s"] = sid
    st.session_state["sid"] = sid
    return sid


def url_params() -> dict[str, str]:
    """Return what the address of each page of this project says, for links that lead to one.

    Written only once the page has changed, it can be a step of its own for the browser's Back,
    which then seems to do nothing.
    """
    return {"s": str(st.session_state["sid"])}


def new_session() -> str:
    """Return the id of a new project of this visitor; the page ends where they may have no more."""
    sid = new_session_id()
    try:
        people.own_new_project(sid)
    except HetvizError as error:
        st.error(str(error), icon=":material/error:")
        st.stop()
    return sid


def resume_project(last: object) -> None:
    """Go on with the project that the browser says it had last, if it is still there."""
    if (
        st.session_state.pop("asks-last", False)
        and is_session_id(last)
        and SESSIONS.exists(str(last))
    ):
        open_project(str(last))


def workspace() -> Workspace:
    """Return the visitor's workspace; the first visit opens a sample.

    The page ends here, with the reason, where the project cannot be had.
    """
    try:
        sid = str(st.session_state["sid"])
        role = people.get_role(sid)
        if role is None:
            raise HetvizError("You may not open this project any more.")
        project = SESSIONS.get(sid)
        if role == "look":
            return _view_only(project)
        people.limit_size(project)
        if not project.log and FIRST_SAMPLE in samples():
            project.do(OpenSample(FIRST_SAMPLE))
    except HetvizError as error:
        st.error(str(error), icon=":material/error:")
        st.stop()
    for note in project.pop_notes():
        add_message(note)
    return project


def _view_only(project: Workspace) -> Workspace:
    """Return what a visitor sees who may only look; the same one in each run of a tab."""
    view = st.session_state.get("looking")
    if isinstance(view, ReadOnlyWorkspace):
        view.follow(project)
        return view
    st.session_state["looking"] = ReadOnlyWorkspace(project)
    return st.session_state["looking"]  # type: ignore[no-any-return]


def run_command(command: Command) -> bool:
    """Carry out a command; tell the user if it cannot be. Return whether it was done."""
    try:
        workspace().do(command)
    except HetvizError as error:
        add_message(str(error))
        return False
    return True


def add_message(message: str, kind: Literal["error", "note"] = "error") -> None:
    """Keep a message that the frame shows on the next run."""
    st.session_state.setdefault("messages", []).append((kind, message))


def pending_messages() -> list[tuple[str, str]]:
    """Return the messages kept; `drop_messages` forgets them."""
    return list(st.session_state.get("messages", []))


def drop_messages(shown_messages: list[tuple[str, str]]) -> None:
    """Forget messages that a whole run has shown; one that was cut short may have shown none."""
    messages = st.session_state.get("messages", [])
    st.session_state["messages"] = messages[len(shown_messages) :]


def late_messenger() -> Callable[[str], None]:
    """Return what tells the user of an error from outside of a run of the page."""
    late: list[str] = st.session_state.setdefault("late", [])
    return late.append


def take_late_messages() -> bool:
    """Whether something was told from outside of a run; the next run shows it."""
    late: list[str] = st.session_state.get("late", [])
    has_messages = bool(late)
    while late:
        add_message(late.pop(0))
    return has_messages


def open_project(sid: str) -> None:
    """Take the visitor to another project; the run after this one is in it."""
    st.query_params["s"] = sid
    st.session_state["sid"] = sid
    # What this tab keeps beside the workspace (files not yet opened, messages) is of the old one.
    # The number of uploads stays: the browser still holds the files of that field.
    for key in set(st.session_state) - {"sid", "uploads", "person"}:
        del st.session_state[key]


def theme() -> Theme:
    """Return the theme that the visitor sees."""
    return "dark" if st.context.theme.type == "dark" else "light"


def get_or_compute(key: tuple[Hashable, ...], keep_alive: object, make: Callable[[], T]) -> T:
    """Return what `make` gives, kept in this session under `key`.

    `keep_alive` holds alive whatever the key names by identity, so that no other object can take its
    number meanwhile.
    """
    store: OrderedDict[tuple[Hashable, ...], tuple[object, Any]]
    store = st.session_state.setdefault("cache", OrderedDict())
    if key not in store:
        store[key] = (keep_alive, make())
        while len(store) > _MAX_CACHED:
            store.popitem(last=False)
    else:
        store.move_to_end(key)
    value: T = store[key][1]
    return value
