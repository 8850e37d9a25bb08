"""Compiled loop of soft ordinal embedding."""

from __future__ import annotations

from hetviz._types import Floats, Ints
from hetviz.core.compiled import compiled

_MIN_DISTANCE = 1e-12


@compiled
def add_soft_ordinal_loss(X: Floats, pairs: Ints, weight: Floats, gradient: Floats) -> float:
    """Return sum_c w_c max(0, 1 + d(i, j) - d(k, l))^2 and add its gradient."""
    k = X.shape[1]
    value = 0.0
    for c in range(len(pairs)):
        i, j, p, q = pairs[c]
        near = far = 0.0
        for axis in range(k):
            near += (X[i, axis] - X[j, axis]) ** 2
            far += (X[p, axis] - X[q, axis]) ** 2
        near, far = near**0.5, far**0.5
        excess = 1.0 + near - far
        if excess <= 0.0:
            continue
        value += weight[c] * excess * excess
        slope = 2.0 * weight[c] * excess
        to_near, to_far = slope / max(near, _MIN_DISTANCE), slope / max(far, _MIN_DISTANCE)
        for axis in range(k):
            step = to_near * (X[i, axis] - X[j, axis])
            gradient[i, axis] += step
            gradient[j, axis] -= step
            step = to_far * (X[p, axis] - X[q, axis])
            gradient[p, axis] -= step
            gradient[q, axis] += step
    return value
