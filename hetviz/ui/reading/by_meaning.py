"""Comparison of the rows of two tables by meaning, on request, while new files are reviewed."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Literal

import streamlit as st

from hetviz._text import count, format_seconds
from hetviz.core import sentence_vectors
from hetviz.data import HeteroData
from hetviz.data.joins.join import Join
from hetviz.data.joins.proposals import (
    MAX_COMPARED_ROWS,
    Proposal,
    similarity_proposal,
    unlinked_pairs,
)
from hetviz.data.joins.similar_rows import SIMILAR, texts_to_read
from hetviz.data.model.dataset import ITEM_RESULTS
from hetviz.errors import DataError
from hetviz.features.columns.language import foreign_language
from hetviz.jobs import Job, Task
from hetviz.memo import Memo
from hetviz.ui.jobs.jobs import JOBS, Kind
from hetviz.ui.shell import session, theme
from hetviz.ui.shell.page_state import project_id, state_of

Ends = tuple[str, str]
_REFRESH_S = 0.7
# Measured processor time of the sentence model, and of the comparison for a pair of rows.
_S_PER_CHAR, _S_PER_PAIR = 1.2e-4, 6e-7
_MIN_S, _MIN_MINUTES_S = 2.0, 120.0
_WAYS = {"meaning": "By meaning", "words": "By words"}


@dataclass(frozen=True)
class _Result:
    """Pairs of similar meaning with their similarities, or why there are none."""

    pairs: tuple[tuple[str, str, float], ...] = ()
    problem: str = ""


# Results by the texts of two tables, shared by all visitors.
_RESULTS = Memo(max_entries=24)


@dataclass
class MeaningComparisons:
    """Comparisons of the visitor: the running jobs, and tables that stay compared by words."""

    jobs: dict[Ends, str] = field(default_factory=dict)
    by_words: set[Ends] = field(default_factory=set)
    by_both: set[Ends] = field(default_factory=set)  # Tables with proposals by words and meaning.


def with_proposals(data: HeteroData, proposals: Sequence[Proposal]) -> list[Proposal]:
    """Return the proposals with those by meaning, which replace those by words of these tables."""
    comparisons = state_of(MeaningComparisons)
    comparisons.by_both.clear()
    out = {(proposal.ends, _tick_place(proposal)): proposal for proposal in proposals}
    for ends in unlinked_pairs(data, proposals):
        result = _result(data, ends)
        if result is None or not result.pairs:
            continue
        if (ends, "similar") in out:
            comparisons.by_both.add(ends)
        if ends not in comparisons.by_words:
            out[ends, "similar"] = _proposal(data, ends, result)
    return list(out.values())


def _tick_place(proposal: Proposal) -> object:
    return "similar" if proposal.join.kind in SIMILAR else proposal.join


def _proposal(data: HeteroData, ends: Ends, result: _Result) -> Proposal:
    key = ("by meaning", id(data), ends, result.pairs)
    join = Join("meaning", *ends, pairs=result.pairs)
    return session.get_or_compute(key, data, partial(similarity_proposal, data, join))


def tables_to_compare(
    data: HeteroData, proposals: Sequence[Proposal], opened: Collection[str] = ()
) -> list[Ends]:
    """Return the pairs of tables without any proposal that can be compared by meaning.

    `opened`: datasets of the open project, which are not compared with each other.
    """
    if not sentence_vectors.is_installed():
        return []
    proposed = {proposal.ends for proposal in proposals}
    return [
        ends
        for ends in unlinked_pairs(data, proposals)
        if ends not in proposed and not set(ends) <= set(opened) and _have_texts(data, ends)
    ]


def show_offer(data: HeteroData, pairs: Sequence[Ends], key: str) -> None:
    """Show that tables can be compared by meaning, with a choice of the tables if needed."""
    if not pairs:
        return
    ends = pairs[0]
    if len(pairs) > 1:
        ends = st.selectbox(
            "Tables", pairs, format_func=" and ".join, key=f"meant-tables-{key}-{len(pairs)}"
        )
    result = _result(data, ends)
    first, second = ends
    if result is not None and not result.problem:
        theme.show_note(f"{first} and {second} are no closer in meaning than by chance.")
        return
    words = (
        ", and few of their words are the same" if _n_rows(data, ends) <= MAX_COMPARED_ROWS else ""
    )
    theme.show_note(f"No column links {first} with {second}{words}.")
    _show_start(data, ends, key, "primary")


def show_choice(data: HeteroData, proposal: Proposal, key: str) -> None:
    """Show how the rows of two tables with similar words or meaning are compared."""
    ends = proposal.ends
    if not sentence_vectors.is_installed() or not _have_texts(data, ends):
        return
    result = _result(data, ends)
    if result is None or result.problem:
        _show_start(data, ends, key, "secondary")
    elif not result.pairs:
        theme.show_note("By meaning they are no closer than by chance.")
    elif ends in state_of(MeaningComparisons).by_both:
        st.segmented_control(
            "Compare the rows",
            list(_WAYS),
            default=proposal.join.kind,
            required=True,
            format_func=_WAYS.__getitem__,
            key=f"way-{key}-{proposal.join.kind}",
            on_change=_choose_way,
            args=(ends, f"way-{key}-{proposal.join.kind}"),
        )


def _choose_way(ends: Ends, key: str) -> None:
    by_words = state_of(MeaningComparisons).by_words
    (by_words.add if st.session_state.get(key) == "words" else by_words.discard)(ends)


def _show_start(
    data: HeteroData, ends: Ends, key: str, kind: Literal["primary", "secondary"]
) -> None:
    """Show the button that starts a comparison, with its price, or its progress."""
    job_id = state_of(MeaningComparisons).jobs.get(ends)
    job = None if job_id is None else JOBS.get(job_id, project_id())
    if job is not None and job.is_active:
        st.fragment(run_every=_REFRESH_S)(_follow)(ends, key)
        return
    n_rows = _n_rows(data, ends)
    if n_rows > MAX_COMPARED_ROWS:
        theme.show_note(
            f"By meaning, tables of up to {MAX_COMPARED_ROWS:,} rows together can be compared. "
            f"These have {n_rows:,}. Use fewer rows, or hetviz.propose_links in Python."
        )
        return
    result = _result(data, ends)
    if result is not None:
        theme.show_note(f"The comparison failed: {result.problem}")
    n_texts = len({text for name in ends for text in texts_to_read(data, name)})
    seconds = seconds_to_compare(data, ends)
    time = format_seconds(seconds) if seconds >= _MIN_MINUTES_S else f"{seconds:.0f} s"
    sentences = [f"A small language model reads {count(n_texts, 'text')} in about {time}."]
    sentences += [
        f"It knows English, but {name} seems to be in {language}."
        for name in ends
        if (language := foreign_language(texts_to_read(data, name)))
    ]
    st.button(
        "Compare by meaning", key=f"meant-{key}", type=kind, on_click=_start, args=(data, ends)
    )
    theme.show_note(" ".join(sentences))


def _start(data: HeteroData, ends: Ends) -> None:
    mark, job_id = _mark(data, ends), secrets.token_hex(8)
    _RESULTS.drop(None, mark)
    state_of(MeaningComparisons).jobs[ends] = job_id
    tables = HeteroData([data[name] for name in ends])
    arguments = {"data": tables, "source": ends[0], "target": ends[1]}
    task = Task("pair-by-meaning", arguments)
    on_end = partial(_store_result, mark)
    JOBS.start(project_id(), Kind.REVIEW, "Comparison by meaning", task, on_end, id=job_id)


def _store_result(mark: str, job: Job) -> None:
    if job.state == "done":
        _RESULTS.put(None, mark, _Result(tuple(map(tuple, job.result))))
    elif job.state == "failed":
        _RESULTS.put(None, mark, _Result(problem=str(job.error)))


def _follow(ends: Ends, key: str) -> None:
    """Show the progress of a comparison, and redraw the page at its end."""
    job_id = state_of(MeaningComparisons).jobs.get(ends)
    job = None if job_id is None else JOBS.get(job_id, project_id())
    if job is None or not job.is_active:
        st.rerun()
    with st.container(key=f"meant-wait-{key}"):
        waits = job.state == "waiting"
        st.progress(job.fraction, "Waiting for other work …" if waits else f"{job.message} …")
        st.button("Cancel", key=f"meant-stop-{key}", on_click=_cancel, args=(ends,))


def _cancel(ends: Ends) -> None:
    job_id = state_of(MeaningComparisons).jobs.pop(ends, None)
    if job_id is not None:
        JOBS.cancel_job(job_id, project_id())


def stop_all() -> None:
    """Stop the comparisons of the tables that were reviewed."""
    comparisons = state_of(MeaningComparisons)
    for ends in list(comparisons.jobs):
        _cancel(ends)
    comparisons.by_words.clear()


def seconds_to_compare(data: HeteroData, ends: Ends) -> float:
    """Return the estimated processor time of a comparison."""
    n_chars = sum(len(text) for name in ends for text in set(texts_to_read(data, name)))
    n_pairs = len(data[ends[0]]) * len(data[ends[1]])
    return max(_MIN_S, _S_PER_CHAR * n_chars + _S_PER_PAIR * n_pairs)


def _n_rows(data: HeteroData, ends: Ends) -> int:
    return sum(len(data[name]) for name in ends)


def _have_texts(data: HeteroData, ends: Ends) -> bool:
    if _n_rows(data, ends) > MAX_COMPARED_ROWS:
        # The texts of large tables are not read.
        return all(data[name].title_column is not None for name in ends)
    try:
        return all(any(texts_to_read(data, name)) for name in ends)
    except DataError:
        return False


def _result(data: HeteroData, ends: Ends) -> _Result | None:
    if _n_rows(data, ends) > MAX_COMPARED_ROWS or not _have_texts(data, ends):
        return None
    result: _Result | None = _RESULTS.get(None, _mark(data, ends))
    return result


def _mark(data: HeteroData, ends: Ends) -> str:
    """Return a hash of the ids and texts of two tables, which survives another reading."""
    tables = tuple(data[name] for name in ends)

    def compute() -> str:
        parts = [[table.ids.tolist(), texts_to_read(data, table.name)] for table in tables]
        return hashlib.sha256(repr(parts).encode()).hexdigest()

    return ITEM_RESULTS.get_or_compute(tables, "hash of texts", compute)
