"""Nearest neighbours, and how well a map keeps them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from hetviz._types import Floats, Ints, Matrix, is_sparse

Rows = Callable[[Ints], Floats]
"""Given row numbers (q,), return their dissimilarities to all n rows: shape (q, n)."""

EXACT_ROWS = 2_500
SAMPLED_QUERIES = 1_000
_BLOCK_ENTRIES = 4_000_000


@dataclass(frozen=True)
class Preservation:
    """Trustworthiness and continuity, 1 at best, with standard errors.

    Attributes
    ----------
    trustworthiness : float
        Falls when neighbours in the map are far apart in the data (false neighbours).
    continuity : float
        Falls when neighbours in the data are far apart in the map (torn neighbours).
    trustworthiness_error, continuity_error : float
        Standard errors from sampling the queries; 0 when every row was one.
    n_queries, n_neighbors : int
    """

    trustworthiness: float
    continuity: float
    trustworthiness_error: float
    continuity_error: float
    n_queries: int
    n_neighbors: int


def euclidean_rows(X: Any) -> Rows:
    """Serve squared Euclidean distances between the rows of X, (n, d) dense or CSR."""
    if is_sparse(X):
        X = sp.csr_array(X)
        size = np.asarray(X.multiply(X).sum(axis=1)).ravel()
    else:
        X = np.asarray(X, dtype=np.float64)
        X = X - X.mean(axis=0)
        size = np.einsum("ij,ij->i", X, X)

    def rows(queries: Ints) -> Floats:
        product = X[queries] @ X.T
        dense = product.toarray() if is_sparse(product) else product
        return np.asarray(size[queries][:, None] + size[None, :] - 2.0 * dense)

    return rows


def cross_squared_distances(A: Any, B: Any) -> Floats:
    """Return squared distances between the rows of A (m, d) and of B (n, d), dense or CSR.

    Shape (m, n); exactly 0 where two rows are equal. O(m n d).
    """
    if is_sparse(A) or is_sparse(B):
        A, B = sp.csr_array(A), sp.csr_array(B)
        sizes = [np.asarray(M.multiply(M).sum(axis=1)).ravel() for M in (A, B)]
        D = np.add.outer(*sizes) - 2.0 * (A @ B.T).toarray()
    else:
        centre = np.asarray(B, dtype=np.float64).mean(axis=0)
        A, B = A - centre, B - centre
        sizes = [np.einsum("ij,ij->i", M, M) for M in (A, B)]
        D = np.add.outer(*sizes) - 2.0 * (A @ B.T)
    # cancellation leaves a trace of rounding where rows are equal or nearly so
    rows, columns = np.nonzero(np.add.outer(*sizes) * 1e-9 >= D)
    for i, j in zip(rows, columns, strict=True):
        difference = A[[i]] - B[[j]]
        D[i, j] = (difference.multiply(difference) if is_sparse(A) else difference**2).sum()
    return np.asarray(np.maximum(D, 0.0))


def distance_rows(D: Any) -> Rows:
    """Serve the rows of a distance matrix (n, n)."""
    return lambda queries: np.asarray(D[queries], dtype=np.float64)


def kernel_rows(K: Any) -> Rows:
    """Serve squared distances in the feature space of a kernel matrix (n, n)."""
    size = np.asarray(K.diagonal(), dtype=np.float64)
    return lambda queries: size[queries][:, None] + size[None, :] - 2.0 * np.asarray(K[queries])


def preservation(
    original: Rows,
    Y: Floats,
    *,
    n_neighbors: int = 10,
    max_rows: int = EXACT_ROWS,
    n_queries: int = SAMPLED_QUERIES,
    random_state: int = 0,
) -> Preservation:
    """Measure how well the neighbourhoods of the data survive in a map.

    Parameters
    ----------
    original : callable
        Dissimilarities in the data, from `euclidean_rows`, `distance_rows` or `kernel_rows`.
    Y : ndarray of shape (n, k)
        Positions; rows with NaN have none and are left out on both sides.
    n_neighbors : int
        Lowered where fewer than twice as many rows are placed.
    max_rows : int
        Up to this many placed rows each is a query; above it a seeded sample of `n_queries`.

    Returns
    -------
    Preservation
        All NaN with fewer than 4 placed rows.

    Notes
    -----
    Of Venna and Kaski (2001). O(q n (d + k)) time for q queries, in row blocks: the n x n
    matrix is never formed.
    """
    placed = np.flatnonzero(np.isfinite(Y).all(axis=1))
    n = len(placed)
    k = min(n_neighbors, (n - 1) // 2)
    if k < 1 or n < 4:
        nan = float("nan")
        return Preservation(nan, nan, nan, nan, 0, max(k, 0))
    queries = np.arange(n)
    if n > max_rows:
        chosen = np.random.default_rng(random_state).choice(n, n_queries, replace=False)
        queries = np.sort(chosen)
    mapped = euclidean_rows(Y[placed])
    false, torn = [], []
    step = max(1, _BLOCK_ENTRIES // n)
    for start in range(0, len(queries), step):
        block = queries[start : start + step]
        D = original(placed[block])[:, placed]
        E = mapped(block)
        for distances in (D, E):
            distances[np.arange(len(block)), block] = np.inf
        false.append(_excess_ranks(D, nearest_columns(E, k), k))
        torn.append(_excess_ranks(E, nearest_columns(D, k), k))
    worst = k * (2 * n - 3 * k - 1) / 2
    trust = 1.0 - np.concatenate(false) / worst
    continuity = 1.0 - np.concatenate(torn) / worst
    return Preservation(
        float(trust.mean()),
        float(continuity.mean()),
        _standard_error(trust, n),
        _standard_error(continuity, n),
        len(queries),
        k,
    )


def nearest_columns(D: Floats, k: int) -> Ints:
    """Return the columns of the k smallest entries of each row, nearest first."""
    part = np.argpartition(D, k - 1, axis=1)[:, :k]
    order = np.argsort(np.take_along_axis(D, part, axis=1), axis=1, kind="stable")
    return np.take_along_axis(part, order, axis=1)


def _excess_ranks(D: Floats, neighbors: Ints, k: int) -> Floats:
    """Sum over each row's `neighbors` of how far their rank in D lies beyond k."""
    thresholds = np.take_along_axis(D, neighbors, axis=1)
    excess = np.zeros(len(D))
    for threshold in thresholds.T:
        rank = 1 + (threshold[:, None] > D).sum(axis=1)
        excess += np.maximum(rank - k, 0)
    return excess


def _standard_error(values: Floats, n: int) -> float:
    q = len(values)
    return float(values.std(ddof=1) * np.sqrt((1.0 - q / n) / q)) if q < n else 0.0


@dataclass(frozen=True, eq=False)
class Neighbors:
    """The nearest rows of each row, itself left out.

    Attributes
    ----------
    index : ndarray of shape (n, k)
        Nearest first.
    squared : ndarray of shape (n, k)
        Squared distances, 0 or more.
    """

    index: Ints
    squared: Floats


def nearest_neighbors(
    squared: Rows, n: int, k: int, progress: Callable[[float], object] = lambda share: None
) -> Neighbors:
    """Find the k nearest of n rows for each of them, exactly.

    Parameters
    ----------
    squared : callable
        Squared distances of some rows to all, as from `euclidean_rows` or `kernel_rows`.
    n, k : int
        1 <= k < n.
    progress : callable
        Gets the share done after each block.

    Notes
    -----
    O(n^2 d) time in row blocks of bounded memory. For features of more than 60,000 rows
    `approximate_neighbors` takes over.
    """
    index = np.empty((n, k), dtype=np.int64)
    found = np.empty((n, k))
    step = max(1, _BLOCK_ENTRIES // n)
    for start in range(0, n, step):
        queries = np.arange(start, min(start + step, n))
        D = squared(queries)
        D[np.arange(len(queries)), queries] = np.inf
        index[queries] = nearest_columns(D, k)
        found[queries] = np.take_along_axis(D, index[queries], axis=1)
        progress(float(queries[-1] + 1) / n)
    return Neighbors(index, np.maximum(found, 0.0))


def approximate_neighbors(X: Matrix, k: int, random_state: int = 0) -> Neighbors:
    """Find about the k nearest of each row of features, by nearest-neighbour descent.

    Parameters
    ----------
    X : ndarray or csr of shape (n, d)
    k : int
    random_state : int

    Notes
    -----
    Of Dong, Moses and Li (2011), by pynndescent, on one thread: on more it finds others. About
    O(n^1.2 d) time.
    """
    from pynndescent import NNDescent

    search = NNDescent(
        X, n_neighbors=k + 1, metric="euclidean", random_state=random_state, n_jobs=1
    )
    index, distance = search.neighbor_graph
    n = index.shape[0]
    # a row is most often its own nearest, but not where others are equal to it
    itself = index == np.arange(n)[:, None]
    itself[~itself.any(axis=1), -1] = True
    return Neighbors(
        index[~itself].reshape(n, k).astype(np.int64),
        distance[~itself].reshape(n, k).astype(np.float64) ** 2,
    )
