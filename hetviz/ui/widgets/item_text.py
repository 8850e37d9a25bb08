"""What is known of items, in words: columns read once, numbers as people write them."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from hetviz._text import in_digits
from hetviz.data import HeteroData
from hetviz.features.columns.types import Column
from hetviz.plots.colour import spoken
from hetviz.ui.shell import session


def columns_of(data: HeteroData, dataset: str) -> Mapping[str, Column]:
    """Return what each column of a dataset holds."""
    # It loads what reads tables, which nothing before the first map needs.
    from hetviz.features.known import known_columns

    found: Mapping[str, Column] = session.cached(
        ("columns", id(data), dataset), data, lambda: known_columns(data, dataset)
    )
    return found


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
