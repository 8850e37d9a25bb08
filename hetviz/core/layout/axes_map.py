"""Two-dimensional neighbour maps of points on many axes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from hetviz._types import Floats, Ints, Rng, Sparse
from hetviz.core.graph.affinities import (
    MIN_ROWS,
    conditional_affinities,
    neighbors_needed,
    symmetric_affinities,
)
from hetviz.core.graph.distances import cross_squared_distances
from hetviz.core.graph.neighbors import feature_neighbors, nearest_places
from hetviz.core.layout.placement import median_places
from hetviz.core.layout.sne import QUICK_SCHEDULE
from hetviz.core.layout.sne_device import make_layout
from hetviz.core.spectral.start import SPREAD, complete_layout, spectral_start
from hetviz.errors import Cancelled
from hetviz.progress import Progress, ignore_progress

PERPLEXITY = 30.0
_MAX_SAMPLE, _N_NEAREST = 1_000, 10
_BLOCK_ENTRIES = 4_000_000


@dataclass(frozen=True, eq=False)
class AxesMap:
    """A neighbour map of points on many axes."""

    positions: Floats
    divergence: float | None
    share_preserved: float | None


def make_axes_map(
    Y: Floats,
    groups: Sequence[Ints],
    rng: Rng,
    *,
    start: Floats | None = None,
    progress: Progress = ignore_progress,
    layout: Callable[[Floats], Floats] | None = None,
) -> AxesMap:
    """Map points in two dimensions by t-SNE of their axes, with perplexity 30.

    `groups` (sequence of array of int): Points that share their axes; distances between groups
        mean nothing. Together they contain each point once.
    """
    n = len(Y)
    P = affinities_within_groups(Y, groups)
    has_neighbors = np.asarray(P.sum(axis=1)).ravel() > 0
    positions = np.zeros((n, 2))
    if not has_neighbors.any():
        return AxesMap(positions, None, None)
    P = sp.csr_array(P[has_neighbors][:, has_neighbors])
    earlier = None if start is None else start[has_neighbors]
    if earlier is not None and np.isfinite(earlier).all(axis=1).any():
        Z = complete_layout(P, earlier, rng)
        Z = SPREAD * (Z - Z.mean(axis=0)) / (Z.std() or 1.0)
    else:
        Z = spectral_start(P, 2, rng)
    embedding = make_layout(P, Z)

    def to_report(Z: Floats) -> Floats:
        out = positions.copy()
        out[has_neighbors] = Z
        return out if layout is None else layout(out)

    def current_map() -> AxesMap:
        out = positions.copy()
        out[has_neighbors] = embedding.positions
        end = embedding.history[-1] if embedding.history else None
        return AxesMap(out, end, share_neighbors_preserved(Y, out, groups, rng))

    try:
        embedding.run(QUICK_SCHEDULE, progress, to_report)
    except Cancelled as stopped:
        stopped.partial = current_map()
        raise
    return current_map()


def affinities_within_groups(Y: Floats, groups: Sequence[Ints]) -> Sparse:
    """Return the joint affinities (n, n) of points within their groups, of sum 1."""
    n = len(Y)
    rows, columns, values = [], [], []
    for group in groups:
        if len(group) < MIN_ROWS:
            continue
        k, perplexity = neighbors_needed(len(group), PERPLEXITY)
        neighbors = feature_neighbors(Y[group], k, 0)
        joint = symmetric_affinities(conditional_affinities(neighbors, perplexity))
        if joint is None:
            continue
        pairs = joint.tocoo()
        rows.append(group[pairs.coords[0]])
        columns.append(group[pairs.coords[1]])
        values.append(pairs.data * (len(group) / n))
    if not rows:
        return sp.csr_array((n, n))
    pairs_at = np.concatenate(rows), np.concatenate(columns)
    P = sp.csr_array((np.concatenate(values), pairs_at), shape=(n, n))
    return sp.csr_array(P / P.sum())


def share_neighbors_preserved(
    Y: Floats, Z: Floats, groups: Sequence[Ints], rng: Rng
) -> float | None:
    """Return the share of the 10 nearest on Y (n, k) that are among the 10 nearest on Z (n, 2)."""
    total = count = 0.0
    for group in groups:
        if len(group) < _N_NEAREST + 2:
            continue
        sample = np.arange(len(group))
        if len(sample) > _MAX_SAMPLE:
            sample = np.sort(rng.choice(sample, _MAX_SAMPLE, replace=False))
        first, second = (
            _without_itself(sample, nearest_places(X[group[sample]], X[group], _N_NEAREST + 1))
            for X in (Y, Z)
        )
        in_both = (first[:, :, None] == second[:, None, :]).any(axis=2)
        total += float(in_both.sum()) / _N_NEAREST * len(group) / len(sample)
        count += len(group)
    return total / count if count else None


def _without_itself(rows: Ints, index: Ints) -> Ints:
    """Remove each row from its own list of nearest rows."""
    itself = index == rows[:, None]
    itself[~itself.any(axis=1), -1] = True
    return np.asarray(index[~itself].reshape(len(rows), -1))


def place_new_points(new: Floats, Y: Floats, Z: Floats) -> Floats:
    """Place new points on a map, by their nearest points on the axes."""
    out = np.full((len(new), 2), np.nan)
    is_placed = np.isfinite(Y).all(axis=1) & np.isfinite(Z).all(axis=1)
    finite_rows = np.flatnonzero(np.isfinite(new).all(axis=1))
    if not is_placed.any():
        return out
    placed, positions = Y[is_placed], Z[is_placed]
    step = max(1, _BLOCK_ENTRIES // len(placed))
    for first in range(0, len(finite_rows), step):
        block = finite_rows[first : first + step]
        out[block] = median_places(cross_squared_distances(new[block], placed), positions)
    return out
