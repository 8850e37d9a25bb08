"""Session of a visitor: project id in the address, workspace and small caches."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Literal, TypeVar

import streamlit as st

from hetviz._samples import samples
from hetviz.errors import HetvizError
from hetviz.plots.palette import Theme
from hetviz.ui.shell import people
from hetviz.ui.shell.page_state import page_state, project_id, replace_page_state
from hetviz.ui.shell.paths import FIRST_SAMPLE
from hetviz.ui.shell.theme import escape_markdown
from hetviz.workspace import (
    SESSIONS,
    Command,
    EditorWorkspace,
    OpenSample,
    ReadOnlyWorkspace,
    Workspace,
)
from hetviz.workspace.sessions import is_session_id

T = TypeVar("T")


def session_id(resumes: bool = False) -> str:
    """Return the project id of this visitor and write it into the address."""
    # An address without an id opens a new project, or with `resumes` the last one of this browser,
    # see `resume_project`. Unknown ids are not accepted, since other people may know them.
    in_address, current = st.query_params.get("s"), page_state().sid
    if (
        isinstance(in_address, str)
        and (in_address == current or SESSIONS.exists(in_address))
        and people.may_open(in_address)
    ):
        sid = in_address
    elif current is not None and people.may_open(current):
        sid = current
    elif (newest := people.newest_project()) is not None:
        sid = newest
    else:
        sid = new_session()
        page_state().asks_last = resumes and in_address is None
    # An address may be typed without the id.
    if in_address != sid:
        st.query_params["s"] = sid
    if current not in (None, sid):
        replace_page_state(sid)
    page_state().sid = sid
    return sid


def url_params() -> dict[str, str]:
    """Return the query parameters of links to pages of this project."""
    # An address completed after the page changed would add a step to the browser's history.
    return {"s": project_id()}


def new_session() -> str:
    """Return the id of a new project, or stop the page if the quota is reached."""
    sid = SESSIONS.new_id()
    try:
        people.own_new_project(sid)
    except HetvizError as error:
        st.error(str(error), icon=":material/error:")
        st.stop()
    return sid


def resume_project(last: object) -> None:
    """Open the last project of the browser if it exists."""
    asks_last, page_state().asks_last = page_state().asks_last, False
    if asks_last and is_session_id(last) and SESSIONS.exists(str(last)):
        open_project(str(last))


def workspace() -> Workspace:
    """Return the workspace of the visitor; the first visit opens a sample."""
    # Errors of callbacks become messages, and those of pages stop the page, see `router`.
    sid = project_id()
    role = people.get_role(sid)
    if role is None:
        raise HetvizError("You no longer have access to this project.")
    project = SESSIONS.get(sid)
    if role == "look":
        return _with_own_view(project, ReadOnlyWorkspace)
    people.limit_size(project)
    if not project.log and FIRST_SAMPLE in samples():
        project.do(OpenSample(FIRST_SAMPLE))
    for note in project.pop_notes():
        add_message(note)
    # The selection of the owner is saved. An editor's must not replace it.
    return project if role == "own" else _with_own_view(project, EditorWorkspace)


def _with_own_view(project: Workspace, kind: type[ReadOnlyWorkspace]) -> Workspace:
    """Return a project with the selection of this tab, the same in each of its runs."""
    view = page_state().own_view
    if type(view) is not kind:
        view = page_state().own_view = kind(project)
    else:
        view.follow(project)
    return view


def run_command(command: Command) -> bool:
    """Run a command and return whether it succeeded; errors become messages."""
    try:
        workspace().do(command, people.author_name())
    except HetvizError as error:
        add_message(str(error))
        return False
    return True


def show_error(error: Exception) -> bool:
    """Show an error of ours instead of a traceback; return whether it was one."""
    if isinstance(error, HetvizError):
        st.error(escape_markdown(error), icon=":material/error:")
    return isinstance(error, HetvizError)


def on_command(command: Command) -> None:
    """Run a command that a widget gives to its callback."""
    run_command(command)


def undo() -> bool:
    """Undo the last step and return whether it succeeded; errors become messages."""
    try:
        workspace().undo()
    except HetvizError as error:
        add_message(str(error))
        return False
    return True


def add_message(message: str, kind: Literal["error", "note"] = "error") -> None:
    """Add a message that the next run shows."""
    page_state().messages.append((kind, message))


def late_messenger() -> Callable[[str], None]:
    """Return a function that adds an error message from outside a run of the page."""
    return page_state().late.append


def take_late_messages() -> bool:
    """Queue the messages from outside a run; return whether there are any."""
    late = page_state().late
    has_messages = bool(late)
    while late:
        add_message(late.pop(0))
    return has_messages


def open_project(sid: str) -> None:
    """Switch to another project in the next run."""
    st.query_params["s"] = sid
    replace_page_state(sid)


def theme() -> Theme:
    """Return the theme of the browser."""
    return "dark" if st.context.theme.type == "dark" else "light"


def get_or_compute(key: tuple[Hashable, ...], keep_alive: object, make: Callable[[], T]) -> T:
    """Return the result of `make`, cached in this session under `key`."""
    # `keep_alive` holds the objects that the key names by identity, so that their ids stay unique.
    return page_state().cache.get_or_compute(None, key, make, keep_alive)
