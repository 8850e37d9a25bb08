"""Kinds of evidence by name: each computes what one statement on the screen rests on.

A statement carries a key, see `hetviz.ui.shell.theme.evidence_key`. Its first part is the kind, the
others are the arguments as text.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from urllib.parse import unquote

import numpy as np

from hetviz.data import Embedding, HeteroData
from hetviz.errors import DataError, HetvizError, Problem
from hetviz.runs.evidence.evidence import Evidence
from hetviz.ui.widgets import charts
from hetviz.workspace import MapResult, State

Source = Callable[..., Evidence]
SOURCES: dict[str, Source] = {}
"""Function of the state and the arguments of a key, by kind."""


def source(kind: str) -> Callable[[Source], Source]:
    """Register the function of a kind."""

    def register(function: Source) -> Source:
        SOURCES[kind] = function
        return function

    return register


def find_evidence(state: State, key: str) -> Evidence:
    """Return the evidence of a key.

    Raises HetvizError: If the statement is of a map or an item that no longer exists.
    """
    kind, *parts = key.split("/")
    if kind not in SOURCES:
        raise outdated()
    try:
        return SOURCES[kind](state, *map(unquote, parts))
    except (TypeError, ValueError, KeyError, IndexError):
        # The key is from another version of the page.
        raise outdated() from None


def outdated() -> HetvizError:
    """Return the error for a statement about something that changed."""
    return DataError(
        Problem(
            "outdated",
            "this statement",
            "is about something that has changed since",
            remedy="Close this and look at the current statement.",
        )
    )


def run_of(state: State, id: str = "") -> MapResult:
    """Return a map by its id, by default the shown one."""
    if not id and state.run is not None:
        return state.run
    for run in state.runs:
        if run.id == id:
            return run
    raise outdated()


def places_of(state: State, run: MapResult) -> Embedding:
    """Return the positions of the rows of the open data on a map."""
    embedding = charts.embedding_of(state, run)
    if embedding is None:
        raise outdated()
    return embedding


class MeasuredData:
    """The data that the numbers of a map were measured on.

    `rows` (n,): Global rows of the open data; None if all.
    `is_current`: Whether the data are those of the map.
    """

    def __init__(self, state: State, run: MapResult) -> None:
        self.data, self.held_out, self.rows = state.opened(), state.held_out, None
        self.is_current = bool(run.method) and state.is_current(run)
        if self.is_current and state.guided is not None:
            from hetviz.runs.embed.scope import scope_of

            scope = scope_of(
                state.guided, run.weights, run.only, run.hold_out, run.seed, run.period
            )
            self.data, self.rows = scope.measured, scope.rows
            self.held_out = scope.held_out if scope.held_out is not None else state.held_out

    def to_open_rows(self, evidence: Evidence) -> Evidence:
        """Return evidence with the rows of the open data, and a note if the data changed."""
        if self.rows is not None:
            evidence = replace(evidence, rows=np.asarray(self.rows)[evidence.rows])
        if not self.is_current:
            note = " The data changed since the map was made. These are the current data."
            evidence = replace(evidence, sample=evidence.sample + note)
        return evidence


def check_row(data: HeteroData, row: str) -> int:
    """Return a global row of the data from text."""
    number = int(row)
    if not 0 <= number < data.n_rows:
        raise outdated()
    return number
