"""Small chart of the values of a column, which marks those that filters keep."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from hetviz._types import Floats, Ints
from hetviz.data import Filter, HeteroData
from hetviz.data.queries.filters import column_of
from hetviz.features.columns.levels import natural_order
from hetviz.features.columns.types import Column
from hetviz.features.item_columns import MAX_GROUP_NUMBERS
from hetviz.plots.filter_text import number_text, value_text
from hetviz.ui.map_data.array_cache import RESULTS
from hetviz.ui.shell import theme
from hetviz.ui.widgets import charts

MAX_VALUES = 500
"""Number of values up to which they are chosen from a list."""
_MAX_BARS = 12
_MAX_BINS = 24


@dataclass(frozen=True, eq=False)
class Bins:
    """Histogram of a column with its smallest and largest value."""

    counts: Ints
    edges: Floats
    low: float
    high: float


def bins_of(data: HeteroData, name: str, column: Column) -> Bins | None:
    """Return the histogram of a column, None for columns without one."""
    key = ("bins", name, column.name)
    return RESULTS.get_or_compute(data, key, lambda: _make_bins(column))


def _make_bins(column: Column) -> Bins | None:
    if column.kind not in ("number", "date"):
        return None
    present = column.values[~np.isnan(column.values)]
    if len(np.unique(present)) <= MAX_GROUP_NUMBERS:
        return None
    low, high = float(present.min()), float(present.max())
    bins: int | Floats = _MAX_BINS
    if column.whole:
        # As many whole numbers in each bin: one with more would look like a frequent value.
        step = math.ceil((high - low + 1) / _MAX_BINS)
        n_bins = math.ceil((high - low + 1) / step)
        bins = low - 0.5 + step * np.arange(n_bins + 1, dtype=np.float64)
    return Bins(*np.histogram(present, bins), low, high)


def counts_of(data: HeteroData, name: str, column: Column) -> pd.Series | None:
    """Return how many rows have each value; None for texts.

    Numbers, dates, and few values with an order, come in it, others the most frequent first.
    """

    def count() -> pd.Series | bool:
        texts = column_of(data, name, column.name).dropna().astype(str)
        counts = texts.value_counts()
        if len(counts) > MAX_VALUES or column.kind in ("text", "unique"):
            return False
        if column.kind in ("number", "date"):
            values = pd.Series(np.asarray(column.values)[texts.index], texts.index)
            return counts.loc[values.groupby(texts).min().sort_values().index]
        if len(counts) > _MAX_BARS:
            return counts
        order = data[name].orders.get(column.name) or natural_order(counts.index)
        return counts if order is None else counts.loc[[x for x in order if x in counts.index]]

    counts = RESULTS.get_or_compute(data, ("value counts", name, column.name), count)
    return counts if isinstance(counts, pd.Series) else None


def show_values(data: HeteroData, name: str, column: Column, filters: Sequence[Filter]) -> None:
    """Show how frequent the values are, with those marked that filters of the column keep."""
    bins = bins_of(data, name, column)
    counts = counts_of(data, name, column) if bins is None else None
    if bins is not None:
        unit = data[name].units.get(column.name, "")
        _show_bins(bins, column, f" {unit}" if unit else "", filters)
    elif counts is not None:
        _show_counts(counts, filters)
    missing = f", {column.n_missing:,} without a value" if column.n_missing else ""
    theme.show_note(f"{theme.count(len(column.values), 'item')}{missing}")


def _show_bins(bins: Bins, column: Column, unit: str, filters: Sequence[Filter]) -> None:
    # Bins of whole numbers begin and end between them.
    margin = 0.5 if column.whole else 0.0
    low, high = float(bins.edges[0]), float(bins.edges[-1])
    first = max([low, *(item.low - margin for item in filters if item.low is not None)])
    last = min([high, *(item.high + margin for item in filters if item.high is not None)])
    start, end = (min(max((at - low) / (high - low), 0.0), 1.0) for at in (first, last))
    texts = [number_text(value, column.kind) for value in (bins.low, bins.high)]
    charts.show_histogram(bins.counts.tolist(), (start, end), (texts[0] + unit, texts[1] + unit))


def _show_counts(counts: pd.Series, filters: Sequence[Filter]) -> None:
    chosen = [set(item.values) for item in filters if item.kind == "values" and item.values]
    top, others = counts.iloc[:_MAX_BARS], counts.iloc[_MAX_BARS:]
    rows = [
        (value_text(value), float(count), f"{count:,}", str(value)) for value, count in top.items()
    ]
    groups: list[set[str]] = [{str(value)} for value in top.index]
    if len(others):
        n_rows = int(others.sum())
        rows.append(("other", float(n_rows), f"{n_rows:,}", theme.count(len(others), "value")))
        groups.append(set(map(str, others.index)))
    charts.show_bars(rows, marked=[all(group & values for values in chosen) for group in groups])
