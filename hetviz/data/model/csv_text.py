"""CSV text of a table for fingerprints, byte-identical to pandas."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from hetviz._types import Array

if TYPE_CHECKING:
    import pyarrow as pa

# For smaller tables pandas is faster than importing Arrow.
_MIN_ARROW_CELLS = 20_000
# Range in which Arrow and Python print fractions equally.
_PLAIN_RANGE = 1e-4, 1e10
_MAX_WHOLE = 1e15
_NEEDS_QUOTES = '[,"\r\n]'


def csv_of(table: pd.DataFrame) -> bytes:
    """Return ``table.to_csv(index=False)`` in UTF-8, by Arrow (five times as fast) if possible."""
    written = _by_arrow(table) if table.size >= _MIN_ARROW_CELLS and table.shape[1] > 1 else None
    return table.to_csv(index=False).encode() if written is None else written


def _by_arrow(table: pd.DataFrame) -> bytes | None:
    """Return the text, or None if a column has neither numbers nor text."""
    columns = []
    for at in range(table.shape[1]):
        column = table.iloc[:, at]
        if column.dtype == np.float64:
            columns.append(_reals(column.to_numpy()))
        elif column.dtype == np.int64:
            columns.append(_integers(column.to_numpy()))
        elif isinstance(column.dtype, pd.StringDtype):
            columns.append(_texts(column))
        else:
            return None
    columns[-1] = _join_texts(columns[-1], "\n")
    rows = _join_texts(*columns, between=",")
    return table.iloc[:0].to_csv(index=False).encode() + _content(rows)


def _integers(values: Array) -> pa.Array:
    import pyarrow as pa

    return pa.array(values).cast(pa.large_string())


def _reals(values: Array) -> pa.Array:
    """Return numbers as `repr` prints them; missing values are empty."""
    import pyarrow as pa
    import pyarrow.compute as pc

    size = np.abs(values)
    whole = (
        (values == np.rint(values)) & (size < _MAX_WHOLE) & ~((values == 0) & np.signbit(values))
    )
    plain = ~whole & (size >= _PLAIN_RANGE[0]) & (size < _PLAIN_RANGE[1])
    gap = np.isnan(values)
    is_other = ~whole & ~plain & ~gap
    text = pa.array(values).cast(pa.large_string())
    if whole.any():
        whole_texts = _integers(values[whole].astype(np.int64))
        text = pc.replace_with_mask(text, whole, _join_texts(whole_texts, ".0"))
    if is_other.any():
        others = pa.array(list(map(repr, values[is_other].tolist())), pa.large_string())
        text = pc.replace_with_mask(text, is_other, others)
    return pc.replace_with_mask(text, gap, pa.scalar("", pa.large_string()))


def _texts(column: pd.Series) -> pa.Array:
    """Return texts, quoted where CSV needs it; missing values are empty."""
    import pyarrow as pa
    import pyarrow.compute as pc

    text = pa.array(column, pa.large_string())
    if isinstance(text, pa.ChunkedArray):
        text = text.combine_chunks()
    text = pc.fill_null(text, "")
    special = pc.match_substring_regex(text, _NEEDS_QUOTES)
    if pc.any(special).as_py():
        quoted = [_quoted(value) for value in text.filter(special).to_pylist()]
        text = pc.replace_with_mask(text, special, pa.array(quoted, pa.large_string()))
    return text


def _quoted(text: str) -> str:
    line = io.StringIO()
    # Two fields, because a line of one field is quoted differently.
    csv.writer(line, lineterminator="\n").writerow([text, ""])
    return line.getvalue()[: -len(",\n")]


def _join_texts(*parts: pa.Array | str, between: str = "") -> pa.Array:
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = pa.large_string()
    texts = [pa.scalar(part, kind) if isinstance(part, str) else part for part in parts]
    return pc.binary_join_element_wise(*texts, pa.scalar(between, kind))


def _content(rows: pa.Array | pa.ChunkedArray) -> bytes:
    import pyarrow as pa

    whole = pa.concat_arrays(rows.chunks) if isinstance(rows, pa.ChunkedArray) else rows
    ends = np.frombuffer(whole.buffers()[1], np.int64)
    first, last = ends[whole.offset], ends[whole.offset + len(whole)]
    return bytes(memoryview(whole.buffers()[2])[first:last])
