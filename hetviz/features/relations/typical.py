"""A few rows of any datasets that stand for many, and pairs of them."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from hetviz._types import Floats, Ints
from hetviz.core.clustering.exemplars import exemplars
from hetviz.data import Dataset, Embedding, HeteroData

CANDIDATES = 2_000
"""More rows of one dataset are first thinned evenly to so many."""


def typical_rows(data: HeteroData, rows: Ints, k: int, embedding: Embedding | None) -> Ints:
    """Return `k` typical rows, of each dataset in proportion."""
    if k >= len(rows):
        return rows
    parts = [
        (data[name], span.start, here)
        for name, span in data.offsets.items()
        if len(here := rows[(rows >= span.start) & (rows < span.stop)])
    ]
    sizes = np.array([len(here) for *_, here in parts])
    exact = k * sizes / sizes.sum()
    counts = np.floor(exact).astype(int)
    # the largest remainders, so that the counts add up
    counts[np.argsort(counts - exact, kind="stable")[: k - counts.sum()]] += 1
    out = [
        _of_one(dataset, start, here, count, embedding)
        for (dataset, start, here), count in zip(parts, counts.tolist(), strict=True)
        if count
    ]
    return np.sort(np.concatenate(out))


def _of_one(dataset: Dataset, start: int, rows: Ints, k: int, embedding: Embedding | None) -> Ints:
    if len(rows) > CANDIDATES:
        rows = rows[np.linspace(0, len(rows) - 1, CANDIDATES).round().astype(np.int64)]
    X = _described(dataset, rows - start, embedding)
    if X is None:
        return rows[np.linspace(0, len(rows) - 1, k).round().astype(np.int64)]
    return rows[exemplars(X, k)]


def _described(dataset: Dataset, rows: Ints, embedding: Embedding | None) -> Floats | None:
    """Return what tells rows of a dataset from each other, (n, d); None where nothing does."""
    if embedding is not None and dataset.name in embedding.coordinates:
        Y = np.asarray(embedding.coordinates[dataset.name], dtype=np.float64)[rows]
        if np.isfinite(Y).all():
            return Y
    if dataset.X is not None:
        if isinstance(dataset.X, sp.csr_array):
            return np.asarray(sp.csr_array(dataset.X[rows]).toarray(), dtype=np.float64)
        X = np.asarray(dataset.X[rows], dtype=np.float64)
        spread = X.std(axis=0)
        return np.asarray(X / np.where(spread > 0, spread, 1.0))
    square = dataset.kernel if dataset.kernel is not None else dataset.distance
    if square is None:
        return None
    # items that are alike are alike to all others
    return np.asarray(square[rows], dtype=np.float64)


def distinct_pairs(data: HeteroData, p: Ints, q: Ints) -> tuple[Ints, Ints]:
    """Return the pairs of different objects, each two objects once, in order."""
    ends = np.sort(np.column_stack([data.object_of[p], data.object_of[q]]), axis=1)
    _, first = np.unique(ends, axis=0, return_index=True)
    kept = np.sort(first)
    kept = kept[ends[kept, 0] != ends[kept, 1]]
    return p[kept], q[kept]
