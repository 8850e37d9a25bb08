"""Labels of items, set by id."""

from __future__ import annotations

from collections.abc import Mapping

from hetviz.data.edits.by_id import rows_by_id
from hetviz.data.model.heterodata import HeteroData
from hetviz.data.model.labels import Labels
from hetviz.errors import DataError

LabelValue = str | int | float


def with_labels(
    data: HeteroData, dataset: str, column: str, values: Mapping[str, LabelValue | None]
) -> HeteroData:
    """Return the data with labels of some items set."""
    where = f"labels {column!r}"
    rows = rows_by_id(data, dataset, values, where)
    current = next(
        (label for label in data.labels if (label.dataset, label.name) == (dataset, column)), None
    )
    items = data[dataset]
    cells: list[object] = [None] * len(items)
    if current is not None:
        cells = list(current.values)
    elif items.table is not None and column in items.table.columns:
        cells = list(items.table[column])
    for row, (id_, value) in zip(rows.tolist(), values.items(), strict=True):
        if not (value is None or isinstance(value, str | int | float)):
            raise DataError.of(
                "bad-label", f"{where}, {id_}", "text or a number is needed", repr(value)
            )
        cells[row] = value
    changed = Labels(dataset, column, cells)
    labels = [changed if label is current else label for label in data.labels]
    if current is None:
        labels.append(changed)
    return HeteroData(data.datasets, data.links, data.comparisons, labels)
