"""What cannot hold together in links that say together and links that say apart."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import breadth_first_order, connected_components

from hetviz._types import Bools, Ints


@dataclass(frozen=True)
class Chain:
    """A link that says apart, and a shortest chain of others that put its two ends together.

    Attributes
    ----------
    apart : int
        Row of the link that says apart.
    together : tuple of int
        Rows of the chain, from one end to the other; none where both ends are one object.
    """

    apart: int
    together: tuple[int, ...]

    def __len__(self) -> int:
        return 1 + len(self.together)


def contradictions(
    ends: Ints, apart: Bools, n: int, *, new: Bools | None = None, most: int = 100
) -> tuple[int, list[Chain]]:
    """Find pairs said to be apart that others put together, directly or by way of others.

    Parameters
    ----------
    ends : ndarray of shape (m, 2)
        The two objects of each link.
    apart : ndarray of bool, shape (m,)
        Whether it says apart; the others say together.
    n : int
        Number of objects.
    new : ndarray of bool, shape (m,), optional
        Only what comes to be by these links is of interest.
    most : int
        How many chains to work out.

    Returns
    -------
    n_pairs : int
        How many pairs are said to be apart and put together.
    chains : list of Chain
        The shortest first. Any link of a chain left out, it no longer contradicts by itself.

    Notes
    -----
    Linear in links but for the chains: each costs one walk through its own connected part.
    """
    ends = np.sort(np.asarray(ends, dtype=np.int64), axis=1)
    must = ~apart & (ends[:, 0] != ends[:, 1])
    part = _parts(ends[must], n)
    wrong = apart & (part[ends[:, 0]] == part[ends[:, 1]])
    fresh = np.zeros(len(ends), dtype=bool) if new is None else new
    # the new rows of a pair stand for it
    order = np.flatnonzero(must)[np.argsort(~fresh[must], kind="stable")]
    code = ends[:, 0] * n + ends[:, 1]
    pairs, first = np.unique(code[order], return_index=True)
    row_of = order[first]
    beside = np.isin(code, pairs)
    if new is not None:
        before = _parts(ends[must & ~new], n)
        joined = before[ends[:, 0]] != before[ends[:, 1]]
        wrong &= new | joined | np.isin(code, code[must & new])
    rows = np.flatnonzero(wrong)
    rows = rows[np.argsort(~fresh[rows], kind="stable")]
    _, distinct = np.unique(code[rows], return_index=True)
    rows = rows[np.sort(distinct)]
    alone = ends[rows, 0] == ends[rows, 1]
    near_first = np.argsort(np.where(alone, 0, np.where(beside[rows], 1, 2)), kind="stable")
    chosen = rows[near_first][:most]
    graph = _graph(ends[must], n)
    chains = []
    for start in dict.fromkeys(ends[chosen, 0].tolist()):
        came_from = None
        for row in chosen[ends[chosen, 0] == start].tolist():
            end = int(ends[row, 1])
            if end == start:
                chains.append(Chain(row, ()))
                continue
            if came_from is None:
                _, came_from = breadth_first_order(graph, start)
            steps = []
            while end != start:
                previous = int(came_from[end])
                step = min(end, previous) * n + max(end, previous)
                steps.append(int(row_of[np.searchsorted(pairs, step)]))
                end = previous
            chains.append(Chain(row, tuple(reversed(steps))))
    return len(rows), sorted(chains, key=len)


def _graph(ends: Ints, n: int) -> sp.csr_array:
    both = np.vstack([ends, ends[:, ::-1]])
    return sp.csr_array((np.ones(len(both)), (both[:, 0], both[:, 1])), shape=(n, n))


def _parts(ends: Ints, n: int) -> Ints:
    _, label = connected_components(_graph(ends, n), directed=False)
    return np.asarray(label, dtype=np.int64)
