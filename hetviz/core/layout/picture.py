"""Pictures of learned spaces: who is near whom on many axes, drawn on two."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from hetviz._types import Floats, Ints, Sparse
from hetviz.core.graph.affinities import (
    LEAST_ROWS,
    conditional_affinities,
    neighbors_needed,
    symmetric_affinities,
)
from hetviz.core.graph.distances import cross_squared_distances
from hetviz.core.graph.neighbors import feature_neighbors
from hetviz.core.layout.placement import median_places
from hetviz.core.layout.sne import QUICK
from hetviz.core.layout.sne_device import layout_of
from hetviz.core.measures.ranking import nearest_places
from hetviz.core.spectral.start import SPREAD, carried_on, spectral_start
from hetviz.errors import Cancelled
from hetviz.progress import Progress, silent

PERPLEXITY = 30.0
_ASKED, _NEAREST = 1_000, 10
_ENTRIES = 4_000_000


@dataclass(frozen=True, eq=False)
class Picture:
    """A neighbour map of points that lie on many axes.

    Attributes
    ----------
    places : ndarray of shape (n, 2)
    divergence : float or None
        KL(P || Q) at the end, in nats.
    share_kept : float or None
        Share of the 10 nearest on the axes that are among the 10 nearest in the picture, of up to
        1,000 points; None of fewer than 12.
    """

    places: Floats
    divergence: float | None
    share_kept: float | None


def neighbor_picture(
    Y: Floats,
    groups: Sequence[Ints],
    rng: np.random.Generator,
    *,
    start: Floats | None = None,
    progress: Progress = silent,
    layout: Callable[[Floats], Floats] | None = None,
) -> Picture:
    """Draw points by who is near whom (t-SNE of the axes, of perplexity 30).

    Parameters
    ----------
    Y : ndarray of shape (n, k)
        All finite.
    groups : sequence of array of int
        Points that share their axes; distances to points of other groups mean nothing. Together
        they are all points, each once.
    rng : numpy.random.Generator
    start : ndarray of shape (n, 2), optional
        An earlier picture to begin with; NaN where a point is new.
    progress : callable
        Gets partial pictures; what it raises passes through, its ``partial`` the `Picture` so far.
    layout : callable, optional
        Turns a picture (n, 2) into what is reported.

    Notes
    -----
    O(n k log n) to 30,000 points, approximate above, then 400 iterations of
    `hetviz.core.layout.sne.Layout`. The axes are taken as they are, one as wide as it is.
    """
    n = len(Y)
    P = affinities_within(Y, groups)
    reached = np.asarray(P.sum(axis=1)).ravel() > 0
    places = np.zeros((n, 2))
    if not reached.any():
        return Picture(places, None, None)
    P = sp.csr_array(P[reached][:, reached])
    begun = None if start is None else start[reached]
    if begun is not None and np.isfinite(begun).all(axis=1).any():
        Z = carried_on(P, begun, rng)
        Z = SPREAD * (Z - Z.mean(axis=0)) / (Z.std() or 1.0)
    else:
        Z = spectral_start(P, 2, rng)
    drawing = layout_of(P, Z)

    def whole(Z: Floats) -> Floats:
        out = places.copy()
        out[reached] = Z
        return out if layout is None else layout(out)

    def done() -> Picture:
        out = places.copy()
        out[reached] = drawing.positions
        end = drawing.history[-1] if drawing.history else None
        return Picture(out, end, neighbors_kept(Y, out, groups, rng))

    try:
        drawing.run(QUICK, progress, whole)
    except Cancelled as stopped:
        stopped.partial = done()
        raise
    return done()


def affinities_within(Y: Floats, groups: Sequence[Ints]) -> Sparse:
    """Return the joint affinities (n, n) of points that share their axes, of sum 1."""
    n = len(Y)
    rows, columns, values = [], [], []
    for group in groups:
        if len(group) < LEAST_ROWS:
            continue
        k, perplexity = neighbors_needed(len(group), PERPLEXITY)
        found = feature_neighbors(Y[group], k, 0)
        joint = symmetric_affinities(conditional_affinities(found, perplexity))
        if joint is None:
            continue
        pairs = joint.tocoo()
        rows.append(group[pairs.coords[0]])
        columns.append(group[pairs.coords[1]])
        values.append(pairs.data * (len(group) / n))
    if not rows:
        return sp.csr_array((n, n))
    at = np.concatenate(rows), np.concatenate(columns)
    P = sp.csr_array((np.concatenate(values), at), shape=(n, n))
    return sp.csr_array(P / P.sum())


def neighbors_kept(
    Y: Floats, Z: Floats, groups: Sequence[Ints], rng: np.random.Generator
) -> float | None:
    """Return the share of the 10 nearest on Y (n, k) that are among the 10 nearest on Z (n, 2)."""
    total = count = 0.0
    for group in groups:
        if len(group) < _NEAREST + 2:
            continue
        asked = np.arange(len(group))
        if len(asked) > _ASKED:
            asked = np.sort(rng.choice(asked, _ASKED, replace=False))
        first, second = (
            _without(asked, nearest_places(X[group[asked]], X[group], _NEAREST + 1)) for X in (Y, Z)
        )
        both = (first[:, :, None] == second[:, None, :]).any(axis=2)
        total += float(both.sum()) / _NEAREST * len(group) / len(asked)
        count += len(group)
    return total / count if count else None


def _without(rows: Ints, index: Ints) -> Ints:
    """Take each row out of its own list of nearest."""
    itself = index == rows[:, None]
    itself[~itself.any(axis=1), -1] = True
    return np.asarray(index[~itself].reshape(len(rows), -1))


def beside(new: Floats, Y: Floats, Z: Floats) -> Floats:
    """Place new points in a picture, by those nearest to them on the axes.

    Parameters
    ----------
    new : ndarray of shape (m, k)
    Y : ndarray of shape (n, k)
        Points that are in the picture.
    Z : ndarray of shape (n, 2)
        Where; NaN rows do not count.

    Returns
    -------
    ndarray of shape (m, 2)
        NaN for points without a place on the axes.
    """
    out = np.full((len(new), 2), np.nan)
    there = np.isfinite(Y).all(axis=1) & np.isfinite(Z).all(axis=1)
    asked = np.flatnonzero(np.isfinite(new).all(axis=1))
    if not there.any():
        return out
    known, places = Y[there], Z[there]
    step = max(1, _ENTRIES // len(known))
    for first in range(0, len(asked), step):
        part = asked[first : first + step]
        out[part] = median_places(cross_squared_distances(new[part], known), places)
    return out
