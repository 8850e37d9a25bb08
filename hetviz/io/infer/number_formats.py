"""Numbers as people write them, and cells of columns of numbers that hold none to compute with."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence

import pandas as pd

from hetviz.core.spectral.prepare import LARGEST
from hetviz.errors import Problem
from hetviz.features.columns.types import MISSING, Column, number, why_unusable
from hetviz.io.piece import TableRead

_BLANKS = " \u00a0\u2009\u202f"
_SAMPLE = 200

_SHOWN = 60
_WORDS = {
    "too large": (
        "the number is too large to compute with, and counts as missing",
        f"Give numbers up to {LARGEST:g}, such as in another unit, or leave the cell empty.",
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


def _pattern(thousands: str, decimal: str) -> re.Pattern[str]:
    grouped = rf"[1-9]\d{{0,2}}(?:[{thousands}]\d{{3}})+"
    return re.compile(
        rf"([$€£]?)[{_BLANKS}]?([+-]?)({grouped}|\d+)([{decimal}]\d+)?[{_BLANKS}]?([%$€£]?)"
    )


_PATTERNS = {".": _pattern(rf",{_BLANKS}'’", "."), ",": _pattern(rf".{_BLANKS}'’", ",")}


def plain(
    name: str, frame: pd.DataFrame, decimal: str, keep: Collection[str] = ()
) -> tuple[pd.DataFrame, list[Problem]]:
    """Write numbers with thousands, percent or currency signs as plain numbers.

    Parameters
    ----------
    name : str
        Of the file.
    frame : DataFrame
        Cells as text.
    decimal : {".", ","}
    keep : collection of str
        Columns of ids, which stay as they are, as does every column called id or ending in _id.

    Returns
    -------
    DataFrame
        With a column changed where each of its cells is such a number, missing, or of no use as a
        number (see `hetviz.features.columns.types.why_unusable`), and all of them have the same
        signs.
    list of Problem
        A note for each such column.
    """
    notes: list[Problem] = []
    changed: dict[str, pd.Series] = {}
    for column in frame.columns:
        lower = str(column).strip().lower()
        if column in keep or lower == "id" or lower.endswith("_id"):
            continue
        found = _column(frame[column].tolist(), decimal)
        if found is None:
            continue
        cells, words = found
        changed[column] = pd.Series(cells, index=frame.index, dtype=str)
        notes.append(
            Problem(
                "written-numbers",
                f"{name}, column {column}",
                f"numbers were read without their {words}",
                next(cell for cell, now in zip(frame[column], cells, strict=True) if cell != now),
                severity="note",
            )
        )
    return (frame.assign(**changed) if changed else frame), notes


def _may_stay(cell: str, decimal: str) -> bool:
    """Whether a cell among numbers is missing, or will be told of as one that cannot be used."""
    return cell.strip().lower() in MISSING or why_unusable(cell, decimal) is not None


def _column(cells: list[str], decimal: str) -> tuple[list[str], str] | None:
    """Return the cells of a column as plain numbers and what was taken off, or None."""
    pattern = _PATTERNS[decimal]
    present = [cell for cell in cells if not _may_stay(cell, decimal)]
    if not present or not all(pattern.fullmatch(cell.strip()) for cell in present[:_SAMPLE]):
        return None
    signs: set[tuple[str, str]] = set()
    grouped = False
    out: list[str] = []
    for cell in cells:
        match = pattern.fullmatch(cell.strip())
        if match is None:
            if not _may_stay(cell, decimal):
                return None
            out.append(cell)
            continue
        before, sign, whole, fraction, after = match.groups()
        signs.add((before, after))
        digits = re.sub(r"\D", "", whole)
        grouped |= digits != whole
        out.append(sign + digits + (fraction or ""))
    if len(signs) > 1 or not (grouped or any(map(any, signs))):
        return None
    if any(number(now, decimal) is None for now in out if not _may_stay(now, decimal)):
        return None
    (before, after) = next(iter(signs))
    words = [f"{before or after} sign"] if before or after else []
    return out, " and ".join([*words, *["thousands signs"] * grouped])


def unusable_cells(
    read: TableRead, columns: Mapping[str, Column], rows: Sequence[int]
) -> Iterator[Problem]:
    """Tell of the cells that `hetviz.features.columns.types.infer` found unusable.

    Parameters
    ----------
    read : TableRead
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
            yield from unusable_cell(read, row, name, read.frame[name].iloc[row])


def unusable_cell(read: TableRead, row: int, column: str, text: str) -> Iterator[Problem]:
    """Tell of a cell of a column of numbers, where it is unusable."""
    why = why_unusable(text, read.decimal)
    if why is not None:
        what, remedy = _WORDS[why]
        place = read.place(row, column)
        yield Problem("unusable-number", place, what, text.strip()[:_SHOWN], remedy, "note",
                      row=read.row[row])  # fmt: skip
