"""Parquet tables: budgets are checked by the footer before anything is unpacked."""

from __future__ import annotations

from typing import Any

import numpy as np

from hetviz.io import gate, limits
from hetviz.io.formats.typed_values import check_cells, columns_as_text
from hetviz.io.piece import DECIMALS, Choices, Piece, stem

_INDEX = "__index_level_"


def read_parquet(name: str, content: bytes, choices: Choices) -> list[Piece]:
    """Read one table; a column of records becomes one column for each of its fields.

    Raises
    ------
    hetviz.errors.DataError
        If it is damaged, encrypted, or larger than the budget.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(pa.BufferReader(content), pre_buffer=False)
        about = file.metadata
        groups = [about.row_group(k) for k in range(about.num_row_groups)]
        unpacked = sum(max(group.total_byte_size, 0) for group in groups)
        check_cells(name, about.num_rows, about.num_columns)
        gate.check_size(name, unpacked, limits.MAX_UNPACKED_BYTES)
        table = file.read(use_threads=False).flatten()
        check_cells(name, table.num_rows, table.num_columns)
        columns = [
            (_called(title), _values(column))
            for title, column in zip(table.column_names, table.columns, strict=True)
        ]
    except (pa.ArrowException, OSError, ValueError, TypeError, OverflowError, KeyError) as error:
        raise gate.refusal(
            "bad-parquet",
            name,
            "the Parquet file is damaged, encrypted, or of a sort that is not read",
            remedy="Save it again, or save the table as CSV.",
        ) from error
    if not columns or not table.num_rows:
        raise gate.refusal("empty-file", name, "the file holds no rows")
    frame, decimal, notes = columns_as_text(name, columns, choices)
    return [
        Piece(
            stem(name),
            name,
            None,
            frame,
            tuple(range(len(frame))),
            decimal,
            facts={"decimal sign": DECIMALS[decimal]} if decimal == "," else {},
            problems=tuple(notes),
        )
    ]


def _called(title: str) -> str:
    """Return the name of a column; pandas has a word of its own for rows without a name."""
    return "index" if title.startswith(_INDEX) else title


def _values(column: Any) -> list[object]:
    import pyarrow as pa

    if column.type in (pa.float16(), pa.float32()):
        # The shortest number that is the same in the precision that was stored.
        numbers = column.to_numpy()
        return [float(str(value)) if np.isfinite(value) else float(value) for value in numbers]
    values: list[Any] = column.to_pylist()
    return values
