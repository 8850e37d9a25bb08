"""Filters and their values in plain words."""

from __future__ import annotations

import pandas as pd

from hetviz._text import format_number, join_words
from hetviz.data import Filter, HeteroData
from hetviz.data.queries.filters import column_of
from hetviz.plots.colour import display_name

_CHECKED_VALUES = 100


def filter_words(data: HeteroData, item: Filter) -> str:
    """Return a filter in plain words: "emoji: group is food-drink"."""
    if item.kind == "rows":
        return f"{item.dataset}: {len(item.values):,} chosen"
    name = display_name(item.column)
    start = f"{item.dataset}: {name.lower() if item.column.islower() else name}"
    if item.kind == "text":
        text = f"{start} contains “{item.text}”"
    elif item.kind == "values":
        named = [value_text(value) for value in item.values]
        listed = join_words(
            named[:3] if len(named) <= 3 else [*named[:2], f"{len(named) - 2} more"]
        )
        text = f"{start} is {listed.replace(' and ', ' or ')}" if named else ""
    else:
        text = f"{start} {_range_words(data, item)}"
    if not item.missing:
        return text
    return f"{text}, or missing" if text else f"{start} is missing"


def value_text(value: object) -> str:
    """Return a category as text: a slug as words, 3 for 3.0."""
    text = str(value)
    whole = text.removesuffix(".0")
    return whole if whole.lstrip("-").isdigit() else display_name(text)


def number_text(value: float, kind: str) -> str:
    """Return a number with separators, or a day."""
    if kind == "date":
        return str((pd.Timestamp("1970-01-01") + pd.Timedelta(days=value)).date())
    return format_number(value)


def _range_words(data: HeteroData, item: Filter) -> str:
    kind = "date" if _has_dates(column_of(data, item.dataset, item.column)) else "number"
    low, high = (None if end is None else number_text(end, kind) for end in (item.low, item.high))
    if low is None or high is None:
        return f"at least {low}" if low else f"at most {high}" if high else "has a value"
    return f"from {low} to {high}"


def _has_dates(series: pd.Series) -> bool:
    if pd.api.types.is_datetime64_any_dtype(series.dtype):
        return True
    values = series.dropna().head(_CHECKED_VALUES)
    return len(values) > 0 and bool(pd.to_numeric(values, errors="coerce").isna().all())
