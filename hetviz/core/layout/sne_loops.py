"""Compiled inner loops of stochastic neighbour embedding.

Coordinates are separate arrays x and y of shape (n,). `one` is the number 1 in their precision,
because a literal would turn single into double precision.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import scipy.fft

from hetviz._types import AnyFloat, Array, Floats
from hetviz.core.compiled import Team, compiled

_BLOCK_ROWS = 128


@compiled
def repulsion(start: int, stop: int, x: Array, y: Array, unit: AnyFloat, out: Array) -> None:
    """Write, for rows start to stop, sums over j of q^2 (x_i - x_j), q^2 (y_i - y_j) and q.

    q = 1 / (1 + d^2); out has shape (3, n). O(n) per row.
    """
    zero = unit - unit
    n = x.size
    for first in range(start, stop, _BLOCK_ROWS):
        last = min(first + _BLOCK_ROWS, stop)
        xs, ys = x[first:last], y[first:last]
        fx, fy, total = out[0, first:last], out[1, first:last], out[2, first:last]
        fx[:], fy[:], total[:] = zero, zero, -unit
        # Over rows, not over j: each row has its own sums, so the compiler can vectorise. Four j
        # at once halve the time, as sums are read and written less often, in the same order.
        for j in range(0, n - n % 4, 4):
            xa, xb, xc, xd = x[j], x[j + 1], x[j + 2], x[j + 3]
            ya, yb, yc, yd = y[j], y[j + 1], y[j + 2], y[j + 3]
            for i in range(last - first):
                ax, bx, cx, dx = xs[i] - xa, xs[i] - xb, xs[i] - xc, xs[i] - xd
                ay, by, cy, dy = ys[i] - ya, ys[i] - yb, ys[i] - yc, ys[i] - yd
                a = unit / (unit + ax * ax + ay * ay)
                b = unit / (unit + bx * bx + by * by)
                c = unit / (unit + cx * cx + cy * cy)
                d = unit / (unit + dx * dx + dy * dy)
                total[i] = total[i] + a + b + c + d
                a *= a
                b *= b
                c *= c
                d *= d
                fx[i] = fx[i] + a * ax + b * bx + c * cx + d * dx
                fy[i] = fy[i] + a * ay + b * by + c * cy + d * dy
        for j in range(n - n % 4, n):
            for i in range(last - first):
                dx, dy = xs[i] - x[j], ys[i] - y[j]
                q = unit / (unit + dx * dx + dy * dy)
                total[i] += q
                q *= q
                fx[i] += q * dx
                fy[i] += q * dy


@compiled
def weighted_repulsion(
    start: int, stop: int, x: Array, y: Array, unit: AnyFloat, mass: Array, out: Array
) -> None:
    """Write repulsion of points of unequal mass: each pair counts m_i m_j times."""
    zero = unit - unit
    n = x.size
    for first in range(start, stop, _BLOCK_ROWS):
        last = min(first + _BLOCK_ROWS, stop)
        xs, ys, own_mass = x[first:last], y[first:last], mass[first:last]
        fx, fy, total = out[0, first:last], out[1, first:last], out[2, first:last]
        fx[:], fy[:] = zero, zero
        for i in range(last - first):
            total[i] = -own_mass[i]
        # Two j at once, see `repulsion`.
        for j in range(0, n - n % 2, 2):
            xa, ya, ma, xb, yb, mb = x[j], y[j], mass[j], x[j + 1], y[j + 1], mass[j + 1]
            for i in range(last - first):
                ax, ay, bx, by = xs[i] - xa, ys[i] - ya, xs[i] - xb, ys[i] - yb
                p = unit / (unit + ax * ax + ay * ay)
                q = unit / (unit + bx * bx + by * by)
                a, b = ma * p, mb * q
                total[i] = total[i] + a + b
                a *= p
                b *= q
                fx[i] = fx[i] + a * ax + b * bx
                fy[i] = fy[i] + a * ay + b * by
        for j in range(n - n % 2, n):
            for i in range(last - first):
                dx, dy = xs[i] - x[j], ys[i] - y[j]
                q = unit / (unit + dx * dx + dy * dy)
                w = mass[j] * q
                total[i] += w
                w *= q
                fx[i] += w * dx
                fy[i] += w * dy
        for i in range(last - first):
            fx[i] *= own_mass[i]
            fy[i] *= own_mass[i]
            total[i] *= own_mass[i]


@compiled
def attraction(
    start: int,
    stop: int,
    x: Array,
    y: Array,
    unit: AnyFloat,
    indptr: Array,
    indices: Array,
    p: Array,
    out: Array,
) -> None:
    """Write, for rows start to stop, the sums over j of p_ij q (x_i - x_j) and of y likewise."""
    zero = unit - unit
    for i in range(start, stop):
        xi, yi = x[i], y[i]
        fx, fy = zero, zero
        for k in range(indptr[i], indptr[i + 1]):
            j = indices[k]
            dx, dy = xi - x[j], yi - y[j]
            w = p[k] / (unit + dx * dx + dy * dy)
            fx += w * dx
            fy += w * dy
        out[0, i], out[1, i] = fx, fy


@compiled
def forces(
    start: int,
    stop: int,
    x: Array,
    y: Array,
    unit: AnyFloat,
    indptr: Array,
    indices: Array,
    p: Array,
    pull: Array,
    push: Array,
) -> None:
    """Write attraction and repulsion of rows start to stop."""
    repulsion(start, stop, x, y, unit, push)
    attraction(start, stop, x, y, unit, indptr, indices, p, pull)


@compiled
def push_apart(
    x: Array,
    y: Array,
    unit: AnyFloat,
    left: Array,
    right: Array,
    strength: Array,
    reach: Array,
    out: Array,
) -> None:
    """Subtract from `out` the repulsion of pairs closer than the square root of their reach.

    The energy of a pair is strength * max(0, log(1 + reach) - log(1 + d^2)), in units of a
    quarter, like all forces here.
    """
    for c in range(strength.size):
        i, j = left[c], right[c]
        dx, dy = x[i] - x[j], y[i] - y[j]
        d = dx * dx + dy * dy
        if d < reach[c]:
            w = strength[c] / (unit + unit) / (unit + d)
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
    longest: AnyFloat,
) -> None:
    """Move by momentum and gains of each coordinate, then recentre.

    `rate` holds exaggeration, 1 / Z, learning rate, momentum, and the 1, 0.8, 0.01 and 0.2 of the
    gains (1, 1, 0 and 0 for none); no step is longer than `longest`.
    """
    exaggeration, over_z, speed, momentum = rate[0], rate[1], rate[2], rate[3]
    unit, shrink, min_gain, increase = rate[4], rate[5], rate[6], rate[7]
    zero = unit - unit
    n = x.size
    mean_x, mean_y = 0.0, 0.0
    for i in range(n):
        gx = exaggeration * pull[0, i] - over_z * push[0, i]
        gy = exaggeration * pull[1, i] - over_z * push[1, i]
        vx, vy = velocity[0, i], velocity[1, i]
        agree_x = (vx > zero and gx > zero) or (vx < zero and gx < zero)
        agree_y = (vy > zero and gy > zero) or (vy < zero and gy < zero)
        kx = gain[0, i] * shrink + min_gain if agree_x else gain[0, i] + increase
        ky = gain[1, i] * shrink + min_gain if agree_y else gain[1, i] + increase
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
    shift_x, shift_y = unit * (mean_x / n), unit * (mean_y / n)
    for i in range(n):
        x[i] -= shift_x
        y[i] -= shift_y


@compiled
def exact_steps(
    n_steps: int,
    x: Array,
    y: Array,
    unit: AnyFloat,
    indptr: Array,
    indices: Array,
    p: Array,
    left: Array,
    right: Array,
    strength: Array,
    reach: Array,
    pull: Array,
    push: Array,
    velocity: Array,
    gain: Array,
    rate: Array,
    longest: AnyFloat,
) -> float:
    """Run several iterations with exact forces; return the last Z."""
    z = 1.0
    for _ in range(n_steps):
        forces(0, x.size, x, y, unit, indptr, indices, p, pull, push)
        push_apart(x, y, unit, left, right, strength, reach, pull)
        z = total(push[2])
        rate[1] = unit / z
        step(x, y, pull, push, velocity, gain, rate, longest)
    return z


@compiled
def cross_entropy(x: Array, y: Array, indptr: Array, indices: Array, p: Array) -> float:
    """Return the sum of p_ij log(1 + d_ij^2): with log Z the part of KL that the layout changes."""
    s = 0.0
    for i in range(x.size):
        row = 0.0
        for k in range(indptr[i], indptr[i + 1]):
            j = indices[k]
            dx, dy = x[i] - x[j], y[i] - y[j]
            row += p[k] * np.log(1.0 + dx * dx + dy * dy)
        s += row
    return s


# Versions for any number of axes: coordinates are one array Y of shape (k, n).


@compiled
def wide_repulsion(
    start: int, stop: int, Y: Array, unit: AnyFloat, mass: Array, out: Array
) -> None:
    """Write sums over j of m_i m_j q^2 (y_i - y_j), axis by axis, and last of m_i m_j q."""
    zero = unit - unit
    k, n = Y.shape
    q = np.empty(_BLOCK_ROWS, Y.dtype)
    for first in range(start, stop, _BLOCK_ROWS):
        m = min(first + _BLOCK_ROWS, stop) - first
        own_mass, total = mass[first : first + m], out[k, first : first + m]
        for a in range(k):
            out[a, first : first + m] = zero
        for i in range(m):
            total[i] = -own_mass[i]
        for j in range(n):
            for i in range(m):
                q[i] = unit
            for a in range(k):
                ys, yj = Y[a, first : first + m], Y[a, j]
                for i in range(m):
                    d = ys[i] - yj
                    q[i] += d * d
            for i in range(m):
                nearness = unit / q[i]
                w = mass[j] * nearness
                total[i] += w
                q[i] = w * nearness
            for a in range(k):
                ys, yj, force = Y[a, first : first + m], Y[a, j], out[a, first : first + m]
                for i in range(m):
                    force[i] += q[i] * (ys[i] - yj)
        for a in range(k + 1):
            row = out[a, first : first + m]
            for i in range(m):
                row[i] *= own_mass[i]


@compiled
def wide_attraction(
    start: int,
    stop: int,
    Y: Array,
    unit: AnyFloat,
    indptr: Array,
    indices: Array,
    p: Array,
    out: Array,
) -> None:
    """Write, for rows start to stop, the sums over j of p_ij q (y_i - y_j)."""
    k = Y.shape[0]
    for i in range(start, stop):
        for a in range(k):
            out[a, i] = unit - unit
        for e in range(indptr[i], indptr[i + 1]):
            j = indices[e]
            d = unit
            for a in range(k):
                difference = Y[a, i] - Y[a, j]
                d += difference * difference
            w = p[e] / d
            for a in range(k):
                out[a, i] += w * (Y[a, i] - Y[a, j])


@compiled
def wide_push_apart(
    Y: Array, unit: AnyFloat, left: Array, right: Array, strength: Array, reach: Array, out: Array
) -> None:
    """Subtract the repulsion of pairs from `out`, as `push_apart`."""
    k = Y.shape[0]
    for c in range(strength.size):
        i, j = left[c], right[c]
        d = unit - unit
        for a in range(k):
            difference = Y[a, i] - Y[a, j]
            d += difference * difference
        if d < reach[c]:
            w = strength[c] / (unit + unit) / (unit + d)
            for a in range(k):
                move = w * (Y[a, i] - Y[a, j])
                out[a, i] -= move
                out[a, j] += move


@compiled
def wide_step(
    Y: Array, pull: Array, push: Array, velocity: Array, gain: Array, rate: Array, longest: AnyFloat
) -> None:
    """Move by momentum and gains of each coordinate, then recentre, as `step`."""
    exaggeration, over_z, speed, momentum = rate[0], rate[1], rate[2], rate[3]
    unit, shrink, min_gain, increase = rate[4], rate[5], rate[6], rate[7]
    zero = unit - unit
    k, n = Y.shape
    for i in range(n):
        squared = zero
        for a in range(k):
            g = exaggeration * pull[a, i] - over_z * push[a, i]
            v = velocity[a, i]
            agree = (v > zero and g > zero) or (v < zero and g < zero)
            gain[a, i] = gain[a, i] * shrink + min_gain if agree else gain[a, i] + increase
            v = momentum * v - speed * gain[a, i] * g
            velocity[a, i] = v
            squared += v * v
        size = np.sqrt(squared)
        shorter = longest / size if size > longest else unit
        for a in range(k):
            velocity[a, i] *= shorter
            Y[a, i] += velocity[a, i]
    for a in range(k):
        mean = 0.0
        for i in range(n):
            mean += Y[a, i]
        shift = unit * (mean / n)
        for i in range(n):
            Y[a, i] -= shift


@compiled
def wide_cross_entropy(Y: Array, indptr: Array, indices: Array, p: Array) -> float:
    """Return the sum of p_ij log(1 + d_ij^2), as `cross_entropy`."""
    s = 0.0
    for i in range(Y.shape[1]):
        row = 0.0
        for e in range(indptr[i], indptr[i + 1]):
            j = indices[e]
            d = 1.0
            for a in range(Y.shape[0]):
                difference = Y[a, i] - Y[a, j]
                d += difference * difference
            row += p[e] * np.log(d)
        s += row
    return s


# Grid approximation of repulsion: spread, convolve by FFT and gather, with cubic splines.


MAX_SPACING, MIN_SPACING = 0.5, 0.12
"""Spacing of nodes in units of the kernel's width; finer while the layout is small."""
MAX_NODES = 1_024
_N_CHUNKS = 4
_MARGIN = 4


@compiled
def _spline_weights(t: AnyFloat, unit: AnyFloat) -> tuple[AnyFloat, AnyFloat, AnyFloat, AnyFloat]:
    """Return the values of the four cubic B-splines over a cell at t in [0, 1)."""
    u = unit - t
    two = unit + unit
    sixth = unit / (two + two + two)
    four_sixths = two / (two + unit)
    t2, u2 = t * t, u * u
    half = unit / two
    return (
        u2 * u * sixth,
        four_sixths - t2 + half * t2 * t,
        four_sixths - u2 + half * u2 * u,
        t2 * t * sixth,
    )


@compiled
def _spread(
    part: int, start: int, stop: int, x: Array, y: Array, mass: Array, place: Array, grids: Array
) -> None:
    """Add points start to stop to the grid of this part; `place` is x0, y0, 1 / spacing and 1."""
    unit = place[3]
    grid = grids[part]
    grid[:] = unit - unit
    for i in range(start, stop):
        u, v = (x[i] - place[0]) * place[2], (y[i] - place[1]) * place[2]
        a, b = int(u), int(v)
        wu = _spline_weights(u - np.floor(u), unit)
        wv = _spline_weights(v - np.floor(v), unit)
        for r in range(4):
            weighted_mass = mass[i] * wu[r]
            for c in range(4):
                grid[a + r, b + c] += weighted_mass * wv[c]


@compiled
def _convolve(start: int, stop: int, spectrum: Array, kernels: Array, out: Array) -> None:
    """Multiply by one even and two odd kernels: real, imaginary and imaginary spectra."""
    for a in range(start, stop):
        for b in range(spectrum.shape[1]):
            re, im = spectrum[a, b].real, spectrum[a, b].imag
            out[0, a, b] = complex(re * kernels[0, a, b], im * kernels[0, a, b])
            out[1, a, b] = complex(-im * kernels[1, a, b], re * kernels[1, a, b])
            out[2, a, b] = complex(-im * kernels[2, a, b], re * kernels[2, a, b])


@compiled
def _gather(
    start: int, stop: int, x: Array, y: Array, mass: Array, place: Array, fields: Array, out: Array
) -> None:
    """Write (force x, force y, sum of q without the point itself) of each point, by its mass."""
    unit = place[3]
    zero = unit - unit
    for i in range(start, stop):
        u, v = (x[i] - place[0]) * place[2], (y[i] - place[1]) * place[2]
        a, b = int(u), int(v)
        wu = _spline_weights(u - np.floor(u), unit)
        wv = _spline_weights(v - np.floor(v), unit)
        q, fx, fy = zero, zero, zero
        for r in range(4):
            for c in range(4):
                w = wu[r] * wv[c]
                q += w * fields[0, a + r, b + c]
                fx += w * fields[1, a + r, b + c]
                fy += w * fields[2, a + r, b + c]
        m = mass[i]
        out[0, i], out[1, i], out[2, i] = m * fx, m * fy, m * (q - m)


class GridPlan:
    """Spacing and size of the grid for a layout, reused while they fit."""

    def __init__(self) -> None:
        self._plan: tuple[float, int, int] | None = None

    def plan_for(self, size: Floats) -> tuple[float, int, int]:
        """Return the spacing for an extent (2,), and the padded numbers of nodes."""
        largest = float(size.max())
        spacing = max(
            float(np.clip(largest / 100.0, MIN_SPACING, MAX_SPACING)), largest / MAX_NODES
        )
        # Steps of 10 %, so that a growing layout seldom needs new spectra.
        h = float(MAX_SPACING * 1.1 ** np.floor(np.log(spacing / MAX_SPACING) / np.log(1.1) + 1e-9))
        needed = (size / h).astype(np.int64) + 2 * _MARGIN
        plan = self._plan
        if plan is not None and plan[0] == h:
            nodes = np.array(plan[1:]) // 2
            if (needed <= nodes).all() and (nodes <= 1.4 * needed + 24).all():
                return plan
        padded = [_even_fast(2 * int(1.15 * count)) for count in needed]
        self._plan = (h, padded[0], padded[1])
        return self._plan

    @staticmethod
    def corner(low: Floats, size: Floats, plan: tuple[float, int, int]) -> Floats:
        """Return the position of the first node, so that points from `low` on are centred."""
        h, nodes = plan[0], np.array(plan[1:]) // 2
        return np.asarray(low - h * (nodes - 1 - size / h) / 2)


class GridRepulsion:
    """Approximate `hetviz.core.layout.sne_loops.repulsion` in O(n + nodes log nodes).

    Each point is spread over the 16 nodes around it. The grid is convolved with the three kernels
    1/(1 + d^2) and d_x, d_y/(1 + d^2)^2 by FFT (padded against wrap-around) and read with the same
    splines; both smoothings are divided out of the kernels' spectra. The relative error of the
    forces is about 2e-2 at the coarsest spacing.
    """

    def __init__(self, team: Team) -> None:
        self._team = team
        self._plan = GridPlan()
        self._ready: tuple[float, int, int] | None = None
        self._spectra: dict[tuple[float, int, int], Array] = {}

    def __call__(self, x: Array, y: Array, mass: Array, out: Array) -> None:
        """Write forces and sums of q of float32 points (n,) into `out` of shape (3, n)."""
        team = self._team
        low = np.array([x.min(), y.min()], dtype=np.float64)
        size = np.array([x.max(), y.max()], dtype=np.float64) - low
        plan = self._planned(size)
        h, pad_x, pad_y = plan
        corner = self._plan.corner(low, size, plan)
        place = np.array([corner[0], corner[1], 1.0 / h, 1.0], dtype=np.float32)
        n = x.size
        cuts = np.linspace(0, n, _N_CHUNKS + 1).astype(np.int64)
        parts = [(k, int(cuts[k]), int(cuts[k + 1])) for k in range(_N_CHUNKS)]
        team.each(parts, _spread, x, y, mass, place, self._grids)
        workers = team.threads
        grid = self._grids.sum(axis=0)
        spectrum = scipy.fft.rfft(grid, n=pad_y, axis=1, workers=workers)
        spectrum = scipy.fft.fft(spectrum, n=pad_x, axis=0, workers=workers, overwrite_x=True)
        product = np.empty((3, *spectrum.shape), dtype=np.complex64)
        rows = np.linspace(0, pad_x, _N_CHUNKS + 1).astype(np.int64)
        row_chunks = [(int(a), int(b)) for a, b in pairwise(rows)]
        team.each(row_chunks, _convolve, spectrum, self._kernels, product)
        product = scipy.fft.ifft(product, axis=1, workers=workers, overwrite_x=True)
        fields = scipy.fft.irfft(product[:, : pad_x // 2], n=pad_y, axis=2, workers=workers)
        team.each([part[1:] for part in parts], _gather, x, y, mass, place, fields, out)

    def _planned(self, size: Floats) -> tuple[float, int, int]:
        """Return spacing and padded nodes, after preparing their spectra and grids."""
        plan = self._plan.plan_for(size)
        if plan != self._ready:
            self._ready = plan
            if plan not in self._spectra:
                if len(self._spectra) >= 4:
                    self._spectra.pop(next(iter(self._spectra)))
                self._spectra[plan] = kernel_spectra(*plan)
            self._kernels = self._spectra[plan]
            self._grids = np.zeros((_N_CHUNKS, plan[1] // 2, plan[2] // 2), dtype=np.float32)
        return plan


def _even_fast(min_size: int) -> int:
    size = max(32, min_size)
    while True:
        size = int(scipy.fft.next_fast_len(size, real=True))
        if size % 2 == 0:
            return size
        size += 1


def kernel_spectra(h: float, pad_x: int, pad_y: int) -> Array:
    """Return the spectra of the three kernels with both spline smoothings divided out."""
    offsets, smoothing = [], []
    for pad in (pad_x, pad_y):
        steps = np.arange(pad)
        offsets.append(h * np.where(steps <= pad // 2, steps, steps - pad))
        smoothing.append((4.0 + 2.0 * np.cos(2.0 * np.pi * steps / pad)) / 6.0)
    dx, dy = offsets[0][:, None], offsets[1][None, :]
    q = 1.0 / (1.0 + dx**2 + dy**2)
    half = pad_y // 2 + 1
    undo = (smoothing[0][:, None] * smoothing[1][None, :half]) ** -2
    # The farthest offset has no opposite one, so an odd kernel must be 0 there.
    odd_x = np.where(np.abs(dx) < h * pad_x / 2, dx, 0.0)
    odd_y = np.where(np.abs(dy) < h * pad_y / 2, dy, 0.0)
    spectra = [
        scipy.fft.rfft2(q).real * undo,
        scipy.fft.rfft2(q**2 * odd_x).imag * undo,
        scipy.fft.rfft2(q**2 * odd_y).imag * undo,
    ]
    return np.ascontiguousarray(spectra, dtype=np.float32)
