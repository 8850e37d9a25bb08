"""Selected rows: their links, and the data of these rows only."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from hetviz._types import Bools, Floats, Ints
from hetviz.data.model.heterodata import HeteroData
from hetviz.errors import DataError


@dataclass(frozen=True, eq=False)
class TouchingLinks:
    """Links with at least one end in a set of rows."""

    inner: Ints  # Shape (m,). Global row of link l in the set; the source if both ends are.
    outer: Ints  # Shape (m,). Global row at the other end.
    weight: Floats  # Shape (m,).
    group: Ints  # Shape (m,). Position of the group of links in ``data.links``.
    inside: Bools  # Shape (m,). Whether both ends are in the set.

    def __len__(self) -> int:
        return len(self.inner)

    def leads_to(self) -> Ints:
        """Return the sorted rows outside the set with a positive link to it."""
        return np.unique(self.outer[~self.inside & (self.weight > 0)])


def links_touching(data: HeteroData, rows: ArrayLike) -> TouchingLinks:
    """Return the links of `data` with an end in the given global rows, in O(links)."""
    member = np.zeros(data.n_rows, dtype=bool)
    member[np.asarray(rows, dtype=np.int64)] = True
    empty = np.empty(0, dtype=np.int64)
    inner, outer, weight, numbers = [empty], [empty], [np.empty(0)], [empty]
    for number, links in enumerate(data.links):
        p = links.i + data.offsets[links.source].start
        q = links.j + data.offsets[links.target].start
        touched = np.flatnonzero(member[p] | member[q])
        p, q = p[touched], q[touched]
        from_source = member[p]
        inner.append(np.where(from_source, p, q))
        outer.append(np.where(from_source, q, p))
        weight.append(links.weight[touched])
        numbers.append(np.full(len(touched), number, dtype=np.int64))
    inner_rows, outer_rows = np.concatenate(inner), np.concatenate(outer)
    return TouchingLinks(
        inner_rows,
        outer_rows,
        np.concatenate(weight),
        np.concatenate(numbers),
        member[inner_rows] & member[outer_rows],
    )


@dataclass(frozen=True, eq=False)
class LinkedCounts:
    """How many chains of links lead from rows of one dataset to each row of another."""

    path: tuple[str, ...]  # Datasets from that of the rows to the other, the shortest.
    counts: Floats  # Shape (n,). Of the other dataset.
    others: Floats  # Shape (n,). Chains from all other rows of the dataset.


def linked_counts(
    data: HeteroData, name: str, chosen: Bools, skip: Collection[str] = ()
) -> list[LinkedCounts]:
    """Return the counts for each dataset that links connect, nearest first, in O(links).

    `chosen` (n,): Which rows of the dataset `name`. `skip`: Kinds of links that do not count.
    """
    groups = [links for links in data.links if links.kind not in skip]
    ends = np.column_stack([chosen, ~chosen]).astype(np.float64)
    found = {name: LinkedCounts((name,), ends[:, 0], ends[:, 1])}
    for here in (queue := [name]):
        start = found[here]
        into: dict[str, Floats] = {}
        for links in groups:
            for source, target, i, j in (
                (links.source, links.target, links.i, links.j),
                (links.target, links.source, links.j, links.i),
            ):
                if source != here or target in found:
                    continue
                n, present = len(data[target]), links.weight > 0
                total = into.setdefault(target, np.zeros((n, 2)))
                for k, counts in enumerate((start.counts, start.others)):
                    total[:, k] += np.bincount(j[present], counts[i[present]], n)
        for target, total in into.items():
            found[target] = LinkedCounts((*start.path, target), total[:, 0], total[:, 1])
            queue.append(target)
    return list(found.values())[1:]


def select_rows(data: HeteroData, rows: ArrayLike) -> HeteroData:
    """Return the data with the given global rows only."""
    chosen = np.zeros(data.n_rows, dtype=bool)
    chosen[np.asarray(rows, dtype=np.int64)] = True
    if not chosen.any():
        raise DataError.of("no-rows", "data", "no items are selected", remedy="Select some items.")
    masks = {name: chosen[span] for name, span in data.offsets.items()}
    empty = [name for name, mask in masks.items() if not mask.any()]
    smaller = data.edit().drop(*empty) if empty else data
    return smaller.edit().subset({name: masks[name] for name in smaller.datasets})
