"""Columns by which items are more similar than usual."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from hetviz._types import Floats, Ints, is_sparse
from hetviz.data import Dataset, HeteroData
from hetviz.features.columns import block
from hetviz.features.recipe import recipe_of

_MAX_ROWS = 10
_MIN_CLOSENESS = 0.8


@dataclass(frozen=True)
class SimilarColumn:
    """A column by which items are similar.

    `nearer`: Share of the other items of the dataset that are farther away by this column,
        averaged over the pairs, ties counted half: 1 for nearest, 0.5 for chance level.
    """

    dataset: str
    column: str
    kind: str
    nearer: float
    weight: float


def alike_by(
    data: HeteroData, rows: Iterable[int], others: Iterable[int], *, n: int = 3
) -> list[SimilarColumn]:
    """Return the columns by which two sets of items are most similar, best first.

    Parameters
    ----------
    data : HeteroData
    rows, others : iterable of int
        Global rows, compared within each dataset with items of both sets; at most ten of each.
    n : int
        Largest number of columns.

    Returns
    -------
    list of Alike
        Columns by which the items are closer than four of five other items. Empty if no dataset
        has items of both sets, or its features were not made from columns.

    Notes
    -----
    ``make_features(dataset, {column: {"weight": 3.0}})`` gives a column more weight. O(n d) for
    each row.
    """
    a, b = np.unique(np.fromiter(rows, np.int64)), np.unique(np.fromiter(others, np.int64))
    columns: list[SimilarColumn] = []
    for name, span in data.offsets.items():
        own_rows, other_rows = (
            _sample_rows(column[(column >= span.start) & (column < span.stop)] - span.start)
            for column in (a, b)
        )
        if len(own_rows) and len(other_rows):
            columns += _similar_within(data[name], own_rows, other_rows)
    close = [column for column in columns if column.nearer >= _MIN_CLOSENESS]
    return sorted(close, key=lambda column: (-column.nearer, column.dataset, column.column))[:n]


def _similar_within(dataset: Dataset, rows: Ints, others: Ints) -> list[SimilarColumn]:
    X, steps = dataset.X, recipe_of(dataset)["columns"]
    ends = np.cumsum([0, *(len(block.names(step)) for step in steps)])
    if X is None or X.shape[1] != ends[-1]:
        return []
    columns = []
    for step, start, stop in zip(steps, ends, ends[1:], strict=False):
        shares = []
        part = X[:, start:stop]
        for row in rows.tolist():
            distances = _squared_distances(part, row)
            partners = others[others != row]
            farther = (distances[None, :] > distances[partners][:, None]).sum(axis=1)
            same = (distances[None, :] == distances[partners][:, None]).sum(axis=1)
            # The two items themselves are not counted.
            is_self = (distances[row] == distances[partners]).astype(np.float64)
            n_others = max(len(dataset) - 2, 1)
            shares += ((farther + 0.5 * (same - 1 - is_self)) / n_others).tolist()
        if shares:
            columns.append(
                SimilarColumn(
                    dataset.name,
                    str(step["column"]),
                    str(step["kind"]),
                    float(np.mean(shares)),
                    float(step["weight"]),
                )
            )
    return columns


def _squared_distances(part: object, row: int) -> Floats:
    if is_sparse(part):
        squares = np.asarray(part.multiply(part).sum(axis=1)).ravel()
        cross = np.asarray((part @ sp.csr_array(part[[row]]).T).todense()).ravel()
        return np.asarray(np.maximum(squares + squares[row] - 2 * cross, 0.0), dtype=np.float64)
    dense = np.asarray(part, dtype=np.float64)
    return np.asarray(((dense - dense[row]) ** 2).sum(axis=1))


def _sample_rows(rows: Ints) -> Ints:
    if len(rows) <= _MAX_ROWS:
        return rows
    places = np.unique(np.linspace(0, len(rows) - 1, _MAX_ROWS).astype(np.int64))
    return np.asarray(rows[places], dtype=np.int64)
