"""Opening a project file that was dropped: the visitor is taken there, or told why not."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from hetviz._samples import MANIFEST
from hetviz.errors import DataError, HetvizError, Problem
from hetviz.io.files import Archive
from hetviz.ui.data import upload
from hetviz.ui.map import history
from hetviz.ui.shell import people, session, theme
from hetviz.workspace import SESSIONS, Summary, open_project, summary_of


@dataclass
class Opening:
    """A project file on its way.

    Attributes
    ----------
    name : str
    content : bytes
    sid : str
        The session that it became; empty while it is none.
    problems : tuple of Problem
        Why it became none.
    """

    name: str
    content: bytes
    sid: str = ""
    problems: tuple[Problem, ...] = ()


def waiting() -> Opening | None:
    """Open the project file that was dropped, if any; return one that could not be opened."""
    given: tuple[str, bytes] | None = st.session_state.get(upload.PROJECT)
    if given is not None:
        st.session_state["opening"] = Opening(*given)
        del st.session_state[upload.PROJECT]
    found: Opening | None = st.session_state.get("opening")
    if found is None:
        return None
    if not found.sid and not found.problems:
        with st.spinner("Opening the project …", show_time=True):
            _open(found)
    if not found.sid:
        return found
    if found.sid != st.session_state["sid"]:
        session.move_to(found.sid)
        session.tell(sentence(summary_of(SESSIONS.get(found.sid))), "note")
        st.rerun()
    del st.session_state["opening"]
    return None


def _open(found: Opening) -> None:
    # Nothing here speaks to the browser, where a click could end the run between the two steps.
    try:
        made = open_project(found.content, found.name, SESSIONS)
        try:
            people.begin(made)
        except HetvizError:
            SESSIONS.remove(made)
            raise
        found.sid = made
    except DataError as error:
        found.problems = error.problems
    except HetvizError as error:
        found.problems = (Problem("not-opened", found.name, str(error).rstrip(".")),)


def sentence(found: Summary) -> str:
    """Say what came back."""
    parts = [f"{n:,} {name}" for name, n in found.datasets.items()]
    maps = theme.count(found.maps, "map") if found.maps else "no map yet"
    changed = f", last changed {history.when_words(found.changed)}" if found.changed else ""
    return f"Opened “{found.title}”: {theme.listed([*parts, maps])}{changed}."


def refusal(found: Opening) -> None:
    """Say why a project could not be opened, and what can be done."""
    theme.headline(
        "This project could not be opened",
        "Nothing was changed: what you had open is still there.",
    )
    upload.problem_table(list(found.problems))
    with st.container(horizontal=True, key="decide"):
        if _holds_data(found):
            st.button("Open only its data", key="data-only", on_click=_data_only, args=(found,))
        st.button("Back", key="leave", on_click=_forget)


def _holds_data(found: Opening) -> bool:
    try:
        return MANIFEST in Archive(found.name, found.content).names()
    except DataError:
        return False


def _data_only(found: Opening) -> None:
    upload.stage({found.name: found.content}, fresh=True)


def _forget() -> None:
    st.session_state.pop("opening", None)
