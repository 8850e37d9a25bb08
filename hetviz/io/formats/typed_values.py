"""Values of formats that have types (Parquet, JSON, workbooks) as cells of text."""

from __future__ import annotations

import datetime as dt
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal

import pandas as pd

from hetviz.errors import Problem
from hetviz.io import gate, limits
from hetviz.io.formats.delimited import column_names, kept_as_written
from hetviz.io.infer import dialect, number_formats
from hetviz.io.piece import Choices

_SAMPLE = 2_000
# What a spreadsheet shows where a formula failed.
FAILED = frozenset(
    {"#N/A", "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#NULL!", "#SPILL!", "#CALC!"}
)


def cell(value: object, decimal: str = ".") -> str:
    """Write a value as a cell.

    Nothing becomes "", numbers are written so that they read back the same, dates as
    year-month-day, lists as ``"a; b"``. NaN and bytes are nothing.
    """
    if value is None or value is pd.NaT:
        return ""
    if isinstance(value, str):
        return _clean(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return "" if math.isnan(value) else _signed(repr(value), decimal)
    if isinstance(value, int):
        return str(value)
    if isinstance(value, Decimal):
        return "" if value.is_nan() else _signed(str(value), decimal)
    if isinstance(value, (dt.date, dt.time)):
        return _moment(value)
    if isinstance(value, dt.timedelta):
        return _signed(repr(value.total_seconds()), decimal)
    if isinstance(value, (list, tuple)):
        if any(isinstance(part, (list, tuple, Mapping)) for part in value):
            return _clean(json.dumps(value, default=str, ensure_ascii=False))
        return "; ".join(filter(None, (cell(part, decimal) for part in value)))
    if isinstance(value, Mapping):
        return _clean(json.dumps(value, default=str, ensure_ascii=False))
    return ""


def columns_as_text(
    where: str, columns: Sequence[tuple[str, Sequence[object]]], choices: Choices
) -> tuple[pd.DataFrame, str, list[Problem]]:
    """Turn columns of values into a table of text.

    Parameters
    ----------
    where : str
        For messages.
    columns : sequence of (name, values)
    choices : Choices

    Returns
    -------
    DataFrame
    str
        The decimal sign of its numbers.
    list of Problem
        Notes on what was renamed or is not there any more.
    """
    notes: list[Problem] = []
    names = column_names(where, [_clean(name) for name, _ in columns], notes)
    decimal = choices.decimal or decimal_among(values for _, values in columns)
    out: dict[str, pd.Series] = {}
    for name, (_, values) in zip(names, columns, strict=True):
        texts = [cell(value, decimal) for value in values]
        notes += _lost(f"{where}, column {name}", values)
        out[name] = pd.Series(texts, dtype=str)
    frame = pd.DataFrame(out)
    frame, told = number_formats.plain(where, frame, decimal, kept_as_written(choices, frame))
    return frame, decimal, [*notes, *told]


def decimal_among(columns: Iterable[Sequence[object]]) -> str:
    """Return the decimal sign of numbers that are kept as text, if there are any."""
    texts = [value for values in columns for value in values[:_SAMPLE] if isinstance(value, str)]
    return dialect.decimal_of([(0, texts)], ";")


def check_cells(where: str, n_rows: int, n_columns: int) -> None:
    """Refuse a table of more rows, columns or cells than are read."""
    for n, limit, what in (
        (n_rows, limits.MAX_ROWS, "rows"),
        (n_columns, limits.MAX_COLUMNS, "columns"),
        (n_rows * n_columns, limits.MAX_TYPED_CELLS, "cells"),
    ):
        if n > limit:
            raise gate.refusal(
                "too-large",
                where,
                f"{n:,} {what}; {limit:,} are allowed",
                remedy="Give fewer rows or columns.",
            )


def _signed(text: str, decimal: str) -> str:
    return text if decimal == "." else text.replace(".", decimal)


def _moment(value: dt.date | dt.time) -> str:
    if not isinstance(value, dt.datetime):
        return value.isoformat()
    zone = ""
    if value.tzinfo is not None:
        try:
            value, zone = value.astimezone(dt.UTC).replace(tzinfo=None), "Z"
        except (OverflowError, ValueError):
            value = value.replace(tzinfo=None)
    if value.time() == dt.time.min and not zone:
        return value.date().isoformat()
    return value.isoformat(" ") + zone


def _clean(text: str) -> str:
    """Take out what no file of text can hold: NUL and halves of letters."""
    if "\0" in text:
        text = text.replace("\0", "")
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def _lost(where: str, values: Sequence[object]) -> list[Problem]:
    notes = []
    binary = sum(isinstance(value, bytes) for value in values)
    if binary:
        what = f"{binary:,} cells hold bytes, not text, and count as missing"
        notes.append(Problem("binary-cells", where, what, severity="note"))
    failed = sum(isinstance(value, str) and value in FAILED for value in values)
    if failed:
        what = f"{failed:,} cells hold the error of a formula, such as #N/A"
        notes.append(Problem("formula-error", where, what, severity="note"))
    return notes
