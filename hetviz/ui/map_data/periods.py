"""Maps of periods of a project, and how far items moved between two of them."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from hetviz._types import Bools, Floats
from hetviz.core.layout.spread import moved_clearly, moved_shares, spread_of_move
from hetviz.data import Embedding, HeteroData
from hetviz.data.queries.periods import PERIODS
from hetviz.features.columns.names import words_of
from hetviz.features.columns.types import infer
from hetviz.ui.map_data.array_cache import RESULTS
from hetviz.workspace import MapResult, State

MAX_MAPS = 24
"""Number of periods up to which the app shows a map of each."""
_KINDS = ("date", "number")
_DATE_WORDS = frozenset({"year", "date", "time", "month", "jahr", "datum", "zeit", "monat"})


@dataclass(frozen=True, eq=False)
class Moves:
    """How far each row moved between two maps (n,), NaN if it is not on both.

    `spread`: How far the positions vary over refits, NaN if it was not measured.
    `is_clear`: Whether it moved clearly, see `moved_clearly`.
    """

    share: Floats
    spread: Floats
    is_clear: Bools


def series_of(state: State) -> tuple[MapResult, ...]:
    """Return the maps of periods, in order."""
    finding = state.findings.get(PERIODS)
    runs = {run.id: run for run in state.runs}
    return () if finding is None else tuple(runs[id] for id in finding.runs if id in runs)


def maps_with_one_frame(state: State, run: MapResult | None) -> tuple[MapResult, ...]:
    """Return the maps that share the frame of a map: all periods, or only itself."""
    series = series_of(state)
    return series if run in series else () if run is None else (run,)


def spread_content(state: State, run: MapResult) -> Mapping[str, object] | None:
    """Return the stored spread of the map of a period, None if it was not measured."""
    if run.period is None or run not in series_of(state):
        return None
    content = state.findings[PERIODS].content
    stored = content["spreads"].get(run.period["name"])
    return None if stored is None else {**stored, "items": content["items"]}


def find_moves(
    before: Embedding, after: Embedding, spreads: tuple[Floats | None, Floats | None]
) -> Moves:
    """Return how far the rows moved between two maps of the same rows, with their spreads."""
    Y, Z = before.stacked(), after.stacked()
    first, second = spreads
    unknown = np.full(len(Y), np.nan)
    of_move = unknown if first is None or second is None else spread_of_move(Y, Z, (first, second))
    share = moved_shares(Y, Z)
    return Moves(share, of_move, moved_clearly(share, of_move))


def date_columns(data: HeteroData) -> dict[str, bool]:
    """Return the columns that can give periods, the best first, and whether they have dates."""

    def find() -> dict[str, bool]:
        kinds: dict[Hashable, str | None] = {}
        for dataset in data.datasets.values():
            entries = ((dataset.recipe or {}).get("features") or {}).get("columns", [])
            known = {entry["column"]: entry.get("kind") for entry in entries}
            table = pd.DataFrame() if dataset.table is None else dataset.table
            kinds |= {name: known.get(name) or _kind_of(table[name]) for name in table.columns}
        for links in data.links:
            meta = pd.DataFrame() if links.meta is None else links.meta
            kinds |= {name: infer(str(name), meta[name]).kind for name in meta.columns}
        usable = {str(name): kind == "date" for name, kind in kinds.items() if kind in _KINDS}
        return dict(
            sorted(usable.items(), key=lambda each: (not each[1], not is_named_as_date(each[0])))
        )

    return RESULTS.get_or_compute(data, "date columns", find)


def is_named_as_date(name: str) -> bool:
    """Return whether a column is named as a date, such as "year"."""
    return bool(_DATE_WORDS & set(words_of(name)))


def _kind_of(column: pd.Series) -> str | None:
    if pd.api.types.is_datetime64_any_dtype(column.dtype):
        return "date"
    is_number = pd.api.types.is_numeric_dtype(column.dtype)
    return "number" if is_number and not pd.api.types.is_bool_dtype(column.dtype) else None
