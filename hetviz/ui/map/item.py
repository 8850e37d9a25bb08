"""One row of all: which dataset it is of, and what to call it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hetviz.data import Dataset, HeteroData
from hetviz.plots.palette import shape_of


@dataclass(frozen=True, eq=False)
class MapItem:
    """One row, found.

    Attributes
    ----------
    dataset : Dataset
    place : int
        Of the dataset among all.
    row : int
        Within the dataset.
    """

    dataset: Dataset
    place: int
    row: int

    @property
    def title(self) -> str:
        """What to call it."""
        return str(self.dataset.titles[self.row])

    @property
    def glyph(self) -> str:
        """The shape of its dataset."""
        return shape_of(self.place)[1]


def find_item(data: HeteroData, row: int) -> MapItem:
    """Find a global row."""
    starts = [rows.start for rows in data.offsets.values()]
    place = int(np.searchsorted(starts, row, side="right")) - 1
    name = list(data.datasets)[place]
    return MapItem(data[name], place, int(row) - starts[place])
