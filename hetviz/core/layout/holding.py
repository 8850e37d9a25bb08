"""What holds an item of a neighbour map where it lies: the terms of its attraction."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from hetviz._types import Floats, Ints, Sparse
from hetviz.core.layout.umap import curve

NEIGHBOUR, LINK, STATEMENT = "neighbour", "link", "statement"
KINDS = (NEIGHBOUR, LINK, STATEMENT)
"""Why two items attract each other: they are alike, data link them, somebody said so."""

Stiffness = Callable[[Floats], Floats]
"""Of squared distances: the attraction of a pair, over its affinity and the vector between."""


@dataclass(frozen=True, eq=False)
class Pulls:
    """The graph that a neighbour map draws, by why there is an edge.

    Attributes
    ----------
    parts : mapping of str to csr_array of shape (n, n)
        By kind, see `KINDS`: symmetric and non-negative, together the graph.
    stiffness : callable
        See `Stiffness`.
    joint : bool
        Neighbours are those on axes that features and links make together, not by features alone.
    """

    parts: Mapping[str, Sparse]
    stiffness: Stiffness
    joint: bool = False


@dataclass(frozen=True, eq=False)
class Held:
    """What attracts one item.

    Attributes
    ----------
    to : ndarray of int, shape (m,)
        Rows that attract it, the strongest first.
    share : ndarray of shape (m,)
        Of the whole attraction at its place; they sum to 1.
    by : mapping of str to ndarray of shape (m,)
        The same by kind.
    moves : ndarray of shape (m,)
        How far the balance of all attractions would go without this one, in units of the map.
    wanted : ndarray of shape (m,)
        Share of the graph, wherever the other lies: far ones with much of it are not kept.
    distance : ndarray of shape (m,)
        On the map.
    """

    to: Ints
    share: Floats
    by: Mapping[str, Floats]
    moves: Floats
    wanted: Floats
    distance: Floats


def sne_stiffness(squared: Floats) -> Floats:
    """1 / (1 + d^2): the gradient of KL(P || Q) is 4 sum_j p_ij (y_i - y_j) / (1 + d_ij^2) - ..."""
    return np.asarray(1.0 / (1.0 + squared))


def umap_stiffness(min_dist: float) -> Stiffness:
    """Return 2ab d^(2b-2) / (1 + a d^2b), the attraction of UMAP for this least distance."""
    a, b = curve(min_dist)

    def of(squared: Floats) -> Floats:
        # As in the layout, which keeps steps finite where two items all but meet.
        d = np.maximum(squared, 1e-3)
        return np.asarray(2.0 * a * b * d ** (b - 1.0) / (1.0 + a * d**b))

    return of


def held(row: int, Y: Floats, pulls: Pulls) -> Held | None:
    r"""Return what attracts an item, by its share.

    Parameters
    ----------
    row : int
    Y : ndarray of shape (n, k)
        The map; rows of NaN attract nobody.
    pulls : Pulls

    Returns
    -------
    Held, or None
        None where the item has no place, or nothing that has one attracts it.

    Notes
    -----
    The gradient of the attraction is :math:`\sum_j k_{ij} (y_i - y_j)` with
    :math:`k_{ij} = p_{ij} s(d_{ij}^2)`: all pull the item to their weighted mean
    :math:`\sum_j k_{ij} y_j / \sum_j k_{ij}`, against the repulsion of everything. The share of
    j is :math:`k_{ij} / \sum_j k_{ij}`; `moves` is how far that mean goes without j. Costs what
    its row of the graph costs.
    """
    if not np.isfinite(Y[row]).all():
        return None
    rows = {kind: sp.csr_array(part[[row]]) for kind, part in pulls.parts.items()}
    to = np.unique(np.concatenate([np.empty(0, np.int64), *(one.indices for one in rows.values())]))
    to = to[(to != row) & np.isfinite(Y[to]).all(axis=1)]
    p = {kind: one[:, to].toarray()[0] for kind, one in rows.items()} if len(to) else {}
    whole = np.sum(list(p.values()), axis=0) if p else np.zeros(0)
    difference = Y[row] - Y[to]
    squared = (difference**2).sum(axis=1)
    stiff = pulls.stiffness(squared)
    k = whole * stiff
    total = float(k.sum())
    if not total > 0:
        return None
    centre = k @ Y[to] / total
    # (total c - k y) / (total - k) - c = k (c - y) / (total - k); alone, it held all there was.
    rest = total - k
    several = rest > 1e-9 * total
    share = k / np.where(several, rest, 1.0)
    shift = np.linalg.norm(share[:, None] * (centre - Y[to]), axis=1)
    moves = np.where(several, shift, np.sqrt(squared))
    order = np.argsort(-k, kind="stable")
    order = order[k[order] > 0]
    return Held(
        to[order],
        k[order] / total,
        {kind: (one * stiff)[order] / total for kind, one in p.items()},
        moves[order],
        whole[order] / float(whole.sum()),
        np.sqrt(squared)[order],
    )
