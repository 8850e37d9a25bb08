"""Places of items on the earth, drawn in the frame of a map."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from hetviz.data import HeteroData
from hetviz.features.columns.types import Column
from hetviz.plots.geography import earth_map
from hetviz.plots.label_placement import Frame
from hetviz.plots.planar import DrawnPoints
from hetviz.ui.map_data.array_cache import RESULTS, PackedArray
from hetviz.ui.map_data.parts import Geometry, get_geometry, round_to_grid
from hetviz.workspace import MapResult, State


@dataclass(frozen=True, eq=False)
class Geography:
    """Items at their places on the earth, see `EarthMap`."""

    geometry: Geometry
    frame: Frame
    outlines: PackedArray
    per_km: float
    note: str


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
    on_map = Frame.around(form.points[form.placed].astype(np.float64))
    earth = earth_map(data, np.arange(data.n_rows), on_map, columns_of)
    if earth is None:
        return None
    placed = ~np.isnan(earth.points[:, 0])
    return Geography(
        round_to_grid(DrawnPoints(earth.points, placed, ())),
        Frame.around(earth.points[placed]),
        PackedArray.pack(earth.outlines, "<f4"),
        earth.per_km,
        earth.note,
    )
