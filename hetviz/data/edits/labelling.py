"""Labels of items, set by id."""

from __future__ import annotations

from collections.abc import Sequence

from hetviz.data.edits.by_id import rows_by_id
from hetviz.data.model.heterodata import HeteroData
from hetviz.data.model.labels import Labels
from hetviz.errors import DataError

LabelValue = str | int | float


def with_annotations(
    data: HeteroData,
    dataset: str,
    column: str,
    entries: Sequence[tuple[str, LabelValue | None, str, str]],
) -> HeteroData:
    """Return the data after people labelled items, see `Labels.annotated`, with ids as rows."""
    where = f"labels {column!r}"
    rows = rows_by_id(data, dataset, [entry[0] for entry in entries], where)
    current = next(
        (label for label in data.labels if (label.dataset, label.name) == (dataset, column)), None
    )
    items = data[dataset]
    cells: list[object] = [None] * len(items)
    if items.table is not None and column in items.table.columns:
        cells = list(items.table[column])
    for id_, value, _, _ in entries:
        if not (value is None or isinstance(value, str | int | float)):
            raise DataError.of(
                "bad-label", f"{where}, {id_}", "text or a number is needed", repr(value)
            )
    before = Labels(dataset, column, cells) if current is None else current
    changed = before.annotated(
        (row, *entry[1:]) for row, entry in zip(rows.tolist(), entries, strict=True)
    )
    labels = [changed if label is current else label for label in data.labels]
    if current is None:
        labels.append(changed)
    return HeteroData(data.datasets, data.links, data.comparisons, labels)
