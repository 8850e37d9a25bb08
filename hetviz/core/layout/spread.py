"""Spread of the positions of items over several maps of nearly equal data."""

from __future__ import annotations

import numpy as np

from hetviz._types import Bools, Floats, Ints, Rng
from hetviz.core.layout.procrustes import align

MIN_SPREADS = 2.0
"""A row moved clearly if it moved by more than this many spreads of its two positions."""
_MIN_FAR_SPREADS, _FAR_RANGES = 0.5, 5.0
"""The same for a row that moved further than nearly all others, see `benchmarks/periods.md`."""
_STILL_SHARE = 0.8
_N_PAIRS = 20_000


def aligned_distances(Y: Floats, reference: Floats) -> Floats:
    """Return how far each row is from its reference position, after alignment: (n,).

    Rotation, reflection, scale and shift are those that fit all rows best, then those that fit the
    four fifths with the best fit, so that moved rows do not affect the alignment. O(n).
    """
    distance: Floats = np.linalg.norm(align(Y, reference)(Y) - reference, axis=1)
    if not np.isfinite(distance).any():
        return distance
    is_still = distance <= np.nanquantile(distance, _STILL_SHARE)
    fit = align(np.where(is_still[:, None], Y, np.nan), reference)
    return np.asarray(np.linalg.norm(fit(Y) - reference, axis=1))


def stands_out(distances: Floats, n_ranges: float = 3.0) -> Bools:
    """Return which distances are clearly larger than the rest: above Q3 + `n_ranges` (Q3 - Q1)."""
    present = distances[np.isfinite(distances)]
    if not len(present):
        return np.zeros(len(distances), dtype=bool)
    low, high = np.quantile(present, [0.25, 0.75])
    return np.asarray(distances > high + n_ranges * (high - low))


def extent(Y: Floats) -> float:
    """Return the longer side of the bounding box of positions (n, k); 1 if it is 0."""
    placed = Y[np.isfinite(Y).all(axis=1)]
    return (float(np.ptp(placed, axis=0).max()) if len(placed) else 0.0) or 1.0


def moved_shares(before: Floats, after: Floats) -> Floats:
    """Return how far each row moved (n,), relative to the extent of the later positions (n, k)."""
    return np.asarray(np.linalg.norm(after - before, axis=1) / extent(after))


def spread_of_move(before: Floats, after: Floats, spreads: tuple[Floats, Floats]) -> Floats:
    """Return the spread of the move of each row (n,), relative to the extent of `after` (n, k).

    `spreads`: Spread of each position before and after (n,), each relative to its own extent.
    """
    return np.asarray(np.hypot(spreads[0] * extent(before) / extent(after), spreads[1]))


def moved_clearly(moved: Floats, spreads: Floats) -> Bools:
    """Return which rows moved clearly (n,): by two spreads, or further than nearly all others.

    Refits are not tied, so that their spread alone misses most moves between tied maps.
    """
    is_far = stands_out(moved, _FAR_RANGES) & (moved > _MIN_FAR_SPREADS * spreads)
    return np.asarray((moved > MIN_SPREADS * spreads) | is_far)


def mean_distances(maps: Floats, reference: Floats) -> tuple[Floats, Floats, Ints]:
    """Return the mean distance of each row from its reference position over aligned maps."""
    distances = np.stack([aligned_distances(Y, reference) for Y in maps]) / extent(reference)
    is_placed = np.isfinite(distances)
    count = is_placed.sum(axis=0)
    total = np.where(is_placed, distances, 0.0).sum(axis=0)
    mean = np.where(count > 0, total / np.maximum(count, 1), np.nan)
    squares = np.where(is_placed, (distances - mean) ** 2, 0.0).sum(axis=0)
    variance = squares / np.maximum(count - 1, 1) / np.maximum(count, 1)
    return mean, np.where(count > 1, np.sqrt(variance), np.nan), count


def random_distance(Y: Floats, rng: Rng) -> float:
    """Return the mean distance of random pairs of positions (n, k), relative to the extent."""
    placed = Y[np.isfinite(Y).all(axis=1)]
    if len(placed) < 2:
        return float("nan")
    left, right = rng.integers(0, len(placed), (2, _N_PAIRS))
    different = left != right
    distances = np.linalg.norm(placed[left[different]] - placed[right[different]], axis=1)
    return float(distances.mean()) / extent(placed)
