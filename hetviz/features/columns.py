"""What a column of a table holds: numbers, categories, dates, free text, or nothing of use."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

MISSING = frozenset({"", "na", "n/a", "nan", "null", "none", "?", "-"})
MAX_CATEGORIES = 50

_NUMBER = re.compile(r"[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?")
_LEADING_ZERO = re.compile(r"0\d+")
_DATE = re.compile(r"\d{4}-\d{1,2}-\d{1,2}([ T]\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?)?Z?")
_CODE = re.compile(r"[A-Za-z]{2,3}")


@dataclass(frozen=True, eq=False)
class Column:
    """One column, understood.

    Attributes
    ----------
    name : str
    kind : {"number", "category", "date", "text", "unique", "constant", "empty"}
        "unique" is text that differs in every row (a name, a code) and is too short for free text.
    values : array of shape (n,)
        float with NaN for numbers and dates (days since 1970-01-01), else text with None.
    n_missing : int
    markers : tuple of str
        What stood in the missing cells, other than nothing.
    whole : bool
        Whether the numbers are all whole.
    """

    name: str
    kind: str
    values: NDArray[Any]
    n_missing: int
    markers: tuple[str, ...] = ()
    whole: bool = False


def infer(name: str, cells: Sequence[Any] | pd.Series, decimal: str = ".") -> Column:
    """Say what a column holds.

    Parameters
    ----------
    name : str
    cells : sequence of length n
        Text, or values that already have a type.
    decimal : {".", ","}
        The decimal sign of numbers written as text.

    Notes
    -----
    A column is of numbers (or dates, as year-month-day) when every cell that is not missing is
    one. Numbers with leading zeros are codes, that is text. "NA" or "nan" counts as missing except
    in a column of codes of the same two or three letters, where it is Namibia or Min Nan.
    """
    series = pd.Series(cells)
    if pd.api.types.is_bool_dtype(series.dtype):
        return _words(name, [str(value) for value in series], [])
    if pd.api.types.is_datetime64_any_dtype(series.dtype):
        return _dates(name, pd.to_datetime(series, utc=True), [])
    if pd.api.types.is_numeric_dtype(series.dtype):
        return _numbers(name, np.asarray(series.to_numpy(np.float64, na_value=np.nan)), [])
    texts = [None if pd.isna(cell) else str(cell) for cell in series]
    blank = _missing(texts)
    markers = sorted({text.strip() for text in texts if text is not None and text in blank} - {""})
    known = [None if text is None or text in blank else text for text in texts]
    present = [text.strip() for text in known if text is not None]
    numbers = [None if text is None else number(text, decimal) for text in known]
    is_number = present and sum(value is not None for value in numbers) == len(present)
    if is_number and not any(_LEADING_ZERO.fullmatch(text) for text in present):
        values = np.array([np.nan if value is None else value for value in numbers])
        return _numbers(name, values, markers)
    if present and all(_DATE.fullmatch(text) for text in present):
        dates = pd.to_datetime(pd.Series(known), utc=True, errors="coerce", format="ISO8601")
        if dates.notna().sum() == len(present):
            return _dates(name, dates, markers)
    return _words(name, known, markers)


def number(text: str, decimal: str = ".") -> float | None:
    """Return the finite number that a cell holds, or None."""
    cell = text.strip()
    if not _NUMBER.fullmatch(cell) or ("." if decimal == "," else ",") in cell:
        return None
    value = float(cell.replace(",", "."))
    return value if math.isfinite(value) else None


def _missing(texts: Sequence[str | None]) -> set[str]:
    """Return which of the texts mean that nothing is known."""
    found = {text for text in set(texts) if text is not None and text.strip().lower() in MISSING}
    others = {text for text in texts if text is not None and text.strip() and text not in found}
    if others and all(_CODE.fullmatch(text) for text in others):
        lengths = {len(text) for text in others}
        found = {text for text in found if not _CODE.fullmatch(text) or lengths != {len(text)}}
    return found


def _numbers(name: str, values: NDArray[Any], markers: Sequence[str]) -> Column:
    values = np.where(np.isfinite(values), values, np.nan)
    known = values[~np.isnan(values)]
    kind = "number"
    if len(known) == 0:
        kind = "empty"
    elif (known == known[0]).all():
        kind = "constant"
    whole = bool((known == np.round(known)).all()) and bool((np.abs(known) < 2**53).all())
    return Column(name, kind, values, len(values) - len(known), tuple(markers), whole)


def _dates(name: str, dates: pd.Series, markers: Sequence[str]) -> Column:
    days = (dates - pd.Timestamp("1970-01-01", tz="UTC")) / pd.Timedelta(days=1)
    column = _numbers(name, days.to_numpy(dtype=np.float64, na_value=np.nan), markers)
    kind = "date" if column.kind == "number" else column.kind
    return Column(name, kind, column.values, column.n_missing, column.markers)


def _words(name: str, known: Sequence[str | None], markers: Sequence[str]) -> Column:
    values = np.empty(len(known), dtype=object)
    values[:] = known
    present = [text for text in known if text is not None]
    distinct = set(present)
    n_missing = len(values) - len(present)
    if not distinct:
        kind = "empty"
    elif len(distinct) == 1:
        kind = "constant"
    elif np.mean([len(text.split()) for text in present]) >= 3 and len(distinct) > len(present) / 2:
        kind = "text"
    elif len(distinct) <= MAX_CATEGORIES and len(distinct) <= max(2, 0.9 * len(present)):
        kind = "category"
    elif len(distinct) == len(present):
        kind = "unique"
    else:
        kind = "category"
    return Column(name, kind, values, n_missing, tuple(markers))
