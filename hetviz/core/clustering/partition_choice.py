"""Choice of the number of clusters by silhouette and stability."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isqrt

import numpy as np

from hetviz._types import Floats, Ints
from hetviz.core.clustering.partition import (
    canonical_order,
    code_of_nearest,
    min_sizes_to_try,
    partition,
)
from hetviz.progress import Progress, ignore_progress

MAX_STABILITY_ROWS = 5_000
_MAX_SILHOUETTE_ROWS = 2_000
_N_SPLITS = 3
_MIN_HALF = 5
_PEAK_SHARE = 0.7


@dataclass(frozen=True, eq=False)
class MeasuredPartition:
    """A partition with its quality measures."""

    code: Ints  # Shape (n,). Group of each point; -1 for noise points.
    silhouette: float  # -1 to 1; NaN with fewer than two groups.
    # Adjusted Rand index between the partitions of two halves of the points, 1 if they agree; NaN
    # if there are too few points.
    stability: float
    # Shape (k,). Stability of each group: its Jaccard overlap with the most similar group of each
    # half.
    of_groups: Floats

    @property
    def k(self) -> int:
        return int(self.code.max(initial=-1)) + 1

    @property
    def score(self) -> float:
        """Silhouette times stability, both at least 0, times the share of points in groups."""
        measures = np.nan_to_num([self.silhouette, self.stability])
        share = float((self.code >= 0).mean()) if len(self.code) else 0.0
        return float(np.prod(np.maximum(measures, 0.0))) * share


def sizes_to_try(n: int, method: str) -> list[int]:
    """Return values of `size` of `partition` to try for n points.

    2 to 10 groups, then in growing steps up to 60, but at most the square root of n (Mardia, Kent
    and Bibby 1979 use that of n / 2 as the number itself), and at least five points per group.
    """
    if method == "hdbscan":
        return min_sizes_to_try(n)
    max_groups = min(isqrt(n), n // 5)
    numbers = [k for k in (*range(2, 11), 12, 15, 20, 25, 30, 40, 60) if k <= max_groups]
    return numbers or [1]


def try_sizes(
    X: Floats,
    method: str,
    sizes: Sequence[int],
    random_state: int = 0,
    progress: Progress | None = None,
) -> list[MeasuredPartition]:
    """Partition points for each size, and measure the results, sorted by number of groups.

    The silhouette (Rousseeuw 1987) uses at most 2,000 points. For stability, two random halves of
    the points (at most 5,000) are partitioned separately, three times, and every point gets the
    group of the nearest point of the half; the two are compared by the adjusted Rand index (Hubert
    and Arabie 1985), and each group with the most similar one (Hennig 2007). Costs seven partitions
    per size.
    """
    report = ignore_progress if progress is None else progress
    measures = _Measures(X, random_state)
    by_count: dict[int, MeasuredPartition] = {}
    for step, size in enumerate(sizes):
        report(step / len(sizes), "Looking for clusters")
        measured = measures.partition(method, size)
        if measured.k not in by_count or measured.score > by_count[measured.k].score:
            by_count[measured.k] = measured
    report(1.0, "Done")
    return [by_count[k] for k in sorted(by_count)]


def measure_partition(
    X: Floats, method: str, size: int, random_state: int = 0
) -> MeasuredPartition:
    """Partition points and measure the result."""
    return _Measures(X, random_state).partition(method, size)


def choose_partition(partitions: Sequence[MeasuredPartition]) -> MeasuredPartition:
    """Return the largest number of groups at a peak of the score of at least 70 % of the highest.

    At a peak neither the next smaller nor the next larger number scores higher. On most maps two or
    three groups have the highest score, which are not informative.
    """
    scores = [measured.score for measured in partitions]
    padded = [-1.0, *scores, -1.0]
    peaks = [
        measured
        for position, measured in enumerate(partitions)
        if scores[position]
        >= max(_PEAK_SHARE * max(scores), padded[position], padded[position + 2])
    ]
    return max(peaks, key=lambda measured: measured.k)


def silhouette_of(X: Floats, code: Ints, random_state: int = 0) -> float:
    """Return the mean silhouette of the points in groups, NaN with fewer than two groups."""
    return _Measures(X, random_state).silhouette(code)


class _Measures:
    """Measures of partitions of the same points, with the distances and halves that they share."""

    def __init__(self, X: Floats, random_state: int) -> None:
        self._X, self._random_state = X, random_state
        self._order = canonical_order(X)
        self._silhouette_rows = np.zeros(0, dtype=np.int64)

    def partition(self, method: str, size: int) -> MeasuredPartition:
        """Partition the points and measure the result."""
        code = partition(self._X, method, size, self._random_state)
        return MeasuredPartition(code, self.silhouette(code), *self._stability(code, method, size))

    def silhouette(self, code: Ints) -> float:
        from sklearn.metrics import pairwise_distances, silhouette_score

        rows = self._order[code[self._order] >= 0]
        if len(rows) > _MAX_SILHOUETTE_ROWS:
            rng = np.random.default_rng(self._random_state)
            rows = rows[np.sort(rng.choice(len(rows), _MAX_SILHOUETTE_ROWS, replace=False))]
        groups = len(np.unique(code[rows]))
        if not 2 <= groups < len(rows):
            return float("nan")
        if not np.array_equal(rows, self._silhouette_rows):
            self._silhouette_rows, self._distances = rows, pairwise_distances(self._X[rows])
        return float(silhouette_score(self._distances, code[rows], metric="precomputed"))

    @cached_property
    def _halves(self) -> tuple[Ints, list[list[tuple[Floats, Ints]]]]:
        """Rows, and pairs of halves of them, with the point of a half nearest to each row."""
        rng = np.random.default_rng(self._random_state)
        rows = self._order
        if len(rows) > MAX_STABILITY_ROWS:
            rows = rows[np.sort(rng.choice(len(rows), MAX_STABILITY_ROWS, replace=False))]
        P, half = self._X[rows], len(rows) // 2
        pairs = []
        for _ in range(_N_SPLITS):
            shuffled = rng.permutation(len(P))
            parts = (P[shuffled[:half]], P[shuffled[half:]])
            pairs.append([(part, code_of_nearest(part, np.arange(len(part)), P)) for part in parts])
        return rows, pairs

    def _stability(self, code: Ints, method: str, size: int) -> tuple[float, Floats]:
        """Return the stability of a partition, and that of each group: shape (k,)."""
        from sklearn.metrics import adjusted_rand_score

        n_groups = int(code.max(initial=-1)) + 1
        if min(len(code), MAX_STABILITY_ROWS) // 2 < max(_MIN_HALF, n_groups):
            return float("nan"), np.full(n_groups, np.nan)
        rows, pairs = self._halves
        agreement, overlap = [], []
        for pair in pairs:
            codes = [
                partition(part, method, size, self._random_state, half=True)[nearest]
                for part, nearest in pair
            ]
            overlap += [_overlaps(code[rows], half_codes, n_groups) for half_codes in codes]
            agreement.append(adjusted_rand_score(*codes))
        return float(np.mean(agreement)), np.asarray(np.mean(overlap, axis=0))


def _overlaps(codes: Ints, other_codes: Ints, n_groups: int) -> Floats:
    """Return the Jaccard index of each group with the most similar group of `other_codes`."""
    table = np.zeros((n_groups + 1, int(other_codes.max(initial=-1)) + 2))
    np.add.at(table, (codes + 1, other_codes + 1), 1)
    intersection = table[1:, 1:]
    if not intersection.shape[1]:
        return np.zeros(n_groups)
    union = table[1:].sum(axis=1)[:, None] + table.sum(axis=0)[None, 1:] - intersection
    return np.asarray((intersection / np.maximum(union, 1.0)).max(axis=1))
