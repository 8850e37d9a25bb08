"""Detection of the id column of a table; row numbers are the fallback."""

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
"""Name of the id column of a table without ids."""

ID_CELL_SEPARATOR = " · "
"""Separator between the cells of several id columns."""

ID_NAME_SEPARATOR = " + "
"""Separator between the names of several id columns."""

_NUMBER = re.compile(r"[+-]?[\d.,'’\u00a0\u202f ]*\d[\d.,]*(?:[eE][+-]?\d+)?[ \u00a0]?[%€$£]?")
_FRACTION = re.compile(r"[.,]\d")
_DATE = re.compile(
    r"\d{4}-\d{1,2}(-\d{1,2})?([ T]\d{1,2}:\d{2}.*)?"
    r"|\d{1,2}[./]\d{1,2}[./]\d{2,4}.*|\d{1,2}:\d{2}.*"
)
_MAX_NUMBER_SHARE = 0.5
_MAX_MEAN_CHARS = 60
_MAX_MEAN_WORDS = 8
_FIRST_ROWS = 1_000


@dataclass(frozen=True)
class IdCandidate:
    """Columns that could form the id of the rows, with counts."""

    columns: tuple[str, ...]
    n_distinct: int
    n_empty: int
    n_rows: int

    @property
    def fits(self) -> bool:
        """Whether every row has a value and all are different."""
        return self.n_rows > 0 and self.n_distinct == self.n_rows and not self.n_empty

    @property
    def words(self) -> str:
        """A sentence for the user."""
        name = ID_NAME_SEPARATOR.join(self.columns)
        if self.fits:
            return f"{name}: different in all {count(self.n_rows, 'row')}"
        empty = f", {self.n_empty:,} empty" if self.n_empty else ""
        return f"{name}: {self.n_distinct:,} different in {count(self.n_rows, 'row')}{empty}"


def id_candidate(frame: pd.DataFrame, columns: Sequence[str]) -> IdCandidate:
    """Return the counts of columns as a possible id."""
    cells = joined_ids(frame, columns)
    empty = np.zeros(len(frame), dtype=bool)
    for name in columns:
        empty |= frame[name].str.strip().eq("").to_numpy(dtype=bool)
    return IdCandidate(
        tuple(map(str, columns)), int(cells[~empty].nunique()), int(empty.sum()), len(frame)
    )


def id_candidates(frame: pd.DataFrame) -> list[IdCandidate]:
    """Return possible id columns, best first, then pairs that fit only together."""
    single = [
        id_candidate(frame, [name]) for name in frame.columns if not holds_measurements(frame[name])
    ]
    named = [
        option.columns[0] for option in single if is_named_id(option.columns[0]) and not option.fits
    ]
    together: list[IdCandidate] = []
    if not any(option.fits and is_named_id(option.columns[0]) for option in single):
        sets = [(a, b) for at, a in enumerate(named) for b in named[at + 1 :]][:20]
        others = [option.columns[0] for option in single if option.columns[0] not in named]
        sets += [(a, b) for a in named[:3] for b in others[:4]]
        together = [option for pair in sets if (option := id_candidate(frame, pair)).fits]
    fits = [option for option in single if option.fits]
    unfit = sorted(
        (option for option in single if not option.fits),
        key=lambda option: (-option.n_distinct, option.n_empty),
    )
    guessed = guess_id_column(frame)
    fits.sort(key=lambda option: option.columns[0] != guessed)
    return [*fits, *together, *unfit]


def joined_ids(frame: pd.DataFrame, columns: Sequence[str]) -> pd.Series:
    """Return the joined ids of some columns."""
    ids = frame[columns[0]]
    for name in columns[1:]:
        ids = ids + ID_CELL_SEPARATOR + frame[name]
    return ids


def add_id_column(
    frame: pd.DataFrame, row: Sequence[int], columns: Sequence[str]
) -> tuple[pd.DataFrame, str]:
    """Return a table with one id column (joined columns or row numbers), and its name."""
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
    """Return the id column: one named as an id, else the first unique short texts, else None."""
    if not len(frame) or not frame.shape[1]:
        return next((str(name) for name in frame.columns if str(name).lower() == "id"), None)
    names = list(map(str, frame.columns))
    exact = [name for name in names if name.strip().lower() == "id"]
    named = [name for name in names if name not in exact and is_named_id(name)]
    for name in [*exact, *named]:
        if is_unique(frame[name]) and not holds_measurements(frame[name]):
            return name
    if names[0] in ("row", "column_1") and _is_counter(frame[names[0]]):
        return names[0]
    # Names of people are not safe ids.
    people = full_name(names) or ()
    for name in names:
        if name in exact or name in named or name in people or is_measured(name):
            continue
        if _is_code_or_text(frame[name]) and is_unique(frame[name]):
            return name
    return None


def is_unique(cells: pd.Series) -> bool:
    """Return whether every row has a value of its own."""
    # Most columns repeat values soon.
    parts = (cells.head(_FIRST_ROWS), cells)
    return all(part.is_unique and part.str.strip().ne("").all() for part in parts)


def holds_measurements(cells: pd.Series) -> bool:
    """Whether a column contains decimals, dates or times."""
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
    """Whether a column contains short texts or codes."""
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
    """Whether digits begin with a zero and are a code."""
    return len(cell) > 1 and cell[0] == "0" and cell.isdigit()


def _is_counter(cells: pd.Series) -> bool:
    texts = cells.tolist()
    first = texts[0].strip()
    if first not in ("0", "1"):
        return False
    return all(cell.strip() == str(at + int(first)) for at, cell in enumerate(texts))


def _sample(cells: pd.Series) -> list[str]:
    """Return at most 500 filled cells, evenly from the column."""
    step = max(1, len(cells) // 500)
    return [cell for text in cells.iloc[::step].tolist() if (cell := text.strip())]
