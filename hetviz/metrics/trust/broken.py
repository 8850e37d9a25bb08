"""Which statements about each item a map breaks."""

from __future__ import annotations

import numpy as np

from hetviz._types import Floats
from hetviz.core.ordinal.comparisons import comparison_outcomes
from hetviz.metrics.trust.vicinity import Vicinity


def broken(vicinity: Vicinity) -> tuple[Floats, Floats]:
    """Count the statements about each row that the map breaks, and all of them.

    Returns
    -------
    violated, said : array of shape (n_rows,)
        NaN for rows without a place or not asked for. A link counts at both ends, each seen from
        there: it may be kept at one and broken at the other.
    """
    data = vicinity.data
    violated, said = np.full((2, data.n_rows), np.nan)
    for name, place in data.offsets.items():
        for counts in (violated, said):
            counts[vicinity.asked[name] + place.start] = 0.0
    for links in data.links:
        ends = (
            (links.source, links.i, links.target, links.j),
            (links.target, links.j, links.source, links.i),
        )
        for source, i, target, j in ends:
            reach = vicinity.reach_here(source, target)[i]
            distance = vicinity.here(source, target).pairs(i, j)
            counted = np.isfinite(reach) & np.isfinite(distance) & (links.weight != 0)
            wrong = (distance <= reach) != (links.weight > 0)
            at = i + data.offsets[source].start
            np.add.at(said, at[counted], 1.0)
            np.add.at(violated, at[counted & wrong], 1.0)
    if data.comparisons is not None and len(data.comparisons):
        outcome = comparison_outcomes(
            np.vstack(list(vicinity.places.values())), data.comparisons.objects
        )
        rows = np.sort(data.comparisons.objects, axis=1)
        # an item that is named twice in one comparison is spoken of once
        first = np.column_stack([np.ones(len(rows), dtype=bool), np.diff(rows, axis=1) > 0])
        placed = np.isfinite(outcome)[:, None] & first
        np.add.at(said, rows[placed], 1.0)
        np.add.at(violated, rows[placed & (outcome < 0.5)[:, None]], 1.0)
    return violated, said
