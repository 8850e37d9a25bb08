"""Contradictions between together links and apart links."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components, dijkstra

from hetviz._types import Bools, Floats, Ints

_STEP = 1e-9
_NEARLY = 1e-6
_FAR = 1.0 + 1e-3
_ENTRIES = 4_000_000


@dataclass(frozen=True)
class Chain:
    """An apart link, and a shortest chain of together links between its two ends.

    Attributes
    ----------
    apart : int
        Row of the apart link.
    together : tuple of int
        Rows of the chain, from one end to the other; empty if both ends are one object.
    """

    apart: int
    together: tuple[int, ...]

    def __len__(self) -> int:
        return 1 + len(self.together)


def contradictions(
    ends: Ints,
    apart: Bools,
    n: int,
    strength: Floats | None = None,
    *,
    new: Bools | None = None,
    most: int = 100,
) -> tuple[int, list[Chain]]:
    """Find apart pairs that together links connect, directly or in a chain.

    A together link of strength w allows a distance of 1 - w between its ends, and an apart link of
    strength v requires v: a chain contradicts if its links allow less than v. Links of full
    strength contradict for any chain, two links of strength one half never do.

    Parameters
    ----------
    ends : ndarray of shape (m, 2)
        The two objects of each link.
    apart : ndarray of bool, shape (m,)
        Whether it is an apart link; the others are together links.
    n : int
        Number of objects.
    strength : ndarray of shape (m,), optional
        From 0 to 1; 1 by default.
    new : ndarray of bool, shape (m,), optional
        Report only contradictions caused by these links.
    most : int
        Maximum number of chains.

    Returns
    -------
    n_pairs : int
        Number of contradicting pairs.
    chains : list of Chain
        Shortest first. Without any of its links, a chain does not contradict by itself.

    Notes
    -----
    Linear for links of full strength. Otherwise one shortest-path search for each object with an
    apart link within its connected component, and one for each chain.
    """
    ends = np.sort(np.asarray(ends, dtype=np.int64), axis=1)
    strength = np.ones(len(ends)) if strength is None else np.asarray(strength, dtype=np.float64)
    must = ~apart & (ends[:, 0] != ends[:, 1])
    wrong = _wrong(ends, apart, must, n, strength)
    fresh = np.zeros(len(ends), dtype=bool) if new is None else new
    code = ends[:, 0] * n + ends[:, 1]
    # The strongest row represents a pair, and a new one among equal rows.
    order = np.flatnonzero(must)
    order = order[np.lexsort((~fresh[order], -strength[order]))]
    pairs, first = np.unique(code[order], return_index=True)
    row_of = order[first]
    beside = np.isin(code, pairs)
    if new is not None:
        before = _wrong(ends, apart & ~new, must & ~new, n, strength)
        wrong &= new | ~before | np.isin(code, code[must & new])
    rows = np.flatnonzero(wrong)
    rows = rows[np.argsort(~fresh[rows], kind="stable")]
    _, distinct = np.unique(code[rows], return_index=True)
    rows = rows[np.sort(distinct)]
    alone = ends[rows, 0] == ends[rows, 1]
    near_first = np.argsort(np.where(alone, 0, np.where(beside[rows], 1, 2)), kind="stable")
    chosen = rows[near_first][:most]
    graph = _room(ends[row_of], strength[row_of], n)
    chains = []
    for start in dict.fromkeys(ends[chosen, 0].tolist()):
        came_from = None
        for row in chosen[ends[chosen, 0] == start].tolist():
            end = int(ends[row, 1])
            if end == start:
                chains.append(Chain(row, ()))
                continue
            if came_from is None:
                _, came_from = dijkstra(graph, indices=start, return_predecessors=True, limit=_FAR)
            steps = []
            while end != start:
                previous = int(came_from[end])
                step = min(end, previous) * n + max(end, previous)
                steps.append(int(row_of[np.searchsorted(pairs, step)]))
                end = previous
            chains.append(Chain(row, tuple(reversed(steps))))
    return len(rows), sorted(chains, key=len)


def _wrong(ends: Ints, apart: Bools, must: Bools, n: int, strength: Floats) -> Bools:
    """Return which apart links have ends that together links force closer than allowed."""
    part = _parts(ends[must], n)
    wrong = apart & (part[ends[:, 0]] == part[ends[:, 1]]) & (strength > 0)
    full = must & (strength >= 1.0)
    sure = _parts(ends[full], n)
    open_ = np.flatnonzero(wrong & (sure[ends[:, 0]] != sure[ends[:, 1]]))
    if not len(open_):
        return np.asarray(wrong)
    graph = _room(ends[must], strength[must], n)
    starts, place = np.unique(ends[open_, 0], return_inverse=True)
    step = max(1, _ENTRIES // max(n, 1))
    for low in range(0, len(starts), step):
        room = dijkstra(graph, indices=starts[low : low + step], limit=_FAR)
        mine = np.flatnonzero((place >= low) & (place < low + step))
        rows = open_[mine]
        wrong[rows] = room[place[mine] - low, ends[rows, 1]] < strength[rows] - _NEARLY
    return np.asarray(wrong)


def _room(ends: Ints, strength: Floats, n: int) -> sp.csr_array:
    """Return the graph of allowed distances; the smallest one of repeated pairs."""
    code = ends[:, 0] * n + ends[:, 1]
    order = np.lexsort((-strength, code))
    _, first = np.unique(code[order], return_index=True)
    rows = order[first]
    # A length of 0 would be no link, and for equal distances fewer steps are better.
    length = 1.0 - strength[rows] + _STEP
    low, high = ends[rows].T
    graph = sp.csr_array((length, (low, high)), shape=(n, n))
    return sp.csr_array(graph + graph.T)


def _parts(ends: Ints, n: int) -> Ints:
    graph = sp.csr_array((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(n, n))
    _, label = connected_components(graph, directed=False)
    return np.asarray(label, dtype=np.int64)
