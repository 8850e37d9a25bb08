"""Table of items below the map: its cells, the order of its rows, and its rows as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from hetviz._types import Ints
from hetviz.data import HeteroData
from hetviz.features.columns.types import Column
from hetviz.io import escape_formula
from hetviz.io.infer import cells
from hetviz.plots.colour import display_name
from hetviz.ui.item import item_text
from hetviz.ui.map_data.array_cache import RESULTS, PackedArray

MAX_COLUMNS = 40
"""Number of columns that the table shows; its text has all."""


def columns_in_table(data: HeteroData, name: str) -> dict[str, Column]:
    """Return the columns that the table shows, without that of the titles."""
    title = data[name].title_column
    columns = dict(item_text.columns_of(data, name))
    columns.pop(title or "", None)
    return dict(list(columns.items())[:MAX_COLUMNS])


def table_cells(data: HeteroData, name: str, rows: Sequence[int]) -> dict[str, Any]:
    """Return the columns of the table and the texts of some rows of a dataset."""
    columns = columns_in_table(data, name)
    titles = data[name].titles
    title = data[name].title_column
    return {
        "title": display_name(title) if title else "Title",
        "columns": [
            {
                "name": key,
                "title": display_name(key) + _unit(data, name, key),
                "number": column.kind == "number",
            }
            for key, column in columns.items()
        ],
        "rows": [
            [str(titles[row]), *(item_text.cell_text(column, row) for column in columns.values())]
            for row in rows
        ],
    }


def _unit(data: HeteroData, name: str, column: str) -> str:
    unit = data[name].units.get(column, "")
    return f" ({unit})" if unit else ""


def sorted_rows(data: HeteroData, name: str, title: str) -> tuple[PackedArray, int] | None:
    """Return the rows of a dataset sorted by a column, and how many have a value.

    Those without a value come last. Without a column the rows are sorted by title.
    """
    column = item_text.columns_of(data, name).get(title)
    if title and column is None:
        return None

    def make() -> tuple[PackedArray, int]:
        values = data[name].titles if column is None else column.values
        order, n_present = _sort(np.asarray(values))
        return PackedArray.pack(order, "<i4"), n_present

    return RESULTS.get_or_compute(data, ("sorted rows", name, title), make)


def _sort(values: Any) -> tuple[Ints, int]:
    if values.dtype.kind == "f":
        missing = np.isnan(values)
        keys = values
    else:
        missing = np.array([value is None or not str(value) for value in values], dtype=bool)
        texts = [str(value).casefold() for value in values]
        # Ranks sort faster than texts.
        keys = np.unique(np.array(texts, dtype=str), return_inverse=True)[1].astype(np.float64)
    order: Ints = np.lexsort((np.where(missing, 0.0, keys), missing))
    return order, int((~missing).sum())


def rows_text(data: HeteroData, name: str, rows: Sequence[int], *, tabs: bool = False) -> str:
    """Return rows of a dataset with all columns as CSV, or separated by tabs to paste."""
    dataset = data[name]
    columns: Mapping[str, Column] = item_text.columns_of(data, name)
    # The titles are often a column.
    titles = [] if dataset.title_column in columns else [dataset.titles]
    head = ["id", *("title" for _ in titles), *columns]
    lines = [
        [
            escape_formula(str(dataset.ids[row])),
            *(escape_formula(str(texts[row])) for texts in titles),
            *(_plain_text(column, row) for column in columns.values()),
        ]
        for row in rows
    ]
    if not tabs:
        return cells.csv_text(head, lines)
    return "\n".join("\t".join(" ".join(cell.split()) for cell in line) for line in [head, *lines])


def _plain_text(column: Column, row: int) -> str:
    """Return a value as files have it: numbers without separators, and no text as a formula."""
    value = column.values[row]
    if value is None or value != value:
        return ""
    if column.kind == "number":
        return f"{value:.0f}" if column.whole else repr(float(value))
    return item_text.cell_text(column, row) if column.kind == "date" else escape_formula(str(value))
