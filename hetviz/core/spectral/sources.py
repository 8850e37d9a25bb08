"""Sources of features for the same rows: centred and scaled, with zeros for missing rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import svd

from hetviz._types import Bools, Floats, Matrix, is_sparse
from hetviz.core.spectral.blocks import LinearMap


@dataclass(frozen=True, eq=False)
class FeatureSource:
    """Features of n rows, ready for a joint analysis; build it with `prepare_source`."""

    present: Bools
    r: int
    _matrix: Any
    _shift: Floats | None
    _centre: Floats
    _scale: Floats
    _rotation: Floats | None

    @property
    def dense(self) -> Floats | None:
        """The rows, shape (n, r); None if they are sparse."""
        return self._matrix if self._shift is None else None

    def dot(self, P: Floats) -> Floats:
        """X @ P: (r, k) to (n, k)."""
        Y = np.asarray(self._matrix @ P)
        return Y if self._shift is None else Y - np.outer(self.present, self._shift @ P)

    def tdot(self, Y: Floats) -> Floats:
        """X' @ Y: (n, k) to (r, k)."""
        P = np.asarray(self._matrix.T @ Y)
        return P if self._shift is None else P - np.outer(self._shift, self.present @ Y)

    def coefficients(self, U: Floats) -> Floats:
        """Return the coefficients of the centred and scaled features: (r, k) to (d, k)."""
        return U if self._rotation is None else self._rotation @ U

    def map(self, U: Floats) -> LinearMap:
        """Turn directions (r, k) into a map of the original features."""
        return LinearMap(self._scale[:, None] * self.coefficients(U), self._centre, 0.0)


def prepare_source(X: Matrix, present: Bools, scale: str = "block") -> FeatureSource:
    """Centre and scale one source.

    `scale` {"block", "norm", "zscore", "none"}: ``"block"`` gives every feature the same variance
        and the source a mean square row length of 1; ``"norm"`` does only the latter, ``"zscore"``
        only the former.

    If the present rows are fewer than half of the features, dense features are replaced by their
    exact coordinates in the span of the rows. Sparse features stay sparse.
    """
    n, d = X.shape
    share = present / max(int(present.sum()), 1)
    centre = np.asarray(X.T @ share, dtype=np.float64).ravel()
    squares = np.asarray((X.multiply(X) if is_sparse(X) else X * X).T @ share).ravel()
    variance = np.maximum(squares - centre**2, 0.0)
    factor = feature_factors(variance, squares, scale)
    if not factor.any():
        return FeatureSource(present, 0, np.zeros((n, 0)), None, centre, factor, np.zeros((d, 0)))
    if is_sparse(X):
        matrix = sp.csr_array(X @ sp.diags_array(factor))
        return FeatureSource(present, d, matrix, centre * factor, centre, factor, None)
    Z = np.where(present[:, None], (X - centre) * factor, 0.0)
    rotation = None
    if 2 * int(present.sum()) < d:
        _, values, Vt = svd(Z[present], full_matrices=False)
        rotation = np.ascontiguousarray(Vt[values > 1e-12 * values[0]].T)
        Z = Z @ rotation
    return FeatureSource(present, Z.shape[1], Z, None, centre, factor, rotation)


def feature_factors(variance: Floats, squares: Floats, scale: str) -> Floats:
    """Return the factor of each feature, 0 if it does not vary."""
    varies = variance > 1e-14 * squares
    factor = varies.astype(np.float64)
    if scale in ("block", "zscore"):
        factor = np.where(varies, 1.0 / np.sqrt(np.where(varies, variance, 1.0)), 0.0)
    size = float((variance * factor**2).sum())
    return factor / np.sqrt(size) if scale in ("block", "norm") and size > 0 else factor
