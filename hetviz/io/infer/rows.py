"""Header, unit and data rows of a table, found and read by a recipe.

`propose_recipe` proposes a `TableRecipe` for raw rows, `apply_recipe` reads a table by it, and
`adapt_recipe` adapts it to a newer version of the file or to a file of new rows. All are pure
functions.

>>> from hetviz.io.infer.raw_rows import RawTable
>>> from hetviz.io.infer.rows import apply_recipe, propose_recipe
>>> raw = RawTable.of([["Well", "Nitrate", ""], ["", "mg/l", ""], ["A1", "<0.5", "ok"],
...                    ["A2", "3.1", "ok"], ["A3", "n.d.", "bad"]])
>>> recipe = propose_recipe(raw)
>>> recipe.header, recipe.units, recipe.first, [column.type for column in recipe.columns]
((0,), 1, 2, ['id', 'number with the rest missing', 'category'])
>>> apply_recipe(raw, recipe).frame["Nitrate"].tolist()
['0.5', '3.1', '']
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from hetviz._pandas import TEXT
from hetviz.errors import DataError
from hetviz.features.columns.number_parsing import UNKNOWN_MARKERS, is_unit, parse
from hetviz.io.infer import dialect
from hetviz.io.infer.column_names import NO_ANSWER, column_names_of, column_units, last_filled
from hetviz.io.infer.columns import read_columns
from hetviz.io.infer.dates import is_date
from hetviz.io.infer.parsed import Table
from hetviz.io.infer.raw_rows import FrameRows, RawTable
from hetviz.io.infer.recipe import SAMPLE_ROWS, ColumnRecipe, TableRecipe
from hetviz.io.infer.vocabulary import NOTES, TOTALS

_MAX_FOOTER_ROWS = 10
_MIN_ANSWERS = 3
_MAX_WORD_ROWS = 3
_MIN_TABLE_ROWS = 2
_MAX_SHIFT_ROWS = 60
_ORANGE_TYPE = re.compile(r"(c|continuous|d|discrete|s|string|t|time|basket)(\s.*)?")
_ORANGE_ROLE = re.compile(r"((m|meta|c|class|i|ignore)(\s.*)?)?|\w+=.*")


def propose_recipe(raw: RawTable) -> TableRecipe:
    """Return the proposed recipe of a table."""
    layout = find_layout(raw)
    return apply_recipe(raw, layout).recipe or layout


def find_layout(raw: RawTable, header: bool | None = None, skip: int | None = None) -> TableRecipe:
    """Return a recipe with the header, unit and data rows but no columns."""
    sample = raw.sample
    recipe = _header_and_first_row(sample, header, skip)
    return replace(recipe, last=_last_row(sample, recipe.first))


def apply_recipe(raw: RawTable, recipe: TableRecipe) -> Table:
    """Return the table read by a recipe; unlisted columns are read as proposed."""
    return apply_with_raw_cells(raw, recipe)[1]


def apply_with_raw_cells(raw: RawTable, recipe: TableRecipe) -> tuple[pd.DataFrame, Table]:
    """Return the raw data rows and the table read by a recipe."""
    sample = raw.sample
    frame, lines = raw_data_rows(raw, recipe)
    table = Table(raw.name, raw.name, None, frame, lines, raw.decimal)
    return frame, read_columns(table, recipe, column_units(sample, recipe))


ROW_MARKS = ("names", "units", "first", "last")
"""Marks of a row: column names, units, first or last data row."""


def mark_row(raw: RawTable, recipe: TableRecipe, mark: str, line: int) -> TableRecipe:
    """Return a recipe in which a row has a mark of `ROW_MARKS`, or loses it if it has it."""
    lines = [at for at, _ in raw.rows]
    if mark not in ROW_MARKS or line not in lines:
        message = "this row or this role of a row does not exist"
        raise DataError.of("bad-recipe", f"{raw.name}, row {line + 1}", message, mark)
    header, units, first, last = set(recipe.header), recipe.units, recipe.first, recipe.last
    if mark == "names":
        adjacent = {lines[at + by] for at, row in enumerate(lines) if row in header
                for by in (-1, 1) if 0 <= at + by < len(lines)}  # fmt: skip
        if line in header:
            header.remove(line)
        else:
            header = {*header, line} if line in adjacent else {line}
        units = None if units is not None and units <= max(header, default=-1) else units
    elif mark == "units":
        units = None if units == line else line
        header.discard(line)
    elif mark == "first":
        first = line
        header = {at for at in header if at < line}
        units = None if units is not None and units >= line else units
    else:
        last = None if last == line else line
    above = max([*header, -1 if units is None else units])
    if first <= above or (mark in ("names", "units") and not header):
        first = next((at for at in lines if at > above), above + 1)
    if last is not None and last < first:
        last = None
    moved = TableRecipe(tuple(sorted(header)), units, first, last, ())
    old_names, new_names = column_names_of(raw, recipe, []), column_names_of(raw, moved, [])
    new_name_of = dict(zip(old_names, new_names, strict=False))
    columns = tuple(
        replace(column, name=new_name_of[column.name])
        for column in recipe.columns
        if (column.said or column.type == "id") and column.name in new_name_of
    )
    return replace(moved, columns=columns)


def adapt_recipe(recipe: TableRecipe, raw: RawTable) -> TableRecipe:
    """Return a recipe adapted to another file of the same form, such as a newer version."""
    adapted, raw = propose_recipe(raw), raw.sample
    recipe_columns = {column.name: column for column in recipe.columns}
    shifted = next(
        (
            form
            for form in _shifted_recipes(recipe, raw)
            if _has_all_names(raw, form, recipe_columns)
        ),
        None,
    )
    if shifted is not None:
        adapted = replace(adapted, header=shifted.header, units=shifted.units, first=shifted.first)
        adapted = replace(adapted, last=_last_row(raw, shifted.first))
    by_name = {column.name: column for column in adapted.columns}
    names = column_names_of(raw, adapted, [])
    columns = [
        recipe_columns.get(name) or by_name.get(name) or ColumnRecipe(name, "category")
        for name in names
    ]
    return replace(adapted, columns=tuple(columns))


def _shifted_recipes(recipe: TableRecipe, raw: RawTable) -> Iterator[TableRecipe]:
    """Yield a recipe unchanged, then with its rows shifted."""
    top = min(recipe.header, default=0)
    places = sorted((line for line, _ in raw.rows[:_MAX_SHIFT_ROWS]), key=lambda at: abs(at - top))
    for by in (at - top for at in places) if recipe.header else (0,):
        yield replace(
            recipe,
            header=tuple(line + by for line in recipe.header),
            units=None if recipe.units is None else recipe.units + by,
            first=recipe.first + by,
            last=None,
        )


def _has_all_names(raw: RawTable, recipe: TableRecipe, names: Collection[str]) -> bool:
    lines = {line for line, _ in raw.rows}
    return lines.issuperset(recipe.header) and set(column_names_of(raw, recipe, [])) >= set(names)


def _header_and_first_row(raw: RawTable, header: bool | None, skip: int | None) -> TableRecipe:
    """Return a recipe with the header rows, unit row and first data row."""
    rows = [row for row in raw.rows if skip is None or row[0] >= skip]
    sample = rows[: dialect.SAMPLE_ROWS]
    if not sample:
        return TableRecipe((), None, skip or 0, None, ())
    above = 0 if skip is not None or header is False else dialect.n_rows_above(sample)
    below = sample[above:]
    if not (dialect.has_header(below) if header is None else header):
        return TableRecipe((), None, below[0][0], None, ())
    header_rows = [below[0][0]]
    # Group rows are directly above the names and leave the first column empty.
    for line, cells in reversed(sample[:above]):
        filled = [cell for cell in cells if cell.strip()]
        if header_rows[0] - line != 1 or cells[0].strip() or not filled:
            break
        if any(parse(cell, raw.decimal) for cell in filled):
            break
        header_rows.insert(0, line)
    units, data = None, below[1:]
    data = data[_n_orange_rows(data) :]
    n_word_rows = _n_explaining_rows(data, raw.decimal)
    if n_word_rows and not _is_unit_row(data[0][1], data[1:], raw.decimal):
        # Below groups with empty cells this is a second header row, else it explains the names.
        if _fills_gaps_of(below[0][1], data[0][1]):
            header_rows.append(data[0][0])
            n_word_rows = 1
        data = data[n_word_rows:]
    elif _names_answers(below[0][1], data):
        header_rows.append(data[0][0])
        data = data[1:]
    if len(data) > 1 and _is_unit_row(data[0][1], data[1:], raw.decimal):
        units, data = data[0][0], data[1:]
    return TableRecipe(
        tuple(header_rows), units, data[0][0] if data else below[-1][0] + 1, None, ()
    )


def _n_orange_rows(data: Sequence[tuple[int, list[str]]]) -> int:
    """Return the number of rows that state types and roles of columns, as Orange writes them."""
    if len(data) < 3:
        return 0
    types, roles = ([cell.strip().lower() for cell in cells] for _, cells in data[:2])
    if not types or not all(map(_ORANGE_TYPE.fullmatch, types)):
        return 0
    if all(map(_ORANGE_ROLE.fullmatch, roles)):
        return 2
    # A row of roles may be empty.
    return int(bool({"continuous", "discrete"} & set(types)))


def _n_explaining_rows(data: Sequence[tuple[int, list[str]]], decimal: str) -> int:
    """Return the number of leading rows with words in all number columns."""
    later_rows = [cells for _, cells in data[_MAX_WORD_ROWS : _MAX_WORD_ROWS + SAMPLE_ROWS // 5]]
    numeric_places = []
    for at in range(max(map(len, later_rows), default=0)):
        column = [row[at].strip() for row in later_rows if at < len(row) and row[at].strip()]
        numbers = sum(parse(cell, decimal) is not None for cell in column)
        if len(column) >= _MAX_WORD_ROWS and numbers > 0.8 * len(column):
            numeric_places.append(at)

    def is_words(cells: list[str]) -> bool:
        texts = [text for at in numeric_places if at < len(cells) and (text := cells[at].strip())]
        return len(texts) >= max(2, 0.8 * len(numeric_places)) and not any(
            parse(text, decimal)
            or is_date(text)
            or text.lower() in UNKNOWN_MARKERS
            # Such as ** for a number that is withheld.
            or not any(map(str.isalpha, text))
            for text in texts
        )

    n_rows = 0
    while n_rows < min(_MAX_WORD_ROWS, len(data)) and is_words(data[n_rows][1]):
        n_rows += 1
    # More rows of words are data.
    return 0 if n_rows == _MAX_WORD_ROWS else n_rows


def _fills_gaps_of(above: list[str], cells: list[str]) -> bool:
    """Whether a header row leaves cells empty that the row below fills."""
    filled = [bool(cell.strip()) for cell in (*above, *[""] * (len(cells) - len(above)))]
    below = [bool(cell.strip()) for cell in cells]
    n_gaps = sum(
        is_below and not is_above for is_below, is_above in zip(below, filled, strict=False)
    )
    return n_gaps > 0 and sum(below) > sum(filled)


def _names_answers(above: list[str], data: Sequence[tuple[int, list[str]]]) -> bool:
    """Whether the first row names the answers to the questions above it, which the cells repeat."""
    filled = [cell.strip().lower() for cell in data[0][1] if cell.strip()] if data else []
    if len(filled) >= _MIN_ANSWERS and NO_ANSWER.issuperset(filled):
        return True
    if not data or not _fills_gaps_of(above, data[0][1]):
        return False
    repeated, n_other = set(), 0
    for at, answer in enumerate(map(str.strip, data[0][1])):
        column = {row[at].strip() for _, row in data[1:] if at < len(row)}
        if answer and column == {answer, ""}:
            repeated.add(answer)
        elif answer and not (at < len(above) and above[at].strip()):
            n_other += len(column - {""}) > 0
    return len(repeated) >= _MIN_ANSWERS and len(repeated) > n_other


def _is_unit_row(cells: list[str], below: list[tuple[int, list[str]]], decimal: str) -> bool:
    filled = [(at, cell) for at, cell in enumerate(cells) if cell.strip()]
    if not filled or not all(is_unit(cell) for _, cell in filled):
        return False
    if any(parse(cell, decimal) for _, cell in filled):
        return False
    n_numeric = 0
    for at, _ in filled:
        column = [row[at].strip() for _, row in below if at < len(row) and row[at].strip()]
        numbers = sum(parse(cell, decimal) is not None for cell in column)
        n_numeric += bool(column) and numbers > 0.5 * len(column)
    return n_numeric >= max(1, 0.6 * len(filled))


def _last_row(raw: RawTable, first: int) -> int | None:
    """Return the last data row, None if it is the last of the file."""
    body = [(line, cells) for line, cells in raw.rows if line >= first]
    if len(body) < 3:
        return None
    if (next_table := _start_of_next_table(body)) is not None:
        return body[next_table - 1][0]
    filled = [sum(bool(cell.strip()) for cell in cells) for _, cells in body[:SAMPLE_ROWS]]
    usual = float(np.median(filled))
    end = len(body) - _n_trailing_remarks(body, usual)
    while end > 2 and len(body) - end < _MAX_FOOTER_ROWS:
        is_separate = body[end - 1][0] - body[end - 2][0] > 1
        if not _is_footer_row(body[end - 1][1], usual, is_separate):
            break
        end -= 1
    return None if end == len(body) else body[end - 1][0]


def _start_of_next_table(body: Sequence[tuple[int, list[str]]]) -> int | None:
    """Return the row below an empty one that names other columns: words above numbers."""
    for at in range(_MIN_TABLE_ROWS, min(len(body), SAMPLE_ROWS) - 1):
        if body[at][0] - body[at - 1][0] < 2:
            continue
        cells = [cell.strip() for cell in body[at][1]]
        if len(list(filter(None, cells))) < 2:
            continue
        numeric = [
            place for place, cell in enumerate(cells) if cell and _is_numeric(body[:at], place)
        ]
        below = body[at + 1 :]
        if numeric and all(
            parse(cells[place]) is None and _is_numeric(below, place) for place in numeric
        ):
            return at
    return None


def _is_numeric(rows: Sequence[tuple[int, list[str]]], place: int) -> bool:
    """Whether all filled cells of a column are numbers."""
    filled = [cell for _, cells in rows if place < len(cells) and (cell := cells[place].strip())]
    return bool(filled) and all(parse(cell) is not None for cell in filled)


def _n_trailing_remarks(body: Sequence[tuple[int, list[str]]], usual: float) -> int:
    """Return the number of separate last rows that only fill the first cell."""
    max_rows = min(_MAX_FOOTER_ROWS, len(body) - 2)
    n_remarks = 0
    while n_remarks < max_rows and usual >= 3:
        cells = body[-1 - n_remarks][1]
        if last_filled(cells) != 1 or parse(cells[0]) is not None:
            break
        n_remarks += 1
    is_separate = n_remarks > 0 and body[-n_remarks][0] - body[-n_remarks - 1][0] > 1
    return n_remarks if is_separate else 0


def _is_footer_row(cells: list[str], usual: float, is_separate: bool) -> bool:
    """Whether a row is a total or a remark."""
    texts = [cell.strip() for cell in cells if cell.strip()]
    if usual < 2 or not texts or not cells[0].strip():
        return False
    words = [word for word in re.split(r"[\s/:,+]+", texts[0]) if word]
    if words and all(map(TOTALS.fullmatch, words)):
        return True
    if len(texts) > 1:
        return False
    return bool(NOTES.match(texts[0])) or (is_separate and usual >= 3 and parse(texts[0]) is None)


def raw_data_rows(raw: RawTable, recipe: TableRecipe) -> tuple[pd.DataFrame, tuple[int, ...]]:
    """Return the data rows under the column names, and their row numbers."""
    names = column_names_of(raw.sample, recipe, [])
    if isinstance(raw.rows, FrameRows):
        body_frame, lines = raw.rows.body(recipe.holds_rows, names)
        return body_frame, tuple(lines.tolist())
    width = len(names)
    body = [
        (line, [*cells[:width], *[""] * (width - len(cells))])
        for line, cells in raw.rows
        if recipe.holds(line) and any(map(str.strip, cells[:width]))
    ]
    frame = pd.DataFrame([cells for _, cells in body], columns=names, dtype=TEXT)
    return frame, tuple(line for line, _ in body)
