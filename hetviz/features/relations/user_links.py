"""Which links a person said one by one, as against those that came with the data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from hetviz._types import Bools, Floats, Ints, Sparse
from hetviz.core.layout.guidance_boost import HUB_LINK_RATIO
from hetviz.data import HeteroData

USER_LINK_KINDS = ("said", "accepted")
"""Kinds of links that are somebody's word: said of items, or accepted when proposed."""


def user_link_weights(data: HeteroData) -> Sparse:
    """Return what was said to be together: csr_array of shape (n_rows, n_rows), symmetric.

    A pair said twice counts by its strongest weight. Statements that say apart are not in it.
    """
    rows, columns, values = [np.empty(0, int)], [np.empty(0, int)], [np.empty(0)]
    for group in data.links:
        if group.kind in USER_LINK_KINDS:
            together = group.weight > 0
            rows.append(group.i[together] + data.offsets[group.source].start)
            columns.append(group.j[together] + data.offsets[group.target].start)
            values.append(group.weight[together])
    i, j, weight = (np.concatenate(parts) for parts in (rows, columns, values))
    low, high = np.minimum(i, j), np.maximum(i, j)
    order = np.lexsort((weight, high, low))
    low, high, weight = low[order], high[order], weight[order]
    # The last of each pair has its largest weight.
    last = np.ones(len(low), dtype=bool)
    last[:-1] = (low[1:] != low[:-1]) | (high[1:] != high[:-1])
    shape = (data.n_rows, data.n_rows)
    W = sp.csr_array((weight[last], (low[last], high[last])), shape=shape)
    return sp.csr_array(W + W.T)


@dataclass(frozen=True, eq=False)
class TableLinks:
    """What holds items besides what a person says of them.

    Attributes
    ----------
    links : csr_array of shape (n_rows, n_rows)
        1 where links that came with the data say that two rows belong together; symmetric.
    share : array of shape (n_rows,)
        How many such links a row has, as a multiple of the median over the linked rows of its
        dataset.
    """

    links: Sparse
    share: Floats

    def among(self, mask: Bools) -> TableLinks:
        """Return the same for some rows."""
        return TableLinks(sp.csr_array(self.links[mask][:, mask]), self.share[mask])

    def both_hold(self, p: Ints, q: Ints, said: Sparse) -> Bools:
        """Say of pairs of rows whether each holds so many others that it stays with them.

        `said` is what is said to be together, as from `user_link_weights`.
        """
        share = self.share / np.maximum(np.diff(said.indptr), 1)
        return np.asarray(np.minimum(share[p], share[q]) > HUB_LINK_RATIO)


def table_links(data: HeteroData) -> TableLinks:
    """Return what holds the items of some data; O(links)."""
    i, j = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for group in data.links:
        if group.kind not in USER_LINK_KINDS:
            together = group.weight > 0
            i.append(group.i[together] + data.offsets[group.source].start)
            j.append(group.j[together] + data.offsets[group.target].start)
    left, right = np.concatenate(i), np.concatenate(j)
    shape = (data.n_rows, data.n_rows)
    W = sp.csr_array((np.ones(len(left)), (left, right)), shape=shape)
    W = sp.csr_array(W + W.T)
    W.data[:] = 1.0
    number = np.diff(W.indptr).astype(np.float64)
    for rows in data.offsets.values():
        linked = number[rows] > 0
        if linked.any():
            number[rows] /= np.median(number[rows][linked])
    return TableLinks(W, number)


def items_set_apart(data: HeteroData, groups: Sequence[Ints]) -> list[Ints]:
    """Return for each group the items of its dataset that somebody said do not belong with it.

    Global rows; one statement that sets an item apart from one of a group is enough.
    """
    W = _apart_matrix(data)
    found: list[Ints] = []
    for group in groups:
        own = next(rows for rows in data.offsets.values() if rows.start <= group[0] < rows.stop)
        ends = np.unique(W[group].indices)
        inside = (ends >= own.start) & (ends < own.stop)
        found.append(np.setdiff1d(ends[inside], group))
    return found


def _apart_matrix(data: HeteroData) -> Sparse:
    i, j = [np.empty(0, int)], [np.empty(0, int)]
    for links in data.links:
        if links.kind in USER_LINK_KINDS:
            apart = links.weight < 0
            i.append(links.i[apart] + data.offsets[links.source].start)
            j.append(links.j[apart] + data.offsets[links.target].start)
    one, other = np.concatenate(i), np.concatenate(j)
    shape = (data.n_rows, data.n_rows)
    W = sp.csr_array((np.ones(len(one)), (one, other)), shape=shape)
    return sp.csr_array(W + W.T)


def user_groups(data: HeteroData, least: int = 2) -> list[Ints]:
    """Return items of one dataset that a person said belong together: global rows, group by group.

    Who is joined by such statements, directly or through others of the dataset, is one group.
    Groups of fewer than `least` are left out; the others come in the order of their first items.
    """
    W = user_link_weights(data)
    found: list[Ints] = []
    for rows in data.offsets.values():
        count, label = connected_components(W[rows][:, rows], directed=False)
        sizes = np.bincount(label, minlength=count)
        found += [
            np.flatnonzero(label == group) + rows.start for group in np.flatnonzero(sizes >= least)
        ]
    return sorted(found, key=lambda group: int(group[0]))
