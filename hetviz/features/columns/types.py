"""What a column of a table holds: numbers, categories, dates, free text, or nothing of use."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from hetviz._types import Array, Floats
from hetviz.core.spectral.prepare import LARGEST

MISSING = frozenset({"", "na", "n/a", "nan", "null", "none", "?", "-"})
MAX_CATEGORIES = 50

# The possessive quantifiers (++) keep no way back, which is several times faster on a long column.
_NUMBER = r"[+-]?+(?:[0-9]++(?:{0}[0-9]*+)?+|{0}[0-9]++)(?:[eE][+-]?+[0-9]++)?+"
_ONE = {sign: re.compile(_NUMBER.format(re.escape(sign))) for sign in ".,"}
# One look at a whole column, its cells joined by line ends, is many times faster than one a cell.
_MANY = {sign: re.compile(rf"(?:{one.pattern}(?:\n|\Z))++") for sign, one in _ONE.items()}
# What programs write where there is no number, among them the signs of a formula that failed.
_NO_NUMBER = {
    "infinite": r"[+-]?(?:inf(?:inity)?|∞|1[.,]#inf0*)",
    "no number": r"[+-]?(?:nan(?:\([a-z]*\))?|1[.,]#(?:ind|qnan|snan)0*)",
    "failed formula": r"#(?:n/a|div/0!|value!|ref!|name\?|num!|null!|spill!|calc!)",
}
_NO_NUMBERS = {word: re.compile(pattern, re.IGNORECASE) for word, pattern in _NO_NUMBER.items()}
_NUMBERS_OR_NONE = {
    sign: re.compile(rf"(?:(?:{one.pattern}|(?i:{'|'.join(_NO_NUMBER.values())}))(?:\n|\Z))++")
    for sign, one in _ONE.items()
}
_LEADING_ZERO = re.compile(r"^0[0-9]+$", re.MULTILINE)
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
    unusable : tuple of int
        Rows of a column of numbers written as text whose cell, such as ``inf`` or ``1e999``, holds
        none to compute with; `why_unusable` says why. They count as missing.
    """

    name: str
    kind: str
    values: Array
    n_missing: int
    markers: tuple[str, ...] = ()
    whole: bool = False
    unusable: tuple[int, ...] = ()


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
    one; infinity, what programs write for no number, and numbers beyond `LARGEST` count as missing
    then. Numbers with leading zeros are codes, that is text. "NA" or "nan" counts as missing except
    in a column of codes of the same two or three letters, where it is Namibia or Min Nan.
    """
    series = pd.Series(cells)
    if pd.api.types.is_bool_dtype(series.dtype):
        return _words(name, [str(value) for value in series], [])
    if pd.api.types.is_datetime64_any_dtype(series.dtype):
        return _dates(name, pd.to_datetime(series, utc=True), [])
    if pd.api.types.is_numeric_dtype(series.dtype):
        return _numbers(name, np.asarray(series.to_numpy(np.float64, na_value=np.nan)), [])
    lacking = series.isna().tolist()
    if not any(lacking):
        plain = _plain_numbers(list(map(str, series.tolist())), decimal)
        if plain is not None:
            return _numbers(name, plain, [])
    texts = [
        None if lacks else str(cell) for cell, lacks in zip(series.tolist(), lacking, strict=True)
    ]
    blank = _missing(texts)
    markers = sorted({text.strip() for text in texts if text is not None and text in blank} - {""})
    known = [None if text is None or text in blank else text for text in texts]
    present = [text.strip() for text in known if text is not None]
    found = _plain_numbers(present, decimal)
    if found is not None:
        values = np.full(len(known), np.nan)
        values[[text is not None for text in known]] = found
        return _numbers(name, values, markers)
    mixed = _with_unusable(name, known, markers, decimal)
    if mixed is not None:
        return mixed
    if present and all(_DATE.fullmatch(text) for text in present):
        dates = pd.to_datetime(pd.Series(known), utc=True, errors="coerce", format="ISO8601")
        if dates.notna().sum() == len(present):
            return _dates(name, dates, markers)
    return _words(name, known, markers)


def numbers(texts: Sequence[str], decimal: str = ".") -> Floats:
    """Return the number that each cell holds, NaN where it holds no finite number."""
    stripped = [text.strip() for text in texts]
    found = _all_numbers(stripped, decimal)
    if found is not None:
        return found
    each = (number(text, decimal) for text in stripped)
    return np.array([np.nan if value is None else value for value in each])


def why_unusable(text: str, decimal: str = ".") -> str | None:
    """Say why a cell holds no number to compute with, though a column of numbers may hold it.

    Returns
    -------
    {"too large", "infinite", "no number", "failed formula"} or None
        None for a usable number, and for any other text.
    """
    cell = text.strip()
    if _ONE[decimal].fullmatch(cell):
        return None if abs(float(cell.replace(",", "."))) <= LARGEST else "too large"
    return next((word for word, form in _NO_NUMBERS.items() if form.fullmatch(cell)), None)


def _with_unusable(
    name: str, known: Sequence[str | None], markers: Sequence[str], decimal: str
) -> Column | None:
    """Return a column of numbers some of whose cells are unusable, or None if it is none."""
    present = [text.strip() for text in known if text is not None]
    if not present or not _NUMBERS_OR_NONE[decimal].fullmatch("\n".join(present)):
        return None
    unusable = [
        row
        for row, text in enumerate(known)
        if text is not None and why_unusable(text, decimal) is not None
    ]
    usable = [None if text is None else text.strip() for text in known]
    for row in unusable:
        usable[row] = None
    rest = [text for text in usable if text is not None]
    values = np.full(len(known), np.nan)
    if rest:
        found = _plain_numbers(rest, decimal)
        if found is None:
            return None
        values[[text is not None for text in usable]] = found
    return replace(_numbers(name, values, markers), unusable=tuple(unusable))


def _plain_numbers(texts: Sequence[str], decimal: str) -> Floats | None:
    """Return the numbers of a column, or None where one cell is no number or looks like a code."""
    found = _all_numbers(texts, decimal)
    return None if found is None or _LEADING_ZERO.search("\n".join(texts)) else found


def _all_numbers(texts: Sequence[str], decimal: str) -> Floats | None:
    """Return the numbers of cells without blanks around them, or None unless all can be used."""
    if not texts or not _MANY[decimal].fullmatch("\n".join(texts)):
        return None
    plain = texts if decimal == "." else [text.replace(",", ".") for text in texts]
    try:
        values = np.array(plain, dtype=np.float64)
    except ValueError:
        # A line end within a cell made one cell look like two.
        return None
    return values if (np.abs(values) <= LARGEST).all() else None


def number(text: str, decimal: str = ".") -> float | None:
    """Return the finite number that a cell holds, or None."""
    cell = text.strip()
    if not _ONE[decimal].fullmatch(cell):
        return None
    value = float(cell.replace(",", "."))
    return value if math.isfinite(value) else None


def _missing(texts: Sequence[str | None]) -> set[str]:
    """Return which of the texts mean that nothing is known."""
    distinct = {text for text in texts if text is not None}
    found = {text for text in distinct if text.strip().lower() in MISSING}
    others = {text for text in distinct - found if text.strip()}
    if others and all(_CODE.fullmatch(text) for text in others):
        lengths = {len(text) for text in others}
        found = {text for text in found if not _CODE.fullmatch(text) or lengths != {len(text)}}
    return found


def _numbers(name: str, values: Array, markers: Sequence[str]) -> Column:
    values = np.where(np.abs(values) <= LARGEST, values, np.nan)
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
