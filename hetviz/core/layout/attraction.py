"""Attraction of an item on a neighbour map, by the items and kinds of edges that cause it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from hetviz._types import Floats, Ints, Sparse
from hetviz.core.layout.umap import fit_curve

NEIGHBOUR, LINK, STATEMENT = "neighbour", "link", "statement"
KINDS = (NEIGHBOUR, LINK, STATEMENT)
"""Kinds of attraction: similar items, links in the data, links of a person."""

Stiffness = Callable[[Floats], Floats]
"""Maps squared distances to the attraction of a pair per unit of affinity and distance."""


@dataclass(frozen=True, eq=False)
class AttractionGraph:
    """Graph of a neighbour map, split by kind of edge."""

    parts: Mapping[str, Sparse]
    stiffness: Stiffness
    joint: bool = False


@dataclass(frozen=True, eq=False)
class Attraction:
    """Attraction of one item.

    `graph_share` (m,): Share of the item's affinities, at any distance: large shares of far items
        mean that the map does not show these neighbours.
    """

    rows: Ints
    share: Floats
    by: Mapping[str, Floats]
    moves: Floats
    graph_share: Floats
    distance: Floats


def sne_stiffness(squared: Floats) -> Floats:
    """1 / (1 + d^2): the gradient of KL(P || Q) is 4 sum_j p_ij (y_i - y_j) / (1 + d_ij^2) - ..."""
    return np.asarray(1.0 / (1.0 + squared))


def umap_stiffness(min_dist: float) -> Stiffness:
    """Return 2ab d^(2b-2) / (1 + a d^2b), the attraction of UMAP for this minimum distance."""
    a, b = fit_curve(min_dist)

    def of(squared: Floats) -> Floats:
        # As in the layout, where it keeps steps finite if two items nearly coincide.
        d2 = np.maximum(squared, 1e-3)
        return np.asarray(2.0 * a * b * d2 ** (b - 1.0) / (1.0 + a * d2**b))

    return of


def attraction_of(row: int, Y: Floats, graph: AttractionGraph) -> Attraction | None:
    r"""Return the attraction of an item by the other items.

    The gradient of the attraction is :math:`\sum_j k_{ij} (y_i - y_j)` with
    :math:`k_{ij} = p_{ij} s(d_{ij}^2)`: the others pull the item to their weighted mean
    :math:`\sum_j k_{ij} y_j / \sum_j k_{ij}`, against the repulsion of all items. The share of
    j is :math:`k_{ij} / \sum_j k_{ij}`; `moves` is the shift of that mean without j. O(k) for k
    entries in the row of the graph.
    """
    if not np.isfinite(Y[row]).all():
        return None
    rows = {kind: sp.csr_array(part[[row]]) for kind, part in graph.parts.items()}
    others = np.unique(
        np.concatenate([np.empty(0, np.int64), *(entries.indices for entries in rows.values())])
    )
    others = others[(others != row) & np.isfinite(Y[others]).all(axis=1)]
    affinity = (
        {kind: entries[:, others].toarray()[0] for kind, entries in rows.items()}
        if len(others)
        else {}
    )
    total_affinity = np.sum(list(affinity.values()), axis=0) if affinity else np.zeros(0)
    difference = Y[row] - Y[others]
    squared = (difference**2).sum(axis=1)
    stiffness = graph.stiffness(squared)
    pull = total_affinity * stiffness
    total = float(pull.sum())
    if not total > 0:
        return None
    centre = pull @ Y[others] / total
    # (total c - k y) / (total - k) - c = k (c - y) / (total - k), if k is not the whole total.
    remaining = total - pull
    has_others = remaining > 1e-9 * total
    share = pull / np.where(has_others, remaining, 1.0)
    shift = np.linalg.norm(share[:, None] * (centre - Y[others]), axis=1)
    moves = np.where(has_others, shift, np.sqrt(squared))
    order = np.argsort(-pull, kind="stable")
    order = order[pull[order] > 0]
    return Attraction(
        others[order],
        pull[order] / total,
        {kind: (entries * stiffness)[order] / total for kind, entries in affinity.items()},
        moves[order],
        total_affinity[order] / float(total_affinity.sum()),
        np.sqrt(squared)[order],
    )
