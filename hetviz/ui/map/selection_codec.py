"""Selections as they come from the browser: rows as bits, or a polygon to test all rows against."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hetviz._types import Bools, Floats, Ints, Reals
from hetviz.errors import DataError, Problem

MOST_CORNERS = 5_000
# Tests of a point against an edge, for each point: beyond it the outline is a scribble.
_MOST_CROSSINGS = 400
_FARTHEST = 1e30


def pack_rows(rows: ArrayLike, n: int) -> NDArray[np.uint8]:
    """Return the rows as bits, the first row in the lowest bit, shape (ceil(n / 8),)."""
    bits = np.zeros(n, dtype=bool)
    bits[np.asarray(rows, dtype=np.int64)] = True
    return np.packbits(bits, bitorder="little")


def rows_of_bits(packed: Any, n: int) -> Ints:
    """Return the rows that base64 text of their bits names, in order.

    Raises
    ------
    hetviz.errors.DataError
        If it is not base64, or not of ``n`` bits.
    """
    n_bytes = (n + 7) // 8
    try:
        # Checked before decoding, so that its length bounds the work.
        if not isinstance(packed, str) or len(packed) != 4 * ((n_bytes + 2) // 3):
            raise ValueError
        raw = base64.b64decode(packed, validate=True)
    except (ValueError, binascii.Error):
        raise refusal("the rows do not fit the data") from None
    bits = np.unpackbits(np.frombuffer(raw, dtype=np.uint8), bitorder="little")
    if len(raw) != n_bytes or bits[n:].any():
        raise refusal("the rows do not fit the data")
    return np.flatnonzero(bits)


def rows_in_polygon(polygon: Any, points: Reals, among: Bools) -> Ints:
    """Return the rows of `among` that lie inside a polygon, in order.

    Parameters
    ----------
    polygon : list of m pairs of numbers
        Corners in order, 3 <= m <= 5,000.
    points : array of shape (n, 2)
        NaN where a row has no place.
    among : array of bool, shape (n,)

    Raises
    ------
    hetviz.errors.DataError
        If it is no polygon.
    """
    try:
        corners = np.asarray(polygon, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise refusal("the outline is no list of points") from None
    if corners.ndim != 2 or corners.shape[1] != 2 or not 3 <= len(corners) <= MOST_CORNERS:
        raise refusal(f"the outline needs 3 to {MOST_CORNERS:,} points", str(corners.shape))
    # Also refuses NaN; beyond it the slopes of edges would overflow.
    if not (np.abs(corners) < _FARTHEST).all():
        raise refusal("the outline is not finite")
    low, high = corners.min(axis=0), corners.max(axis=0)
    x, y = points[:, 0], points[:, 1]
    # NaN compares false, so rows without a place fall out here.
    near = np.flatnonzero(among & (x >= low[0]) & (x <= high[0]) & (y >= low[1]) & (y <= high[1]))
    return near[inside(points[near], corners)]


def inside(points: Reals, corners: Floats) -> Bools:
    """Return which points lie inside a polygon, by the even-odd rule.

    Parameters
    ----------
    points : array of shape (n, 2)
        Finite.
    corners : array of shape (m, 2)
        In order; the last is joined to the first.

    Notes
    -----
    Points are sorted by height, so that an edge meets only those beside it:
    O(n log n + m log n + crossings) where a lasso crosses each height a few times.
    """
    order = np.argsort(points[:, 1])
    x = points[order, 0].astype(np.float64)
    y = points[order, 1].astype(np.float64)
    following = np.roll(corners, -1, axis=0)
    starts = np.searchsorted(y, np.minimum(corners[:, 1], following[:, 1]))
    stops = np.searchsorted(y, np.maximum(corners[:, 1], following[:, 1]))
    if int((stops - starts).sum()) > _MOST_CROSSINGS * max(len(y), 1):
        raise refusal("the outline crosses itself too often")
    odd = np.zeros(len(y), dtype=bool)
    for (x1, y1), (x2, y2), start, stop in zip(corners, following, starts, stops, strict=True):
        if stop > start:
            beside = slice(start, stop)
            odd[beside] ^= x[beside] < x1 + (y[beside] - y1) / (y2 - y1) * (x2 - x1)
    result = np.empty(len(y), dtype=bool)
    result[order] = odd
    return result


def combined(found: Ints, previous: ArrayLike, value: Mapping[str, Any]) -> Ints:
    """Return `found` added to or taken from the rows selected before, as `value` asks."""
    before = np.asarray(previous, dtype=np.int64)
    if value.get("subtract") is True:
        return np.setdiff1d(before, found)
    if value.get("add") is True:
        return np.union1d(before, found)
    return found


def refusal(what: str, value: str = "") -> DataError:
    """Return the refusal of a selection."""
    return DataError(Problem("bad-selection", "selection", what, value))
