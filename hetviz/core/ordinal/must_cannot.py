"""Contradictions between together links and apart links."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components, dijkstra

from hetviz._types import Bools, Floats, Ints

_STEP = 1e-9
_TOLERANCE = 1e-6
_MAX_DISTANCE = 1.0 + 1e-3
_BLOCK_ENTRIES = 4_000_000


@dataclass(frozen=True)
class ContradictionChain:
    """An apart link, and a shortest chain of together links between its two ends."""

    apart: int
    together: tuple[int, ...]

    def __len__(self) -> int:
        return 1 + len(self.together)


def find_contradictions(
    ends: Ints,
    apart: Bools,
    n: int,
    strength: Floats | None = None,
    *,
    new: Bools | None = None,
    max_chains: int = 100,
) -> tuple[int, list[ContradictionChain]]:
    """Find apart pairs that together links connect, directly or in a chain.

    A together link of strength w allows a distance of 1 - w between its ends, and an apart link of
    strength v requires v: a chain contradicts if its links allow less than v. Links of full
    strength contradict for any chain, two links of strength one half never do.
    """
    ends = np.sort(np.asarray(ends, dtype=np.int64), axis=1)
    strength = np.ones(len(ends)) if strength is None else np.asarray(strength, dtype=np.float64)
    is_together = ~apart & (ends[:, 0] != ends[:, 1])
    is_contradicted = _contradicted(ends, apart, is_together, n, strength)
    is_new = np.zeros(len(ends), dtype=bool) if new is None else new
    code = ends[:, 0] * n + ends[:, 1]
    # The strongest row represents a pair, and a new one among equal rows.
    order = np.flatnonzero(is_together)
    order = order[np.lexsort((~is_new[order], -strength[order]))]
    pairs, first = np.unique(code[order], return_index=True)
    row_of = order[first]
    is_direct = np.isin(code, pairs)
    if new is not None:
        contradicted_before = _contradicted(ends, apart & ~new, is_together & ~new, n, strength)
        is_contradicted &= new | ~contradicted_before | np.isin(code, code[is_together & new])
    rows = np.flatnonzero(is_contradicted)
    rows = rows[np.argsort(~is_new[rows], kind="stable")]
    _, distinct = np.unique(code[rows], return_index=True)
    rows = rows[np.sort(distinct)]
    is_self = ends[rows, 0] == ends[rows, 1]
    order_by_length = np.argsort(
        np.where(is_self, 0, np.where(is_direct[rows], 1, 2)), kind="stable"
    )
    chosen = rows[order_by_length][:max_chains]
    graph = _allowed_distances(ends[row_of], strength[row_of], n)
    chains = []
    for start in dict.fromkeys(ends[chosen, 0].tolist()):
        predecessors = None
        for row in chosen[ends[chosen, 0] == start].tolist():
            end = int(ends[row, 1])
            if end == start:
                chains.append(ContradictionChain(row, ()))
                continue
            if predecessors is None:
                _, predecessors = dijkstra(
                    graph, indices=start, return_predecessors=True, limit=_MAX_DISTANCE
                )
            steps = []
            while end != start:
                previous = int(predecessors[end])
                step = min(end, previous) * n + max(end, previous)
                steps.append(int(row_of[np.searchsorted(pairs, step)]))
                end = previous
            chains.append(ContradictionChain(row, tuple(reversed(steps))))
    return len(rows), sorted(chains, key=len)


def _contradicted(ends: Ints, apart: Bools, is_together: Bools, n: int, strength: Floats) -> Bools:
    """Return which apart links have ends that together links force closer than allowed."""
    component = _components(ends[is_together], n)
    is_contradicted = apart & (component[ends[:, 0]] == component[ends[:, 1]]) & (strength > 0)
    is_full = is_together & (strength >= 1.0)
    full_component = _components(ends[is_full], n)
    undecided = np.flatnonzero(
        is_contradicted & (full_component[ends[:, 0]] != full_component[ends[:, 1]])
    )
    if not len(undecided):
        return np.asarray(is_contradicted)
    graph = _allowed_distances(ends[is_together], strength[is_together], n)
    starts, place = np.unique(ends[undecided, 0], return_inverse=True)
    step = max(1, _BLOCK_ENTRIES // max(n, 1))
    for low in range(0, len(starts), step):
        allowed = dijkstra(graph, indices=starts[low : low + step], limit=_MAX_DISTANCE)
        in_block = np.flatnonzero((place >= low) & (place < low + step))
        rows = undecided[in_block]
        is_contradicted[rows] = (
            allowed[place[in_block] - low, ends[rows, 1]] < strength[rows] - _TOLERANCE
        )
    return np.asarray(is_contradicted)


def _allowed_distances(ends: Ints, strength: Floats, n: int) -> sp.csr_array:
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


def _components(ends: Ints, n: int) -> Ints:
    graph = sp.csr_array((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(n, n))
    _, label = connected_components(graph, directed=False)
    return np.asarray(label, dtype=np.int64)
