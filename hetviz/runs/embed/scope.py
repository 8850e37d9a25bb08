"""What a run shows to its method: some of the rows, some of the links, links that weigh less."""

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
from hetviz.data.queries.rows import select_rows
from hetviz.errors import DataError, Problem
from hetviz.io import gate, read_table
from hetviz.io.bundle.lookup import Lookup
from hetviz.io.infer import cells
from hetviz.metrics.fit.rows import coordinates_of, drawn_of
from hetviz.progress import Progress

Layout = Reals


@dataclass(frozen=True, eq=False)
class Scope:
    """What a run is about.

    Attributes
    ----------
    data : HeteroData
        All rows.
    rows : array of int or None
        Global rows that take part, ascending; None for all.
    shown : HeteroData
        Those rows, with the links that were not held out, as they were given: what a map is
        measured by.
    seen : HeteroData
        The same with weights scaled: what the method gets.
    held_out : HeteroData or None
    """

    data: HeteroData
    rows: Ints | None
    shown: HeteroData
    seen: HeteroData
    held_out: HeteroData | None

    def params(self, params: Mapping[str, object]) -> dict[str, object]:
        """Return parameters without the values for datasets of which no row takes part."""
        return {
            key: {name: inner for name, inner in value.items() if name not in self._absent}
            if isinstance(value, Mapping)
            else value
            for key, value in params.items()
        }

    def of_all(self, embedding: Embedding) -> Embedding:
        """Return an embedding of those rows as one of all rows; the others have no place."""
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
        """Return a progress that tells of partial layouts as layouts of all rows."""
        if self.rows is None:
            return progress

        def report(fraction: float, message: str = "", **figures: Any) -> None:
            if figures.get("layout") is not None:
                figures["layout"] = self._widened(figures["layout"])
            progress(fraction, message, **figures)

        return report

    @property
    def _absent(self) -> set[str]:
        return set(self.data.datasets) - set(self.seen.datasets)

    def _widened(self, layout: Layout | Callable[[], Layout]) -> Callable[[], Layout]:
        # Most partial layouts are never looked at, so the work waits for somebody who does.
        def made() -> Layout:
            Y = np.asarray(layout() if callable(layout) else layout)
            out = np.full((self.data.n_rows, Y.shape[1]), np.nan, dtype=Y.dtype)
            out[self.rows] = Y
            return out

        return made


def scope_of(
    data: HeteroData,
    weights: Mapping[str, float] | None = None,
    only: Ints | None = None,
    hold_out: float = 0.0,
    seed: int = 0,
) -> Scope:
    """Return what a run of `data` is about.

    Parameters
    ----------
    data : HeteroData
    weights : mapping of str to float, optional
        See `hetviz.data.model.heterodata.Edit.weigh`.
    only : array of int, optional
        Global rows that take part; all when absent.
    hold_out : float
        Share of the links and of the comparisons of those rows to keep from the method.
    seed : int
        Of the split.

    Raises
    ------
    hetviz.errors.DataError, hetviz.errors.ParameterError
    """
    # Refuses a wrong key or factor, also one whose links take no part.
    data.edit().weigh(weights or {})
    rows = None if only is None else check_global_rows(only, data.n_rows)
    shown, held_out = data if rows is None else select_rows(data, rows), None
    if hold_out:
        shown, held_out = shown.holdout(hold_out, hold_out, random_state=seed)
    kinds = set(map(kind_key, shown.links))
    factors = {key: factor for key, factor in (weights or {}).items() if key in kinds}
    seen = shown.edit().weigh(factors) if factors else shown
    return Scope(data, rows, shown, seen, held_out)


# A choice of rows as a table of dataset and id, which outlives changes of the row numbers.


def rows_table(data: HeteroData, rows: Ints) -> str:
    """Write global rows as CSV with the columns dataset and id, for `read_rows`."""
    chosen = np.zeros(data.n_rows, dtype=bool)
    chosen[rows] = True
    lines = [
        [name, str(text)]
        for name, dataset in data.datasets.items()
        for text in dataset.ids[chosen[data.offsets[name]]]
    ]
    return cells.csv_text(["dataset", "id"], lines)


def read_rows_file(path: Path, data: HeteroData) -> Ints:
    """Read a file as `read_rows`."""
    return read_rows(path.name, gate.read_file(path), data)


def read_rows(name: str, content: bytes, data: HeteroData) -> Ints:
    """Read global rows from a table.

    Parameters
    ----------
    name : str
        Of the file, for messages.
    content : bytes
        CSV with the columns dataset (not needed for a single dataset) and id; others are ignored.
    data : HeteroData

    Returns
    -------
    array of int
        Ascending, each once.

    Raises
    ------
    hetviz.errors.DataError
        Listing every row that names something unknown.
    """
    read = read_table(name, content)
    columns = list(read.frame.columns)
    only = next(iter(data.datasets)) if len(data.datasets) == 1 else ""
    if "id" not in columns or ("dataset" not in columns and not only):
        what = "a choice of rows needs the columns dataset and id"
        raise gate.refusal("columns", name, what, ", ".join(columns[:10]))
    problems: list[Problem] = []
    lookup = Lookup(read, data.datasets, problems)
    names = lookup.column("dataset", only)
    at = lookup.find(names, lookup.column("id"), "")
    lookup.close()
    errors = [problem for problem in problems if problem.severity == "error"]
    if errors:
        raise DataError(errors)
    starts = np.array([data.offsets[name].start for name in names], dtype=np.int64)
    return np.unique(starts + at)
