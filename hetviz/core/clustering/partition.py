"""Clustering by k-means, Ward or HDBSCAN, at bounded cost and independent of the row order."""

from __future__ import annotations

import warnings

import numpy as np

from hetviz._types import Floats, Ints
from hetviz.core.threads import one_thread

METHODS = ("k-means", "hdbscan", "agglomerative")
NOISE = -1

# Ward's linkage stores all distances; HDBSCAN may compute all of them.
MAX_PAIRED_ROWS = 8_000
MAX_KMEANS_ROWS = 20_000
MAX_START_ROWS = 2_500
MIN_SIZE = 5
_N_SIZES = 12


def partition(
    X: Floats, method: str, size: int, random_state: int = 0, *, half: bool = False
) -> Ints:
    """Partition points into groups.

    `size`: Number of groups, at most the number of distinct points; for HDBSCAN the minimum number
        of points of a group.
    Returns int (n,): Group of each point, the largest group first, equally large ones by their
        centres; -1 for noise points of HDBSCAN. The groups do not depend on the order of the
        points, and equal points are in one group.

    k-means++ (Arthur and Vassilvitskii 2007), the best of ten starts on 2,500 points, then fitted
    to 20,000; Ward's linkage (1963) and HDBSCAN (Campello, Moulavi and Sander 2013) to 8,000. Other
    points get the group of the nearest fitted point.
    """
    n = len(X)
    if n == 0:
        return np.zeros(0, dtype=np.int64)
    order = canonical_order(X)
    P = np.asarray(X[order], dtype=np.float64)
    # Equal points are adjacent now: number the distinct ones.
    distinct_number = np.concatenate([[0], np.cumsum((P[1:] != P[:-1]).any(axis=1))])
    n_different = int(distinct_number[-1]) + 1
    if n_different == 1 or (method != "hdbscan" and size < 2):
        return np.zeros(n, dtype=np.int64)
    max_rows = MAX_KMEANS_ROWS if method == "k-means" else MAX_PAIRED_ROWS
    fitted = np.arange(n)
    if n > max_rows:
        fitted = np.sort(np.random.default_rng(random_state).choice(n, max_rows, replace=False))
    code = _fit(P[fitted], method, size, random_state, half)
    if n > max_rows:
        code = code_of_nearest(P[fitted], code, P)
    code = number_by_size(P, _unify_equal_points(code, distinct_number))
    out = np.empty(n, dtype=np.int64)
    out[order] = code
    return out


def canonical_order(X: Floats) -> Ints:
    """Return the rows in lexicographic order, independent of their given order."""
    return np.asarray(np.lexsort(X.T[::-1]), dtype=np.int64)


def min_sizes_to_try(n: int) -> list[int]:
    """Return minimum group sizes to try with HDBSCAN for n points."""
    sizes = np.geomspace(MIN_SIZE, max(n // 6, MIN_SIZE), _N_SIZES)
    return [int(size) for size in np.unique(sizes.round())]


def _unify_equal_points(code: Ints, place: Ints) -> Ints:
    """Give equal points one code, because ties in Ward's linkage can split them."""
    _, first = np.unique(place, return_index=True)
    return np.asarray(code[first][place])


def _fit(P: Floats, method: str, size: int, random_state: int, half: bool) -> Ints:
    from sklearn.cluster import HDBSCAN, AgglomerativeClustering, KMeans
    from sklearn.exceptions import ConvergenceWarning

    model: HDBSCAN | AgglomerativeClustering | KMeans
    with one_thread(), warnings.catch_warnings():
        # Points that differ only by rounding may leave a group empty, which does no harm.
        warnings.simplefilter("ignore", ConvergenceWarning)
        if method == "hdbscan":
            if len(P) < 2 * MIN_SIZE:
                return np.full(len(P), NOISE)
            # Half of the points have half the density.
            min_samples = 3 if half else MIN_SIZE
            min_size = min(len(P), max(min_samples, size // 2 if half else size))
            model = HDBSCAN(min_cluster_size=min_size, min_samples=min_samples, copy=True)
        elif method == "agglomerative":
            model = AgglomerativeClustering(n_clusters=min(size, len(P)))
        else:
            k = min(size, len(np.unique(P, axis=0)))
            model = KMeans(k, n_init=3 if half else 10, random_state=random_state)
            # The points are sorted, so that evenly spaced ones represent them.
            sample = P[:: -(-len(P) // MAX_START_ROWS)]
            if len(sample) < len(P) and len(np.unique(sample, axis=0)) >= k:
                model = KMeans(k, n_init=1, init=model.fit(sample).cluster_centers_)
        return np.maximum(np.asarray(model.fit_predict(P), dtype=np.int64), NOISE)


def code_of_nearest(P: Floats, code: Ints, X: Floats) -> Ints:
    """Return for each row of X (n, d) the code of the nearest row of P (m, d)."""
    from scipy.spatial import cKDTree

    _, nearest = cKDTree(P).query(X)
    return np.asarray(code[nearest], dtype=np.int64)


def number_by_size(X: Floats, code: Ints) -> Ints:
    """Renumber groups by size, the largest is 0, equal ones by their centre; -1 does not change."""
    codes = np.unique(code[code >= 0])
    middles = [X[code == code_value].mean(axis=0).round(9).tolist() for code_value in codes]
    sizes = [int((code == code_value).sum()) for code_value in codes]
    order = sorted(range(len(codes)), key=lambda at: (-sizes[at], middles[at]))
    out = np.full(len(code), NOISE)
    for number, at in enumerate(order):
        out[code == codes[at]] = number
    return out


# Typical rows that represent many.


_MAX_PASSES = 5


def choose_exemplars(X: Floats, k: int) -> Ints:
    """Choose typical and diverse rows: medoids of groups that start at distant rows.

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
    exemplars = np.array(chosen)
    for _ in range(_MAX_PASSES):
        previous = exemplars.copy()
        group = np.argmin([_squared(X, X[row]) for row in exemplars], axis=0)
        # Equal rows may leave an exemplar without a group.
        group[exemplars] = np.arange(k)
        for number in range(k):
            members = np.flatnonzero(group == number)
            mean = X[members].mean(axis=0)
            exemplars[number] = members[np.argmin(_squared(X[members], mean))]
        if np.array_equal(exemplars, previous):
            break
    return np.sort(exemplars)


def _squared(X: Floats, point: Floats) -> Floats:
    return np.asarray(((X - point) ** 2).sum(axis=1))
