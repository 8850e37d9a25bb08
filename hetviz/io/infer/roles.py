"""Detection of id, title and label columns."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Mapping, Sequence

import numpy as np
import pandas as pd

from hetviz._pandas import TEXT
from hetviz._types import Bools
from hetviz.data.model.checks import MAX_ID_LENGTH, MAX_NAME_LENGTH
from hetviz.errors import Problem, limit_problems
from hetviz.features.columns.names import are_web_addresses, is_named_id
from hetviz.features.columns.types import Column
from hetviz.features.item_columns import MIN_INDICATORS
from hetviz.io import gate
from hetviz.io.infer.ids import guess_id_column, id_candidate
from hetviz.io.infer.parsed import Table
from hetviz.io.infer.vocabulary import YES_NO

MAX_LABEL_CLASSES = 20
_TITLE_NAMES = ("title", "name", "label")
_MAX_MEAN_TITLE_CHARS = 60


def id_columns_of(
    table: Table, chosen: str | Sequence[str] | None, declared: bool = False
) -> tuple[str, ...]:
    """Return the id columns: the chosen ones, else the detected one."""
    columns = list(table.frame.columns)
    if chosen is not None:
        names = (chosen,) if isinstance(chosen, str) else tuple(chosen)
        remedy = f"Available: {', '.join(columns[:20])}."
        for name in names:
            if name not in columns:
                message = "this column does not exist"
                raise gate.refusal("unknown-column", table.where, message, name, remedy)
        return names
    if declared and "id" in columns:
        return ("id",)
    guessed = guess_id_column(table.frame)
    return () if guessed is None else (guessed,)


def row_number_note(table: Table) -> Problem:
    """Return the note that row numbers are the ids."""
    message = "no id column was found, so row numbers are the ids"
    named = [name for name in map(str, table.frame.columns) if is_named_id(name)]
    if named:
        option = id_candidate(table.frame, [named[0]])
        repeated = _first_repeat(table, named[0]) if named[0].strip().lower() == "id" else ""
        message = f"row numbers are the ids: {option.words}{repeated}"
    remedy = "Choose an id column so that a newer version of the file can be matched."
    return Problem("row-numbers", table.where, message, "", remedy, "note")


def _first_repeat(table: Table, name: str) -> str:
    """Return a text about the first repeated cell of a column."""
    cells = table.frame[name]
    repeats = np.flatnonzero(cells.duplicated() & cells.str.strip().ne(""))
    if not len(repeats):
        return ""
    text = cells.iloc[repeats[0]]
    first = int(np.flatnonzero(cells == text)[0])
    places = list(table.row or range(len(cells)))
    row, first_row = places[repeats[0]] + 1, places[first] + 1
    return f", but {text[:60]!r} in row {row} is already used in row {first_row}"


def rows_with_ids(table: Table, id_column: str, problems: list[Problem]) -> Bools:
    """Return a mask of rows with valid ids, (n,); the others are added to `problems`."""
    ids = table.frame[id_column]
    if ids.is_unique and ids.str.len().max() <= MAX_ID_LENGTH and ids.str.strip().ne("").all():
        problems += _similar_id_notes(f"{table.where}, column {id_column}", ids)
        return np.ones(len(ids), dtype=bool)
    first_row_of: dict[str, int] = {}
    good = np.ones(len(table.frame), dtype=bool)
    bad: list[tuple[int, str, tuple[str, str, str]]] = []
    for row, text in enumerate(ids.tolist()):
        fault = _id_fault(text, first_row_of.get(text))
        if fault is None:
            first_row_of[text] = table.row[row]
        else:
            good[row] = False
            bad.append((row, text, fault))
    problems += limit_problems(
        Problem(code, table.place(row, id_column), message, text[:60], remedy, row=table.row[row])
        for row, text, (code, message, remedy) in bad
    )
    problems += _similar_id_notes(f"{table.where}, column {id_column}", first_row_of)
    return good


def _similar_id_notes(place: str, ids: Collection[str] | pd.Series) -> list[Problem]:
    """Return a note about ids that look the same to people."""
    ids = pd.Series(list(ids), dtype=TEXT) if not isinstance(ids, pd.Series) else ids
    is_ascii = "".join(ids.tolist()).isascii()
    if is_ascii and not ids.str.strip().str.lower().duplicated().any():
        return []
    first: dict[str, str] = {}
    alike = [
        (before, text)
        for text in ids
        if (before := first.setdefault(_folded(text), text)) is not text
    ]
    if not alike:
        return []
    pair = " and ".join(map(ascii, alike[0]))
    message = (
        "some ids differ only in capitals, spaces or accents, "
        f"such as {pair}, and are treated as different items"
    )
    return [Problem("ids-alike", place, message, severity="note")]


def _folded(text: str) -> str:
    plain = text if text.isascii() else unicodedata.normalize("NFC", text)
    return plain.strip().casefold()


def _id_fault(text: str, first: int | None) -> tuple[str, str, str] | None:
    if not text.strip():
        return "empty-id", "the id is empty", "Give every row an id."
    if len(text) > MAX_ID_LENGTH:
        message = f"the id has {len(text)} characters, at most {MAX_ID_LENGTH} are allowed"
        return "long-id", message, "Use a shorter id column."
    if first is not None:
        message = f"the id is already used in row {first + 1}"
        return "duplicate-id", message, "Ids must be unique. Rename one id or remove one row."
    return None


def named_title(columns: Collection[str]) -> str | None:
    """Return the column whose name is that of titles."""
    return next((name for name in _TITLE_NAMES if name in columns), None)


def guess_labels(columns: Mapping[str, Column], never: Collection[str | None]) -> list[str]:
    """Return the first column with few categories and few missing cells.

    Of three or more columns of yes and no, none says more than the others.
    """
    pairs = {name for name, column in columns.items() if {*map(str.lower, column.levels)} in YES_NO}
    for name, column in columns.items():
        n = len(column.values)
        if name in pairs and len(pairs) >= MIN_INDICATORS:
            continue
        if name in never or column.kind != "category" or column.n_missing >= n / 2:
            continue
        if len(name) > MAX_NAME_LENGTH:
            continue
        if are_web_addresses(column.levels):
            continue
        if 2 <= len(set(column.values) - {None}) <= min(MAX_LABEL_CLASSES, n / 3):
            return [name]
    return []


def guess_title(columns: Mapping[str, Column]) -> str | None:
    """Return the first column of short, nearly all different words."""
    for name, column in columns.items():
        if column.kind != "unique":
            continue
        words = [value for value in column.values if isinstance(value, str)]
        if len(words) < 0.9 * len(column.values):
            continue
        n_with_letters = sum(any(sign.isalpha() for sign in word) for word in words)
        if n_with_letters >= 0.9 * len(words) and sum(
            map(len, words)
        ) <= _MAX_MEAN_TITLE_CHARS * len(words):
            return name
    return None
