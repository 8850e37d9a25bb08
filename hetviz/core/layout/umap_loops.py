"""Compiled inner loops of UMAP."""

from __future__ import annotations

import numpy as np

from hetviz._types import Array
from hetviz.core.compiled import compiled

_TOLERANCE = 1e-5
_STEPS = 64
_MIN_WIDTH = 1e-3


@compiled
def write_memberships(distance: Array, count: float, out: Array) -> None:
    """Write the membership of each neighbour: 1 for the nearest, `count` in total for a row.

    exp(-(d - d_nearest) / width) with a width per row, at least a thousandth of its mean distance.
    """
    n, k = distance.shape
    overall = 0.0
    for i in range(n):
        for j in range(k):
            overall += distance[i, j] / (n * k)
    for i in range(n):
        nearest, mean = -1.0, 0.0
        for j in range(k):
            d = distance[i, j]
            mean += d / (k + 1)
            if d > 0.0 and (nearest < 0.0 or d < nearest):
                nearest = d
        nearest = max(nearest, 0.0)
        low, high, width = 0.0, -1.0, 1.0
        for _ in range(_STEPS):
            s = 0.0
            for j in range(k):
                excess = distance[i, j] - nearest
                s += np.exp(-excess / width) if excess > 0.0 else 1.0
            if abs(s - count) < _TOLERANCE:
                break
            if s > count:
                high = width
                width = 0.5 * (low + high)
            else:
                low = width
                width = 2.0 * width if high < 0.0 else 0.5 * (low + high)
        width = max(width, _MIN_WIDTH * (mean if nearest > 0.0 else overall))
        for j in range(k):
            excess = distance[i, j] - nearest
            out[i, j] = np.exp(-excess / width) if excess > 0.0 and width > 0.0 else 1.0


@compiled
def _clipped(value: float) -> float:
    return min(max(value, -4.0), 4.0)


@compiled
def run_epochs(
    first: int,
    last: int,
    total: int,
    Y: Array,
    head: Array,
    tail: Array,
    every: Array,
    due: Array,
    due_negative: Array,
    negatives: float,
    a: float,
    b: float,
    speed: float,
    state: Array,
) -> None:
    """Run epochs first to last of stochastic gradient descent on Y (n, k), in place.

    Edge e is sampled once in every[e] epochs and pulls its two ends together, by the gradient of
    log(1 + a d^2b); each time `negatives` random points repel its head. `due` and `due_negative`
    hold the epoch of the next sample.
    """
    n, k = Y.shape
    for epoch in range(first, last):
        alpha = speed * (1.0 - epoch / total)
        for e in range(head.size):
            if due[e] > epoch:
                continue
            i, j = head[e], tail[e]
            d = 0.0
            for c in range(k):
                d += (Y[i, c] - Y[j, c]) ** 2
            if d > 0.0:
                power = d**b
                pull = -2.0 * a * b * power / d / (a * power + 1.0)
                for c in range(k):
                    move = alpha * _clipped(pull * (Y[i, c] - Y[j, c]))
                    Y[i, c] += move
                    Y[j, c] -= move
            due[e] += every[e]
            draws = int((epoch - due_negative[e]) * negatives / every[e])
            for _ in range(draws):
                state[0] ^= state[0] << np.uint64(13)
                state[0] ^= state[0] >> np.uint64(7)
                state[0] ^= state[0] << np.uint64(17)
                other = np.int64(state[0] % np.uint64(n))
                if other == i:
                    continue
                d = 0.0
                for c in range(k):
                    d += (Y[i, c] - Y[other, c]) ** 2
                if d > 0.0:
                    push = 2.0 * b / ((0.001 + d) * (a * d**b + 1.0))
                    for c in range(k):
                        Y[i, c] += alpha * _clipped(push * (Y[i, c] - Y[other, c]))
            due_negative[e] += draws * every[e] / negatives


@compiled
def push_pairs_apart(Y: Array, left: Array, right: Array, share: Array, reach: float) -> None:
    """Move pairs closer than `reach` apart, by a share of the missing distance."""
    k = Y.shape[1]
    for e in range(left.size):
        i, j = left[e], right[e]
        d = 0.0
        for c in range(k):
            d += (Y[i, c] - Y[j, c]) ** 2
        d = np.sqrt(d)
        if 0.0 < d < reach:
            move = 0.5 * share[e] * (reach - d) / d
            for c in range(k):
                shift = move * (Y[i, c] - Y[j, c])
                Y[i, c] += shift
                Y[j, c] -= shift
