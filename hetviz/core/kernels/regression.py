"""Factored kernels for Bayesian regression, full or of low rank."""

from __future__ import annotations

import numpy as np
from scipy.linalg import cholesky, lapack, solve_triangular

from hetviz._types import Floats
from hetviz.errors import NotApplicableError

MAX_FULL_RANK_ROWS = 400
RANK = 200


class Design:
    """A kernel as the design matrix of a regression with a prior precision per row."""

    def __init__(self, K: Floats | None, n: int, rank: int | None = None) -> None:
        self.n = n
        self.K = K
        self._squared = self._buffer = np.empty((0, 0))
        self._U: Floats | None = None
        self._D: Floats | None = None
        if K is None:
            return
        if rank is None or rank >= n:
            self._squared = K @ K
            self._buffer = np.empty_like(self._squared)
            return
        values, U = np.linalg.eigh(K)
        retained = np.argsort(-np.abs(values), kind="stable")[:rank]
        retained = retained[np.abs(values[retained]) > 1e-10 * np.abs(values).max(initial=0.0)]
        self._U, self._D = np.ascontiguousarray(U[:, retained]), values[retained]

    def times(self, A: Floats) -> Floats:
        """Return K A, with the possibly reduced kernel."""
        if self.K is None:
            return A
        if self._U is None or self._D is None:
            return np.asarray(self.K @ A)
        return np.asarray(self._U @ (self._D[:, None] * (self._U.T @ A)))

    def of_new(self, K_new: Floats) -> Floats:
        """Return kernel values of new rows, (n_new, n), reduced like this kernel."""
        return K_new if self._U is None else np.asarray((K_new @ self._U) @ self._U.T)

    def regress(self, precision: Floats, g: Floats, noise: float) -> tuple[Floats, Floats, float]:
        """Return the posterior of a ~ N(0, 1 / precision) given g ~ N(K a, noise)."""
        right = self.times(g[:, None])[:, 0] / noise
        if self.K is None:
            S = 1.0 / (precision + 1.0 / noise)
            return S * right, S, float(np.log(S).sum())
        factor, log_determinant = self._factor(precision, noise)
        if self._U is None:
            mean = factor.T @ (factor @ right)
            return mean, np.einsum("ij,ij->j", factor, factor), log_determinant
        mean = right / precision - factor.T @ (factor @ right)
        variance = 1.0 / precision - np.einsum("ij,ij->j", factor, factor)
        return mean, variance, log_determinant

    def spread(self, precision: Floats, noise: float, K_new: Floats | None) -> Floats:
        """Return k'S k for the rows k of `K_new` (n_new, n), or of K if it is None."""
        if self.K is None:
            return 1.0 / (precision + 1.0 / noise)
        rows = self.times(np.eye(self.n)) if K_new is None else self.of_new(K_new)
        factor, _ = self._factor(precision, noise)
        projected = factor @ rows.T
        explained = np.einsum("ij,ij->j", projected, projected)
        if self._U is None:
            return np.asarray(explained)
        return np.asarray(np.maximum((rows**2) @ (1.0 / precision) - explained, 0.0))

    def _factor(self, precision: Floats, noise: float) -> tuple[Floats, float]:
        """Return V with S = V'V, or S = 1 / precision - V'V for a low rank, and log |S|.

        The next call overwrites V.
        """
        if self._U is None or self._D is None:
            # In one buffer, because copies in scipy's wrappers cost more than the factorisation.
            np.divide(self._squared, noise, out=self._buffer)
            self._buffer.flat[:: self.n + 1] += precision
            L, failed = lapack.dpotrf(self._buffer.T, lower=1, clean=1, overwrite_a=1)
            if failed:
                reason = "Its kernels are too large for this noise level. Use a larger sigma_g."
                raise NotApplicableError("This factorisation", [reason])
            size = -2.0 * float(np.log(L.diagonal()).sum())
            return lapack.dtrtri(L, lower=1, overwrite_c=1)[0], size
        scaled = (self._U * self._D).T
        thin = scaled / np.sqrt(precision)
        B = thin @ thin.T
        B.flat[:: len(B) + 1] += noise
        L = cholesky(B, lower=True, overwrite_a=True, check_finite=False)
        V = solve_triangular(L, scaled / precision, lower=True, check_finite=False)
        size = 2.0 * float(np.log(L.diagonal()).sum()) - len(B) * float(np.log(noise))
        return V, -float(np.log(precision).sum()) - size
