"""Columns and links that explain the map, or the distance of two items."""

from __future__ import annotations

import contextlib
import json
from dataclasses import dataclass, replace

import streamlit as st

from hetviz._text import capital, join_words, shorten
from hetviz.data import HeteroData
from hetviz.data.model.diagnostics import SHARE, make_diagnostic
from hetviz.errors import NotApplicableError
from hetviz.metrics.map_reasons import (
    LINK,
    SHARED,
    MapReason,
    MapReasons,
    PairValue,
    pair_reasons,
)
from hetviz.plots.colour import colour_options, display_name
from hetviz.plots.filter_text import value_text
from hetviz.ui.item import item_text
from hetviz.ui.map_data import layers, worker_results
from hetviz.ui.map_data.reasons import reasons_of
from hetviz.ui.shell import session, theme
from hetviz.ui.shell.page_state import project_id, state_of
from hetviz.ui.widgets import diagnostics, failure
from hetviz.workspace import MapResult, SetView, State

_MAX_REASONS, _MAX_VALUES, _MAX_TITLE_CHARS, _MAX_VALUE_CHARS = 6, 5, 45, 30
_WAITING = "The columns are being compared with the map."


@dataclass
class ReasonsView:
    """The map whose reasons were asked for."""

    run: str = ""


def show_reasons(state: State, run: MapResult) -> None:
    """Show the columns and links that explain the map."""
    if state.data is None:
        return
    view = state_of(ReasonsView)
    # The method explains a map of hetviz, so its columns are compared on request.
    is_requested = not run.method or view.run == run.id
    theme.show_section("What explains this map", "0 % is chance" if is_requested else "")
    if not is_requested:
        st.button("Find out", key="find-reasons", on_click=_request, args=(run.id,))
        return
    with failure.show_failure("map-reasons"):
        found = reasons_of(state, run, project_id())
        if found is None:
            theme.show_note(_WAITING)
        elif not found.reasons:
            theme.show_note(found.sentence)
        else:
            _show_bars(state, state.data, run, found)


def _request(run: str) -> None:
    state_of(ReasonsView).run = run


def _show_bars(state: State, data: HeteroData, run: MapResult, found: MapReasons) -> None:
    shown = found.reasons[:_MAX_REASONS]
    bars = {_name_of(data, reason): reason.share for reason in shown}
    diagnostics.draw_bars(make_diagnostic("why", "", "", bars, SHARE), _MAX_TITLE_CHARS)
    best = shown[0]
    theme.show_note(_sentence(data, best))
    key = json.dumps([best.source or best.dataset, best.column])
    titles = {option.key: option.title for option in colour_options(data)}
    if (
        best.kind not in (LINK, SHARED)
        and key in titles
        and layers.colours_of(state, run).option.key != key
    ):
        st.button(
            f"Colour by {titles[key]}",
            key="colour-by-reason",
            on_click=session.on_command,
            args=(SetView(colour=key),),
        )
    with st.expander("How this is measured"):
        theme.show_note(found.how)
        for reason in shown[1:]:
            theme.show_note(_sentence(data, reason))
        if found.axes:
            theme.show_note(f"Left out, as the map itself: {join_words(list(found.axes))}.")


def _sentence(data: HeteroData, reason: MapReason) -> str:
    return f"{_name_of(data, reason)}: {reason.sentence[0].lower()}{reason.sentence[1:]}"


def _name_of(data: HeteroData, reason: MapReason) -> str:
    """Return the name of a reason, with its dataset where several have columns."""
    many = sum(dataset.table is not None for dataset in data.datasets.values()) > 1
    return capital(reason.title(many, display_name))


def axes_of(state: State) -> tuple[str, ...]:
    """Return the columns that are the axes of a map that was made elsewhere."""
    if state.run is None or state.run.method:
        return ()
    with contextlib.suppress(worker_results.WorkerError):
        found = reasons_of(state, state.run, project_id())
        if found is not None:
            return found.axes
    return ()


def show_pair(state: State, run: MapResult, a: int, b: int) -> None:
    """Show why two selected items are close or far apart."""
    data, embedding = state.data, state.embedding(run)
    if data is None or embedding is None:
        return
    theme.show_section("Why they are close or far apart")
    with failure.show_failure("pair-reasons"):
        found = reasons_of(state, run, project_id())
        if found is None or any(item_text.is_loading(data, name) for name in data.datasets):
            theme.show_note(_WAITING)
            return
        try:
            pair = session.get_or_compute(
                ("pair-reasons", id(data), id(run), a, b),
                (data, run),
                lambda: pair_reasons(data, embedding, a, b, found, item_text.columns_of),
            )
        except NotApplicableError as error:
            theme.show_note(" ".join(error.reasons))
            return
        values = tuple(
            replace(value, column=capital(display_name(value.column))) for value in pair.values
        )
        theme.show_note(replace(pair, values=values).sentence)
        if pair.values:
            theme.show_pairs(
                [(value.column, _values_text(value)) for value in values[:_MAX_VALUES]]
            )


def _values_text(value: PairValue) -> str:
    first, second = map(_shown, (value.first, value.second))
    return f"both {first}" if first == second else f"{first} and {second}"


def _shown(value: str) -> str:
    return shorten(value_text(value), _MAX_VALUE_CHARS) if value else "–"
