"""The cells of other rows, read as the column they belong to was when features were made."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from hetviz._types import Floats
from hetviz.core.spectral.prepare import LARGEST
from hetviz.errors import Problem
from hetviz.features.columns.types import MISSING, infer, number, why_unusable


def amounts(
    step: Mapping[str, Any], name: str, cells: pd.Series, problems: list[Problem]
) -> Floats:
    """Return the numbers, or days since 1970, that cells hold: (n,), NaN where missing.

    What is neither counts as missing, and is told. Numbers that cannot be computed with are missing
    too, as they are in `hetviz.features.columns.types.infer`.
    """
    if pd.api.types.is_numeric_dtype(cells.dtype) and not pd.api.types.is_bool_dtype(cells.dtype):
        values = np.asarray(cells.to_numpy(np.float64, na_value=np.nan))
        return np.where(np.abs(values) <= LARGEST, values, np.nan)
    days = step["kind"] == "date"
    if pd.api.types.is_datetime64_any_dtype(cells.dtype):
        return np.asarray(infer(name, cells).values, dtype=np.float64)
    out = np.full(len(cells), np.nan)
    bad: list[Any] = []
    decimal = step.get("decimal", ".")
    for row, cell in enumerate(cells.tolist()):
        if _lacks(cell) or (not days and _unusable(cell, decimal)):
            continue
        value = _day(cell) if days else _number(cell, decimal)
        if value is None:
            bad.append(cell)
        else:
            out[row] = value
    if bad:
        words = "dates" if days else "numbers"
        what = f"the column held {words} when the features were made; {len(bad):,} cells hold none"
        place = f"table, column {name}"
        remedy = "They count as missing. Give the same kind of values."
        problems.append(
            Problem("not-numbers", place, what, str(bad[0])[:60], remedy, "note", count=len(bad))
        )
    return out


def words(name: str, cells: pd.Series, levels: frozenset[str]) -> list[str | None]:
    """Return the text of cells, None where missing; what is a level is never missing."""
    is_amount = pd.api.types.is_numeric_dtype(cells.dtype)
    as_text = text_of if is_amount and not pd.api.types.is_bool_dtype(cells.dtype) else str
    return [_text(cell, as_text, levels) for cell in cells.tolist()]


def text_of(cell: Any) -> str:
    """Return a cell as text; a whole number has no decimals."""
    if isinstance(cell, int | float | np.number) and not isinstance(cell, bool):
        value = float(cell)
        return str(int(value)) if value.is_integer() else repr(value)
    return str(cell)


def _text(cell: Any, as_text: Callable[[Any], str], levels: frozenset[str]) -> str | None:
    if cell is None or (not isinstance(cell, str) and pd.isna(cell)):
        return None
    for text in (as_text(cell), text_of(cell)):
        if text in levels:
            return text
    text = as_text(cell)
    stripped = text.strip()
    return None if stripped.lower() in MISSING and stripped not in levels else text


def _lacks(cell: Any) -> bool:
    if isinstance(cell, str):
        return cell.strip().lower() in MISSING
    return cell is None or bool(pd.isna(cell))


def _unusable(cell: Any, decimal: str) -> bool:
    if isinstance(cell, int | float | np.number):
        return not abs(float(cell)) <= LARGEST
    return why_unusable(str(cell), decimal) is not None


def _number(cell: Any, decimal: str) -> float | None:
    if isinstance(cell, bool | np.bool_):
        return None
    if isinstance(cell, int | float | np.number):
        return float(cell)
    return number(str(cell), decimal)


def _day(cell: Any) -> float | None:
    column = infer("", pd.Series([cell]))
    is_date = column.kind in ("number", "constant") and column.values.dtype != object
    return float(column.values[0]) if is_date and np.isfinite(column.values[0]) else None
