"""Terrain of a figure: soft steps of density in the colour of the category that dominates.

The browser draws the same below its map, see ``points/terrain.js``.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from contourpy import LineType, contour_generator
from scipy.ndimage import gaussian_filter, zoom

from hetviz._types import Array, Floats, Ints

# Standard deviation of the kernel as a share of the mean side of the map, and cells in it.
_BANDWIDTH, _CELLS = 0.028, 4.0
_FINER = 3
_ALPHAS = (0.045, 0.085, 0.135)
# Steps as shares of the median density at the items, and the items at one place that they take.
_STEPS, _MIN_ITEMS = (0.22, 0.6, 1.05), (1.6, 2.6, 3.6)
_MIN_PURITY, _FULL_PURITY = 0.32, 0.66
_N_LINES = 7
_MIN_LINE = 3.0  # Standard deviations of the kernel; shorter pieces are left out
# Density at a single item, where lines end, and the share of the variance that places explain.
_ONE = 1 / (2 * np.pi * _CELLS**2)
_MIN_DENSITY, _MIN_EXPLAINED = 0.6 * _ONE, 0.1


def shade(positions: Floats, codes: Ints, colours: Sequence[str], size: Floats) -> Array:
    """Return the terrain of categories as an RGBA picture, (lines, columns, 4), from the top.

    `positions` (n, 2): of the items, in points from the middle of a map of `size` (2,). `codes`
    (n,): their categories, negative for none. O(categories * cells + n).
    """
    total, best, winner = None, None, None
    for code in range(-1, len(colours)):
        one = _density(positions[codes < 0 if code < 0 else codes == code], size)
        if total is None or best is None or winner is None:
            # Items without a value have no land.
            total, best, winner = one, np.zeros_like(one), np.zeros(one.shape, dtype=np.int64)
            continue
        total = total + one
        winner[one > best] = code
        best = np.maximum(best, one)
    if total is None or best is None or winner is None or not len(colours):
        return np.zeros((1, 1, 4))
    density, top = (
        zoom(grid, _FINER, order=1, grid_mode=True, mode="nearest") for grid in (total, best)
    )
    alpha = np.zeros_like(density)
    for step, start in enumerate(_thresholds(total, positions, size)):
        rise = _ALPHAS[step] - (_ALPHAS[step - 1] if step else 0.0)
        alpha += rise * _smooth(0.94 * start, 1.06 * start, density)
    alpha *= _smooth(_MIN_PURITY, _FULL_PURITY, top / np.maximum(density, 1e-12))
    rgb = np.array([[int(colour[k : k + 2], 16) for k in (1, 3, 5)] for colour in colours]) / 255
    large = np.repeat(np.repeat(winner, _FINER, axis=0), _FINER, axis=1)
    return np.concatenate([rgb[large], alpha[:, :, None]], axis=2)[::-1]


def levels(positions: Floats, values: Floats, size: Floats) -> tuple[Floats, Floats]:
    """Return the local mean of numbers, (lines, columns) from below, and the values of its lines.

    NaN where there are no items; no values without a range, or where the places explain none.
    """
    positions, values = positions[np.isfinite(values)], values[np.isfinite(values)]
    total, sums = _density(positions, size), _density(positions, size, values)
    mean = np.where(total >= _MIN_DENSITY, sums / np.maximum(total, 1e-12), np.nan)
    inside = mean[np.isfinite(mean)]
    at = _cells(positions, size)
    others = total[at] - _ONE
    around = others > 0.01 * _ONE
    # Each value next to the mean of the items around it, without itself.
    errors = values - (sums[at] - _ONE * values) / np.where(around, others, np.nan)
    spread = np.sum((values[around] - values[around].mean()) ** 2) if around.any() else 0.0
    if np.nansum(errors**2) >= (1 - _MIN_EXPLAINED) * spread:
        return mean, inside[:0]
    low, high = np.quantile(inside, [0.04, 0.96])
    lines = low + (np.arange(_N_LINES) + 0.5) / _N_LINES * (high - low)
    return mean, lines if high - low > 1e-9 * max(abs(low), abs(high)) else lines[:0]


def pieces(mean: Floats, value: float) -> list[Floats]:
    """Return the lines where a grid crosses a value, each (n, 2) in cells, without short ones."""
    tracer = contour_generator(
        z=np.ma.masked_invalid(mean), corner_mask=False, line_type=LineType.Separate
    )
    lines = (np.asarray(line) for line in tracer.lines(value))
    return [one for one in lines if np.hypot(*np.diff(one, axis=0).T).sum() >= _MIN_LINE * _CELLS]


def _shape(size: Floats) -> tuple[int, int]:
    cell = _BANDWIDTH * float(np.sqrt(np.prod(size))) / _CELLS
    columns, lines = np.ceil(size / cell).astype(int).tolist()
    return max(lines, 2), max(columns, 2)


def _cells(positions: Floats, size: Floats) -> tuple[Ints, Ints]:
    """Return line and column of each position."""
    lines, columns = _shape(size)
    share = positions / size + 0.5
    at = np.floor(share * [columns, lines]).astype(np.int64)
    return np.clip(at[:, 1], 0, lines - 1), np.clip(at[:, 0], 0, columns - 1)


def _density(positions: Floats, size: Floats, weights: Floats | None = None) -> Floats:
    """Return the items per cell, or the sum of their weights, smoothed, (lines, columns)."""
    grid = np.zeros(_shape(size))
    np.add.at(grid, _cells(positions, size), 1.0 if weights is None else weights)
    return np.asarray(gaussian_filter(grid, _CELLS, mode="constant"))


def _thresholds(total: Floats, positions: Floats, size: Floats) -> list[float]:
    """Return the density that each step begins at."""
    median = float(np.median(total[_cells(positions, size)])) if len(positions) else 0.0
    return [max(s * median, n * _ONE) for s, n in zip(_STEPS, _MIN_ITEMS, strict=True)]


def _smooth(low: float, high: float, x: Floats) -> Floats:
    t = np.clip((x - low) / (high - low), 0, 1)
    return np.asarray(t * t * (3 - 2 * t))
