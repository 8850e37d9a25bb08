"""Graphs of nearest neighbours, as the weights of a projection that keeps neighbours together."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp

from hetviz._types import Matrix, Sparse
from hetviz.core.graph.neighbors import approximate_neighbors, euclidean_rows, nearest_neighbors

EXACT_ROWS = 60_000
"""Up to this many rows every two are compared."""


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
    if n > EXACT_ROWS:
        found = approximate_neighbors(X, k, random_state)
    else:
        found = nearest_neighbors(euclidean_rows(X), n, k, progress)
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
