"""Coordinates and chosen rows as CSV, and coordinates back."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

import numpy as np
import pandas as pd

from hetviz.data import Embedding, HeteroData
from hetviz.errors import DataError, Problem
from hetviz.io import gate
from hetviz.io.bundle.lookup import Lookup
from hetviz.io.formats.registry import read_table
from hetviz.io.infer import cells
from hetviz.io.infer.parsed import TableReader

_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")
_SIGNS = frozenset("=+-@−")
_INVISIBLE_SIGNS = " \t\r\n\v\f\0\x85\u200b\u200c\u200d\u200e\u200f\u2028\u2029\u202e\u2060\ufeff"
_MAX_CHARS_CHECKED = 200
# Control characters, except tabs and line ends, which CSV quotes.
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
PICTURE = ["drawn_x", "drawn_y"]
"""Columns of the drawn picture of a map, if it differs from the axes."""


def coordinates_csv(embedding: Embedding, *, digits: int | None = None, safe: bool = False) -> str:
    """Return coordinates as CSV; rows without coordinates have empty cells."""
    # A map with a separate picture has the additional columns drawn_x and drawn_y.

    def text(value: str) -> str:
        return escape_formula(value) if safe else value

    def cell(value: float) -> str:
        if np.isnan(value):
            return ""
        return repr(float(value)) if digits is None else f"{value:.{digits}g}"

    places = dict(embedding.coordinates)
    if embedding.drawn is not None:
        places = {name: np.hstack([Y, embedding.drawn[name]]) for name, Y in places.items()}
    rows = [
        [text(name), text(str(id)), *map(cell, place)]
        for name, Y in places.items()
        for id, place in zip(embedding.ids[name], Y, strict=True)
    ]
    picture = [] if embedding.drawn is None else PICTURE
    return cells.csv_text(["dataset", "id", *embedding.axis_names, *picture], rows)


def escape_formula(text: str) -> str:
    """Return text that no spreadsheet takes for a formula, and no terminal for a command."""
    text = _CONTROLS.sub("", text)
    start = unicodedata.normalize("NFKC", text[:_MAX_CHARS_CHECKED])
    visible = start.lstrip(_INVISIBLE_SIGNS)
    return "'" + text if start.startswith(_FORMULA_STARTS) or visible[:1] in _SIGNS else text


def read_coordinates(
    name: str, content: bytes, data: HeteroData, tables: TableReader = read_table
) -> Embedding:
    """Read coordinates of the rows of `data`."""
    table = tables(name, content, None)
    columns = list(table.frame.columns)
    only = next(iter(data.datasets)) if len(data.datasets) == 1 else ""
    axes = [column for column in columns if column not in ("dataset", "id", "placed")]
    if "id" not in columns or ("dataset" not in columns and not only) or not axes:
        raise gate.refusal(
            "columns",
            name,
            "coordinates need the columns dataset and id, and one column for each axis",
            ", ".join(columns[:10]),
        )
    problems: list[Problem] = []
    lookup = Lookup(table, data.datasets, problems)
    names, ids = lookup.column("dataset", only), lookup.column("id")
    at = lookup.find(names, ids, "")
    repeated = pd.DataFrame({"name": names, "at": at}).duplicated().to_numpy() & (at >= 0)
    lookup.refuse(
        "duplicate-id",
        repeated,
        "id",
        "the item already has a place",
        ids,
        "Keep one of the two rows.",
    )
    places = np.column_stack([lookup.numbers(axis, ("", "nan")) for axis in axes])
    lookup.close()
    errors = [problem for problem in problems if problem.severity == "error"]
    if errors:
        raise DataError(errors)
    Y = {n: np.full((len(dataset), len(axes)), np.nan) for n, dataset in data.datasets.items()}
    for name_, place in Y.items():
        place[at[names == name_]] = places[names == name_]
    drawn = None
    if axes[-2:] == PICTURE and len(axes) > 2:
        drawn = {name_: place[:, -2:] for name_, place in Y.items()}
        Y = {name_: place[:, :-2] for name_, place in Y.items()}
    return Embedding(
        Y,
        {n: dataset.ids for n, dataset in data.datasets.items()},
        {n: dataset.entity for n, dataset in data.datasets.items()},
        note=f"read from {name}",
        drawn=drawn,
    )


def rows_csv(data: HeteroData, rows: Iterable[int]) -> str:
    """Write the ids of global rows as CSV, for people."""
    chosen = sorted(rows)
    lines: list[list[str]] = []
    for name, span in data.offsets.items():
        dataset = data[name]
        lines += [
            [
                escape_formula(name),
                escape_formula(str(dataset.ids[k])),
                escape_formula(str(dataset.titles[k])),
            ]
            for k in (row - span.start for row in chosen if span.start <= row < span.stop)
        ]
    return cells.csv_text(["dataset", "id", "title"], lines)
