"""Deleting a project for good, with the work that is under way for it."""

from __future__ import annotations

import streamlit as st

from hetviz.ui.shell import background, people, session
from hetviz.workspace import SESSIONS
from hetviz.workspace.store.sessions import is_id


def delete(project: object) -> None:
    """Delete all that is kept of a project, where the visitor may; they asked for it twice."""
    if not is_id(project) or not SESSIONS.exists(str(project)):
        return
    sid = str(project)
    if people.role(sid) != "own":
        session.tell("This project is somebody else's, so its files stay.")
        return
    background.stop_all(sid)
    people.forget(sid)
    SESSIONS.remove(sid)
    if sid == st.session_state["sid"]:
        session.move_to(session.new_session())
