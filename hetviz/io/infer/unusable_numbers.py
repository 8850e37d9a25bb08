"""Notes about unusable cells in number columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from hetviz._types import MAX_MAGNITUDE
from hetviz.errors import Problem
from hetviz.features.columns.types import Column, why_unusable
from hetviz.io.infer.parsed import Table

_MAX_CHARS = 60
_MESSAGES = {
    "too large": (
        "the number is too large, so the cell counts as missing",
        f"Give numbers up to {MAX_MAGNITUDE:g}, such as in another unit, or leave the cell empty.",
    ),
    "infinite": (
        "the number is infinite, so the cell counts as missing",
        "Give a finite number, or leave the cell empty.",
    ),
    "no number": (
        "the cell contains no number, so it counts as missing",
        "Give a number, or leave the cell empty.",
    ),
    "failed formula": (
        "the formula of this cell failed, so the cell counts as missing",
        "Correct the formula in the spreadsheet, or leave the cell empty.",
    ),
}


def unusable_cells(
    table: Table, columns: Mapping[str, Column], rows: Sequence[int]
) -> Iterator[Problem]:
    """Yield a note for each unusable cell of some columns."""
    for name, column in columns.items():
        for at in column.unusable:
            row = rows[at]
            yield from unusable_cell(table, row, name, table.frame[name].iloc[row])


def unusable_cell(table: Table, row: int, column: str, text: str) -> Iterator[Problem]:
    """Yield a note if a cell of a number column is unusable."""
    why = why_unusable(text, table.decimal)
    if why is not None:
        message, remedy = _MESSAGES[why]
        place = table.place(row, column)
        yield Problem("unusable-number", place, message, text.strip()[:_MAX_CHARS], remedy, "note",
                      row=table.row[row])  # fmt: skip
