"""The nearest rows of each row, and graphs that join them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from hetviz._types import Floats, Ints, Matrix, Sparse
from hetviz.core.graph.distances import FeatureSpace, Space, cross_squared_distances

EXACT_ROWS = 60_000
"""Features of up to this many rows are compared two by two; of more, searched approximately."""
_BLOCK_ENTRIES = 4_000_000
_LONG_ROW, _FEW = 4_096, 0.1


def nearest_columns(D: Floats, k: int) -> Ints:
    """Return the columns of the k smallest entries of each row, nearest first."""
    if D.shape[1] < _LONG_ROW or k > _FEW * D.shape[1]:
        part = np.argpartition(D, k - 1, axis=1)[:, :k]
    else:
        # It loads the compiler, which takes longer than many short rows.
        from hetviz.core.graph.selection import smallest

        part = np.empty((len(D), k), dtype=np.int64)
        smallest(D, part, np.empty(k, dtype=D.dtype))
        part.sort(axis=1)
    order = np.argsort(np.take_along_axis(D, part, axis=1), axis=1, kind="stable")
    return np.take_along_axis(part, order, axis=1)


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
    space: Space, k: int, progress: Callable[[float], object] = lambda share: None
) -> Neighbors:
    """Find the k nearest rows of each row, exactly.

    Parameters
    ----------
    space : Space
        Of n rows.
    k : int
        1 <= k < n.
    progress : callable
        Gets the share done after each block.

    Notes
    -----
    O(n^2 d) time in row blocks of bounded memory.
    """
    n = space.n
    index = np.empty((n, k), dtype=np.int64)
    found = np.empty((n, k))
    step = max(1, _BLOCK_ENTRIES // n)
    for start in range(0, n, step):
        queries = np.arange(start, min(start + step, n))
        D = space.between(queries)
        D[np.arange(len(queries)), queries] = np.inf
        index[queries] = nearest_columns(D, k)
        found[queries] = np.take_along_axis(D, index[queries], axis=1)
        progress(float(queries[-1] + 1) / n)
    return Neighbors(index, found)


def cross_neighbors(A: Floats, B: Floats, k: int) -> Neighbors:
    """Find the k nearest rows of B for each row of A, exactly: shapes (m, k)."""
    index = np.empty((len(A), k), dtype=np.int64)
    found = np.empty((len(A), k))
    step = max(1, _BLOCK_ENTRIES // max(len(B), 1))
    for start in range(0, len(A), step):
        part = slice(start, start + step)
        D = cross_squared_distances(A[part], B)
        index[part] = nearest_columns(D, k) if k < len(B) else np.argsort(D, axis=1, kind="stable")
        found[part] = np.take_along_axis(D, index[part], axis=1)
    return Neighbors(index, found)


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


def feature_neighbors(
    X: Matrix,
    k: int,
    random_state: int = 0,
    progress: Callable[[float], object] = lambda share: None,
) -> Neighbors:
    """Find the k nearest rows of each row of features: exactly to 60,000 rows, about so above."""
    if X.shape[0] > EXACT_ROWS:
        return approximate_neighbors(X, k, random_state)
    return nearest_neighbors(FeatureSpace(X), k, progress)


def neighbor_graph(
    X: Matrix,
    n_neighbors: int,
    *,
    heat: bool = True,
    random_state: int = 0,
    progress: Callable[[float], object] = lambda share: None,
) -> Sparse:
    """Join every row with its nearest rows.

    Parameters
    ----------
    X : ndarray or csr of shape (n, d)
    n_neighbors : int
        Lowered to n - 1 where there are fewer rows.
    heat : bool
        Weigh an edge exp(-|x_i - x_j|^2 / (2 s^2)), s the median distance of a row to its furthest
        neighbour; else every edge weighs 1.
    random_state : int
        Seeds the search above 60,000 rows.
    progress : callable
        Gets the share done.

    Returns
    -------
    csr_array of shape (n, n)
        Symmetric: i and j are joined when either is a nearest neighbour of the other. No diagonal.

    Notes
    -----
    O(n^2 d) time in blocks of bounded memory; above 60,000 rows about O(n^1.2 d), and a few of the
    nearest may be missed.
    """
    n = X.shape[0]
    k = min(n_neighbors, n - 1)
    if k < 1:
        return sp.csr_array((n, n))
    found = feature_neighbors(X, k, random_state, progress)
    weight = np.ones(found.squared.shape)
    if heat:
        width = float(np.median(found.squared[:, -1]))
        # where most rows have k equals, any other neighbour is far by comparison
        weight = np.exp(-0.5 * found.squared / width) if width > 0 else 1.0 * (found.squared == 0)
    rows = np.repeat(np.arange(n), k)
    A = sp.csr_array((weight.ravel(), (rows, found.index.ravel())), shape=(n, n))
    A = sp.csr_array(A.maximum(A.T))
    A.eliminate_zeros()
    return A
