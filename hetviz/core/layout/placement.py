"""Placing new items among placed ones: medians of calibrated neighbours."""

from __future__ import annotations

import numpy as np

from hetviz._types import Floats
from hetviz.core.graph.affinities import neighbors_needed, perplexity_weights
from hetviz.core.graph.neighbors import nearest_columns

PERPLEXITY = 4.0
"""A new item lies where its few nearest are; more would draw it into the middle of the map."""


def median_places(
    squared: Floats, Y: Floats, perplexity: float = PERPLEXITY, *, between: bool = False
) -> Floats:
    """Place new items at the weighted median of their nearest.

    Parameters
    ----------
    squared : ndarray of shape (m, n)
        Squared distances to the placed items, up to a constant per row unless one of them is 0.
    Y : ndarray of shape (n, k)
        Where these are; NaN rows do not count.
    perplexity : float
    between : bool
        Whether the median lies between two of the nearest, by their weights. Else it is at one of
        them in each coordinate, and many items lie on lines through the placed ones.

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
    out = medians_of(D, Y[nearest], perplexity, between=between)
    for i in np.flatnonzero((D == 0).any(axis=1)):
        out[i] = Y[squared[i] == 0].mean(axis=0)
    return out


def medians_of(
    squared: Floats, Y: Floats, perplexity: float = PERPLEXITY, *, between: bool = False
) -> Floats:
    """Place new items at the weighted median of those of their nearest that are given.

    Parameters
    ----------
    squared : ndarray of shape (m, k)
        Squared distances to the nearest of each.
    Y : ndarray of shape (m, k, c)
        Where these are, all with a place.
    perplexity : float
        At most k / 3.
    between : bool
        See `median_places`.

    Returns
    -------
    ndarray of shape (m, c)
        An item at distance 0 of some lies at their mean place.
    """
    weights = perplexity_weights(squared, perplexity)
    out = np.empty((len(squared), Y.shape[2]))
    for axis in range(Y.shape[2]):
        out[:, axis] = _weighted_medians(Y[:, :, axis], weights, between)
    for i in np.flatnonzero((squared == 0).any(axis=1)):
        out[i] = Y[i, squared[i] == 0].mean(axis=0)
    return out


def _weighted_medians(values: Floats, weights: Floats, between: bool) -> Floats:
    """Return the weighted median of each row."""
    order = np.argsort(values, axis=1, kind="stable")
    values = np.take_along_axis(values, order, axis=1)
    weights = np.take_along_axis(weights, order, axis=1)
    share, rows = np.cumsum(weights, axis=1), np.arange(len(values))
    half = 0.5 * share[:, -1:]
    if not between:
        return np.asarray(values[rows, (share < half).sum(axis=1)])
    # Each weight counts half on either side of its own value.
    share = share - 0.5 * weights
    at = np.clip((share < half).sum(axis=1), 1, values.shape[1] - 1)
    low, high = share[rows, at - 1], share[rows, at]
    gap = high - low
    part = np.clip((half[:, 0] - low) / np.where(gap > 0, gap, 1.0), 0.0, 1.0)
    return np.asarray(values[rows, at - 1] + part * (values[rows, at] - values[rows, at - 1]))
