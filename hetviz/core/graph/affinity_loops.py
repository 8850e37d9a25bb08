"""Compiled inner loop that fits Gaussian weights to a perplexity."""

from __future__ import annotations

import numpy as np

from hetviz._types import Array
from hetviz.core.compiled import compiled


@compiled
def calibrate(
    start: int, stop: int, squared: Array, log_perplexity: float, steps: int, out: Array
) -> None:
    """Write Gaussian weights of sum 1 and given entropy for each row of squared distances."""
    k = squared.shape[1]
    for i in range(start, stop):
        nearest, mean = squared[i, 0], 0.0
        for j in range(k):
            nearest = min(nearest, squared[i, j])
        for j in range(k):
            mean += (squared[i, j] - nearest) / k
        if mean <= 0.0:
            for j in range(k):
                out[i, j] = 1.0 / k
            continue
        low, high, precision = 0.0, -1.0, 1.0 / mean
        for _ in range(steps):
            s, weighted = 0.0, 0.0
            for j in range(k):
                excess_distance = squared[i, j] - nearest
                w = np.exp(-precision * excess_distance)
                out[i, j] = w
                s += w
                weighted += excess_distance * w
            excess = np.log(s) + precision * weighted / s - log_perplexity
            for j in range(k):
                out[i, j] /= s
            if abs(excess) < 1e-11:
                break
            if excess > 0.0:
                low = precision
                precision = 2.0 * precision if high < 0.0 else 0.5 * (low + high)
            else:
                high = precision
                precision = 0.5 * (low + high)
