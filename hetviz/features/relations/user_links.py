"""Links that a person gave, as opposed to links of the tables."""

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
"""Kinds of links that a person gave, or accepted when they were proposed."""


def user_link_weights(data: HeteroData) -> Sparse:
    """Return the positive user links as a symmetric csr_array of shape (n_rows, n_rows).

    Several links of a pair count as the strongest, but at most as their sum, so that links that
    people state both together and apart cancel.
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
    # The last entry of each pair has the largest weight.
    last = np.ones(len(low), dtype=bool)
    last[:-1] = (low[1:] != low[:-1]) | (high[1:] != high[:-1])
    shape = (data.n_rows, data.n_rows)
    W = sp.csr_array((weight[last], (low[last], high[last])), shape=shape)
    W = sp.csr_array(W + W.T)
    return sp.csr_array(W.minimum(_net_user_links(data).maximum(0)))


def _net_user_links(data: HeteroData) -> Sparse:
    """Return the sum of the user links of each pair; symmetric."""
    return HeteroData(
        data.datasets, [links for links in data.links if links.kind in USER_LINK_KINDS]
    ).adjacency()


@dataclass(frozen=True, eq=False)
class TableLinks:
    """Positive links of the tables, without user links."""

    links: Sparse
    share: Floats

    def among(self, mask: Bools) -> TableLinks:
        return TableLinks(sp.csr_array(self.links[mask][:, mask]), self.share[mask])

    def both_hold(self, p: Ints, q: Ints, user_links: Sparse) -> Bools:
        """Return a mask of the pairs whose rows both have many table links."""
        share = self.share / np.maximum(np.diff(user_links.indptr), 1)
        return np.asarray(np.minimum(share[p], share[q]) > HUB_LINK_RATIO)


def table_links(data: HeteroData) -> TableLinks:
    """Return the positive links of the tables; O(links)."""
    i, j = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for links in data.links:
        if links.kind not in USER_LINK_KINDS:
            chosen = links.weight > 0
            i.append(links.i[chosen] + data.offsets[links.source].start)
            j.append(links.j[chosen] + data.offsets[links.target].start)
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
    """Return, for each group, the global rows of its dataset with a negative user link to it."""
    W = sp.csr_array(_net_user_links(data) < 0)
    apart: list[Ints] = []
    for group in groups:
        dataset_rows = next(
            rows for rows in data.offsets.values() if rows.start <= group[0] < rows.stop
        )
        ends = np.unique(W[group].indices)
        inside = (ends >= dataset_rows.start) & (ends < dataset_rows.stop)
        apart.append(np.setdiff1d(ends[inside], group))
    return apart


def user_groups(data: HeteroData, min_items: int = 2) -> list[Ints]:
    """Return groups of items of one dataset that positive user links connect, as global rows."""
    W = user_link_weights(data)
    groups: list[Ints] = []
    for rows in data.offsets.values():
        count, label = connected_components(W[rows][:, rows], directed=False)
        sizes = np.bincount(label, minlength=count)
        groups += [
            np.flatnonzero(label == group) + rows.start
            for group in np.flatnonzero(sizes >= min_items)
        ]
    return sorted(groups, key=lambda group: int(group[0]))
