"""Explanation of the position of an item: what holds it and what would move it."""

from __future__ import annotations

import streamlit as st

from hetviz._text import join_words, round_percent, shorten
from hetviz.algorithms.contract import Capability
from hetviz.algorithms.registry import get_method
from hetviz.core.layout.attraction import LINK, STATEMENT
from hetviz.data.model.diagnostics import SHARE, make_diagnostic
from hetviz.errors import HetvizError, NotApplicableError
from hetviz.features.spaces.pins import pin_note
from hetviz.metrics.map_reasons import shared_with_nearest
from hetviz.plots.colour import display_name
from hetviz.runs.place.reasons import FEATURE, Reason, Why
from hetviz.runs.place.why import Explainer
from hetviz.ui.item import blocks, item_results, item_text
from hetviz.ui.item.blocks import Block
from hetviz.ui.map_data.reasons import reasons_of
from hetviz.ui.shell import theme
from hetviz.ui.widgets import diagnostics
from hetviz.workspace import MapResult, State, Workspace

MAX_ROWS_AT_ONCE = 3_000
"""Largest number of rows for which the explanation is computed without a click."""
FIND_OUT = "why-find"
_MAX_REASONS, _MAX_TITLE_CHARS = 5, 45
_KIND_TEXTS = {LINK: "linked", STATEMENT: "your guidance"}


def why_blocks(workspace: Workspace, run: MapResult, row: int, session: str) -> list[Block]:
    """Return why an item is where it is, or the button that computes it."""
    state = workspace.state
    if state.guided is None:
        return []
    if not run.method:
        return _blocks_of_unknown_method(workspace, run, row, session)
    title = blocks.section("Why it is here", get_method(run.method).card.title)
    if _needs_click(workspace, run):
        return [title, blocks.button(FIND_OUT, "Find out")]
    try:
        explanation = explain(workspace, run, row)
    except NotApplicableError as error:
        return [title, blocks.note(" ".join(error.reasons))]
    except HetvizError as error:
        return [title, blocks.note(str(error))]
    evidence = theme.evidence_key("why", row) if explanation.n_reasons else ""
    pinned = pin_note(state.guided, run.params, row)
    lines = [title, *([blocks.note(pinned)] if pinned else [])]
    lines.append(blocks.note(explanation.sentence, evidence))
    lines += map(blocks.note, explanation.sentences_elsewhere)
    if not state.is_current(run):
        lines.append(
            blocks.note(
                "The data changed after this map was made. The explanation uses the current data."
            )
        )
    return lines


def _blocks_of_unknown_method(
    workspace: Workspace, run: MapResult, row: int, session: str
) -> list[Block]:
    """Return in which columns an item is like its nearest on a map that was made elsewhere."""
    state = workspace.state
    data, embedding = state.data, state.embedding(run)
    found = None if embedding is None else reasons_of(state, run, session)
    if data is None or embedding is None or found is None:
        return []
    if any(item_text.is_loading(data, name) for name in data.datasets):
        return []
    text = item_results.get_or_compute(
        workspace,
        (*_key(state, run), "nearest", row),
        (state.data, run),
        lambda: shared_with_nearest(
            data, embedding, row, found, item_text.columns_of, display_name
        ),
    )
    return [blocks.section("Why it is here"), blocks.note(text)] if text else []


def allow(workspace: Workspace, run: MapResult) -> None:
    """Explain the items of a map of many rows from now on."""
    item_results.get_or_compute(
        workspace, ("requested", *_key(workspace.state, run)), run, lambda: True
    )


def _needs_click(workspace: Workspace, run: MapResult) -> bool:
    state = workspace.state
    return (
        state.opened().n_rows > MAX_ROWS_AT_ONCE
        and _is_quick(state, run)
        and not item_results.is_cached(workspace, ("requested", *_key(state, run)))
    )


def is_ready(workspace: Workspace, run: MapResult) -> bool:
    """Return whether items are explained at once: the first one of a map takes seconds."""
    if not run.method:
        # The columns are read for the page.
        return False
    is_explained = item_results.is_cached(workspace, ("ready", *_key(workspace.state, run)))
    return is_explained or _needs_click(workspace, run)


def show_details(workspace: Workspace, run: MapResult, row: int) -> None:
    """Show the reasons with their shares, folded."""
    state = workspace.state
    if state.guided is None or not run.method or _needs_click(workspace, run):
        return
    try:
        explanation = explain(workspace, run, row)
    except HetvizError:
        # The sentence of `why_blocks` says it.
        return
    with st.expander("What holds it"):
        _show_reasons(explanation, _named_columns(state, explanation.dataset))
        if not _is_quick(state, run):
            theme.show_note(
                "The effect of each feature and link needs a new fit. The command `hetviz why` "
                "computes it for a saved map."
            )


def explain(workspace: Workspace, run: MapResult, row: int) -> Why:
    """Return the explanation of the position of an item."""
    state = workspace.state
    key, keep_alive = _key(state, run), (state.data, run)
    explainer = item_results.get_or_compute(
        workspace, key, keep_alive, lambda: _make_explainer(state, run)
    )
    find = explainer.why if _is_quick(state, run) else explainer.explain_from_positions
    explanation = item_results.get_or_compute(
        workspace, (*key, row), keep_alive, lambda: find(row, _MAX_REASONS)
    )
    item_results.get_or_compute(workspace, ("ready", *key), keep_alive, lambda: True)
    return explanation


def _key(state: State, run: MapResult) -> tuple[object, ...]:
    return ("why", id(state.data), state.excluded, id(run))


def _is_quick(state: State, run: MapResult) -> bool:
    """Return whether the explanation is fast: a graph method, or a closed form of few rows."""
    method = get_method(run.method)
    if method.has_attraction_graph():
        return True
    rows = 0 if state.data is None else state.data.n_rows
    return Capability.ITERATIVE not in method.card.capabilities and rows <= MAX_ROWS_AT_ONCE


def _make_explainer(state: State, run: MapResult) -> Explainer:
    data, embedding = state.guided, state.embedding(run)
    assert data is not None and embedding is not None  # noqa: S101 - there is a map
    return Explainer(data, embedding, run)


def _named_columns(state: State, name: str) -> set[str]:
    """Return the named columns of a dataset; entries of vectors have no useful names."""
    table = None if state.data is None else state.data[name].table
    return set() if table is None else set(map(str, table.columns))


def _show_reasons(explanation: Why, columns: set[str]) -> None:
    _show_bars(explanation.holds)
    features = tuple(reason for reason in explanation.features if reason.title in columns)
    if features:
        theme.show_section(
            "Columns that make it similar" if explanation.holds else "Because of its columns"
        )
        _show_bars(features)
    elif explanation.features:
        theme.show_note("Its features are numbers without names, so they are not listed.")
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
