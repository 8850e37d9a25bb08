"""Comparisons: "a is closer to b than to c"."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from hetviz._types import Array, Floats, Ints
from hetviz.data.model import checks
from hetviz.data.model.checks import ProblemCollector
from hetviz.data.model.immutable import Immutable


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Comparisons(Immutable):
    """Statements that one pair of items is closer than another.

    Parameters
    ----------
    objects : array of int, shape (t, 3) or (t, 4)
        Row (a, b, c) means d(a, b) < d(a, c); row (a, b, c, d) means d(a, b) < d(c, d). Entries
        are global row positions, see ``data.position(dataset, id)``.
    weight : array of shape (t,), optional
        Positive weights; default 1.
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
        gate = ProblemCollector()
        rows = checks.check_positions(gate, "comparisons", objects, None)
        if rows.size == 0 and rows.ndim != 2:
            rows = checks.read_only(np.zeros((0, 3), dtype=np.int64))
        if rows.ndim != 2 or rows.shape[1] not in (3, 4):
            gate.refuse(
                "bad-shape",
                "comparisons",
                "each row needs 3 positions (a closer to b than to c) or 4 (a, b closer than c, d)",
                rows.shape,
            )
            gate.close()
        raw_weights = 1.0 if weight is None else weight
        weights = checks.check_numbers(gate, "comparisons, weight", raw_weights, len(rows))
        for row in np.flatnonzero(weights <= 0):
            gate.refuse(
                "weight-range",
                f"comparisons, row {row + 1}",
                "the weight of a comparison must be above 0",
                f"{weights[row]:g}",
                "To state the opposite, swap the two pairs.",
                int(row),
            )
        meta = checks.check_meta(gate, "comparisons", meta, len(rows))
        gate.close()
        object.__setattr__(self, "objects", rows)
        object.__setattr__(self, "weight", checks.read_only(weights))
        object.__setattr__(self, "meta", meta)

    def __len__(self) -> int:
        return len(self.objects)

    def __repr__(self) -> str:
        return f"Comparisons({len(self):,} of {self.objects.shape[1]} items)"

    @property
    def pairs(self) -> Ints:
        """Near and far pair of each comparison, shape (t, 4): d(p0, p1) < d(p2, p3)."""
        if self.objects.shape[1] == 4:
            return self.objects
        return self.objects[:, [0, 1, 0, 2]]

    def take(self, rows: Array) -> Comparisons:
        """Return the comparisons at the given positions, or selected by a mask."""
        meta = None if self.meta is None else self.meta.iloc[np.arange(len(self))[rows]]
        return Comparisons(self.objects[rows], self.weight[rows], meta=meta)

    def noting(self, meta: pd.DataFrame | None) -> Comparisons:
        """Return the same comparisons with another meta table."""
        return Comparisons(self.objects, self.weight, meta=meta)
