"""Free movement of points from a map so that more comparisons hold.

    min_Y  sum_c w_c log(1 + exp((d_near - d_far) / s)) / sum_c w_c  +  lam |Y - Y_0|^2 / |Y_0|^2

with distances d, and s a fifth of their root mean square. A map that is a function of features
cannot satisfy comparisons that these do not express. Held-out comparisons choose lam. Distances
are not squared, because a few very long pairs would dominate squared ones.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.optimize import minimize

from hetviz._types import Floats, Ints, Rng
from hetviz.core.graph.neighbors import cross_neighbors
from hetviz.core.ordinal.comparisons import comparison_outcomes

PULLS = (3.0, 1.0, 0.3, 0.1, 0.03, 0.01)
"""Strengths of the pull to the start to try."""
MIN_COMPARISONS = 50
"""Minimum number of comparisons for holding some out."""
FOLDS = 3
MANY_COMPARISONS = 5_000
"""From this many comparisons on, a third is held out only once."""
_SHARPNESS = 5.0
_MIN_SQUARED_SHARE = 1e-6
"""Share of the mean squared distance added to each, because the slope is unbounded at 0."""
_N_NEAREST = 8


def polish_map(Y: Floats, pairs: Ints, weight: Floats, pull: float) -> Floats:
    """Move points so that more comparisons hold.

    `pull`: lam, above 0: points move less for larger values.
    """
    size = float(((Y - Y.mean(axis=0)) ** 2).sum())
    if size == 0 or not len(pairs):
        return Y
    n, k = Y.shape
    a, b, c, d = pairs.T
    share = weight / weight.sum()
    mean = 2.0 * size / n
    scale, min_squared = _SHARPNESS / np.sqrt(mean), _MIN_SQUARED_SHARE * mean

    def loss(flat: Floats) -> tuple[float, Floats]:
        X = flat.reshape(n, k)
        near, far = X[a] - X[b], X[c] - X[d]
        d_near, d_far = (
            np.sqrt((difference**2).sum(axis=1) + min_squared) for difference in (near, far)
        )
        excess = scale * (d_near - d_far)
        value = float(share @ np.logaddexp(0.0, excess))
        slope = scale * share / (1.0 + np.exp(-np.clip(excess, -500, 500)))
        to_near, to_far = (slope / d_near)[:, None] * near, (slope / d_far)[:, None] * far
        G = np.zeros((n, k))
        for axis in range(k):
            for rows, movement in ((a, to_near), (b, -to_near), (c, -to_far), (d, to_far)):
                G[:, axis] += np.bincount(rows, movement[:, axis], n)
        shift = X - Y
        value += pull * float((shift**2).sum()) / size
        return value, (G + 2.0 * pull / size * shift).ravel()

    result = minimize(loss, Y.ravel(), jac=True, method="L-BFGS-B", options={"maxiter": 200})
    return np.asarray(result.x, dtype=np.float64).reshape(n, k)


def choose_pull(
    refit: Callable[[Ints], Floats],
    pairs: Ints,
    weight: Floats,
    rng: Rng,
    tick: Callable[[float], object] = lambda share: None,
) -> tuple[float | None, dict[str, float]]:
    """Choose the strength of the pull to the start, by cross-validation over comparisons.

    Returns `pull`: The strength that satisfies most held-out comparisons, if it beats the start by
        more than one standard error of the difference; else None, which leaves the map unchanged.
        Of equal ones the largest.
    """
    if len(pairs) < MIN_COMPARISONS:
        return None, {}
    fold = rng.permutation(len(pairs)) % FOLDS
    rounds = FOLDS if len(pairs) < MANY_COMPARISONS else 1
    outcomes: dict[str, list[Floats]] = {}
    held_out_weights: list[Floats] = []
    for number in range(rounds):
        training, held_out = np.flatnonzero(fold != number), np.flatnonzero(fold == number)
        tick(number / rounds)
        start = refit(training)
        outcomes.setdefault("none", []).append(comparison_outcomes(start, pairs[held_out]))
        for pull in PULLS:
            Y = polish_map(start, pairs[training], weight[training], pull)
            outcomes.setdefault(f"{pull:g}", []).append(comparison_outcomes(Y, pairs[held_out]))
        held_out_weights.append(weight[held_out])
    share = np.concatenate(held_out_weights)
    share = share / share.sum()
    outcome = {
        name: np.nan_to_num(np.concatenate(folds), nan=0.5) for name, folds in outcomes.items()
    }
    accuracy = {name: float(share @ values) for name, values in outcome.items()}
    best = max(PULLS, key=lambda pull: accuracy[f"{pull:g}"])
    gain = outcome[f"{best:g}"] - outcome["none"]
    mean = float(share @ gain)
    error = float(np.sqrt((share**2) @ (gain - mean) ** 2))
    return (best if mean > error else None), accuracy


def move_along(Y: Floats, before: Floats, after: Floats) -> Floats:
    """Move positions along with nearby points that moved.

    Returns (m, k): Each position moves by the mean movement of its nearest points, weighted by
        inverse squared distance; a position on a point moves with it. O(m n k).
    """
    if not len(Y) or not len(before):
        return Y
    neighbors = cross_neighbors(Y, before, min(_N_NEAREST, len(before)))
    index, squared = neighbors.index, neighbors.squared
    min_squared = 1e-18 * max(float((before**2).mean()), 1e-300)
    W = 1.0 / np.maximum(squared, min_squared)
    coincides = squared <= min_squared
    W = np.where(coincides.any(axis=1, keepdims=True), coincides, W)
    W /= W.sum(axis=1, keepdims=True)
    return np.asarray(Y + np.einsum("ij,ijk->ik", W, (after - before)[index]))
