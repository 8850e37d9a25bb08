"""What a map leaves in doubt: pairs likely to belong together, near ties, and what spreads out."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp

from hetviz._types import Floats, Ints, Sparse
from hetviz.core.graph.distances import Space
from hetviz.core.graph.neighbors import nearest_columns

_BLOCK_ENTRIES = 4_000_000


def likeness(space: Space, queries: Ints, k: int) -> Sparse:
    """Weigh the k nearest rows of some rows: exp(-d^2 / s^2), s the distance of the middle one.

    Parameters
    ----------
    space : Space
        Of n rows.
    queries : ndarray of shape (q,)
    k : int

    Returns
    -------
    csr_array of shape (q, n)
        Each row of `queries` has weight 1 with itself.

    Notes
    -----
    O(q n d) time in row blocks of bounded memory.
    """
    n = space.n
    k = min(k, n - 1)
    found, weight = np.empty((len(queries), k + 1), dtype=np.int64), np.ones((len(queries), k + 1))
    step = max(1, _BLOCK_ENTRIES // max(n, 1))
    for start in range(0, len(queries) if k else 0, step):
        block = slice(start, min(start + step, len(queries)))
        D = space.between(queries[block])
        D[np.arange(len(D)), queries[block]] = np.inf
        near = nearest_columns(D, k)
        away = np.take_along_axis(D, near, axis=1)
        middle = np.median(away, axis=1, keepdims=True)
        found[block, 1:] = near
        weight[block, 1:] = np.exp(-away / np.where(middle > 0, middle, 1.0))
    found[:, 0] = queries
    rows = np.repeat(np.arange(len(queries)), k + 1)
    return sp.csr_array((weight.ravel(), (rows, found.ravel())), shape=(len(queries), n))


def chance_of_yes(together: Floats, apart: Floats, base: float) -> Floats:
    """Return how likely pairs are to belong together, by votes of similar pairs for and against.

    The mean of a Beta distribution whose prior has the mean `base` and counts as one vote.
    """
    return np.asarray((together + base) / (together + apart + 1.0))


def near_ties(away: Floats, between: Floats) -> Floats:
    """Say how much of a tie two distances are, 0 to 1.

    Parameters
    ----------
    away : ndarray of shape (m, 2)
        Distances of an item to two others.
    between : ndarray of shape (m,)
        Distance of these two.

    Returns
    -------
    ndarray of shape (m,)
        1 where both are equally far and lie on opposite sides; 0 where one of them lies on the
        item, or both in one place: nothing could be learnt by asking.
    """
    low, high = away.min(axis=1), away.max(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        tie = np.where(high > 0, low / high, 0.0) ** 4
        open_ = np.where(high > 0, np.minimum(between / (low + high), 1.0), 0.0)
    return np.asarray(tie * open_)


def spread_out(
    gain: Floats,
    items: Sequence[Sequence[int] | Ints] | Ints,
    groups: Sequence[Sequence[int] | Ints] | Ints,
    n: int,
) -> Ints:
    """Take the best candidates, from all over the data.

    Parameters
    ----------
    gain : ndarray of shape (m,)
        Candidates of 0 or less are never taken.
    items : sequence of m sequences of int
        What a candidate names; no two that are taken share any.
    groups : sequence of m sequences of int
        What lies next to it, itself included. Candidates that share some come last.
    n : int

    Returns
    -------
    ndarray of at most n positions
        The best first, of those that share no group; then the best of the others. Equal ones come
        in their order.
    """
    order = [int(at) for at in np.argsort(-gain, kind="stable") if gain[at] > 0]
    taken: list[int] = []
    used: set[int] = set()
    for parts in (groups, items):
        for at in order:
            if len(taken) == n:
                break
            mine = {int(part) for part in parts[at]}
            if used.isdisjoint(mine):
                taken.append(at)
                used |= mine
        used = {int(part) for at in taken for part in items[at]}
    return np.array(taken, dtype=np.int64)
