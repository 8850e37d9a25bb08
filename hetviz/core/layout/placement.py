"""Placement of new items on a map at weighted medians of their neighbours."""

from __future__ import annotations

import numpy as np

from hetviz._types import Floats
from hetviz.core.graph.affinities import neighbors_needed, perplexity_weights
from hetviz.core.graph.neighbors import nearest_columns

PERPLEXITY = 4.0
"""A few nearest items decide the place of a new item; more would pull it to the map's centre."""


def median_places(
    squared: Floats, Y: Floats, perplexity: float = PERPLEXITY, *, between: bool = False
) -> Floats:
    """Place new items at the weighted median of their nearest items.

    `between`: Interpolate the median between two of the nearest items by their weights. Otherwise
        each coordinate is that of one of them, and many items lie on lines through the placed
        ones.
    """
    placed = np.flatnonzero(np.isfinite(Y).all(axis=1))
    out = np.full((len(squared), Y.shape[1]), np.nan)
    if not placed.size:
        return out
    squared, Y = squared[:, placed], Y[placed]
    if placed.size == 1:
        out[:] = Y[0]
        return out
    k, perplexity = neighbors_needed(placed.size + 1, perplexity)
    nearest = nearest_columns(squared, k)
    D = np.take_along_axis(squared, nearest, axis=1)
    out = medians_of(D, Y[nearest], perplexity, between=between)
    for i in np.flatnonzero((D == 0).any(axis=1)):
        out[i] = Y[squared[i] == 0].mean(axis=0)
    return out


def medians_of(
    squared: Floats, Y: Floats, perplexity: float = PERPLEXITY, *, between: bool = False
) -> Floats:
    """Place new items at the weighted median of given nearest items."""
    weights = perplexity_weights(squared, perplexity)
    out = np.empty((len(squared), Y.shape[2]))
    for axis in range(Y.shape[2]):
        out[:, axis] = _weighted_medians(Y[:, :, axis], weights, between)
    for i in np.flatnonzero((squared == 0).any(axis=1)):
        out[i] = Y[i, squared[i] == 0].mean(axis=0)
    return out


def _weighted_medians(values: Floats, weights: Floats, between: bool) -> Floats:
    order = np.argsort(values, axis=1, kind="stable")
    values = np.take_along_axis(values, order, axis=1)
    weights = np.take_along_axis(weights, order, axis=1)
    share, rows = np.cumsum(weights, axis=1), np.arange(len(values))
    half = 0.5 * share[:, -1:]
    if not between:
        return np.asarray(values[rows, (share < half).sum(axis=1)])
    # Half of each weight lies on either side of its value.
    share = share - 0.5 * weights
    at = np.clip((share < half).sum(axis=1), 1, values.shape[1] - 1)
    low, high = share[rows, at - 1], share[rows, at]
    gap = high - low
    fraction = np.clip((half[:, 0] - low) / np.where(gap > 0, gap, 1.0), 0.0, 1.0)
    return np.asarray(values[rows, at - 1] + fraction * (values[rows, at] - values[rows, at - 1]))
