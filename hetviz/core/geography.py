"""Projections of the earth to a plane, in kilometres, and the outline of its land."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from hetviz._types import Floats

EARTH_RADIUS_KM = 6371.0088
_LAND = Path(__file__).parent / "assets" / "land.i2"
_RING_END = 32767
_MAX_STEP_DEGREES = 2.0
# Mercator is used for at most this many degrees of longitude, and up to this latitude.
_MAX_MERCATOR_WIDTH, _MAX_MERCATOR_LATITUDE = 120.0, 72.0
_MERCATOR_END = 85.0
# A few far points do not move the middle.
_MAIN_SHARE, _HALF_TURN = 0.98, 180.0
# Equal Earth projection, https://doi.org/10.1080/13658816.2018.1504949.
_A1, _A2, _A3, _A4 = 1.340264, -0.081106, 0.000893, 0.003796


@dataclass(frozen=True)
class Projection:
    """Projection around a meridian: Mercator true at a parallel, or Equal Earth without one."""

    meridian: float
    parallel: float | None = None

    def project(self, degrees: Floats) -> Floats:
        """Return points in km, (n, 2), of longitudes and latitudes (n, 2); longitudes wrap."""
        from_meridian = (degrees[:, 0] - self.meridian + 180.0) % 360.0 - 180.0
        return self._project(np.column_stack([from_meridian, degrees[:, 1]]))

    def _project(self, degrees: Floats) -> Floats:
        x, latitude = np.radians(degrees).T
        if self.parallel is not None:
            end = np.radians(_MERCATOR_END)
            y = np.arctanh(np.sin(np.clip(latitude, -end, end)))
            true_km = float(EARTH_RADIUS_KM * np.cos(np.radians(self.parallel)))
            return true_km * np.column_stack([x, y])
        t = np.arcsin(np.sqrt(0.75) * np.sin(latitude))
        slope = _A1 + 3 * _A2 * t**2 + t**6 * (7 * _A3 + 9 * _A4 * t**2)
        height = t * (_A1 + _A2 * t**2 + t**6 * (_A3 + _A4 * t**2))
        return EARTH_RADIUS_KM * np.column_stack([x * np.cos(t) / (np.sqrt(0.75) * slope), height])

    def outlines(self) -> list[Floats]:
        """Return closed rings in km, each (m, 2): the edge of the projection, then the land."""
        low, high = -180.0, 180.0
        edge = np.array([[low, -90.0], [high, -90.0], [high, 90.0], [low, 90.0]])
        rings = [edge]
        for ring in land_rings():
            # The land is cut at the edge of the projection, and what is beyond it comes in again.
            for turn in (-360.0, 0.0, 360.0):
                moved = ring + np.array([turn - self.meridian, 0.0])
                part = _clip(_clip(moved, low, 1.0), high, -1.0)
                if len(part) > 2:
                    rings.append(part)
        return [self._project(_densify(ring)) for ring in rings]


def choose_projection(degrees: Floats) -> Projection:
    """Return the projection that suits longitudes and latitudes, (n, 2) without NaN.

    Its middle is that of the narrowest arc with nearly all points, so that data on both sides of
    the date line stay together, unless they go around more than half of the earth.
    """
    west, width = _narrowest_arc(degrees[:, 0], 1.0)
    latitudes = degrees[:, 1]
    if width <= _MAX_MERCATOR_WIDTH and np.abs(latitudes).max() <= _MAX_MERCATOR_LATITUDE:
        parallel = float(latitudes.min() + latitudes.max()) / 2
        return Projection(_to_date_line(west + width / 2), parallel)
    west, width = _narrowest_arc(degrees[:, 0], _MAIN_SHARE)
    return Projection(0.0 if width > _HALF_TURN else _to_date_line(west + width / 2))


def _narrowest_arc(longitudes: Floats, share: float) -> tuple[float, float]:
    """Return the western end and the width of the narrowest arc with a share of the points."""
    starts = np.sort(longitudes % 360.0)
    # Once more around, as equal longitudes may be a whole turn apart.
    ends = np.concatenate([starts, starts + 360.0])[math.ceil(share * len(starts)) - 1 :]
    widths = ends[: len(starts)] - starts
    return float(starts[np.argmin(widths)]), float(widths.min())


@functools.cache
def land_rings() -> tuple[Floats, ...]:
    """Return the land as rings of longitude and latitude in degrees."""
    points = np.frombuffer(_LAND.read_bytes(), dtype="<i2").reshape(-1, 2)
    ends = np.flatnonzero(points[:, 0] == _RING_END)
    return tuple(ring[ring[:, 0] != _RING_END] / 100.0 for ring in np.split(points, ends)[:-1])


def share_on_land(degrees: Floats) -> float:
    """Return the share of longitudes and latitudes, (n, 2), within half a degree of land."""
    near = np.array([[a, b] for a in (0.0, -0.5, 0.5) for b in (0.0, -0.5, 0.5)])
    x, y = (degrees[:, None, :] + near).reshape(-1, 2).T
    x = (x + 180.0) % 360.0 - 180.0
    is_inside = np.zeros(len(x), dtype=bool)
    for ring in land_rings():
        for (x0, y0), (x1, y1) in zip(ring, np.roll(ring, -1, axis=0), strict=True):
            crossed = (y0 > y) != (y1 > y)
            if crossed.any():
                is_inside[crossed] ^= x[crossed] < x0 + (y[crossed] - y0) / (y1 - y0) * (x1 - x0)
    return float(is_inside.reshape(-1, len(near)).any(axis=1).mean())


def _to_date_line(longitude: float) -> float:
    return (longitude + 180.0) % 360.0 - 180.0


def _clip(ring: Floats, at: float, sign: float) -> Floats:
    """Return the part of a ring whose longitude is beyond `at` in the direction of `sign`."""
    over = sign * (ring[:, 0] - at)
    if (over >= 0).all():
        return ring
    if (over <= 0).all():
        return ring[:0]
    return np.array(list(_clipped(ring, over)))


def _clipped(ring: Floats, over: Floats) -> Iterator[Floats]:
    for k in range(len(ring)):
        if over[k - 1] * over[k] < 0:
            share = over[k - 1] / (over[k - 1] - over[k])
            yield ring[k - 1] + share * (ring[k] - ring[k - 1])
        if over[k] >= 0:
            yield ring[k]


def _densify(ring: Floats) -> Floats:
    """Return a closed ring with points between those that are far apart."""
    closed = np.vstack([ring, ring[:1]])
    steps = np.ceil(np.abs(np.diff(closed, axis=0)).max(axis=1) / _MAX_STEP_DEGREES)
    at = np.concatenate([[0.0], np.cumsum(np.maximum(steps, 1.0))])
    inner = np.arange(at[-1] + 1)
    return np.column_stack([np.interp(inner, at, closed[:, axis]) for axis in range(2)])
