"""Leading principal components of features or of a kernel: scores of the rows alone."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg import eigh
from scipy.sparse.linalg import LinearOperator, eigsh

from hetviz._types import Array, Floats, Matrix
from hetviz.core.spectral.blocks import as_dense

DIRECT = 600
_SMALLEST = 1e-10


def leading_scores(X: Matrix, most: int, random_state: int = 0) -> Floats:
    """Return rows along their leading principal axes, centred: X A with A'A = I.

    Parameters
    ----------
    X : ndarray or csr of shape (n, p)
    most : int
        Axes at most; those along which nothing varies are left out.
    random_state : int
        Seeds the start vector of the iterative solver, which is used above 600 rows and columns.

    Returns
    -------
    ndarray of shape (n, k)

    Notes
    -----
    O(n p^2 + p^3) to 600 columns, or rows, O(nnz) for each of some 100 steps above. Sparse features
    stay sparse.
    """
    n, p = X.shape
    centre = np.asarray(X.mean(axis=0), dtype=np.float64).ravel()
    k = min(most, n - 1, p)
    if k < 1:
        return np.zeros((n, 0))
    if p <= DIRECT:
        C = as_dense(X.T @ X) - n * np.multiply.outer(centre, centre)
        values, A = eigh(C, subset_by_index=[p - k, p - 1])
        return _kept(np.asarray(X @ A - centre @ A, dtype=np.float64), values)
    if n <= DIRECT:
        G = as_dense(X @ X.T)
        return _of_gram(G, k, random_state)

    def gram(y: Array) -> Floats:
        z = np.asarray(X.T @ (y - y.mean()))
        out = np.asarray(X @ z)
        return np.asarray(out - out.mean())

    return _of_operator(gram, n, k, random_state)


def leading_scores_of_kernel(K: Array, most: int, random_state: int = 0) -> Floats:
    """Return the leading axes of a kernel after centring: rows of U sqrt(l), shape (n, k).

    Negative half squared distances in place of the kernel give classical scaling.
    """
    return _of_gram(K, min(most, len(K) - 1), random_state)


def _of_gram(G: Array, k: int, random_state: int) -> Floats:
    n = len(G)
    if k < 1:
        return np.zeros((n, 0))
    if n <= DIRECT:
        centred = G - G.mean(axis=0) - G.mean(axis=1)[:, None] + G.mean()
        values, U = eigh((centred + centred.T) / 2, subset_by_index=[n - k, n - 1])
        return _kept(U * np.sqrt(np.maximum(values, 0.0)), values)

    def gram(y: Array) -> Floats:
        out = np.asarray(G @ (y - y.mean()))
        return np.asarray(out - out.mean())

    return _of_operator(gram, n, k, random_state)


def _of_operator(gram: Callable[[Array], Floats], n: int, k: int, random_state: int) -> Floats:
    operator = LinearOperator((n, n), matvec=lambda y: gram(y.ravel()), dtype=float)
    v0 = np.random.default_rng(random_state).standard_normal(n)
    values, U = eigsh(operator, k=k, which="LA", v0=v0 - v0.mean(), tol=1e-4)
    return _kept(U * np.sqrt(np.maximum(values, 0.0)), values)


def _kept(scores: Floats, values: Floats) -> Floats:
    """Return the axes along which something varies, the widest first, largest entries positive."""
    order = np.argsort(-values, kind="stable")
    order = order[values[order] > _SMALLEST * max(float(values.max()), 0.0)]
    scores = scores[:, order]
    if not scores.shape[1]:
        return scores
    largest = scores[np.abs(scores).argmax(axis=0), np.arange(scores.shape[1])]
    return np.asarray(scores * np.where(largest < 0, -1.0, 1.0))
