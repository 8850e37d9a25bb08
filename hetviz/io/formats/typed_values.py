"""Typed values (Parquet, JSON, workbooks) as text cells."""

from __future__ import annotations

import datetime as dt
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from hetviz._pandas import TEXT
from hetviz._text import count
from hetviz.errors import Problem
from hetviz.io import gate, limits
from hetviz.io.infer import dialect
from hetviz.io.infer.column_names import unique_column_names
from hetviz.io.infer.column_rows import as_series
from hetviz.io.infer.parsed import DECIMALS, Cells, Choices, Table

if TYPE_CHECKING:
    import pyarrow as pa

_SAMPLE = 2_000
# Error values of spreadsheet formulas.
FORMULA_ERRORS = frozenset(
    {"#N/A", "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#NULL!", "#SPILL!", "#CALC!"}
)


def to_cell(value: object, decimal: str = ".") -> str:
    """Return a value as the text of a cell; missing values and bytes are ""."""
    if value is None or value is pd.NaT:
        return ""
    if isinstance(value, str):
        return _clean(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return "" if math.isnan(value) else _with_decimal_sign(repr(value), decimal)
    if isinstance(value, int):
        return str(value)
    if isinstance(value, Decimal):
        return "" if value.is_nan() else _with_decimal_sign(str(value), decimal)
    if isinstance(value, (dt.date, dt.time)):
        return _moment(value)
    if isinstance(value, dt.timedelta):
        return _with_decimal_sign(repr(value.total_seconds()), decimal)
    if isinstance(value, (list, tuple)):
        if any(isinstance(part, (list, tuple, Mapping)) for part in value):
            return _clean(json.dumps(value, default=str, ensure_ascii=False))
        return "; ".join(filter(None, (to_cell(part, decimal) for part in value)))
    if isinstance(value, Mapping):
        return _clean(json.dumps(value, default=str, ensure_ascii=False))
    return ""


def _to_cells(values: Sequence[object], decimal: str) -> Sequence[object]:
    """Return values as the texts of cells, quickly where all are of one common type."""
    kinds = set(map(type, values))
    if kinds == {int}:
        return list(map(str, values))
    if kinds == {float} and decimal == "." and not np.isnan(values).any():  # type: ignore[arg-type]
        return list(map(repr, values))
    if kinds == {str} and (text := "".join(values)).isascii() and "\0" not in text:  # type: ignore[arg-type]
        return values
    return [to_cell(value, decimal) for value in values]


def table_of_values(
    dataset_name: str,
    where: str,
    columns: Sequence[tuple[str, Sequence[object]]],
    row: Sequence[int],
    choices: Choices,
    problems: Sequence[Problem],
) -> Table:
    """Return columns of values as a table of text."""
    notes = [*problems]
    names = unique_column_names(where, [_clean(name) for name, _ in columns], notes)
    decimal = choices.decimal or decimal_among(values for _, values in columns)
    out: dict[str, pd.Series] = {}
    for name, (_, values) in zip(names, columns, strict=True):
        out[name] = pd.Series(_to_cells(values, decimal), dtype=TEXT)
        notes += _cell_notes(f"{where}, column {name}", values)
    return _table(dataset_name, where, out, tuple(row), decimal, notes, None)


def table_of_arrow(dataset_name: str, where: str, table: pa.Table, choices: Choices) -> Table:
    """Return an Arrow table as a table of text."""
    import pyarrow as pa

    notes: list[Problem] = []
    names = unique_column_names(where, [_clean(name) for name in table.column_names], notes)
    columns = dict(zip(names, table.columns, strict=True))
    words = tuple(name for name, column in columns.items() if _is_text(column.type))
    decimal = choices.decimal or decimal_among(
        columns[name].slice(0, _SAMPLE).to_pylist() for name in words
    )
    out: dict[str, pd.Series] = {}
    for name, column in columns.items():
        texts = _arrow_texts(column, decimal, f"{where}, column {name}", notes)
        out[name] = as_series(texts.cast(pa.large_string()))
    return _table(dataset_name, where, out, range(table.num_rows), decimal, notes, words)


def _table(
    dataset_name: str,
    where: str,
    columns: Mapping[str, pd.Series],
    row: Sequence[int],
    decimal: str,
    notes: Sequence[Problem],
    words: tuple[str, ...] | None,
) -> Table:
    return Table(
        dataset_name,
        where,
        frame=pd.DataFrame(columns),
        row=row,
        decimal=decimal,
        facts={"decimal sign": DECIMALS[decimal]} if decimal == "," else {},
        problems=tuple(notes),
        cells=Cells(words=words),
    )


def text_bytes(column: pa.ChunkedArray) -> int:
    """Return the total text length of a dictionary-encoded Arrow column, in bytes."""
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.types as types

    n_bytes = 0
    for chunk in column.chunks:
        inner = chunk
        while types.is_list(inner.type) or types.is_large_list(inner.type):
            inner = inner.flatten()
        if not types.is_dictionary(inner.type) or not _has_length(inner.type.value_type):
            continue
        lengths = pc.binary_length(inner.dictionary).take(inner.indices)
        n_bytes += pc.sum(lengths.cast(pa.int64())).as_py() or 0
    return n_bytes


def _has_length(kind: object) -> bool:
    import pyarrow.types as types

    return _is_text(kind) or types.is_binary(kind) or types.is_large_binary(kind)


def _is_text(kind: pa.DataType) -> bool:
    import pyarrow.types as types

    if types.is_dictionary(kind):
        kind = kind.value_type
    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


def _arrow_texts(
    column: pa.ChunkedArray, decimal: str, where: str, notes: list[Problem]
) -> pa.ChunkedArray:
    """Return an Arrow column as text cells, as `to_cell` writes them."""
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.types as types

    if types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    kind = column.type
    if _is_text(kind):
        column.validate(full=True)
        texts = column.cast(pa.large_string())
        if pc.any(pc.match_substring(texts, "\0")).as_py():
            texts = pc.replace_substring(texts, "\0", "")
        failed = pc.sum(
            pc.is_in(texts, pa.array(sorted(FORMULA_ERRORS), pa.large_string()))
        ).as_py()
        notes += _formula_error_notes(where, failed or 0)
    elif types.is_binary(kind) or types.is_large_binary(kind) or types.is_fixed_size_binary(kind):
        notes += _binary_notes(where, len(column) - column.null_count)
        texts = pa.nulls(len(column), pa.large_string())
    elif types.is_floating(kind):
        number = pc.if_else(pc.is_nan(column), None, column)
        texts = _with_sign(number.cast(pa.large_string()), decimal)
    elif types.is_decimal(kind):
        texts = _with_sign(column.cast(pa.string()), decimal)
    elif types.is_timestamp(kind):
        texts = _arrow_moments(column)
    elif types.is_boolean(kind) or types.is_integer(kind) or types.is_date(kind):
        texts = column.cast(pa.date32() if types.is_date(kind) else kind).cast(pa.string())
    else:
        texts = pa.chunked_array(
            [pa.array([to_cell(value, decimal) for value in column.to_pylist()], pa.large_string())]
        )
    return pc.fill_null(texts, "")


def _with_sign(texts: pa.ChunkedArray, decimal: str) -> pa.ChunkedArray:
    import pyarrow.compute as pc

    return texts if decimal == "." else pc.replace_substring(texts, ".", decimal)


def _arrow_moments(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return timestamps as text: only the date at midnight, fractions only if present."""
    import pyarrow as pa
    import pyarrow.compute as pc

    zone = column.type.tz
    plain = column.cast(pa.timestamp(column.type.unit))
    seconds = pc.floor_temporal(plain, unit="second")
    if pc.all(pc.equal(seconds, plain)).as_py() is not False:
        plain = seconds.cast(pa.timestamp("s"))
    texts = plain.cast(pa.large_string())
    if zone is not None:
        # All three must have the same type.
        zulu, nothing = (pa.scalar(text, pa.large_string()) for text in ("Z", ""))
        return pc.binary_join_element_wise(texts, zulu, nothing)
    midnight = pc.equal(pc.floor_temporal(plain, unit="day"), plain)
    return pc.if_else(midnight, pc.utf8_slice_codeunits(texts, 0, 10), texts)


def decimal_among(columns: Iterable[Sequence[object]]) -> str:
    """Return the decimal sign of numbers stored as text."""
    texts = [value for values in columns for value in values[:_SAMPLE] if isinstance(value, str)]
    return dialect.decimal_of([(0, texts)], ";")


def check_cells(where: str, n_rows: int, n_columns: int, n_cells: int | None = None) -> None:
    """Raise an error for too many rows, columns or cells."""
    n_cells = n_rows * n_columns if n_cells is None else n_cells
    for n, limit, unit in (
        (n_rows, limits.MAX_ROWS, "rows"),
        (n_columns, limits.MAX_COLUMNS, "columns"),
        (n_cells, limits.MAX_TYPED_CELLS, "cells"),
    ):
        gate.check_count(where, n, limit, unit)


def _with_decimal_sign(text: str, decimal: str) -> str:
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
    """Remove NUL characters and surrogates."""
    if "\0" in text:
        text = text.replace("\0", "")
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def _cell_notes(where: str, values: Sequence[object]) -> list[Problem]:
    kinds = set(map(type, values))
    if not any(issubclass(kind, (bytes, str)) for kind in kinds):
        return []
    binary = sum(isinstance(value, bytes) for value in values)
    failed = sum(isinstance(value, str) and value in FORMULA_ERRORS for value in values)
    return [*_binary_notes(where, binary), *_formula_error_notes(where, failed)]


def _binary_notes(where: str, n: int) -> list[Problem]:
    message = f"{count(n, 'cell')} with bytes instead of text treated as missing"
    return [Problem("binary-cells", where, message, severity="note")] if n else []


def _formula_error_notes(where: str, n: int) -> list[Problem]:
    message = f"{count(n, 'cell')} with a formula error such as #N/A treated as missing"
    return [Problem("formula-error", where, message, severity="note")] if n else []
