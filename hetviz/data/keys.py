"""Keys: what stands in a cell or an id, as text that can be compared."""

from __future__ import annotations

import unicodedata
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hetviz.data.dataset import Dataset
from hetviz.errors import DataError, Problem

# Marks that nobody sees: soft hyphen, zero width spaces and joiners, byte order mark.
_UNSEEN = dict.fromkeys((0x00AD, 0x200B, 0x200C, 0x200D, 0x2060, 0xFEFF))


def folded(text: str) -> str:
    """Return text without what people write now one way, now another.

    Upper and lower case, how many blanks, marks that nobody sees, and the Unicode form of a letter
    (NFKC) do not count.
    """
    if text.isascii():
        return " ".join(text.lower().split())
    form = unicodedata.normalize("NFKC", text.translate(_UNSEEN)).casefold()
    return " ".join(unicodedata.normalize("NFKC", form).split())


def key_of(value: Any) -> str:
    """Return the key that a cell holds, "" where it holds none; 7 and 7.0 are one key."""
    if isinstance(value, str):
        return value.strip()
    if pd.isna(value):
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value).strip()


def cells_of(dataset: Dataset, column: str) -> list[str]:
    """Return the text of each cell of a column, or of each id where `column` is empty.

    Raises
    ------
    hetviz.errors.DataError
        If there is no such column.
    """
    if not column:
        return [text.strip() for text in dataset.ids.tolist()]
    if dataset.table is None or column not in dataset.table.columns:
        raise DataError(
            Problem(
                "unknown-column", f"dataset {dataset.name!r}", "there is no such column", column
            )
        )
    return [key_of(value) for value in dataset.table[column].tolist()]


def keys_of(dataset: Dataset, column: str, loose: bool = False) -> pd.Series:
    """Return the keys that there are, by row; `loose` compares them as `folded` does."""
    cells = cells_of(dataset, column)
    keys = pd.Series(list(map(folded, cells)) if loose else cells, dtype=object)
    return keys[keys != ""]


def quoted(values: list[str], most: int = 3) -> str:
    """Return the first values in quotes, and count the others."""
    named = ", ".join(f"“{value}”" for value in values[:most])
    more = len(values) - most
    return f"{named} and {more:,} more" if more > 0 else named


def alone(rows: NDArray[np.int64], n: int) -> NDArray[np.int64]:
    """Return the rows from 0 to below n that are not among `rows`, in order."""
    free = np.ones(n, dtype=bool)
    free[rows] = False
    return np.flatnonzero(free)
