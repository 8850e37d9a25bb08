"""Values of linked items: the most frequent category, the mean of numbers."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from hetviz._types import Array, Bools, Floats, Ints, Sparse
from hetviz.data import HeteroData

NO_VALUE = -1
"""Code of a row without a category."""

_MAX_HOPS = 3


def most_frequent(votes: Sparse) -> tuple[Ints, Ints]:
    """Return the rows with votes, and the column with most votes of each."""
    cells = sp.coo_array(votes)
    cells.eliminate_zeros()
    order = np.lexsort((cells.col, -cells.data, cells.row))
    rows, first = np.unique(cells.row[order], return_index=True)
    return rows.astype(np.int64), cells.col[order][first].astype(np.int64)


def fill_codes(data: HeteroData, owner: str, code: Ints, n_codes: int) -> Ints:
    """Return codes, with those of other datasets from the same object, else by a vote of links."""
    out = code.copy()
    _fill_from_same_object(data, out, out == NO_VALUE, NO_VALUE)
    may_fill = _rows_of_others(data, owner)
    if not (may_fill & (out == NO_VALUE)).any():
        return out
    rows = np.flatnonzero(out != NO_VALUE)
    shape = (data.n_rows, n_codes)
    # Share of each code in the votes of each row.
    V = sp.csr_array((np.ones(len(rows)), (rows, out[rows])), shape=shape)
    W = data.adjacency("+")
    for _ in range(_MAX_HOPS):
        missing = np.flatnonzero(may_fill & (out == NO_VALUE))
        sums = W[missing] @ V
        if not sums.nnz:
            break
        reached, best = most_frequent(sums)
        out[missing[reached]] = best
        votes = sp.coo_array(sums)
        total = np.bincount(votes.row, weights=votes.data, minlength=len(missing))
        shares = votes.data / total[votes.row]
        V = V + sp.csr_array((shares, (missing[votes.row], votes.col)), shape=shape)
    return out


def fill_numbers(data: HeteroData, owner: str, value: Floats) -> Floats:
    """Return numbers, with those of other datasets from the same object, else means of links."""
    out = value.copy()
    _fill_from_same_object(data, out, np.isnan(out), np.nan)
    may_fill = _rows_of_others(data, owner)
    W = data.adjacency("+")
    for _ in range(_MAX_HOPS):
        missing = np.isnan(out)
        if not (may_fill & missing).any():
            break
        weight = W @ (~missing).astype(np.float64)
        reached = may_fill & missing & (weight > 0)
        if not reached.any():
            break
        out[reached] = (W @ np.where(missing, 0.0, out))[reached] / weight[reached]
    return out


def borrowed_rows(data: HeteroData, owner: str, has_value: Bools) -> Bools:
    """Return which rows have a value of linked items, not of their own object."""
    own = data.offsets[owner]
    is_borrowed = has_value.copy()
    if len(data.entities) == len(data.datasets):
        is_borrowed[own] = False
        return is_borrowed
    is_own = np.zeros(data.n_objects, dtype=bool)
    is_own[data.object_of[own][has_value[own]]] = True
    return is_borrowed & ~is_own[data.object_of]


def _rows_of_others(data: HeteroData, owner: str) -> Bools:
    mask = np.ones(data.n_rows, dtype=bool)
    mask[data.offsets[owner]] = False
    return mask


def _fill_from_same_object(data: HeteroData, out: Array, missing: Bools, nothing: float) -> None:
    if len(data.entities) == len(data.datasets):
        return
    by_object = np.full(data.n_objects, nothing, dtype=out.dtype)
    by_object[data.object_of[~missing]] = out[~missing]
    out[missing] = by_object[data.object_of[missing]]
