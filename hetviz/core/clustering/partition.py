"""Points in groups: k-means, agglomerative, HDBSCAN; at bounded cost, in whatever order."""

from __future__ import annotations

import warnings

import numpy as np

from hetviz._types import Floats, Ints
from hetviz.core.threads import one_thread

METHODS = ("k-means", "hdbscan", "agglomerative")
NONE = -1

# Ward's linkage keeps all distances; HDBSCAN may look at all of them.
MOST_PAIRED = 8_000
MOST_FITTED = 20_000
LEAST_SIZE = 5
_SIZES = 12


def partition(
    X: Floats, method: str, size: int, random_state: int = 0, *, half: bool = False
) -> Ints:
    """Put points into groups.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Finite.
    method : {"k-means", "hdbscan", "agglomerative"}
    size : int
        How many groups, never more than there are different points; for HDBSCAN the fewest points
        that make a group.
    random_state : int
    half : bool
        The points are half of those that `size` is meant for; k-means then has fewer starts.

    Returns
    -------
    ndarray of int, shape (n,)
        Group of each point, the largest group first, equal ones by the place of their middle; -1
        where HDBSCAN leaves a point out. The same groups in whatever order the points come, and
        equal points are in one group.

    Notes
    -----
    k-means++ (Arthur and Vassilvitskii 2007) with ten starts, fitted to 20,000 points; Ward's
    linkage (1963) and HDBSCAN (Campello, Moulavi and Sander 2013) to 8,000. Other points join the
    group of the nearest point that was fitted.
    """
    n = len(X)
    if n == 0:
        return np.zeros(0, dtype=np.int64)
    order = canonical(X)
    P = np.asarray(X[order], dtype=np.float64)
    # Equal points are neighbours now: one number for each different one.
    place = np.concatenate([[0], np.cumsum((P[1:] != P[:-1]).any(axis=1))])
    n_different = int(place[-1]) + 1
    if n_different == 1 or (method != "hdbscan" and size < 2):
        return np.zeros(n, dtype=np.int64)
    most = MOST_FITTED if method == "k-means" else MOST_PAIRED
    fitted = np.arange(n)
    if n > most:
        fitted = np.sort(np.random.default_rng(random_state).choice(n, most, replace=False))
    code = _fit(P[fitted], method, size, random_state, half)
    if n > most:
        code = nearest_code(P[fitted], code, P)
    code = by_size(P, _one_code(code, place))
    out = np.empty(n, dtype=np.int64)
    out[order] = code
    return out


def canonical(X: Floats) -> Ints:
    """Return the rows in an order of their own, whatever order they come in."""
    return np.asarray(np.lexsort(X.T[::-1]), dtype=np.int64)


def group_sizes(n: int) -> list[int]:
    """Return smallest sizes of a group that are worth trying with HDBSCAN for n points."""
    sizes = np.geomspace(LEAST_SIZE, max(n // 6, LEAST_SIZE), _SIZES)
    return [int(size) for size in np.unique(sizes.round())]


def _one_code(code: Ints, place: Ints) -> Ints:
    """Give equal points the code of the first of them, which Ward's ties could break."""
    _, first = np.unique(place, return_index=True)
    return np.asarray(code[first][place])


def _fit(P: Floats, method: str, size: int, random_state: int, half: bool) -> Ints:
    from sklearn.cluster import HDBSCAN, AgglomerativeClustering, KMeans
    from sklearn.exceptions import ConvergenceWarning

    model: HDBSCAN | AgglomerativeClustering | KMeans
    if method == "hdbscan":
        if len(P) < 2 * LEAST_SIZE:
            return np.full(len(P), NONE)
        # Half of the points lie half as dense.
        near, least = (3, max(3, size // 2)) if half else (LEAST_SIZE, max(LEAST_SIZE, size))
        model = HDBSCAN(min_cluster_size=min(least, len(P)), min_samples=near, copy=True)
    elif method == "agglomerative":
        model = AgglomerativeClustering(n_clusters=min(size, len(P)))
    else:
        k = min(size, len(np.unique(P, axis=0)))
        model = KMeans(n_clusters=k, n_init=3 if half else 10, random_state=random_state)
    with one_thread(), warnings.catch_warnings():
        # Points that differ by rounding alone leave a group empty, which is as good.
        warnings.simplefilter("ignore", ConvergenceWarning)
        return np.maximum(np.asarray(model.fit_predict(P), dtype=np.int64), NONE)


def nearest_code(P: Floats, code: Ints, X: Floats) -> Ints:
    """Return for each row of X (n, d) the code of the nearest row of P (m, d)."""
    from scipy.spatial import cKDTree

    _, nearest = cKDTree(P).query(X)
    return np.asarray(code[nearest], dtype=np.int64)


def by_size(X: Floats, code: Ints) -> Ints:
    """Give groups new numbers: the largest is 0, equal ones by their middle; -1 stays."""
    known = np.unique(code[code >= 0])
    middles = [X[code == one].mean(axis=0).round(9).tolist() for one in known]
    sizes = [int((code == one).sum()) for one in known]
    order = sorted(range(len(known)), key=lambda at: (-sizes[at], middles[at]))
    out = np.full(len(code), NONE)
    for number, at in enumerate(order):
        out[code == known[at]] = number
    return out


# A few typical rows that stand for many.


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
