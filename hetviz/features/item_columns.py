"""Columns of the items of a dataset, from its table and its labels."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from hetviz._types import Floats, Texts
from hetviz.data import HeteroData
from hetviz.features.columns.names import words_of
from hetviz.features.columns.types import Column, infer

MAX_GROUP_NUMBERS = 12
"""Largest number of distinct whole numbers that count as groups."""
MIN_INDICATORS = 3
"""Smallest number of columns of two values that say what items have."""
_CODED = frozenset(
    {"sex", "gender", "geschlecht", "class", "group", "type", "label", "target", "y"}
)


def item_columns(data: HeteroData, dataset: str, rows: slice = slice(None)) -> dict[str, Column]:
    """Return the labels and columns of a dataset, or of some of its rows, with inferred types."""
    columns: dict[str, Column] = {}
    for label in data.labels:
        if label.dataset == dataset:
            columns[label.name] = infer(label.name, pd.Series(label.values[rows]))
    if (table := data[dataset].table) is not None:
        for name in table.columns:
            if str(name) not in columns:
                columns[str(name)] = infer(str(name), table[name].iloc[rows])
    return columns


def indicators(columns: Mapping[str, Column]) -> dict[str, Floats]:
    """Return the columns that say what items have, as 1, 0 or NaN, if there are three or more.

    A single one of 0 and 1 may be a code, as for the sex.
    """
    found = {}
    for name, column in columns.items():
        if column.kind == "number" and column.whole and not _CODED & set(words_of(name)):
            ends = (end.reduce(column.values, initial=np.nan) for end in (np.fmin, np.fmax))
            if tuple(ends) == (0.0, 1.0):
                found[name] = column.values
        elif column.codes is not None and {*map(str.lower, column.levels)} == {"yes", "no"}:
            known = column.codes >= 0
            is_yes = np.array([level.lower() == "yes" for level in column.levels])
            found[name] = np.where(known, is_yes[column.codes], np.nan)
    return found if len(found) >= MIN_INDICATORS else {}


def group_values(column: Column) -> Texts | None:
    """Return the group of each row by a column, as text; None if it has no groups."""
    if column.kind == "category":
        return column.values
    if column.kind != "number" or not column.whole:
        return None
    present = column.values[~np.isnan(column.values)]
    if len(np.unique(present)) > MAX_GROUP_NUMBERS:
        return None
    out = np.full(len(column.values), None, dtype=object)
    is_present = ~np.isnan(column.values)
    out[is_present] = [f"{value:.0f}" for value in present]
    return out
