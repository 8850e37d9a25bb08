"""Notes about unusable cells in number columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from hetviz._text import count
from hetviz._types import MAX_MAGNITUDE
from hetviz.errors import Problem
from hetviz.features.columns.types import Column, why_unusable
from hetviz.io.infer.parsed import Table

_MAX_CHARS = 60
# The message of one cell, of several cells, and what to do.
_MESSAGES = {
    "too large": (
        "the number is too large, so the cell counts as missing",
        "{} have numbers that are too large, so they count as missing",
        f"Give numbers up to {MAX_MAGNITUDE:g}, such as in another unit, or leave the cell empty.",
    ),
    "infinite": (
        "the number is infinite, so the cell counts as missing",
        "{} have infinite numbers, so they count as missing",
        "Give a finite number, or leave the cell empty.",
    ),
    "no number": (
        "the cell contains no number, so it counts as missing",
        "{} contain no number, so they count as missing",
        "Give a number, or leave the cell empty.",
    ),
    "failed formula": (
        "the formula of this cell failed, so the cell counts as missing",
        "{} have formulas that failed, so they count as missing",
        "Correct the formula in the spreadsheet, or leave the cell empty.",
    ),
}


def unusable_cells(
    table: Table, columns: Mapping[str, Column], rows: Sequence[int]
) -> Iterator[Problem]:
    """Yield a note for each kind of unusable cell of each column."""
    for name, column in columns.items():
        found: dict[str, list[int]] = {}
        for at in column.unusable:
            why = why_unusable(table.frame[name].iloc[rows[at]], table.decimal)
            if why is not None:
                found.setdefault(why, []).append(rows[at])
        for why, where in found.items():
            yield _note(table, where, name, why)


def unusable_cell(table: Table, row: int, column: str, text: str) -> Iterator[Problem]:
    """Yield a note if a cell of a number column is unusable."""
    if (why := why_unusable(text, table.decimal)) is not None:
        yield _note(table, [row], column, why, text)


def _note(table: Table, rows: list[int], column: str, why: str, text: str | None = None) -> Problem:
    """Return a note on cells, with the place and text of the first."""
    message, several, remedy = _MESSAGES[why]
    if text is None:
        text = table.frame[column].iloc[rows[0]]
    if len(rows) > 1:
        message = several.format(f"this and {count(len(rows) - 1, 'other cell')} of the column")
    return Problem(
        "unusable-number", table.place(rows[0], column), message, text.strip()[:_MAX_CHARS],
        remedy, "note", row=table.row[rows[0]],
    )  # fmt: skip
