"""Whose label to ask for next: items that are in doubt themselves and like many others that are.

    u_j = 1 - (p_j1 - p_j2)                          how open the label of j is
    F(A) = sum_j u_j max_{i in A} s_ij               how well labels of A speak for what is open

The next items are chosen one by one, each the one that adds most to F. What is asked thereby lies
amid items in doubt, and no two questions are about the same of them.
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

NEIGHBOURS = 15
"""So many items each label is taken to speak for."""
_C = 1.0
_MANY = 30_000


def class_chances(Z: Floats, y: Ints, n_classes: int) -> Floats:
    """Return how likely each item is to be of each class, by those of which it is known.

    Parameters
    ----------
    Z : ndarray of shape (n, k)
        Axes of the items, of which directions count.
    y : ndarray of int, shape (n,)
        Classes by number, -1 where unknown; two classes or more are known of some.
    n_classes : int

    Returns
    -------
    ndarray of shape (n, n_classes)
        Rows of sum 1, by a logistic regression; 0 for classes of which nothing is known.

    Notes
    -----
    O(known k n_classes) a step, then O(n k n_classes).
    """
    X = unit(Z) * np.sqrt(Z.shape[1])
    known = np.flatnonzero(y >= 0)
    model = LogisticRegression(C=_C, max_iter=200)
    with warnings.catch_warnings():
        # Chances that are nearly those of the optimum serve as well.
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X[known], y[known])
    P = np.zeros((len(Z), n_classes))
    P[:, model.classes_] = model.predict_proba(X)
    return P


def openness(P: Floats) -> Floats:
    """Return how open each row's class is, (n,): 1 less the lead of the likeliest class.

    P is of shape (n, 2 or more).
    """
    top = np.partition(P, -2, axis=1)
    return np.asarray(1.0 - (top[:, -1] - top[:, -2]))


def neighbour_likeness(Z: Floats, k: int = NEIGHBOURS, random_state: int = 0) -> Sparse:
    """Return how far the label of an item speaks for others: csr (n, n), symmetric, 1 with itself.

    exp(-d^2 / s_i^2) of the directions of the k nearest of i, s_i the distance of their middle one;
    of i to j and j to i the larger. Above 30,000 items the nearest are looked for in cells.
    """
    U = unit(Z)
    n = len(U)
    k = min(k, n - 1)
    if k < 1:
        return sp.csr_array(sp.eye_array(n))
    near = (
        neighbors_by_cells(U, k, random_state)
        if n > _MANY
        else nearest_neighbors(FeatureSpace(U), k)
    )
    squared = near.squared
    middle = np.median(squared, axis=1, keepdims=True)
    weight = np.exp(-squared / np.where(middle > 0, middle, 1.0))
    rows = np.repeat(np.arange(n), k)
    S = sp.csr_array((weight.ravel(), (rows, near.index.ravel())), shape=(n, n))
    return sp.csr_array(S.maximum(S.T).maximum(sp.eye_array(n)))


def most_telling(
    S: Sparse, open_: Floats, known: Ints, allowed: Bools, n: int
) -> tuple[Ints, Floats]:
    """Return the items whose labels would speak for most of what is open, and how much each adds.

    Parameters
    ----------
    S : csr of shape (n_items, n_items)
        How far the label of i speaks for j, from 0 to 1.
    open_ : ndarray of shape (n_items,)
        How open the label of each is, 0 or more.
    known : ndarray of int
        Items whose labels are known: what these speak for is covered.
    allowed : ndarray of bool, shape (n_items,)
        Which may be chosen.
    n : int

    Returns
    -------
    chosen, gain : ndarray of at most n positions, and of as many numbers
        Best first; none that adds nothing.

    Notes
    -----
    F is submodular, so that choosing one by one reaches 1 - 1/e of the largest F (Nemhauser, Wolsey
    and Fisher 1978); as a criterion of active learning: Wei, Iyer and Bilmes 2015. O(n stored).
    """
    covered = np.zeros(S.shape[0])
    if len(known):
        covered = np.asarray(S[known].max(axis=0).todense()).ravel().astype(np.float64)
    allowed = allowed.copy()
    allowed[known] = False
    row = np.repeat(np.arange(S.shape[0]), np.diff(S.indptr))
    chosen: list[int] = []
    gains: list[float] = []
    for _ in range(n):
        more = np.maximum(S.data - covered[S.indices], 0.0) * open_[S.indices]
        gain = np.where(allowed, np.bincount(row, more, S.shape[0]), 0.0)
        best = int(gain.argmax()) if len(gain) else 0
        if not len(gain) or gain[best] <= 0.0:
            break
        chosen.append(best)
        gains.append(float(gain[best]))
        allowed[best] = False
        part = slice(S.indptr[best], S.indptr[best + 1])
        at = S.indices[part]
        covered[at] = np.maximum(covered[at], S.data[part])
    return np.array(chosen, dtype=np.int64), np.array(gains)
