"""Labels of items, set by id."""

from __future__ import annotations

from collections.abc import Mapping

from hetviz.data.edits.by_id import rows_by_id
from hetviz.data.model.heterodata import HeteroData
from hetviz.data.model.labels import Labels
from hetviz.errors import DataError, Problem

LabelValue = str | int | float


def with_labels(
    data: HeteroData, dataset: str, column: str, values: Mapping[str, LabelValue | None]
) -> HeteroData:
    """Return the data with labels of some items set.

    Parameters
    ----------
    data : HeteroData
    dataset, column : str
        A label column of the dataset. If there is none, it is created from the table column of
        this name, or empty.
    values : mapping
        Id to label; None removes the label.

    Raises
    ------
    hetviz.errors.DataError
        Listing unknown ids and values that are neither text nor numbers.
    """
    where = f"labels {column!r}"
    rows = rows_by_id(data, dataset, values, where)
    known = next((one for one in data.labels if (one.dataset, one.name) == (dataset, column)), None)
    part = data[dataset]
    cells: list[object] = [None] * len(part)
    if known is not None:
        cells = list(known.values)
    elif part.table is not None and column in part.table.columns:
        cells = list(part.table[column])
    for row, (id_, value) in zip(rows.tolist(), values.items(), strict=True):
        if not (value is None or isinstance(value, str | int | float)):
            raise DataError(
                Problem("bad-label", f"{where}, {id_}", "text or a number is needed", repr(value))
            )
        cells[row] = value
    made = Labels(dataset, column, cells)
    labels = [made if one is known else one for one in data.labels]
    if known is None:
        labels.append(made)
    return HeteroData(data.datasets, data.links, data.comparisons, labels)
