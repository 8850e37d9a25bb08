"""Columns that are blank or marked, such as with an x: the mark means yes, a blank cell no."""

from __future__ import annotations

import pandas as pd

from hetviz._pandas import TEXT
from hetviz._text import count
from hetviz.errors import Problem
from hetviz.features.columns.types import encode_texts

YES, NO = "yes", "no"
_MARKS = frozenset(
    {
        "x", "xx", "✓", "✔", "☑", "☒", "✗", "✘", "•", "●", "*", "yes", "y", "true", "ja", "j",
        "wahr", "oui", "si", "sí", "sì", "sim",
    }
)  # fmt: skip
_BLANKS = frozenset({"", "-"})


def mark_of(distinct: list[str]) -> str | None:
    """Return the mark of a column from its distinct cells, or None if it has other cells."""
    texts = {text.strip() for text in distinct}
    marks = texts - _BLANKS
    is_mark = len({mark.lower() for mark in marks}) == 1 and min(marks).lower() in _MARKS
    return min(marks) if is_mark and texts & _BLANKS else None


def convert_marks(where: str, cells: pd.Series) -> tuple[pd.Series, list[Problem]]:
    """Return the cells of a column of marks as yes and no, and a note."""
    mark = mark_of(encode_texts(cells)[1])
    if mark is None:
        return cells.str.strip(), []
    blank = cells.fillna("").str.strip().isin(_BLANKS)
    n_blank = int(blank.sum())
    message = (
        f"every cell is blank or “{mark}”, so {count(n_blank, 'blank cell')} "
        f"{'counts' if n_blank == 1 else 'count'} as no"
    )
    remedy = "If blank means unknown, write yes and no."
    note = Problem("marks", where, message, mark, remedy, severity="note")
    return pd.Series(blank.map({True: NO, False: YES}), index=cells.index, dtype=TEXT), [note]
