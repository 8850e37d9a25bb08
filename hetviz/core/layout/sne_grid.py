"""Repulsion of many points through a grid: spread, convolve by FFT, gather, with cubic splines."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import scipy.fft

from hetviz._types import Array, Floats, Real
from hetviz.core.compiled import Team, compiled

COARSEST, FINEST = 0.5, 0.12
"""Spacing of nodes, in units of the kernel's width; finer while the layout is still small."""
MOST_NODES = 1_024
_CHUNKS = 4
_MARGIN = 4


@compiled
def _weights(t: Real, one: Real) -> tuple[Real, Real, Real, Real]:
    """Return the values of the four cubic B-splines over a cell at t in [0, 1)."""
    u = one - t
    two = one + one
    sixth = one / (two + two + two)
    four_sixths = two / (two + one)
    t2, u2 = t * t, u * u
    half = one / two
    return (
        u2 * u * sixth,
        four_sixths - t2 + half * t2 * t,
        four_sixths - u2 + half * u2 * u,
        t2 * t * sixth,
    )


@compiled
def _spread(
    part: int,
    start: int,
    stop: int,
    x: Array,
    y: Array,
    mass: Array,
    place: Array,
    grids: Array,
) -> None:
    """Add the points start to stop to their own grid; `place` is x0, y0, 1 / spacing and 1."""
    one = place[3]
    grid = grids[part]
    grid[:] = one - one
    for i in range(start, stop):
        u, v = (x[i] - place[0]) * place[2], (y[i] - place[1]) * place[2]
        a, b = int(u), int(v)
        wu = _weights(u - np.floor(u), one)
        wv = _weights(v - np.floor(v), one)
        for r in range(4):
            heavy = mass[i] * wu[r]
            for c in range(4):
                grid[a + r, b + c] += heavy * wv[c]


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
    start: int,
    stop: int,
    x: Array,
    y: Array,
    mass: Array,
    place: Array,
    fields: Array,
    out: Array,
) -> None:
    """Write (force x, force y, sum of q without the point itself) of each point, by its mass."""
    one = place[3]
    zero = one - one
    for i in range(start, stop):
        u, v = (x[i] - place[0]) * place[2], (y[i] - place[1]) * place[2]
        a, b = int(u), int(v)
        wu = _weights(u - np.floor(u), one)
        wv = _weights(v - np.floor(v), one)
        q, fx, fy = zero, zero, zero
        for r in range(4):
            for c in range(4):
                w = wu[r] * wv[c]
                q += w * fields[0, a + r, b + c]
                fx += w * fields[1, a + r, b + c]
                fy += w * fields[2, a + r, b + c]
        m = mass[i]
        out[0, i], out[1, i], out[2, i] = m * fx, m * fy, m * (q - m)


class GridRepulsion:
    """Approximate `hetviz.core.layout.sne_loops.repulsion` in O(n + nodes log nodes).

    Each point is spread over the 16 nodes around it, the three kernels 1/(1 + d^2) and
    d_x, d_y/(1 + d^2)^2 are convolved with that by FFT (padded, so that nothing wraps round), and
    read off by the same splines; both smoothings are divided out of the kernels' spectra. The
    relative error of the forces is about 2e-2 at the coarsest spacing.
    """

    def __init__(self, team: Team) -> None:
        self._team = team
        self._plan: tuple[float, int, int] | None = None
        self._spectra: dict[tuple[float, int, int], Array] = {}

    def __call__(self, x: Array, y: Array, mass: Array, out: Array) -> None:
        """Write forces and sums of q of float32 points (n,) into `out` of shape (3, n)."""
        team = self._team
        low = np.array([x.min(), y.min()], dtype=np.float64)
        size = np.array([x.max(), y.max()], dtype=np.float64) - low
        h, pad_x, pad_y = self._planned(size)
        nodes = np.array([pad_x, pad_y]) // 2
        corner = low - h * (nodes - 1 - size / h) / 2
        place = np.array([corner[0], corner[1], 1.0 / h, 1.0], dtype=np.float32)
        n = x.size
        cuts = np.linspace(0, n, _CHUNKS + 1).astype(np.int64)
        parts = [(k, int(cuts[k]), int(cuts[k + 1])) for k in range(_CHUNKS)]
        team.each(parts, _spread, x, y, mass, place, self._grids)
        workers = team.threads
        grid = self._grids.sum(axis=0)
        spectrum = scipy.fft.rfft(grid, n=pad_y, axis=1, workers=workers)
        spectrum = scipy.fft.fft(spectrum, n=pad_x, axis=0, workers=workers, overwrite_x=True)
        product = np.empty((3, *spectrum.shape), dtype=np.complex64)
        rows = np.linspace(0, pad_x, _CHUNKS + 1).astype(np.int64)
        halves = [(int(a), int(b)) for a, b in pairwise(rows)]
        team.each(halves, _convolve, spectrum, self._kernels, product)
        product = scipy.fft.ifft(product, axis=1, workers=workers, overwrite_x=True)
        fields = scipy.fft.irfft(product[:, : nodes[0]], n=pad_y, axis=2, workers=workers)
        team.each([part[1:] for part in parts], _gather, x, y, mass, place, fields, out)

    def _planned(self, size: Floats) -> tuple[float, int, int]:
        """Return spacing and padded nodes, unchanged while they still fit."""
        largest = float(size.max())
        wanted = max(float(np.clip(largest / 100.0, FINEST, COARSEST)), largest / MOST_NODES)
        # steps of a tenth, so that a growing layout seldom needs new spectra
        h = float(COARSEST * 1.1 ** np.floor(np.log(wanted / COARSEST) / np.log(1.1) + 1e-9))
        needed = (size / h).astype(np.int64) + 2 * _MARGIN
        plan = self._plan
        if plan is not None and plan[0] == h:
            nodes = np.array(plan[1:]) // 2
            if (needed <= nodes).all() and (nodes <= 1.4 * needed + 24).all():
                return plan
        padded = [_even_fast(2 * int(1.15 * count)) for count in needed]
        plan = self._plan = (h, padded[0], padded[1])
        if plan not in self._spectra:
            if len(self._spectra) >= 4:
                self._spectra.pop(next(iter(self._spectra)))
            self._spectra[plan] = _kernel_spectra(*plan)
        self._kernels = self._spectra[plan]
        self._grids = np.zeros((_CHUNKS, padded[0] // 2, padded[1] // 2), dtype=np.float32)
        return plan


def _even_fast(least: int) -> int:
    size = max(32, least)
    while True:
        size = int(scipy.fft.next_fast_len(size, real=True))
        if size % 2 == 0:
            return size
        size += 1


def _kernel_spectra(h: float, pad_x: int, pad_y: int) -> Array:
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
    # the farthest offset has no opposite one, and an odd kernel must be 0 there
    odd_x = np.where(np.abs(dx) < h * pad_x / 2, dx, 0.0)
    odd_y = np.where(np.abs(dy) < h * pad_y / 2, dy, 0.0)
    spectra = [
        scipy.fft.rfft2(q).real * undo,
        scipy.fft.rfft2(q**2 * odd_x).imag * undo,
        scipy.fft.rfft2(q**2 * odd_y).imag * undo,
    ]
    return np.ascontiguousarray(spectra, dtype=np.float32)
