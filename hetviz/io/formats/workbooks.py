"""Excel workbooks: one table a sheet, its cells as they are stored."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from hetviz.errors import DataError, Problem
from hetviz.io import gate, limits
from hetviz.io.files import Archive
from hetviz.io.formats.delimited import shaped
from hetviz.io.formats.typed_values import FAILED, cell, decimal_among
from hetviz.io.infer import dialect
from hetviz.io.piece import DECIMALS, Choices, Piece, TableRead, piece_of, stem

_MOST_ROWS = 1_048_576
# Below so many empty rows nothing belongs to the table any more.
_GAP = 1_000
_CODECS = ("ascii", "utf-16-le", "utf-16-be")
_EMPTY = pd.DataFrame()
_DOCTYPE = ("<!DOCTYPE", "<!ENTITY")
_NOT_STORED = re.compile(rb"<f[^>]*>[^<]*</f>\s*(?:</c>|<v\s*/>|<v></v>)")
_PLAIN_TITLE = re.compile(r"(sheet|table|tabelle|blatt|feuil|feuille|hoja|foglio)\s*\d*", re.I)


def read_workbook(name: str, content: bytes, choices: Choices) -> list[Piece]:
    """Read the sheets of a workbook, or the one that the user names.

    Rows above the names of the columns, columns that are empty, and cells far from the table are
    passed over. Of a formula the value is read that was last stored.

    Returns
    -------
    list of Piece
        One for each sheet that holds a table. Messages number rows as the sheet does.

    Raises
    ------
    hetviz.errors.DataError
        If the file is damaged or encrypted, has a document type, is larger than the budget, or
        holds no table.
    """
    unstored = _checked(name, content)
    sheets, notes = _sheets(name, content, choices)
    if unstored:
        what = f"{unstored:,} formulas have no stored value, and their cells are empty"
        remedy = "Open it in a spreadsheet program and save it again."
        notes.append(Problem("no-values", name, what, "", remedy, severity="note"))
    pieces: list[Piece] = []
    refused: list[Problem] = []
    for place, (title, rows) in enumerate(sheets):
        where = name if len(sheets) == 1 else f"{name}, sheet {title}"
        facts = {"sheet": title if len(sheets) == 1 else f"{title} ({place + 1} of {len(sheets)})"}
        called = stem(name) if len(sheets) == 1 or _PLAIN_TITLE.fullmatch(title) else title
        if called != title and len(sheets) > 1:
            called = f"{called} {title}"
        try:
            pieces.append(piece_of(called, _table(where, rows, choices, facts)))
        except DataError as error:
            refused += error.problems
    if not pieces:
        raise DataError([*refused, *notes] if refused else [_no_table(name), *notes])
    first = pieces[0]
    told = (*first.problems, *notes, *refused)
    return [replace(first, problems=told), *pieces[1:]]


def _no_table(name: str) -> Problem:
    remedy = "Give a sheet with names of columns and rows below them."
    return Problem("no-tables", name, "no sheet holds a table", "", remedy)


def _checked(name: str, content: bytes) -> int:
    """Refuse what must not be unpacked or parsed; return how many formulas have no value."""
    archive = Archive(name, content)
    unstored = 0
    for member in archive.names():
        if not member.endswith((".xml", ".rels", ".vml")):
            continue
        text = archive.read(member)
        if any(mark.encode(codec) in text for mark in _DOCTYPE for codec in _CODECS):
            raise gate.refusal(
                "document-type",
                f"{name}, {member}",
                "it declares a document type, which may pull in other files or grow without end",
                remedy="Save it again with a spreadsheet program.",
            )
        if member.startswith("xl/worksheets/") and b"<f" in text:
            unstored += len(_NOT_STORED.findall(text))
    return unstored


def _sheets(
    name: str, content: bytes, choices: Choices
) -> tuple[list[tuple[str, list[tuple[int, list[object]]]]], list[Problem]]:
    """Return (title, rows with something in them) of each sheet to be read, and notes."""
    import openpyxl

    if not openpyxl.DEFUSEDXML:
        raise gate.refusal(
            "no-defusedxml",
            name,
            "workbooks are not read while the package defusedxml is missing or switched off",
            remedy="Install it, or save the table as CSV.",
        )
    notes: list[Problem] = []
    found: list[tuple[str, list[tuple[int, list[Any]]]]] = []
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            book = openpyxl.load_workbook(
                io.BytesIO(content), read_only=True, data_only=True, keep_links=False
            )
        titles = [sheet.title for sheet in book.worksheets]
        if choices.sheet is not None and choices.sheet not in titles:
            there = f"There are: {', '.join(titles[:20])}."
            raise gate.refusal(
                "unknown-sheet", name, "there is no such sheet", choices.sheet, there
            )
        for sheet in book.worksheets:
            where = f"{name}, sheet {sheet.title}"
            if choices.sheet not in (None, sheet.title):
                continue
            if choices.sheet is None and sheet.sheet_state != "visible":
                notes.append(_passed_over(where, "the sheet is hidden, and passed over"))
                continue
            sheet.reset_dimensions()
            rows = list(_rows(where, sheet, notes))
            if _width(rows) < 2 and choices.sheet is None and len(titles) > 1:
                what = "the sheet holds no table of several columns, and is passed over"
                notes.append(_passed_over(where, what))
            elif rows:
                found.append((sheet.title, rows))
    except (DataError, MemoryError):
        raise
    except Exception as error:
        # What a damaged workbook makes the library raise is without end.
        raise gate.refusal(
            "bad-workbook",
            name,
            "the workbook is damaged, or holds something that is not understood",
            remedy="Open it in a spreadsheet program and save it again, or save the table as CSV.",
        ) from error
    return found, notes


def _passed_over(where: str, what: str) -> Problem:
    remedy = "Name it under Read a file in another way to read it."
    return Problem("sheet-passed-over", where, what, "", remedy, severity="note")


def _rows(where: str, sheet: Any, notes: list[Problem]) -> Iterator[tuple[int, list[object]]]:
    """Yield (row of the sheet, from 0; cells) of the rows that hold something."""
    n_cells, last = 0, -1
    for at, row in enumerate(sheet.iter_rows(values_only=True)):
        cells = list(row)
        while cells and (cells[-1] is None or cells[-1] == ""):
            cells.pop()
        if at >= _MOST_ROWS or (last >= 0 and at - last > _GAP):
            if cells or at >= _MOST_ROWS:
                what = f"cells far below the table, from row {at + 1} on, are passed over"
                notes.append(Problem("far-cells", where, what, severity="note"))
                return
            continue
        if not cells:
            continue
        n_cells += len(cells)
        if n_cells > limits.MAX_TYPED_CELLS:
            what = f"more than {limits.MAX_TYPED_CELLS:,} cells"
            raise gate.refusal("too-large", where, what, remedy="Give a smaller table.")
        last = at
        yield at, cells


def _width(rows: Sequence[tuple[int, list[object]]]) -> int:
    return max((sum(c is not None for c in cells) for _, cells in rows), default=0)


def _table(
    where: str, rows: list[tuple[int, list[object]]], choices: Choices, facts: dict[str, str]
) -> TableRead:
    """Return the table of a sheet: the columns that have a name, or something below it."""
    decimal = choices.decimal or decimal_among([cells for _, cells in rows[:500]])
    notes: list[Problem] = []
    failed = sum(value in FAILED for _, cells in rows for value in cells if isinstance(value, str))
    if failed:
        what = f"{failed:,} cells hold the error of a formula, such as #N/A, and count as missing"
        notes.append(Problem("formula-error", where, what, severity="note"))
    texts = [(line, [_as_text(value, decimal) for value in cells]) for line, cells in rows]
    above = (
        dialect.rows_above(texts)
        if choices.skip is None
        else sum(line < choices.skip for line, _ in texts)
    )
    texts, spare = _trimmed(texts, above)
    if spare:
        what = f"{spare:,} cells beside the table, under no name, are passed over"
        notes.append(Problem("cells-beside", where, what, severity="note"))
    if decimal == ",":
        facts["decimal sign"] = DECIMALS[decimal]
    read = TableRead(where, _EMPTY, (), "", "", decimal, True, tuple(notes), facts)
    return shaped(read, texts, choices, by_file=True)


def _as_text(value: object, decimal: str) -> str:
    if isinstance(value, str) and value in FAILED:
        return ""
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        # A workbook does not tell 7 from 7.0, and ids are often numbers.
        return str(int(value))
    return cell(value, decimal)


def _trimmed(
    texts: list[tuple[int, list[str]]], above: int
) -> tuple[list[tuple[int, list[str]]], int]:
    """Return rows of the columns that belong to the table, all of one width; and what is lost."""
    head = texts[above][1] if above < len(texts) else []
    named = [at for at, text in enumerate(head) if text.strip()]
    if not named:
        return texts, 0
    filled: dict[int, int] = {}
    for _, cells in texts[above + 1 :]:
        for at, text in enumerate(cells):
            if text:
                filled[at] = filled.get(at, 0) + 1
    # A column without a name between or beside named ones counts where it is mostly filled.
    half = (len(texts) - above - 1) / 2
    kept = [
        at
        for at in range(max([*named, *filled]) + 1)
        if at in named or (filled.get(at, 0) > half and at <= named[-1] + 1)
    ]
    spare = sum(n for at, n in filled.items() if at not in set(kept))
    rows = [
        (line, cells if k < above else [cells[at] if at < len(cells) else "" for at in kept])
        for k, (line, cells) in enumerate(texts)
    ]
    return [(line, cells) for line, cells in rows if any(cells)], spare
