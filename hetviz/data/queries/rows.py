"""Chosen rows: the part of some data that they are, and the links that touch them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from hetviz._types import Bools, Floats, Ints
from hetviz.data.model.heterodata import HeteroData
from hetviz.errors import DataError, Problem


@dataclass(frozen=True, eq=False)
class TouchingLinks:
    """Links with at least one end in a set of rows.

    Attributes
    ----------
    inner : array of int, shape (m,)
        Global row of link l that lies in the set; the source where both do.
    outer : array of int, shape (m,)
        Global row at its other end.
    weight : array of shape (m,)
    group : array of int, shape (m,)
        Position in ``data.links`` of the links it belongs to.
    inside : array of bool, shape (m,)
        Whether both ends lie in the set.
    """

    inner: Ints
    outer: Ints
    weight: Floats
    group: Ints
    inside: Bools

    def __len__(self) -> int:
        return len(self.inner)

    def leads_to(self) -> Ints:
        """Return the rows outside the set that links saying together lead to, in order."""
        return np.unique(self.outer[~self.inside & (self.weight > 0)])


def links_touching(data: HeteroData, rows: ArrayLike) -> TouchingLinks:
    """Return the links of `data` that touch the given global rows.

    Notes
    -----
    Costs O(links).
    """
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
    found, other = np.concatenate(inner), np.concatenate(outer)
    return TouchingLinks(
        found, other, np.concatenate(weight), np.concatenate(numbers), member[found] & member[other]
    )


# A part of some data: chosen rows, whichever datasets they lie in.


def select_rows(data: HeteroData, rows: ArrayLike) -> HeteroData:
    """Return the data with the given global rows only.

    Parameters
    ----------
    data : HeteroData
    rows : array of int
        In any order; datasets that lose all their rows are left out, and so are links and
        comparisons that name a row left out.

    Raises
    ------
    hetviz.errors.DataError
        If there are none.
    """
    chosen = np.zeros(data.n_rows, dtype=bool)
    chosen[np.asarray(rows, dtype=np.int64)] = True
    if not chosen.any():
        raise DataError(Problem("no-rows", "data", "no items were chosen", remedy="Choose some."))
    masks = {name: chosen[span] for name, span in data.offsets.items()}
    empty = [name for name, mask in masks.items() if not mask.any()]
    smaller = data.edit().drop(*empty) if empty else data
    return smaller.edit().subset({name: masks[name] for name in smaller.datasets})
