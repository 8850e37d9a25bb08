"""Guidance as a file: import with an account of every refused row, export, templates to fill in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import streamlit as st

from hetviz.data import HeteroData
from hetviz.data.edits.adding import add_all
from hetviz.errors import HetvizError, Problem
from hetviz.io import gate
from hetviz.io.bundle.guidance import GuidanceRead, guidance_csv, guidance_template, read_guidance
from hetviz.metrics.conflicts.conflicts import would_contradict
from hetviz.ui.data import upload
from hetviz.ui.shell import session, theme
from hetviz.workspace import ImportGuidance
from hetviz.workspace.store.content import keeping

_STAGED = "guidance-staged"
_WARNED = 2
_TEMPLATES = {"links": "Template for links", "comparisons": "Template for comparisons"}


@dataclass(frozen=True)
class Staged:
    """A file that was handed in and not yet taken over."""

    filename: str
    blob: str


def offer(data: HeteroData) -> None:
    """Offer to import, to export and templates."""
    with st.popover("File", icon=":material/description:", key="guidance-file"):
        theme.section("Import")
        key = f"guidance-upload-{st.session_state.get('guidance-uploads', 0)}"
        st.file_uploader(
            "A table of links, comparisons or labels",
            key=key,
            on_change=_stage,
            args=(key,),
            label_visibility="collapsed",
        )
        theme.quiet("You see what would be added, and each row that cannot be, before it is.")
        theme.section("Export")
        _download("All that was said", "guidance.csv", partial(guidance_csv, data))
        theme.quiet(
            "Change it in a spreadsheet and import it again: a row about the same items takes the "
            "place of the earlier one."
        )
        theme.section("Fill in")
        for form, label in _TEMPLATES.items():
            _download(label, f"{form}.csv", partial(guidance_template, data, form))


def waits() -> bool:
    """Whether a file waits for a decision."""
    return _STAGED in st.session_state


def account(data: HeteroData) -> None:
    """Say what a file holds and what cannot be used, and ask how to go on."""
    staged: Staged = st.session_state[_STAGED]
    try:
        content = session.workspace().blobs.get(staged.blob)
        parse = keeping(session.workspace().blobs.read_cache)
        read = session.cached(
            ("guidance-read", staged.blob, id(data)),
            data,
            lambda: read_guidance(staged.filename, content, data, parse),
        )
    except HetvizError as error:
        _refused(staged, error)
        return
    errors = list(read.errors)
    new = _is_new(data, read)
    theme.headline(_found(staged, read, new), _second(data, read, len(errors), new))
    _contradictions(data, read)
    if errors:
        theme.section("What was wrong", theme.count(_number(errors), "row"))
        upload.problem_table(errors)
    notes = [problem for problem in read.problems if problem.severity != "error"]
    if notes:
        theme.section("Worth knowing", theme.count(len(notes), "note"))
        upload.problem_table(notes)
    with st.container(horizontal=True, key="guidance-decide"):
        if new:
            with st.container(key="primary_import", width="content"):
                st.button(
                    "Leave these rows out and add the others" if errors else "Add them",
                    type="primary",
                    key="import-guidance",
                    on_click=_import,
                    args=(staged,),
                )
        st.button("Cancel" if new else "Back", key="leave-guidance", on_click=_forget)


def _refused(staged: Staged, error: HetvizError) -> None:
    theme.headline(
        f"{staged.filename} holds no guidance",
        "Nothing was changed: what was said before is still there.",
    )
    problems: list[Problem] = list(getattr(error, "problems", ()))
    if problems:
        upload.problem_table(problems)
    else:
        st.error(theme.plain(error))
    st.button("Back", key="leave-guidance", on_click=_forget)


def _n_labels(read: GuidanceRead) -> int:
    return sum(map(len, read.labels.values()))


def _labels_of(data: HeteroData, read: GuidanceRead) -> tuple[int, int]:
    """Return how many labels of the file are new, and how many take the place of another."""
    known = {
        (label.dataset, label.name): dict(zip(data[label.dataset].ids, label.values, strict=True))
        for label in data.labels
    }
    given = [
        (known.get(column, {}).get(id_), value)
        for column, values in read.labels.items()
        for id_, value in values.items()
    ]
    new = sum(before is None for before, _ in given)
    return new, sum(before != value for before, value in given) - new


def _is_new(data: HeteroData, read: GuidanceRead) -> bool:
    """Say whether anything of a file is not there already."""
    met = add_all(data, read.parts)
    return bool(met.added or met.updated or any(_labels_of(data, read)))


def _found(staged: Staged, read: GuidanceRead, new: bool) -> str:
    if read.n_good and not new:
        return f"{staged.filename}: nothing new in {theme.count(read.n_rows, 'row')}"
    return f"{staged.filename}: {read.n_good:,} of {theme.count(read.n_rows, 'row')} can be added"


def _second(data: HeteroData, read: GuidanceRead, errors: int, new: bool) -> str:
    met, (labels, changed) = add_all(data, read.parts), _labels_of(data, read)
    parts = [
        f"{len(met.added):,} new" if met.added else "",
        f"{len(met.updated):,} in place of an earlier one" if met.updated else "",
        theme.count(labels, "new label") if labels else "",
        f"{theme.count(changed, 'label')} in place of what is there" if changed else "",
        f"{met.n_same + _n_labels(read) - labels - changed:,} there already",
    ]
    if parts[-1].startswith("0 "):
        parts.pop()
    told = theme.listed([part for part in parts if part])
    wrong = "The table says what is wrong with the others. " if errors else ""
    end = f"{wrong}Nothing {'has been added yet' if new else 'is added'}."
    return f"{told}. {end}" if told else end


def _contradictions(data: HeteroData, read: GuidanceRead) -> None:
    """Say what the file would contradict."""
    found = would_contradict(data, read.parts)
    for conflict in found[:_WARNED]:
        st.warning(theme.plain(conflict.sentence), icon=":material/warning:")
    if len(found) > _WARNED:
        theme.quiet(f"{len(found) - _WARNED:,} more; each can be settled here once it is added.")


def _number(problems: list[Problem]) -> int:
    return sum(problem.count for problem in problems)


def _download(label: str, name: str, make: Callable[[], Any]) -> None:
    st.download_button(
        label,
        data=make,
        file_name=name,
        mime="text/csv",
        on_click="ignore",
        key=f"download-{name}",
    )


def _stage(key: str) -> None:
    given = st.session_state.get(key)
    if given is None:
        return
    filename, content = gate.ungzipped(given.name, given.getvalue())
    blob = session.workspace().blobs.put(content)
    # A new key after each upload gives back the memory that the widget holds.
    st.session_state["guidance-uploads"] = st.session_state.get("guidance-uploads", 0) + 1
    st.session_state[_STAGED] = Staged(filename, blob)


def _import(staged: Staged) -> None:
    if session.do(ImportGuidance(staged.blob, staged.filename, leave_out=True)):
        _forget()


def _forget() -> None:
    st.session_state.pop(_STAGED, None)
