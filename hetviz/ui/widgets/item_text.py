"""What is known of items, in words: columns read once, numbers as people write them."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from hetviz._text import in_digits
from hetviz.data import HeteroData
from hetviz.data.model.same_items import known_of_items, of_items
from hetviz.features.columns.types import Column
from hetviz.plots.colour import spoken
from hetviz.ui.map import away
from hetviz.ui.shell import background, theme
from hetviz.ui.widgets import failed


def columns_of(data: HeteroData, dataset: str) -> Mapping[str, Column]:
    """Return what each column of a dataset holds; of a large one nothing `while_read`."""
    return _read(data, dataset) or {}


def while_read(data: HeteroData, dataset: str) -> bool:
    """Whether the columns of a dataset are still being read."""
    return _read(data, dataset) is None


def offered(data: HeteroData, dataset: str, none: str, place: str) -> Mapping[str, Column]:
    """Return the columns that one may choose of a dataset; where there are none, say why.

    Parameters
    ----------
    data : HeteroData
    dataset : str
    none : str
        What is said where the dataset has no columns.
    place : str
        Tells this place from others of the page.
    """
    columns: Mapping[str, Column] = {}
    with failed.told(f"columns-{place}"):
        columns = columns_of(data, dataset)
        if while_read(data, dataset):
            theme.quiet(f"The columns of {dataset} are being read.")
        elif not columns:
            theme.quiet(none)
    return columns


def _read(data: HeteroData, dataset: str) -> Mapping[str, Column] | None:
    labels = [label for label in data.labels if label.dataset == dataset]
    parts, key = [data[dataset]], ("columns", *map(id, labels))
    known: Mapping[str, Column] | None = known_of_items(parts, key)
    if known is None:
        task = "hetviz.jobs.tasks.look:columns"
        known = away.found(
            background.owner(), data, ("columns", dataset), task, {"dataset": dataset}
        )
        if known is not None:
            found = known
            of_items(parts, key, lambda: found, labels)
    return known


def facts_of(data: HeteroData, dataset: str, row: int) -> dict[str, tuple[str, str]]:
    """Return kind and value, in words, of each column for one row; empty where it is missing."""
    columns, at = columns_of(data, dataset), row
    if not columns:
        # One row says enough of itself until all are read.
        from hetviz.features.known import known_columns

        columns, at = known_columns(data, dataset, slice(row, row + 1)), 0
    return {name: (column.kind, value_words(column, at)) for name, column in columns.items()}


def value_words(column: Column, row: int) -> str:
    """Return the value of one row, empty where it is missing."""
    value = column.values[row]
    if value is None or value != value:
        return ""
    return number_words(float(value), column.kind) if isinstance(value, float) else in_words(value)


def in_words(value: object) -> str:
    """Return a value of a column of names: a slug as words, 3 for 3.0."""
    text = str(value)
    whole = text.removesuffix(".0")
    return whole if whole.lstrip("-").isdigit() else spoken(text)


def number_words(value: float, kind: str) -> str:
    """Return a number with separators, or a day."""
    if kind == "date":
        return str((pd.Timestamp("1970-01-01") + pd.Timedelta(days=value)).date())
    return in_digits(value)


def share_words(share: float) -> str:
    """Return "35 %", or "under 1 %"."""
    return "under 1 %" if 0 < share < 0.005 else f"{share:.0%}".replace("%", " %")
