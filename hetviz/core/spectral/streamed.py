"""A block of the eigenproblem that never copies its features: large arrays, or files on disk."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from hetviz._types import Array, Floats, Ints
from hetviz.core.spectral.blocks import Block, LinearMap, absolute_ridge

ROWS = 2_048
"""Rows centred at a time: few enough to stay in the processor's cache."""


class StreamedBlock(Block):
    """Dense features read in pieces of rows, each centred in float64 as it is used.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        In memory or mapped from a file, of any float type; only read.
    weights : ndarray of shape (n,)
        Mass of guidance per row; not all 0.
    centre : ndarray of shape (d,)
    gamma, absolute, nominal
        See `hetviz.core.spectral.prepare.make_block`; gamma is above 0, so that features that do
        not vary do no harm.
    """

    def __init__(
        self,
        X: Array,
        weights: Floats,
        centre: Floats,
        gamma: float,
        *,
        absolute: bool = False,
        nominal: int | None = None,
    ) -> None:
        self.n, self.r = X.shape
        self._X, self._centre = X, centre
        # the ridge and most constraints ask for the same matrix, a pass over all rows
        self._known = weights
        self._gram = self._weighted(weights)
        trace = float(self._gram.trace())
        self.ridge = absolute_ridge(gamma, absolute, trace, nominal or self.r)

    def _pieces(self, size: int = ROWS) -> Iterator[tuple[slice, Floats]]:
        for start in range(0, self.n, size):
            rows = slice(start, min(start + size, self.n))
            yield rows, self._X[rows] - self._centre

    def _weighted(self, mass: Floats) -> Floats:
        total = np.zeros((self.r, self.r))
        root = np.sqrt(mass)[:, None]
        for rows, piece in self._pieces():
            piece *= root[rows]
            total += piece.T @ piece
        return total

    def dot(self, P: Floats) -> Floats:
        out = np.empty((self.n, P.shape[1]))
        for rows, piece in self._pieces():
            out[rows] = piece @ P
        return out

    def tdot(self, Y: Floats) -> Floats:
        total = np.zeros((self.r, Y.shape[1]))
        for rows, piece in self._pieces():
            total += piece.T @ Y[rows]
        return total

    def spread(self, S: Any) -> Floats:
        if self._X.dtype == np.float64 and not isinstance(self._X, np.memmap):
            out = np.asarray(S @ self._X)
            totals = np.asarray(S.sum(axis=1)).ravel()
            for start in range(0, len(out), ROWS):
                rows = slice(start, start + ROWS)
                out[rows] -= np.outer(totals[rows], self._centre)
            return out
        columns = sp.csc_array(S)
        out = np.zeros((S.shape[0], self.r))
        for rows, piece in self._pieces(16 * ROWS):
            out += columns[:, rows] @ piece
        return out

    def gather(self, rows: Ints, Y: Floats) -> Floats:
        total = np.zeros((self.r, Y.shape[1]))
        for start in range(0, len(rows), ROWS):
            part = rows[start : start + ROWS]
            whole = int(part[-1] - part[0]) + 1 == len(part)
            chosen = self._X[int(part[0]) : int(part[-1]) + 1] if whole else self._X[part]
            total += (chosen - self._centre).T @ Y[start : start + ROWS]
        return total

    def gram(self, mass: Floats) -> Floats:
        return self._gram if np.array_equal(mass, self._known) else self._weighted(mass)

    def finish(self, Q: Floats) -> LinearMap:
        return LinearMap(Q, self._centre, self.ridge)
