"""What is told of the columns of a table: those that there are not, and what features lack."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from hetviz.errors import DataError, Problem
from hetviz.features.columns.types import MAX_CATEGORIES, Column, numbers


def check_known(where: str, table: pd.DataFrame, names: Sequence[str]) -> None:
    """Refuse names of columns that there are not.

    Raises
    ------
    hetviz.errors.DataError
    """
    unknown = [name for name in dict.fromkeys(names) if name not in table.columns]
    if unknown:
        raise DataError(no_column(where, name, table, "error") for name in unknown)


def refuse_doubles(where: str, table: pd.DataFrame) -> None:
    """Refuse a table in which two columns have one name.

    Raises
    ------
    hetviz.errors.DataError
    """
    double = table.columns[table.columns.duplicated()].unique()
    if len(double):
        what = "two columns have this name"
        raise DataError(
            Problem("duplicate-column", where, what, str(name), "Rename one.") for name in double
        )


def no_column(where: str, name: str, table: pd.DataFrame, severity: str) -> Problem:
    """Return what is told of a column that there is not: an error, or a note where it may lack."""
    there = f"There are: {', '.join(map(str, table.columns[:20]))}."
    what = "there is no such column"
    what += "; all its cells count as missing" if severity == "note" else ""
    return Problem("unknown-column", where, what, name, there, severity)


def column_notes(
    where: str, column: Column, fields: Mapping[str, Any], asked: bool, decimal: str
) -> list[Problem]:
    """Return what was left out or filled in of a column, and why.

    Parameters
    ----------
    where : str
        For messages.
    column : Column
    fields : mapping
        What was said of it.
    asked : bool
        Whether the columns to use were named.
    decimal : {".", ","}
    """
    place = f"{where}, column {column.name}"
    found: list[tuple[str, str, str]] = []
    if column.kind == "constant":
        found.append(("constant-column", "every row has the same value, so it is no feature", ""))
    elif column.kind == "empty":
        found.append(("empty-column", "the column is empty, so it is no feature", ""))
    elif column.kind == "unique" and asked:
        found.append(("unique-column", "every row has another short text, so it is no feature", ""))
    elif column.n_missing:
        impute = str(fields.get("impute", ""))
        filled = {"number": "the mean", "date": "the mean"}.get(column.kind, "no value")
        filled = {"": filled, "none": "no value"}.get(
            impute, f"the {impute}".replace("the own", "a")
        )
        marks = f" (written {', '.join(column.markers)})" if column.markers else ""
        what = f"{column.n_missing:,} of {len(column.values):,} cells are missing{marks}"
        found.append(("missing", f"{what}; they count as {filled}", ""))
    if column.kind in ("category", "unique", "text"):
        present = [str(value) for value in column.values if value is not None]
        is_number = np.isfinite(numbers(present, decimal))
        n_others = int((~is_number).sum())
        if 0 < n_others <= len(present) / 2:
            other = present[int(np.argmin(is_number))]
            what = f"it counts as text: {n_others:,} of {len(present):,} cells hold no number"
            found.append(("mixed-column", what, other[:60]))
    if column.kind == "category":
        n_levels = len({value for value in column.values if value is not None})
        if n_levels > MAX_CATEGORIES:
            what = f"{n_levels:,} different values; the {MAX_CATEGORIES} most frequent are used"
            found.append(("many-categories", what, ""))
    if fields.get("log") and column.kind == "number":
        lowest = np.nanmin(column.values)
        if lowest < 0:
            what = "it has negative numbers, so the logarithm is not taken"
            found.append(("log-negative", what, f"{lowest:g}"))
    return [Problem(code, place, what, value, severity="note") for code, what, value in found]
