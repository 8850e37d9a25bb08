"""Greedy placement of names, words and pictures on a map without overlap."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from hetviz._text import shorten
from hetviz._types import Bools, Floats, Ints
from hetviz.features.linked_values import NO_VALUE

NAME_FONT = 16
MAX_NAME_LETTERS = 22
"""Font size in pixels and maximum length of the name of a group."""

_NAME_DIVIDER = " · "
_SAMPLE = 800
_CELL = 0.06
_CANDIDATES = 25
# Up to this many points, a name goes next to its group so that it covers no points.
_MAX_SMALL_MAP, _N_OUTSIDE = 150, 8
_DOT_RADIUS = 7.0
# Dots that decide whose place a name stands on: those under it, at least the nearest ones. More
# than a bare majority, as the picture may have another shape.
_N_JUDGES, _MAX_JUDGED, _MIN_OWN = 5, 20_000, 0.6
_PICTURE = (900.0, 620.0)
_MAX_WIDENING = 1.3


def drawn_name(name: str) -> str:
    """Return a name of a group as it stands on a map: of two that do not fit, the first alone."""
    text = name.split(_NAME_DIVIDER, maxsplit=1)[0] if len(name) > MAX_NAME_LETTERS else name
    return shorten(text, MAX_NAME_LETTERS)


@dataclass(frozen=True)
class Frame:
    """Visible part of the plane, with the number of points outside."""

    # `low`, `high`: shape (2,).
    low: Floats
    high: Floats
    outside: int
    stretch: float = 1.0  # Ratio of horizontal to vertical scale, which fills a wide frame.

    @classmethod
    def around(cls, points: Floats) -> Frame:
        """Return the padded frame of `points`, shape (n, 2).

        It contains all of them, unless that makes it more than 1.3 times as wide or high as the
        frame of the 0.6 to 99.4 % quantiles.
        """
        if len(points) == 0:
            return cls(np.array([-1.0, -1.0]), np.array([1.0, 1.0]), 0)
        low, high = np.quantile(points, [0.006, 0.994], axis=0)
        all_low, all_high = points.min(axis=0), points.max(axis=0)
        if (all_high - all_low <= _MAX_WIDENING * (high - low)).all():
            low, high = all_low, all_high
        size = np.maximum(high - low, 1e-9 + 0.02 * float((high - low).max()))
        middle = (low + high) / 2
        low, high = middle - 0.53 * size, middle + 0.53 * size
        outside = int(((points < low) | (points > high)).any(axis=1).sum())
        stretch = float(np.clip(1.5 * size[1] / size[0], 1.0, 1.25))
        return cls(low, high, outside, stretch)

    def inside(self, points: Floats) -> Bools:
        return np.asarray(((points >= self.low) & (points <= self.high)).all(axis=1))

    def pixels(self, points: Floats, width: float, height: float) -> Pixels:
        """Return the points in pixels of a `width` x `height` picture, and the pixels per unit."""
        span = self.high - self.low
        per_y = min(width / (span[0] * self.stretch), height / span[1])
        scale = np.array([per_y * self.stretch, per_y])
        return Pixels((points - (self.low + self.high) / 2) * scale, scale)


@dataclass(frozen=True)
class Pixels:
    """Points in pixels from the middle, with the pixels per unit of each axis."""

    at: Floats
    scale: Floats


@dataclass
class Board:
    """Occupied boxes (left, bottom, right, top) of a picture, in pixels."""

    width: float
    height: float
    boxes: list[tuple[float, float, float, float]] = field(default_factory=list)

    def put(self, x: float, y: float, width: float, height: float) -> bool:
        """Place a box centred at (x, y) if it fits, and return whether it fits."""
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


def _edges(x: float, y: float, width: float, height: float) -> tuple[float, float, float, float]:
    return x - width / 2, y - height / 2, x + width / 2, y + height / 2


def name_size(text: str, font: float) -> tuple[float, float]:
    """Estimate width and height of a group name, which is bold, in pixels."""
    units = sum(1.0 if unicodedata.east_asian_width(sign) in "WF" else 0.5 for sign in text)
    return units * font * 1.12 + 6, font * 1.35


def densest_first(at: Floats, reach: float, max_points: int = _CANDIDATES) -> list[int]:
    """Return `max_points` points in order of density, no two of them close together."""
    # O(m^2) for m points, of which at most 800 are used.
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
    at: Floats, dots: Floats, code: Ints, own: int, size: tuple[float, float], reach: float
) -> Floats:
    """Return candidate centres for the name of a group in pixels, best first.

    At each, most dots under the name, or the nearest ones, are of the group. Without such a place
    there is none.
    """
    densest = at[densest_first(at, reach)]
    if len(dots) > _MAX_SMALL_MAP:
        # Names cover less of the map when it is enlarged: their middle counts, too.
        mask = _are_own(densest, dots, code, own, size)
        return densest[mask & _are_own(densest, dots, code, own, (0.0, 0.0))]
    width, height = size[0] / 2 + _DOT_RADIUS, size[1] / 2 + _DOT_RADIUS
    aside = np.array([[0, height], [0, -height], [width, 0], [-width, 0]])
    places = (densest[:_N_OUTSIDE, None, :] + aside).reshape(-1, 2)
    distance = np.abs(dots[None, :, :] - places[:, None, :])
    # The point next to the name touches its box and does not count as covered.
    covered = (distance < 0.99 * np.array([width, height])).all(axis=2).sum(axis=1)
    nearest: Floats = places[np.argsort(covered, kind="stable")[:_CANDIDATES]]
    return nearest[_are_own(nearest, dots, code, own, size)]


def _are_own(
    places: Floats, dots: Floats, code: Ints, own: int, size: tuple[float, float]
) -> Bools:
    """Return at which places most dots under a name are of its group, or of the nearest dots."""
    rows = np.flatnonzero(code != NO_VALUE)
    rows = rows[:: max(1, len(rows) // _MAX_JUDGED)]
    is_own = code[rows] == own
    n_judges = min(_N_JUDGES, len(rows), int((code == own).sum()))
    mask = np.zeros(len(places), dtype=bool)
    for number, place in enumerate(places):
        beyond = np.maximum(np.abs(dots[rows] - place) - np.array(size) / 2, 0.0)
        distance = (beyond**2).sum(axis=1)
        judges = np.flatnonzero(distance == 0.0)
        if len(judges) < n_judges:
            judges = np.argsort(distance, kind="stable")[:n_judges]
        mask[number] = len(judges) > 0 and is_own[judges].mean() > _MIN_OWN
    return mask


def name_anchors(
    frame: Frame, at: Floats, dots: Floats, code: Ints, own: int, name: str, font: float
) -> Floats:
    """Return `name_places` for a typical picture size, in map coordinates, shape (k, 2)."""
    picture = _PICTURE
    group, seen = frame.pixels(at, *picture), frame.pixels(dots, *picture)
    size, reach = name_size(name, font), _CELL * max(picture)
    places = name_places(group.at, seen.at, code, own, size, reach)
    anchors: Floats = places / group.scale + (frame.low + frame.high) / 2
    return anchors


def place_items(
    board: Board,
    at: Floats,
    order: Iterable[int],
    sizes: Mapping[int, tuple[float, float]],
    max_items: int,
) -> list[int]:
    """Place boxes of `sizes` at points `at`, in `order`, and return the points with a box."""
    placed: list[int] = []
    for k in order:
        if len(placed) == max_items:
            break
        if board.put(float(at[k, 0]), float(at[k, 1]), *sizes[k]):
            placed.append(k)
    return placed
