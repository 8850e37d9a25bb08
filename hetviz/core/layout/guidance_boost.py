"""What a person said of single pairs, beside all that is known of the items otherwise.

A few statements among thousands of links and neighbours would not be felt. So each item that a
statement is about hears it as loudly as everything else it has, and pairs that lie far apart on an
earlier map are first brought together: at a distance the pull between points fades, and the items
would stay with their neighbours for that reason alone. Of two hubs neither is torn from what holds
to it: what is said of the two is heard the less, the more links both have.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from hetviz._types import Floats, Ints, Sparse

FAR = 0.1
"""Share of the map's extent beyond which a pair that was said to be together is far apart."""
HUB = 2.0
"""From so many times the links that are usual in its dataset on, an item holds many others."""
_BESIDE = 0.01
_ROUNDS = 5


def spoken_part(P: Sparse, W: Sparse, strength: float = 1.0, bonds: Floats | None = None) -> Sparse:
    """Return what statements add to a graph of affinities.

    Parameters
    ----------
    P : csr_array of shape (n, n)
        Symmetric and non-negative.
    W : csr_array of shape (n, n)
        Weights in [0, 1] of what was said to be together; symmetric.
    strength : float
        1 gives the statements about an item together as much weight as its row of P.
    bonds : array of shape (n,), optional
        How many links an item has besides, as a multiple of what is usual in its dataset.

    Returns
    -------
    csr_array of shape (n, n)
        strength w_ij min(p_i / c_i, p_j / c_j) min(1, 2 strength / min(b_i / c_i, b_j / c_j)),
        with the row sums p of P, the number c of statements about an item and its bonds b: what is
        said of a hub and a whole group is heard as that of each of the group. O(nnz).
    """
    mass = np.asarray(P.sum(axis=1)).ravel()
    entries = sp.coo_array(W)
    i, j = entries.coords
    said = np.maximum(np.bincount(i, minlength=W.shape[0]), 1)
    share = mass / said
    values = strength * entries.data * np.minimum(share[i], share[j])
    if bonds is not None:
        held = bonds / said
        values *= np.minimum(1.0, HUB * strength / np.maximum(np.minimum(held[i], held[j]), HUB))
    return sp.csr_array((values, (i, j)), shape=W.shape)


def gone_over(
    S: Sparse,
    P: Sparse,
    Y: Floats,
    links: Sparse | None = None,
    bonds: Floats | None = None,
    strength: float = 1.0,
) -> Floats:
    """Return a map on which far pairs of S lie together, each at the place of one of the two.

    Who is held where it lies by less goes to who is held by more: were both to meet half way,
    neither would have a true neighbour left. Of two hubs both stay.

    Parameters
    ----------
    S : csr_array of shape (n, n)
        As from `spoken_part`.
    P : csr_array of shape (n, n)
        All affinities: those to what is near on the map hold an item there.
    Y : ndarray of shape (n, k)
        The earlier map; rows that stay are as they were. O(nnz).
    links : csr_array of shape (n, n), optional
        Not 0 where data link two rows. Where a hub is spoken of, who has more of its links near is
        held by more; else the affinities decide.
    bonds, strength
        As in `spoken_part`.
    """
    entries = sp.coo_array(S)
    i, j = entries.coords
    near = FAR * float(np.ptp(Y, axis=0).max())
    far = (np.linalg.norm(Y[i] - Y[j], axis=1) > near) & (entries.data > 0)
    if bonds is not None:
        bonds = bonds / np.maximum(np.bincount(i, minlength=len(Y)), 1)
        far &= np.minimum(bonds[i], bonds[j]) <= HUB * strength
    if not far.any():
        return Y
    i, j = i[far], j[far]
    all_ = sp.coo_array(P)
    p, q = all_.coords
    here = np.linalg.norm(Y[p] - Y[q], axis=1) <= near
    held = np.bincount(p[here], all_.data[here], minlength=len(Y)).astype(np.float64)
    if links is not None and bonds is not None:
        hub = bonds > HUB * strength
        _, group = connected_components(S, directed=False)
        with_hub = np.bincount(group, hub)[group] > 0
        a, b = sp.coo_array(links).coords
        kept = np.linalg.norm(Y[a] - Y[b], axis=1) <= near
        n_kept = np.bincount(a[kept], minlength=len(Y)) + held / (2.0 * (held.max() or 1.0))
        held = np.where(with_hub, n_kept, held)
    # Of all that an item is said to be with, the one that is held most comes first.
    order = np.lexsort((j, -held[j], i))
    i, j = i[order], j[order]
    first = np.r_[True, i[1:] != i[:-1]]
    root = np.arange(len(Y))
    other = root.copy()
    other[i[first]] = j[first]
    less = (held < held[other]) | ((held == held[other]) & (other < root))
    root = np.where(less, other, root)
    while (root[root] != root).any():
        root = root[root]
    out = Y.copy()
    goes = root != np.arange(len(Y))
    # Not at the very place, where no force between the two has a direction.
    out[goes] = Y[root[goes]] + _BESIDE * (Y[goes] - Y[root[goes]])
    return out


def drawn_along(P: Sparse, Y: Floats, groups: Sequence[tuple[Ints, Ints]]) -> Floats:
    """Return a map on which those who are like the named of a group start beside them.

    At a distance they would stay for the same reason as the named. Each goes that its neighbours
    in P hold less where it lies than beside the named, seen that others like them go too.

    Parameters
    ----------
    P : csr_array of shape (n, n)
        All affinities, with what was learned of the groups.
    Y : ndarray of shape (n, k)
        The earlier map, the named where they are to start, as from `gone_over`.
    groups : sequence of (array of int, array of int)
        The named, and those that may follow them.

    Notes
    -----
    An item at y costs sum_j P_ij log(1 + |y - y_j|^2), what it adds to the loss of a map by its
    neighbours; who follows is decided anew, a few times, by where the others would be. O(nnz) of
    the rows of those that may follow.
    """
    out = Y
    for named, followers in groups:
        if not len(named) or not len(followers):
            continue
        anchor = np.median(out[named], axis=0)
        rows = sp.csr_array(P[followers]).tocoo()
        i, j = rows.coords
        beside = anchor + _BESIDE * (out[followers] - anchor)
        goes = np.ones(len(followers), dtype=bool)
        for _ in range(_ROUNDS):
            now = out.copy()
            now[followers[goes]] = beside[goes]
            cost = [
                np.bincount(
                    i,
                    rows.data * np.log1p(((at[i] - now[j]) ** 2).sum(axis=1)),
                    minlength=len(followers),
                )
                for at in (out[followers], beside)
            ]
            before, goes = goes, cost[1] < cost[0]
            if (goes == before).all():
                break
        moved = out.copy()
        moved[followers[goes]] = beside[goes]
        out = moved
    return out
