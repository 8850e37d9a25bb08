"""Items of a map at their places on the earth, in the frame of the map."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from hetviz._text import count
from hetviz._types import Floats, Ints
from hetviz.core.geography import choose_projection
from hetviz.data import HeteroData
from hetviz.features.columns.geographic import find_places
from hetviz.features.columns.types import Column
from hetviz.plots.label_placement import Frame


@dataclass(frozen=True, eq=False)
class EarthMap:
    """Items at their places on the earth, in units of a map."""

    points: Floats  # (n_rows, 2), NaN without coordinates
    # Rings (m, 2) of the edge of the projection and of the land, each with a row of NaN at its end.
    outlines: Floats
    per_km: float  # Units of the map per kilometre
    note: str  # How many items have no coordinates; "" if all have some


def earth_map(
    data: HeteroData, rows: Ints, on_map: Frame, columns_of: Callable[[str], Iterable[Column]]
) -> EarthMap | None:
    """Return the geography of the items, or None without columns that are surely coordinates.

    `rows`: Global rows of the items on the map, whose frame is `on_map`.
    """
    degrees = np.full((data.n_rows, 2), np.nan)
    for name, span in data.offsets.items():
        places = find_places(columns_of(name))
        if places is not None:
            degrees[span] = places
    placed = rows[~np.isnan(degrees[rows, 0])]
    if not len(placed):
        return None
    projection = choose_projection(degrees[placed])
    km = projection.project(degrees)
    on_earth = Frame.around(km[placed])
    # With the size of the map, items move between both without the camera.
    per_km = float(((on_map.high - on_map.low) / (on_earth.high - on_earth.low)).min())
    middle = (on_map.low + on_map.high) / 2 - per_km * (on_earth.low + on_earth.high) / 2
    rings = [np.vstack([middle + per_km * ring, [[np.nan] * 2]]) for ring in projection.outlines()]
    n_missing = len(rows) - len(placed)
    verb = "has" if n_missing == 1 else "have"
    note = f"{n_missing:,} of {count(len(rows), 'item')} {verb} no coordinates"
    return EarthMap(middle + per_km * km, np.concatenate(rings), per_km, note if n_missing else "")
