"""Extra attraction of pairs that a person linked.

A few user links among thousands of links and neighbours would have no visible effect. So the user
links of an item get as much weight as all of its other affinities together. Linked items that lie
far from each other on an earlier map are first moved together, because attraction fades with
distance and the items would otherwise stay with their neighbours. Two hubs keep the items linked to
them: the more links both have, the less a user link between them counts.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from hetviz._types import Bools, Floats, Ints, Sparse

FAR_SHARE = 0.1
"""Share of the map's extent beyond which a linked pair counts as far from each other."""
HUB_LINK_RATIO = 2.0
"""An item with this many times the usual links of its dataset is a hub."""
_GAP_SHARE = 0.01
_MOVED_COST = 0.5
_MAX_ROUNDS = 5


def guidance_affinities(
    P: Sparse, W: Sparse, strength: float = 1.0, bonds: Floats | None = None
) -> Sparse:
    """Return the affinities that user links add to a graph.

    Returns csr (n, n): strength w_ij min(p_i / c_i, p_j / c_j) min(1, 2 strength / min(b_i / c_i,
        b_j / c_j)), with the row sums p of P, the number c of user links of an item and its bonds
        b: links of a hub with a whole group count as much as those of each item of the group.
        O(nnz).
    """
    mass = np.asarray(P.sum(axis=1)).ravel()
    entries = sp.coo_array(W)
    i, j = entries.coords
    n_user_links = np.maximum(np.bincount(i, minlength=W.shape[0]), 1)
    share = mass / n_user_links
    values = strength * entries.data * np.minimum(share[i], share[j])
    if bonds is not None:
        link_ratio = bonds / n_user_links
        values *= np.minimum(
            1.0,
            HUB_LINK_RATIO
            * strength
            / np.maximum(np.minimum(link_ratio[i], link_ratio[j]), HUB_LINK_RATIO),
        )
    return sp.csr_array((values, (i, j)), shape=W.shape)


def move_linked_together(
    S: Sparse,
    P: Sparse,
    Y: Floats,
    links: Sparse | None = None,
    bonds: Floats | None = None,
    strength: float = 1.0,
) -> Floats:
    """Return a map on which far pairs of S lie together, each at the position of one of the two.

    The item with less attraction at its position moves to the other one: if both met half way,
    neither would keep a true neighbour. Two hubs both stay.
    """
    entries = sp.coo_array(S)
    i, j = entries.coords
    threshold = FAR_SHARE * float(np.ptp(Y, axis=0).max())
    is_far = (np.linalg.norm(Y[i] - Y[j], axis=1) > threshold) & (entries.data > 0)
    if bonds is not None:
        bonds = bonds / np.maximum(np.bincount(i, minlength=len(Y)), 1)
        is_far &= np.minimum(bonds[i], bonds[j]) <= HUB_LINK_RATIO * strength
    if not is_far.any():
        return Y
    i, j = i[is_far], j[is_far]
    affinities = sp.coo_array(P)
    p, q = affinities.coords
    is_close = np.linalg.norm(Y[p] - Y[q], axis=1) <= threshold
    attraction = np.bincount(p[is_close], affinities.data[is_close], minlength=len(Y)).astype(
        np.float64
    )
    if links is not None and bonds is not None:
        is_hub = bonds > HUB_LINK_RATIO * strength
        _, group = connected_components(S, directed=False)
        with_hub = np.bincount(group, is_hub)[group] > 0
        a, b = sp.coo_array(links).coords
        link_is_close = np.linalg.norm(Y[a] - Y[b], axis=1) <= threshold
        n_close = np.bincount(a[link_is_close], minlength=len(Y)) + attraction / (
            2.0 * (attraction.max() or 1.0)
        )
        attraction = np.where(with_hub, n_close, attraction)
    # An item moves to the linked item with the most attraction at its position.
    order = np.lexsort((j, -attraction[j], i))
    i, j = i[order], j[order]
    first = np.r_[True, i[1:] != i[:-1]]
    root = np.arange(len(Y))
    other = root.copy()
    other[i[first]] = j[first]
    is_weaker = (attraction < attraction[other]) | (
        (attraction == attraction[other]) & (other < root)
    )
    root = np.where(is_weaker, other, root)
    while (root[root] != root).any():
        root = root[root]
    out = Y.copy()
    moves = root != np.arange(len(Y))
    # Not to exactly the same point, where the force between the two has no direction.
    out[moves] = Y[root[moves]] + _GAP_SHARE * (Y[moves] - Y[root[moves]])
    return out


def move_similar_along(P: Sparse, Y: Floats, groups: Sequence[tuple[Ints, Ints]]) -> Floats:
    """Return a map on which items similar to the members of a group start next to them.

    Attraction fades with distance, so they would otherwise stay. A candidate moves if its
    neighbours in P cost less next to the members than at its position, given that the other
    candidates move too.

    An item at y costs sum_j P_ij log(1 + |y - y_j|^2), its share of the loss of a neighbour map.
    The decision is repeated a few times with the new positions of the others. O(nnz) of the rows
    of the candidates.
    """
    out = Y
    for members, followers in groups:
        if not len(members) or not len(followers):
            continue
        anchor = np.median(out[members], axis=0)
        rows = sp.csr_array(P[followers]).tocoo()
        i, j = rows.coords
        target = anchor + _GAP_SHARE * (out[followers] - anchor)
        moves = np.ones(len(followers), dtype=bool)
        for _ in range(_MAX_ROUNDS):
            trial = out.copy()
            trial[followers[moves]] = target[moves]
            cost = [
                np.bincount(
                    i,
                    rows.data * np.log1p(((at[i] - trial[j]) ** 2).sum(axis=1)),
                    minlength=len(followers),
                )
                for at in (out[followers], target)
            ]
            moved_before, moves = moves, cost[1] < cost[0]
            if (moves == moved_before).all():
                break
        result = out.copy()
        result[followers[moves]] = target[moves]
        out = result
    return out


def without_moved(P: Sparse, Y: Floats) -> Floats:
    """Return a map without the places of items whose neighbours in P are now elsewhere.

    Attraction fades with distance, so such an item would stay where it was. It loses its place (a
    row of NaN) if the mean of its placed neighbours is far away and costs at most half as much, as
    in `move_similar_along`. O(nnz).
    """
    is_placed: Bools = np.asarray(np.isfinite(Y).all(axis=1))
    entries = sp.coo_array(P)
    i, j = entries.coords
    both = is_placed[i] & is_placed[j]
    i, j, weight = i[both], j[both], entries.data[both]
    mass = np.bincount(i, weight, minlength=len(Y))
    placed = Y[is_placed]
    mean = np.column_stack(
        [np.bincount(i, weight * column[j], minlength=len(Y)) for column in Y.T]
    ) / np.where(mass > 0, mass, 1.0).reshape(-1, 1)
    is_far = np.linalg.norm(mean - Y, axis=1) > FAR_SHARE * float(np.ptp(placed, axis=0).max())
    costs = [
        np.bincount(i, weight * np.log1p(((at[i] - Y[j]) ** 2).sum(axis=1)), minlength=len(Y))
        for at in (Y, mean)
    ]
    moved = (mass > 0) & is_far & (costs[1] < _MOVED_COST * costs[0])
    return np.where(moved[:, None], np.nan, Y)
