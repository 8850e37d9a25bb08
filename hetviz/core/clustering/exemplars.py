"""A few typical rows that stand for many."""

from __future__ import annotations

import numpy as np

from hetviz._types import Floats, Ints

_PASSES = 5


def exemplars(X: Floats, k: int) -> Ints:
    """Choose rows that are typical and spread: medoids of groups begun at far rows.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Finite.
    k : int
        How many; at least 1. Fewer come back only where there are fewer rows.

    Returns
    -------
    ndarray of int, shape (min(k, n),)
        Rows in order. The same rows for the same X.

    Notes
    -----
    The first is the row nearest the mean, each next one the row farthest from those before
    (Gonzalez 1985). Then, five times, every row joins its nearest exemplar, and the row nearest
    to the mean of such a group takes its place, so that outliers do not stay. O(n k d).
    """
    n = len(X)
    if k >= n:
        return np.arange(n)
    centred = X - X.mean(axis=0)
    chosen = [int(np.argmin((centred**2).sum(axis=1)))]
    nearest = _squared(X, X[chosen[0]])
    while len(chosen) < k:
        # equal rows are all at distance 0: any row that is left will do
        nearest[chosen] = -1.0
        chosen.append(int(np.argmax(nearest)))
        nearest = np.minimum(np.maximum(nearest, 0.0), _squared(X, X[chosen[-1]]))
    found = np.array(chosen)
    for _ in range(_PASSES):
        before = found.copy()
        group = np.argmin([_squared(X, X[row]) for row in found], axis=0)
        # equal rows may leave an exemplar without its own group
        group[found] = np.arange(k)
        for number in range(k):
            members = np.flatnonzero(group == number)
            middle = X[members].mean(axis=0)
            found[number] = members[np.argmin(_squared(X[members], middle))]
        if np.array_equal(found, before):
            break
    return np.sort(found)


def _squared(X: Floats, point: Floats) -> Floats:
    return np.asarray(((X - point) ** 2).sum(axis=1))
