"""Circles in comparisons that some of them close."""

from __future__ import annotations

from typing import Any

import numpy as np

from hetviz._types import Ints
from hetviz.core.ordinal.acyclic import on_cycle, shortest_cycles
from hetviz.core.ordinal.partial_order import vertices


def circles_through(pairs: Any, which: Ints) -> list[tuple[tuple[int, ...], ...]]:
    """Find a shortest circle through each of some comparisons.

    Parameters
    ----------
    pairs : ndarray of shape (m, 4)
        As for `hetviz.core.ordinal.partial_order.partial_order`.
    which : ndarray of int
        Rows of interest.

    Returns
    -------
    list of tuple of tuple of int
        Of each circle the rows that make each of its statements, the row of interest among the
        first; rows that are on no circle give none, and no circle occurs twice.

    Notes
    -----
    O(m log m), and one search a circle.
    """
    near, far, ends = vertices(np.asarray(pairs, dtype=np.int64).reshape(-1, 4))
    possible = np.flatnonzero((near != far) & (ends[far, 0] != ends[far, 1]))
    both = np.column_stack([near[possible], far[possible]])
    edges, of_row = np.unique(both, axis=0, return_inverse=True)
    of_row = of_row.reshape(-1)
    asked = of_row[np.isin(possible, which)]
    asked = asked[on_cycle(edges)[asked]]
    found: dict[frozenset[int], tuple[tuple[int, ...], ...]] = {}
    for cycle in shortest_cycles(edges, np.unique(asked)):
        rows = tuple(tuple(possible[of_row == edge].tolist()) for edge in cycle)
        found.setdefault(frozenset(cycle.tolist()), rows)
    return list(found.values())
