"""Distances among the rows of features, of a distance matrix or of a kernel, block by block."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp

from hetviz._types import Floats, Ints, is_sparse

_ENTRIES = 4_000_000


class Space(Protocol):
    """Squared distances (or any dissimilarities) among n rows."""

    def between(self, rows: Ints, columns: Ints) -> Floats:
        """Return those from each of `rows` (q,) to each of `columns` (c,), shape (q, c)."""
        ...

    def pairs(self, rows: Ints, columns: Ints) -> Floats:
        """Return those from ``rows[i]`` to ``columns[i]``, both of shape (m,)."""
        ...


class FeatureSpace:
    """Squared Euclidean distances among the rows of X, (n, d) dense or CSR."""

    def __init__(self, X: Any) -> None:
        if is_sparse(X):
            self._X: Any = sp.csr_array(X)
            self._size = np.asarray(self._X.multiply(self._X).sum(axis=1)).ravel()
        else:
            X = np.asarray(X, dtype=np.float64)
            # smaller numbers, so that less is lost when sizes cancel
            self._X = X - X.mean(axis=0)
            self._size = np.einsum("ij,ij->i", self._X, self._X)

    def between(self, rows: Ints, columns: Ints) -> Floats:
        """Return distances from each of `rows` (q,) to each of `columns` (c,), shape (q, c)."""
        product = self._X[rows] @ self._X[columns].T
        D = product.toarray() if is_sparse(product) else product
        D *= -2.0
        D += self._size[rows][:, None]
        D += self._size[columns]
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
    """The entries of a distance matrix (n, n)."""

    def __init__(self, D: Any) -> None:
        self._D = D

    def between(self, rows: Ints, columns: Ints) -> Floats:
        """Return distances from each of `rows` (q,) to each of `columns` (c,), shape (q, c)."""
        return np.asarray(self._D[np.ix_(rows, columns)], dtype=np.float64)

    def pairs(self, rows: Ints, columns: Ints) -> Floats:
        """Return distances from ``rows[i]`` to ``columns[i]``, both of shape (m,)."""
        return np.asarray(self._D[rows, columns], dtype=np.float64)


class KernelSpace:
    """Squared distances in the feature space of a kernel matrix (n, n)."""

    def __init__(self, K: Any) -> None:
        self._K = np.asarray(K, dtype=np.float64)
        self._size = self._K.diagonal()

    def between(self, rows: Ints, columns: Ints) -> Floats:
        """Return distances from each of `rows` (q,) to each of `columns` (c,), shape (q, c)."""
        sizes = np.add.outer(self._size[rows], self._size[columns])
        return np.asarray(sizes - 2.0 * self._K[np.ix_(rows, columns)])

    def pairs(self, rows: Ints, columns: Ints) -> Floats:
        """Return distances from ``rows[i]`` to ``columns[i]``, both of shape (m,)."""
        return np.asarray(self._size[rows] + self._size[columns] - 2.0 * self._K[rows, columns])


class CrossSpace:
    """Squared distances from the rows of A (m, d) to the rows of B (n, d), of few columns."""

    def __init__(self, A: Floats, B: Floats) -> None:
        self._A, self._B = A, B

    def between(self, rows: Ints, columns: Ints) -> Floats:
        """Return distances from rows (q,) of A to rows (c,) of B, shape (q, c)."""
        D = np.zeros((len(rows), len(columns)))
        for a, b in zip(self._A.T, self._B.T, strict=True):
            difference = a[rows][:, None] - b[columns]
            difference *= difference
            D += difference
        return D

    def pairs(self, rows: Ints, columns: Ints) -> Floats:
        """Return distances from ``rows[i]`` of A to ``columns[i]`` of B, both of shape (m,)."""
        # axis by axis, so that a pair gives the same bits as in `between`
        total = np.zeros(len(rows))
        for a, b in zip(self._A.T, self._B.T, strict=True):
            difference = a[rows] - b[columns]
            difference *= difference
            total += difference
        return total
