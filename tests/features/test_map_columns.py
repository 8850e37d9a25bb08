"""Maps of the earth from longitude and latitude, and the land in their figures."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from matplotlib.patches import PathPatch

import hetviz
from hetviz.core.geography import EARTH_RADIUS_KM
from hetviz.errors import DataError
from hetviz.features.map_columns import is_on_earth, projection_of
from hetviz.plots.colour import colouring
from hetviz.plots.paper_map import paper_map
from hetviz.plots.planar import points_to_draw

CITIES = pd.DataFrame(
    {
        "city": ["Graz", "Oslo", "Rome", "Lima", "Accra"],
        "lat": [47.0707, 59.9133, 41.8933, -12.0621, 5.5571],
        "lon": [15.4395, 10.7389, 12.4829, -77.0365, -0.2012],
    }
)


def data_of(**tables: pd.DataFrame) -> hetviz.HeteroData:
    return hetviz.HeteroData.from_frames(tables)


def test_map_on_earth_is_projected_and_knows_its_projection() -> None:
    data = data_of(cities=CITIES)
    m = hetviz.map_from_columns(data, on_earth=True)
    projection = projection_of(m)
    assert projection is not None and projection.parallel == pytest.approx((59.9133 - 12.0621) / 2)
    degrees = CITIES[["lon", "lat"]].to_numpy()
    assert m["cities"] == pytest.approx(projection.project(degrees))
    assert hetviz.map_from_columns(data, "lon", "lat", on_earth=True)["cities"] == pytest.approx(
        m["cities"]
    )
    assert projection_of(hetviz.map_from_columns(data, "lon", "lat")) is None
    assert is_on_earth(data, "lon", "lat") and not is_on_earth(data, "lat", "lon")


def test_map_on_earth_refuses_other_numbers() -> None:
    plan = pd.DataFrame({"desk": list("abcd"), "lat": [10, 20, 30, 40], "lon": [1, 2, 3, 4]})
    with pytest.raises(DataError, match="longitude and latitude"):
        hetviz.map_from_columns(data_of(desks=plan), on_earth=True)
    with pytest.raises(DataError, match="longitude and latitude"):
        hetviz.map_from_columns(data_of(desks=plan * 10), "lon", "lat", on_earth=True)


def test_datasets_are_not_enlarged_on_earth() -> None:
    near = CITIES.assign(city=[f"{name} 2" for name in CITIES["city"]])
    near[["lat", "lon"]] = near[["lat", "lon"]] * 0.001 + [47.0, 15.0]
    data = data_of(cities=CITIES, parts=near)
    m = hetviz.map_from_columns(data, on_earth=True)
    drawn = points_to_draw(m)
    assert np.ptp(drawn.points[5:], axis=0).max() < 0.002 * EARTH_RADIUS_KM * np.pi
    assert drawn.notes == ()


@pytest.mark.parametrize(("share", "has_land"), [(1.0, True), (0.01, False)])
def test_figure_shows_the_land_unless_the_outline_is_too_coarse(
    share: float, has_land: bool
) -> None:
    table = CITIES.assign(lat=CITIES["lat"] * share + 5.0, lon=CITIES["lon"] * share + 20.0)
    data = data_of(cities=table)
    for m, expected in (
        (hetviz.map_from_columns(data, "lon", "lat", on_earth=True), has_land),
        (hetviz.map_from_columns(data, "lon", "lat"), False),
    ):
        (axes,) = paper_map(data, m, colouring(data)).figure.axes
        land = [p for p in axes.get_children() if isinstance(p, PathPatch) and p.zorder == 0]
        assert len(land) == 2 * expected
