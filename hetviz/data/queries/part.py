"""A part of some data: chosen rows, whichever datasets they lie in."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from hetviz.data.model.heterodata import HeteroData
from hetviz.errors import DataError, Problem


def part_of(data: HeteroData, rows: ArrayLike) -> HeteroData:
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
