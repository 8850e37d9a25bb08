"""Columns that are surely coordinates, and those that only look so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import pytest

from hetviz.features.columns.geographic import find_places
from hetviz.features.columns.types import infer

RNG = np.random.default_rng(0)
LATITUDES = [47.0707, 48.3069, 48.2082, 47.2692, 46.6247]
LONGITUDES = [15.4395, 14.2858, 16.3738, 11.4041, 14.3053]
N = 300


def places(table: Mapping[str, Sequence[object] | np.ndarray]) -> list[list[float]] | None:
    frame = pd.DataFrame(dict(table))
    found = find_places([infer(name, frame[name]) for name in frame.columns])
    return None if found is None else found.tolist()


@pytest.mark.parametrize(
    ("latitude", "longitude"),
    [
        ("latitude", "longitude"), ("lat", "lon"), ("Lat", "Lng"), ("LATITUDE", "LONGITUDE"),
        ("lat", "long"), ("storeLat", "storeLon"), ("geo_lat", "geo_lng"),
    ],
)  # fmt: skip
def test_coordinates_are_found_by_name(latitude: str, longitude: str) -> None:
    found = places({"price": [3, 1, 2, 5, 4], latitude: LATITUDES, longitude: LONGITUDES})
    assert found == [[x, y] for x, y in zip(LONGITUDES, LATITUDES, strict=True)]


def test_missing_places_and_zeros_are_no_places() -> None:
    found = places(
        {
            "lat": [*map(str, LATITUDES), "", "0", "50.1234"],
            "lon": [*map(str, LONGITUDES), "12.5", "0", ""],
        }
    )
    assert found is not None and np.isnan(found).all(axis=1).tolist() == [False] * 5 + [True] * 3


@pytest.mark.parametrize(
    ("latitude", "longitude"),
    [
        (RNG.uniform(0, 50, N), RNG.uniform(0, 80, N)),  # A floor plan in metres
        (RNG.uniform(0, 10, N), RNG.uniform(0, 10, N)),
        (RNG.uniform(0, 1, N), RNG.uniform(0, 1, N)),  # Shares
        (RNG.uniform(0, 100, N), RNG.uniform(0, 100, N)),  # Percentages
        (RNG.normal(size=N), RNG.normal(size=N)),  # Standardised numbers
        (RNG.uniform(20, 60, N).round(), RNG.uniform(0, 60, N).round()),  # Whole numbers
        (RNG.uniform(20, 60, N).round(1), RNG.uniform(0, 60, N).round(1)),
        (np.full(N, 47.0707), np.full(N, 15.4395)),  # One place
        (RNG.uniform(-80, 80, N), RNG.uniform(-170, 350, N)),  # More than one turn
        (RNG.uniform(0, 800, N), RNG.uniform(0, 600, N)),  # Pixels
    ],
)
def test_other_numbers_with_short_names_are_no_coordinates(
    latitude: np.ndarray, longitude: np.ndarray
) -> None:
    assert places({"lat": latitude, "lng": longitude}) is None


def test_full_names_need_less() -> None:
    sea = {"latitude": [-40.1, -41.2, -39.3], "longitude": [-140.1, -141.2, -139.3]}
    assert places(sea) is not None
    assert places({"lat": sea["latitude"], "lng": sea["longitude"]}) is None
    assert places({"latitude": [1, 2, 3], "longitude": [4, 5, 6]}) is None


@pytest.mark.parametrize(
    ("latitude", "longitude"),
    [
        ("x", "y"), ("left", "top"), ("lat_px", "lng_px"), ("lat pct", "lng pct"),
        ("lat (%)", "lng (%)"), ("latency", "length"), ("home lat", "work lng"),
    ],
)  # fmt: skip
def test_coordinates_with_other_names_are_not_taken(latitude: str, longitude: str) -> None:
    assert places({latitude: LATITUDES, longitude: LONGITUDES}) is None


def test_two_places_of_a_row_are_ambiguous() -> None:
    both = {f"{end} {axis}": values for end in ("start", "end") for axis, values in
            (("lat", LATITUDES), ("lng", LONGITUDES))}  # fmt: skip
    assert places(both) is None
    assert places({**both, "lat": LATITUDES, "lng": LONGITUDES}) is not None
