"""Why the selected item lies where it lies: what holds it there, and what would move it."""

from __future__ import annotations

import streamlit as st

from hetviz._text import listed, rounded, short
from hetviz.algorithms.base import Capability
from hetviz.algorithms.registry import get_method
from hetviz.core.layout.holding import LINK, STATEMENT
from hetviz.data.model.diagnostics import SHARE, diagnostic
from hetviz.errors import HetvizError
from hetviz.plots.colour import spoken
from hetviz.runs.embed.run import Run as Record
from hetviz.runs.place.why import FEATURE, Explainer, Reason, Why
from hetviz.ui.map import found_out
from hetviz.ui.shell import session, theme
from hetviz.ui.widgets import charts
from hetviz.workspace import Run, State

AT_ONCE = 3_000
"""Up to so many rows it is told without being asked for: the first answer takes a part of a fit."""
_MOST, _TITLE = 5, 45
_KINDS = {LINK: "linked", STATEMENT: "said"}


def show(state: State, run: Run, row: int) -> None:
    """Say why an item lies where it lies."""
    if state.guided is None or not run.method:
        return
    theme.section("Why it is here", get_method(run.method).card.title)
    quick = _quick(state, run)
    key = ("why", id(state.data), state.off, id(run))
    asked: set[object] = st.session_state.setdefault("why-asked", set())
    if quick and state.guided.n_rows > AT_ONCE and key not in asked:
        if not st.button("Find out", key="why-find"):
            return
        asked.add(key)
    try:
        explainer = session.cached(key, (state.data, run), lambda: _explainer(state, run))
        ask = explainer.why if quick else explainer.at_a_glance
        found = session.cached((*key, row), (state.data, run), lambda: ask(row, _MOST))
    except HetvizError as error:
        theme.quiet(str(error))
        return
    _tell(found, _columns(state, found.dataset))
    if not quick:
        theme.quiet(
            "What each feature and link does to it takes a fit anew: the command `hetviz why` "
            "tells, of a map that was saved."
        )
    if not state.is_current(run):
        theme.quiet("The data are others than those of this map; it is told by what they are now.")


def _quick(state: State, run: Run) -> bool:
    """Whether it can be told here: of a graph, or of a closed form of not too many rows."""
    card = get_method(run.method).card
    if Explainer.draws_graph(run.method):
        return True
    rows = 0 if state.data is None else state.data.n_rows
    return Capability.ITERATIVE not in card.capabilities and rows <= AT_ONCE


def _explainer(state: State, run: Run) -> Explainer:
    data, embedding = state.guided, charts.embedding_of(state, run)
    assert data is not None and embedding is not None  # noqa: S101 - there is a map
    record = Record(
        run.fingerprint,
        run.method,
        run.params,
        run.seed,
        weights=run.weights,
        only=run.only,
        hold_out=run.hold_out,
    )
    return Explainer(data, embedding, record)


def _columns(state: State, name: str) -> set[str]:
    """Return the columns that a person knows; numbers of a vector tell nobody anything."""
    table = None if state.data is None else state.data[name].table
    return set() if table is None else set(map(str, table.columns))


def _tell(found: Why, known: set[str]) -> None:
    theme.quiet(found.sentence)
    _bars(found.holds)
    features = tuple(one for one in found.features if one.title in known)
    if features:
        theme.section("Columns that make it like them" if found.holds else "By its columns")
        _bars(features)
    elif found.features:
        theme.quiet("Its features are numbers without names, so they are not listed.")
    if found.elsewhere:
        far = [one.title for one in found.elsewhere[:3]]
        lie = "lies" if len(far) == 1 else "lie"
        theme.quiet(f"Pulled elsewhere: it belongs near {listed(far)} too, which {lie} far away.")
    movers = [one for one in found.would_move if one.moves >= 0.005][:3]
    if movers:
        told = [f"{one.title} ({rounded(one.moves)})" for one in movers]
        theme.quiet(
            f"Without these it would move most, in shares of the map's width: {listed(told)}."
        )
    if found.note:
        theme.quiet(found.note)
    theme.quiet(found.how)


def _bars(reasons: tuple[Reason, ...]) -> None:
    values: dict[str, object] = {}
    for one in reasons[:_MOST]:
        kind = "" if one.kind == FEATURE else (one.by or _KINDS.get(one.kind, ""))
        title = spoken(one.title) if one.kind == FEATURE else one.title
        name = f"{short(title, _TITLE)} · {kind}" if kind else title
        values[name if name not in values else f"{name} ({one.id})"] = one.share
    if values:
        found_out.bars(diagnostic("why", "", "", values, SHARE), 2 * _TITLE)
