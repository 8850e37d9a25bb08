"""Preservation of neighbourhoods on a map: for all rows, and for single rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from hetviz._types import Floats, Ints, Rng
from hetviz.core.graph.distances import FeatureSpace, Space
from hetviz.core.graph.neighbors import nearest_columns
from hetviz.core.measures.resolution import error_of_mean

EXACT_QUERIES = 2_500
SAMPLED_QUERIES = 1_000
EXACT_PAIRS = 16_000_000
"""Up to this many pairs of query and candidate all are compared; above, a sample is."""
SAMPLED_ROWS = 2_000
_BLOCK_ENTRIES = 4_000_000
_CACHED_ENTRIES = 500_000
"""Block size of distances that are read several times and should stay in the processor's cache."""


def count_near(n_others: int, share: float, min_near: int) -> int:
    """Return the number of rows that count as near: a share, at least `min_near`, at most half."""
    return int(max(1, min(max(np.ceil(share * n_others), min_near), np.ceil(n_others / 2))))


@dataclass(frozen=True, eq=False)
class NearRows:
    """The rows to compare with, and how many of them count as near."""

    candidates: Ints
    n_near: int
    sampled: bool

    @property
    def standard_error(self) -> float:
        """Standard error of the share of rows that count as near; 0 without sampling."""
        if not self.sampled:
            return 0.0
        share = self.n_near / len(self.candidates)
        return float(np.sqrt(share * (1 - share) / len(self.candidates)))

    def limits(self, space: Space, rows: Ints, same: bool) -> Floats:
        """Return the distance up to which rows count as near; `same` excludes the row itself."""
        limits = np.empty(len(rows))
        for part, D in self.blocks(space, rows, same):
            limits[part] = self.reach(D)
        return limits

    def reach(self, D: Floats) -> Floats:
        """Return the distance up to which rows count as near, from distances of shape (q, c)."""
        last = min(self.n_near, D.shape[1]) - 1
        return np.asarray(np.partition(D, last, axis=1)[:, last])

    def blocks(self, space: Space, rows: Ints, same: bool) -> Iterator[tuple[slice, Floats]]:
        """Yield distances of some rows to `candidates`, infinite from a row to itself."""
        step = max(1, _CACHED_ENTRIES // max(len(self.candidates), 1))
        for start in range(0, len(rows), step):
            part = slice(start, min(start + step, len(rows)))
            D = space.between(rows[part], self.candidates)
            if same:
                D[rows[part][:, None] == self.candidates] = np.inf
            yield part, D


def choose_near_rows(
    candidates: Ints, n_asked: int, share: float, min_near: int, rng: Rng, same: bool
) -> NearRows:
    """Choose the rows to compare with: all candidates, or a sample if there are too many pairs."""
    n = len(candidates) - same
    n_near = count_near(n, share, min_near)
    if n_asked * len(candidates) <= EXACT_PAIRS or len(candidates) <= SAMPLED_ROWS:
        return NearRows(candidates, n_near, False)
    sample = np.sort(rng.choice(candidates, SAMPLED_ROWS, replace=False))
    return NearRows(sample, max(1, round(n_near * SAMPLED_ROWS / n)), True)


def count_mistaken_neighbors(
    data: Space, places: Space, rows: Ints, near_rows: NearRows, k: int
) -> tuple[Floats, Floats, Floats]:
    """Count false and missing neighbours of rows."""
    false, missing = np.empty(len(rows)), np.empty(len(rows))
    limits = np.empty(len(rows))
    blocks = zip(
        near_rows.blocks(data, rows, True), near_rows.blocks(places, rows, True), strict=True
    )
    for (part, D), (_, E) in blocks:
        limits[part], reach = near_rows.reach(D), near_rows.reach(E)
        mapped = np.take_along_axis(D, nearest_columns(E, k), axis=1)
        original = np.take_along_axis(E, nearest_columns(D, k), axis=1)
        false[part] = (mapped > limits[part][:, None]).sum(axis=1)
        missing[part] = (original > reach[:, None]).sum(axis=1)
    return false, missing, limits


@dataclass(frozen=True)
class Preservation:
    """Trustworthiness and continuity, 1 at best, with standard errors."""

    trustworthiness: float
    continuity: float
    trustworthiness_error: float
    continuity_error: float
    n_queries: int
    n_neighbors: int
    trustworthiness_spread: float = float("nan")
    continuity_spread: float = float("nan")


def measure_preservation(
    original: Space,
    Y: Floats,
    *,
    n_neighbors: int = 10,
    max_rows: int = EXACT_QUERIES,
    n_queries: int = SAMPLED_QUERIES,
    random_state: int = 0,
) -> Preservation:
    """Measure how well the neighbourhoods of the data survive in a map.

    Venna and Kaski (2001). O(q n (d + k)) time for q queries, in row blocks: the n x n matrix is
    never formed.
    """
    placed = np.flatnonzero(np.isfinite(Y).all(axis=1))
    n = len(placed)
    k = min(n_neighbors, (n - 1) // 2)
    if k < 1 or n < 4:
        nan = float("nan")
        return Preservation(nan, nan, nan, nan, 0, max(k, 0))
    queries = np.arange(n)
    if n > max_rows:
        chosen = np.random.default_rng(random_state).choice(n, n_queries, replace=False)
        queries = np.sort(chosen)
    mapped = FeatureSpace(Y[placed])
    false, torn = [], []
    step = max(1, _BLOCK_ENTRIES // n)
    for start in range(0, len(queries), step):
        block = queries[start : start + step]
        D = original.between(placed[block])[:, placed]
        E = mapped.between(block)
        for distances in (D, E):
            distances[np.arange(len(block)), block] = np.inf
        false.append(_excess_ranks(D, nearest_columns(E, k), k))
        torn.append(_excess_ranks(E, nearest_columns(D, k), k))
    worst = k * (2 * n - 3 * k - 1) / 2
    trust = 1.0 - np.concatenate(false) / worst
    continuity = 1.0 - np.concatenate(torn) / worst
    return Preservation(
        float(trust.mean()),
        float(continuity.mean()),
        _standard_error(trust, n),
        _standard_error(continuity, n),
        len(queries),
        k,
        error_of_mean(trust),
        error_of_mean(continuity),
    )


def _excess_ranks(D: Floats, neighbors: Ints, k: int) -> Floats:
    """Sum the excess over k of the ranks in D of each row's `neighbors`."""
    limits = np.take_along_axis(D, neighbors, axis=1)
    excess, nearer = np.zeros(len(D)), np.empty(D.shape[1], dtype=bool)
    # Row by row, so that all ranks are counted while the row is in the processor's cache.
    for row, (distances, row_limits) in enumerate(zip(D, limits, strict=True)):
        ranks = [
            1 + np.count_nonzero(np.less(distances, limit, out=nearer)) for limit in row_limits
        ]
        excess[row] = np.maximum(np.array(ranks) - k, 0).sum()
    return excess


def _standard_error(values: Floats, n: int) -> float:
    q = len(values)
    return float(values.std(ddof=1) * np.sqrt((1.0 - q / n) / q)) if q < n else 0.0
