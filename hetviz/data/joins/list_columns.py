"""Columns whose cells list several ids or tags, as in "red; round"."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain

import numpy as np
import pandas as pd

from hetviz.data.joins.column_cache import kept
from hetviz.data.joins.keys import Keys, all_folded, all_stripped, column_keys, members
from hetviz.data.model.dataset import Dataset
from hetviz.errors import ParameterError

SEPARATORS = (";", "|", "\n", ",", "/")
_LISTS_FROM = 0.2
_WORDS_MOST = 3.0
_SAMPLED = 2_000


def separator_of(cells: Iterable[str]) -> str | None:
    """Return the sign that parts the entries of a column, or None where it lists nothing.

    A fifth of the different cells must have it, and entries must be short, three words in the mean:
    prose has commas too. Of more than 2,000 different cells, 2,000 are looked at, the same ones
    whatever their order.
    """
    different = {cell for cell in cells if cell}
    whole = "".join(different)
    if not any(sign in whole for sign in SEPARATORS):
        return None
    held = _some(different)
    best, most = None, max(1.0, _LISTS_FROM * len(held))
    for sign in SEPARATORS:
        listing = [cell for cell in held if sign in cell]
        if len(listing) < most:
            continue
        parts = [part for cell in listing for part in cell.split(sign) if part.strip()]
        words = sum(len(part.split()) for part in parts) / max(1, len(parts))
        if words <= _WORDS_MOST and len(parts) > len(listing):
            best, most = sign, len(listing) + 1.0
    return best


def _some(cells: set[str]) -> list[str]:
    """Return the cells whose hashes are the least, as many as are looked at."""
    texts = list(cells)
    if len(texts) <= _SAMPLED:
        return texts
    hashes = pd.util.hash_array(np.array(texts, dtype=object), categorize=False)
    return [texts[at] for at in np.argpartition(hashes, _SAMPLED)[:_SAMPLED]]


def entries_of(dataset: Dataset, column: str, separator: str, loose: bool = False) -> pd.DataFrame:
    """Return what a column lists: row, text and key of each entry, each key once a row.

    It is read once a dataset, and must not be changed.

    Raises
    ------
    hetviz.errors.DataError
        If there is no such column.
    hetviz.errors.ParameterError
        If there is no separator.

    Notes
    -----
    O(entries), with Python's work for each different cell.
    """
    if not separator:
        raise ParameterError("separator is empty; it must be the sign between two entries.")
    key = ("entries", column, separator, loose)
    return kept(dataset, key, lambda: _entries(column_keys(dataset, column), separator, loose), len)


def _entries(cells: Keys, separator: str, loose: bool) -> pd.DataFrame:
    listed = [text.split(separator) for text in cells.different.tolist()]
    cell = np.repeat(np.arange(len(listed)), np.array(list(map(len, listed)), dtype=np.int64))
    as_read, parts = pd.factorize(np.array(list(chain.from_iterable(listed)), dtype=object))
    at, texts = pd.factorize(np.array(all_stripped(list(parts)), dtype=object), sort=True)
    keys = np.array(all_folded(list(texts)), dtype=object) if loose else texts
    key, different = pd.factorize(keys)
    at = at[as_read]
    # Of entries of a cell that are one key, the first in the alphabet stands.
    order = np.lexsort((at, cell))
    order = order[(keys != "")[at[order]]]
    again = pd.Series(cell[order] * max(1, len(different)) + key[at[order]]).duplicated()
    order = order[~again.to_numpy()]
    rows, of = members(cells.at, cell[order])
    at = at[order][of]
    return pd.DataFrame(
        {
            "row": rows,
            "text": pd.Series(np.asarray(texts, dtype=object)[at], dtype=object),
            "key": pd.Series(np.asarray(different, dtype=object)[key[at]], dtype=object),
        }
    )
