"""Satisfaction of guidance on a map: percentiles of linked pairs among all pairs of their block."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from hetviz._types import Bools, Floats, Ints

NEAR_SHARE = 0.05
"""A pair is near if it is among this share of the closest possible pairs, or a larger one where
`hetviz.core.measures.close_pairs.close_share` is larger."""
EXACT_PAIRS = 20_000_000
"""Up to this many candidate pairs all are counted; above, they are sampled."""
SAMPLED_PAIRS = 1_000_000
EXACT_ENDS = 4_000_000
"""Up to this many pairs of ends of links all are compared; above, they are sampled."""
SAMPLED_ENDS = 500_000
_BLOCK_PAIRS = 2_000_000
_N_DRAWN = 100_000
_SPARE_SHARE = 0.02


@dataclass(frozen=True)
class Percentiles:
    """Percentiles of guided pairs among the candidate pairs of one block."""

    values: Floats
    candidates: int
    standard_error: float


def distance_percentiles(
    Y_a: Floats,
    i: Ints,
    j: Ints,
    Y_b: Floats | None = None,
    *,
    candidates: tuple[Bools, Bools] | None = None,
    max_pairs: int = EXACT_PAIRS,
    n_samples: int = SAMPLED_PAIRS,
    random_state: int = 0,
) -> Percentiles:
    """Rank the distances of guided pairs among all candidate pairs."""
    i, j = np.asarray(i, dtype=np.int64), np.asarray(j, dtype=np.int64)
    other = Y_a if Y_b is None else Y_b
    guided = _squared(np.asarray(Y_a)[i].T, np.asarray(other)[j].T)
    if candidates is not None:
        Y_a = Y_a[candidates[0]]
        Y_b = None if Y_b is None else Y_b[candidates[1]]
    A = _finite_rows(Y_a).T
    B = None if Y_b is None else _finite_rows(Y_b).T
    n_a = A.shape[1]
    total = n_a * (n_a - 1) // 2 if B is None else n_a * B.shape[1]
    if total == 0 or not len(i):
        return Percentiles(np.full(len(i), np.nan), total, 0.0)
    sampled = total > max_pairs
    pieces = _sampled_distances(A, B, n_samples, random_state) if sampled else _all_distances(A, B)
    finite = np.isfinite(guided)
    thresholds, place = np.unique(guided[finite], return_inverse=True)
    twice = np.zeros(len(thresholds))
    counted = 0
    for distances in pieces:
        distances.sort()
        counted += len(distances)
        twice += np.searchsorted(distances, thresholds, side="left")
        twice += np.searchsorted(distances, thresholds, side="right")
    values = np.full(len(i), np.nan)
    values[finite] = (twice / (2 * counted))[place]
    return Percentiles(values, total, 0.5 / np.sqrt(counted) if sampled else 0.0)


def near_distance(
    Y_a: Floats,
    Y_b: Floats | None = None,
    share: float = NEAR_SHARE,
    *,
    max_pairs: int = EXACT_PAIRS,
    n_samples: int = SAMPLED_PAIRS,
    random_state: int = 0,
) -> float:
    """Return the distance up to which pairs are among the closest `share` of all candidates.

    Returns: Halfway to the next distance, so that rounding does not matter; 0 if the share is
        smaller than one pair, NaN without candidates.
    """
    A = _finite_rows(Y_a).T
    B = None if Y_b is None else _finite_rows(Y_b).T
    total = A.shape[1] * (A.shape[1] - 1) // 2 if B is None else A.shape[1] * B.shape[1]
    if total == 0:
        return float("nan")
    sampled = total > max_pairs
    # Distances that are certainly beyond the result are dropped, except in small blocks.
    limit = np.inf
    if not sampled and total > _BLOCK_PAIRS:
        drawn = next(_sampled_distances(A, B, _N_DRAWN, random_state))
        limit = float(np.quantile(drawn, min(share + _SPARE_SHARE, 1.0)))
    pieces = _sampled_distances(A, B, n_samples, random_state) if sampled else _all_distances(A, B)
    counted, close = 0, []
    for distances in pieces:
        counted += len(distances)
        close.append(distances[distances <= limit])
    near = np.sort(np.concatenate(close))
    last = int(np.floor(share * counted - 0.5))
    if last < 0:
        return 0.0
    last = min(last, len(near) - 1)
    first, after = (int(np.searchsorted(near, near[last], side)) for side in ("left", "right"))
    # Ties are near all together or not at all, depending on their mean rank.
    stop = after if first + after <= 2 * share * counted else first
    if stop == 0:
        return 0.0
    following = near[stop] if stop < len(near) else near[stop - 1]
    return float((np.sqrt(near[stop - 1]) + np.sqrt(following)) / 2.0)


def satisfaction_area(F: Floats, sign: int = 1, weights: Floats | None = None) -> float:
    """Area under the satisfaction curve: mean(1 - F) for positive, mean(F) for negative links."""
    is_finite = np.isfinite(F)
    w = np.ones(len(F)) if weights is None else np.abs(weights)
    if not w[is_finite].sum() > 0:
        return float("nan")
    mean = float(np.average(F[is_finite], weights=w[is_finite]))
    return 1.0 - mean if sign > 0 else mean


def satisfaction_curve(
    F: Floats,
    sign: int = 1,
    weights: Floats | None = None,
    n_points: int = 1001,
    at: Floats | None = None,
) -> tuple[Floats, Floats]:
    """Share of satisfied guidance as a function of the share of pairs that count as close."""
    f = np.linspace(0.0, 1.0, n_points) if at is None else np.asarray(at, dtype=np.float64)
    is_finite = np.isfinite(F)
    w = np.ones(len(F)) if weights is None else np.abs(weights)
    order = np.argsort(F[is_finite], kind="stable")
    cumulated = np.concatenate([[0.0], np.cumsum(w[is_finite][order])])
    if cumulated[-1] <= 0:
        return f, np.full(len(f), np.nan)
    inside = cumulated[np.searchsorted(F[is_finite][order], f, side="right")] / cumulated[-1]
    return f, inside if sign > 0 else 1.0 - inside


def link_auc(F: Floats, candidates: int) -> float:
    """ROC-AUC of distinct linked pairs against all other candidate pairs, with ties half.

    From the identity area = pi / 2 + (1 - pi) AUC, with pi the share of linked pairs.
    """
    linked = int(np.isfinite(F).sum())
    if linked == 0 or linked >= candidates:
        return float("nan")
    pi = linked / candidates
    return (satisfaction_area(F) - pi / 2) / (1.0 - pi)


def degree_placements(
    Y_a: Floats,
    i: Ints,
    j: Ints,
    Y_b: Floats | None = None,
    all_links: tuple[Ints, Ints] | None = None,
    *,
    max_pairs: int = EXACT_ENDS,
    n_samples: int = SAMPLED_ENDS,
    random_state: int = 0,
) -> tuple[Floats, float]:
    """Return the share of unlinked pairs of the ends of two links that are farther than each link.

    An end occurs in such pairs as often as in links, so a map gains nothing by moving popular items
    to the centre: a mean of 1/2 is chance even if most links lead to a few hubs. O(c log c) for c
    pairs of ends.

    Returns `closer` (m,): With ties half; NaN without a position, and if every such pair is a
        link.
    """
    other = Y_a if Y_b is None else Y_b
    is_placed = np.isfinite(Y_a[i]).all(axis=1) & np.isfinite(other[j]).all(axis=1)
    placements = np.full(len(i), np.nan)
    i, j = i[is_placed], j[is_placed]
    n_b = len(other)
    all_i, all_j = (i, j) if all_links is None else all_links
    if Y_b is None:
        all_i, all_j = np.r_[all_i, all_j], np.r_[all_j, all_i]
        left, right = np.r_[i, j], np.r_[j, i]
    else:
        left, right = i, j
    m = len(left)
    sampled = m * m > max_pairs
    if sampled:
        drawn = np.random.default_rng(random_state).integers(0, m, (2, n_samples))
        u, v = left[drawn[0]], right[drawn[1]]
    else:
        u, v = np.repeat(left, m), np.tile(right, m)
    links = np.unique(all_i * n_b + all_j)
    position = np.minimum(np.searchsorted(links, u * n_b + v), max(len(links) - 1, 0))
    is_unlinked = links[position] != u * n_b + v if len(links) else np.ones(len(u), dtype=bool)
    if Y_b is None:
        is_unlinked &= u != v
    u, v = u[is_unlinked], v[is_unlinked]
    if not len(u) or not len(i):
        return placements, 0.0
    other_distances = np.sort(_squared(Y_a[u].T, other[v].T))
    link_distances = _squared(Y_a[i].T, other[j].T)
    closer = np.searchsorted(other_distances, link_distances, side="left") + np.searchsorted(
        other_distances, link_distances, side="right"
    )
    placements[is_placed] = 1.0 - closer / (2 * len(other_distances))
    return placements, float(0.5 / np.sqrt(len(other_distances))) if sampled else 0.0


def _finite_rows(Y: Floats) -> Floats:
    Y = np.asarray(Y, dtype=np.float64)
    return Y[np.isfinite(Y).all(axis=1)]


def _squared(A: Floats, B: Floats) -> Floats:
    """Return squared distances, summed axis by axis so that a pair always gives the same bits."""
    total = np.zeros(np.broadcast_shapes(A.shape[1:], B.shape[1:]))
    for a, b in zip(A, B, strict=True):
        difference = a - b
        difference *= difference
        total += difference
    return total


def _all_distances(A: Floats, B: Floats | None) -> Iterator[Floats]:
    n = A.shape[1]
    others = A if B is None else B
    step = max(1, _BLOCK_PAIRS // max(others.shape[1], 1))
    for start in range(0, n, step):
        rows = A[:, start : start + step, None]
        if B is None:
            # Columns before `start` were rows of an earlier block.
            D = _squared(rows, others[:, None, start:])
            yield D[np.triu(np.ones(D.shape, dtype=bool), k=1)]
        else:
            yield _squared(rows, others[:, None, :]).ravel()


def _sampled_distances(
    A: Floats, B: Floats | None, n_samples: int, random_state: int
) -> Iterator[Floats]:
    rng = np.random.default_rng(random_state)
    n = A.shape[1]
    left = rng.integers(0, n, n_samples)
    if B is None:
        right = (left + rng.integers(1, n, n_samples)) % n
        yield _squared(A[:, left], A[:, right])
    else:
        yield _squared(A[:, left], B[:, rng.integers(0, B.shape[1], n_samples)])
