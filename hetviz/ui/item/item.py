"""Item of a global row: its dataset, row and title."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hetviz.data import Dataset, HeteroData
from hetviz.plots.palette import shape_of


@dataclass(frozen=True, eq=False)
class MapItem:
    """An item."""

    dataset: Dataset
    place: int  # Position of the dataset
    row: int  # Row in the dataset

    @property
    def title(self) -> str:
        """Name of the item: its title, with the id if titles repeat."""
        return str(self.dataset.display_names[self.row])

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


def rows_of_ids(data: HeteroData, dataset: str, ids: Sequence[str]) -> list[int]:
    """Return the global rows of the items of a dataset that are in the data, in order."""
    if dataset not in data.datasets:
        return []
    start = data.offsets[dataset].start
    return [start + row for row in data[dataset].find(list(ids)).tolist() if row >= 0]


def row_of(data: HeteroData, dataset: str, id: str) -> int | None:
    """Return the global row of an item, or None if it is not in the data."""
    return next(iter(rows_of_ids(data, dataset, [id])), None)
