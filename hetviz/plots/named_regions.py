"""Regions of a map that a figure or page names."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hetviz._types import Floats, Ints
from hetviz.data import HeteroData
from hetviz.plots.colour import CLUSTER, Colouring
from hetviz.runs.cluster.contrast import Contrasts
from hetviz.runs.cluster.regions import RegionLevel, find_regions


def category_of_region(region: RegionLevel, colouring: Colouring, rows: Ints, k: int) -> int | None:
    """Return the category of most items among `rows` that the name of a region is true of."""
    inside = (region.codes == k) & region.is_true
    codes = colouring.code[rows[inside[rows]]]
    sizes = np.bincount(codes[codes >= 0], minlength=1)
    return int(np.argmax(sizes)) if 2 * sizes.max() > len(codes) else None


def named_levels(
    data: HeteroData,
    points: Floats,
    colouring: Colouring,
    regions: Sequence[RegionLevel] | None = None,
) -> Sequence[RegionLevel]:
    """Return the regions of a map, or none without names. Clusters have their own names."""
    if colouring.option.key == CLUSTER.key:
        return ()
    levels = find_regions(Contrasts(data), points) if regions is None else regions
    return levels if any(name for level in levels for name in level.names) else ()
