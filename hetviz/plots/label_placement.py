"""Where names, words and pictures go on a map: greedily, in pixels, never on top of each other."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from hetviz._types import Bools, Floats

NAME_FONT = 16
MAX_NAME_LETTERS = 28
"""Of the name of a group: its size in pixels, and the signs that are written of it."""

_SAMPLE = 800
_CELL = 0.06
_CANDIDATES = 25
# On a map of up to this many points a name stands beside its group: it would cover what it names.
_MAX_SMALL_MAP, _N_BESIDE = 150, 8
_DOT_RADIUS = 7.0
_PICTURE = (900.0, 620.0)


@dataclass(frozen=True)
class Frame:
    """The part of the plane that is shown, and how many points lie outside.

    Attributes
    ----------
    low, high : array of shape (2,)
    outside : int
    stretch : float
        Horizontal units are drawn this much longer than vertical ones, to fill a wide frame.
    """

    low: Floats
    high: Floats
    outside: int
    stretch: float = 1.0

    @classmethod
    def around(cls, points: Floats) -> Frame:
        """Return the frame of the 0.6 to 99.4 % quantiles of `points`, shape (n, 2), padded."""
        if len(points) == 0:
            return cls(np.array([-1.0, -1.0]), np.array([1.0, 1.0]), 0)
        low, high = np.quantile(points, [0.006, 0.994], axis=0)
        size = np.maximum(high - low, 1e-9 + 0.02 * float((high - low).max()))
        middle = (low + high) / 2
        low, high = middle - 0.53 * size, middle + 0.53 * size
        outside = int(((points < low) | (points > high)).any(axis=1).sum())
        stretch = float(np.clip(1.5 * size[1] / size[0], 1.0, 1.25))
        return cls(low, high, outside, stretch)

    def inside(self, points: Floats) -> Bools:
        """Return which points lie in the frame."""
        return np.asarray(((points >= self.low) & (points <= self.high)).all(axis=1))

    def pixels(self, points: Floats, width: float, height: float) -> Pixels:
        """Return the points in pixels of a `width` x `height` picture, and the pixels per unit."""
        span = self.high - self.low
        per_y = min(width / (span[0] * self.stretch), height / span[1])
        scale = np.array([per_y * self.stretch, per_y])
        return Pixels((points - (self.low + self.high) / 2) * scale, scale)


@dataclass(frozen=True)
class Pixels:
    """Points in pixels, the origin in the middle, and the pixels per unit of each axis."""

    at: Floats
    scale: Floats


@dataclass
class Board:
    """Boxes already placed, as (left, bottom, right, top) in pixels, within a picture."""

    width: float
    height: float
    boxes: list[tuple[float, float, float, float]] = field(default_factory=list)

    def put(self, x: float, y: float, width: float, height: float) -> bool:
        """Place a box centred at (x, y) if it fits; return whether it did."""
        left, bottom, right, top = _edges(x, y, width, height)
        if max(abs(left), abs(right)) > self.width / 2:
            return False
        if max(abs(bottom), abs(top)) > self.height / 2:
            return False
        for a, b, c, d in self.boxes:
            if left < c and a < right and bottom < d and b < top:
                return False
        self.boxes.append((left, bottom, right, top))
        return True

    def take(self, x: float, y: float, width: float, height: float) -> None:
        """Mark a box as taken, whether it fits or not."""
        self.boxes.append(_edges(x, y, width, height))


def _edges(x: float, y: float, width: float, height: float) -> tuple[float, float, float, float]:
    return x - width / 2, y - height / 2, x + width / 2, y + height / 2


def text_width(text: str, font: float, bold: bool = False) -> float:
    """Estimate the width of a text in pixels."""
    units = sum(1.0 if unicodedata.east_asian_width(sign) in "WF" else 0.5 for sign in text)
    return units * font * (1.12 if bold else 1.04) + 6


def name_size(text: str, font: float) -> tuple[float, float]:
    """Estimate the extent of a group's name in pixels."""
    return text_width(text, font, bold=True), font * 1.35


def densest_first(at: Floats, reach: float, max_points: int = _CANDIDATES) -> list[int]:
    """Return `max_points` points from the densest place down, no two of them close together.

    Cost O(m^2) for m points, of which at most 800 are used.
    """
    step = max(1, len(at) // _SAMPLE)
    rows = np.arange(0, len(at), step)
    points = at[rows]
    x, y = points.T
    squared = np.subtract.outer(x, x) ** 2 + np.subtract.outer(y, y) ** 2
    density = np.exp(-squared / (2 * reach**2)).sum(axis=1)
    free = np.ones(len(points), dtype=bool)
    chosen: list[int] = []
    for k in np.argsort(-density, kind="stable"):
        if free[k] and len(chosen) < max_points:
            chosen.append(int(rows[k]))
            free &= squared[k] >= (0.6 * reach) ** 2
    return chosen


def name_places(
    at: Floats,
    dots: Floats,
    size: tuple[float, float],
    reach: float,
) -> Floats:
    """Return where the middle of a group's name may go, best first, in pixels.

    Parameters
    ----------
    at : array of shape (m, 2)
        Points of the group.
    dots : array of shape (n, 2)
        All points that are seen.
    size : (float, float)
        Width and height of the name.
    reach : float
        How far around a point its density counts.

    Returns
    -------
    array of shape (k, 2)
        The densest places of the group, k <= 25; on a map of few points, places beside those,
        the ones that cover the fewest points first.
    """
    densest = at[densest_first(at, reach)]
    if len(dots) > _MAX_SMALL_MAP:
        return densest
    width, height = size[0] / 2 + _DOT_RADIUS, size[1] / 2 + _DOT_RADIUS
    aside = np.array([[0, height], [0, -height], [width, 0], [-width, 0]])
    places = (densest[:_N_BESIDE, None, :] + aside).reshape(-1, 2)
    distance = np.abs(dots[None, :, :] - places[:, None, :])
    # The point that the name stands beside touches its box and is not covered.
    covered = (distance < 0.99 * np.array([width, height])).all(axis=2).sum(axis=1)
    nearest: Floats = places[np.argsort(covered, kind="stable")[:_CANDIDATES]]
    return nearest


def name_anchors(frame: Frame, at: Floats, dots: Floats, name: str, font: float) -> Floats:
    """Return `name_places` on a picture of middle size, as points of the plane, shape (k, 2)."""
    picture = _PICTURE
    group, seen = frame.pixels(at, *picture), frame.pixels(dots, *picture)
    places = name_places(group.at, seen.at, name_size(name, font), _CELL * max(picture))
    anchors: Floats = places / group.scale + (frame.low + frame.high) / 2
    return anchors


def place_items(
    board: Board,
    at: Floats,
    order: Iterable[int],
    sizes: Mapping[int, tuple[float, float]],
    max_items: int,
) -> list[int]:
    """Place boxes of `sizes` at points `at`, in `order`; return the points that got one."""
    placed: list[int] = []
    for k in order:
        if len(placed) == max_items:
            break
        if board.put(float(at[k, 0]), float(at[k, 1]), *sizes[k]):
            placed.append(k)
    return placed
