"""Kernels and their empirical feature maps, which turn kernel methods into linear ones.

Any factor with Phi Phi' = K has the kernel's own penalty, so the cheapest and most accurate factor
is used: a pivoted Cholesky factor if K is positive semi-definite, else an eigenvalue factor.
Centring the rows of Phi with weights equals the usual double centring of K with these weights, and
new rows are centred with the training means.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.linalg import lapack, solve_triangular
from scipy.spatial.distance import pdist

from hetviz._types import Floats, Ints, Matrix, Reals
from hetviz.core.arrays import as_dense
from hetviz.errors import DataError, DataWarning, ParameterError

MIN_EIGENVALUE_SHARE = 1e-10
"""Eigenvalues below this share of the largest count as rounding errors and are dropped."""
MAX_NEGATIVE_SHARE = 1e-6
"""Negative eigenvalues beyond this share of the largest cause a warning."""
MAX_EXACT_ROWS = 5_000
_MEDIAN_ROWS = 1_000
_MAX_PIVOTS = 50


def squared_distances(X: Floats, Y: Floats) -> Floats:
    """Return squared Euclidean distances between rows: shape (n_x, n_y)."""
    centre = Y.mean(axis=0)
    X, Y = X - centre, Y - centre
    D = X @ (-2.0 * Y.T)
    D += np.einsum("ij,ij->i", X, X)[:, None]
    D += np.einsum("ij,ij->i", Y, Y)[None, :]
    return np.maximum(D, 0.0, out=D)


def median_bandwidth(X: Matrix, random_state: int = 0) -> float:
    """Return the median distance between rows, the usual bandwidth of a Gaussian kernel.

    Above 1,000 rows the median is over a seeded sample of 1,000 rows. If more than half of the
    distances are 0, the median is over the others; equal rows give 1.
    """
    n = X.shape[0]
    if n > _MEDIAN_ROWS:
        rows = np.random.default_rng(random_state).choice(n, _MEDIAN_ROWS, replace=False)
        X = X[np.sort(rows)]
    distances = pdist(as_dense(X))
    if not distances.size or not distances.any():
        return 1.0
    median = float(np.median(distances))
    return median if median > 0 else float(np.median(distances[distances > 0]))


class Kernel(Protocol):
    """A positive semi-definite function of two rows."""

    def __call__(self, X: Matrix, Y: Matrix) -> Floats:
        """Return the kernel values between rows: shape (n_x, n_y)."""
        ...

    def diagonal(self, X: Matrix) -> Floats:
        """Return the kernel value of each row with itself: shape (n_x,)."""
        ...


@dataclass(frozen=True)
class RbfKernel:
    """k(x, y) = exp(-|x - y|^2 / (2 bandwidth^2)); `bandwidth` is in the units of x."""

    bandwidth: float

    def __post_init__(self) -> None:
        if not (np.isfinite(self.bandwidth) and self.bandwidth > 0):
            raise ParameterError(
                f"rbf kernel: bandwidth = {self.bandwidth!r} must be a number above 0."
            )

    def __call__(self, X: Matrix, Y: Matrix) -> Floats:
        D = squared_distances(as_dense(X), as_dense(Y))
        D *= -0.5 / self.bandwidth**2
        return np.exp(D, out=D)

    def diagonal(self, X: Matrix) -> Floats:
        return np.ones(X.shape[0])


@dataclass(frozen=True)
class KernelMap:
    """Phi(x) = k(x, landmarks) @ projection, fitted by `kernel_map` or `landmark_map`.

    `projection` (m, r): Column j gives coordinate j of the map. A direction a in the map's
        coordinates has dual coefficients ``projection @ a`` on the landmarks.
    """

    landmarks: Ints
    projection: Floats

    def __call__(self, K: Floats) -> Floats:
        """Map rows given their kernel values with the landmarks, (n_new, m), to (n_new, r)."""
        return np.asarray(K @ self.projection, dtype=np.float64)

    @property
    def rank(self) -> int:
        """Number of coordinates r."""
        return int(self.projection.shape[1])


def kernel_map(
    K: Floats, *, penalty: str = "rkhs", weights: Floats | None = None, where: str = "kernel"
) -> KernelMap:
    """Fit the empirical map of a symmetric kernel matrix.

    `K` (n, n): kernel values between the training rows; check precomputed ones with
    `symmetric_kernel`. `penalty` in {"rkhs", "paper"}: ``"rkhs"`` penalises a'Ka, Phi = U
    Lambda^(1/2); ``"paper"`` penalises a'a, Phi = K centred with `weights`. `weights` (n,):
    centring weights of the ``"paper"`` form; equal by default.

    O(n^3 / 3) time by pivoted Cholesky if K is positive semi-definite, else about 9 n^3.
    """
    n = K.shape[0]
    if penalty == "paper":
        share = _shares(weights, n)
        return KernelMap(np.arange(n), np.eye(n) - share[:, None])
    if penalty != "rkhs":
        raise ParameterError(f"kernel penalty = {penalty!r} must be one of 'rkhs' or 'paper'.")
    fitted = _cholesky_map(K)
    return fitted if fitted is not None else _eigen_map(K, where)


def landmark_map(kernel: Kernel, X: Matrix, n_landmarks: int, random_state: int = 0) -> KernelMap:
    """Fit a Nystroem map: the kernel's empirical map on a few spread-out rows.

    Landmarks are drawn in small batches, with probability proportional to the unexplained part of
    each row's kernel value (randomly pivoted Cholesky; Chen, Epperly, Tropp and Webber 2023),
    which adapts to clusters like k-means++.
    """
    rng = np.random.default_rng(random_state)
    n = X.shape[0]
    residual = kernel.diagonal(X)
    stop = 1e-8 * residual.sum()
    F = np.zeros((n, min(n_landmarks, n)))
    chosen: list[int] = []
    while len(chosen) < F.shape[1] and residual.sum() > stop:
        n_chosen = len(chosen)
        size = min(_MAX_PIVOTS, F.shape[1] - n_chosen, np.count_nonzero(residual))
        pivots = rng.choice(n, size, replace=False, p=residual / residual.sum())
        columns = kernel(X, X[pivots]) - F[:, :n_chosen] @ F[pivots, :n_chosen].T
        inner = _cholesky_map((columns[pivots] + columns[pivots].T) / 2)
        if inner is None:
            break
        added = slice(n_chosen, n_chosen + inner.rank)
        F[:, added] = inner(columns[:, inner.landmarks])
        residual = np.maximum(residual - np.einsum("ij,ij->i", F[:, added], F[:, added]), 0.0)
        residual[pivots] = 0.0
        chosen.extend(int(row) for row in pivots[inner.landmarks])
    landmarks = np.array(sorted(chosen), dtype=np.int64)
    fitted = kernel_map(kernel(X[landmarks], X[landmarks]))
    return KernelMap(landmarks[fitted.landmarks], fitted.projection)


def symmetric_kernel(K: Reals, where: str = "kernel") -> Floats:
    """Check a precomputed kernel matrix and make it exactly symmetric."""
    K = np.asarray(K, dtype=np.float64)
    if K.ndim != 2 or K.shape[0] != K.shape[1]:
        raise DataError.of("kernel-shape", where, "a kernel matrix must be square", str(K.shape))
    if not np.isfinite(K).all():
        i, j = np.argwhere(~np.isfinite(K))[0]
        raise DataError.of(
            "not-finite",
            f"{where}, row {i + 1}, column {j + 1}",
            "a kernel value is missing or infinite",
            str(K[i, j]),
            "Fill it in or remove the row.",
        )
    gap = np.abs(K - K.T)
    if gap.size and gap.max() > 1e-6 * max(float(np.abs(K).max()), 1e-300):
        i, j = np.unravel_index(int(gap.argmax()), gap.shape)
        raise DataError.of(
            "kernel-asymmetric",
            f"{where}, row {i + 1}, column {j + 1}",
            "a kernel matrix must be symmetric, and these two entries differ",
            f"{K[i, j]:g} and {K[j, i]:g}",
            "Use (K + K') / 2 if the differences do not matter.",
        )
    return np.asarray((K + K.T) / 2)


def center_kernel(K: Floats, weights: Floats | None = None, K_new: Floats | None = None) -> Floats:
    """Centre a kernel in its feature space at the weighted mean of the training rows."""
    share = _shares(weights, K.shape[0])
    mean = share @ K
    rows = K if K_new is None else K_new
    return np.asarray(rows - mean[None, :] - (rows @ share)[:, None] + mean @ share)


def _cholesky_map(K: Floats) -> KernelMap | None:
    """Factor K by pivoted Cholesky, or return None if K is not positive semi-definite."""
    largest = float(K.diagonal().max(initial=0.0))
    if largest <= 0:
        return None
    factor, pivots, rank, _ = lapack.dpstrf(K, lower=1, tol=MIN_EIGENVALUE_SHARE * largest)
    order = pivots.astype(np.int64) - 1
    L = np.tril(factor)[:, :rank]
    # The residual after `rank` pivots must be rounding error: an indefinite K leaves more.
    remaining = order[rank:]
    if remaining.size:
        residual = K[np.ix_(remaining, remaining)] - L[rank:] @ L[rank:].T
        if float(np.abs(residual).max()) > 100 * MIN_EIGENVALUE_SHARE * largest:
            return None
    projection = solve_triangular(L[:rank], np.eye(rank), lower=True).T
    by_row = np.argsort(order[:rank])
    return KernelMap(order[:rank][by_row], np.ascontiguousarray(projection[by_row]))


def _eigen_map(K: Floats, where: str) -> KernelMap:
    values, U = np.linalg.eigh(K)
    largest = float(values[-1]) if values.size else 0.0
    lowest = float(values[0]) if values.size else 0.0
    if lowest < -MAX_NEGATIVE_SHARE * max(largest, 0.0):
        warnings.warn(
            f"{where}: the kernel is not positive semi-definite (lowest eigenvalue {lowest:.3g}, "
            f"highest {largest:.3g}), so the negative part is left out.",
            DataWarning,
            stacklevel=3,
        )
    is_positive = values > MIN_EIGENVALUE_SHARE * max(largest, 0.0)
    return KernelMap(np.arange(K.shape[0]), U[:, is_positive] / np.sqrt(values[is_positive]))


def _shares(weights: Floats | None, n: int) -> Floats:
    if weights is None or not np.any(weights):
        return np.full(n, 1.0 / max(n, 1))
    return np.asarray(weights, dtype=np.float64) / np.sum(weights)
