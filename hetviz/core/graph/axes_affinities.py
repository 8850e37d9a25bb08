"""Affinities of items placed on joint axes: neighbours within and across datasets, and links.

P = (1 - m) [(1 - c) near in (Z, own features) within datasets  +  c near in Z across]  +  m R
"""

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
    perplexity_weights,
)
from hetviz.core.graph.joint import JointGraph
from hetviz.core.graph.neighbors import cross_neighbors, feature_neighbors

ACROSS = 0.3
"""c: share of an item's neighbours that lies in the datasets it is linked with."""
OWN = 0.3
"""Share of own features in the distances within a dataset; the rest is joint axes."""
FEWER_ACROSS = 3.0
"""Neighbours within a dataset for each one in another."""


@dataclass(frozen=True)
class Blend:
    """How much each part counts.

    Attributes
    ----------
    links : float
        m, from 0 to 1: share of the links themselves.
    perplexity : float
        About how many neighbours of an item count within its dataset.
    across, own : float
        See `ACROSS` and `OWN`.
    """

    links: float
    perplexity: float
    across: float = ACROSS
    own: float = OWN


def axes_affinities(
    graph: JointGraph,
    Z: Floats,
    features: Sequence[Floats | None],
    blend: Blend,
    random_state: int = 0,
    progress: Callable[[float], object] = lambda share: None,
) -> Sparse:
    """Return the affinities of all items for a neighbour map.

    Parameters
    ----------
    graph : JointGraph
        Its links say which datasets have neighbours in each other. A pair said to be apart has no
        affinity.
    Z : ndarray of shape (n, k)
        Joint axes; items of rows of 0 have no neighbours.
    features : sequence of ndarray of shape (n_d, k_d), or None
        Own features of each dataset, centred.
    blend : Blend
    random_state : int
        Seeds the approximate search of very many rows.
    progress : callable
        Gets the share done.

    Returns
    -------
    csr_array of shape (n, n)
        Symmetric, of sum 1; all 0 where nothing is known.

    Notes
    -----
    O(sum over blocks n_a n_b k) time in pieces of bounded memory.
    """
    rows = graph.rows
    known = [np.flatnonzero((Z[part] != 0).any(axis=1)) for part in rows]
    partners: list[dict[int, float]] = [{} for _ in rows]
    for link in graph.pairs():
        if link.source != link.target and (link.W.data > 0).any():
            partners[link.source][link.target] = link.strength
            partners[link.target][link.source] = link.strength
    n_blocks = sum(1 + len(others) for others in partners)
    done = 0
    P = sp.csr_array((len(Z), len(Z)))
    for a, part in enumerate(rows):
        here = known[a]
        others = {b: share for b, share in partners[a].items() if len(known[b])}
        across = blend.across * max(others.values(), default=0.0) if len(here) else 0.0
        within = _within(Z[part][here], features[a], here, blend, random_state)
        if within is not None:
            # where items have no neighbours elsewhere, those of their own count in full
            P = P + _placed(within * (1.0 - across), here, here, part, part, len(Z))
        done += 1
        progress(done / n_blocks)
        for b, share in others.items():
            there = known[b]
            near = _across(Z[part][here], Z[rows[b]][there], blend.perplexity / FEWER_ACROSS)
            weight = across * share / sum(others.values())
            P = P + _placed(near * weight, here, there, part, rows[b], len(Z))
            done += 1
            progress(done / n_blocks)
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
    """Return R, the links that say together: csr_array (n, n), symmetric, of sum 1 at most.

    The links of each pair of datasets count by the larger share of items that they touch and by
    their strength, over the number of such pairs.
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


def links_in(graph: JointGraph, P: Sparse, blend: Blend) -> Sparse:
    """Return the part of the affinities P that is due to links themselves: csr_array (n, n).

    To the last digit where no pair is said to be apart; else off by the share of what those pairs
    would have had.
    """
    R = links_by_reach(graph) * blend.links
    if graph.negative.nnz:
        R = sp.csr_array(R - R.multiply(graph.negative > 0))
    R.setdiag(0.0)
    R.eliminate_zeros()
    near = 1.0 - blend.links if P.nnz > R.nnz else 0.0
    total = near + float(R.sum())
    return sp.csr_array(P.minimum(R / total)) if total > 0 else R


def _within(
    Z: Floats, features: Floats | None, here: Ints, blend: Blend, random_state: int
) -> Sparse | None:
    """Return p_{j|i} among the items of a dataset."""
    n = len(Z)
    if n < LEAST_ROWS:
        return None
    if features is not None and blend.own > 0:
        F = features[here]
        length = np.linalg.norm(F, axis=1, keepdims=True)
        F = F / np.where(length > 0, length, 1.0)
        Z = np.hstack([np.sqrt(1.0 - blend.own) * Z, np.sqrt(blend.own) * F])
    k, perplexity = neighbors_needed(n, blend.perplexity)
    return conditional_affinities(
        feature_neighbors(Z, k, random_state, of="joint axes"), perplexity
    )


def _across(A: Floats, B: Floats, perplexity: float) -> Sparse:
    """Return p_{j|i} from the items of one dataset to those of another, shape (n_a, n_b)."""
    perplexity = max(min(perplexity, len(B) / 3), 1.0)
    k = min(len(B), int(np.ceil(3 * perplexity)))
    found = cross_neighbors(A, B, k)
    weights = perplexity_weights(found.squared, perplexity)
    indptr = np.arange(0, len(A) * k + 1, k)
    return sp.csr_array((weights.ravel(), found.index.ravel(), indptr), shape=(len(A), len(B)))


def _placed(W: Sparse, here: Ints, there: Ints, rows: slice, columns: slice, n: int) -> Sparse:
    """Return a block between known items as part of the whole matrix."""
    part = sp.coo_array(W)
    i, j = part.coords
    return sp.csr_array((part.data, (here[i] + rows.start, there[j] + columns.start)), shape=(n, n))
