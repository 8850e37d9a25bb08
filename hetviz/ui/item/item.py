"""Item of a global row: its dataset, row and title."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hetviz.data import Dataset, HeteroData
from hetviz.plots.palette import shape_of


@dataclass(frozen=True, eq=False)
class MapItem:
    """An item.

    Attributes
    ----------
    dataset : Dataset
    place : int
        Position of the dataset.
    row : int
        Row in the dataset.
    """

    dataset: Dataset
    place: int
    row: int

    @property
    def title(self) -> str:
        """Title of the item."""
        return str(self.dataset.titles[self.row])

    @property
    def glyph(self) -> str:
        """Shape of its dataset."""
        return shape_of(self.place)[1]


def find_item(data: HeteroData, row: int) -> MapItem:
    """Return the item of a global row."""
    starts = [rows.start for rows in data.offsets.values()]
    place = int(np.searchsorted(starts, row, side="right")) - 1
    name = list(data.datasets)[place]
    return MapItem(data[name], place, int(row) - starts[place])
