"""Places of items on the earth, drawn in the frame of a map."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from hetviz._text import count
from hetviz.core.geography import choose_projection
from hetviz.data import HeteroData
from hetviz.features.columns.geographic import find_places
from hetviz.features.columns.types import Column
from hetviz.plots.label_placement import Frame
from hetviz.plots.planar import DrawnPoints
from hetviz.ui.map_data.array_cache import RESULTS, PackedArray
from hetviz.ui.map_data.parts import Geometry, get_geometry, round_to_grid
from hetviz.workspace import MapResult, State


@dataclass(frozen=True, eq=False)
class Geography:
    """Items at their places on the earth, in units of a map."""

    geometry: Geometry
    frame: Frame
    # Rings (m, 2) of the edge of the projection and of the land, each with a row of NaN at its end.
    outlines: PackedArray
    per_km: float  # Units of the map per kilometre
    note: str  # How many items have no place; "" if all have one


def find_geography(
    state: State, run: MapResult, columns_of: Callable[[str], Iterable[Column]]
) -> Geography | None:
    """Return the geography of the items, or None without columns that are surely coordinates."""
    data = state.opened()
    return RESULTS.get_or_compute(
        data, ("geography", id(run)), lambda: _make(data, get_geometry(state, run), columns_of), run
    )


def _make(
    data: HeteroData, form: Geometry, columns_of: Callable[[str], Iterable[Column]]
) -> Geography | None:
    degrees = np.full((data.n_rows, 2), np.nan)
    for name, rows in data.offsets.items():
        places = find_places(columns_of(name))
        if places is not None:
            degrees[rows] = places
    placed = ~np.isnan(degrees[:, 0])
    if not placed.any():
        return None
    projection = choose_projection(degrees[placed])
    km = projection.project(degrees)
    on_earth, on_map = (
        Frame.around(km[placed]),
        Frame.around(form.points[form.placed].astype(np.float64)),
    )
    # With the size of the map, items move between both without the camera.
    per_km = float(((on_map.high - on_map.low) / (on_earth.high - on_earth.low)).min())
    middle = (on_map.low + on_map.high) / 2 - per_km * (on_earth.low + on_earth.high) / 2
    points = middle + per_km * km
    rings = [np.vstack([middle + per_km * ring, [[np.nan] * 2]]) for ring in projection.outlines()]
    n_missing = int((~placed).sum())
    verb = "has" if n_missing == 1 else "have"
    note = f"{n_missing:,} of {count(len(placed), 'item')} {verb} no coordinates"
    return Geography(
        round_to_grid(DrawnPoints(points, placed, ())),
        Frame.around(points[placed]),
        PackedArray.pack(np.concatenate(rings), "<f4"),
        per_km,
        note if n_missing else "",
    )
