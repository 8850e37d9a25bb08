"""Order in which rows get a picture or a name, and samples of many points."""

from __future__ import annotations

import numpy as np

from hetviz._types import Bools, Floats, Ints, Reals
from hetviz.data import HeteroData

MAX_SAMPLE = 50_000
_COARSE, _FINE = 24, 160


def sum_link_weights(data: HeteroData) -> Floats:
    """Return the summed positive link weights of each row, shape (n_rows,)."""
    total = np.zeros(data.n_rows)
    for links in data.links:
        weight = np.maximum(links.weight, 0.0)
        for name, ends in ((links.source, links.i), (links.target, links.j)):
            total[data.offsets[name]] += np.bincount(
                ends, weights=weight, minlength=len(data[name])
            )
    return total


def sort_by_importance(rows: Ints, points: Reals, weight: Floats) -> Ints:
    """Return `rows` ordered so that all parts of the map come in turn."""
    if not len(rows):
        return rows
    part = _grid_cells(points[rows], _COARSE)
    heaviest = weight[rows]
    return rows[np.lexsort((-heaviest, _rank_in_group(part, -heaviest)))]


def sample_rows(points: Reals, mask: Bools, max_rows: int = MAX_SAMPLE) -> Ints:
    """Return at most `max_rows` rows of `mask`, at least one per non-empty cell; seeded."""
    rows = np.flatnonzero(mask)
    if len(rows) <= max_rows:
        return rows
    drawn = np.random.default_rng(0).random(len(rows))
    first = _rank_in_group(_grid_cells(points[rows], _FINE), drawn) == 0
    chosen: Ints = np.lexsort((drawn, ~first))[:max_rows]
    return np.sort(rows[chosen])


def _grid_cells(points: Reals, n: int) -> Ints:
    """Return the cell of each point on an n x n grid without the outermost points."""
    low, high = np.quantile(points, [0.006, 0.994], axis=0)
    share = (points - low) / np.where(high > low, high - low, 1.0)
    column, row = np.clip(share * n, 0, n - 1).astype(np.int64).T
    cells: Ints = row * n + column
    return cells


def _rank_in_group(group: Ints, key: Floats) -> Ints:
    """Return the rank of each entry within its group, the smallest `key` at 0."""
    order = np.lexsort((key, group))
    ordered = group[order]
    starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    sizes = np.diff(np.append(starts, len(group)))
    place = np.empty(len(group), dtype=np.int64)
    place[order] = np.arange(len(group)) - np.repeat(starts, sizes)
    return place
