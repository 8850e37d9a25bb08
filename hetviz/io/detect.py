"""What kind of text a table is: encoding, separator, decimal sign, header."""

from __future__ import annotations

import codecs
import csv
import io
import re
from typing import Any

from hetviz.errors import Problem
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


def decode(name: str, content: bytes, chosen: str | None, notes: list[Problem]) -> tuple[str, str]:
    """Decode bytes and say as what; `notes` tells of a guess."""
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


def rows_of(
    name: str, text: str, separator: str, limit: int | None = None
) -> list[tuple[int, Any]]:
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


def separator_of(text: str) -> str:
    """Pick the separator that splits most rows into as many cells as the first."""
    head = text[: 50 * _MAX_CELL]

    def merit(separator: str) -> tuple[bool, float, int]:
        rows = rows_of("", head, separator, _SAMPLE_ROWS)
        if not rows:
            return False, 0.0, 0
        width = len(rows[0][1])
        return width > 1, sum(len(cells) == width for _, cells in rows) / len(rows), width

    best = max(SEPARATORS, key=merit)
    return best if merit(best)[0] else ","


def decimal_of(rows: list[tuple[int, Any]], separator: str) -> str:
    """Say whether numbers are written with a point or a comma."""
    if separator == ",":
        return "."
    cells = [cell.strip() for _, row in rows[:_SAMPLE_ROWS] for cell in row]
    with_comma = sum(bool(_COMMA_NUMBER.fullmatch(cell)) for cell in cells)
    with_point = sum(bool(_POINT_NUMBER.fullmatch(cell)) for cell in cells)
    return "," if with_comma > with_point else "."


def has_header(rows: list[tuple[int, Any]]) -> bool:
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
