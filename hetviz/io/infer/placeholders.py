"""Values that may stand for a missing one, such as -999 or 9999-12-31."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from hetviz._text import count
from hetviz._types import Floats
from hetviz.errors import Problem
from hetviz.features.columns.types import numbers
from hetviz.io.infer.parsed import Table

_LOW = (-9.0, -99.0, -999.0, -9_999.0, -99_999.0)
_HIGH = (999.0, 9_999.0, 99_999.0, 999_999.0)
_DAYS = ("9999-12-31", "9999-01-01", "2999-12-31", "0001-01-01")
_DECIMALS = ("", ".0", ".00", ",0", ",00")
_TEXTS = frozenset(f"{value:.0f}{decimals}" for value in (*_LOW, *_HIGH) for decimals in _DECIMALS)
_MIN_OTHERS = 3
# Times as far from zero as all other values.
_MIN_RATIO = 3.0
# More columns are measurements of a kind, and testing each is slow.
_MAX_COLUMNS = 500
_REMEDY = "If it means a missing value, leave these cells empty. It is used as it is."


def question_placeholders(table: Table) -> Iterator[Problem]:
    """Yield a note for each column with a number or day that may stand for a missing value."""
    frame = table.frame
    if frame.shape[1] > _MAX_COLUMNS:
        return
    for name, cells in frame.items():
        where = f"{table.where}, column {name}"
        texts = cells.str.strip()
        if texts.isin(_TEXTS).any():
            yield from _question_numbers(where, texts, table.decimal)
        elif texts.str.startswith(_DAYS).any():
            yield from _question_days(where, texts)


def _question_numbers(where: str, texts: pd.Series, decimal: str) -> Iterator[Problem]:
    cells = texts.fillna("").tolist()
    values = numbers(cells, decimal)
    filled = np.array([bool(cell) for cell in cells])
    if np.isnan(values[filled]).any():
        # Words and codes.
        return
    for value in (*_LOW, *_HIGH):
        same = values == value
        n = int(same.sum())
        others = values[filled & ~same & ~np.isin(values, (*_LOW, *_HIGH))]
        if n and len(np.unique(others)) >= _MIN_OTHERS and _stands_out(value, n, others):
            yield _note(where, f"{value:.0f}", n, _range_text(others))


def _stands_out(value: float, n: int, others: Floats) -> bool:
    """Whether a value is far from all others; one that occurs once may be a true one."""
    if value < 0:
        return bool(others.min() >= 0) and (n > 1 or -value > _MIN_RATIO * others.max())
    return n > 1 and value > _MIN_RATIO * float(np.abs(others).max())


def _question_days(where: str, texts: pd.Series) -> Iterator[Problem]:
    days = texts.fillna("").str.slice(0, 10)
    others = days[~days.isin(_DAYS) & days.ne("")]
    if others.nunique() < _MIN_OTHERS or not others.str.fullmatch(r"\d{4}-\d\d-\d\d").all():
        return
    for day in _DAYS:
        n = int(days.eq(day).sum())
        # Days of the same century are true ones.
        if n and not others.str.slice(0, 2).eq(day[:2]).any():
            yield _note(where, day, n, f"{others.min()} to {others.max()}")


def _range_text(values: Floats) -> str:
    return f"{values.min():g} to {values.max():g}"


def _note(where: str, value: str, n: int, others: str) -> Problem:
    message = f"{count(n, 'cell')} with {value}, but all others are from {others}"
    return Problem("placeholder", where, message, value, _REMEDY, severity="note")
