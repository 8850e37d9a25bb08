"""Text tables: bytes to columns of text, with what was detected and what is wrong.

Cells are never interpreted here, so ids survive as they are written: ``007``, ``NA``, ``1e5``.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pandas as pd

from hetviz.errors import Problem, listed
from hetviz.io import gate
from hetviz.io.infer import dialect, encodings, number_formats
from hetviz.io.infer.ids import guess_id_column
from hetviz.io.piece import DECIMALS, NAMES, NO_NAMES, Choices, TableRead

_NOTHING = pd.DataFrame()


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
            "not-a-table",
            name,
            f"a table of text is needed, and this is {gate.KINDS[kind]}",
            remedy="Save a spreadsheet as CSV; upload a zip by itself.",
        )
    if choices.separator is not None and choices.separator not in dialect.SEPARATORS:
        raise gate.refusal(
            "bad-choice", name, "no such separator", choices.separator, "Comma, ;, tab or |."
        )
    if choices.decimal not in (None, ".", ","):
        raise gate.refusal("bad-choice", name, "the decimal sign is . or ,", choices.decimal)
    notes: list[Problem] = []
    text, encoding = encodings.decode(name, content, choices.encoding, notes)
    separator = choices.separator or dialect.separator_of(text)
    rows = dialect.rows_of(name, text, separator)
    decimal = choices.decimal or dialect.decimal_of(rows, separator)
    facts = {
        "text": encoding,
        "between columns": dialect.SEPARATORS[separator],
        "decimal sign": DECIMALS[decimal],
    }
    read = TableRead(name, _NOTHING, (), encoding, separator, decimal, True, tuple(notes), facts)
    return shaped(read, rows, choices)


def shaped(
    read: TableRead, rows: list[tuple[int, list[str]]], choices: Choices, *, by_file: bool = False
) -> TableRead:
    """Make a table of rows of text: find the names of the columns, tell what does not fit.

    Parameters
    ----------
    read : TableRead
        How the rows were read; its table is empty.
    rows : list of (row of the file, cells)
        Without rows that are empty.
    choices : Choices
    by_file : bool
        Messages number the rows as the file does, not from the first below the names.

    Raises
    ------
    hetviz.errors.DataError
        If there are no rows.
    """
    name, notes, facts = read.name, list(read.problems), dict(read.facts)
    if choices.skip is not None:
        above = sum(line < choices.skip for line, _ in rows)
    else:
        above = 0 if choices.exact or choices.header is False else dialect.rows_above(rows)
    if not rows[above:]:
        raise gate.refusal("empty-file", name, "the file holds no rows")
    if above and choices.skip is None:
        notes.append(_passed_over(name, rows[:above]))
    if above:
        facts["rows above the names of columns"] = str(rows[above][0])
    rows = rows[above:]
    header = dialect.has_header(rows) if choices.header is None else choices.header
    if header:
        body = rows[1:]
        first_row = _without_empty_end(rows[0][1], body)
        columns = column_names(name, first_row, notes)
    else:
        width = Counter(len(cells) for _, cells in rows).most_common(1)[0][0]
        columns, body = [f"column_{at + 1}" for at in range(width)], rows
        facts[NAMES] = NO_NAMES
        notes.append(
            Problem(
                "no-header",
                name,
                "the first row looks like data, so columns are named column_1, column_2, ...",
                remedy="Add a first row with names.",
                severity="note",
            )
        )
    first = 0 if by_file or not body else body[0][0]
    kept: list[list[str]] = []
    places: list[int] = []
    ragged: list[tuple[int, list[str]]] = []
    for line, cells in body:
        row = line - first
        while len(cells) > len(columns) and not cells[-1]:
            cells.pop()
        if len(cells) == len(columns):
            kept.append(cells)
            places.append(row)
            continue
        ragged.append((row, cells))
    separator = read.separator
    notes += listed(_ragged(name, row, cells, len(columns), separator) for row, cells in ragged)
    frame = pd.DataFrame(kept, columns=columns, dtype=str)
    told: list[Problem] = []
    if not choices.exact:
        frame, told = number_formats.plain(
            name, frame, read.decimal, kept_as_written(choices, frame)
        )
    return replace(
        read,
        frame=frame,
        row=tuple(places),
        header=header,
        problems=(*notes, *told),
        facts=facts,
    )


def _passed_over(name: str, rows: list[tuple[int, list[str]]]) -> Problem:
    words = "; ".join(" ".join(filter(None, map(str.strip, cells))) for _, cells in rows)
    many = "the first row is" if len(rows) == 1 else f"the first {len(rows)} rows are"
    return Problem(
        "rows-above",
        name,
        f"{many} above the names of the columns, and passed over",
        words[:80],
        "If the names stand elsewhere, say in which row under Read a file in another way.",
        severity="note",
    )


def _ragged(name: str, row: int, cells: list[str], width: int, separator: str) -> Problem:
    sign = dialect.SEPARATORS.get(separator)
    return Problem(
        "ragged-row",
        f"{name}, row {row + 1}",
        f"{len(cells)} cells, and {width} are expected",
        (separator or " ").join(cells)[:80],
        f"Check for a {sign} inside a text without quotes, or a missing cell."
        if sign
        else "Check for a missing cell, or one too many.",
        row=row,
    )


def _without_empty_end(first: list[str], body: list[tuple[int, list[str]]]) -> list[str]:
    """Return the header without columns at its end that have neither a name nor a cell."""
    if _last_filled(first) == len(first):
        return first
    widest = max((_last_filled(cells) for _, cells in body), default=0)
    return first[: max(1, widest, _last_filled(first))]


def _last_filled(cells: list[str]) -> int:
    return next((at for at in range(len(cells), 0, -1) if cells[at - 1].strip()), 0)


def kept_as_written(choices: Choices, frame: pd.DataFrame) -> tuple[str, ...]:
    """Return the columns whose cells are ids, so that they stay as they are written."""
    if choices.id is not None:
        return (choices.id,) if isinstance(choices.id, str) else tuple(choices.id)
    guessed = guess_id_column(frame)
    return () if guessed is None else (guessed,)


def column_names(name: str, first: list[str], notes: list[Problem]) -> list[str]:
    """Return names for columns, none empty and none twice; `notes` tells what was changed."""
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
