"""Who is near whom, told by how far the nearest few of a hundred rows reach."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from hetviz._types import Floats, Ints
from hetviz.core.graph.distances import Space
from hetviz.core.graph.neighbors import nearest_columns

EXACT_PAIRS = 16_000_000
"""Up to so many pairs of a row asked and a row seen all are looked at; above it a sample is."""
SAMPLED_ROWS = 2_000
_ENTRIES = 4_000_000


def n_near(n_others: int, share: float, least: int) -> int:
    """Return how many of the nearest count as near: a share, at least so many, at most half."""
    return int(max(1, min(max(np.ceil(share * n_others), least), np.ceil(n_others / 2))))


@dataclass(frozen=True, eq=False)
class Horizon:
    """The rows that are looked at, and how many of them count as near.

    Attributes
    ----------
    seen : array of int, shape (c,)
        Rows looked at, in order.
    n_near : int
        How many of these are near.
    sampled : bool
        Whether they stand for more rows.
    """

    seen: Ints
    n_near: int
    sampled: bool

    @property
    def standard_error(self) -> float:
        """Of the share of rows that count as near; 0 where all were looked at."""
        if not self.sampled:
            return 0.0
        share = self.n_near / len(self.seen)
        return float(np.sqrt(share * (1 - share) / len(self.seen)))

    def limits(self, space: Space, rows: Ints, same: bool) -> Floats:
        """Return how far near reaches from each row; `same`: a row itself is not counted."""
        found = np.empty(len(rows))
        for at, D in self.blocks(space, rows, same):
            found[at] = self.reach(D)
        return found

    def reach(self, D: Floats) -> Floats:
        """Return how far near reaches by the distances to the rows seen, shape (q, c)."""
        last = min(self.n_near, D.shape[1]) - 1
        return np.asarray(np.partition(D, last, axis=1)[:, last])

    def blocks(self, space: Space, rows: Ints, same: bool) -> Iterator[tuple[slice, Floats]]:
        """Yield distances of some rows to those seen, infinite from a row to itself."""
        step = max(1, _ENTRIES // max(len(self.seen), 1))
        for start in range(0, len(rows), step):
            at = slice(start, min(start + step, len(rows)))
            D = space.between(rows[at], self.seen)
            if same:
                D[rows[at][:, None] == self.seen] = np.inf
            yield at, D


def horizon(
    candidates: Ints, n_asked: int, share: float, least: int, rng: np.random.Generator, same: bool
) -> Horizon:
    """Choose the rows to look at: all candidates, or a sample where the pairs are too many."""
    n = len(candidates) - same
    near = n_near(n, share, least)
    if n_asked * len(candidates) <= EXACT_PAIRS or len(candidates) <= SAMPLED_ROWS:
        return Horizon(candidates, near, False)
    seen = np.sort(rng.choice(candidates, SAMPLED_ROWS, replace=False))
    return Horizon(seen, max(1, round(near * SAMPLED_ROWS / n)), True)


def mistaken(
    data: Space, places: Space, rows: Ints, seen: Horizon, k: int
) -> tuple[Floats, Floats, Floats]:
    """Count false and missing neighbours of rows among the rows seen.

    Parameters
    ----------
    data, places : Space
        Distances in the data and on the map.
    rows : array of int, shape (q,)
    seen : Horizon
    k : int

    Returns
    -------
    false, missing : array of shape (q,)
        How many of the k nearest on the map are not near in the data, and how many of the k
        nearest in the data are not near on the map.
    limits : array of shape (q,)
        How far near reaches in the data.
    """
    false, missing = np.empty(len(rows)), np.empty(len(rows))
    limits = np.empty(len(rows))
    found = zip(seen.blocks(data, rows, True), seen.blocks(places, rows, True), strict=True)
    for (at, D), (_, E) in found:
        limits[at], reach = seen.reach(D), seen.reach(E)
        mapped = np.take_along_axis(D, nearest_columns(E, k), axis=1)
        known = np.take_along_axis(E, nearest_columns(D, k), axis=1)
        false[at] = (mapped > limits[at][:, None]).sum(axis=1)
        missing[at] = (known > reach[:, None]).sum(axis=1)
    return false, missing, limits
