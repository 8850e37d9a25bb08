"""Values of items as text, from columns that are read once."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pandas as pd

from hetviz.data import HeteroData
from hetviz.data.model.dataset import ITEM_RESULTS
from hetviz.features.columns.names import label_reason
from hetviz.features.columns.types import Column
from hetviz.features.item_columns import indicators, item_columns
from hetviz.plots.filter_text import number_text, value_text
from hetviz.ui.map_data import worker_results
from hetviz.ui.shell import theme
from hetviz.ui.shell.page_state import project_id
from hetviz.ui.widgets import failure

_Read = Callable[[HeteroData, str], Mapping[str, Column] | None]


def columns_of(data: HeteroData, dataset: str) -> Mapping[str, Column]:
    """Return the columns of a dataset, empty while they are being read."""
    return _read_columns(data, dataset) or {}


def is_loading(data: HeteroData, dataset: str) -> bool:
    """Return whether the columns of a dataset are still being read."""
    return _read_columns(data, dataset) is None


def choosable_columns(
    data: HeteroData, dataset: str, no_columns: str, key: str
) -> Mapping[str, Column]:
    """Return the columns to choose from, or show why there are none."""
    columns: Mapping[str, Column] = {}
    with failure.show_failure(f"columns-{key}"):
        columns = columns_of(data, dataset)
        if is_loading(data, dataset):
            theme.show_note(f"The columns of {dataset} are being read.")
        elif not columns:
            theme.show_note(no_columns)
    return columns


def read_all_columns(data: HeteroData) -> None:
    """Read all columns that are not read yet. Not for a script of a page, which would wait."""
    for dataset in data.datasets:
        _read_columns(data, dataset, item_columns)


def _read_columns(
    data: HeteroData, dataset: str, read: _Read | None = None
) -> Mapping[str, Column] | None:
    labels = [label for label in data.labels if label.dataset == dataset]
    owner, key = data[dataset], ("columns", *map(id, labels))
    columns: Mapping[str, Column] | None = ITEM_RESULTS.get(owner, key)
    if columns is None:
        columns = (read or _fetch_columns)(data, dataset)
        if columns is not None:
            ITEM_RESULTS.put(owner, key, columns, labels)
    return columns


def _fetch_columns(data: HeteroData, dataset: str) -> Mapping[str, Column] | None:
    key = ("columns", dataset)
    columns: Mapping[str, Column] | None = worker_results.fetch_from_worker(
        project_id(), data, key, "read-columns", {"dataset": dataset}
    )
    return columns


def facts_of(data: HeteroData, dataset: str, row: int) -> dict[str, tuple[str, str]]:
    """Return kind and text of each column for one row, the text empty where it is missing.

    What an item lacks comes last.
    """
    columns, position = columns_of(data, dataset), row
    if not columns:
        # Read this row alone until all columns are read.
        columns, position = item_columns(data, dataset, slice(row, row + 1)), 0
    has = indicators(columns)
    lacking = {name for name, x in has.items() if x[position] == 0}
    if has:
        lacking |= {name for name, column in columns.items() if _is_no(column, position)}
    ordered = sorted(columns, key=lacking.__contains__)
    return {name: (columns[name].kind, cell_text(columns[name], position)) for name in ordered}


def _is_no(column: Column, row: int) -> bool:
    """Return whether no item has what a column is about."""
    return column.kind == "constant" and cell_text(column, row).lower() in ("0", "no")


def cell_text(column: Column, row: int) -> str:
    """Return the value of one row as text, empty where it is missing."""
    value = column.values[row]
    if value is None or value != value:
        return ""
    if not isinstance(value, float):
        return value_text(value)
    if column.whole and label_reason(column.name, column.values):
        return f"{value:.0f}"
    return _moment_text(value) if column.kind == "date" else number_text(value, column.kind)


def _moment_text(days: float) -> str:
    """Return a date, with its time unless that is midnight."""
    moment = (pd.Timestamp("1970-01-01") + pd.Timedelta(days=days)).round("s")
    return str(moment.date() if moment == moment.normalize() else moment)


def share_text(share: float) -> str:
    """Return "35 %", or "under 1 %"."""
    return "under 1 %" if 0 < share < 0.005 else f"{share:.0%}".replace("%", " %")
