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
    on_iteration: Callable[[Floats, float], None],
) -> tuple[Floats, float, bool]:
    """Minimise from `start` with at most `n_iter` iterations."""

    # With this parameter name scipy passes the value too.
    def step(intermediate_result: OptimizeResult) -> None:
        on_iteration(np.array(intermediate_result.x), float(intermediate_result.fun))

    result = minimize(
        objective,
        start,
        jac=True,
        method="L-BFGS-B",
        callback=step,
        options={"maxiter": n_iter, "maxfun": 20 * n_iter},
    )
    return np.asarray(result.x, dtype=np.float64), float(result.fun), bool(result.success)
