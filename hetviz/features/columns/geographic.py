"""Points on the unit sphere from columns of latitude and longitude."""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np

from hetviz._types import Floats
from hetviz.features.columns.options import Fields, Step
from hetviz.features.columns.types import Column

LATITUDE, LONGITUDE = (
    frozenset({"lat", "latitude"}),
    frozenset({"lon", "lng", "long", "longitude"}),
)
_PARTS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|\d+")


def latlong_pairs(columns: Iterable[Column]) -> list[tuple[str, str]]:
    """Return the pairs of names of latitude and longitude columns."""
    latitudes: dict[tuple[str, ...], str] = {}
    longitudes: dict[tuple[str, ...], str] = {}
    for column in columns:
        if column.kind != "number":
            continue
        words = tuple(part.lower() for part in _PARTS.findall(str(column.name)))
        low, high = float(np.nanmin(column.values)), float(np.nanmax(column.values))
        if low >= -90 and high <= 90 and LATITUDE & set(words):
            latitudes.setdefault(_masked_words(words, LATITUDE), column.name)
        elif low >= -180 and high <= 360 and LONGITUDE & set(words):
            longitudes.setdefault(_masked_words(words, LONGITUDE), column.name)
    return [(name, longitudes[key]) for key, name in latitudes.items() if key in longitudes]


def _masked_words(words: tuple[str, ...], these: frozenset[str]) -> tuple[str, ...]:
    return tuple("*" if word in these else word for word in words)


def learn(degrees: Floats) -> Fields:
    """Fit the mean of points given as (latitude, longitude) in degrees, (n, 2) with NaN."""
    points = to_unit_sphere(degrees)
    return {"mean": points[~np.isnan(points).any(axis=1)].mean(axis=0).tolist()}


def parts(step: Fields, degrees: Floats) -> list[Floats]:
    """Return centred points on the unit sphere, (n, 3); missing ones are at the centre.

    Their distance is the chord through the earth, in radii.
    """
    points = to_unit_sphere(degrees) - np.array(step["mean"])
    return [np.where(np.isnan(points), 0.0, points)]


def to_unit_sphere(degrees: Floats) -> Floats:
    """Return (latitude, longitude) in degrees, (n, 2), as unit vectors (n, 3)."""
    latitude, longitude = np.radians(degrees).T
    return np.column_stack(
        [
            np.cos(latitude) * np.cos(longitude),
            np.cos(latitude) * np.sin(longitude),
            np.sin(latitude) + 0.0 * longitude,
        ]
    )


def names(step: Step) -> list[str]:
    """Return the names of the features."""
    return [f"{' '.join(step['columns'])} ({axis})" for axis in "xyz"]
