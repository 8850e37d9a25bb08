"""Uncertainty of the places of new items: their most similar items, and the places of these."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hetviz._types import Floats, Matrix, Rng
from hetviz.core.graph.distances import cross_squared_distances
from hetviz.core.layout.placement import median_places
from hetviz.core.measures.neighborhoods import count_near

_BLOCK_ENTRIES = 4_000_000
_N_SAMPLED = 2_000
_USUAL_QUANTILE = 0.95
_NEAR_SHARE = 0.05


@dataclass(frozen=True, eq=False)
class PlaceUncertainty:
    """Uncertainty of the places of new rows.

    `elsewhere` (m,): Share of the most similar rows that are not near the new row on the map; NaN
        without a position.
    `unlike` (m,): 1 - usual / d, at least 0, with d the distance to the most similar row, and
        `usual` the 95 % quantile of that distance for the rows on the map.
    """

    elsewhere: Floats
    unlike: Floats
    k: int

    @property
    def total(self) -> Floats:
        """The larger of the two, shape (m,)."""
        return np.fmax(self.elsewhere, self.unlike)


def place_uncertainty(
    squared: Floats, Y_new: Floats, Y: Floats, usual: float, k: int = 10
) -> PlaceUncertainty:
    """Return the uncertainty of the places of new rows."""
    placed_rows = np.flatnonzero(np.isfinite(Y).all(axis=1))
    m = len(squared)
    elsewhere, unlike = np.full(m, np.nan), np.zeros(m)
    k = max(1, min(k, len(placed_rows) // 4))
    if usual > 0 and squared.shape[1]:
        nearest = np.sqrt(squared.min(axis=1))
        unlike = np.maximum(0.0, 1.0 - usual / np.maximum(nearest, usual))
    new_rows = np.flatnonzero(np.isfinite(Y_new).all(axis=1))
    if len(placed_rows):
        n_close = count_near(len(placed_rows), _NEAR_SHARE, 2 * k)
        for row in new_rows:
            most_similar = np.argsort(squared[row, placed_rows], kind="stable")[:k]
            on_map = ((Y[placed_rows] - Y_new[row]) ** 2).sum(axis=1)
            reach = np.partition(on_map, n_close - 1)[n_close - 1]
            elsewhere[row] = float((on_map[most_similar] > reach).mean())
    return PlaceUncertainty(elsewhere, unlike, k)


def usual_distance(X: Matrix, rng: Rng) -> float:
    """Return the 95 % quantile of the distance to the nearest other row, for rows of X (n, p)."""
    n = X.shape[0]
    rows = np.arange(n) if n <= _N_SAMPLED else np.sort(rng.choice(n, _N_SAMPLED, replace=False))
    nearest = np.empty(len(rows))
    step = max(1, _BLOCK_ENTRIES // max(n, 1))
    for start in range(0, len(rows), step):
        block = rows[start : start + step]
        D = cross_squared_distances(X[block], X)
        D[np.arange(len(block)), block] = np.inf
        nearest[start : start + len(block)] = D.min(axis=1)
    positive = nearest[np.isfinite(nearest) & (nearest > 0)]
    return float(np.sqrt(np.quantile(positive, _USUAL_QUANTILE))) if len(positive) else 0.0


@dataclass(frozen=True)
class PlacementError:
    """Error of rows of a map that are placed like new ones."""

    median: float
    most: float
    standard_error: float
    n: int

    def to_dict(self) -> dict[str, float | int | None]:
        """Return the fields, JSON-ready, with None for NaN."""
        fields = {"median": self.median, "most": self.most, "standard_error": self.standard_error}
        return {name: None if np.isnan(x) else x for name, x in fields.items()} | {"n": self.n}


def placement_error(
    features: Sequence[Matrix | None],
    places: Sequence[Floats],
    n: int = 500,
    random_state: int = 0,
    *,
    between: bool = False,
) -> PlacementError:
    """Place rows of a map as if they were new, and compare with their positions.

    The map is not refitted without these rows, so their effect on their neighbours remains, and the
    error of truly new rows is a little larger. O(n n_v d_v).
    """
    rng = np.random.default_rng(random_state)
    errors = []
    for X, Y in zip(features, places, strict=True):
        placed = np.flatnonzero(np.isfinite(Y).all(axis=1))
        if X is None or len(placed) < 3:
            continue
        sample = np.sort(rng.choice(len(placed), min(n, len(placed)), replace=False))
        placed_features, Y = X[placed], Y[placed]
        step = max(1, _BLOCK_ENTRIES // len(placed))
        for start in range(0, len(sample), step):
            rows = sample[start : start + step]
            squared = cross_squared_distances(placed_features[rows], placed_features)
            squared[np.arange(len(rows)), rows] = np.inf
            offset = median_places(squared, Y, between=between) - Y[rows]
            errors.append(np.sqrt((offset**2).sum(axis=1)))
    if not errors:
        nan = float("nan")
        return PlacementError(nan, nan, nan, 0)
    all_placed = np.vstack([Y[np.isfinite(Y).all(axis=1)] for Y in places])
    a, b = rng.integers(0, len(all_placed), (2, _N_SAMPLED))
    usual = float(np.median(np.sqrt(((all_placed[a] - all_placed[b]) ** 2).sum(axis=1)))) or 1.0
    share = np.concatenate(errors) / usual
    median = float(np.median(share))
    resamples = rng.integers(0, len(share), (200, len(share)))
    error = float(np.median(share[resamples], axis=1).std(ddof=1))
    return PlacementError(median, float(np.quantile(share, 0.9)), error, len(share))
