"""Squared distances between rows: of features, a distance matrix, a kernel, or two point sets.

Neighbour search, measures, trust and questions all use these classes.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp

from hetviz._types import Array, Floats, Ints, Matrix, Reals, is_sparse

_BLOCK_ENTRIES = 4_000_000


class Space(Protocol):
    """Squared distances between rows, none below 0."""

    n: int

    def between(self, rows: Ints, columns: Ints | None = None) -> Floats:
        """Return distances from `rows` (q,) to `columns` (c,), or to all rows: shape (q, c)."""
        ...

    def pairs(self, rows: Ints, columns: Ints) -> Floats:
        """Return distances from ``rows[i]`` to ``columns[i]``, both of shape (m,)."""
        ...


class FeatureSpace:
    """Squared Euclidean distances among the rows of X, (n, d) dense or CSR."""

    def __init__(self, X: Matrix) -> None:
        if is_sparse(X):
            self._X: Any = sp.csr_array(X)
            self._size = np.asarray(self._X.multiply(self._X).sum(axis=1)).ravel()
        else:
            X = np.asarray(X, dtype=np.float64)
            # Centred, so that less precision is lost in cancellation.
            self._X = X - X.mean(axis=0)
            self._size = np.einsum("ij,ij->i", self._X, self._X)
        self.n = len(self._size)

    def between(self, rows: Ints, columns: Ints | None = None) -> Floats:
        """Return distances from `rows` (q,) to `columns` (c,), or to all: shape (q, c)."""
        right = slice(None) if columns is None else columns
        product = self._X[rows] @ self._X[right].T
        product = product.toarray() if is_sparse(product) else product
        product *= 2.0
        D = np.add.outer(self._size[rows], self._size[right])
        D -= product
        return np.asarray(np.maximum(D, 0.0, out=D))

    def pairs(self, rows: Ints, columns: Ints) -> Floats:
        """Return distances from ``rows[i]`` to ``columns[i]``, both of shape (m,)."""
        squared = np.empty(len(rows))
        step = max(1, _BLOCK_ENTRIES // max(self._X.shape[1], 1))
        for start in range(0, len(rows), step):
            a, b = rows[start : start + step], columns[start : start + step]
            A, B = self._X[a], self._X[b]
            if is_sparse(A):
                product = np.asarray(A.multiply(B).sum(axis=1)).ravel()
            else:
                product = np.einsum("ij,ij->i", A, B)
            squared[start : start + step] = self._size[a] + self._size[b] - 2.0 * product
        return np.maximum(squared, 0.0)


class DistanceSpace:
    """The squared entries of a distance matrix (n, n)."""

    def __init__(self, D: Reals) -> None:
        self._D = D
        self.n = D.shape[0]

    def between(self, rows: Ints, columns: Ints | None = None) -> Floats:
        """Return distances from `rows` (q,) to `columns` (c,), or to all: shape (q, c)."""
        part = self._D[rows] if columns is None else self._D[np.ix_(rows, columns)]
        return np.asarray(part, dtype=np.float64) ** 2

    def pairs(self, rows: Ints, columns: Ints) -> Floats:
        """Return distances from ``rows[i]`` to ``columns[i]``, both of shape (m,)."""
        return np.asarray(self._D[rows, columns], dtype=np.float64) ** 2


class KernelSpace:
    """Squared distances in the feature space of a kernel matrix (n, n)."""

    def __init__(self, K: Reals) -> None:
        self._K = K
        self._size = np.asarray(K.diagonal(), dtype=np.float64)
        self.n = len(self._size)

    def between(self, rows: Ints, columns: Ints | None = None) -> Floats:
        """Return distances from `rows` (q,) to `columns` (c,), or to all: shape (q, c)."""
        right = slice(None) if columns is None else columns
        part = self._K[rows] if columns is None else self._K[np.ix_(rows, columns)]
        D = np.add.outer(self._size[rows], self._size[right]) - 2.0 * np.asarray(part)
        return np.asarray(np.maximum(D, 0.0, out=D))

    def pairs(self, rows: Ints, columns: Ints) -> Floats:
        """Return distances from ``rows[i]`` to ``columns[i]``, both of shape (m,)."""
        D = self._size[rows] + self._size[columns] - 2.0 * self._K[rows, columns]
        return np.asarray(np.maximum(D, 0.0))


class CrossSpace:
    """Squared distances from the rows of A (m, d) to the rows of B (n, d), of few columns."""

    def __init__(self, A: Floats, B: Floats) -> None:
        self._A, self._B = A, B
        self.n = len(B)

    def between(self, rows: Ints, columns: Ints | None = None) -> Floats:
        """Return distances from rows (q,) of A to rows (c,) of B, or to all: shape (q, c)."""
        right = slice(None) if columns is None else columns
        D: Floats | None = None
        for a, b in zip(self._A.T, self._B.T, strict=True):
            difference = np.subtract.outer(a[rows], b[right])
            difference *= difference
            D = difference if D is None else np.add(D, difference, out=D)
        return np.zeros((len(rows), len(self._B[right]))) if D is None else D

    def pairs(self, rows: Ints, columns: Ints) -> Floats:
        """Return distances from ``rows[i]`` of A to ``columns[i]`` of B, both of shape (m,)."""
        # Axis by axis, so that a pair gives the same bits as in `between`.
        total = np.zeros(len(rows))
        for a, b in zip(self._A.T, self._B.T, strict=True):
            difference = a[rows] - b[columns]
            difference *= difference
            total += difference
        return total


def _squared_lengths(X: Matrix) -> Array:
    if is_sparse(X):
        return np.asarray(X.multiply(X).sum(axis=1)).ravel()
    return np.asarray(np.einsum("ij,ij->i", X, X))


def cross_squared_distances(A: Matrix, B: Matrix) -> Floats:
    """Return squared distances between the rows of A (m, d) and of B (n, d), dense or CSR."""
    left: Matrix
    right: Matrix
    if is_sparse(A) or is_sparse(B):
        left, right = sp.csr_array(A), sp.csr_array(B)
    else:
        centre = np.asarray(B, dtype=np.float64).mean(axis=0)
        left, right = A - centre, B - centre
    sizes = [_squared_lengths(M) for M in (left, right)]
    product = left @ right.T
    product = product.toarray() if is_sparse(product) else product
    product *= 2.0
    total = np.add.outer(*sizes)
    D = total - product
    # Cancellation leaves rounding errors for equal and nearly equal rows.
    total *= 1e-9
    rows, columns = np.nonzero(total >= D)
    step = max(1, _BLOCK_ENTRIES // max(left.shape[1], 1))
    for start in range(0, len(rows), step):
        i, j = rows[start : start + step], columns[start : start + step]
        gap = left[i] - right[j]
        D[i, j] = np.asarray((gap.multiply(gap) if is_sparse(gap) else gap**2).sum(axis=1)).ravel()
    return np.asarray(np.maximum(D, 0.0, out=D))
