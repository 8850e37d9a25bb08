"""Blocks of a linear projection problem: the centred features and ridge of each dataset."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.linalg import pinv

from hetviz._types import Array, Floats, Ints, Matrix, Sparse
from hetviz.core.arrays import as_dense

RIDGE_FLOOR = 1e-12
BLOCK_ROWS = 2_048
"""Rows centred at a time when features are read in blocks that fit the processor's cache."""
_CROSS_ROWS = 262_144


@dataclass(frozen=True)
class LinearMap:
    """The map x -> (x - centre) @ coefficients, for fitted and new rows.

    `coefficients` (d, k): Row j is the contribution of feature j. For a featureless dataset row i
        is the position of row i itself, NaN for rows without guidance.
    """

    coefficients: Floats
    centre: Floats
    ridge: float

    def __call__(self, X: Matrix) -> Floats:
        """Project rows, (n, d) dense or CSR, to (n, k)."""
        return np.asarray(X @ self.coefficients - self.centre @ self.coefficients)

    def inverse(self, Y: Floats) -> Floats:
        """Return the features (n, d) nearest to the centre whose projection is nearest to Y."""
        return np.asarray(Y @ pinv(self.coefficients) + self.centre)


class ProjectionBlock(ABC):
    """The centred basis Phi of one dataset and the products that the eigenproblem needs."""

    n: int
    r: int
    ridge: float

    @abstractmethod
    def dot(self, P: Floats) -> Floats:
        """Phi @ P: (r, k) to (n, k)."""

    @abstractmethod
    def tdot(self, Y: Floats) -> Floats:
        """Phi' @ Y: (n, k) to (r, k)."""

    @abstractmethod
    def spread(self, S: Sparse) -> Floats:
        """S @ Phi as a dense array, for a sparse S of shape (m, n): shape (m, r)."""

    @abstractmethod
    def gather(self, rows: Ints, Y: Floats) -> Floats:
        """Phi[rows]' @ Y: (len(rows), k) to (r, k)."""

    @abstractmethod
    def gram(self, mass: Floats) -> Floats:
        """Phi' diag(mass) Phi: shape (r, r), or (r,) when it is diagonal."""

    @abstractmethod
    def finish(self, Q: Floats) -> LinearMap:
        """Turn a solution (r, k) into a map of the original features."""

    def cross(self, S: Sparse, other: ProjectionBlock) -> Floats:
        """Phi' S Phi_other for a sparse S of shape (n, other.n): shape (r, other.r)."""
        rows = np.flatnonzero(np.diff(S.indptr))
        total = np.zeros((self.r, other.r))
        for start in range(0, rows.size, _CROSS_ROWS):
            part = rows[start : start + _CROSS_ROWS]
            total += self.gather(part, other.spread(S if part.size == S.shape[0] else S[part]))
        return total

    def norms(self, S: Sparse) -> float:
        """tr(Phi' S Phi) for a sparse symmetric S of shape (n, n)."""
        return float(np.trace(self.cross(S, self)))


class IdentityBlock(ProjectionBlock):
    """A featureless dataset whose rows are their own coordinates; nothing is stored or centred."""

    def __init__(self, weights: Floats, gamma: float, *, absolute: bool = False) -> None:
        self.n = self.r = len(weights)
        self._guided = weights > 0
        total = float(weights.sum())
        self.ridge = absolute_ridge(gamma, absolute, total, self.n)
        if self.ridge == 0.0 and not self._guided.all():
            # Rows without guidance are coordinates without mass; their result is NaN.
            self.ridge = RIDGE_FLOOR * total / self.n

    def dot(self, P: Floats) -> Floats:
        return P

    def tdot(self, Y: Floats) -> Floats:
        return Y

    def spread(self, S: Sparse) -> Floats:
        return np.asarray(S.toarray())

    def gather(self, rows: Ints, Y: Floats) -> Floats:
        gathered = np.zeros((self.r, Y.shape[1]))
        gathered[rows] = Y
        return gathered

    def gram(self, mass: Floats) -> Floats:
        return mass

    def finish(self, Q: Floats) -> LinearMap:
        positions = np.where(self._guided[:, None], Q, np.nan)
        return LinearMap(positions, np.zeros(self.r), self.ridge)

    def norms(self, S: Sparse) -> float:
        return float(S.diagonal().sum())


class FeatureBlock(ProjectionBlock):
    """A dataset with features; build it with `hetviz.core.spectral.prepare.make_block`.

    `matrix` holds centred dense rows, or CSR rows with a `shift` to subtract, so that sparse
    features stay sparse. `columns` are the features that vary, and `rotation`, if given, turns
    coordinates into coefficients of these.
    """

    def __init__(
        self,
        matrix: Matrix,
        shift: Floats | None,
        centre: Floats,
        columns: Ints,
        rotation: Floats | None,
        ridge: float,
    ) -> None:
        self.n, self.r = matrix.shape
        self.ridge = ridge
        self._matrix, self._shift = matrix, shift
        self._centre, self._columns, self._rotation = centre, columns, rotation

    def dot(self, P: Floats) -> Floats:
        Y = np.asarray(self._matrix @ P)
        return Y if self._shift is None else Y - self._shift @ P

    def tdot(self, Y: Floats) -> Floats:
        P = np.asarray(self._matrix.T @ Y)
        return P if self._shift is None else P - np.outer(self._shift, Y.sum(axis=0))

    def spread(self, S: Sparse) -> Floats:
        product = as_dense(S @ self._matrix)
        if self._shift is None:
            return product
        totals = np.asarray(S.sum(axis=1)).ravel()
        return product - np.outer(totals, self._shift)

    def gather(self, rows: Ints, Y: Floats) -> Floats:
        P = np.asarray(self._matrix[rows].T @ Y)
        return P if self._shift is None else P - np.outer(self._shift, Y.sum(axis=0))

    def gram(self, mass: Floats) -> Floats:
        rows = np.flatnonzero(mass)
        matrix = self._matrix if rows.size == self.n else self._matrix[rows]
        root = np.sqrt(mass[rows])
        if self._shift is None:
            scaled = matrix * root[:, None]
            return np.asarray(scaled.T @ scaled)
        weighted: Sparse = sp.csr_array(sp.diags_array(root) @ matrix)
        product = as_dense(weighted.T @ weighted)
        sums = np.asarray(matrix.T @ mass[rows])
        c = self._shift
        sides = np.outer(c, sums)
        return np.asarray(product - sides - sides.T + mass.sum() * np.outer(c, c))

    def finish(self, Q: Floats) -> LinearMap:
        rotated = Q if self._rotation is None else self._rotation @ Q
        coefficients = np.zeros((len(self._centre), Q.shape[1]))
        coefficients[self._columns] = rotated
        return LinearMap(coefficients, self._centre, self.ridge)


class StreamedBlock(ProjectionBlock):
    """Dense features read in blocks of rows, each centred in float64 when used."""

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
        # The ridge and most constraints need the same matrix, a pass over all rows.
        self._weights = weights
        self._gram = centred_gram(X, weights, centre)
        trace = float(self._gram.trace())
        self.ridge = absolute_ridge(gamma, absolute, trace, nominal or self.r)

    def dot(self, P: Floats) -> Floats:
        out = np.empty((self.n, P.shape[1]))
        for rows, piece in centred_pieces(self._X, self._centre):
            out[rows] = piece @ P
        return out

    def tdot(self, Y: Floats) -> Floats:
        return centred_product(self._X, self._centre, Y)

    def spread(self, S: Sparse) -> Floats:
        if self._X.dtype == np.float64 and not isinstance(self._X, np.memmap):
            out = np.asarray(S @ self._X)
            totals = np.asarray(S.sum(axis=1)).ravel()
            for start in range(0, len(out), BLOCK_ROWS):
                rows = slice(start, start + BLOCK_ROWS)
                out[rows] -= np.outer(totals[rows], self._centre)
            return out
        columns = sp.csc_array(S)
        out = np.zeros((S.shape[0], self.r))
        for rows, piece in centred_pieces(self._X, self._centre, 16 * BLOCK_ROWS):
            out += columns[:, rows] @ piece
        return out

    def gather(self, rows: Ints, Y: Floats) -> Floats:
        total = np.zeros((self.r, Y.shape[1]))
        for start in range(0, len(rows), BLOCK_ROWS):
            part = rows[start : start + BLOCK_ROWS]
            is_contiguous = int(part[-1] - part[0]) + 1 == len(part)
            block = self._X[int(part[0]) : int(part[-1]) + 1] if is_contiguous else self._X[part]
            total += (block - self._centre).T @ Y[start : start + BLOCK_ROWS]
        return total

    def gram(self, mass: Floats) -> Floats:
        is_cached = np.array_equal(mass, self._weights)
        return self._gram if is_cached else centred_gram(self._X, mass, self._centre)

    def finish(self, Q: Floats) -> LinearMap:
        return LinearMap(Q, self._centre, self.ridge)


def centred_pieces(
    X: Array, centre: Floats, size: int = BLOCK_ROWS
) -> Iterator[tuple[slice, Floats]]:
    """Yield blocks of `size` rows of X (n, d) minus the centre (d,), in float64."""
    for start in range(0, len(X), size):
        rows = slice(start, min(start + size, len(X)))
        yield rows, X[rows] - centre


def centred_gram(X: Array, mass: Floats, centre: Floats) -> Floats:
    """(X - 1c')' diag(mass) (X - 1c') for dense X (n, d) of any float type: shape (d, d)."""
    total = np.zeros((X.shape[1], X.shape[1]))
    root = np.sqrt(mass)[:, None]
    for rows, piece in centred_pieces(X, centre):
        piece *= root[rows]
        total += piece.T @ piece
    return total


def centred_product(X: Array, centre: Floats, Y: Floats) -> Floats:
    """(X - 1c')' Y for dense X (n, d) and Y (n, k): shape (d, k)."""
    total = np.zeros((X.shape[1], Y.shape[1]))
    for rows, piece in centred_pieces(X, centre):
        total += piece.T @ Y[rows]
    return total


def absolute_ridge(gamma: float, absolute: bool, trace: float, nominal: int) -> float:
    """Return gamma_v: gamma itself, or gamma times the mean energy of a feature (1 if it is 0)."""
    if absolute:
        return gamma
    return gamma * trace / nominal if trace > 0 else 1.0
