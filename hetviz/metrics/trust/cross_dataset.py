"""False and missing neighbours in other datasets, by what links say of them."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from hetviz._types import Bools, Floats, Ints
from hetviz.core.graph.distances import Space
from hetviz.core.graph.neighbors import nearest_columns
from hetviz.core.measures.ranking import stored_entries
from hetviz.core.measures.satisfaction import NEAR_SHARE
from hetviz.data import Embedding, HeteroData
from hetviz.data.model.statements import statement_rows
from hetviz.metrics.fit.measured_map import cross_dataset_links
from hetviz.metrics.fit.nearest import comparison_closeness, link_closeness
from hetviz.metrics.trust.neighborhoods import Vicinity

_ENTRIES = 500_000
_ROWS = 50_000
"""Rows that are gone through at a time: each has some dozens of others around it."""


def across(vicinity: Vicinity) -> tuple[Floats, Floats]:
    """Return the shares of false and of missing neighbours in other datasets, means over these.

    Returns
    -------
    false, missing : array of shape (n_rows,)
        NaN where no link leads on from a row, nor from what is near it in the data.

    Notes
    -----
    From the k linked rows nearest to a row in the data (itself first, if it is linked), as far as
    they are near, one goes along their links: what is reached is expected near. A neighbour on
    the map is false if it is neither expected nor near, in the data, to one of the k rows expected
    first. Rows of two datasets that show the same object count as linked.
    """
    data = vicinity.data
    total = np.zeros((2, data.n_rows))
    count = np.zeros(data.n_rows)
    for (source, target), W in _partners(vicinity).items():
        rows = vicinity.asked[source]
        if not len(rows) or not len(vicinity.placed[target]):
            continue
        able = np.flatnonzero(np.diff(W.indptr))
        seen = vicinity.linked_rows(able)
        near = vicinity.nearest_of(source, target, rows)
        for start in range(0, len(rows), _ROWS):
            part = slice(start, start + _ROWS)
            chosen, via = _anchors(vicinity, source, able, seen, rows[part])
            shares = _shares(vicinity, source, target, W, rows[part], near[part], chosen, via)
            known = np.isfinite(shares[0])
            at = rows[part][known] + data.offsets[source].start
            total[:, at] += shares[:, known]
            count[at] += 1
    found = np.divide(total, count, out=np.full(total.shape, np.nan), where=count > 0)
    return found[0], found[1]


def _partners(vicinity: Vicinity) -> dict[tuple[str, str], sp.csr_array]:
    """Return links that say together between placed rows of datasets, and identical objects."""
    data = vicinity.data
    found = cross_dataset_links(data)
    for source, a in data.offsets.items():
        for target, b in data.offsets.items():
            if source == target or data[source].entity != data[target].entity:
                continue
            _, i, j = np.intersect1d(
                data.object_of[a], data.object_of[b], assume_unique=True, return_indices=True
            )
            shape = (len(data[source]), len(data[target]))
            same = sp.csr_array((np.ones(len(i)), (i, j)), shape=shape)
            known = found.get((source, target))
            found[source, target] = same if known is None else sp.csr_array(known + same)
    for (source, target), W in found.items():
        here, there = np.zeros(W.shape[0]), np.zeros(W.shape[1])
        here[vicinity.placed[source]] = there[vicinity.placed[target]] = 1.0
        kept = sp.csr_array(W.multiply(there[None, :]).multiply(here[:, None]))
        kept.eliminate_zeros()
        kept.sort_indices()
        kept.data[:] = 1.0
        found[source, target] = kept
    return found


def _anchors(
    vicinity: Vicinity, source: str, able: Ints, seen: Ints, rows: Ints
) -> tuple[Ints, Bools]:
    """Return the k linked rows from which one goes on, nearest first, and which of them count.

    Of the rows that are `able`, those `seen` are looked at.
    """
    space = vicinity.spaces[source]
    if space is None or not len(able):
        return rows[:, None], np.isin(rows, able)[:, None]
    k = min(vicinity.k, len(seen))
    chosen = np.empty((len(rows), k + 1), dtype=np.int64)
    via = np.zeros((len(rows), k + 1), dtype=bool)
    chosen[:, 0], via[:, 0] = rows, np.isin(rows, able)
    limits = vicinity.reach_in_data(source, rows)
    step = max(1, _ENTRIES // len(seen))
    for start in range(0, len(rows), step):
        at = slice(start, start + step)
        D = space.between(rows[at], seen)
        D[rows[at][:, None] == seen] = np.inf
        nearest = nearest_columns(D, k)
        chosen[at, 1:] = seen[nearest]
        via[at, 1:] = np.take_along_axis(D, nearest, axis=1) <= limits[at][:, None]
    # a linked row is one of the k
    via[via[:, 0], k] = False
    return chosen, via


def _shares(
    vicinity: Vicinity,
    source: str,
    target: str,
    W: sp.csr_array,
    rows: Ints,
    near: Ints,
    chosen: Ints,
    via: Bools,
) -> Floats:
    """Return the shares of false and of missing neighbours of rows, shape (2, q).

    `near` (q, k) are their nearest of the target on the map.
    """
    q = len(rows)
    select = sp.csr_array(
        (np.ones(int(via.sum())), (np.nonzero(via)[0], chosen[via])), shape=(q, W.shape[0])
    )
    expected = sp.csr_array(select @ W)
    expected.sort_indices()
    n_expected = np.diff(expected.indptr)
    found = np.full((2, q), np.nan)
    some = n_expected > 0
    owner = np.repeat(np.arange(q), n_expected)
    reach = vicinity.reach_here(source, target)[rows]
    here = vicinity.here(source, target)
    far = here.pairs(rows[owner], expected.indices.astype(np.int64)) > reach[owner]
    missing = np.bincount(owner, weights=far, minlength=q)
    found[1, some] = missing[some] / n_expected[some]
    asked = np.flatnonzero(some)
    near = near[asked]
    right = stored_entries(expected, asked, near)
    space = vicinity.spaces[target]
    counted = np.ones(near.shape, dtype=bool)
    if space is None:
        # A row with two tags cannot have ten of them near.
        counted = np.arange(near.shape[1]) < n_expected[asked][:, None]
    else:
        first, there = _first_partners(W, chosen[asked], via[asked], vicinity.k)
        right |= _vouched(vicinity, target, space, near, first, there)
    found[0, asked] = (counted & ~right).sum(axis=1) / counted.sum(axis=1)
    return found


def _first_partners(W: sp.csr_array, chosen: Ints, via: Bools, k: int) -> tuple[Ints, Bools]:
    """Return the k partners expected first: the row's own, then one of each linked row near it."""
    degree = np.diff(W.indptr)
    own, others = chosen[:, :1], chosen[:, 1:]
    step = np.arange(k)
    there = [via[:, :1] & (step < degree[own]), via[:, 1:]]
    at = [W.indptr[own] + np.minimum(step, np.maximum(degree[own] - 1, 0)), W.indptr[others]]
    mask = np.hstack(there)
    partner = W.indices[np.minimum(np.hstack(at), len(W.indices) - 1)].astype(np.int64)
    order = np.argsort(~mask, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(partner, order, axis=1), np.take_along_axis(mask, order, axis=1)


def _vouched(
    vicinity: Vicinity, target: str, space: Space, near: Ints, first: Ints, there: Bools
) -> Bools:
    """Say which neighbours on the map are near, in the data, to a row expected there."""
    found = np.zeros(near.shape, dtype=bool)
    reach = np.full(first.shape, np.nan)
    reach[there] = vicinity.reach_in_data(target, first[there])
    width = near.shape[1]
    for slot in range(first.shape[1]):
        at = np.flatnonzero(there[:, slot])
        partners = np.repeat(first[at, slot], width)
        D = space.pairs(near[at].ravel(), partners).reshape(len(at), width)
        found[at] |= reach[at, slot][:, None] >= D
    return found


# Which statements about each item a map breaks.


def broken(data: HeteroData, embedding: Embedding, asked: Bools) -> tuple[Floats, Floats]:
    """Count the statements about each row that the map breaks, and all of them.

    Parameters
    ----------
    data : HeteroData
    embedding : Embedding
    asked : array of bool, shape (n_rows,)

    Returns
    -------
    violated, said : array of shape (n_rows,)
        NaN for rows without a place or not asked for. What is said together is kept among the
        nearest 5 % of all pairs of the two datasets, what is said apart outside them; of a
        comparison the near pair has to be nearer. It is the same seen from each of its items.
    """
    near, clear = link_closeness(data, embedding), comparison_closeness(data, embedding)
    weight = np.concatenate([np.empty(0), *(links.weight for links in data.links)])
    kept = np.concatenate([(near >= 1.0 - NEAR_SHARE) == (weight > 0), clear > 0.5])
    counted = np.isfinite(np.concatenate([near, clear]))
    counted[: len(weight)] &= weight != 0
    rows = np.sort(statement_rows(data), axis=1)
    # An item that is named twice in one comparison is spoken of once.
    first = np.column_stack([np.ones(len(rows), dtype=bool), np.diff(rows, axis=1) > 0])
    first &= (rows >= 0) & counted[:, None]
    violated, said = (
        np.bincount(rows[first & chosen[:, None]], minlength=data.n_rows).astype(np.float64)
        for chosen in (~kept, np.ones(len(rows), dtype=bool))
    )
    violated[~asked], said[~asked] = np.nan, np.nan
    return violated, said
