"""Deletion of a project and its running jobs."""

from __future__ import annotations

from hetviz.ui.jobs.jobs import JOBS
from hetviz.ui.shell import people, session
from hetviz.ui.shell.page_state import project_id
from hetviz.workspace import SESSIONS
from hetviz.workspace.sessions import is_session_id


def delete_project(project: object) -> None:
    """Delete all files of a project if the user owns it; the user confirmed twice."""
    if not is_session_id(project) or not SESSIONS.exists(str(project)):
        return
    sid = str(project)
    if people.get_role(sid) != "own":
        session.add_message("Only the owner can delete this project.")
        return
    JOBS.cancel_all(sid)
    people.forget_project(sid)
    SESSIONS.remove(sid)
    if sid == project_id():
        session.open_project(session.new_session())
