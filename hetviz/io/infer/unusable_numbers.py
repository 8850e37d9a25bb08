"""Cells of columns of numbers that hold none to compute with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from hetviz._types import MAX_MAGNITUDE
from hetviz.errors import Problem
from hetviz.features.columns.types import Column, why_unusable
from hetviz.io.parsed import TableRead

_MAX_CHARS = 60
_MESSAGES = {
    "too large": (
        "the number is too large to compute with, and counts as missing",
        f"Give numbers up to {MAX_MAGNITUDE:g}, such as in another unit, or leave the cell empty.",
    ),
    "infinite": (
        "infinity is no number to compute with, and counts as missing",
        "Give the number that is meant, or leave the cell empty.",
    ),
    "no number": (
        "the cell says that there is no number, and counts as missing",
        "Give a number, or leave the cell empty.",
    ),
    "failed formula": (
        "the formula of this cell failed, and it counts as missing",
        "Mend the formula in the spreadsheet, or leave the cell empty.",
    ),
}


def unusable_cells(
    table: TableRead, columns: Mapping[str, Column], rows: Sequence[int]
) -> Iterator[Problem]:
    """Tell of the cells that `hetviz.features.columns.types.infer` found unusable.

    Parameters
    ----------
    table : TableRead
    columns : mapping of str to Column
        What the columns hold in some rows of the table.
    rows : sequence of int
        Which rows of the table those are.

    Yields
    ------
    Problem
        A note for each such cell.
    """
    for name, column in columns.items():
        for at in column.unusable:
            row = rows[at]
            yield from unusable_cell(table, row, name, table.frame[name].iloc[row])


def unusable_cell(table: TableRead, row: int, column: str, text: str) -> Iterator[Problem]:
    """Tell of a cell of a column of numbers, where it is unusable."""
    why = why_unusable(text, table.decimal)
    if why is not None:
        message, remedy = _MESSAGES[why]
        place = table.place(row, column)
        yield Problem("unusable-number", place, message, text.strip()[:_MAX_CHARS], remedy, "note",
                      row=table.row[row])  # fmt: skip
