"""Columns of the items of a dataset, from its table and its labels."""

from __future__ import annotations

import numpy as np
import pandas as pd

from hetviz._types import Texts
from hetviz.data import HeteroData
from hetviz.features.columns.types import Column, infer

MAX_GROUP_NUMBERS = 12
"""Largest number of distinct whole numbers that count as groups."""


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
