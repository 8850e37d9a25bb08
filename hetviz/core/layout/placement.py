"""Placing new items among placed ones: medians of calibrated neighbours."""

from __future__ import annotations

import numpy as np

from hetviz._types import Floats
from hetviz.core.graph.affinities import neighbors_needed, perplexity_weights
from hetviz.core.graph.neighbors import nearest_columns

PERPLEXITY = 4.0
"""A new item lies where its few nearest are; more would draw it into the middle of the map."""


def median_places(squared: Floats, Y: Floats, perplexity: float = PERPLEXITY) -> Floats:
    """Place new items at the weighted median of their nearest.

    Parameters
    ----------
    squared : ndarray of shape (m, n)
        Squared distances to the placed items, up to a constant per row unless one of them is 0.
    Y : ndarray of shape (n, k)
        Where these are; NaN rows do not count.
    perplexity : float

    Returns
    -------
    ndarray of shape (m, k)
        Coordinate by coordinate. An item at distance 0 of others lies at their mean place. NaN
        where no item is placed.
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
    weights = perplexity_weights(D, perplexity)
    for axis in range(Y.shape[1]):
        out[:, axis] = _weighted_medians(Y[nearest, axis], weights)
    for i in np.flatnonzero((D == 0).any(axis=1)):
        out[i] = Y[squared[i] == 0].mean(axis=0)
    return out


def _weighted_medians(values: Floats, weights: Floats) -> Floats:
    """Return the weighted median of each row."""
    order = np.argsort(values, axis=1, kind="stable")
    values = np.take_along_axis(values, order, axis=1)
    share = np.cumsum(np.take_along_axis(weights, order, axis=1), axis=1)
    at = (share < 0.5 * share[:, -1:]).sum(axis=1)
    return np.asarray(values[np.arange(len(values)), at])
