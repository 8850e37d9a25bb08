"""Active learning: uncertain items that represent many other uncertain ones.

    u_j = 1 - (p_j1 - p_j2)                          uncertainty of the label of j
    F(A) = sum_j u_j max_{i in A} s_ij               uncertainty covered by labels of A

Items are chosen one by one, each with the largest gain of F. So questions concern regions of
uncertain items, and no two questions concern the same region.
"""

from __future__ import annotations

import warnings

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from hetviz._types import Bools, Floats, Ints, Sparse
from hetviz.core.graph.distances import FeatureSpace
from hetviz.core.graph.neighbors import nearest_neighbors, neighbors_by_cells
from hetviz.core.spectral.joint_axes import unit

N_NEIGHBORS = 15
"""Number of items that a label represents."""
_C = 1.0
_MAX_EXACT_ROWS = 30_000


def class_probabilities(Z: Floats, y: Ints, n_classes: int) -> Floats:
    """Return the class probabilities of all items, from those with a known class."""
    X = unit(Z) * np.sqrt(Z.shape[1])
    labelled = np.flatnonzero(y >= 0)
    model = LogisticRegression(C=_C, max_iter=200)
    with warnings.catch_warnings():
        # Probabilities near the optimum are good enough.
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X[labelled], y[labelled])
    P = np.zeros((len(Z), n_classes))
    P[:, model.classes_] = model.predict_proba(X)
    return P


def label_uncertainty(P: Floats) -> Floats:
    """Return the uncertainty of each row's class, (n,): 1 minus the lead of the likeliest class."""
    top = np.partition(P, -2, axis=1)
    return np.asarray(1.0 - (top[:, -1] - top[:, -2]))


def neighbor_similarity(Z: Floats, k: int = N_NEIGHBORS, random_state: int = 0) -> Sparse:
    """Return the similarity of items by direction: csr (n, n), symmetric, 1 on the diagonal.

    exp(-d^2 / s_i^2) for the k nearest directions of i, with s_i their median distance; the larger
    one of i to j and j to i. Above 30,000 items the search is approximate.
    """
    U = unit(Z)
    n = len(U)
    k = min(k, n - 1)
    if k < 1:
        return sp.csr_array(sp.eye_array(n))
    neighbors = (
        neighbors_by_cells(U, k, random_state)
        if n > _MAX_EXACT_ROWS
        else nearest_neighbors(FeatureSpace(U), k)
    )
    squared = neighbors.squared
    median = np.median(squared, axis=1, keepdims=True)
    weight = np.exp(-squared / np.where(median > 0, median, 1.0))
    rows = np.repeat(np.arange(n), k)
    S = sp.csr_array((weight.ravel(), (rows, neighbors.index.ravel())), shape=(n, n))
    return sp.csr_array(S.maximum(S.T).maximum(sp.eye_array(n)))


def choose_informative(
    S: Sparse, uncertainty: Floats, labelled: Ints, allowed: Bools, n: int
) -> tuple[Ints, Floats]:
    """Return the items whose labels would cover most uncertainty, and the gain of each.

    F is submodular, so the greedy choice reaches 1 - 1/e of the maximum (Nemhauser, Wolsey and
    Fisher 1978); as a criterion of active learning see Wei, Iyer and Bilmes 2015. O(n nnz(S)).
    """
    covered = np.zeros(S.shape[0])
    if len(labelled):
        covered = np.asarray(S[labelled].max(axis=0).todense()).ravel().astype(np.float64)
    allowed = allowed.copy()
    allowed[labelled] = False
    row = np.repeat(np.arange(S.shape[0]), np.diff(S.indptr))
    chosen: list[int] = []
    gains: list[float] = []
    for _ in range(n):
        new_cover = np.maximum(S.data - covered[S.indices], 0.0) * uncertainty[S.indices]
        gain = np.where(allowed, np.bincount(row, new_cover, S.shape[0]), 0.0)
        best = int(gain.argmax()) if len(gain) else 0
        if not len(gain) or gain[best] <= 0.0:
            break
        chosen.append(best)
        gains.append(float(gain[best]))
        allowed[best] = False
        part = slice(S.indptr[best], S.indptr[best + 1])
        covered_now = S.indices[part]
        covered[covered_now] = np.maximum(covered[covered_now], S.data[part])
    return np.array(chosen, dtype=np.int64), np.array(gains)
