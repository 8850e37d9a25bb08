"""A picture of where points lie, for more points than a browser can draw."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hetviz._types import Array, Bools, Ints, Reals
from hetviz.plots.palette import NUMBERS

_STEPS = 256
# Of the densest cells and of a single point.
_MOST, _LEAST = 0.96, 0.30
_BLUR = (0.25, 0.5, 0.25)


@dataclass(frozen=True)
class Window:
    """What part of the plane is pictured, in how many pixels.

    Attributes
    ----------
    x, y : (float, float)
        Low and high end of each axis; the picture's top is the high end of `y`.
    width, height : int
    """

    x: tuple[float, float]
    y: tuple[float, float]
    width: int
    height: int


def category_tints(
    code: NDArray[np.integer[Any]], palette: Sequence[str], ghost: str
) -> NDArray[np.float32]:
    """Return the colour of each point by its code, shape (n, 3), 0 to 1; `ghost` below 0."""
    table = _channels([*palette, ghost])
    # More codes than colours begin again.
    place = np.where(code >= 0, code % len(palette), len(palette))
    # Channel after channel in memory, as they are summed.
    tints: NDArray[np.float32] = np.take(table.T, place, axis=1).T
    return tints


def number_tints(
    value: Reals,
    low: float,
    high: float,
    ghost: str,
    scale: Sequence[str] = NUMBERS,
) -> NDArray[np.float32]:
    """Return the colour of each point by its number, shape (n, 3), 0 to 1; `ghost` for NaN."""
    at = np.linspace(0.0, len(scale) - 1.0, _STEPS)
    anchors = _channels(scale)
    ramp = [np.interp(at, np.arange(len(scale)), anchors[:, channel]) for channel in range(3)]
    table = np.vstack([np.column_stack(ramp), _channels([ghost])]).astype(np.float32)
    share = np.clip((value - low) / (high - low), 0.0, 1.0)
    place = np.where(np.isnan(share), _STEPS, np.nan_to_num(share) * (_STEPS - 1))
    tints: NDArray[np.float32] = np.take(table.T, place.astype(np.int64), axis=1).T
    return tints


def density_image(
    points: Reals,
    tints: NDArray[np.float32],
    window: Window,
    among: Bools | None = None,
) -> bytes:
    """Return a PNG, transparent where there are no points.

    Parameters
    ----------
    points : array of shape (n, 2)
        NaN where a row has no place.
    tints : array of shape (n, 3)
        Colour of each point, 0 to 1.
    window : Window
    among : array of bool, shape (n,), optional
        Points that count; all when absent.

    Notes
    -----
    A pixel has the mean colour of its points, so each category tints it by its share; its opacity
    grows with the logarithm of their number. Costs O(n + pixels).
    """
    from PIL import Image

    cell, rows = _cells(points, window, among)
    size = window.width * window.height
    count = _blurred(np.bincount(cell, minlength=size), window)
    pixels = np.zeros((window.height, window.width, 4), dtype=np.uint8)
    there = count > 0
    if there.any():
        for channel in range(3):
            total = np.bincount(cell, weights=tints[:, channel][rows], minlength=size)
            mean = _blurred(total, window)[there] / count[there]
            pixels[there, channel] = np.rint(255 * np.clip(mean, 0.0, 1.0))
        grown = np.log1p(count[there])
        # The very densest pixels would make all others faint.
        full = max(float(np.quantile(grown, 0.995)), float(np.log1p(_BLUR[1] ** 2)))
        alpha = _LEAST + (_MOST - _LEAST) * np.minimum(grown / full, 1.0)
        # The rim that the blur gives a lone point stays fainter than the point.
        alpha *= np.minimum(count[there] / _BLUR[1] ** 2, 1.0)
        pixels[there, 3] = np.rint(255 * alpha)
    stream = io.BytesIO()
    Image.fromarray(pixels, "RGBA").save(stream, "PNG", compress_level=1)
    return stream.getvalue()


def _cells(points: Reals, window: Window, among: Bools | None) -> tuple[Ints, Ints]:
    """Return the pixel of each point in the window, and which points those are."""
    column = (points[:, 0] - window.x[0]) * (window.width / (window.x[1] - window.x[0]))
    row = (window.y[1] - points[:, 1]) * (window.height / (window.y[1] - window.y[0]))
    # NaN compares false.
    seen = (column >= 0) & (column < window.width) & (row >= 0) & (row < window.height)
    if among is not None:
        seen &= among
    rows = np.flatnonzero(seen)
    # Cut to whole pixels before they are combined: single precision holds no large products.
    cell = row[rows].astype(np.int64) * window.width + column[rows].astype(np.int64)
    return cell, rows


def _blurred(flat: Array, window: Window) -> NDArray[np.float32]:
    """Return counts as a picture, each spread a little over the pixels around it."""
    image = flat.reshape(window.height, window.width).astype(np.float32)
    side, middle, _ = _BLUR
    for axis in (0, 1):
        out = middle * image
        first = (slice(1, None), slice(None))[:: 1 if axis == 0 else -1]
        last = (slice(None, -1), slice(None))[:: 1 if axis == 0 else -1]
        out[first] += side * image[last]
        out[last] += side * image[first]
        image = out
    return image


def _channels(colours: Sequence[str]) -> NDArray[np.float32]:
    return np.array(
        [[int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)] for colour in colours],
        dtype=np.float32,
    )
