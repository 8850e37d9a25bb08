"""Tables with column types, made of the cells of files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from hetviz._pandas import TEXT
from hetviz._text import count
from hetviz._types import Ints
from hetviz.errors import Problem, limit_problems
from hetviz.io import gate
from hetviz.io.infer import dialect
from hetviz.io.infer.column_names import column_names_of, column_units
from hetviz.io.infer.column_rows import ColumnRows
from hetviz.io.infer.columns import read_columns
from hetviz.io.infer.ids import guess_id_column
from hetviz.io.infer.parsed import NAMES, NO_NAMES, Choices, Table, TextRow
from hetviz.io.infer.placeholders import question_placeholders
from hetviz.io.infer.raw_rows import RawTable
from hetviz.io.infer.recipe import TableRecipe
from hetviz.io.infer.rows import adapt_recipe, find_layout

# Share of short rows from which they are intentional.
_MIN_SHORT_SHARE = 0.05


def typed_table(table: Table, choices: Choices) -> Table:
    """Return a table whose cells are read by the chosen or proposed recipe."""
    if table.cells is None:
        return table
    if table.cells.rows is None:
        typed = _with_typed_columns(table, table.cells.words, choices)
    else:
        typed = _with_named_columns(table, table.cells.rows, table.cells.is_sheet, choices)
    if choices.exact:
        return typed
    return replace(typed, problems=(*typed.problems, *question_placeholders(typed)))


def _with_typed_columns(table: Table, words: Sequence[str] | None, choices: Choices) -> Table:
    """Return a table of a format with column names; only `words` can need a conversion."""
    frame = table.frame
    recipe = choices.recipe_of(table.where)
    if recipe is None and choices.like is not None:
        recipe = TableRecipe.from_dict(choices.like)
    keep = (*id_columns_as_written(choices, frame, recipe), *table.declared_keys)
    if recipe is not None or words is None:
        return replace(read_columns(table, recipe, keep=keep), recipe=None)
    typed = read_columns(replace(table, frame=frame[list(words)]), keep=keep)
    changed = {name: typed.frame[name] for name in words if typed.frame[name] is not frame[name]}
    if changed:
        frame = frame.assign(**changed)
    return replace(table, frame=frame, problems=typed.problems, cells=None)


def _with_named_columns(
    table: Table, all_rows: list[TextRow] | ColumnRows, is_sheet: bool, choices: Choices
) -> Table:
    """Return a table of rows of text: find column names, list rows that do not fit."""
    name, facts = table.where, dict(table.facts)
    notes = list(table.problems)
    columns_of_rows = all_rows if isinstance(all_rows, ColumnRows) else None
    # A sample of rows is enough for detection.
    rows = all_rows.sample() if isinstance(all_rows, ColumnRows) else all_rows
    chosen_recipe = choices.recipe_of(name)
    if is_sheet:
        rows, columns_of_rows = _rows_of_sheet(
            name, rows, columns_of_rows, choices, notes, is_whole=chosen_recipe is not None
        )
    raw = RawTable(name, rows, table.decimal)
    if chosen_recipe is None and choices.like is not None:
        chosen_recipe = adapt_recipe(TableRecipe.from_dict(choices.like), raw)
    if chosen_recipe is not None:
        recipe = chosen_recipe
    elif choices.exact:
        recipe = TableRecipe((rows[0][0],), None, rows[0][0] + 1, None, ())
    else:
        recipe = find_layout(raw, choices.header, choices.skip)
    data_rows = [row for row in rows if recipe.holds(row[0])]
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
    if not recipe.header:
        facts[NAMES] = NO_NAMES
        if chosen_recipe is None:
            notes.append(_no_header_note(name))
    first = 0 if is_sheet or not data_rows else data_rows[0][0]
    if columns_of_rows is None:
        frame, lines, ragged = _row_by_row(data_rows, columns, is_sheet=is_sheet)
    else:
        frame, lines, ragged = columns_of_rows.body(recipe.holds_rows, columns)
    if not choices.exact:
        frame, lines, ragged = _fill_short_rows(name, frame, lines, ragged, notes)
    notes += limit_problems(
        _ragged_row_problem(name, line - first, cells, len(columns), table.separator)
        for line, cells in ragged
    )
    table = replace(
        table,
        frame=frame,
        row=_row_numbers(lines - first),
        header=bool(recipe.header),
        problems=tuple(notes),
        facts=facts,
        cells=None,
    )
    if choices.exact:
        return table
    keep = id_columns_as_written(choices, frame, chosen_recipe)
    return read_columns(table, recipe, column_units(raw, recipe), keep)


def _row_numbers(lines: Ints) -> Sequence[int]:
    """Return the rows of a file; as a range where none is left out."""
    if len(lines) and lines[-1] - lines[0] + 1 == len(lines):
        return range(int(lines[0]), int(lines[-1]) + 1)
    return tuple(lines.tolist())


def _row_by_row(
    rows: list[tuple[int, list[str]]], columns: list[str], *, is_sheet: bool
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
        if is_sheet:
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


def _rows_of_sheet(
    where: str,
    rows: list[TextRow],
    table: ColumnRows | None,
    choices: Choices,
    notes: list[Problem],
    *,
    is_whole: bool,
) -> tuple[list[TextRow], ColumnRows | None]:
    """Return the rows of a sheet with only the named or filled columns of its table."""
    if table is not None:
        rows = _without_padding(rows)
    if is_whole or choices.like is not None:
        return rows, table
    above = (
        dialect.n_rows_above(rows)
        if choices.skip is None
        else sum(line < choices.skip for line, _ in rows)
    )
    if table is None:
        rows, spare = _trim_rows(rows, above)
    else:
        table, spare = _trim_columns(table, rows, above)
        rows = _without_padding(table.sample())
    if spare:
        message = f"{count(spare, 'cell')} next to the table without a column name skipped"
        notes.append(Problem("cells-beside", where, message, severity="note"))
    return rows, table


def _without_padding(rows: list[TextRow]) -> list[TextRow]:
    for _, cells in rows:
        while cells and not cells[-1]:
            cells.pop()
    return rows


def _trim_rows(
    texts: list[tuple[int, list[str]]], above: int
) -> tuple[list[tuple[int, list[str]]], int]:
    """Return the rows with only the table columns, and the number of spare cells."""
    head = texts[above][1] if above < len(texts) else []
    filled: dict[int, int] = {}
    for _, cells in texts[above + 1 :]:
        for at, text in enumerate(cells):
            if text:
                filled[at] = filled.get(at, 0) + 1
    columns, n_spare = _table_columns(head, filled, len(texts) - above - 1)
    if columns is None:
        return texts, 0
    rows = [
        (line, cells if k < above else [cells[at] if at < len(cells) else "" for at in columns])
        for k, (line, cells) in enumerate(texts)
    ]
    return [(line, cells) for line, cells in rows if any(cells)], n_spare


def _trim_columns(
    table: ColumnRows, rows: list[tuple[int, list[str]]], above: int
) -> tuple[ColumnRows, int]:
    """Return the table columns and the number of spare cells."""
    head = rows[above][1] if above < len(rows) else []
    filled = dict(enumerate(table.n_filled(above + 1)))
    columns, n_spare = _table_columns(head, filled, len(table) - above - 1)
    return (table, 0) if columns is None else (table.select_columns(columns), n_spare)


def _table_columns(
    head: Sequence[str], filled: Mapping[int, int], n: int
) -> tuple[list[int] | None, int]:
    """Return the columns that belong to a table (None: no names), and the number of spare cells."""
    named_columns = [at for at, text in enumerate(head) if text.strip()]
    if not named_columns:
        return None, 0
    # An unnamed column next to named ones counts if it is mostly filled.
    columns = [
        at
        for at in range(max([*named_columns, *filled]) + 1)
        if at in named_columns or (filled.get(at, 0) > n / 2 and at <= named_columns[-1] + 1)
    ]
    return columns, sum(n for at, n in filled.items() if at not in set(columns))


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
    is_table = len(rows) > 2 and all(sum(map(bool, map(str.strip, c))) > 1 for _, c in rows)
    message = f"{subject} skipped as {'another table' if is_table else 'a total or a remark'}"
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
