"""Uncertainty for active questions: probable links, near ties, and diverse candidates."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp

from hetviz._types import Floats, Ints, Sparse
from hetviz.core.graph.distances import Space
from hetviz.core.graph.neighbors import nearest_columns

_BLOCK_ENTRIES = 4_000_000


def neighbor_similarity(space: Space, queries: Ints, k: int) -> Sparse:
    """Return similarities exp(-d^2 / s^2) of the k nearest rows, with s their median distance."""
    n = space.n
    k = min(k, n - 1)
    columns, weight = (
        np.empty((len(queries), k + 1), dtype=np.int64),
        np.ones((len(queries), k + 1)),
    )
    step = max(1, _BLOCK_ENTRIES // max(n, 1))
    for start in range(0, len(queries) if k else 0, step):
        block = slice(start, min(start + step, len(queries)))
        D = space.between(queries[block])
        D[np.arange(len(D)), queries[block]] = np.inf
        nearest = nearest_columns(D, k)
        squared = np.take_along_axis(D, nearest, axis=1)
        median = np.median(squared, axis=1, keepdims=True)
        columns[block, 1:] = nearest
        weight[block, 1:] = np.exp(-squared / np.where(median > 0, median, 1.0))
    columns[:, 0] = queries
    rows = np.repeat(np.arange(len(queries)), k + 1)
    return sp.csr_array((weight.ravel(), (rows, columns.ravel())), shape=(len(queries), n))


def link_probability(together: Floats, apart: Floats, base: float) -> Floats:
    """Return the probability that pairs belong together, from the votes of similar pairs.

    The mean of a Beta distribution whose prior has mean `base` and the weight of one vote.
    """
    return np.asarray((together + base) / (together + apart + 1.0))


def tie_closeness(distances: Floats, between: Floats) -> Floats:
    """Return how close two distances are to a tie, 0 to 1."""
    low, high = distances.min(axis=1), distances.max(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        tie = np.where(high > 0, low / high, 0.0) ** 4
        opposition = np.where(high > 0, np.minimum(between / (low + high), 1.0), 0.0)
    return np.asarray(tie * opposition)


def choose_diverse(
    gain: Floats,
    items: Sequence[Sequence[int] | Ints] | Ints,
    groups: Sequence[Sequence[int] | Ints] | Ints,
    n: int,
) -> Ints:
    """Choose the best candidates from different regions of the data."""
    order = [
        int(candidate) for candidate in np.argsort(-gain, kind="stable") if gain[candidate] > 0
    ]
    chosen: list[int] = []
    used: set[int] = set()
    for parts in (groups, items):
        for candidate in order:
            if len(chosen) == n:
                break
            members = {int(part) for part in parts[candidate]}
            if used.isdisjoint(members):
                chosen.append(candidate)
                used |= members
        used = {int(part) for candidate in chosen for part in items[candidate]}
    return np.array(chosen, dtype=np.int64)
