"""Scope of a run: selected rows, held-out links and scaled weights."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from hetviz._types import Ints, Reals
from hetviz.data import Embedding, HeteroData
from hetviz.data.model.checks import check_global_rows
from hetviz.data.model.links import kind_key
from hetviz.data.queries.periods import Period, PeriodRecord, links_in
from hetviz.data.queries.rows import select_rows
from hetviz.errors import DataError, Problem
from hetviz.io import gate, read_table
from hetviz.io.bundle.lookup import Lookup
from hetviz.io.infer import cells
from hetviz.metrics.fit.rows import coordinates_of, drawn_of
from hetviz.progress import Progress

PartialLayout = Reals


@dataclass(frozen=True, eq=False)
class Scope:
    """The data of a run.

    `measured`: These rows with the links that were not held out, with original weights. The map is
        measured by them.
    `seen`: The same with scaled weights, as the method gets them.
    """

    data: HeteroData
    rows: Ints | None
    measured: HeteroData
    seen: HeteroData
    held_out: HeteroData | None

    def params(self, params: Mapping[str, object]) -> dict[str, Any]:
        """Return parameters without values for datasets that do not take part."""
        return {
            key: {name: inner for name, inner in value.items() if name not in self._absent}
            if isinstance(value, Mapping)
            else value
            for key, value in params.items()
        }

    def extend_to_all_rows(self, embedding: Embedding) -> Embedding:
        """Return an embedding of these rows extended to all rows, the others without a place."""
        if self.rows is None:
            return embedding
        return Embedding(
            coordinates_of(self.data, embedding),
            {name: dataset.ids for name, dataset in self.data.datasets.items()},
            {name: dataset.entity for name, dataset in self.data.datasets.items()},
            components=dict(embedding.components),
            note=embedding.note,
            diagnostics=embedding.diagnostics,
            drawn=drawn_of(self.data, embedding),
        )

    def progress(self, progress: Progress) -> Progress:
        """Return a progress that reports partial layouts as layouts of all rows."""
        if self.rows is None:
            return progress

        def report(fraction: float, message: str = "", **figures: Any) -> None:
            if figures.get("layout") is not None:
                figures["layout"] = self._extended_layout(figures["layout"])
            progress(fraction, message, **figures)

        return report

    @property
    def _absent(self) -> set[str]:
        return set(self.data.datasets) - set(self.seen.datasets)

    def _extended_layout(
        self, layout: PartialLayout | Callable[[], PartialLayout]
    ) -> Callable[[], PartialLayout]:
        # Most partial layouts are never displayed, so they are extended on request.
        def extended() -> PartialLayout:
            Y = np.asarray(layout() if callable(layout) else layout)
            layout_of_all = np.full((self.data.n_rows, Y.shape[1]), np.nan, dtype=Y.dtype)
            layout_of_all[self.rows] = Y
            return layout_of_all

        return extended


def scope_of(
    data: HeteroData,
    weights: Mapping[str, float] | None = None,
    only: Ints | None = None,
    hold_out: float = 0.0,
    seed: int = 0,
    period: PeriodRecord | None = None,
) -> Scope:
    """Return the scope of a run of `data`."""
    # This checks all keys and factors, also of links that take no part.
    data.edit().weigh(weights or {})
    rows = None if only is None else check_global_rows(only, data.n_rows)
    measured, held_out = part_of(data, rows, period), None
    if hold_out:
        measured, held_out = measured.holdout(hold_out, hold_out, random_state=seed)
    kinds = set(map(kind_key, measured.links))
    factors = {key: factor for key, factor in (weights or {}).items() if key in kinds}
    fit_data = measured.edit().weigh(factors) if factors else measured
    return Scope(data, rows, measured, fit_data, held_out)


def part_of(data: HeteroData, only: Ints | None, period: PeriodRecord | None) -> HeteroData:
    """Return the rows `only` of the data, and of dated links those of a period (`Run.period`)."""
    if period is not None:
        bounds = Period(period["name"], period["start"], period["stop"])
        data = links_in(data, period["by"], bounds)
    return data if only is None else select_rows(data, only)


# Rows as a table of dataset and id, which stays valid when row numbers change.


def rows_table(data: HeteroData, rows: Ints) -> str:
    """Return global rows as CSV with the columns dataset and id, for `read_rows`."""
    chosen = np.zeros(data.n_rows, dtype=bool)
    chosen[rows] = True
    lines = [
        [name, str(text)]
        for name, dataset in data.datasets.items()
        for text in dataset.ids[chosen[data.offsets[name]]]
    ]
    return cells.csv_text(["dataset", "id"], lines)


def rows_of_map(data: HeteroData, embedding: Embedding, rows: Ints) -> Ints:
    """Return the global rows of `data` that are the items of global rows of a map."""
    chosen = np.zeros(embedding.n_rows, dtype=bool)
    chosen[rows] = True
    found, first = [], 0
    for name, ids in embedding.ids.items():
        mask, first = chosen[first : first + len(ids)], first + len(ids)
        if name in data.datasets:
            at = data[name].find(ids[mask])
            found.append(at[at >= 0] + data.offsets[name].start)
    return np.sort(np.concatenate([np.empty(0, dtype=np.int64), *found]))


def read_rows_file(path: Path, data: HeteroData) -> Ints:
    """Read global rows from a file; see `read_rows`."""
    return read_rows(path.name, gate.read_file(path), data)


def read_rows(name: str, content: bytes, data: HeteroData) -> Ints:
    """Read global rows from a table."""
    loaded = read_table(name, content)
    columns = list(loaded.frame.columns)
    single_dataset = next(iter(data.datasets)) if len(data.datasets) == 1 else ""
    if "id" not in columns or ("dataset" not in columns and not single_dataset):
        message = "a table of rows needs the columns dataset and id"
        raise gate.refusal("columns", name, message, ", ".join(columns[:10]))
    problems: list[Problem] = []
    lookup = Lookup(loaded, data.datasets, problems)
    names = lookup.column("dataset", single_dataset)
    at = lookup.find(names, lookup.column("id"), "")
    lookup.close()
    errors = [problem for problem in problems if problem.severity == "error"]
    if errors:
        raise DataError(errors)
    starts = np.array([data.offsets[name].start for name in names], dtype=np.int64)
    return np.unique(starts + at)
