"""Comparisons: "a is closer to b than to c"."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from hetviz._types import Array, Floats, Ints
from hetviz.data.model import checks
from hetviz.data.model.checks import Gate
from hetviz.data.model.frozen import Frozen


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Comparisons(Frozen):
    """Statements that one distance is smaller than another.

    Parameters
    ----------
    objects : array of int, shape (t, 3) or (t, 4)
        Row a, b, c says d(a, b) < d(a, c); row a, b, c, d says d(a, b) < d(c, d). Entries are
        global row positions: ``data.position(dataset, id)``.
    weight : array of shape (t,), optional
        How much each counts, above 0; 1 when absent.
    meta : DataFrame of t rows, optional
        Columns such as note, who, when and set.

    Raises
    ------
    hetviz.errors.DataError
        Listing every bad row at once.
    """

    objects: Ints
    weight: Floats
    meta: pd.DataFrame | None

    def __init__(
        self,
        objects: ArrayLike,
        weight: ArrayLike | None = None,
        *,
        meta: pd.DataFrame | None = None,
    ) -> None:
        gate = Gate()
        rows = checks.positions_of(gate, "comparisons", objects, None)
        if rows.size == 0 and rows.ndim != 2:
            rows = checks.frozen(np.zeros((0, 3), dtype=np.int64))
        if rows.ndim != 2 or rows.shape[1] not in (3, 4):
            gate.refuse(
                "bad-shape",
                "comparisons",
                "each row needs 3 positions (a nearer to b than to c) or 4 (a, b nearer than c, d)",
                rows.shape,
            )
            gate.close()
        given = 1.0 if weight is None else weight
        weights = checks.numbers_of(gate, "comparisons, weight", given, len(rows))
        for row in np.flatnonzero(weights <= 0):
            gate.refuse(
                "weight-range",
                f"comparisons, row {row + 1}",
                "the weight of a comparison is above 0",
                f"{weights[row]:g}",
                "To say the opposite, exchange the two pairs.",
                int(row),
            )
        meta = checks.meta_of(gate, "comparisons", meta, len(rows))
        gate.close()
        object.__setattr__(self, "objects", rows)
        object.__setattr__(self, "weight", checks.frozen(weights))
        object.__setattr__(self, "meta", meta)

    def __len__(self) -> int:
        return len(self.objects)

    def __repr__(self) -> str:
        return f"Comparisons({len(self):,} of {self.objects.shape[1]} items)"

    @property
    def pairs(self) -> Ints:
        """Near and far pair of each row, shape (t, 4): d(p0, p1) < d(p2, p3)."""
        if self.objects.shape[1] == 4:
            return self.objects
        return self.objects[:, [0, 1, 0, 2]]

    def take(self, rows: Array) -> Comparisons:
        """Return the rows at the given positions (or where a mask is True)."""
        meta = None if self.meta is None else self.meta.iloc[np.arange(len(self))[rows]]
        return Comparisons(self.objects[rows], self.weight[rows], meta=meta)

    def noting(self, meta: pd.DataFrame | None) -> Comparisons:
        """Return the same comparisons with other notes."""
        return Comparisons(self.objects, self.weight, meta=meta)
