"""List of the visitor's projects and the visitor's name, stored only by the browser.

Anyone with a project's address can open it, so the server must not be able to list the addresses,
and a cookie would be sent to every port of the host. The browser sends an address only when a page
such as /map is opened without a project: the one opened last, once.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import streamlit as st

from hetviz.ui.shell import deleting, people, session, theme
from hetviz.ui.shell.page_state import page_state, project_id
from hetviz.workspace import SetTitle

_HERE = Path(__file__).parent
_HTML = (
    '<ul class="hv-projects"></ul>'
    '<p class="hv-none" hidden>None yet. Projects that you open and change are listed here.</p>'
)
_list = st.components.v2.component(
    "hetviz_recent",
    html=_HTML,
    css=(_HERE / "recent.css").read_text(encoding="utf-8"),
    js=(_HERE / "recent.js").read_text(encoding="utf-8"),
)


def show_projects() -> None:
    """Show the list of projects and the button for a new one."""
    with st.container(horizontal=True, vertical_alignment="center"):
        theme.show_section("Your projects", "stored on this computer")
        st.button(
            "New project",
            key="new-project",
            help="Starts an empty project. This one stays in the list.",
            on_click=_new_project,
        )
    _mount_list("recent", is_shown=True)


def record_project() -> None:
    """Record the open project in the browser, on a page without the list."""
    _mount_list("record_project", is_shown=False)


@st.fragment
def watch_first_project(
    flags: Callable[[], tuple[bool, bool]], on_new: Callable[[bool], None]
) -> None:
    """Call `on_new` if the browser knows better whether a project would be the visitor's first.

    `flags`: returns what is assumed, and whether the browser shall record that no project is guided
    any more. The answer runs this fragment again, not the page.
    """
    key = "first-project"
    is_new, is_over = flags()

    def on_answer() -> None:
        if key in st.session_state:
            on_new(bool(st.session_state[key].first))

    _list(
        key=key,
        data={"first": {"is_new": is_new, "is_over": is_over}, "show": False},
        on_first_change=on_answer,
    )


def load_page_of(project: str) -> None:
    """Load the page of a project of another server process."""
    _list(key="elsewhere", data={"elsewhere": project})


def _mount_list(key: str, is_shown: bool) -> None:
    workspace = session.workspace()
    _list(
        key=key,
        data={
            "id": project_id(),
            "title": workspace.state.title or "No project",
            # An unchanged sample is not recorded.
            "record": workspace.version > 1,
            "sample": (workspace.state.source or "").startswith("sample:"),
            # Another name is proposed if another project has this one.
            "renames": people.get_role(project_id()) == "own",
            "show": is_shown,
            "asks": page_state().asks_last,
            "name": page_state().name,
        },
        on_last_change=partial(_resume, key),
        on_gone_change=partial(_delete_project, key),
        on_title_change=partial(_rename_project, key),
        on_name_change=partial(_use_name, key),
    )


# The list may have left the page, and Streamlit its state, before the callback runs.


def _resume(key: str) -> None:
    if key in st.session_state:
        session.resume_project(st.session_state[key].last)


def _delete_project(key: str) -> None:
    if key in st.session_state:
        deleting.delete_project(st.session_state[key].gone)


def _rename_project(key: str) -> None:
    if key not in st.session_state:
        return
    old, new = session.workspace().state.title, str(st.session_state[key].title)
    if session.run_command(SetTitle(new, automatic=True)):
        session.add_message(f"Another project is called “{old}”, so this one is “{new}”.", "note")


def _use_name(key: str) -> None:
    if key in st.session_state and page_state().name is None:
        page_state().name = str(st.session_state[key].name or "")


def _new_project() -> None:
    session.open_project(session.new_session())
