"""Review of a newer version of a dataset's file before it replaces the old one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

import pandas as pd
import streamlit as st

from hetviz._text import join_first
from hetviz.errors import HetvizError
from hetviz.io import NewVersion
from hetviz.ui.shell import session, theme
from hetviz.ui.shell.page_state import state_of
from hetviz.ui.widgets import failure, uploads
from hetviz.workspace import ReplaceDataset, State

_MAX_ROWS = 200
_MAX_NAMES = 12


@dataclass(frozen=True)
class StagedVersion:
    """An uploaded file that waits for a decision."""

    dataset: str
    filename: str
    blob: str

    def command(self) -> ReplaceDataset:
        """Return the command that replaces the dataset, without invalid rows."""
        return ReplaceDataset(self.dataset, self.blob, self.filename, leave_out=True)


@dataclass
class Staged:
    """The file that waits for a decision, if any."""

    file: StagedVersion | None = None


def version_popover(name: str, number: int) -> None:
    """Show a button to upload a newer version of a dataset's file."""
    infos = session.workspace().state.understood
    uses_row_numbers = any(info.dataset == name and not info.id_from for info in infos)
    matched_by = "row number, as there are no ids" if uses_row_numbers else "id"
    with st.popover("Newer version", type="tertiary", key=f"newer-{number}"):
        theme.show_note(
            f"Upload a newer file of {name}. Rows are matched by {matched_by} and keep their "
            "guidance. You can review the changes first."
        )
        uploads.show_field(
            f"The newer file of {name}", f"newer-upload-{number}", partial(_stage_file, name)
        )


def is_pending(state: State) -> bool:
    """Return whether a file waits for a decision."""
    staged = state_of(Staged).file
    return staged is not None and state.data is not None and staged.dataset in state.data.datasets


def show_review(state: State) -> None:
    """Show what the newer version would change, with buttons to accept or cancel."""
    staged = state_of(Staged).file
    if staged is None:
        return
    try:
        with st.spinner("Reading the file …", show_time=True):
            newer = session.get_or_compute(
                ("newer", staged, id(state.data)),
                state.data,
                lambda: staged.command().preview(state, session.workspace().blobs),
            )
    except HetvizError as error:
        theme.show_headline(
            f"{staged.filename} cannot replace {staged.dataset}", "Nothing was changed."
        )
        failure.show_refusal(error)
        st.button("Back", key="leave-newer", on_click=_discard)
        return
    theme.show_headline(f"Replace {staged.dataset} with {staged.filename}", newer.sentence)
    _show_differences(newer)
    errors = list(newer.errors)
    if errors:
        theme.show_section("Errors", theme.count(sum(problem.count for problem in errors), "row"))
        failure.show_problems(errors)
    with st.container(horizontal=True, key="newer-decide"):
        with st.container(key="primary_newer", width="content"):
            st.button(
                "Replace without these rows" if errors else f"Replace {staged.dataset}",
                type="primary",
                key="replace-dataset",
                on_click=_replace,
                args=(staged,),
            )
        st.button("Keep the old version", key="leave-newer", on_click=_discard)


def _show_differences(newer: NewVersion) -> None:
    facts = [("New items", newer.added), ("Removed items", newer.gone)]
    facts += [("New columns", newer.columns_added), ("Removed columns", newer.columns_gone)]
    theme.show_pairs([(title, join_first(texts, _MAX_NAMES)) for title, texts in facts if texts])
    if len(newer.changed):
        theme.show_section("Changed cells", theme.count(len(newer.changed), "cell"))
        table: pd.DataFrame = newer.changed.head(_MAX_ROWS)
        st.dataframe(table, hide_index=True)
        if len(newer.changed) > _MAX_ROWS:
            theme.show_note(f"The first {_MAX_ROWS:,} are shown.")


def _stage_file(name: str, contents: Mapping[str, bytes]) -> None:
    ((filename, content),) = contents.items()
    state_of(Staged).file = StagedVersion(name, filename, session.workspace().blobs.put(content))


def _replace(staged: StagedVersion) -> None:
    if session.run_command(staged.command()):
        _discard()


def _discard() -> None:
    state_of(Staged).file = None
