"""The inner loops of stochastic neighbour embedding, compiled.

Coordinates are separate arrays x and y of shape (n,). `one` is the number 1 in their precision:
a literal would turn single into double precision.
"""

from __future__ import annotations

import numpy as np

from hetviz._types import Array, Real
from hetviz.core.compiled import compiled

_ROWS = 128


@compiled
def repulsion(start: int, stop: int, x: Array, y: Array, one: Real, out: Array) -> None:
    """Write, for rows start to stop, sums over j of q^2 (x_i - x_j), q^2 (y_i - y_j) and q.

    q = 1 / (1 + d^2); out has shape (3, n). O(n) per row.
    """
    zero = one - one
    for first in range(start, stop, _ROWS):
        last = min(first + _ROWS, stop)
        xs, ys = x[first:last], y[first:last]
        fx, fy, total = out[0, first:last], out[1, first:last], out[2, first:last]
        fx[:], fy[:], total[:] = zero, zero, -one
        for j in range(x.size):
            xj, yj = x[j], y[j]
            # over rows, not over j: each has sums of its own, so the compiler may run them abreast
            for i in range(last - first):
                dx, dy = xs[i] - xj, ys[i] - yj
                q = one / (one + dx * dx + dy * dy)
                total[i] += q
                q *= q
                fx[i] += q * dx
                fy[i] += q * dy


@compiled
def weighted_repulsion(
    start: int, stop: int, x: Array, y: Array, one: Real, mass: Array, out: Array
) -> None:
    """Write the same with points of unequal mass: each pair counts m_i m_j times."""
    zero = one - one
    for first in range(start, stop, _ROWS):
        last = min(first + _ROWS, stop)
        xs, ys, own = x[first:last], y[first:last], mass[first:last]
        fx, fy, total = out[0, first:last], out[1, first:last], out[2, first:last]
        fx[:], fy[:] = zero, zero
        for i in range(last - first):
            total[i] = -own[i]
        for j in range(x.size):
            xj, yj, mj = x[j], y[j], mass[j]
            for i in range(last - first):
                dx, dy = xs[i] - xj, ys[i] - yj
                q = one / (one + dx * dx + dy * dy)
                w = mj * q
                total[i] += w
                w *= q
                fx[i] += w * dx
                fy[i] += w * dy
        for i in range(last - first):
            fx[i] *= own[i]
            fy[i] *= own[i]
            total[i] *= own[i]


@compiled
def attraction(
    start: int,
    stop: int,
    x: Array,
    y: Array,
    one: Real,
    indptr: Array,
    indices: Array,
    p: Array,
    out: Array,
) -> None:
    """Write, for rows start to stop, the sums over j of p_ij q (x_i - x_j) and of y likewise."""
    zero = one - one
    for i in range(start, stop):
        xi, yi = x[i], y[i]
        fx, fy = zero, zero
        for k in range(indptr[i], indptr[i + 1]):
            j = indices[k]
            dx, dy = xi - x[j], yi - y[j]
            w = p[k] / (one + dx * dx + dy * dy)
            fx += w * dx
            fy += w * dy
        out[0, i], out[1, i] = fx, fy


@compiled
def forces(
    start: int,
    stop: int,
    x: Array,
    y: Array,
    one: Real,
    indptr: Array,
    indices: Array,
    p: Array,
    pull: Array,
    push: Array,
) -> None:
    """Write both sorts of forces on rows start to stop."""
    repulsion(start, stop, x, y, one, push)
    attraction(start, stop, x, y, one, indptr, indices, p, pull)


@compiled
def push_apart(
    x: Array,
    y: Array,
    one: Real,
    left: Array,
    right: Array,
    strength: Array,
    reach: Real,
    out: Array,
) -> None:
    """Take off `out` the pull of links that say apart, for pairs nearer than sqrt(reach).

    The energy of a pair is strength * max(0, log(1 + reach) - log(1 + d^2)), in units of a
    quarter, as all forces here.
    """
    for c in range(strength.size):
        i, j = left[c], right[c]
        dx, dy = x[i] - x[j], y[i] - y[j]
        d = dx * dx + dy * dy
        if d < reach:
            w = strength[c] / (one + one) / (one + d)
            out[0, i] -= w * dx
            out[1, i] -= w * dy
            out[0, j] += w * dx
            out[1, j] += w * dy


@compiled
def total(values: Array) -> float:
    """Sum in double precision, always in the same order."""
    s = 0.0
    for i in range(values.size):
        s += values[i]
    return s


@compiled
def step(
    x: Array,
    y: Array,
    pull: Array,
    push: Array,
    velocity: Array,
    gain: Array,
    rate: Array,
    longest: Real,
) -> None:
    """Move by momentum and gains of each coordinate, then recentre.

    `rate` holds exaggeration, 1 / Z, learning rate, momentum, and the 1, 0.8, 0.01 and 0.2 of the
    gains (1, 1, 0 and 0 for none); no step is longer than `longest`.
    """
    exaggeration, over_z, speed, momentum = rate[0], rate[1], rate[2], rate[3]
    one, shrink, least, grow = rate[4], rate[5], rate[6], rate[7]
    zero = one - one
    n = x.size
    mean_x, mean_y = 0.0, 0.0
    for i in range(n):
        gx = exaggeration * pull[0, i] - over_z * push[0, i]
        gy = exaggeration * pull[1, i] - over_z * push[1, i]
        vx, vy = velocity[0, i], velocity[1, i]
        agree_x = (vx > zero and gx > zero) or (vx < zero and gx < zero)
        agree_y = (vy > zero and gy > zero) or (vy < zero and gy < zero)
        kx = gain[0, i] * shrink + least if agree_x else gain[0, i] + grow
        ky = gain[1, i] * shrink + least if agree_y else gain[1, i] + grow
        vx = momentum * vx - speed * kx * gx
        vy = momentum * vy - speed * ky * gy
        size = np.hypot(vx, vy)
        if size > longest:
            shorter = longest / size
            vx *= shorter
            vy *= shorter
        gain[0, i], gain[1, i] = kx, ky
        velocity[0, i], velocity[1, i] = vx, vy
        x[i] += vx
        y[i] += vy
        mean_x += x[i]
        mean_y += y[i]
    shift_x, shift_y = one * (mean_x / n), one * (mean_y / n)
    for i in range(n):
        x[i] -= shift_x
        y[i] -= shift_y


@compiled
def exact_steps(
    n_steps: int,
    x: Array,
    y: Array,
    one: Real,
    indptr: Array,
    indices: Array,
    p: Array,
    left: Array,
    right: Array,
    strength: Array,
    reach: Real,
    pull: Array,
    push: Array,
    velocity: Array,
    gain: Array,
    rate: Array,
    longest: Real,
) -> float:
    """Make several whole iterations with exact forces; return the last Z."""
    z = 1.0
    for _ in range(n_steps):
        forces(0, x.size, x, y, one, indptr, indices, p, pull, push)
        push_apart(x, y, one, left, right, strength, reach, pull)
        z = total(push[2])
        rate[1] = one / z
        step(x, y, pull, push, velocity, gain, rate, longest)
    return z


@compiled
def cross_entropy(x: Array, y: Array, indptr: Array, indices: Array, p: Array) -> float:
    """Sum p_ij log(1 + d_ij^2), which with log Z is all of KL that depends on the layout."""
    s = 0.0
    for i in range(x.size):
        row = 0.0
        for k in range(indptr[i], indptr[i + 1]):
            j = indices[k]
            dx, dy = x[i] - x[j], y[i] - y[j]
            row += p[k] * np.log(1.0 + dx * dx + dy * dy)
        s += row
    return s


@compiled
def calibrate(
    start: int, stop: int, squared: Array, log_perplexity: float, steps: int, out: Array
) -> None:
    """Write Gaussian weights of sum 1 over each row of squared distances, of that entropy.

    Bisection on the precision. Where all are equally far the weights are equal; where too many
    are equally near, only these get weight.
    """
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
                far = squared[i, j] - nearest
                w = np.exp(-precision * far)
                out[i, j] = w
                s += w
                weighted += far * w
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
