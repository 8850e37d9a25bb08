"""Explanation of the position of an item: what holds it and what would move it."""

from __future__ import annotations

from dataclasses import dataclass, field

import streamlit as st

from hetviz._text import join_words, round_percent, shorten
from hetviz.algorithms.contract import Capability
from hetviz.algorithms.registry import get_method
from hetviz.core.layout.attraction import LINK, STATEMENT
from hetviz.data.model.diagnostics import SHARE, make_diagnostic
from hetviz.errors import HetvizError
from hetviz.plots.colour import display_name
from hetviz.runs.place.reasons import FEATURE, Reason, Why
from hetviz.runs.place.why import Explainer
from hetviz.ui.shell import session, theme
from hetviz.ui.shell.page_state import state_of
from hetviz.ui.widgets import charts, diagnostics
from hetviz.workspace import MapResult, State

MAX_ROWS_AT_ONCE = 3_000
"""Largest number of rows for which the explanation is computed without a click."""
_MAX_REASONS, _MAX_TITLE_CHARS = 5, 45
_KIND_TEXTS = {LINK: "linked", STATEMENT: "your guidance"}


@dataclass
class Requested:
    """Explanations that the visitor requested."""

    keys: set[object] = field(default_factory=set)


def show_item_why(state: State, run: MapResult, row: int) -> None:
    """Show why an item is where it is."""
    if state.guided is None or not run.method:
        return
    theme.show_section("Why it is here", get_method(run.method).card.title)
    quick = _is_quick(state, run)
    key = _key(state, run)
    asked = state_of(Requested).keys
    if quick and state.guided.n_rows > MAX_ROWS_AT_ONCE and key not in asked:
        if not st.button("Find out", key="why-find"):
            return
        asked.add(key)
    try:
        explanation = explain(state, run, row)
    except HetvizError as error:
        theme.show_note(str(error))
        return
    columns = _named_columns(state, explanation.dataset)
    _show_reasons(explanation, columns, theme.evidence_key("why", row))
    if not quick:
        theme.show_note(
            "The effect of each feature and link needs a new fit. The command `hetviz why` "
            "computes it for a saved map."
        )
    if not state.is_current(run):
        theme.show_note(
            "The data changed after this map was made. The explanation uses the current data."
        )


def explain(state: State, run: MapResult, row: int) -> Why:
    """Return the explanation of the position of an item."""
    key = _key(state, run)
    explainer = session.get_or_compute(key, (state.data, run), lambda: _make_explainer(state, run))
    find = explainer.why if _is_quick(state, run) else explainer.explain_from_positions
    return session.get_or_compute((*key, row), (state.data, run), lambda: find(row, _MAX_REASONS))


def _key(state: State, run: MapResult) -> tuple[object, ...]:
    return ("why", id(state.data), state.off, id(run))


def _is_quick(state: State, run: MapResult) -> bool:
    """Return whether the explanation is fast: a graph method, or a closed form of few rows."""
    method = get_method(run.method)
    if method.has_attraction_graph():
        return True
    rows = 0 if state.data is None else state.data.n_rows
    return Capability.ITERATIVE not in method.card.capabilities and rows <= MAX_ROWS_AT_ONCE


def _make_explainer(state: State, run: MapResult) -> Explainer:
    data, embedding = state.guided, charts.embedding_of(state, run)
    assert data is not None and embedding is not None  # noqa: S101 - there is a map
    return Explainer(data, embedding, run)


def _named_columns(state: State, name: str) -> set[str]:
    """Return the named columns of a dataset; entries of vectors have no useful names."""
    table = None if state.data is None else state.data[name].table
    return set() if table is None else set(map(str, table.columns))


def _show_reasons(explanation: Why, columns: set[str], evidence: str = "") -> None:
    theme.show_note(explanation.sentence, evidence if explanation.n_reasons else "")
    _show_bars(explanation.holds)
    features = tuple(reason for reason in explanation.features if reason.title in columns)
    if features:
        theme.show_section(
            "Columns that make it similar" if explanation.holds else "Because of its columns"
        )
        _show_bars(features)
    elif explanation.features:
        theme.show_note("Its features are numbers without names, so they are not listed.")
    if explanation.elsewhere:
        titles = [reason.title for reason in explanation.elsewhere[:3]]
        are = "is" if len(titles) == 1 else "are"
        theme.show_note(f"It is also linked to {join_words(titles)}, which {are} far away.")
    movers = [reason for reason in explanation.would_move if reason.moves >= 0.005][:3]
    if movers:
        texts = [f"{reason.title} ({round_percent(reason.moves)})" for reason in movers]
        theme.show_note(
            f"Without these it would move most (in % of the width of the map): {join_words(texts)}."
        )
    if explanation.note:
        theme.show_note(explanation.note)
    theme.show_note(explanation.how)


def _show_bars(reasons: tuple[Reason, ...]) -> None:
    values: dict[str, object] = {}
    for reason in reasons[:_MAX_REASONS]:
        kind = "" if reason.kind == FEATURE else (reason.by or _KIND_TEXTS.get(reason.kind, ""))
        title = display_name(reason.title) if reason.kind == FEATURE else reason.title
        name = f"{shorten(title, _MAX_TITLE_CHARS)} · {kind}" if kind else title
        values[name if name not in values else f"{name} ({reason.id})"] = reason.share
    if values:
        diagnostics.draw_bars(make_diagnostic("why", "", "", values, SHARE), 2 * _MAX_TITLE_CHARS)
