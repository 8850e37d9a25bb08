"""Which column of a table, if any, holds the ids of its rows; else the numbers of the rows do."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from hetviz._pandas import TEXT
from hetviz._text import count
from hetviz.features.columns.names import is_measured, is_named_id
from hetviz.features.columns.types import MISSING
from hetviz.io.infer.titles import full_name

ROW_NUMBER = "row number"
"""What the ids of a table without a column of ids are called."""

ID_CELL_SEPARATOR = " · "
"""What stands between the cells of several columns that are the id together."""

ID_NAME_SEPARATOR = " + "
"""What stands between the names of such columns."""

_NUMBER = re.compile(r"[+-]?[\d.,'’\u00a0\u202f ]*\d[\d.,]*(?:[eE][+-]?\d+)?[ \u00a0]?[%€$£]?")
_FRACTION = re.compile(r"[.,]\d")
_DATE = re.compile(
    r"\d{4}-\d{1,2}(-\d{1,2})?([ T]\d{1,2}:\d{2}.*)?"
    r"|\d{1,2}[./]\d{1,2}[./]\d{2,4}.*|\d{1,2}:\d{2}.*"
)
_MAX_NUMBER_SHARE = 0.5
_MAX_MEAN_CHARS = 60
_MAX_MEAN_WORDS = 8


@dataclass(frozen=True)
class IdCandidate:
    """How well some columns together could be the id of the rows.

    Attributes
    ----------
    columns : tuple of str
    n_distinct : int
        How many rows differ in them, those counted once that are the same.
    n_empty : int
        Rows in which one of them is empty.
    n_rows : int
    """

    columns: tuple[str, ...]
    n_distinct: int
    n_empty: int
    n_rows: int

    @property
    def fits(self) -> bool:
        """Whether every row has one, and no two the same."""
        return self.n_rows > 0 and self.n_distinct == self.n_rows and not self.n_empty

    @property
    def words(self) -> str:
        """The account of it, for people."""
        name = ID_NAME_SEPARATOR.join(self.columns)
        if self.fits:
            return f"{name}: different in all {count(self.n_rows, 'row')}"
        empty = f", {self.n_empty:,} empty" if self.n_empty else ""
        return f"{name}: {self.n_distinct:,} different in {count(self.n_rows, 'row')}{empty}"


def id_candidate(frame: pd.DataFrame, columns: Sequence[str]) -> IdCandidate:
    """Return how well columns of a table of text could be the id of its rows together."""
    cells = joined_ids(frame, columns)
    empty = np.zeros(len(frame), dtype=bool)
    for name in columns:
        empty |= frame[name].str.strip().eq("").to_numpy(dtype=bool)
    return IdCandidate(
        tuple(map(str, columns)), int(cells[~empty].nunique()), int(empty.sum()), len(frame)
    )


def id_candidates(frame: pd.DataFrame) -> list[IdCandidate]:
    """Return each column that is not of fractions as an id, those that fit best first.

    Columns that only together differ in every row stand behind, where two or three columns that
    are named as ids do.

    Notes
    -----
    O(n) for each column, and for at most 20 of their pairs and triples.
    """
    singles = [
        id_candidate(frame, [name])
        for name in frame.columns
        if not _holds_measurements(frame[name])
    ]
    named = [one.columns[0] for one in singles if is_named_id(one.columns[0]) and not one.fits]
    together: list[IdCandidate] = []
    if not any(one.fits and is_named_id(one.columns[0]) for one in singles):
        sets = [(a, b) for at, a in enumerate(named) for b in named[at + 1 :]][:20]
        others = [one.columns[0] for one in singles if one.columns[0] not in named]
        sets += [(a, b) for a in named[:3] for b in others[:4]]
        together = [one for pair in sets if (one := id_candidate(frame, pair)).fits]
    fits = [one for one in singles if one.fits]
    rest = sorted(
        (one for one in singles if not one.fits), key=lambda one: (-one.n_distinct, one.n_empty)
    )
    guessed = guess_id_column(frame)
    fits.sort(key=lambda one: one.columns[0] != guessed)
    return [*fits, *together, *rest]


def joined_ids(frame: pd.DataFrame, columns: Sequence[str]) -> pd.Series:
    """Return the ids that columns of a table of text give together, one for each row."""
    ids = frame[columns[0]]
    for name in columns[1:]:
        ids = ids + ID_CELL_SEPARATOR + frame[name]
    return ids


def add_id_column(
    frame: pd.DataFrame, row: Sequence[int], columns: Sequence[str]
) -> tuple[pd.DataFrame, str]:
    """Return a table with one column of ids, and its name.

    Parameters
    ----------
    frame : DataFrame of n rows
        Cells as text.
    row : sequence of n int
        The row of the file, from 0, that each came from.
    columns : sequence of str
        What the ids are; nothing for the numbers of the rows. One column is used as it is, several
        stay what they are beside the new one.
    """
    if len(columns) == 1:
        return frame, str(columns[0])
    name = ID_NAME_SEPARATOR.join(columns) if columns else ROW_NUMBER
    while name in frame.columns:
        name += " (id)"
    ids = (
        joined_ids(frame, columns)
        if columns
        else pd.Series([str(at + 1) for at in row], dtype=TEXT)
    )
    ids.index = frame.index
    return pd.concat([pd.DataFrame({name: ids}), frame], axis=1), name


def guess_id_column(frame: pd.DataFrame) -> str | None:
    """Return the column of ids: one named so, else the first of short texts; None without any.

    Notes
    -----
    Each cell of it is filled and no two are alike. Fractions, dates and times are never ids, and
    whole numbers only in a column that is named as ids are: a measurement whose values happen to
    differ must not be lost to the features.
    """
    if not len(frame) or not frame.shape[1]:
        return next((str(name) for name in frame.columns if str(name).lower() == "id"), None)
    names = list(map(str, frame.columns))
    exact = [name for name in names if name.strip().lower() == "id"]
    named = [name for name in names if name not in exact and is_named_id(name)]
    for name in [*exact, *named]:
        if _is_unique(frame[name]) and not _holds_measurements(frame[name]):
            return name
    if names[0] in ("row", "column_1") and _is_counter(frame[names[0]]):
        return names[0]
    # Two people may have the same name some day.
    people = full_name(names) or ()
    for name in names:
        if name in exact or name in named or name in people or is_measured(name):
            continue
        if _is_code_or_text(frame[name]) and _is_unique(frame[name]):
            return name
    return None


def _is_unique(cells: pd.Series) -> bool:
    return bool(cells.is_unique and cells.str.strip().ne("").all())


def _holds_measurements(cells: pd.Series) -> bool:
    """Whether a column holds numbers with decimals, dates or times, so no ids."""
    sample = _sample(cells)
    if not sample:
        return False
    dates = sum(bool(_DATE.fullmatch(cell)) for cell in sample)
    numbers = sum(bool(_NUMBER.fullmatch(cell)) for cell in sample)
    broken = sum(bool(_FRACTION.search(cell)) for cell in sample if _NUMBER.fullmatch(cell))
    return dates > _MAX_NUMBER_SHARE * len(sample) or (
        numbers > _MAX_NUMBER_SHARE * len(sample) and broken > 0
    )


def _is_code_or_text(cells: pd.Series) -> bool:
    """Whether a column holds short texts, or numbers that can only be codes."""
    sample = _sample(cells)
    if not sample or any(cell.lower() in MISSING - {"na", "nan"} for cell in sample):
        return False
    if not (all(cell.isdigit() for cell in sample) and any(map(_is_code, sample))):
        plain = sum(bool(_DATE.fullmatch(cell) or _NUMBER.fullmatch(cell)) for cell in sample)
        if plain > _MAX_NUMBER_SHARE * len(sample):
            return False
    short = sum(map(len, sample)) <= _MAX_MEAN_CHARS * len(sample)
    return short and sum(len(cell.split()) for cell in sample) <= _MAX_MEAN_WORDS * len(sample)


def _is_code(cell: str) -> bool:
    """Whether digits are a code: a number does not begin with a zero."""
    return len(cell) > 1 and cell[0] == "0" and cell.isdigit()


def _is_counter(cells: pd.Series) -> bool:
    texts = cells.tolist()
    first = texts[0].strip()
    if first not in ("0", "1"):
        return False
    return all(cell.strip() == str(at + int(first)) for at, cell in enumerate(texts))


def _sample(cells: pd.Series) -> list[str]:
    """Return filled cells from all over a column, 500 at most."""
    step = max(1, len(cells) // 500)
    return [cell for text in cells.iloc[::step].tolist() if (cell := text.strip())]
