"""Preparation of a dataset's block of the eigenproblem: centring, reduction and ridge."""

from __future__ import annotations

import warnings

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from scipy.linalg import eigvalsh, svd
from scipy.sparse.linalg import LinearOperator, svds

from hetviz._types import MAX_MAGNITUDE, Floats, Ints, Matrix, Reals, Sparse, is_sparse
from hetviz.core.arrays import as_dense
from hetviz.core.spectral.blocks import (
    BLOCK_ROWS,
    RIDGE_FLOOR,
    FeatureBlock,
    IdentityBlock,
    ProjectionBlock,
    StreamedBlock,
    absolute_ridge,
)
from hetviz.errors import DataError, DataWarning, ParameterError, Problem

MAX_SPARSE_COLUMNS = 4_000
"""Sparse features with more columns are reduced to their leading directions."""
REDUCED_RANK = 300
_CONSTANT_SHARE = 1e-24
_DENSE_ENTRIES = 2e7
STREAM_ENTRIES = 2_000_000
"""Dense features with more entries are read in pieces instead of copied."""


def make_block(
    features: Matrix | None,
    weights: Floats,
    gamma: float = 0.1,
    *,
    absolute: bool = False,
    nominal: int | None = None,
    center: bool = True,
    reduce: bool = True,
    where: str = "features",
) -> ProjectionBlock:
    """Prepare one dataset for `hetviz.core.spectral.eigen.solve`.

    `features` (n, d): rows to project (raw features, or a kernel's map). None is a featureless
    dataset: the identity matrix, which is not formed. `weights` (n,): non-negative mass of
    guidance per row, |D|; it weights the centre and scales the ridge. `gamma`: ridge, 0 or more.
    Relative: gamma_v = gamma tr(Phi' diag(w) Phi) / nominal. `absolute`: take `gamma` as gamma_v
    itself. `nominal`: number of features for the relative ridge; d by default. A kernel's map
    passes its number of training rows, so that truncating its rank does not change the ridge.
    `reduce`: allow the exact reduction to the span of the guided rows. It drops directions
    orthogonal to all guided rows, which matter only without the ridge in the objective. `where`:
    name of the dataset, for messages.

    Dense features of more than two million entries, and numpy memory maps, are read in blocks and
    not copied. Features that do not vary over the guided rows are dropped. If there are fewer
    guided rows than features, the problem is solved exactly in the span of the guided rows (thin
    SVD, O(n^2 d)), provided that halves it or gamma is 0. Sparse features of more than 4,000
    columns are reduced to 300 directions.
    """
    if not (np.isfinite(gamma) and gamma >= 0):
        raise ParameterError(f"gamma = {gamma!r} must be a number of 0 or more.")
    weights = np.asarray(weights, dtype=np.float64)
    if features is None:
        return IdentityBlock(weights, gamma, absolute=absolute)
    X = _checked_features(features, weights, where)
    n, d = X.shape
    share = weights / weights.sum() if weights.any() else np.full(n, 1.0 / max(n, 1))
    centre = _mean(X, share) if center else np.zeros(d)
    if not is_sparse(X) and _needs_streaming(X, weights, gamma):
        return StreamedBlock(X, weights, centre, gamma, absolute=absolute, nominal=nominal)
    mass = weights if weights.any() else share
    X, shift, energy, columns = _centred(X, centre, mass)
    trace = float(energy.sum()) if weights.any() else 0.0
    rotation = _guided_span(X, shift, weights, gamma, where) if reduce else None
    if rotation is not None:
        X = np.asarray(X @ rotation) - (0.0 if shift is None else shift @ rotation)
        shift = None
    ridge = absolute_ridge(gamma, absolute, trace, nominal or d)
    block = FeatureBlock(X, shift, centre, columns, rotation, ridge)
    if ridge == 0.0 and block.r:
        block.ridge = _ridge_floor(block, weights, trace / d, where)
    return block


def _needs_streaming(X: Reals, weights: Floats, gamma: float) -> bool:
    """Return whether dense features are too large to copy and need no reduction."""
    if gamma == 0:
        return False
    large = X.size > STREAM_ENTRIES or isinstance(X, np.memmap)
    return large and np.count_nonzero(weights) >= X.shape[1] / 2


def _mean(X: Matrix, share: Floats) -> Floats:
    if is_sparse(X):
        return np.asarray(X.T @ share).ravel()
    total = np.zeros(X.shape[1])
    for start in range(0, len(X), BLOCK_ROWS):
        total += share[start : start + BLOCK_ROWS] @ X[start : start + BLOCK_ROWS]
    return total


def _checked_features(features: Matrix, weights: Floats, where: str) -> Matrix:
    X: Matrix
    if is_sparse(features):
        X = sp.csr_array(features).astype(np.float64, copy=False)
        values = X.data
    else:
        X = values = _floats(features)
    if X.ndim != 2 or X.shape[0] != len(weights):
        problem = Problem(
            "shape", where, f"the matrix must have {len(weights):,} rows", str(X.shape)
        )
        raise DataError(problem)
    if not is_within_magnitude(values):
        coordinates = X.tocoo().coords if is_sparse(X) else None
        at = np.argwhere(~(np.abs(values.astype(np.float64)) <= MAX_MAGNITUDE))[0]
        row, column = at if coordinates is None else (coordinates[0][at[0]], coordinates[1][at[0]])
        problem = Problem(
            "not-finite",
            f"{where}, row {row + 1}, feature {column + 1}",
            f"a feature value is missing, infinite or beyond {MAX_MAGNITUDE:g}",
            str(values[tuple(at)]),
            "Fill it in, rescale it, or exclude the row or the feature.",
        )
        raise DataError(problem)
    return X


def is_within_magnitude(values: Reals) -> bool:
    """Return whether all values (n, ...) are finite and small enough to square, without copies."""
    for start in range(0, len(values), BLOCK_ROWS):
        piece = values[start : start + BLOCK_ROWS]
        # The minimum is NaN if any value is, so the comparison fails.
        if not (
            float(piece.min(initial=0)) >= -MAX_MAGNITUDE
            and float(piece.max(initial=0)) <= MAX_MAGNITUDE
        ):
            return False
    return True


def _floats(features: ArrayLike) -> Reals:
    """Return float features unchanged, including memory maps; convert others to float64."""
    if isinstance(features, np.ndarray) and features.dtype in (np.float32, np.float64):
        return features
    return np.asarray(features, dtype=np.float64)


def _centred(X: Matrix, centre: Floats, mass: Floats) -> tuple[Matrix, Floats | None, Floats, Ints]:
    """Centre features (sparse ones by a shift) and drop those that do not vary."""
    if is_sparse(X):
        squares = X.multiply(X)
        size = np.asarray(squares.T @ mass).ravel()
        energy = np.maximum(size - mass.sum() * centre**2, 0.0) if centre.any() else size
        # X'wX - (sum w) cc' cancels, so rounding errors are larger than for centred rows.
        columns = np.flatnonzero(energy > 1e-14 * size)
        return X[:, columns], centre[columns], energy[columns], columns
    largest = np.abs(X).max(axis=0, initial=0.0)
    X = X - centre
    energy = np.einsum("ij,ij,i->j", X, X, mass)
    columns = np.flatnonzero(energy > _CONSTANT_SHARE * mass.sum() * largest**2)
    if len(columns) < X.shape[1]:
        X = X[:, columns]
    return X, None, energy[columns], columns


def _guided_span(
    X: Matrix, shift: Floats | None, weights: Floats, gamma: float, where: str
) -> Floats | None:
    """Return an orthonormal basis (d, r) of the relevant directions, or None for all."""
    guided = np.flatnonzero(weights)
    n, d = len(guided), X.shape[1]
    # With a ridge the reduction is only for speed; without it, it keeps the problem definite.
    if 0 < n < (d / 2 if gamma > 0 else d) and (shift is None or n * d <= _DENSE_ENTRIES):
        rows = as_dense(X[guided]) - (0.0 if shift is None else shift)
        _, values, Vt = svd(rows, full_matrices=False)
        return np.ascontiguousarray(Vt[values > 1e-12 * values[0]].T)
    if is_sparse(X) and n and shift is not None and d > MAX_SPARSE_COLUMNS:
        return _leading_span(X[guided], shift, where)
    return None


def _leading_span(X: Sparse, shift: Floats, where: str) -> Floats:
    n, d = X.shape
    rank = min(REDUCED_RANK, n - 1, d - 1)
    centred = LinearOperator(
        X.shape,
        matvec=lambda v: X @ v - shift @ v,
        rmatvec=lambda u: X.T @ u - shift * u.sum(),
        matmat=lambda V: X @ V - shift @ V,
        rmatmat=lambda U: X.T @ U - np.outer(shift, U.sum(axis=0)),
        dtype=np.float64,
    )
    v0 = np.random.default_rng(0).standard_normal(min(n, d))
    _, values, Vt = svds(centred, k=rank, v0=v0)
    total = float((X.data**2).sum() - 2 * shift @ (X.sum(axis=0)) + n * shift @ shift)
    share_lost = 1.0 - float((values**2).sum()) / total
    if share_lost > 1e-6:
        warnings.warn(
            f"{where}: {d:,} sparse features are reduced to their {rank} leading directions, "
            f"so {100 * share_lost:.1f} % of their variance is left out.",
            DataWarning,
            stacklevel=4,
        )
    return np.ascontiguousarray(Vt[values > 1e-12 * values.max()].T)


def _ridge_floor(block: FeatureBlock, weights: Floats, scale: float, where: str) -> float:
    values = eigvalsh(block.gram(weights))
    if values[0] > RIDGE_FLOOR * values[-1]:
        return 0.0
    warnings.warn(
        f"{where}: gamma is 0 but the features are linearly dependent on the guided rows, "
        "so a tiny ridge is used instead. A gamma of 0.1 is the usual choice.",
        DataWarning,
        stacklevel=3,
    )
    return RIDGE_FLOOR * scale
