"""Pins: places and sides of a layout that points are pulled to, and ties to an earlier layout."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from hetviz._types import Floats, Ints

SIDE_WIDTH = 0.25
"""Width of a side, as a share of the width or height of the map."""
SIDES: dict[str, tuple[int, float, float]] = {
    "left": (0, -np.inf, SIDE_WIDTH),
    "right": (0, 1.0 - SIDE_WIDTH, np.inf),
    "bottom": (1, -np.inf, SIDE_WIDTH),
    "top": (1, 1.0 - SIDE_WIDTH, np.inf),
}
"""Axis of each side, with its lower and upper bound."""
_FOLD = SIDE_WIDTH / (1.0 - SIDE_WIDTH)
_MIN_SIZE = 1e-12
_TURNS = [
    np.array([[a, 0.0], [0.0, b]])[:, order] for order in ([0, 1], [1, 0]) for a in (1.0, -1.0)
    for b in (1.0, -1.0)
]  # fmt: skip


class Box(NamedTuple):
    """Bounding box of a layout: lowest corner and size, (k,) each."""

    low: Floats
    size: Floats


@dataclass(frozen=True)
class Pin:
    """Points and their target: an interval on each of two axes, in shares of the box.

    On an axis with a single target the mean of the points goes there, so that a group keeps its
    shape. On other axes each point goes to the nearest end of the interval.
    """

    rows: Ints
    low: Floats
    high: Floats

    @classmethod
    def at(cls, rows: Ints, place: str | Sequence[float]) -> Pin:
        """Pin points to a place (x, y), to a side, or to a corner such as "top left"."""
        if not isinstance(place, str):
            return cls(rows, np.array(place, dtype=np.float64), np.array(place, dtype=np.float64))
        low, high = np.full(2, -np.inf), np.full(2, np.inf)
        for side in place.split():
            axis, low[axis], high[axis] = SIDES[side]
        return cls(rows, low, high)

    def moved(self, Y: Floats, box: Box) -> Floats:
        """Return the points (m, k) at their target, those of a side folded over its edge."""
        out = Y - self.offsets(Y, box)
        for axis in range(min(2, Y.shape[1])):
            is_far = out[:, axis] != Y[:, axis]
            share = (Y[is_far, axis] - box.low[axis]) / box.size[axis]
            if self.low[axis] == -np.inf and self.high[axis] < np.inf:
                share = _FOLD * (1.0 - np.minimum(share, 1.0))
            elif self.high[axis] == np.inf and self.low[axis] > -np.inf:
                share = 1.0 - _FOLD * np.maximum(share, 0.0)
            else:
                continue
            out[is_far, axis] = box.low[axis] + box.size[axis] * share
        return out

    def offsets(self, Y: Floats, box: Box) -> Floats:
        """Return how far each of the points (m, k) is from its target, 0 where it is met."""
        k = min(2, Y.shape[1])
        low, high = self.low[:k], self.high[:k]
        out = np.zeros_like(Y)
        at = np.where(low == high, Y[:, :k].mean(axis=0), Y[:, :k])
        goal = np.clip(at, box.low[:k] + box.size[:k] * low, box.low[:k] + box.size[:k] * high)
        out[:, :k] = at - goal
        return out


@dataclass(frozen=True)
class Tie:
    """Points with an earlier place each, (m, k), which is their target."""

    rows: Ints
    places: Floats

    def offsets(self, Y: Floats, box: Box) -> Floats:
        """Return how far each of the points (m, k) is from its earlier place."""
        return Y - self.places

    def moved(self, Y: Floats, box: Box) -> Floats:
        """Return the earlier places."""
        return self.places


@dataclass(frozen=True)
class Pins:
    """Pins with a common strength s, from 0 to 1.

    They add s / (2 n) times the sum of the squared offsets of all pinned points to the objective of
    a layout of n points.
    """

    pins: tuple[Pin | Tie, ...]
    strength: float

    @cached_property
    def rows(self) -> Ints:
        """All pinned points, sorted."""
        return np.unique(np.concatenate([pin.rows for pin in self.pins]))

    @property
    def max_gain(self) -> float:
        """The largest factor of a gradient step of n for which the pull does not overshoot."""
        return 1.0 / self.strength if self.strength else np.inf

    def box(self, Y: Floats) -> Box:
        """Return the box around the points (n, k) without a pin, or around all if each has one."""
        is_free = np.ones(len(Y), dtype=bool)
        is_free[self.rows] = False
        others = Y[is_free] if is_free.any() else Y
        low = others.min(axis=0)
        return Box(low, np.maximum(others.max(axis=0) - low, _MIN_SIZE))

    def offsets(self, Y: Floats, box: Box) -> Floats:
        """Return the summed offsets of all points, shape (n, k)."""
        out = np.zeros_like(Y)
        for pin in self.pins:
            # A point occurs once in a pin, but may occur in several pins.
            out[pin.rows] += pin.offsets(Y[pin.rows], box)
        return out

    def moved(self, Y: Floats) -> Floats:
        """Return a layout whose pinned points are at their targets."""
        out, box = Y.copy(), self.box(Y)
        for pin in self.pins:
            out[pin.rows] = pin.moved(out[pin.rows], box)
        return out

    def turned(self, Y: Floats) -> Floats:
        """Return a layout rotated by right angles or mirrored, for the smallest offsets."""
        if Y.shape[1] != 2:
            return Y
        ways = [Y @ turn for turn in _TURNS]
        return min(ways, key=lambda Z: float((self.offsets(Z, self.box(Z)) ** 2).sum()))


def tie_to(Y: Floats, strength: float) -> Pins:
    """Return the tie of points to their place on an earlier layout (n, k), NaN where unknown."""
    rows = np.flatnonzero(np.isfinite(Y).all(axis=1))
    return Pins((Tie(rows, Y[rows]),), strength)
