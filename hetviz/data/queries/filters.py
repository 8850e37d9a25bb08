"""Filters of rows that can be written as JSON and survive edits."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from hetviz._types import Bools, Floats, JsonObject
from hetviz.data.model.dataset import Dataset
from hetviz.data.model.heterodata import HeteroData
from hetviz.errors import DataError

_KINDS = ("values", "range", "text", "rows")


@dataclass(frozen=True)
class Filter:
    """Condition on the rows of one dataset; rows of other datasets pass."""

    dataset: str
    column: str = ""  # A table column or a label column; empty for ``kind="rows"``.
    # One of {"values", "range", "text", "rows"}. "values": the value is one of `values`. "range":
    # a number, or a date in days since 1970-01-01, from `low`
    # to `high`. "text": the value contains `text`, ignoring case and accents.
    # "rows": the id is one of `values`.
    kind: Literal["values", "range", "text", "rows"] = "values"
    values: tuple[str, ...] = ()  # Values as text, or ids.
    # `low`, `high`: inclusive bounds; None for no bound.
    low: float | None = None
    high: float | None = None
    text: str = ""
    missing: bool = False  # Whether rows without a value pass.

    def __post_init__(self) -> None:
        where = f"filter of {self.dataset}"
        if self.kind not in _KINDS:
            raise _filter_error(where, "unknown kind of filter", str(self.kind))
        if (self.kind == "rows") == bool(self.column):
            raise _filter_error(
                where, "a filter needs a column, except a filter of rows", self.column
            )
        raw_values: Any = self.values
        if isinstance(raw_values, str):
            raise _filter_error(where, "values must be a list of strings", raw_values)
        object.__setattr__(self, "values", tuple(map(str, self.values)))
        for end in (self.low, self.high):
            if end is not None and not (_is_number(end) and math.isfinite(end)):
                raise _filter_error(where, "the bounds of a range must be numbers", str(end))
        if self.low is not None and self.high is not None and self.low > self.high:
            raise _filter_error(where, "the range is empty", f"{self.low:g} to {self.high:g}")

    def to_dict(self) -> JsonObject:
        """Return the filter as a JSON-ready dictionary."""
        return {**asdict(self), "values": list(self.values)}

    @classmethod
    def from_dict(cls, entry: Mapping[str, Any]) -> Filter:
        """Return the filter of `to_dict`; raise a `DataError` for unknown fields."""
        try:
            return cls(**entry)
        except TypeError as error:
            raise _filter_error("filter", "its fields are invalid", str(error)) from None


def passing(data: HeteroData, filters: Iterable[Filter]) -> Bools:
    """Return a mask of the global rows that pass every filter, shape (n_rows,).

    Unknown ids are ignored, so that a list of rows survives the removal of rows. Costs O(rows) per
    filter.
    """
    out = np.ones(data.n_rows, dtype=bool)
    for filter in filters:
        out[data.offsets[data[filter.dataset].name]] &= _filter_mask(data, filter)
    return out


def filters_for_rows(data: HeteroData, rows: ArrayLike) -> tuple[Filter, ...]:
    """Return filters, one for each dataset, that pass only the given global rows."""
    chosen = np.zeros(data.n_rows, dtype=bool)
    chosen[np.asarray(rows, dtype=np.int64)] = True
    return tuple(
        Filter(name, kind="rows", values=tuple(dataset.ids[chosen[data.offsets[name]]]))
        for name, dataset in data.datasets.items()
    )


def column_of(data: HeteroData, dataset: str, column: str) -> pd.Series:
    """Return a label column or table column of a dataset; raise a `DataError` if unknown."""
    part: Dataset = data[dataset]
    for label in data.labels:
        if label.dataset == dataset and label.name == column:
            return pd.Series(label.values, dtype=object)
    if part.table is not None and column in part.table.columns:
        return part.table[column]
    raise DataError.of(
        "unknown-column", f"dataset {dataset!r}", "this column does not exist", column
    )


def fold_text(text: str) -> str:
    """Return text without case and accents, for comparing: ``folded("Éclair") == "eclair"``."""
    plain = unicodedata.normalize("NFKD", text.casefold())
    for mark in set(plain):
        if unicodedata.combining(mark):
            plain = plain.replace(mark, "")
    # Some letters decompose into capitals.
    return plain.casefold()


def _filter_mask(data: HeteroData, filter: Filter) -> Bools:
    dataset = data[filter.dataset]
    value_set = set(filter.values)
    if filter.kind == "rows":
        return np.array([text in value_set for text in dataset.ids], dtype=bool)
    series = column_of(data, filter.dataset, filter.column)
    if filter.kind == "range":
        value = numbers_of(series)
        low = -math.inf if filter.low is None else filter.low
        high = math.inf if filter.high is None else filter.high
        inside = (value >= low) & (value <= high)
        return np.asarray(inside | (np.isnan(value) & filter.missing), dtype=bool)
    texts = [None if pd.isna(value) else str(value) for value in series]
    present = np.array([bool(text and text.strip()) for text in texts], dtype=bool)
    if filter.kind == "values":
        hit = np.array([text in value_set for text in texts], dtype=bool)
    else:
        needle = fold_text(filter.text)
        hit = np.array(
            [text is not None and needle in fold_text(text) for text in texts], dtype=bool
        )
    return np.asarray((hit & present) | (~present & filter.missing), dtype=bool)


def numbers_of(series: pd.Series) -> Floats:
    """Return numbers, or dates as days since 1970-01-01; NaN for other values."""
    if not pd.api.types.is_datetime64_any_dtype(series.dtype):
        numbers = pd.to_numeric(series, errors="coerce").to_numpy(np.float64, na_value=np.nan)
        if not np.isnan(numbers).all():
            return np.asarray(numbers, dtype=np.float64)
    dates = pd.to_datetime(series, utc=True, errors="coerce", format="ISO8601")
    days = (dates - pd.Timestamp(0, tz="UTC")) / pd.Timedelta(days=1)
    return np.asarray(days.to_numpy(np.float64, na_value=np.nan), dtype=np.float64)


def are_numbers(series: pd.Series) -> bool:
    """Return whether `numbers_of` reads a column as numbers, not as dates."""
    if pd.api.types.is_datetime64_any_dtype(series.dtype):
        return False
    return bool(pd.to_numeric(series, errors="coerce").notna().any())


def holds_dates(series: pd.Series) -> bool:
    """Return whether most values of a column are dates."""
    known = series.dropna()
    return not are_numbers(known) and bool(np.isfinite(numbers_of(known)).mean() > 0.5)


def days_of(text: str) -> tuple[float, float]:
    """Return the begin and the end of a year, month or day, in days since 1970-01-01."""
    try:
        period = pd.Period(text)
        ends = period.start_time, (period + 1).start_time
    except (ValueError, OverflowError):
        raise _filter_error("filter", "write a date as 2020, 2020-03 or 2020-03-15", text) from None
    begin, next_begin = ((end - pd.Timestamp(0)) / pd.Timedelta(days=1) for end in ends)
    # The last nanosecond in days would be rounded to the next period.
    return begin, float(np.nextafter(next_begin, begin))


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _filter_error(where: str, what: str, value: str) -> DataError:
    return DataError.of("bad-filter", where, what, value)
