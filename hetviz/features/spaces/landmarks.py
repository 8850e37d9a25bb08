"""Landmarks: a few of very many items, of which a map is made first, and places of all by them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import scipy.sparse as sp

from hetviz._types import Floats, Ints
from hetviz.core.graph.neighbors import cross_neighbors
from hetviz.core.spectral.start import complete_layout
from hetviz.data import HeteroData
from hetviz.data.model.views import with_identity_links

MIN_ROWS = 20_000
"""Data of more rows than these are mapped by landmarks first."""
N_LANDMARKS = 3_000
_N_NEAREST = 3


def landmarks(data: HeteroData, n: int = N_LANDMARKS, random_state: int = 0) -> Ints:
    """Return rows that stand for all of some data.

    Parameters
    ----------
    data : HeteroData
    n : int
        How many in all; every dataset has the same share of them, or all of its rows.
    random_state : int

    Returns
    -------
    array of int
        Global rows, ascending. Links are drawn one after another and those with an end in an early
        one are taken, so that landmarks are linked with each other; rows without links have their
        chance besides.

    Notes
    -----
    O(rows + links).
    """
    rng = np.random.default_rng(random_state)
    rank = rng.random(data.n_rows)
    for group in with_identity_links(data).links:
        drawn = rng.random(len(group))
        drawn[group.weight <= 0] = 1.0
        for name, rows in ((group.source, group.i), (group.target, group.j)):
            np.minimum.at(rank, rows + data.offsets[name].start, drawn)
    left, found = n, []
    smallest = sorted(data.offsets.values(), key=lambda span: span.stop - span.start)
    for place, span in enumerate(smallest):
        share = min(span.stop - span.start, left // (len(smallest) - place))
        found.append(span.start + np.argsort(rank[span], kind="stable")[:share])
        left -= share
    return np.sort(np.concatenate(found))


def place_by_landmarks(
    data: HeteroData,
    rows: Ints,
    places: Floats,
    features: Sequence[Floats | None],
    random_state: int = 0,
    beat: Callable[[], None] = lambda: None,
) -> Floats:
    """Return places of all rows, from those of landmarks.

    Parameters
    ----------
    data : HeteroData
    rows : array of int
        Global rows of the landmarks.
    places : ndarray of shape (len(rows), k)
        NaN where one has none.
    features : sequence of ndarray of shape (n_d, k_d), or None
        Of each dataset, few columns.
    random_state : int
        Rows lie a hundredth of the spread off, by chance.
    beat : callable
        Called after each block of rows, so that it can be cancelled.

    Returns
    -------
    ndarray of shape (n_rows, k)
        A row lies at the mean of the three landmarks of its dataset that are most like it, and of
        what it is linked with, both by half; NaN where neither leads to a landmark.

    Notes
    -----
    O(n m p) for n rows, m landmarks and p columns, in pieces of bounded memory, and O(links).
    """
    Y = np.full((data.n_rows, places.shape[1]), np.nan)
    Y[rows] = places
    there = np.isfinite(Y).all(axis=1)
    if not there.any():
        return Y
    near = sp.csr_array((data.n_rows, data.n_rows))
    for span, F in zip(data.offsets.values(), features, strict=True):
        known = np.flatnonzero(there[span])
        k = min(_N_NEAREST, len(known))
        if F is None or not k:
            continue
        own = np.arange(span.start, span.stop)
        nearest = cross_neighbors(F, F[known], k, lambda share: beat())
        found = known[nearest.index] + span.start
        ends = (np.repeat(own, k), found.ravel())
        near = near + sp.csr_array((np.full(len(own) * k, 1.0 / k), ends), shape=near.shape)
    W = sp.csr_array(data.adjacency("+"))
    total = np.asarray(W.sum(axis=1)).ravel()
    share = sp.diags_array(1.0 / np.where(total > 0, total, 1.0))
    A = sp.csr_array(near + share @ W)
    label = sp.csgraph.connected_components(A, directed=False)[1]
    reached = np.isin(label, label[there])
    A = A[reached][:, reached]
    Y[reached] = complete_layout(A, Y[reached], np.random.default_rng(random_state))
    return Y
