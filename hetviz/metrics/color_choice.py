"""The column whose values cluster best on a map, without ids and codes."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd

from hetviz._types import Bools, Floats, Ints
from hetviz.data import Embedding, HeteroData
from hetviz.features.columns.names import is_named_id

_MAX_VALUES = 8
_N_NEIGHBORS = 10
_MAX_ROWS = 3_000
_MAX_COLUMNS = 150
_MIN_ROWS = 12
# Number columns with at most this many different values are categories.
_MAX_CATEGORY_NUMBERS = 12
MIN_COLOR_SCORE = 0.05
"""Scores below this are at chance level."""
# Reduces the score of columns with many missing values.
_COVERAGE_EXPONENT = 0.25


def find_best_color(data: HeteroData, embedding: Embedding) -> str | None:
    """Return the key of the column whose values agree best between neighbours on a map.

    Returns: A key of `hetviz.plots.colour_options`. None if no column is above chance. Skips
        columns named like ids and codes, and columns with more values than colours.

    The score of categories is (a - c) / (1 - c), where a is the share of the 10 nearest of the same
    dataset with the same value and c the share for any two items. The score of numbers is the
    correlation of ranks with those of the neighbours. Both are multiplied by the fourth root of the
    share of items with a value. Uses at most 3,000 rows per dataset and 150 columns, O(n log n).
    """
    best: tuple[float, str] | None = None
    for name, dataset in data.datasets.items():
        columns = _color_columns(data, name)
        if name not in embedding.coordinates or not columns:
            continue
        rows, nearest = _sampled_neighbors(embedding.coordinates[name], embedding.placed[name])
        weight = (len(dataset) / data.n_rows) ** _COVERAGE_EXPONENT
        for column, values in columns.items():
            if column == dataset.title_column or is_named_id(column):
                continue
            score = weight * _agreement(values.iloc[rows].reset_index(drop=True), nearest)
            if score > (MIN_COLOR_SCORE if best is None else best[0] + 1e-9):
                best = score, json.dumps([name, column])
    return None if best is None else best[1]


def color_agreement(data: HeteroData, embedding: Embedding, key: str) -> float:
    """Return how well neighbours on a map agree in a column: 0 is chance, 1 is always.

    `key`: A JSON list of dataset and column, of `hetviz.plots.colour_options`. Other keys, and
        columns with more values than colours, give 1.
    """
    try:
        name, column = json.loads(key)
        dataset = data.datasets[name]
    except (ValueError, TypeError, KeyError):
        return 1.0
    values = _color_columns(data, name).get(column)
    if values is None or name not in embedding.coordinates:
        return 1.0
    numbers = pd.to_numeric(values, errors="coerce")
    levels = values.nunique()
    if levels > _MAX_VALUES and (numbers.isna() & values.notna()).any():
        return 1.0
    placed = embedding.placed[name]
    if len(placed) != len(dataset):
        return 1.0
    rows, nearest = _sampled_neighbors(embedding.coordinates[name], placed)
    if not len(rows):
        return 1.0
    return _agreement(values.iloc[rows].reset_index(drop=True), nearest)


def _color_columns(data: HeteroData, name: str) -> dict[str, pd.Series]:
    """Return the columns of a dataset to color by, labels first."""
    dataset = data[name]
    columns = {
        label.name: pd.Series(label.values) for label in data.labels if label.dataset == name
    }
    if dataset.table is not None:
        for column in map(str, dataset.table.columns[:_MAX_COLUMNS]):
            columns.setdefault(column, dataset.table[column])
    return columns


def _sampled_neighbors(Y: Floats, placed: Bools) -> tuple[Ints, Ints]:
    """Return a sample of placed rows, and the nearest of these for each."""
    from sklearn.neighbors import NearestNeighbors

    rows = np.flatnonzero(placed)
    rows = rows[:: max(1, len(rows) // _MAX_ROWS)]
    k = min(_N_NEIGHBORS, len(rows) - 1)
    if len(rows) < _MIN_ROWS or k < 1:
        return rows[:0], np.zeros((0, 1), dtype=np.int64)
    nearest = NearestNeighbors(n_neighbors=k).fit(Y[rows]).kneighbors(return_distance=False)
    return rows, np.asarray(nearest, dtype=np.int64)


def _agreement(values: pd.Series, nearest: Ints) -> float:
    """Return how often neighbours have the same value: 0 is chance level, 1 is always."""
    is_known = values.notna().to_numpy()
    if is_known.sum() < _MIN_ROWS:
        return 0.0
    pairs = is_known[:, None] & is_known[nearest]
    if not pairs.any():
        return 0.0
    coverage = float(is_known.mean()) ** _COVERAGE_EXPONENT
    numbers = pd.to_numeric(values, errors="coerce")
    if bool(numbers[is_known].notna().all()) and numbers.nunique() > _MAX_CATEGORY_NUMBERS:
        x = numbers.rank().to_numpy(np.float64)
        x = x - np.nanmean(x)
        spread = float(np.nanmean(x**2))
        covariance = float((x[:, None] * x[nearest])[pairs].mean())
        return coverage * covariance / spread if spread > 0 else 0.0
    codes, levels = pd.factorize(values.astype(str).where(is_known))
    if not 2 <= len(levels) <= _MAX_VALUES:
        return 0.0
    share_same = float((codes[:, None] == codes[nearest])[pairs].mean())
    chance = float(((np.bincount(codes[is_known]) / is_known.sum()) ** 2).sum())
    return coverage * (share_same - chance) / (1 - chance) if chance < 1 else 0.0
