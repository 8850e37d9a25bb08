"""Text tables: bytes to columns of text, with what was detected and what is wrong.

Cells are never interpreted here, so ids survive as they are written: ``007``, ``NA``, ``1e5``.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from hetviz.errors import DataError, Problem
from hetviz.features.columns import number
from hetviz.io import gate

SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
_SAMPLE_ROWS = 200
_MAX_CELL = 1_000_000
_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig", "UTF-8 with a mark at the start"),
    (codecs.BOM_UTF32_LE, "utf-32", "UTF-32"),
    (codecs.BOM_UTF16_LE, "utf-16", "UTF-16"),
    (codecs.BOM_UTF16_BE, "utf-16", "UTF-16"),
)
_COMMA_NUMBER = re.compile(r"[+-]?\d+,\d+")
_POINT_NUMBER = re.compile(r"[+-]?\d*\.\d+")
_HEADER_WORDS = {"id", "name", "title", "source_id", "target_id", "source", "target", "weight"}


@dataclass(frozen=True)
class Choices:
    """What the user says about a file; None leaves it to detection.

    Attributes
    ----------
    encoding, separator, decimal : str, optional
        Such as ``"latin-1"``, ``";"``, ``","``.
    header : bool, optional
        Whether the first row names the columns.
    role : {"dataset", "links", "comparisons"}, optional
    name : str, optional
        What the dataset is called.
    id, title : str, optional
        Columns.
    exclude, labels : tuple of str
        Columns that are never features; columns that are labels.
    source, target : str, optional
        Datasets that links without dataset columns join.
    """

    encoding: str | None = None
    separator: str | None = None
    decimal: str | None = None
    header: bool | None = None
    role: str | None = None
    name: str | None = None
    id: str | None = None
    title: str | None = None
    exclude: tuple[str, ...] = ()
    labels: tuple[str, ...] | None = None
    source: str | None = None
    target: str | None = None


@dataclass(frozen=True)
class TableRead:
    """A table of text, and how it was read.

    Attributes
    ----------
    name : str
        Of the file.
    frame : DataFrame
        All cells as text, "" where a cell is empty.
    row : tuple of int
        ``row[r]`` is the row of the file, from 0 and without the header, that row r came from.
    encoding, separator, decimal : str
    header : bool
    problems : tuple of Problem
        Errors about rows that were left out, and notes.
    """

    name: str
    frame: pd.DataFrame
    row: tuple[int, ...]
    encoding: str
    separator: str
    decimal: str
    header: bool
    problems: tuple[Problem, ...] = field(default=())

    @property
    def errors(self) -> list[Problem]:
        """The problems that are more than notes."""
        return [problem for problem in self.problems if problem.severity == "error"]

    def place(self, row: int, column: str = "") -> str:
        """Name a row of the frame in the user's terms."""
        return f"{self.name}, row {self.row[row] + 1}" + (f", column {column}" if column else "")


def read_table(name: str, content: bytes, choices: Choices | None = None) -> TableRead:
    """Read a table of text from bytes.

    Parameters
    ----------
    name : str
        For messages.
    content : bytes
    choices : Choices, optional
        Overrides what would be detected.

    Returns
    -------
    TableRead
        Rows with too many or too few cells are left out and listed in `problems`.

    Raises
    ------
    hetviz.errors.DataError
        If there is no table in the bytes.
    """
    choices = choices or Choices()
    kind = gate.kind_of(name, content)
    if kind != "text":
        raise gate.refusal(
            "not-a-table", name, f"a table is needed, and this is {kind.upper()}", remedy="Use CSV."
        )
    notes: list[Problem] = []
    text, encoding = _decode(name, content, choices.encoding, notes)
    separator = choices.separator or _separator(text)
    rows = _rows(name, text, separator)
    if not rows:
        raise gate.refusal("empty-file", name, "the file holds no rows")
    decimal = choices.decimal or _decimal(rows, separator)
    header = _has_header(rows) if choices.header is None else choices.header
    if header:
        body = rows[1:]
        first_row = _without_empty_end(rows[0][1], body)
        columns = _columns(name, first_row, notes)
    else:
        width = Counter(len(cells) for _, cells in rows).most_common(1)[0][0]
        columns, body = [f"column_{at + 1}" for at in range(width)], rows
        notes.append(
            Problem(
                "no-header",
                name,
                "the first row looks like data, so columns are named column_1, column_2, ...",
                remedy="Add a first row with names.",
                severity="note",
            )
        )
    first = body[0][0] if body else 0
    kept: list[list[str]] = []
    places: list[int] = []
    for line, cells in body:
        row = line - first
        while len(cells) > len(columns) and not cells[-1]:
            cells.pop()
        if len(cells) == len(columns):
            kept.append(cells)
            places.append(row)
            continue
        notes.append(
            Problem(
                "ragged-row",
                f"{name}, row {row + 1}",
                f"{len(cells)} cells, and {len(columns)} are expected",
                separator.join(cells)[:80],
                f"Check for a {SEPARATORS.get(separator, 'separator')} inside a text without "
                "quotes, or a missing cell.",
                row=row,
            )
        )
    frame = pd.DataFrame(kept, columns=columns, dtype=str)
    return TableRead(name, frame, tuple(places), encoding, separator, decimal, header, tuple(notes))


def _decode(name: str, content: bytes, chosen: str | None, notes: list[Problem]) -> tuple[str, str]:
    if chosen is not None:
        try:
            return _without_nul(name, content.decode(chosen).lstrip("\ufeff")), chosen
        except LookupError:
            raise gate.refusal("bad-encoding", name, "there is no such encoding", chosen) from None
        except UnicodeError:
            raise gate.refusal(
                "bad-encoding", name, "the text is not in this encoding", chosen
            ) from None
    for mark, codec, words in _BOMS:
        if content.startswith(mark):
            try:
                return _without_nul(name, content.decode(codec)), words
            except UnicodeError:
                raise gate.refusal("bad-encoding", name, f"this is damaged {words}") from None
    try:
        text = content.decode("utf-8")
    except UnicodeError:
        text = None
    if text is not None and "\0" not in text:
        return text, "UTF-8"
    if b"\0" in content:
        return _without_mark(name, content), "UTF-16"
    try:
        text, words = content.decode("cp1252"), "Windows-1252"
    except UnicodeError:
        text, words = content.decode("latin-1"), "Latin-1"
    notes.append(
        Problem(
            "encoding",
            name,
            f"the text is not UTF-8; it was read as {words}",
            remedy="Look at accented letters; save as UTF-8 if they are wrong.",
            severity="note",
        )
    )
    return text, words


def _without_mark(name: str, content: bytes) -> str:
    """Decode UTF-16 that does not say so: every other byte of its first letters is zero."""
    head = content[:200]
    for codec, zeros in (("utf-16-le", head[1::2]), ("utf-16-be", head[0::2])):
        if len(content) % 2 == 0 and zeros.count(0) > 0.8 * len(zeros):
            try:
                return _without_nul(name, content.decode(codec))
            except UnicodeError:
                continue
    return _without_nul(name, "\0")


def _without_nul(name: str, text: str) -> str:
    if "\0" in text:
        raise gate.refusal(
            "binary", name, "the file holds NUL bytes, so it is not text", remedy="Save it as CSV."
        )
    return text


def _rows(name: str, text: str, separator: str, limit: int | None = None) -> list[tuple[int, Any]]:
    """Return (row, cells) of every row that is not empty, counted from 0."""
    csv.field_size_limit(_MAX_CELL)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    rows: list[tuple[int, Any]] = []
    cells_so_far = 0
    count = 0
    try:
        for cells in reader:
            if not cells:
                continue
            cells_so_far += len(cells)
            if len(cells) > gate.MAX_COLUMNS:
                _too_large(name, f"{len(cells):,} columns; {gate.MAX_COLUMNS:,} are allowed")
            if count > gate.MAX_ROWS or cells_so_far > gate.MAX_CELLS:
                _too_large(name, f"more than {gate.MAX_ROWS:,} rows or {gate.MAX_CELLS:,} cells")
            if any(cells):
                rows.append((count, cells))
            count += 1
            if limit is not None and len(rows) >= limit:
                break
    except csv.Error as error:
        if limit is not None:
            return rows
        raise gate.refusal(
            "bad-quotes",
            f"{name}, near line {reader.line_num}",
            f"the table cannot be read from here ({error})",
            remedy="Look for a quotation mark that is never closed; double it inside a text.",
        ) from None
    return rows


def _too_large(name: str, what: str) -> None:
    raise gate.refusal("too-large", name, what, remedy="Give a smaller table.")


def _separator(text: str) -> str:
    """Pick the separator that splits most rows into as many cells as the first."""
    head = text[: 50 * _MAX_CELL]

    def merit(separator: str) -> tuple[bool, float, int]:
        rows = _rows("", head, separator, _SAMPLE_ROWS)
        if not rows:
            return False, 0.0, 0
        width = len(rows[0][1])
        return width > 1, sum(len(cells) == width for _, cells in rows) / len(rows), width

    best = max(SEPARATORS, key=merit)
    return best if merit(best)[0] else ","


def _decimal(rows: list[tuple[int, Any]], separator: str) -> str:
    if separator == ",":
        return "."
    cells = [cell.strip() for _, row in rows[:_SAMPLE_ROWS] for cell in row]
    with_comma = sum(bool(_COMMA_NUMBER.fullmatch(cell)) for cell in cells)
    with_point = sum(bool(_POINT_NUMBER.fullmatch(cell)) for cell in cells)
    return "," if with_comma > with_point else "."


def _has_header(rows: list[tuple[int, Any]]) -> bool:
    """Say whether the first row names columns: it does unless it looks like the rows below."""
    first = [cell.strip() for cell in rows[0][1]]
    if {cell.lower() for cell in first} & _HEADER_WORDS:
        return True
    below = [row for _, row in rows[1:_SAMPLE_ROWS] if len(row) == len(first)]
    numeric = [_is_number(cell) for cell in first]
    if not any(numeric):
        return True
    if not below:
        return not all(numeric)
    years = all(
        cell.isdigit() and 1000 <= int(cell) < 3000
        for cell, is_number in zip(first, numeric, strict=True)
        if is_number
    )
    if years and len(set(first)) == len(first) and not all(numeric):
        return True
    return not any(
        is_number and all(_is_number(row[at]) or not row[at] for row in below)
        for at, is_number in enumerate(numeric)
    )


def _is_number(cell: str) -> bool:
    return number(cell) is not None or number(cell, ",") is not None


def _without_empty_end(first: list[str], body: list[tuple[int, Any]]) -> list[str]:
    """Return the header without columns at its end that have neither a name nor a cell."""
    widest = max((_last_filled(cells) for _, cells in body), default=0)
    return first[: max(1, widest, _last_filled(first))]


def _last_filled(cells: list[str]) -> int:
    return next((at for at in range(len(cells), 0, -1) if cells[at - 1].strip()), 0)


def _columns(name: str, first: list[str], notes: list[Problem]) -> list[str]:
    columns: dict[str, None] = {}
    taken = set(first)
    copies: Counter[str] = Counter()
    for at, cell in enumerate(first):
        title = cell.strip()
        if not title:
            title = f"column_{at + 1}"
            notes.append(
                Problem(
                    "unnamed-column",
                    f"{name}, column {at + 1}",
                    f"the column has no name and is called {title}",
                    severity="note",
                )
            )
        if title in columns:
            notes.append(
                Problem(
                    "duplicate-column",
                    f"{name}, column {at + 1}",
                    "another column has this name",
                    title,
                    "Rename one of them.",
                )
            )
            plain = title
            while title in columns or title in taken:
                copies[plain] += 1
                title = f"{plain} ({copies[plain] + 1})"
        columns[title] = None
    return list(columns)


def require(read: TableRead) -> TableRead:
    """Return the table if nothing is wrong with it, else raise.

    Raises
    ------
    hetviz.errors.DataError
        Listing all errors.
    """
    if read.errors:
        raise DataError(read.errors)
    return read
