"""Guidance files: import with a review, export, and templates."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import streamlit as st

from hetviz.data import HeteroData
from hetviz.data.edits.adding import add_statements
from hetviz.errors import HetvizError, Problem
from hetviz.io.intake.guidance import GuidanceRead, guidance_csv, guidance_template, read_guidance
from hetviz.metrics.conflicts.conflicts import find_new_conflicts
from hetviz.ui.shell import session, theme
from hetviz.ui.shell.page_state import state_of
from hetviz.ui.widgets import failure, uploads
from hetviz.workspace import ImportGuidance
from hetviz.workspace.store.content import cached_parser

_MAX_WARNINGS = 2
_TEMPLATES = {"links": "Template for links", "comparisons": "Template for comparisons"}


@dataclass(frozen=True)
class StagedGuidance:
    """An uploaded file that waits for a decision."""

    filename: str
    blob: str


@dataclass
class Staged:
    """The file that waits for a decision, if any."""

    file: StagedGuidance | None = None


def show_popover(data: HeteroData) -> None:
    """Show the button with import, export and templates."""
    with st.popover("File", icon=":material/description:", key="guidance-file"):
        theme.show_section("Import")
        uploads.show_field(
            "A table of links, comparisons or labels", "guidance-upload", _stage_file
        )
        theme.show_note("You can review the rows before they are added.")
        theme.show_section("Export")
        _download_button("All guidance", "guidance.csv", partial(guidance_csv, data))
        theme.show_note(
            "Edit it in a spreadsheet and import it again. A row about the same items replaces the "
            "existing one of the same author."
        )
        theme.show_section("Templates")
        for form, label in _TEMPLATES.items():
            _download_button(label, f"{form}.csv", partial(guidance_template, data, form))


def is_pending() -> bool:
    """Return whether a file waits for a decision."""
    return state_of(Staged).file is not None


def show_review(data: HeteroData) -> None:
    """Show what a file adds and what is wrong with it, with buttons to accept or cancel."""
    staged = state_of(Staged).file
    if staged is None:
        return
    try:
        content = session.workspace().blobs.get(staged.blob)
        parse = cached_parser(session.workspace().blobs.read_cache)
        read = session.get_or_compute(
            ("guidance-read", staged.blob, id(data)),
            data,
            lambda: read_guidance(staged.filename, content, data, parse),
        )
    except HetvizError as error:
        theme.show_headline(
            f"{staged.filename} has no guidance",
            "Nothing was changed. Your guidance is still there.",
        )
        failure.show_refusal(error)
        st.button("Back", key="leave-guidance", on_click=_discard)
        return
    errors = list(read.errors)
    adds_something = _adds_something(data, read)
    theme.show_headline(
        _title(staged, read, adds_something), _subtitle(data, read, len(errors), adds_something)
    )
    _warn_of_conflicts(data, read)
    if errors:
        theme.show_section("Errors", theme.count(_n_rows(errors), "row"))
        failure.show_problems(errors)
    notes = [problem for problem in read.problems if problem.severity != "error"]
    if notes:
        theme.show_section("Notes", theme.count(len(notes), "note"))
        failure.show_problems(notes)
    with st.container(horizontal=True, key="guidance-decide"):
        if adds_something:
            with st.container(key="primary_import", width="content"):
                st.button(
                    "Add the other rows" if errors else "Add them",
                    type="primary",
                    key="import-guidance",
                    on_click=_import,
                    args=(staged,),
                )
        st.button("Cancel" if adds_something else "Back", key="leave-guidance", on_click=_discard)


def _n_labels(read: GuidanceRead) -> int:
    return sum(map(len, read.labels.values()))


def _count_labels(data: HeteroData, read: GuidanceRead) -> tuple[int, int]:
    """Return how many labels of the file are new and how many replace another."""
    current = {
        (label.dataset, label.name): dict(zip(data[label.dataset].ids, label.values, strict=True))
        for label in data.labels
    }
    pairs = [
        (current.get(column, {}).get(id_), value)
        for column, values in read.labels.items()
        for (id_, _), (value, _) in values.items()
    ]
    new = sum(old is None for old, _ in pairs)
    return new, sum(old != value for old, value in pairs) - new


def _adds_something(data: HeteroData, read: GuidanceRead) -> bool:
    """Return whether the file has anything that is not in the data."""
    merged = add_statements(data, read.parts)
    return bool(merged.added or merged.updated or any(_count_labels(data, read)))


def _title(staged: StagedGuidance, read: GuidanceRead, adds_something: bool) -> str:
    if read.n_good and not adds_something:
        return f"{staged.filename}: nothing new in {theme.count(read.n_rows, 'row')}"
    return f"{staged.filename}: {read.n_good:,} of {theme.count(read.n_rows, 'row')} can be added"


def _subtitle(data: HeteroData, read: GuidanceRead, errors: int, adds_something: bool) -> str:
    merged, (n_new, changed) = add_statements(data, read.parts), _count_labels(data, read)
    parts = [
        f"{len(merged.added):,} new" if merged.added else "",
        f"{theme.count(len(merged.updated), 'replacement')}" if merged.updated else "",
        theme.count(n_new, "new label") if n_new else "",
        f"{theme.count(changed, 'label')} replaced" if changed else "",
        f"{merged.n_same + _n_labels(read) - n_new - changed:,} already present",
    ]
    if parts[-1].startswith("0 "):
        parts.pop()
    counts = theme.join_words([part for part in parts if part])
    error_note = "The table shows what is wrong with the others. " if errors else ""
    end = f"{error_note}Nothing {'has been added yet' if adds_something else 'is added'}."
    return f"{counts}. {end}" if counts else end


def _warn_of_conflicts(data: HeteroData, read: GuidanceRead) -> None:
    """Warn of statements that the file contradicts."""
    conflicts = find_new_conflicts(data, read.parts)
    for conflict in conflicts[:_MAX_WARNINGS]:
        st.warning(theme.escape_markdown(conflict.sentence), icon=":material/warning:")
    if len(conflicts) > _MAX_WARNINGS:
        theme.show_note(
            f"{len(conflicts) - _MAX_WARNINGS:,} more. You can resolve them here after the import."
        )


def _n_rows(problems: list[Problem]) -> int:
    return sum(problem.count for problem in problems)


def _download_button(label: str, name: str, make: Callable[[], Any]) -> None:
    st.download_button(
        label, data=make, file_name=name, mime="text/csv", on_click="ignore", key=f"download-{name}"
    )


def _stage_file(contents: Mapping[str, bytes]) -> None:
    ((filename, content),) = contents.items()
    state_of(Staged).file = StagedGuidance(filename, session.workspace().blobs.put(content))


def _import(staged: StagedGuidance) -> None:
    if session.run_command(ImportGuidance(staged.blob, staged.filename, leave_out=True)):
        _discard()


def _discard() -> None:
    state_of(Staged).file = None
