"""Squared distances among rows: of features, a distance matrix, a kernel, or two sets of places.

One seam for all that asks who is near whom: neighbours, measures, trust, questions.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp

from hetviz._types import Array, Floats, Ints, Matrix, Reals, is_sparse

_ENTRIES = 4_000_000


class Space(Protocol):
    """Squared distances among n rows, none below 0.

    Attributes
    ----------
    n : int
        Rows there are to be far from.
    """

    n: int

    def between(self, rows: Ints, columns: Ints | None = None) -> Floats:
        """Return those from each of `rows` (q,) to each of `columns` (c,), or to all: (q, c)."""
        ...

    def pairs(self, rows: Ints, columns: Ints) -> Floats:
        """Return those from ``rows[i]`` to ``columns[i]``, both of shape (m,)."""
        ...


class FeatureSpace:
    """Squared Euclidean distances among the rows of X, (n, d) dense or CSR."""

    def __init__(self, X: Matrix) -> None:
        if is_sparse(X):
            self._X: Any = sp.csr_array(X)
            self._size = np.asarray(self._X.multiply(self._X).sum(axis=1)).ravel()
        else:
            X = np.asarray(X, dtype=np.float64)
            # smaller numbers, so that less is lost when sizes cancel
            self._X = X - X.mean(axis=0)
            self._size = np.einsum("ij,ij->i", self._X, self._X)
        self.n = len(self._size)

    def between(self, rows: Ints, columns: Ints | None = None) -> Floats:
        """Return distances from `rows` (q,) to `columns` (c,), or to all: shape (q, c)."""
        there = slice(None) if columns is None else columns
        product = self._X[rows] @ self._X[there].T
        product = product.toarray() if is_sparse(product) else product
        product *= 2.0
        D = np.add.outer(self._size[rows], self._size[there])
        D -= product
        return np.asarray(np.maximum(D, 0.0, out=D))

    def pairs(self, rows: Ints, columns: Ints) -> Floats:
        """Return distances from ``rows[i]`` to ``columns[i]``, both of shape (m,)."""
        found = np.empty(len(rows))
        step = max(1, _ENTRIES // max(self._X.shape[1], 1))
        for start in range(0, len(rows), step):
            a, b = rows[start : start + step], columns[start : start + step]
            A, B = self._X[a], self._X[b]
            if is_sparse(A):
                product = np.asarray(A.multiply(B).sum(axis=1)).ravel()
            else:
                product = np.einsum("ij,ij->i", A, B)
            found[start : start + step] = self._size[a] + self._size[b] - 2.0 * product
        return np.maximum(found, 0.0)


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
        there = slice(None) if columns is None else columns
        part = self._K[rows] if columns is None else self._K[np.ix_(rows, columns)]
        D = np.add.outer(self._size[rows], self._size[there]) - 2.0 * np.asarray(part)
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
        there = slice(None) if columns is None else columns
        D: Floats | None = None
        for a, b in zip(self._A.T, self._B.T, strict=True):
            difference = np.subtract.outer(a[rows], b[there])
            difference *= difference
            D = difference if D is None else np.add(D, difference, out=D)
        return np.zeros((len(rows), len(self._B[there]))) if D is None else D

    def pairs(self, rows: Ints, columns: Ints) -> Floats:
        """Return distances from ``rows[i]`` of A to ``columns[i]`` of B, both of shape (m,)."""
        # axis by axis, so that a pair gives the same bits as in `between`
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
    """Return squared distances between the rows of A (m, d) and of B (n, d), dense or CSR.

    Shape (m, n); exactly 0 where two rows are equal. O(m n d).
    """
    left: Matrix
    right: Matrix
    if is_sparse(A) or is_sparse(B):
        left, right = sp.csr_array(A), sp.csr_array(B)
    else:
        centre = np.asarray(B, dtype=np.float64).mean(axis=0)
        left, right = A - centre, B - centre
    sizes = [_squared_lengths(M) for M in (left, right)]
    product = left @ right.T
    D = np.add.outer(*sizes) - 2.0 * (product.toarray() if is_sparse(product) else product)
    # cancellation leaves a trace of rounding where rows are equal or nearly so
    rows, columns = np.nonzero(np.add.outer(*sizes) * 1e-9 >= D)
    for i, j in zip(rows, columns, strict=True):
        gap = left[[i]] - right[[j]]
        D[i, j] = (gap.multiply(gap) if is_sparse(gap) else gap**2).sum()
    return np.asarray(np.maximum(D, 0.0))
