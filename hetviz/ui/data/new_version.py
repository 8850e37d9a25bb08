"""A newer version of a dataset's file: what would differ, and putting it in the old one's place."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd
import streamlit as st

from hetviz.errors import HetvizError, Problem
from hetviz.io import Newer, gate
from hetviz.ui.data import upload
from hetviz.ui.shell import session, theme
from hetviz.workspace import ReplaceDataset, State

_STAGED = "newer-staged"
_MOST_ROWS = 200
_MOST_IDS = 12


@dataclass(frozen=True)
class Staged:
    """A file that was handed in and not yet taken over."""

    dataset: str
    filename: str
    blob: str

    def command(self) -> ReplaceDataset:
        """Return the command that takes it over, without rows that are wrong."""
        return ReplaceDataset(self.dataset, self.blob, self.filename, leave_out=True)


def offer(name: str, place: int) -> None:
    """Offer to hand in a newer version of a dataset's file."""
    understood = session.workspace().state.understood
    numbered = any(info.dataset == name and not info.id_from for info in understood)
    by = "their row numbers, as there are no ids" if numbered else "id"
    with st.popover("Newer version", type="tertiary", key=f"newer-{place}"):
        theme.quiet(
            f"A newer file of {name}: rows are matched by {by}, and what was said of them is kept. "
            "You see what differs before anything changes."
        )
        key = f"newer-upload-{place}-{st.session_state.get('newer-uploads', 0)}"
        st.file_uploader(
            f"The newer file of {name}",
            key=key,
            on_change=_stage,
            args=(name, key),
            label_visibility="collapsed",
        )


def waits(state: State) -> bool:
    """Whether a file waits for a decision."""
    staged: Staged | None = st.session_state.get(_STAGED)
    return staged is not None and state.data is not None and staged.dataset in state.data.datasets


def account(state: State) -> None:
    """Say what the newer version would change, and ask how to go on."""
    staged: Staged = st.session_state[_STAGED]
    try:
        with st.spinner("Reading the file …", show_time=True):
            newer = session.cached(
                ("newer", staged, id(state.data)),
                state.data,
                lambda: staged.command().preview(state, session.workspace().blobs),
            )
    except HetvizError as error:
        _refused(staged, error)
        return
    theme.headline(f"{staged.filename} as the newer {staged.dataset}", newer.sentence)
    _differences(newer)
    errors = list(newer.errors)
    if errors:
        theme.section("What was wrong", theme.count(sum(one.count for one in errors), "row"))
        upload.problem_table(errors)
    with st.container(horizontal=True, key="newer-decide"):
        with st.container(key="primary_newer", width="content"):
            st.button(
                "Leave these rows out and replace" if errors else f"Replace {staged.dataset}",
                type="primary",
                key="replace-dataset",
                on_click=_replace,
                args=(staged,),
            )
        st.button("Keep the old one", key="leave-newer", on_click=_forget)


def _differences(newer: Newer) -> None:
    facts = [("New items", newer.added), ("Items gone", newer.gone)]
    facts += [("New columns", newer.columns_added), ("Columns gone", newer.columns_gone)]
    theme.pairs([(title, _some(texts)) for title, texts in facts if texts])
    if len(newer.changed):
        theme.section("Changed cells", theme.count(len(newer.changed), "cell"))
        shown: pd.DataFrame = newer.changed.head(_MOST_ROWS)
        st.dataframe(shown, hide_index=True)
        if len(newer.changed) > _MOST_ROWS:
            theme.quiet(f"The first {_MOST_ROWS:,} are shown.")


def _some(texts: tuple[str, ...]) -> str:
    more = len(texts) - _MOST_IDS
    named = ", ".join(texts[:_MOST_IDS])
    return f"{named} and {more:,} more" if more > 0 else named


def _refused(staged: Staged, error: HetvizError) -> None:
    theme.headline(
        f"{staged.filename} cannot take the place of {staged.dataset}",
        "Nothing was changed.",
    )
    problems: list[Problem] = list(getattr(error, "problems", ()))
    if problems:
        upload.problem_table(problems)
    else:
        st.error(theme.plain(error))
    st.button("Back", key="leave-newer", on_click=_forget)


def _stage(name: str, key: str) -> None:
    given = st.session_state.get(key)
    if given is None:
        return
    filename, content = gate.ungzipped(given.name, given.getvalue())
    blob = session.workspace().blobs.put(content)
    # A new key after each upload gives back the memory that the widget holds.
    st.session_state["newer-uploads"] = st.session_state.get("newer-uploads", 0) + 1
    st.session_state[_STAGED] = Staged(name, filename, blob)


def _replace(staged: Staged) -> None:
    if session.do(staged.command()):
        _forget()


def _forget() -> None:
    st.session_state.pop(_STAGED, None)
