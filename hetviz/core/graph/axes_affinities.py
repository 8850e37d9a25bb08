"""Affinities of items on joint axes: neighbours within and across datasets, and links.

P = (1 - m) [(1 - c) neighbours in (Z, own features) within datasets
             + c neighbours in Z across datasets]  +  m R
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import scipy.sparse as sp

from hetviz._types import Floats, Ints, Sparse
from hetviz.core.graph.affinities import (
    MIN_ROWS,
    conditional_affinities,
    neighbors_needed,
    perplexity_weights,
)
from hetviz.core.graph.joint import JointGraph
from hetviz.core.graph.neighbors import (
    Neighbors,
    cross_neighbors,
    feature_neighbors,
    nearest_candidates,
    report_recall,
)

Candidates: TypeAlias = dict[tuple[int, int], Ints]
"""Rows (n_a, k) of dataset b that may be neighbours of the rows of dataset a, by (a, b)."""
ACROSS_SHARE = 0.3
"""c: share of an item's neighbours in datasets linked with its own."""
OWN_SHARE = 0.3
"""Share of own features in distances within a dataset; the rest are joint axes."""
WITHIN_PER_ACROSS = 3.0
"""Number of neighbours within a dataset per neighbour in another one."""


@dataclass(frozen=True)
class AxesBlend:
    """Shares of the parts of the affinities."""

    links: float
    perplexity: float
    across: float = ACROSS_SHARE
    own: float = OWN_SHARE


def axes_affinities(
    graph: JointGraph,
    Z: Floats,
    features: Sequence[Floats | None],
    blend: AxesBlend,
    random_state: int = 0,
    progress: Callable[[float], object] = lambda share: None,
    candidates: Candidates | None = None,
) -> Sparse:
    """Return the affinities of all items for a neighbour map.

    `candidates`: Empty: gets the neighbours that the search finds. Filled: the only possible
        neighbours, so that nearly equal data need no search.
    Returns csr (n, n): Symmetric, of sum 1; all 0 if there are neither neighbours nor links.
    """
    rows = graph.rows
    with_axes = [np.flatnonzero((Z[part] != 0).any(axis=1)) for part in rows]
    partners: list[dict[int, float]] = [{} for _ in rows]
    for link in graph.pairs():
        if link.source != link.target and (link.W.data > 0).any():
            partners[link.source][link.target] = link.strength
            partners[link.target][link.source] = link.strength
    n_blocks = sum(1 + len(others) for others in partners)
    n_done = 0
    P = sp.csr_array((len(Z), len(Z)))
    for a, part in enumerate(rows):
        own_rows = with_axes[a]
        others = {b: share for b, share in partners[a].items() if len(with_axes[b])}
        across = blend.across * max(others.values(), default=0.0) if len(own_rows) else 0.0
        within = _within_affinities(
            Z[part][own_rows],
            features[a],
            own_rows,
            blend,
            random_state,
            _Search(candidates, (a, a), len(Z[part]), own_rows, own_rows),
        )
        if within is not None:
            # Without neighbours in other datasets, those within the dataset count in full.
            P = P + _embedded_block(within * (1.0 - across), own_rows, own_rows, part, part, len(Z))
        n_done += 1
        progress(n_done / n_blocks)
        for b, share in others.items():
            other_rows = with_axes[b]
            neighbors = _across_affinities(
                Z[part][own_rows],
                Z[rows[b]][other_rows],
                blend.perplexity / WITHIN_PER_ACROSS,
                _Search(candidates, (a, b), len(Z[part]), own_rows, other_rows),
            )
            weight = across * share / sum(others.values())
            P = P + _embedded_block(neighbors * weight, own_rows, other_rows, part, rows[b], len(Z))
            n_done += 1
            progress(n_done / n_blocks)
    P = sp.csr_array(P + P.T)
    total = P.sum()
    P = sp.csr_array(P * ((1.0 - blend.links) / total)) if total > 0 else P
    P = sp.csr_array(P + blend.links * links_by_reach(graph))
    if graph.negative.nnz:
        P = sp.csr_array(P - P.multiply(graph.negative > 0))
    P.setdiag(0.0)
    P.eliminate_zeros()
    P.sort_indices()
    total = P.sum()
    return sp.csr_array(P / total) if total > 0 else P


def links_by_reach(graph: JointGraph) -> Sparse:
    """Return R, the positive links: csr_array (n, n), symmetric, of sum 1 at most.

    The links of each pair of datasets are weighted by the larger share of linked items and by
    their strength, divided by the number of such pairs.
    """
    links = [link for link in graph.pairs() if (link.W.data > 0).any()]
    n = sum(graph.sizes)
    R = sp.csr_array((n, n))
    for link in links:
        W = sp.csr_array(link.W.maximum(0.0))
        W.eliminate_zeros()
        touched = [np.unique(W.nonzero()[axis]).size / W.shape[axis] for axis in (0, 1)]
        share = link.strength * max(touched) / (2.0 * float(W.sum()) * len(links))
        R = R + graph.lifted(link, W * share)
    return R


def axes_link_part(graph: JointGraph, P: Sparse, blend: AxesBlend) -> Sparse:
    """Return the part of the affinities P that comes from the links themselves: csr_array (n, n).

    Exact without negative links; otherwise off by the share that those pairs would have had.
    """
    R = links_by_reach(graph) * blend.links
    if graph.negative.nnz:
        R = sp.csr_array(R - R.multiply(graph.negative > 0))
    R.setdiag(0.0)
    R.eliminate_zeros()
    neighbor_share = 1.0 - blend.links if P.nnz > R.nnz else 0.0
    total = neighbor_share + float(R.sum())
    return sp.csr_array(P.minimum(R / total)) if total > 0 else R


@dataclass(frozen=True, eq=False)
class _Search:
    """Search for neighbours among candidates, or among all items."""

    candidates: Candidates | None
    key: tuple[int, int]
    n_rows: int
    own: Ints
    other: Ints

    def find(self, A: Floats, B: Floats, search: Callable[[], Neighbors]) -> Neighbors:
        """Return the nearest rows of B of each row of A; `search` finds them among all."""
        known = None if self.candidates is None else self.candidates.get(self.key)
        if known is not None and (known[self.own] >= 0).all():
            position = np.full(known.max() + 1, -1)
            listed = self.other[self.other < len(position)]
            position[listed] = np.arange(len(listed))
            return nearest_candidates(A, B, position[known[self.own]])
        neighbors = search()
        if self.candidates is not None and known is None:
            index = np.full((self.n_rows, neighbors.index.shape[1]), -1)
            index[self.own] = self.other[neighbors.index]
            self.candidates[self.key] = index
        return neighbors


def _within_affinities(
    Z: Floats,
    features: Floats | None,
    rows: Ints,
    blend: AxesBlend,
    random_state: int,
    search: _Search,
) -> Sparse | None:
    """Return p_{j|i} among the items of a dataset."""
    n = len(Z)
    if n < MIN_ROWS:
        return None
    if features is not None and blend.own > 0:
        F = features[rows]
        length = np.linalg.norm(F, axis=1, keepdims=True)
        F = F / np.where(length > 0, length, 1.0)
        Z = np.hstack([np.sqrt(1.0 - blend.own) * Z, np.sqrt(blend.own) * F])
    k, perplexity = neighbors_needed(n, blend.perplexity)
    neighbors = search.find(Z, Z, lambda: feature_neighbors(Z, k, random_state, name="joint axes"))
    return conditional_affinities(neighbors, perplexity)


def _across_affinities(A: Floats, B: Floats, perplexity: float, search: _Search) -> Sparse:
    """Return p_{j|i} from the items of one dataset to those of another, shape (n_a, n_b)."""
    perplexity = max(min(perplexity, len(B) / 3), 1.0)
    k = min(len(B), int(np.ceil(3 * perplexity)))
    neighbors = search.find(A, B, lambda: cross_neighbors(A, B, k))
    report_recall("joint axes", neighbors.recall, min(len(A), len(B)))
    weights = perplexity_weights(neighbors.squared, perplexity)
    k = neighbors.index.shape[1]
    indptr = np.arange(0, len(A) * k + 1, k)
    return sp.csr_array((weights.ravel(), neighbors.index.ravel(), indptr), shape=(len(A), len(B)))


def _embedded_block(
    W: Sparse, source_rows: Ints, target_rows: Ints, rows: slice, columns: slice, n: int
) -> Sparse:
    """Return a block between items with axes as part of the whole matrix."""
    part = sp.coo_array(W)
    i, j = part.coords
    return sp.csr_array(
        (part.data, (source_rows[i] + rows.start, target_rows[j] + columns.start)), shape=(n, n)
    )
