"""Clustering by k-means, Ward or HDBSCAN, at bounded cost and independent of the row order."""

from __future__ import annotations

import warnings

import numpy as np

from hetviz._types import Floats, Ints
from hetviz.core.threads import one_thread

METHODS = ("k-means", "hdbscan", "agglomerative")
NONE = -1

# Ward's linkage stores all distances; HDBSCAN may compute all of them.
MOST_PAIRED = 8_000
MOST_FITTED = 20_000
LEAST_SIZE = 5
_SIZES = 12


def partition(
    X: Floats, method: str, size: int, random_state: int = 0, *, half: bool = False
) -> Ints:
    """Partition points into groups.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Finite.
    method : {"k-means", "hdbscan", "agglomerative"}
    size : int
        Number of groups, at most the number of distinct points; for HDBSCAN the minimum number of
        points of a group.
    random_state : int
    half : bool
        The points are half of those that `size` refers to; k-means then uses fewer starts.

    Returns
    -------
    ndarray of int, shape (n,)
        Group of each point, the largest group first, equally large ones by their centres; -1 for
        noise points of HDBSCAN. The groups do not depend on the order of the points, and equal
        points are in one group.

    Notes
    -----
    k-means++ (Arthur and Vassilvitskii 2007) with ten starts, fitted to 20,000 points; Ward's
    linkage (1963) and HDBSCAN (Campello, Moulavi and Sander 2013) to 8,000. Other points get the
    group of the nearest fitted point.
    """
    n = len(X)
    if n == 0:
        return np.zeros(0, dtype=np.int64)
    order = canonical(X)
    P = np.asarray(X[order], dtype=np.float64)
    # Equal points are adjacent now: number the distinct ones.
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
    """Return the rows in lexicographic order, independent of their given order."""
    return np.asarray(np.lexsort(X.T[::-1]), dtype=np.int64)


def group_sizes(n: int) -> list[int]:
    """Return minimum group sizes to try with HDBSCAN for n points."""
    sizes = np.geomspace(LEAST_SIZE, max(n // 6, LEAST_SIZE), _SIZES)
    return [int(size) for size in np.unique(sizes.round())]


def _one_code(code: Ints, place: Ints) -> Ints:
    """Give equal points the code of the first of them, because ties in Ward's linkage split them."""
    _, first = np.unique(place, return_index=True)
    return np.asarray(code[first][place])


def _fit(P: Floats, method: str, size: int, random_state: int, half: bool) -> Ints:
    from sklearn.cluster import HDBSCAN, AgglomerativeClustering, KMeans
    from sklearn.exceptions import ConvergenceWarning

    model: HDBSCAN | AgglomerativeClustering | KMeans
    if method == "hdbscan":
        if len(P) < 2 * LEAST_SIZE:
            return np.full(len(P), NONE)
        # Half of the points have half the density.
        near, least = (3, max(3, size // 2)) if half else (LEAST_SIZE, max(LEAST_SIZE, size))
        model = HDBSCAN(min_cluster_size=min(least, len(P)), min_samples=near, copy=True)
    elif method == "agglomerative":
        model = AgglomerativeClustering(n_clusters=min(size, len(P)))
    else:
        k = min(size, len(np.unique(P, axis=0)))
        model = KMeans(n_clusters=k, n_init=3 if half else 10, random_state=random_state)
    with one_thread(), warnings.catch_warnings():
        # Points that differ only by rounding may leave a group empty, which does no harm.
        warnings.simplefilter("ignore", ConvergenceWarning)
        return np.maximum(np.asarray(model.fit_predict(P), dtype=np.int64), NONE)


def nearest_code(P: Floats, code: Ints, X: Floats) -> Ints:
    """Return for each row of X (n, d) the code of the nearest row of P (m, d)."""
    from scipy.spatial import cKDTree

    _, nearest = cKDTree(P).query(X)
    return np.asarray(code[nearest], dtype=np.int64)


def by_size(X: Floats, code: Ints) -> Ints:
    """Renumber groups by size, the largest is 0, equal ones by their centre; -1 does not change."""
    known = np.unique(code[code >= 0])
    middles = [X[code == one].mean(axis=0).round(9).tolist() for one in known]
    sizes = [int((code == one).sum()) for one in known]
    order = sorted(range(len(known)), key=lambda at: (-sizes[at], middles[at]))
    out = np.full(len(code), NONE)
    for number, at in enumerate(order):
        out[code == known[at]] = number
    return out


# Typical rows that represent many.


_PASSES = 5


def exemplars(X: Floats, k: int) -> Ints:
    """Choose typical and diverse rows: medoids of groups that start at distant rows.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Finite.
    k : int
        Number of rows, at least 1.

    Returns
    -------
    ndarray of int, shape (min(k, n),)
        Sorted row numbers; deterministic.

    Notes
    -----
    The first exemplar is the row nearest to the mean, each next one the row farthest from the
    previous ones (Gonzalez 1985). Then, up to five times, every row joins its nearest exemplar, and
    the row nearest to the mean of the group replaces it, so that outliers are dropped. O(n k d).
    """
    n = len(X)
    if k >= n:
        return np.arange(n)
    centred = X - X.mean(axis=0)
    chosen = [int(np.argmin((centred**2).sum(axis=1)))]
    nearest = _squared(X, X[chosen[0]])
    while len(chosen) < k:
        # Equal rows are all at distance 0: take any remaining row.
        nearest[chosen] = -1.0
        chosen.append(int(np.argmax(nearest)))
        nearest = np.minimum(np.maximum(nearest, 0.0), _squared(X, X[chosen[-1]]))
    found = np.array(chosen)
    for _ in range(_PASSES):
        before = found.copy()
        group = np.argmin([_squared(X, X[row]) for row in found], axis=0)
        # Equal rows may leave an exemplar without a group.
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
