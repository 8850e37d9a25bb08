"""Detection of separator, decimal sign and header of text tables."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, NoReturn

from hetviz.features.columns.number_parsing import UNKNOWN_MARKERS
from hetviz.features.columns.types import number
from hetviz.io import gate, limits

SPACES = " "
SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar", SPACES: "spaces"}
SAMPLE_ROWS = 200
MAX_CELL = 1_000_000
_GIVE_LESS = "Give a smaller table."
_MAX_ROWS_ABOVE = 30
_LINE_PATTERN = re.compile(r"[^\r\n]*+(?:\r\n?|\n)|[^\r\n]++")
_WORD_PATTERN = re.compile(r'"(?:[^"]|"")*+"(?=\s|$)|\S+')
_SURROUNDING_SIGNS = " \u00a0\u202f$€£%"
# Several thousands separators, or one with a fraction, are unambiguous.
_COMMA_NUMBER = re.compile(r"[+-]?(\d+,\d+|\d{1,3}(\.\d{3})+,\d+|\d{1,3}(\.\d{3}){2,})")
_POINT_NUMBER = re.compile(r"[+-]?(\d*\.\d+|\d{1,3}(,\d{3})+\.\d+)")
_CERTAIN_POINT_NUMBER = re.compile(r"[+-]?\d{1,3}((,\d{3})+\.\d+|(,\d{3}){2,})")
_CERTAIN_COMMA_NUMBER = re.compile(r"[+-]?\d+,(\d{1,2}|\d{4,})")
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(\.\d{3})+")
_REMARK = re.compile(r"(#\S*\t|##|track |browser )")
_HEADER_WORDS = {"id", "name", "title", "source_id", "target_id", "source", "target", "weight"}


def lines_of(text: str, max_chars: int) -> Iterator[str]:
    """Yield the lines of the first `max_chars` characters of a text with their line ends."""
    return (line[0] for line in _LINE_PATTERN.finditer(text, 0, max_chars))


def rows_of(
    name: str, text: str, separator: str, limit: int | None = None, *, quoted: bool = True
) -> list[tuple[int, list[str]]]:
    """Return (row number from 0, cells) of every row that is not empty."""
    csv.field_size_limit(MAX_CELL)
    # For the first rows only, limit the text to their maximum length.
    lines = lines_of(text, len(text) if limit is None else 50 * MAX_CELL)
    reader = csv.reader(
        lines,
        delimiter=separator,
        strict=True,
        quoting=csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE,
    )
    rows: list[tuple[int, Any]] = []
    cells_so_far = 0
    count = 0
    start = 0
    try:
        for cells in reader:
            start = reader.line_num
            if not cells:
                continue
            cells_so_far += len(cells)
            gate.check_count(name, len(cells), limits.MAX_COLUMNS, "columns", _GIVE_LESS)
            if count > limits.MAX_ROWS or cells_so_far > limits.MAX_CELLS:
                raise_too_many_rows(name)
            if any(cells):
                rows.append((count, cells))
            count += 1
            if limit is not None and len(rows) >= limit:
                break
    except csv.Error as error:
        if limit is not None:
            return rows
        if quoted and separator == "\t":
            return rows_of(name, text, separator, quoted=False)
        # The row begins on the line after the last one read.
        line = next(islice(lines_of(text, len(text)), start, None), "")
        raise gate.refusal(
            "bad-quotes",
            f"{name}, line {start + 1}",
            _quote_problem(str(error)),
            line.strip()[:60],
            "Close the quotation mark. Inside a quoted text, write it twice.",
        ) from None
    return rows


def _quote_problem(error: str) -> str:
    """Return a plain message for a quotation mark error of the CSV reader."""
    if "expected after" in error:
        return "a quoted cell continues after its closing quotation mark or is never closed"
    if "limit" in error:
        return (
            f"a cell has more than {MAX_CELL:,} characters, so a quotation mark is probably not "
            "closed"
        )
    return "a cell begins with a quotation mark that is never closed"


def check_line_count(name: str, text: str) -> None:
    """Raise an error for too many lines before they are parsed."""
    if text.count("\n") > limits.MAX_ROWS + 1 and '"' not in text and "\n\n" not in text:
        raise_too_many_rows(name)


def raise_too_many_rows(name: str) -> NoReturn:
    """Raise the error for too many rows or cells."""
    message = f"more than {limits.MAX_ROWS:,} rows or {limits.MAX_CELLS:,} cells"
    raise gate.refusal("too-large", name, message, remedy=_GIVE_LESS)


def separator_of(text: str, name: str = "the text") -> str:
    """Return the separator that splits most rows into the same number of cells."""

    def merit(separator: str) -> tuple[bool, float, float, int]:
        rows = rows_of(name, text, separator, SAMPLE_ROWS)
        if not rows:
            return False, -1.0, 0.0, 0
        widths = Counter(len(cells) for _, cells in rows)
        # A header row decides the width; a title above is narrower.
        first = len(rows[0][1])
        usual = max(widths, key=lambda width: (widths[width], width))
        width = first if first > 1 and widths[first] >= 0.5 * len(rows) else usual
        torn = sum(any(cell.count('"') % 2 for cell in cells) for _, cells in rows)
        return width > 1, -round(torn / len(rows), 1), widths[width] / len(rows), width

    merits = {separator: merit(separator) for separator in SEPARATORS if separator != SPACES}
    best = max(merits, key=lambda separator: merits[separator])
    if (not merits[best][0] or (best == "\t" and _has_lists(text))) and _is_space_separated(
        text, merits[best][3]
    ):
        return SPACES
    return best if merits[best][0] else ","


def _has_lists(text: str) -> bool:
    """Whether a tab-separated column contains lists of numbers."""
    rows = [cells for _, cells in rows_of("", text, "\t", SAMPLE_ROWS)]
    return any(
        len(column) > 2 and all(len(cell.split()) > 1 and all(map(_is_number, cell.split()))
                                for cell in column)
        for column in zip(*rows[1:], strict=False)
    )  # fmt: skip


def tabs_for_spaces(text: str) -> str:
    """Return a space-separated text as a tab-separated one."""
    return "\n".join("\t".join(_split_words(line)) for line in lines_of(text, len(text)))


def _split_words(line: str) -> list[str]:
    """Return the words of a line, at most one more than allowed."""
    if line.lstrip().startswith("# "):
        line = "#" + line.lstrip()[1:].lstrip()
    words = _WORD_PATTERN.finditer(line)
    return [word[0] for word in islice(words, limits.MAX_COLUMNS + 1)]


def _is_space_separated(text: str, width: int) -> bool:
    """Whether the rows are space-separated numbers of more than `width` cells."""
    lines = (_split_words(line) for line in lines_of(text, 10 * MAX_CELL))
    rows = list(islice((row for row in lines if row and row[0][0] not in "#%"), SAMPLE_ROWS))
    usual = common_width(rows[1:])
    if len(rows) < 3 or usual is None or usual < max(2, width + 1):
        return False
    body = [row for row in rows[1:] if len(row) == usual]
    columns = [[cell.strip('"') for cell in column] for column in zip(*body, strict=True)]
    measured = [
        sum(_is_number(cell) or cell in ("NA", "?") for cell in column) >= 0.8 * len(column)
        for column in columns
    ]
    first = [cell.strip('"') for cell in rows[0]]
    named = first if len(first) == usual else ["", *first]
    is_header = len(named) == usual and not any(
        _is_number(cell) for cell, is_measured in zip(named, measured, strict=True) if is_measured
    )
    return 2 * sum(measured) >= usual and (usual > 3 or is_header)


def decimal_of(rows: Sequence[tuple[int, list[str]]], separator: str) -> str:
    """Return the decimal sign of the numbers, point or comma."""
    if separator == ",":
        return "."
    cells = [cell.strip(_SURROUNDING_SIGNS) for _, row in rows[:SAMPLE_ROWS] for cell in row]
    if any(_CERTAIN_POINT_NUMBER.fullmatch(cell) for cell in cells):
        return "."
    with_comma = sum(bool(_COMMA_NUMBER.fullmatch(cell)) for cell in cells)
    if with_comma and any(_CERTAIN_COMMA_NUMBER.fullmatch(cell) for cell in cells):
        # 2.037 is a thousand in a file that also has 1,5.
        cells = [cell for cell in cells if not _THOUSANDS.fullmatch(cell)]
    with_point = sum(bool(_POINT_NUMBER.fullmatch(cell)) for cell in cells)
    return "," if with_comma > with_point else "."


def n_rows_above(rows: Sequence[tuple[int, list[str]]]) -> int:
    """Return the number of rows above the column names: titles, dates, remarks."""
    sample = rows[:SAMPLE_ROWS]
    filled = [sum(bool(cell.strip()) for cell in cells) for _, cells in sample]
    if len(filled) < 3:
        return 0
    if n_remarks := _n_remark_rows(sample):
        return n_remarks + n_rows_above(rows[n_remarks:])
    widths = Counter(filled[1:])
    width = max(widths, key=lambda cells: (widths[cells], cells))
    if n_head := _n_report_rows(sample, filled, width):
        return n_head
    above = 0
    if _is_size_row(sample):
        return 1
    max_above = min(_MAX_ROWS_ABOVE, len(filled) - 1)
    usual = common_width([cells for _, cells in sample[1:]])
    while above < max_above and (
        filled[above] <= width / 3 or _is_too_narrow(sample[above][1], usual or 0)
    ):
        above += 1
    if width == 2:
        while above < min(_MAX_ROWS_ABOVE, len(filled) - 2) and filled[above] == 1:
            above += 1
        below = [cell for _, cells in sample[above + 1 :] for cell in cells]
        names = [cell for cell in sample[above][1] if cell.strip()]
        is_table = len(names) == 2 and not any(map(_is_number, names))
        return above if is_table and any(map(_is_number, below)) else 0
    return above if filled[above] > 1 else 0


def _n_report_rows(rows: Sequence[tuple[int, list[str]]], filled: Sequence[int], width: int) -> int:
    """Return the number of rows of a report head, which an empty row separates from the table."""
    for at in range(1, min(_MAX_ROWS_ABOVE, len(rows) - 2)):
        if rows[at][0] - rows[at - 1][0] > 1:
            is_narrow = max(filled[:at]) <= max(2, width / 2)
            return at if width > 2 and is_narrow and filled[at] >= width - 1 else 0
    return 0


def common_width(rows: Sequence[Sequence[str]]) -> int | None:
    """Return the number of cells of at least 90 % of the rows, or None."""
    widths = Counter(map(len, rows))
    width, count = widths.most_common(1)[0] if widths else (0, 0)
    return width if count > 0 and count >= 0.9 * len(rows) else None


def _is_size_row(rows: Sequence[tuple[int, list[str]]]) -> bool:
    """Whether the first row is a size row: a number, then words above number columns."""
    first = rows[0][1][0].strip()
    return (
        _is_number(first)
        and not _is_year(first)
        and _has_word_above_numbers([row for _, row in rows])
    )


def _has_word_above_numbers(rows: Sequence[list[str]]) -> bool:
    """Whether the first row has a word above a column of numbers."""
    first = [cell.strip() for cell in rows[0]]
    below = [row for row in rows[1:] if len(row) == len(first)]
    for at, cell in enumerate(first):
        if not cell[:1].isalpha() or cell.lower() in UNKNOWN_MARKERS or _is_number(cell):
            continue
        values = [row[at] for row in below if row[at].strip().lower() not in UNKNOWN_MARKERS]
        if len(values) > 2 and all(map(_is_number, values)):
            return True
    return False


def _is_too_narrow(cells: Sequence[str], usual: int) -> bool:
    lacking = usual - len(cells)
    if lacking < 2:
        return False
    numbers = [cell.strip() for cell in cells if _is_number(cell)]
    return 2 * len(cells) <= usual or not all(map(_is_year, numbers))


def _n_remark_rows(rows: Sequence[tuple[int, list[str]]]) -> int:
    """Return the number of leading remark rows that begin with #."""
    n_remarks = 0
    while n_remarks < len(rows) and rows[n_remarks][1][0].lstrip().startswith("#"):
        n_remarks += 1
    if not 0 < n_remarks < len(rows):
        return 0
    below = Counter(len(cells) for _, cells in rows[n_remarks:])
    usual = max(below, key=lambda width: (below[width], width))
    return n_remarks - (len(rows[n_remarks - 1][1]) in (usual, max(below)) and max(below) > 1)


def is_prose(text: str) -> bool:
    """Whether text reads as sentences, not as the rows of a table."""
    lines = [line for line in text[:100_000].splitlines() if line.strip()]
    # Comments and browser lines of tables of genome tracks are no sentences.
    lines = [line for line in lines if not _REMARK.match(line)] or lines
    if not lines:
        return False
    words = sum(len(line.split()) for line in lines) / len(lines)
    separator = separator_of("\n".join(lines))
    if separator == SPACES:
        return False
    rows = rows_of("", "\n".join(lines), separator, SAMPLE_ROWS)
    widths = Counter(len(cells) for _, cells in rows)
    width, count = widths.most_common(1)[0] if widths else (1, 0)
    even = width > 1 and count >= 0.9 * max(len(rows), 2)
    return not even and words >= 4


def has_header(rows: list[tuple[int, list[str]]]) -> bool:
    """Whether the first row contains column names, that is, differs from the rows below."""
    first = [cell.strip() for cell in rows[0][1]]
    if {cell.lower() for cell in first} & _HEADER_WORDS:
        return True
    below = [row for _, row in rows[1:SAMPLE_ROWS] if len(row) == len(first)]
    numeric = [_is_number(cell) for cell in first]
    if not any(numeric) or _has_word_above_numbers([first, *below]):
        return True
    if not below:
        return not all(numeric)
    numbers = [cell for cell, is_numeric in zip(first, numeric, strict=True) if is_numeric]
    places = [str(at) for at in range(len(numbers) + 1)]
    if len(numbers) > 2 and numbers in (places[:-1], places[1:]) and not all(numeric):
        return True
    years = all(map(_is_year, numbers))
    if years and len(set(first)) == len(first) and not all(numeric):
        return True
    return not any(
        is_number and all(_is_number(row[at]) or not row[at] for row in below)
        for at, is_number in enumerate(numeric)
    )


def _is_year(cell: str) -> bool:
    return cell.isdigit() and 1000 <= int(cell) < 3000


def _is_number(cell: str) -> bool:
    return number(cell) is not None or number(cell, ",") is not None
