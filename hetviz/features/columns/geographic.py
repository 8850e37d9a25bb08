"""Points on the unit sphere from columns of latitude and longitude."""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np

from hetviz._types import Floats
from hetviz.core.geography import share_on_land
from hetviz.features.columns.options import Fields, Step
from hetviz.features.columns.types import Column

LATITUDE, LONGITUDE = (
    frozenset({"lat", "latitude"}),
    frozenset({"lon", "lng", "long", "longitude"}),
)
# Words beside which "lat" and "long" mean no place.
_OTHER_MEANINGS = frozenset(
    (
        *("accuracy", "change", "count", "delta", "diff", "difference", "error", "index", "max"),
        *("mean", "min", "norm", "normalised", "normalized", "pct", "percent", "percentage"),
        *("rank", "rate", "ratio", "scaled", "score", "sd", "share", "std", "total", "x", "y", "z"),
        *("cm", "ft", "km", "m", "meters", "metres", "mm", "ms", "pixel", "px", "s"),
    )
)
_MIN_PLACES, _FULL_TURN = 3, 360.0
_GULF_DEGREES = 4.0
_ROUNDING = 1e-6
_MAX_SAMPLED, _MIN_ON_LAND = 200, 0.85
_PARTS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|\d+")


def latlong_pairs(columns: Iterable[Column]) -> list[tuple[str, str]]:
    """Return the pairs of names of latitude and longitude columns."""
    latitudes: dict[tuple[str, ...], str] = {}
    longitudes: dict[tuple[str, ...], str] = {}
    for column in columns:
        if column.kind != "number":
            continue
        words = tuple(_words(str(column.name)))
        low, high = float(np.nanmin(column.values)), float(np.nanmax(column.values))
        if low >= -90 and high <= 90 and LATITUDE & set(words):
            latitudes.setdefault(_masked_words(words, LATITUDE), column.name)
        elif low >= -180 and high <= 360 and LONGITUDE & set(words):
            longitudes.setdefault(_masked_words(words, LONGITUDE), column.name)
    return [(name, longitudes[key]) for key, name in latitudes.items() if key in longitudes]


def find_places(columns: Iterable[Column]) -> Floats | None:
    """Return the longitude and latitude of each row in degrees, (n, 2) with NaN, if they are sure.

    Names alone are not enough: numbers of a floor plan, percentages, standardised numbers and
    whole numbers are no coordinates. Two pairs, such as a start and an end, are no single place.
    """
    by_name = {str(column.name): column for column in columns}
    pairs = [pair for pair in latlong_pairs(by_name.values()) if _names_places(pair)]
    plain = [pair for pair in pairs if all(len(_words(name)) == 1 for name in pair)] or pairs
    if len(plain) != 1:
        return None
    latitude, longitude = (np.asarray(by_name[n].values, dtype=np.float64) for n in plain[0])
    degrees = np.column_stack([longitude, latitude])
    # Programs write 0, 0 for a missing place.
    degrees[~np.isfinite(degrees).all(axis=1) | ~degrees.any(axis=1)] = np.nan
    placed = degrees[~np.isnan(degrees[:, 0])]
    if all("tude" in name.lower() for name in plain[0]):
        return degrees if _are_degrees(placed, 1) else None
    # Short names are also those of other numbers, few of which are on land by chance.
    step = max(1, len(placed) // _MAX_SAMPLED)
    is_sure = _are_degrees(placed, 2) and share_on_land(placed[::step]) > _MIN_ON_LAND
    return degrees if is_sure else None


def _are_degrees(placed: Floats, decimals: int) -> bool:
    """Return whether points look like longitudes and latitudes with a number of decimals."""
    if len(np.unique(placed, axis=0)) < _MIN_PLACES or np.ptp(placed[:, 0]) > _FULL_TURN:
        return False
    # In this square of the Gulf of Guinea is no land, but shares and standardised numbers are.
    in_gulf = (np.abs(placed) < _GULF_DEGREES).all(axis=1)
    scaled = placed * 10 ** (decimals - 1)
    is_fine = (np.abs(scaled - np.rint(scaled)) > _ROUNDING).any(axis=1)
    return bool(2 * in_gulf.sum() < len(placed) and 2 * is_fine.sum() > len(placed))


def _names_places(pair: tuple[str, str]) -> bool:
    return not any(_OTHER_MEANINGS & set(_words(name)) or set("%()") & set(name) for name in pair)


def _words(name: str) -> list[str]:
    return [part.lower() for part in _PARTS.findall(name)]


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
