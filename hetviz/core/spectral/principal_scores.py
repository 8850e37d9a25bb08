"""Scores of rows on the leading principal components of features or of a kernel."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from hetviz._types import Array, Floats, Matrix
from hetviz.core.arrays import as_dense
from hetviz.core.spectral.eigen import (
    axis_signs,
    largest_dense,
    largest_iterated,
    seeded_start,
    symmetric_operator,
)

MAX_DIRECT_SIZE = 600
_MIN_RELATIVE_VARIANCE = 1e-10


def principal_scores(X: Matrix, max_axes: int, random_state: int = 0) -> Floats:
    """Return the centred scores of rows on their leading principal axes: X A with A'A = I.

    O(n p^2 + p^3) up to 600 columns or rows, O(nnz) for each of about 100 steps above. Sparse
    features stay sparse.
    """
    n, p = X.shape
    centre = np.asarray(X.mean(axis=0), dtype=np.float64).ravel()
    k = min(max_axes, n - 1, p)
    if k < 1:
        return np.zeros((n, 0))
    if p <= MAX_DIRECT_SIZE:
        C = as_dense(X.T @ X) - n * np.multiply.outer(centre, centre)
        values, A = largest_dense(C, k)
        return _axes_with_variance(np.asarray(X @ A - centre @ A, dtype=np.float64), values)
    if n <= MAX_DIRECT_SIZE:
        G = as_dense(X @ X.T)
        return _gram_scores(G, k, random_state)

    def gram(y: Array) -> Floats:
        z = np.asarray(X.T @ (y - y.mean()))
        out = np.asarray(X @ z)
        return np.asarray(out - out.mean())

    return _operator_scores(gram, n, k, random_state)


def kernel_principal_scores(K: Array, max_axes: int, random_state: int = 0) -> Floats:
    """Return the scores on the leading axes of a centred kernel: rows of U sqrt(l), shape (n, k).

    For minus half the squared distances instead of a kernel this is classical scaling.
    """
    return _gram_scores(K, min(max_axes, len(K) - 1), random_state)


def _gram_scores(G: Array, k: int, random_state: int) -> Floats:
    n = len(G)
    if k < 1:
        return np.zeros((n, 0))
    if n <= MAX_DIRECT_SIZE:
        centred = G - G.mean(axis=0) - G.mean(axis=1)[:, None] + G.mean()
        values, U = largest_dense((centred + centred.T) / 2, k)
        return _axes_with_variance(U * np.sqrt(np.maximum(values, 0.0)), values)

    def gram(y: Array) -> Floats:
        out = np.asarray(G @ (y - y.mean()))
        return np.asarray(out - out.mean())

    return _operator_scores(gram, n, k, random_state)


def _operator_scores(gram: Callable[[Array], Floats], n: int, k: int, random_state: int) -> Floats:
    v0 = seeded_start(n, random_state)
    values, U = largest_iterated(symmetric_operator(n, gram), k, v0 - v0.mean(), tol=1e-4)
    return _axes_with_variance(U * np.sqrt(np.maximum(values, 0.0)), values)


def _axes_with_variance(scores: Floats, values: Floats) -> Floats:
    """Return the axes with variance, widest first, with a positive largest entry."""
    scores = scores[:, values > _MIN_RELATIVE_VARIANCE * max(float(values.max()), 0.0)]
    return scores * axis_signs(scores) if scores.shape[1] else scores
