"""The hinge of comparisons on a map: distances of the pairs compared, and the pull on the objects.

A comparison c = (i, j, k, l) wants d(i, j) + margin <= d(k, l) for squared distances d. With
multipliers a the pull on the map G is -2 L(a) G, where
L(a) = sum_c a_c [(e_k - e_l)(e_k - e_l)' - (e_i - e_j)(e_i - e_j)'].
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from hetviz._types import Floats, Ints

_DENSE_ENTRIES = 16
"""Distances of all pairs are cheaper than those of listed ones up to this many per listed pair."""
_DENSE_ROWS = 3_000


class Hinge:
    """Weighted hinge losses of comparisons between n objects.

    Parameters
    ----------
    n : int
    pairs : ndarray of shape (m, 4)
        Rows i, j, k, l want d(i, j) + margin <= d(k, l).
    weight : ndarray of shape (m,)
        b, what each may pull at most.
    margin : float

    Notes
    -----
    An evaluation costs O(p k + m) for p distinct pairs and k axes, or O(n^2 k + m) as matrix
    products where that is faster.
    """

    def __init__(self, n: int, pairs: Ints, weight: Floats, margin: float = 1.0) -> None:
        self.n, self.margin = n, margin
        self.weight = np.asarray(weight, dtype=np.float64)
        ends = np.sort(np.asarray(pairs, dtype=np.int64).reshape(-1, 2), axis=1)
        flat, number = np.unique(ends @ [n, 1], return_inverse=True)
        self._near, self._far = number.reshape(-1, 2).T.copy()
        self._i, self._j = flat // n, flat % n
        self._dense = n <= _DENSE_ROWS and n * n <= _DENSE_ENTRIES * len(flat)
        self._flat, self._mirrored = flat, self._j * n + self._i
        if not self._dense:
            self._order = self._sparse(np.arange(1.0, 2 * len(flat) + n + 1))

    def __len__(self) -> int:
        return len(self.weight)

    def short(self, G: Floats) -> Floats:
        """Return t = margin + d(i, j) - d(k, l) of each comparison: above 0 what it lacks."""
        return self.short_of(self.squared(G))

    def squared(self, G: Floats) -> Floats:
        """Return squared distances of the pairs compared: shape (p,)."""
        if not self._dense:
            difference = G[self._i] - G[self._j]
            return np.asarray(np.einsum("ij,ij->i", difference, difference))
        G = G - G.mean(axis=0)
        size = np.einsum("ij,ij->i", G, G)
        d = size[self._i] + size[self._j] - 2.0 * (G @ G.T).ravel()[self._flat]
        return np.asarray(np.maximum(d, 0.0))

    def short_of(self, squared: Floats) -> Floats:
        """Return t given the squared distances of the pairs."""
        return np.asarray(self.margin + squared[self._near] - squared[self._far])

    def loss(self, t: Floats) -> float:
        """Return sum_c b_c max(0, t_c)."""
        return float(self.weight @ np.maximum(t, 0.0))

    def laplacian(self, a: Floats) -> Any:
        """Return L(a), shape (n, n): an array, or csr where the pairs are few."""
        p = len(self._flat)
        w = np.bincount(self._far, a, p) - np.bincount(self._near, a, p)
        w[self._i == self._j] = 0.0
        degree = np.bincount(self._i, w, self.n) + np.bincount(self._j, w, self.n)
        if not self._dense:
            values = np.concatenate([-w, -w, degree])
            L = self._order
            return sp.csr_array(
                (values[L.data.astype(np.int64) - 1], L.indices, L.indptr), shape=L.shape
            )
        out = np.zeros((self.n, self.n))
        flat = out.ravel()
        flat[self._flat] = -w
        flat[self._mirrored] = -w
        flat[:: self.n + 1] = degree
        return out

    def smooth(self, t: Floats, q0: Floats, g: float) -> tuple[float, Floats]:
        """Return sum_c b_c phi(t_c) of the smoothed hinge, and its slopes q in [0, 1].

        phi(t) = max_q q t - (g / 2) (q - q0)^2: at the optimal q0 it has the hinge's own minimum.
        """
        q = np.clip(q0 + t / g, 0.0, 1.0)
        return float(self.weight @ (q * t - (g / 2) * (q - q0) ** 2)), q

    def _sparse(self, values: Floats) -> Any:
        own = np.arange(self.n)
        row = np.concatenate([self._i, self._j, own])
        column = np.concatenate([self._j, self._i, own])
        # a pair of an object with itself has no pull; it must not share a place with the diagonal
        apart = np.concatenate([np.tile(self._i != self._j, 2), np.ones(self.n, dtype=bool)])
        entries = (values[apart], (row[apart], column[apart]))
        return sp.coo_array(entries, shape=(self.n, self.n)).tocsr()
