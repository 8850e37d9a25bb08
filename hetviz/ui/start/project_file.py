"""Opening of a dropped project file."""

from __future__ import annotations

import streamlit as st

from hetviz._samples import MANIFEST
from hetviz.errors import DataError, HetvizError, Problem
from hetviz.io.formats.registry import open_archive
from hetviz.ui.map import history
from hetviz.ui.reading import upload
from hetviz.ui.shell import people, session, theme
from hetviz.ui.shell.page_state import project_id, state_of
from hetviz.ui.widgets import failure
from hetviz.workspace import SESSIONS, Summary, open_project, summarize


def open_dropped_project() -> upload.ProjectUpload | None:
    """Open the dropped project file, if any, and return it if it could not be opened."""
    upload_state = state_of(upload.Uploads).project
    if upload_state is None:
        return None
    if not upload_state.sid and not upload_state.problems:
        with st.spinner("Opening the project …", show_time=True):
            _open_project(upload_state)
    if not upload_state.sid:
        return upload_state
    if upload_state.sid != project_id():
        session.open_project(upload_state.sid)
        session.add_message(opened_text(summarize(SESSIONS.get(upload_state.sid))), "note")
        st.rerun()
    state_of(upload.Uploads).project = None
    return None


def _open_project(upload_state: upload.ProjectUpload) -> None:
    # Nothing here draws: a click in between would stop the run between the two steps.
    try:
        sid = open_project(upload_state.content, upload_state.name, SESSIONS)
        try:
            people.own_new_project(sid)
        except HetvizError:
            SESSIONS.remove(sid)
            raise
        upload_state.sid = sid
    except DataError as error:
        upload_state.problems = error.problems
    except HetvizError as error:
        upload_state.problems = (Problem("not-opened", upload_state.name, str(error).rstrip(".")),)


def opened_text(summary: Summary) -> str:
    """Return what was opened."""
    parts = [f"{n:,} {name}" for name, n in summary.datasets.items()]
    maps = theme.count(summary.maps, "map") if summary.maps else "no map yet"
    changed = f", last changed {history.time_text(summary.changed)}" if summary.changed else ""
    return f"Opened “{summary.title}”: {theme.join_words([*parts, maps])}{changed}."


def show_errors(upload_state: upload.ProjectUpload) -> None:
    """Show why a project could not be opened and what to do."""
    theme.show_headline(
        "This project could not be opened", "Nothing was changed. Your open project is still there."
    )
    failure.show_problems(list(upload_state.problems))
    with st.container(horizontal=True, key="decide"):
        if _has_data(upload_state):
            st.button(
                "Open only its data",
                key="data-only",
                on_click=_open_data_only,
                args=(upload_state,),
            )
        st.button("Back", key="leave", on_click=_discard)


def _has_data(upload_state: upload.ProjectUpload) -> bool:
    try:
        return MANIFEST in open_archive(upload_state.name, upload_state.content).names()
    except DataError:
        return False


def _open_data_only(upload_state: upload.ProjectUpload) -> None:
    upload.stage_files({upload_state.name: upload_state.content}, fresh=True)


def _discard() -> None:
    state_of(upload.Uploads).project = None
