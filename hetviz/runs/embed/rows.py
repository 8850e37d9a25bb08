"""A choice of rows as a table of dataset and id, which outlives changes of the row numbers."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from hetviz._types import Ints
from hetviz.data import HeteroData
from hetviz.errors import DataError, Problem
from hetviz.io import gate, read_table
from hetviz.io.bundle.lookup import Lookup
from hetviz.io.infer import cells


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
