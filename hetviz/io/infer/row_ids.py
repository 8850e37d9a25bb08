"""Which column of a table holds the ids, and which rows have one that can be used."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection

import numpy as np

from hetviz._types import Bools
from hetviz.data.model.checks import MAX_ID_LENGTH
from hetviz.errors import Problem, listed
from hetviz.io import gate
from hetviz.io.formats.delimited import TableRead, guess_id_column


def id_column_of(read: TableRead, said: str | None) -> str:
    """Return the column of ids: the one that was said, else the one that looks like it.

    Raises
    ------
    hetviz.errors.DataError
        If there is none.
    """
    columns = list(read.frame.columns)
    if said is not None:
        if said in columns:
            return said
        there = f"There are: {', '.join(columns[:20])}."
        raise gate.refusal("unknown-column", read.name, "there is no such column", said, there)
    found = guess_id_column(read.frame)
    if found is None:
        raise gate.refusal(
            "no-ids",
            read.name,
            "no column can serve as id: none has a different value in every row",
            remedy="Add a column named id, with a different value in every row.",
        )
    return found


def rows_with_ids(read: TableRead, id_column: str, problems: list[Problem]) -> Bools:
    """Say of each row whether its id can be used, (n,); `problems` tells of those that cannot."""
    seen: dict[str, int] = {}
    good = np.ones(len(read.frame), dtype=bool)
    bad: list[tuple[int, str, tuple[str, str, str]]] = []
    for row, text in enumerate(read.frame[id_column].tolist()):
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


def _alike(place: str, ids: Collection[str]) -> list[Problem]:
    """Tell of ids that people would read as the same."""
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
