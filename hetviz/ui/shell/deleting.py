"""Deleting a project for good, with the work that is under way for it."""

from __future__ import annotations

import streamlit as st

from hetviz.ui.shell import background, people, session
from hetviz.workspace import SESSIONS
from hetviz.workspace.store.sessions import is_session_id


def delete_project(project: object) -> None:
    """Delete all that is kept of a project, where the visitor may; they asked for it twice."""
    if not is_session_id(project) or not SESSIONS.exists(str(project)):
        return
    sid = str(project)
    if people.get_role(sid) != "own":
        session.add_message("This project is somebody else's, so its files stay.")
        return
    background.stop_all_jobs(sid)
    people.forget_project(sid)
    SESSIONS.remove(sid)
    if sid == st.session_state["sid"]:
        session.open_project(session.new_session())
