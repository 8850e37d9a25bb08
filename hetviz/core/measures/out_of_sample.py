"""How far the place of something new may be believed: what is like it, and where that lies."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hetviz._types import Floats, Matrix
from hetviz.core.graph.distances import cross_squared_distances
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
