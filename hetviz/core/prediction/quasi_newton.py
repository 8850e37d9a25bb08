"""L-BFGS minimisation of smooth objectives, with a report of every iteration."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.optimize import OptimizeResult, minimize

from hetviz._types import Floats


def lbfgs(
    objective: Callable[[Floats], tuple[float, Floats]],
    start: Floats,
    n_iter: int,
    told: Callable[[Floats, float], None],
) -> tuple[Floats, float, bool]:
    """Minimise from `start` with at most `n_iter` iterations.

    Parameters
    ----------
    objective : callable
        Returns value and gradient, shape (n,).
    start : ndarray of shape (n,)
    n_iter : int
    told : callable
        Gets point and value after each iteration; an exception that it raises stops the run.

    Returns
    -------
    point : ndarray of shape (n,)
    value : float
    settled : bool
        Whether the run converged.
    """

    # With this parameter name scipy passes the value too.
    def step(intermediate_result: OptimizeResult) -> None:
        told(np.array(intermediate_result.x), float(intermediate_result.fun))

    found = minimize(
        objective,
        start,
        jac=True,
        method="L-BFGS-B",
        callback=step,
        options={"maxiter": n_iter, "maxfun": 20 * n_iter},
    )
    return np.asarray(found.x, dtype=np.float64), float(found.fun), bool(found.success)
