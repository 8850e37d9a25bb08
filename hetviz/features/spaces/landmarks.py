"""Landmarks: a sample of items that is mapped first and then places all other items."""

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
"""Data with more rows are mapped by landmarks first."""
N_LANDMARKS = 3_000
_N_NEAREST = 3


def landmarks(data: HeteroData, n: int = N_LANDMARKS, random_state: int = 0) -> Ints:
    """Return landmark rows that represent the data.

    Returns (array of int): Sorted global rows. Ends of randomly drawn links are preferred, so that
        landmarks are linked with each other; rows without links can be drawn too.
    """
    rng = np.random.default_rng(random_state)
    rank = rng.random(data.n_rows)
    for group in with_identity_links(data).links:
        drawn = rng.random(len(group))
        drawn[group.weight <= 0] = 1.0
        for name, rows in ((group.source, group.i), (group.target, group.j)):
            np.minimum.at(rank, rows + data.offsets[name].start, drawn)
    n_left, selected = n, []
    smallest = sorted(data.offsets.values(), key=lambda span: span.stop - span.start)
    for place, span in enumerate(smallest):
        share = min(span.stop - span.start, n_left // (len(smallest) - place))
        selected.append(span.start + np.argsort(rank[span], kind="stable")[:share])
        n_left -= share
    return np.sort(np.concatenate(selected))


def place_by_landmarks(
    data: HeteroData,
    rows: Ints,
    places: Floats,
    features: Sequence[Floats | None],
    random_state: int = 0,
    check_cancelled: Callable[[], None] = lambda: None,
) -> Floats:
    """Return coordinates of all rows from those of landmarks.

    Returns (n_rows, k): Mean of the three most similar landmarks of the dataset and of the linked
        items, with equal weight; NaN for rows that no landmark reaches.
    """
    Y = np.full((data.n_rows, places.shape[1]), np.nan)
    Y[rows] = places
    is_placed = np.isfinite(Y).all(axis=1)
    if not is_placed.any():
        return Y
    near = sp.csr_array((data.n_rows, data.n_rows))
    for span, F in zip(data.offsets.values(), features, strict=True):
        own_landmarks = np.flatnonzero(is_placed[span])
        k = min(_N_NEAREST, len(own_landmarks))
        if F is None or not k:
            continue
        dataset_rows = np.arange(span.start, span.stop)
        nearest = cross_neighbors(F, F[own_landmarks], k, lambda share: check_cancelled())
        landmark_rows = own_landmarks[nearest.index] + span.start
        ends = (np.repeat(dataset_rows, k), landmark_rows.ravel())
        near = near + sp.csr_array(
            (np.full(len(dataset_rows) * k, 1.0 / k), ends), shape=near.shape
        )
    W = sp.csr_array(data.adjacency("+"))
    total = np.asarray(W.sum(axis=1)).ravel()
    share = sp.diags_array(1.0 / np.where(total > 0, total, 1.0))
    A = sp.csr_array(near + share @ W)
    label = sp.csgraph.connected_components(A, directed=False)[1]
    reached = np.isin(label, label[is_placed])
    A = A[reached][:, reached]
    Y[reached] = complete_layout(A, Y[reached], np.random.default_rng(random_state))
    return Y
