"""Which columns of a table hold the ids, the titles and the labels of its rows."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Mapping, Sequence

import numpy as np
import pandas as pd

from hetviz._pandas import TEXT
from hetviz._types import Bools
from hetviz.data.model.checks import MAX_ID_LENGTH
from hetviz.errors import Problem, listed
from hetviz.features.columns.names import is_named_id
from hetviz.features.columns.types import Column
from hetviz.io import gate
from hetviz.io.infer.ids import candidate, guess_id_column
from hetviz.io.piece import TableRead

MAX_LABEL_CLASSES = 20
_TITLES = ("title", "name", "label")
_TITLE_LENGTH = 60


def id_columns_of(
    read: TableRead, said: str | Sequence[str] | None, declared: bool = False
) -> tuple[str, ...]:
    """Return the columns of ids: those that were said, else the one that looks like it.

    Parameters
    ----------
    read : TableRead
    said : str or sequence of str, optional
    declared : bool
        A column called id is one, whatever it holds: the format says so.

    Returns
    -------
    tuple of str
        None at all where the numbers of the rows are the ids.

    Raises
    ------
    hetviz.errors.DataError
        If a column that was said does not exist.
    """
    columns = list(read.frame.columns)
    if said is not None:
        names = (said,) if isinstance(said, str) else tuple(said)
        there = f"There are: {', '.join(columns[:20])}."
        for name in names:
            if name not in columns:
                what = "there is no such column"
                raise gate.refusal("unknown-column", read.name, what, name, there)
        return names
    if declared and "id" in columns:
        return ("id",)
    found = guess_id_column(read.frame)
    return () if found is None else (found,)


def row_number_note(read: TableRead) -> Problem:
    """Return what is told where the numbers of the rows are the ids."""
    what = "row numbers are the ids, as no column names each row"
    named = [name for name in map(str, read.frame.columns) if is_named_id(name)]
    if named:
        one = candidate(read.frame, [named[0]])
        again = _repeated(read, named[0]) if named[0].strip().lower() == "id" else ""
        what = f"row numbers are the ids: {one.words}{again}"
    remedy = "To match a newer version of the file, choose a column of ids."
    return Problem("row-numbers", read.name, what, "", remedy, "note")


def _repeated(read: TableRead, name: str) -> str:
    """Return words on the first cell of a column that stood above already."""
    cells = read.frame[name]
    again = np.flatnonzero(cells.duplicated() & cells.str.strip().ne(""))
    if not len(again):
        return ""
    text = cells.iloc[again[0]]
    first = int(np.flatnonzero(cells == text)[0])
    places = list(read.row or range(len(cells)))
    return (
        f"; {text[:60]!r} in row {places[again[0]] + 1} was used before, in row {places[first] + 1}"
    )


def rows_with_ids(read: TableRead, id_column: str, problems: list[Problem]) -> Bools:
    """Say of each row whether its id can be used, (n,); `problems` tells of those that cannot."""
    ids = read.frame[id_column]
    if ids.is_unique and ids.str.len().max() <= MAX_ID_LENGTH and ids.str.strip().ne("").all():
        problems += _alike(f"{read.name}, column {id_column}", ids)
        return np.ones(len(ids), dtype=bool)
    seen: dict[str, int] = {}
    good = np.ones(len(read.frame), dtype=bool)
    bad: list[tuple[int, str, tuple[str, str, str]]] = []
    for row, text in enumerate(ids.tolist()):
        refused = _bad_id(text, seen.get(text))
        if refused is None:
            seen[text] = read.row[row]
        else:
            good[row] = False
            bad.append((row, text, refused))
    problems += listed(
        Problem(
            code,
            read.place(row, id_column),
            what,
            text[:60],
            remedy,
            row=read.row[row],
        )
        for row, text, (code, what, remedy) in bad
    )
    problems += _alike(f"{read.name}, column {id_column}", seen)
    return good


def _alike(place: str, ids: Collection[str] | pd.Series) -> list[Problem]:
    """Tell of ids that people would read as the same."""
    ids = pd.Series(list(ids), dtype=TEXT) if not isinstance(ids, pd.Series) else ids
    if ids.map(str.isascii).all() and not ids.str.strip().str.casefold().duplicated().any():
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
    what = (
        "some ids differ only in capitals, blanks or the way accents are written, "
        f"such as {pair}; they count as different"
    )
    return [Problem("ids-alike", place, what, severity="note")]


def _folded(text: str) -> str:
    plain = text if text.isascii() else unicodedata.normalize("NFC", text)
    return plain.strip().casefold()


def _bad_id(text: str, first: int | None) -> tuple[str, str, str] | None:
    if not text.strip():
        return "empty-id", "the id is empty", "Give every row an id."
    if len(text) > MAX_ID_LENGTH:
        what = f"the id has {len(text)} characters; {MAX_ID_LENGTH} are allowed"
        return "long-id", what, "Use a shorter id column."
    if first is not None:
        what = f"the id was used before, in row {first + 1}"
        return "duplicate-id", what, "Ids must be unique: rename one or leave one row out."
    return None


def named_title(columns: Collection[str]) -> str | None:
    """Return the column that its name says holds titles."""
    return next((name for name in _TITLES if name in columns), None)


def guess_labels(columns: Mapping[str, Column], never: Collection[str | None]) -> list[str]:
    """Return the first column of few categories that most rows have one of."""
    for name, column in columns.items():
        n = len(column.values)
        if name in never or column.kind != "category" or column.n_missing >= n / 2:
            continue
        if len(set(column.values) - {None}) <= min(MAX_LABEL_CLASSES, n / 3):
            return [name]
    return []


def guess_title(columns: Mapping[str, Column]) -> str | None:
    """Return the first column of short words that nearly all differ, as names do."""
    for name, column in columns.items():
        if column.kind != "unique":
            continue
        words = [value for value in column.values if isinstance(value, str)]
        if len(words) < 0.9 * len(column.values):
            continue
        spoken = sum(any(sign.isalpha() for sign in word) for word in words)
        if spoken >= 0.9 * len(words) and sum(map(len, words)) <= _TITLE_LENGTH * len(words):
            return name
    return None
