"""How far the place of something new may be believed: what is like it, and where that lies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hetviz._types import Floats, Matrix
from hetviz.core.graph.distances import cross_squared_distances
from hetviz.core.layout.placement import median_places
from hetviz.core.measures.neighborhoods import n_near

_ENTRIES = 4_000_000
_SAMPLED = 2_000
_USUAL = 0.95
_NEAR = 0.05


@dataclass(frozen=True, eq=False)
class Doubt:
    """The doubt of new rows.

    Attributes
    ----------
    elsewhere : array of shape (m,)
        Share of the rows most like it that are not near it on the map; NaN without a place.
    unlike : array of shape (m,)
        1 - usual / away, at least 0: `away` is how far the row most like it is, `usual` how far
        that is at most for 95 % of the rows that are there.
    k : int
        How many rows count as most like it.
    """

    elsewhere: Floats
    unlike: Floats
    k: int

    @property
    def total(self) -> Floats:
        """The greater of the two, shape (m,)."""
        return np.fmax(self.elsewhere, self.unlike)


def doubt(away: Floats, Y_new: Floats, Y: Floats, usual: float, k: int = 10) -> Doubt:
    """Say how far places of new rows may be believed.

    Parameters
    ----------
    away : array of shape (m, n)
        Squared distances of new rows to those that are there, by what describes them.
    Y_new, Y : arrays of shape (m, d) and (n, d)
        Places; NaN without.
    usual : float
        See `usual_distance`; 0 where it is not known, so that nothing is unlike.
    k : int
        How many count as most like a row; fewer of few rows.

    Notes
    -----
    Near on the map are the nearest 5 % of the rows, at least 2 k and at most half. Costs O(m n d).
    """
    there = np.flatnonzero(np.isfinite(Y).all(axis=1))
    m = len(away)
    elsewhere, unlike = np.full(m, np.nan), np.zeros(m)
    k = max(1, min(k, len(there) // 4))
    if usual > 0 and away.shape[1]:
        least = np.sqrt(away.min(axis=1))
        unlike = np.maximum(0.0, 1.0 - usual / np.maximum(least, usual))
    placed = np.flatnonzero(np.isfinite(Y_new).all(axis=1))
    if len(there):
        n_close = n_near(len(there), _NEAR, 2 * k)
        for row in placed:
            alike = np.argsort(away[row, there], kind="stable")[:k]
            on_map = ((Y[there] - Y_new[row]) ** 2).sum(axis=1)
            reach = np.partition(on_map, n_close - 1)[n_close - 1]
            elsewhere[row] = float((on_map[alike] > reach).mean())
    return Doubt(elsewhere, unlike, k)


def usual_distance(X: Matrix, rng: np.random.Generator) -> float:
    """Return how far the nearest other row is at most, for 95 % of the rows of X (n, p).

    Of 2,000 rows drawn where there are more; rows that have a double do not count.
    """
    n = X.shape[0]
    rows = np.arange(n) if n <= _SAMPLED else np.sort(rng.choice(n, _SAMPLED, replace=False))
    nearest = np.empty(len(rows))
    step = max(1, _ENTRIES // max(n, 1))
    for start in range(0, len(rows), step):
        block = rows[start : start + step]
        D = cross_squared_distances(X[block], X)
        D[np.arange(len(block)), block] = np.inf
        nearest[start : start + len(block)] = D.min(axis=1)
    found = nearest[np.isfinite(nearest) & (nearest > 0)]
    return float(np.sqrt(np.quantile(found, _USUAL))) if len(found) else 0.0


@dataclass(frozen=True)
class PlacementError:
    """How far from their place rows of a map land that are placed as new ones.

    Attributes
    ----------
    median, most : float
        The median, and what nine in ten do not exceed, as shares of the median distance of two
        rows of the map; NaN where nothing can be placed.
    standard_error : float
        Of the median.
    n : int
        How many rows were tried.
    """

    median: float
    most: float
    standard_error: float
    n: int

    def to_dict(self) -> dict[str, float | int | None]:
        """Return the fields, JSON-ready: what is not known is None."""
        known = {"median": self.median, "most": self.most, "standard_error": self.standard_error}
        return {name: None if np.isnan(x) else x for name, x in known.items()} | {"n": self.n}


def placement_error(
    features: Sequence[Matrix | None],
    places: Sequence[Floats],
    n: int = 500,
    random_state: int = 0,
    *,
    between: bool = False,
) -> PlacementError:
    """Place rows of a map as if they were new, and compare with where they lie.

    Parameters
    ----------
    features : sequence of ndarray or csr of shape (n_v, d_v), or None
        Of each dataset; None where nothing describes its rows.
    places : sequence of ndarray of shape (n_v, k)
        NaN without.
    n : int
        Rows of each dataset that are tried, each hidden from itself only.
    random_state : int
    between : bool
        See `hetviz.core.layout.placement.median_places`.

    Notes
    -----
    The map is not made again without them, so that what they did to their surroundings stays: the
    error of rows that never were on it is a little larger. O(n n_v d_v).
    """
    rng = np.random.default_rng(random_state)
    errors = []
    for X, Y in zip(features, places, strict=True):
        there = np.flatnonzero(np.isfinite(Y).all(axis=1))
        if X is None or len(there) < 3:
            continue
        tried = np.sort(rng.choice(len(there), min(n, len(there)), replace=False))
        known, Y = X[there], Y[there]
        step = max(1, _ENTRIES // len(there))
        for start in range(0, len(tried), step):
            rows = tried[start : start + step]
            squared = cross_squared_distances(known[rows], known)
            squared[np.arange(len(rows)), rows] = np.inf
            off = median_places(squared, Y, between=between) - Y[rows]
            errors.append(np.sqrt((off**2).sum(axis=1)))
    if not errors:
        nan = float("nan")
        return PlacementError(nan, nan, nan, 0)
    whole = np.vstack([Y[np.isfinite(Y).all(axis=1)] for Y in places])
    a, b = rng.integers(0, len(whole), (2, _SAMPLED))
    usual = float(np.median(np.sqrt(((whole[a] - whole[b]) ** 2).sum(axis=1)))) or 1.0
    share = np.concatenate(errors) / usual
    median = float(np.median(share))
    again = rng.integers(0, len(share), (200, len(share)))
    error = float(np.median(share[again], axis=1).std(ddof=1))
    return PlacementError(median, float(np.quantile(share, 0.9)), error, len(share))
