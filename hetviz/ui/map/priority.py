"""Which rows come first: for a picture or a word, and among points too many to draw."""

from __future__ import annotations

import numpy as np

from hetviz._types import Bools, Floats, Ints, Reals
from hetviz.data import HeteroData

MAX_SAMPLE = 50_000
_COARSE, _FINE = 24, 160


def sum_link_weights(data: HeteroData) -> Floats:
    """Return the weights of the links of each row that say together, summed, shape (n_rows,)."""
    total = np.zeros(data.n_rows)
    for links in data.links:
        weight = np.maximum(links.weight, 0.0)
        for name, ends in ((links.source, links.i), (links.target, links.j)):
            total[data.offsets[name]] += np.bincount(
                ends, weights=weight, minlength=len(data[name])
            )
    return total


def sort_by_importance(rows: Ints, points: Reals, weight: Floats) -> Ints:
    """Return `rows`, the first of every part of the map first, then the second of every part.

    Parameters
    ----------
    rows : array of int
        Global rows that have a place.
    points : array of shape (n_rows, 2)
    weight : array of shape (n_rows,)
        Within a part of the map, and among rows of the same place in their part, those of most
        weight come first.
    """
    if not len(rows):
        return rows
    part = _grid_cells(points[rows], _COARSE)
    heaviest = weight[rows]
    return rows[np.lexsort((-heaviest, _rank_in_group(part, -heaviest)))]


def sample_rows(points: Reals, mask: Bools, max_rows: int = MAX_SAMPLE) -> Ints:
    """Return at most `max_rows` rows of `mask`, at least one of every small cell that holds any.

    Notes
    -----
    The same rows for the same points: the draw is seeded.
    """
    rows = np.flatnonzero(mask)
    if len(rows) <= max_rows:
        return rows
    drawn = np.random.default_rng(0).random(len(rows))
    first = _rank_in_group(_grid_cells(points[rows], _FINE), drawn) == 0
    chosen: Ints = np.lexsort((drawn, ~first))[:max_rows]
    return np.sort(rows[chosen])


def _grid_cells(points: Reals, n: int) -> Ints:
    """Return the cell of each point on an n x n grid over all but the outermost of them."""
    low, high = np.quantile(points, [0.006, 0.994], axis=0)
    share = (points - low) / np.where(high > low, high - low, 1.0)
    column, row = np.clip(share * n, 0, n - 1).astype(np.int64).T
    cells: Ints = row * n + column
    return cells


def _rank_in_group(group: Ints, key: Floats) -> Ints:
    """Return the place of each entry within its group, the smallest `key` at 0."""
    order = np.lexsort((key, group))
    ordered = group[order]
    starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    sizes = np.diff(np.append(starts, len(group)))
    place = np.empty(len(group), dtype=np.int64)
    place[order] = np.arange(len(group)) - np.repeat(starts, sizes)
    return place
