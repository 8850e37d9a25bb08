"""Excel (XLSX, XLS, XLSB) and OpenDocument (ODS) workbooks, one table per sheet."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice, pairwise, zip_longest
from typing import TYPE_CHECKING, cast

import numpy as np

from hetviz._text import count
from hetviz._types import Ints
from hetviz.errors import DataError, Problem
from hetviz.io import gate, limits
from hetviz.io.files import Archive
from hetviz.io.formats.base import FileFormat
from hetviz.io.formats.typed_values import FORMULA_ERRORS, check_cells, decimal_among, to_cell
from hetviz.io.infer.column_rows import ColumnRows
from hetviz.io.infer.parsed import DECIMALS, Cells, Choices, Table, TextRow, stem

if TYPE_CHECKING:
    from openpyxl.worksheet._read_only import ReadOnlyWorksheet

_OLE_START = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ODS_TYPE = b"application/vnd.oasis.opendocument.spreadsheet"
_MAX_SHEET_ROWS = 1_048_576
# Cells below more empty rows do not belong to the table.
_MAX_EMPTY_ROWS = 1_000
_CODECS = ("ascii", "utf-16-le", "utf-16-be")
_DOCTYPE = ("<!DOCTYPE", "<!ENTITY")
_NOT_STORED = re.compile(rb"<f[^>]*>[^<]*</f>\s*(?:</c>|<v\s*/>|<v></v>)")
_AS_TEXT = "Save the sheet as CSV or Parquet: those are read at this size."
# Rows with cells that a filter or a person has hidden.
_HIDDEN_ROW = re.compile(rb'<row\b[^>]*\bhidden="(?:1|true)"(?:[^>]*[^/>])?>\s*<c\b')
_HIDDEN_ODS_ROW = re.compile(
    rb'<table:table-row\b[^>]*table:visibility="(?:filter|collapse)"(?:[^>]*[^/>])?>'
)
_SHARED_TEXTS = "xl/sharedStrings.xml"
_SHARED = re.compile(rb"<si[\s>/]")
_SHARED_CELL = re.compile(rb'<c\b[^>]*\bt="s"[^>]*>\s*<v>(\d{1,9})</v>')
_FAILED_CELL = b' t="e"'
_ROW = re.compile(rb'<row [^>]*?\br="(\d{1,9})"')
_LETTERS = bytes(range(ord("Z"), ord("A") - 1, -1))
# Maximum ratio of the bounding rectangle to the stored cells; above it a sheet is sparse.
_MAX_AREA_RATIO = 50
_SMALL_AREA = 5_000_000
# Sparse cells are read one by one, ten times slower.
_MAX_SPARSE_CELLS = 1_000_000
_PLAIN_TITLE = re.compile(r"(sheet|table|tabelle|blatt|feuil|feuille|hoja|foglio)\s*\d*", re.I)

# Above this number of rows, column-wise storage is better.
_MAX_ROW_WISE_ROWS = 20_000
_MAX_EXACT_INTEGER = 2**53
_CHUNK = 10_000
# Title, whether it is hidden, and a function that yields (row of the sheet from 0, cells).
_Sheet = tuple[str, bool, Callable[[], Iterable[tuple[int, Sequence[object]]]]]
# Title, decimal sign and cells as text.
_SheetRows = tuple[str, str, list[TextRow] | ColumnRows]


def read_workbook(name: str, content: bytes, choices: Choices) -> list[Table]:
    """Read the cells of the sheets of a workbook, or of the chosen one."""
    checked = _check_parts(name, content)
    sheets, notes = _sheets(name, content, choices, in_stream=checked.is_sparse)
    if checked.n_unstored:
        message = f"{count(checked.n_unstored, 'formula')} without a stored value treated as empty"
        remedy = "Open it in a spreadsheet program and save it again."
        notes.append(Problem("no-values", name, message, "", remedy, severity="note"))
    if checked.n_failed:
        cells = count(checked.n_failed, "cell")
        message = f"{cells} with a formula error such as #N/A treated as missing"
        notes.append(Problem("formula-error", name, message, severity="note"))
    if checked.has_hidden_rows:
        message = "some rows are hidden or filtered in the spreadsheet, and are read too"
        remedy = "To leave them out, delete them or copy the visible rows to a new sheet."
        notes.append(Problem("hidden-rows", name, message, "", remedy, severity="note"))
    if not sheets:
        raise DataError([_no_table_problem(name), *notes])
    tables: list[Table] = []
    for place, (title, decimal, rows) in enumerate(sheets):
        is_only = len(sheets) == 1
        facts = {"sheet": title if is_only else f"{title} ({place + 1} of {len(sheets)})"}
        facts |= {"decimal sign": DECIMALS[decimal]} if decimal == "," else {}
        dataset_name = stem(name) if is_only or _PLAIN_TITLE.fullmatch(title) else title
        if dataset_name != title and not is_only:
            dataset_name = f"{dataset_name} {title}"
        tables.append(
            Table(
                dataset_name,
                name if is_only else f"{name}, sheet {title}",
                decimal=decimal,
                facts=facts,
                problems=() if tables else tuple(notes),
                cells=Cells(rows, is_sheet=True),
            )
        )
    return tables


def _no_table_problem(name: str) -> Problem:
    remedy = "Give a sheet with column names and rows below them."
    return Problem("no-tables", name, "no sheet contains a table", "", remedy)


@dataclass
class _PartCheck:
    """Facts about a workbook that are known before parsing."""

    n_unstored: int = 0
    n_failed: int = 0
    has_hidden_rows: bool = False
    is_sparse: bool = False


def _check_parts(name: str, content: bytes) -> _PartCheck:
    """Raise an error for unsafe content; return facts known before parsing."""
    checked = _PartCheck()
    if content.startswith(_OLE_START):
        return checked
    archive = Archive(name, content)
    is_xlsx = _is_xlsx(archive.names(), content)
    n_bytes, lengths = 0, [0]
    for member in sorted(archive.names(), key=lambda member: member != _SHARED_TEXTS):
        if not member.endswith((".xml", ".rels", ".vml")):
            continue
        is_sheet = is_xlsx and member.startswith("xl/worksheets/")
        max_bytes = limits.MAX_SHEET_BYTES if is_sheet else limits.MAX_FILE_BYTES
        where = f"{name}, {member} unpacked"
        gate.check_size(where, archive.size(member), max_bytes, remedy=_AS_TEXT)
        text = archive.read(member, max_bytes)
        if any(mark.encode(codec) in text for mark in _DOCTYPE for codec in _CODECS):
            raise gate.refusal(
                "document-type",
                f"{name}, {member}",
                "the file declares a document type, which is not allowed",
                remedy="Save it again with a spreadsheet program.",
            )
        hidden = _HIDDEN_ROW if is_sheet else _HIDDEN_ODS_ROW
        if (is_sheet or member == "content.xml") and hidden.search(text):
            checked.has_hidden_rows = True
        if is_sheet:
            checked.n_failed += text.count(_FAILED_CELL)
            checked.n_unstored += len(_NOT_STORED.findall(text)) if b"<f" in text else 0
            n_cells = text.count(b"<c ") + text.count(b"<c>")
            check_cells(f"{name}, {member}", 0, 0, n_cells)
            if _is_sparse(text, n_cells):
                checked.is_sparse = True
                if n_cells > _MAX_SPARSE_CELLS:
                    message = f"{n_cells:,} cells are scattered over the sheet, "
                    message += f"at most {_MAX_SPARSE_CELLS:,} are allowed"
                    raise gate.refusal("too-large", f"{name}, {member}", message, remedy=_AS_TEXT)
            n_bytes += _text_length(text, lengths)
            gate.check_size(name, n_bytes, limits.MAX_TEXT_BYTES)
        elif is_xlsx and member == _SHARED_TEXTS:
            starts = [match.start() for match in _SHARED.finditer(text)]
            lengths = [end - start for start, end in pairwise([*starts, len(text)])]
    return checked


def _text_length(sheet: bytes, lengths: Sequence[int]) -> int:
    """Return the total length of the shared texts of a sheet, 0 if it cannot matter."""
    if max(lengths, default=0) * sheet.count(b't="s"') <= limits.MAX_TEXT_BYTES:
        return 0
    places = map(int, _SHARED_CELL.findall(sheet))
    return sum(lengths[place] for place in places if place < len(lengths))


def _is_sparse(sheet: bytes, n_cells: int) -> bool:
    """Whether the bounding rectangle of a sheet is far larger than its number of cells."""
    rows = max(map(int, _ROW.findall(sheet)), default=0)
    area = max(rows, sheet.count(b"<row")) * _widest(sheet)
    return area > max(_SMALL_AREA, _MAX_AREA_RATIO * n_cells)


def _widest(sheet: bytes) -> int:
    """Return a bound on the number of columns, by the letters that cells are named with."""
    if not re.search(rb'r="[A-Z]{2}', sheet):
        return 26
    if re.search(rb'r="[A-Z]{3}\d', sheet):
        return 16_384
    for place, letter in enumerate(_LETTERS):
        if re.search(rb'r="' + bytes([letter]) + rb"[A-Z]\d", sheet):
            return 26 * (27 - place)
    return 26


def _sheets(
    name: str, content: bytes, choices: Choices, *, in_stream: bool
) -> tuple[list[_SheetRows], list[Problem]]:
    """Return the cells of each sheet to read, and notes."""
    notes: list[Problem] = []
    sheets: list[_SheetRows] = []
    opened = _openpyxl_sheets(name, content) if in_stream else _calamine_sheets(name, content)
    titles = [title for title, _, _ in opened]
    if choices.sheet is not None and choices.sheet not in titles:
        remedy = f"Available: {', '.join(titles[:20])}."
        raise gate.refusal(
            "unknown-sheet", name, "this sheet does not exist", choices.sheet, remedy
        )
    for title, is_hidden, stored in opened:
        where = f"{name}, sheet {title}"
        if choices.sheet not in (None, title):
            continue
        if choices.sheet is None and is_hidden:
            notes.append(_skipped_sheet_note(where, "hidden sheet skipped"))
            continue
        all_rows = _rows(where, stored(), notes)
        rows = list(islice(all_rows, _MAX_ROW_WISE_ROWS))
        if _width(rows) < 2 and choices.sheet is None and len(titles) > 1:
            message = "sheet without a table of several columns skipped"
            notes.append(_skipped_sheet_note(where, message))
        elif rows:
            decimal = choices.decimal or decimal_among([row for _, row in rows[:500]])
            small = len(rows) < _MAX_ROW_WISE_ROWS
            remaining = chain(rows, all_rows)
            texts = _texts(rows, decimal) if small else _columns(remaining, decimal)
            sheets.append((title, decimal, texts))
    return sheets, notes


def _calamine_sheets(name: str, content: bytes) -> list[_Sheet]:
    """Return the sheets of a workbook, read whole by calamine."""
    import python_calamine as calamine

    try:
        workbook = calamine.CalamineWorkbook.from_filelike(io.BytesIO(content))
    except calamine.PasswordError:
        raise gate.refusal(
            "encrypted",
            name,
            "the workbook is locked with a password",
            remedy="Save it without one.",
        ) from None

    def stored(title: str) -> Iterator[tuple[int, Sequence[object]]]:
        sheet = workbook.get_sheet_by_name(title)
        if sheet.start is None:
            return
        check_cells(f"{name}, sheet {title}", 0, 0, sheet.height * sheet.width)
        # Row by row, because a list of all rows would double the memory.
        yield from _with_merged_cells(enumerate(sheet.iter_rows()), sheet.merged_cell_ranges or [])

    visible, of_cells = calamine.SheetVisibleEnum.Visible, calamine.SheetTypeEnum.WorkSheet
    return [
        (sheet.name, sheet.visible != visible, partial(stored, sheet.name))
        for sheet in workbook.sheets_metadata
        if sheet.typ == of_cells
    ]


def _with_merged_cells(
    rows: Iterable[tuple[int, Sequence[object]]],
    ranges: Sequence[tuple[tuple[int, int], tuple[int, int]]],
) -> Iterator[tuple[int, Sequence[object]]]:
    """Yield rows in which a cell merged over several rows of one column stands in each of them."""
    starts = {
        (top, left): bottom for (top, left), (bottom, right) in ranges if left == right and top
    }
    open_cells: dict[int, tuple[int, object]] = {}  # Column -> last row, value.
    for at, row in rows:
        cells = list(row)
        for column, (bottom, value) in list(open_cells.items()):
            if at > bottom:
                del open_cells[column]
            elif column < len(cells) and cells[column] in (None, ""):
                cells[column] = value
        for column, value in enumerate(cells):
            if (at, column) in starts:
                open_cells[column] = starts[at, column], value
        yield at, cells


def _openpyxl_sheets(name: str, content: bytes) -> list[_Sheet]:
    """Return the sheets of a sparse workbook, read row by row by openpyxl."""
    import openpyxl

    if not openpyxl.DEFUSEDXML:
        raise gate.refusal(
            "no-defusedxml",
            name,
            "workbooks need the package defusedxml, which is missing or disabled",
            remedy="Install it, or save the table as CSV.",
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        workbook = openpyxl.load_workbook(
            io.BytesIO(content), read_only=True, data_only=True, keep_links=False
        )

    def stored(sheet: ReadOnlyWorksheet) -> Iterator[tuple[int, Sequence[object]]]:
        sheet.reset_dimensions()
        yield from enumerate(sheet.iter_rows(values_only=True))

    return [
        (sheet.title, sheet.sheet_state != "visible", partial(stored, sheet))
        for sheet in workbook.worksheets
    ]


def _skipped_sheet_note(where: str, message: str) -> Problem:
    remedy = "To read it, choose it under Read a file in another way."
    return Problem("sheet-passed-over", where, message, "", remedy, severity="note")


def _rows(
    where: str, stored: Iterable[tuple[int, Sequence[object]]], notes: list[Problem]
) -> Iterator[tuple[int, list[object]]]:
    """Yield (row of the sheet from 0, cells) of the filled rows."""
    n_cells, last = 0, -1
    for at, row in stored:
        cells = list(row)
        while cells and (cells[-1] is None or cells[-1] == ""):
            cells.pop()
        if at >= _MAX_SHEET_ROWS or (last >= 0 and at - last > _MAX_EMPTY_ROWS):
            if cells or at >= _MAX_SHEET_ROWS:
                message = f"cells far below the table (from row {at + 1}) skipped"
                notes.append(Problem("far-cells", where, message, severity="note"))
                return
            continue
        if not cells:
            continue
        n_cells += len(cells)
        check_cells(where, 0, 0, n_cells)
        last = at
        yield at, cells


def _texts(rows: Iterable[tuple[int, list[object]]], decimal: str) -> list[tuple[int, list[str]]]:
    return [(line, [_as_text(value, decimal) for value in row]) for line, row in rows]


def _columns(rows: Iterator[tuple[int, list[object]]], decimal: str) -> ColumnRows:
    """Return rows as text columns, converted in chunks."""
    import pyarrow as pa

    nothing = pa.scalar("", pa.large_string())
    lines: list[Ints] = []
    columns: list[list[pa.Array]] = []
    n = 0
    while chunk := list(islice(rows, _CHUNK)):
        lines.append(np.array([line for line, _ in chunk], dtype=np.int64))
        values = list(zip_longest(*(cells for _, cells in chunk)))
        while len(columns) < len(values):
            columns.append([pa.repeat(nothing, n)])
        for at, parts in enumerate(columns):
            if at < len(values):
                parts.append(pa.array(_column_as_text(values[at], decimal), pa.large_string()))
            else:
                parts.append(pa.repeat(nothing, len(chunk)))
        n += len(chunk)
    table = pa.table({str(at): pa.chunked_array(parts) for at, parts in enumerate(columns)})
    return ColumnRows([], np.concatenate(lines), table, [])


def _width(rows: Sequence[tuple[int, list[object]]]) -> int:
    return max((sum(c is not None and c != "" for c in cells) for _, cells in rows), default=0)


def _as_text(value: object, decimal: str) -> str:
    if isinstance(value, float):
        # Workbooks do not distinguish 7 and 7.0, and ids are often numbers.
        if value.is_integer() and abs(value) < _MAX_EXACT_INTEGER:
            return str(int(value))
        return to_cell(value, decimal)
    return "" if isinstance(value, str) and value in FORMULA_ERRORS else to_cell(value, decimal)


def _column_as_text(values: Sequence[object], decimal: str) -> Sequence[str]:
    """Return `_as_text` of each value, with a fast path for plain text columns."""
    if set(map(type, values)) == {str}:
        words = cast("Sequence[str]", values)
        together = "".join(words)
        if together.isascii() and "\0" not in together and FORMULA_ERRORS.isdisjoint(words):
            return words
    return [_as_text(value, decimal) for value in values]


def _is_xlsx(members: Sequence[str], _: bytes) -> bool:
    return "xl/workbook.xml" in members


def _is_xlsb(members: Sequence[str], _: bytes) -> bool:
    return "xl/workbook.bin" in members


def _is_ods(members: Sequence[str], content: bytes) -> bool:
    # The type is the first member and not compressed.
    return (
        {"mimetype", "content.xml"} <= set(members)
        and "[Content_Types].xml" not in members
        and _ODS_TYPE in content[:200]
    )


_workbook = partial(
    FileFormat,
    kind="workbook",
    read=read_workbook,
    is_typed=False,
    damage=(
        "bad-workbook",
        "the workbook is damaged or contains unsupported content",
        "Open it in a spreadsheet program and save it again, or save the table as CSV.",
    ),
)
FORMATS = (
    _workbook(
        "xlsx", "an Excel workbook", extensions=(".xlsx", ".xlsm"), detect_zip=_is_xlsx
    ),
    _workbook(
        "xlsb", "a binary Excel workbook", extensions=(".xlsb",), detect_zip=_is_xlsb,
        own_process=True
    ),
    _workbook(
        "xls", "an old Excel workbook (.xls)", extensions=(".xls",), magic=(_OLE_START,),
        own_process=True
    ),
    _workbook("ods", "an OpenDocument spreadsheet", extensions=(".ods",), detect_zip=_is_ods),
)  # fmt: skip
