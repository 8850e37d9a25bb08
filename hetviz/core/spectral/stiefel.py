"""Orthonormal frames: matrices Q of shape (n, r) with Q'Q = I, and steps that preserve this."""

from __future__ import annotations

import numpy as np

from hetviz._types import Floats, Rng

RETRACTIONS = {
    "polar": "the nearest frame",
    "qr": "the frame by Gram-Schmidt, column after column",
}


def random_frame(n: int, r: int, rng: Rng) -> Floats:
    """Return a uniformly distributed random frame: shape (n, r), r <= n."""
    return retract(rng.standard_normal((n, r)), "qr")


def retract(Q: Floats, method: str = "polar") -> Floats:
    """Return a frame near Q (n, r) of full rank: O(n r^2).

    "polar" is the nearest frame in every unitarily invariant norm; "qr" preserves the span of the
    first columns, with a positive diagonal of R.
    """
    if method == "qr":
        frame, R = np.linalg.qr(Q)
        return np.asarray(frame * np.where(R.diagonal() < 0, -1.0, 1.0))
    U, _, Vt = np.linalg.svd(Q, full_matrices=False)
    return np.asarray(U @ Vt)


def steepest_descent(Q: Floats, gradient: Floats) -> tuple[Floats, float]:
    """Return the direction of steepest descent at Q in the canonical metric, and its length.

    Manton, Optimization algorithms exploiting unitary constraints, 2002.
    """
    Z = Q @ (gradient.T @ Q) - gradient
    nu = float((Z**2).sum()) - 0.5 * float(((Q.T @ Z) ** 2).sum())
    return Z, max(nu, 0.0)
