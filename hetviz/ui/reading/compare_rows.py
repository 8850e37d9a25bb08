"""Comparison of the rows of two tables by meaning, pictures, place or date, on request."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from types import ModuleType

import streamlit as st

from hetviz._text import count, format_seconds
from hetviz.core import multilingual_vectors, sentence_vectors
from hetviz.core.sentence_vectors import Model
from hetviz.data import HeteroData
from hetviz.data.joins.join import Join
from hetviz.data.joins.near_rows import comparable_parts
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
# Measured processor time of the sentence models, and of the comparison for a pair of rows.
_S_PER_CHAR: dict[Model, float] = {"english": 1.2e-4, "multilingual": 6.4e-4}
_S_PER_PAIR = 6e-7
_MIN_S, _MIN_MINUTES_S = 2.0, 120.0
_WAYS = {"words": "Words", "meaning": "Meaning", "pictures": "Pictures", "place": "Place",
         "date": "Date"}  # fmt: skip
_MODELS: dict[Model, str] = {"english": "English", "multilingual": "About 100 languages"}
_NONE_CLOSER = {"meaning": "closer in meaning", "pictures": "more alike in their pictures",
                "place": "closer in place", "date": "closer in time"}  # fmt: skip
# The time of these grows with the product of both numbers of rows.
_OF_ALL_PAIRS = ("words", "meaning", "pictures")
_MAX_KM, _MAX_DAYS = 20_000.0, 36_500


@dataclass(frozen=True)
class Comparison:
    """A way of comparing rows with its options, see `hetviz.propose_links`."""

    by: str
    model: Model = "english"
    km: float | None = None
    days: int | None = None


_DEFAULTS = {
    by: Comparison(by, km=1.0 if by == "place" else None, days=0 if by == "date" else None)
    for by in _WAYS
}


@dataclass(frozen=True)
class _Result:
    """Pairs of similar rows with their similarities, or why there are none."""

    pairs: tuple[tuple[str, str, float], ...] = ()
    problem: str = ""


# Results by what is compared, shared by all visitors.
_RESULTS = Memo(max_entries=24)


@dataclass
class RowComparisons:
    """Comparisons of the visitor by the two tables: running jobs, and what was chosen."""

    jobs: dict[tuple[Ends, str], str] = field(default_factory=dict)
    chosen: dict[Ends, str] = field(default_factory=dict)
    options: dict[tuple[Ends, str], Comparison] = field(default_factory=dict)
    has_words: set[Ends] = field(default_factory=set)  # Tables with proposals by words.


def with_proposals(data: HeteroData, proposals: Sequence[Proposal]) -> list[Proposal]:
    """Return the proposals with those of the chosen comparisons in place of those by words."""
    comparisons = state_of(RowComparisons)
    out = {(proposal.ends, _tick_place(proposal)): proposal for proposal in proposals}
    comparisons.has_words = {ends for ends, place in out if place == "similar"}
    for ends in unlinked_pairs(data, proposals):
        by = _chosen_way(data, ends)
        if by in ("", "words"):
            continue
        comparison = _comparison(data, ends, by)
        result = _result(data, ends, comparison)
        if result is not None and result.pairs:
            out[ends, "similar"] = _proposal(data, ends, comparison, result)
        else:
            out.pop((ends, "similar"), None)
    return list(out.values())


def _tick_place(proposal: Proposal) -> object:
    return "similar" if proposal.join.kind in SIMILAR else proposal.join


def _proposal(data: HeteroData, ends: Ends, comparison: Comparison, result: _Result) -> Proposal:
    key = ("compared rows", id(data), ends, comparison, result.pairs)
    join = Join(comparison.by, *ends, km=comparison.km, days=comparison.days, pairs=result.pairs)
    return session.get_or_compute(key, data, partial(similarity_proposal, data, join))


def _ways(data: HeteroData, ends: Ends) -> list[str]:
    """Return the ways in which the rows of two tables can be compared."""
    out = ["words"] if ends in state_of(RowComparisons).has_words else []
    out += ["meaning"] if _models() and _have_texts(data, ends) else []
    return out + [by for by in ("pictures", "place", "date") if _parts(data, ends, by) is not None]


def _chosen_way(data: HeteroData, ends: Ends) -> str:
    """Return how rows are compared: as chosen, by words, or in the first way with a result."""
    ways = _ways(data, ends)
    chosen = state_of(RowComparisons).chosen.get(ends)
    if chosen in ways:
        return str(chosen)
    first = (by for by in ways if by == "words" or _result(data, ends, _comparison(data, ends, by)))
    return next(first, ways[0] if ways else "")


def _comparison(data: HeteroData, ends: Ends, by: str) -> Comparison:
    """Return a comparison with the chosen options; other languages have the multilingual model."""
    chosen = state_of(RowComparisons).options.get((ends, by))
    if chosen is not None or by != "meaning":
        return chosen or _DEFAULTS[by]
    models = _models()
    is_foreign = len(models) > 1 and _languages(data, ends)
    return Comparison(by, "multilingual" if is_foreign else models[0])


def _models() -> list[Model]:
    """Return the sentence models that are installed."""
    modules: dict[Model, ModuleType] = {
        "english": sentence_vectors,
        "multilingual": multilingual_vectors,
    }
    return [model for model, module in modules.items() if module.is_installed()]


def _languages(data: HeteroData, ends: Ends) -> dict[str, str]:
    """Return the language of the tables that are not English."""
    if _n_rows(data, ends) > MAX_COMPARED_ROWS:
        return {}

    def find(name: str) -> str | None:
        return foreign_language(texts_to_read(data, name))

    found = {
        name: ITEM_RESULTS.get_or_compute(data[name], "language", partial(find, name))
        for name in ends
    }
    return {name: language for name, language in found.items() if language}


def tables_to_compare(
    data: HeteroData, proposals: Sequence[Proposal], opened: Collection[str] = ()
) -> list[Ends]:
    """Return the pairs of tables without similar rows so far that can be compared.

    `opened`: datasets of the open project, which are not compared with each other.
    """
    proposed = {proposal.ends for proposal in proposals if proposal.join.kind in SIMILAR}
    return [
        ends
        for ends in unlinked_pairs(data, proposals)
        if ends not in proposed and not set(ends) <= set(opened) and _ways(data, ends)
    ]


def ways_text(data: HeteroData, pairs: Sequence[Ends]) -> str:
    """Return how tables of their size can be compared, as in "meaning or place"."""
    ways = dict.fromkeys(
        by
        for ends in pairs
        for by in _ways(data, ends)
        if by not in _OF_ALL_PAIRS or _n_rows(data, ends) <= MAX_COMPARED_ROWS
    )
    return " or ".join(ways)


def show_offer(data: HeteroData, pairs: Sequence[Ends], key: str) -> None:
    """Show that tables can be compared, with a choice of the tables if needed."""
    if not pairs:
        return
    ends = pairs[0]
    if len(pairs) > 1:
        ends = st.selectbox(
            "Tables", pairs, format_func=" and ".join, key=f"meant-tables-{key}-{len(pairs)}"
        )
    first, second = ends
    if ends not in state_of(RowComparisons).has_words:
        # Larger tables were not compared by words.
        compared = _n_rows(data, ends) <= MAX_COMPARED_ROWS and _have_texts(data, ends)
        words = ", and comparing their words found no links" if compared else ""
        theme.show_note(f"No column links {first} with {second}{words}.")
    _show_ways(data, ends, key)
    _show_start(data, ends, key)


def show_choice(data: HeteroData, proposal: Proposal, key: str) -> None:
    """Show how the rows of two tables are compared, next to their pairs."""
    _show_ways(data, proposal.ends, key)
    _show_options(data, proposal.ends, proposal.join.kind, key)


def _show_ways(data: HeteroData, ends: Ends, key: str) -> None:
    ways, by = _ways(data, ends), _chosen_way(data, ends)
    if len(ways) > 1:
        # The way is part of the key, as a comparison can change it.
        widget_key = f"way-{key}-{by}"
        st.segmented_control(
            "Compare the rows by",
            ways,
            default=by,
            required=True,
            format_func=_WAYS.__getitem__,
            key=widget_key,
            on_change=_choose_way,
            args=(ends, widget_key),
        )


def _choose_way(ends: Ends, key: str) -> None:
    state_of(RowComparisons).chosen[ends] = str(st.session_state[key])


def _show_options(data: HeteroData, ends: Ends, by: str, key: str) -> None:
    """Show the largest distance of a pair by place or date, or the language model by meaning."""
    comparison = _comparison(data, ends, by)
    if by == "meaning" and len(_models()) > 1 and _languages(data, ends):
        _choose_model(ends, comparison, f"model-{key}-{comparison.model}")
        return
    if comparison.km is None and comparison.days is None:
        return
    is_place = comparison.km is not None
    name = "km" if is_place else "days"
    widget_key = f"limit-{key}-{by}"
    st.number_input(
        "At most this many kilometres apart" if is_place else "At most this many days apart",
        min_value=0.01 if is_place else 0,
        max_value=_MAX_KM if is_place else _MAX_DAYS,
        value=comparison.km if is_place else comparison.days,
        key=widget_key,
        on_change=_choose_option,
        args=(ends, comparison, name, widget_key),
    )


def _choose_model(ends: Ends, comparison: Comparison, key: str) -> None:
    st.segmented_control(
        "Language model",
        list(_MODELS),
        default=comparison.model,
        required=True,
        format_func=_MODELS.__getitem__,
        key=key,
        on_change=_choose_option,
        args=(ends, comparison, "model", key),
    )


def _choose_option(ends: Ends, comparison: Comparison, name: str, key: str) -> None:
    changed = replace(comparison, **{name: st.session_state[key]})
    state_of(RowComparisons).options[ends, comparison.by] = changed


def _show_start(data: HeteroData, ends: Ends, key: str) -> None:
    """Show the button that starts a comparison, with its price, or its progress or result."""
    by = _chosen_way(data, ends)
    job_id = state_of(RowComparisons).jobs.get((ends, by))
    job = None if job_id is None else JOBS.get(job_id, project_id())
    if job is not None and job.is_active:
        st.fragment(run_every=_REFRESH_S)(_follow)(ends, by, key)
        return
    n_rows = _n_rows(data, ends)
    if by in _OF_ALL_PAIRS and n_rows > MAX_COMPARED_ROWS:
        theme.show_note(
            f"By words, meaning and pictures, tables of up to {MAX_COMPARED_ROWS:,} rows together "
            f"are compared here. These have {n_rows:,}. Use fewer rows, or hetviz.propose_links in "
            "Python."
        )
        return
    _show_options(data, ends, by, key)
    comparison = _comparison(data, ends, by)
    result = _result(data, ends, comparison)
    ended = state_of(RowComparisons).jobs.pop((ends, by), None)
    if ended is not None and result is not None and result.pairs:
        # It ended after the proposals of this run were made.
        st.rerun()
    if result is not None and not result.problem and not result.pairs:
        first, second = ends
        theme.show_note(f"{first} and {second} are no {_NONE_CLOSER[by]} than by chance.")
        return
    if result is not None and result.problem:
        theme.show_note(f"The comparison failed: {result.problem}")
    st.button(
        f"Compare by {by}",
        key=f"meant-{key}",
        type="primary",
        on_click=_start,
        args=(data, ends, comparison),
    )
    theme.show_note(_price_text(data, ends, by))


def _price_text(data: HeteroData, ends: Ends, by: str) -> str:
    """Return what a comparison does, and how long it takes if that is known."""
    if by == "pictures":
        n = sum(sum(map(bool, data[name].media or ())) for name in ends)
        return f"Looks at {count(n, 'picture')}. Two are paired if each looks most like the other."
    if by != "meaning":
        return "Two rows are paired if each is the only closest one to the other."
    n_texts = len({text for name in ends for text in texts_to_read(data, name)})
    seconds = seconds_to_compare(data, ends)
    time = format_seconds(seconds) if seconds >= _MIN_MINUTES_S else f"{seconds:.0f} s"
    sentences = [f"A small language model reads {count(n_texts, 'text')} in about {time}."]
    languages = _languages(data, ends)
    if _comparison(data, ends, by).model == "english":
        sentences += [
            f"It knows English, but {name} seems to be in {language}."
            for name, language in languages.items()
        ]
    if languages and "multilingual" not in _models():
        sentences.append(
            "A model of about a hundred languages is an extra: pip install 'hetviz[multilingual]'."
        )
    return " ".join(sentences)


def _start(data: HeteroData, ends: Ends, comparison: Comparison) -> None:
    mark, job_id = _mark(data, ends, comparison), secrets.token_hex(8)
    _RESULTS.drop(None, mark)
    comparisons = state_of(RowComparisons)
    comparisons.jobs[ends, comparison.by] = job_id
    comparisons.chosen[ends] = comparison.by
    tables = HeteroData([data[name] for name in ends])
    arguments = {"data": tables, "source": ends[0], "target": ends[1], **asdict(comparison)}
    task = Task("compare-rows", arguments)
    on_end = partial(_store_result, mark)
    title = f"Comparison by {comparison.by}"
    JOBS.start(project_id(), Kind.REVIEW, title, task, on_end, id=job_id)


def _store_result(mark: str, job: Job) -> None:
    if job.state == "done":
        _RESULTS.put(None, mark, _Result(tuple(map(tuple, job.result))))
    elif job.state == "failed":
        _RESULTS.put(None, mark, _Result(problem=str(job.error)))


def _follow(ends: Ends, by: str, key: str) -> None:
    """Show the progress of a comparison, and redraw the page at its end."""
    job_id = state_of(RowComparisons).jobs.get((ends, by))
    job = None if job_id is None else JOBS.get(job_id, project_id())
    if job is None or not job.is_active:
        st.rerun()
    with st.container(key=f"meant-wait-{key}"):
        waits = job.state == "waiting"
        st.progress(job.fraction, "Waiting for other work …" if waits else f"{job.message} …")
        st.button("Cancel", key=f"meant-stop-{key}", on_click=_cancel, args=((ends, by),))


def _cancel(place: tuple[Ends, str]) -> None:
    job_id = state_of(RowComparisons).jobs.pop(place, None)
    if job_id is not None:
        JOBS.cancel_job(job_id, project_id())


def stop_all() -> None:
    """Stop the comparisons of the tables that were reviewed."""
    comparisons = state_of(RowComparisons)
    for place in list(comparisons.jobs):
        _cancel(place)
    comparisons.chosen.clear()
    comparisons.options.clear()


def seconds_to_compare(data: HeteroData, ends: Ends) -> float:
    """Return the estimated processor time of a comparison by meaning."""
    n_chars = sum(len(text) for name in ends for text in set(texts_to_read(data, name)))
    n_pairs = len(data[ends[0]]) * len(data[ends[1]])
    seconds = _S_PER_CHAR[_comparison(data, ends, "meaning").model] * n_chars
    return max(_MIN_S, seconds + _S_PER_PAIR * n_pairs)


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


def _parts(data: HeteroData, ends: Ends, by: str) -> list[object] | None:
    """Return what is compared of two tables, or None if it is missing."""
    if by == "meaning":
        return [texts_to_read(data, name) for name in ends]

    def compute(name: str) -> object:
        try:
            return comparable_parts(data[name], by)
        except DataError:
            return None

    parts = [
        ITEM_RESULTS.get_or_compute(data[name], ("comparable", by), partial(compute, name))
        for name in ends
    ]
    return None if any(part is None for part in parts) else parts


def _result(data: HeteroData, ends: Ends, comparison: Comparison) -> _Result | None:
    by = comparison.by
    if by in _OF_ALL_PAIRS and _n_rows(data, ends) > MAX_COMPARED_ROWS:
        return None
    result: _Result | None = _RESULTS.get(None, _mark(data, ends, comparison))
    return result


def _mark(data: HeteroData, ends: Ends, comparison: Comparison) -> str:
    """Return a hash of the ids and of what is compared, which survives another reading."""
    tables = tuple(data[name] for name in ends)

    def compute() -> str:
        parts = [table.ids.tolist() for table in tables], _parts(data, ends, comparison.by)
        return hashlib.sha256(repr(parts).encode()).hexdigest()

    hash_of_parts = ITEM_RESULTS.get_or_compute(tables, ("compared", comparison.by), compute)
    return f"{hash_of_parts} {comparison}"
