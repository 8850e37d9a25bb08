"""Rows of another matrix that are more similar to a row than to other rows."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from hetviz._types import Array, Floats, Ints, Sparse

N_NEAR = 10
_N_SAMPLED = 1_000
_BLOCK_ENTRIES = 4_000_000
_ROUNDING = 1e-6

RowVectors = tuple[Array, Sparse]
"""Two vectors of each row, dense (n, p) and sparse (n, q), each of length 1 or 0."""


def specific_rows(first: RowVectors, second: RowVectors, k: int) -> tuple[Ints, Ints, Floats]:
    """Return the k rows of `second` that are most specific to each row of `first`.

    Rows are ranked by cross-domain similarity local scaling (Conneau et al. 2018): twice the
    similarity minus the mean similarities of both rows to their ten most similar ones, so that a
    row that is similar to all others is not everyone's partner. Costs O(n m p) and memory O(n + m)
    besides one block.
    """
    n, m = len(first[0]), len(second[0])
    k = min(k, m)
    if not k or not n:
        return np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0)
    near = np.full((min(N_NEAR, n), m), -np.inf, dtype=np.float32)
    means = []
    for _, S in _blocks(first, second):
        means.append(_largest(S, min(N_NEAR, m), axis=1).mean(axis=1))
        near = _largest(np.vstack([near, S]), len(near), axis=0)
    mean_of_row, mean_of_column = np.concatenate(means), near.mean(axis=0)
    partners, similarities = [], []
    for start, S in _blocks(first, second):
        specific = 2 * S - mean_of_row[start : start + len(S), None] - mean_of_column
        best = _largest_at(specific, k)
        partners.append(best)
        similarities.append(np.take_along_axis(S, best, axis=1))
    rows = np.repeat(np.arange(n), k)
    similarity = np.concatenate(similarities).ravel().astype(np.float64)
    return rows, np.concatenate(partners).ravel().astype(np.int64), similarity


def mutual_pairs(first: RowVectors, second: RowVectors, k: int) -> tuple[Ints, Ints, Floats]:
    """Return the pairs of `specific_rows` in both directions, in the order of `first`.

    k for the rows of the larger table. Those of the smaller one have as many times more as they are
    fewer, so that both have the same number of partners in all.
    """
    n, m = len(first[0]), len(second[0])
    shares = (k, round(k * n / max(1, m))) if n >= m else (round(k * m / max(1, n)), k)
    i, j, similarity = specific_rows(first, second, shares[0])
    back_j, back_i, _ = specific_rows(second, first, shares[1])
    mutual = np.isin(i * m + j, back_i * m + back_j)
    return i[mutual], j[mutual], similarity[mutual]


def relative_similarity(first: RowVectors, second: RowVectors, random_state: int = 0) -> float:
    """Return how similar rows are to the other table, relative to rows of their own table.

    Sum of the median similarities of the rows of either table to their most similar row of the
    other one, divided by the sum of those to their most similar row of their own, without rows of
    the same vectors. NaN if a table has fewer than two different rows. Of 1,000 rows of each.
    """
    tables = [_distinct(table) for table in (first, second)]
    if min(len(table[0]) for table in tables) < 2:
        return float("nan")
    across = within = 0.0
    for table, other in (tables, tables[::-1]):
        n = len(table[0])
        # The sample of a table does not depend on the other one, nor on their order.
        rng = np.random.default_rng(random_state)
        rows = np.sort(rng.choice(n, min(n, _N_SAMPLED), replace=False))
        sampled = table[0][rows], table[1][rows]
        across += float(
            np.median(np.concatenate([S.max(axis=1) for _, S in _blocks(sampled, other)]))
        )
        within += float(np.median(nearest_within(table, rows)))
    return across / within if within > 0 else float("inf")


def nearest_within(table: RowVectors, rows: Ints) -> Array:
    """Return the similarity of some rows to the most similar different row of their table."""
    best = [np.zeros(0, dtype=np.float32)]
    for start, S in _blocks((table[0][rows], table[1][rows]), table):
        # A row is as similar to equal rows as to itself, and less similar to all others.
        own = S[np.arange(len(S)), rows[start : start + len(S)]]
        S[own[:, None] - _ROUNDING <= S] = -np.inf
        best.append(S.max(axis=1))
    return np.concatenate(best)


def without_dense(X: Sparse) -> RowVectors:
    """Return row vectors of which only the sparse one counts."""
    return np.zeros((X.shape[0], 0), dtype=np.float32), X


def _distinct(table: RowVectors) -> RowVectors:
    """Return the rows that are not zero, one of each with the same vector."""
    V, X = table
    if V.shape[1]:
        _, rows = np.unique(V, axis=0, return_index=True)
        rows = rows[V[rows].any(axis=1)]
        return V[rows], X[rows]
    X = X.sorted_indices()
    entries = [(X.indices[a:b].tobytes(), X.data[a:b].tobytes()) for a, b in pairwise(X.indptr)]
    first = {entry: row for row, entry in reversed(list(enumerate(entries))) if entry[0]}
    rows = np.array(sorted(first.values()), dtype=np.int64)
    return V[rows], X[rows]


def _blocks(first: RowVectors, second: RowVectors) -> Iterator[tuple[int, Array]]:
    """Yield the first row and the similarities of blocks of rows."""
    size = max(1, _BLOCK_ENTRIES // len(second[0]))
    across = second[0].T, second[1].T.tocsr()
    for start in range(0, len(first[0]), size):
        rows = slice(start, start + size)
        S = first[0][rows] @ across[0] + (first[1][rows] @ across[1]).toarray()
        yield start, (S / 2).astype(np.float32)


def _largest(S: Array, k: int, axis: int) -> Array:
    """Return the k largest entries along an axis."""
    kept = np.partition(S, S.shape[axis] - k, axis=axis)
    return kept[-k:] if axis == 0 else kept[:, -k:]


def _largest_at(S: Array, k: int) -> Ints:
    """Return the columns of the k largest entries of each row, the largest first, (n, k)."""
    least = np.partition(S, S.shape[1] - k, axis=1)[:, -k]
    rows, columns = np.nonzero(least[:, None] <= S)
    # Of equal entries the first counts.
    order = np.lexsort((columns, -S[rows, columns], rows))
    starts = np.searchsorted(rows, np.arange(len(S)))
    return np.asarray(columns[order][starts[:, None] + np.arange(k)])
