"""Text tables: bytes to columns of text, with detected settings and problems.

Cells are not interpreted, so ids stay as written: ``007``, ``NA``, ``1e5``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from hetviz._pandas import TEXT
from hetviz._text import count
from hetviz._types import Ints
from hetviz.errors import Problem, limit_problems
from hetviz.io import gate
from hetviz.io.formats.base import TEXT_OPTIONS, FileFormat
from hetviz.io.formats.column_rows import ColumnRows, column_rows
from hetviz.io.infer import dialect, encodings, text_tables
from hetviz.io.infer.column_names import column_names_of, column_units
from hetviz.io.infer.columns import read_columns
from hetviz.io.infer.ids import guess_id_column
from hetviz.io.infer.raw_rows import RawTable
from hetviz.io.infer.recipe import TableRecipe
from hetviz.io.infer.rows import adapt_recipe, find_layout
from hetviz.io.parsed import (
    DECIMALS,
    NAMES,
    NO_NAMES,
    Choices,
    Piece,
    TableRead,
    piece_from_table,
    stem,
)

_NOTHING = pd.DataFrame()
# Share of short rows from which they are intentional.
_MIN_SHORT_SHARE = 0.05


def read_text(name: str, content: bytes, choices: Choices) -> list[Piece]:
    """Read a table of text as a piece."""
    return [piece_from_table(stem(name), read_text_table(name, content, choices))]


def read_text_table(name: str, content: bytes, choices: Choices) -> TableRead:
    """Read a table of text, see `hetviz.io.formats.registry.read_table`."""
    if choices.separator is not None and choices.separator not in dialect.SEPARATORS:
        raise gate.refusal(
            "bad-choice",
            name,
            "this separator is not supported",
            choices.separator,
            "Use a comma, semicolon, tab, | or space.",
        )
    if choices.decimal not in (None, ".", ","):
        raise gate.refusal("bad-choice", name, "the decimal sign must be . or ,", choices.decimal)
    notes: list[Problem] = []
    text, encoding = encodings.decode(name, content, choices.encoding, notes)
    dialect.check_line_count(name, text)
    text, separator = text_tables.to_delimited(name, text, choices.separator)
    sign = "\t" if separator == dialect.SPACES else separator
    # A sample of rows is enough for detection.
    table = column_rows(name, text, sign)
    rows = dialect.rows_of(name, text, sign) if table is None else table.sample()
    decimal = choices.decimal or dialect.decimal_of(rows, separator)
    facts = {
        "text": encoding,
        "between columns": dialect.SEPARATORS[separator],
        "decimal sign": DECIMALS[decimal],
    }
    read = TableRead(name, _NOTHING, (), encoding, separator, decimal, True, tuple(notes), facts)
    return build_table(read, rows, choices, table=table)


def build_table(
    source_table: TableRead,
    rows: list[tuple[int, list[str]]],
    choices: Choices,
    *,
    by_file: bool = False,
    table: ColumnRows | None = None,
) -> TableRead:
    """Build a table from rows of text: find column names, list rows that do not fit."""
    name, notes, facts = source_table.name, list(source_table.problems), dict(source_table.facts)
    if choices.raw:
        return (
            _raw_rows_table(source_table, rows)
            if table is None
            else _raw_columns_table(source_table, table)
        )
    raw = RawTable(name, rows, source_table.decimal)
    if not rows:
        raise gate.refusal("empty-file", name, "the file has no rows")
    chosen_recipe = choices.recipe_of(name)
    if chosen_recipe is None and choices.like is not None:
        chosen_recipe = adapt_recipe(TableRecipe.from_dict(choices.like), raw)
    if chosen_recipe is not None:
        recipe = chosen_recipe
    elif choices.exact:
        recipe = TableRecipe((rows[0][0],), None, rows[0][0] + 1, None, ())
    else:
        recipe = find_layout(raw, choices.header, choices.skip)
    header, data_rows = bool(recipe.header), [row for row in rows if recipe.holds(row[0])]
    start = min([*recipe.header, recipe.first])
    above = [row for row in rows if row[0] < start]
    if (
        chosen_recipe is None
        and choices.skip is not None
        and not any(line >= start for line, _ in rows)
    ):
        raise gate.refusal("empty-file", name, "the file has no rows")
    if above:
        facts["rows above the names of columns"] = str(start)
        if chosen_recipe is None and choices.skip is None:
            notes.append(_rows_above_note(name, above))
    below = [row for row in rows if recipe.last is not None and row[0] > recipe.last]
    if below and chosen_recipe is None:
        notes.append(_footer_note(name, below))
    if chosen_recipe is None:
        last = max(
            [*recipe.header, *([] if recipe.units is None else [recipe.units])], default=start
        )
        notes += _explanation_notes(name, [row for row in rows if last < row[0] < recipe.first])
    columns = column_names_of(raw, recipe, notes)
    if not header:
        facts[NAMES] = NO_NAMES
        if chosen_recipe is None:
            notes.append(_no_header_note(name))
    first = 0 if by_file or not data_rows else data_rows[0][0]
    if table is None:
        frame, lines, ragged = _row_by_row(data_rows, columns, by_file=by_file)
    else:
        frame, lines, ragged = table.body(recipe.holds_rows, columns)
    if not choices.exact:
        frame, lines, ragged = _fill_short_rows(name, frame, lines, ragged, notes)
    notes += limit_problems(
        _ragged_row_problem(name, line - first, cells, len(columns), source_table.separator)
        for line, cells in ragged
    )
    # For a long table, store the row numbers as a range.
    places = tuple((lines - first).tolist()) if table is None else _row_numbers(lines - first)
    if choices.exact:
        return replace(
            source_table, frame=frame, row=places, header=header, problems=tuple(notes), facts=facts
        )
    units = column_units(raw, recipe)
    keep = id_columns_as_written(choices, frame, chosen_recipe)
    applied = read_columns(name, frame, source_table.decimal, recipe, units, keep)
    return replace(
        source_table,
        frame=applied.frame,
        row=places,
        header=header,
        problems=(*notes, *applied.problems),
        facts=facts,
        recipe=applied.recipe,
    )


def _row_by_row(
    rows: list[tuple[int, list[str]]], columns: list[str], *, by_file: bool
) -> tuple[pd.DataFrame, Ints, list[tuple[int, list[str]]]]:
    """Return rows as a table, the row of the file of each, and the rows that do not fit."""
    fitting: list[tuple[int, list[str]]] = []
    ragged: list[tuple[int, list[str]]] = []
    for line, cells in rows:
        end = len(cells)
        while end > len(columns) and not cells[end - 1]:
            end -= 1
        # Do not change the rows in place: they may be read again.
        cells = cells[:end]
        if by_file:
            # Sheets have no fixed width: pad with empty cells.
            cells = [*cells[: len(columns)], *[""] * (len(columns) - len(cells))]
        (fitting if len(cells) == len(columns) else ragged).append((line, cells))
    frame = pd.DataFrame([cells for _, cells in fitting], columns=columns, dtype=TEXT)
    return frame, np.array([line for line, _ in fitting], dtype=np.int64), ragged


def _fill_short_rows(
    name: str,
    frame: pd.DataFrame,
    lines: Ints,
    ragged: list[tuple[int, list[str]]],
    notes: list[Problem],
) -> tuple[pd.DataFrame, Ints, list[tuple[int, list[str]]]]:
    """Fill short rows if many rows leave out empty cells at their end."""
    width = frame.shape[1]
    short = [(line, cells) for line, cells in ragged if width / 2 <= len(cells) < width]
    if len(short) < 2 or len(short) < _MIN_SHORT_SHARE * (len(frame) + len(ragged)):
        return frame, lines, ragged
    notes.append(
        Problem(
            "short-rows",
            name,
            f"{count(len(short), 'row')} of {len(frame) + len(ragged):,} have fewer cells than the "
            f"{width:,} columns, so their last cells count as missing",
            severity="note",
        )
    )
    more = pd.DataFrame(
        [[*cells, *[""] * (width - len(cells))] for _, cells in short],
        columns=frame.columns,
        dtype=TEXT,
    )
    all_lines = np.concatenate([lines, np.array([line for line, _ in short], dtype=np.int64)])
    order = np.argsort(all_lines, kind="stable")
    filled = pd.concat([frame, more.astype(frame.dtypes)], ignore_index=True).iloc[order]
    filled_lines = {line for line, _ in short}
    unfilled = [row for row in ragged if row[0] not in filled_lines]
    return filled.reset_index(drop=True), all_lines[order], unfilled


def _row_numbers(lines: Ints) -> Sequence[int]:
    """Return the rows of a file; as a range where none is left out."""
    if len(lines) and lines[-1] - lines[0] + 1 == len(lines):
        return range(int(lines[0]), int(lines[-1]) + 1)
    return tuple(lines.tolist())


def _raw_rows_table(table: TableRead, rows: list[tuple[int, list[str]]]) -> TableRead:
    """Return rows as a table of all cells, padded with missing values to one width."""
    width = max((len(cells) for _, cells in rows), default=0)
    filled = [[*cells, *[None] * (width - len(cells))] for _, cells in rows]
    frame = pd.DataFrame(filled, columns=[str(at) for at in range(width)], dtype=TEXT)
    return replace(table, frame=frame, row=tuple(line for line, _ in rows))


def _raw_columns_table(source_table: TableRead, table: ColumnRows) -> TableRead:
    """Return all rows of a column-wise table, as `_raw_rows_table` does."""
    frame, lines = table.to_frame()
    return replace(source_table, frame=frame, row=_row_numbers(lines))


def _no_header_note(name: str) -> Problem:
    return Problem(
        "no-header",
        name,
        "the first row looks like data, so the columns are named column_1, column_2, ...",
        remedy="Add a first row with column names.",
        severity="note",
    )


def _footer_note(name: str, rows: list[tuple[int, list[str]]]) -> Problem:
    words = "; ".join(" ".join(filter(None, map(str.strip, cells))) for _, cells in rows)
    subject = "the last row is" if len(rows) == 1 else f"the last {len(rows)} rows are"
    message = f"{subject} skipped as a total or a remark"
    return Problem("rows-below", name, message, words[:80], severity="note")


def _explanation_notes(name: str, rows: list[tuple[int, list[str]]]) -> list[Problem]:
    if not rows:
        return []
    words = "; ".join(" ".join(filter(None, map(str.strip, cells))) for _, cells in rows)
    subject, verb = ("the row", "is") if len(rows) == 1 else (f"the {len(rows)} rows", "are")
    message = f"{subject} below the column names {verb} skipped as an explanation"
    return [Problem("rows-between", name, message, words[:80], severity="note")]


def _rows_above_note(name: str, rows: list[tuple[int, list[str]]]) -> Problem:
    words = "; ".join(" ".join(filter(None, map(str.strip, cells))) for _, cells in rows)
    subject = "the first row is" if len(rows) == 1 else f"the first {len(rows)} rows are"
    return Problem(
        "rows-above",
        name,
        f"{subject} skipped as text above the column names",
        words[:80],
        "If the names are in another row, choose it under Read a file in another way.",
        severity="note",
    )


def _ragged_row_problem(
    name: str, row: int, cells: list[str], width: int, separator: str
) -> Problem:
    sign = None if separator == dialect.SPACES else dialect.SEPARATORS.get(separator)
    return Problem(
        "ragged-row",
        f"{name}, row {row + 1}",
        f"{len(cells)} cells instead of {width}",
        (separator or " ").join(cells)[:80],
        f"Check for a {sign} inside a text without quotes, or a missing cell."
        if sign
        else "Check for missing or extra cells.",
        row=row,
    )


def id_columns_as_written(
    choices: Choices, frame: pd.DataFrame, recipe: TableRecipe | None = None
) -> tuple[str, ...]:
    """Return the id columns, whose cells must not be changed."""
    if choices.id is not None:
        return (choices.id,) if isinstance(choices.id, str) else tuple(choices.id)
    if recipe is not None:
        return recipe.of_type("id")
    guessed = guess_id_column(frame)
    return () if guessed is None else (guessed,)


TEXT_FORMAT = FileFormat(
    "text",
    "text",
    "table",
    (".csv", ".tsv", ".tab", ".arff"),
    read_text,
    is_plain_text=True,
    preview="rows",
    options=TEXT_OPTIONS,
)
FORMATS = (TEXT_FORMAT,)
