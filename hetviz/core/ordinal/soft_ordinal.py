"""Soft ordinal embedding: a map from comparisons by a squared hinge of distances.

    min_Y  sum_c w_c max(0, 1 + d_near - d_far)^2 / sum_c w_c  +  lam |Y|^2 / m

with distances d that are not squared and m comparisons (Terada and von Luxburg 2014, equation 1).
The penalty is an addition: it keeps points with few comparisons from following each of them. The
problem is not convex, so it is solved from several starts and the lowest minimum is used.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.optimize import minimize

from hetviz._types import Floats, Ints, Rng
from hetviz.core.spectral.eigen import axis_signs

PENALTY = 0.1
N_STARTS = 10
MAX_ITERATIONS = 1_000
_START_SCALE = 10.0
"""Standard deviation of the starts, in margins."""


def soft_ordinal_loss(
    Y: Floats, pairs: Ints, weight: Floats, penalty: float = PENALTY
) -> tuple[float, Floats]:
    """Return the loss and its gradient (n, k)."""
    from hetviz.core.ordinal.soft_ordinal_loops import add_soft_ordinal_loss

    factor = penalty / len(pairs)
    gradient = 2.0 * factor * Y
    value = add_soft_ordinal_loss(Y, pairs, weight, gradient)
    return float(value) + factor * float((Y**2).sum()), gradient


def embed_soft_ordinal(
    n: int,
    pairs: Ints,
    weight: Floats,
    k: int,
    rng: Rng,
    *,
    n_starts: int = N_STARTS,
    penalty: float = PENALTY,
    report: Callable[[int, Floats], object] = lambda start, Y: None,
    beat: Callable[[int], object] = lambda start: None,
) -> tuple[Floats, list[float]]:
    """Return the best map (n, k) and the lowest loss after each start."""
    share = np.asarray(weight, dtype=np.float64) / weight.sum()
    pairs = np.ascontiguousarray(pairs, dtype=np.int64)
    best, history = np.zeros((n, k)), [np.inf]

    def loss(flat: Floats) -> tuple[float, Floats]:
        value, gradient = soft_ordinal_loss(flat.reshape(n, k), pairs, share, penalty)
        return value, gradient.ravel()

    def step(xk: Floats) -> None:
        beat(len(history) - 1)

    for start in range(n_starts):
        result = minimize(
            loss,
            _START_SCALE * rng.normal(size=n * k),
            jac=True,
            method="L-BFGS-B",
            callback=step,
            options={"maxiter": MAX_ITERATIONS, "maxfun": 2 * MAX_ITERATIONS},
        )
        if result.fun < history[-1]:
            best = _principal_axes(result.x.reshape(n, k))
        history.append(min(float(result.fun), history[-1]))
        report(start + 1, best)
    return best, history[1:]


def _principal_axes(Y: Floats) -> Floats:
    Y = Y - Y.mean(axis=0)
    U, sizes, _ = np.linalg.svd(Y, full_matrices=False)
    out = np.zeros_like(Y)
    out[:, : len(sizes)] = U * sizes
    return np.asarray(out * axis_signs(out))
