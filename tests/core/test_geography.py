"""Projections at exact points, their areas, the date line, and the outline of the land."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest

from hetviz._types import Floats
from hetviz.core import geography
from hetviz.core.geography import EARTH_RADIUS_KM, Projection, choose_projection, land_rings

WORLD = Projection(0.0)


def area(ring: Floats) -> float:
    return float(sum(a[0] * b[1] - b[0] * a[1] for a, b in pairwise([*ring, ring[0]])) / 2)


def place(projection: Projection, longitude: float, latitude: float) -> list[float]:
    degrees = np.array([[longitude, latitude]], dtype=float)
    return [float(x) for x in projection.project(degrees)[0] / EARTH_RADIUS_KM]


def test_equal_earth_at_points_of_its_paper() -> None:
    assert place(WORLD, 0, 0) == [0, 0]
    assert place(WORLD, 0, 90) == pytest.approx([0, 1.3173627591574], abs=1e-12)
    assert place(WORLD, -180, 0) == pytest.approx([-2.7066299836960, 0], abs=1e-12)
    x, y = place(WORLD, 40, 30)
    assert place(WORLD, -40, -30) == pytest.approx([-x, -y])


def test_equal_earth_keeps_areas() -> None:
    edge = WORLD.outlines()[0]
    assert area(edge) == pytest.approx(4 * math.pi * EARTH_RADIUS_KM**2, rel=1e-4)


def test_mercator_is_true_at_its_parallel_and_keeps_angles() -> None:
    local = Projection(15.4, 47.1)
    assert place(local, 15.4, 0) == [0, 0]
    step = 1e-4
    a, east, north = (
        np.array(place(local, 15.4 + right, 47.1 + up))
        for right, up in ((0, 0), (step, 0), (0, step))
    )
    assert np.linalg.norm(east - a) == pytest.approx(
        math.radians(step) * math.cos(math.radians(47.1))
    )
    assert np.linalg.norm(north - a) == pytest.approx(math.radians(step), rel=1e-5)
    assert place(Projection(0.0, 0.0), 0, 45)[1] == pytest.approx(math.log(1 + math.sqrt(2)))


def test_data_on_both_sides_of_the_date_line_stay_together() -> None:
    fiji_and_samoa = np.array([[178.4, -18.1], [179.3, -16.5], [-171.8, -13.8]])
    projection = choose_projection(fiji_and_samoa)
    assert projection.meridian == pytest.approx(-176.7) and projection.parallel is not None
    x = projection.project(fiji_and_samoa)[:, 0]
    assert (np.diff(x) > 0).all() and np.ptp(x) < 1200


def test_few_far_points_do_not_move_the_middle() -> None:
    states = np.column_stack([np.linspace(-120, -70, 200), np.linspace(25, 49, 200)])
    far = np.array([[145.0, 13.0], [10.0, 50.0]])
    assert choose_projection(np.vstack([states, far])).meridian == pytest.approx(-95, abs=1)


@pytest.mark.parametrize(
    ("degrees", "meridian", "is_mercator"),
    [
        ([[-60, 10], [60, 10], [180, 10]], 0, False),  # Around the earth
        ([[-60, 10], [60, 10], [180, 10], [60, 10]], 0, False),
        ([[10, 50], [12, 48], [11, 46]], 11, True),
        ([[370, 50], [372, 48]], 11, True),  # Longitudes up to 360 degrees
        ([[-70, 75], [-20, 83]], -45, False),  # Too near to the pole
        ([[5, 5]], 5, True),
    ],
)
def test_projection_suits_the_extent(
    degrees: list[list[float]], meridian: float, is_mercator: bool
) -> None:
    projection = choose_projection(np.array(degrees, dtype=float))
    assert projection.meridian == pytest.approx(meridian, abs=1)
    assert (projection.parallel is not None) == is_mercator


def test_land_is_of_the_size_of_the_land_and_small() -> None:
    rings = land_rings()
    assert len(rings) > 100 and geography._LAND.stat().st_size < 60_000
    for ring in rings:
        assert (np.abs(ring) <= [180, 90]).all() and len(ring) > 2
    # 149 million square kilometres, less small islands.
    land = sum(map(area, WORLD.outlines()[1:]))
    assert land == pytest.approx(147.5e6, rel=0.01)


@pytest.mark.parametrize("meridian", [-95.0, 100.0, 179.0])
def test_land_is_cut_at_the_edge_of_the_projection(meridian: float) -> None:
    edge, *land = Projection(meridian).outlines()
    width = np.ptp(edge[:, 0])
    assert all(np.ptp(ring[:, 0]) < 0.9 * width for ring in land if area(ring) < 1e7)
    assert sum(map(area, land)) == pytest.approx(sum(map(area, WORLD.outlines()[1:])), rel=1e-3)


@pytest.mark.parametrize(
    ("longitude", "latitude", "is_land"),
    [(15.4, 47.1, 1), (-98, 39, 1), (-30, 40, 0), (50.5, 42, 0), (375.4, 47.1, 1), (-140, -40, 0)],
)
def test_share_on_land(longitude: float, latitude: float, is_land: int) -> None:
    assert geography.share_on_land(np.array([[longitude, latitude]], dtype=float)) == is_land
