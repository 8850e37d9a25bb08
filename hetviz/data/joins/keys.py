"""Keys: what stands in a cell or an id, as text that can be compared; read once a dataset."""

from __future__ import annotations

import threading
import unicodedata
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
import pandas as pd

from hetviz._pandas import factorized, is_missing
from hetviz._types import Ints, Texts
from hetviz.data.model.dataset import Dataset
from hetviz.errors import DataError, Problem

# Texts, of all datasets together: about 200 MB.
MOST = 3_000_000

T = TypeVar("T")

Loose = bool | Literal["spelling"]
"""How keys are compared: as they are, as `folded` does, or as `spelled` does."""

# By identity of the dataset, which never changes; what is kept must not hold it alive.
_KEPT: WeakKeyDictionary[Dataset, dict[Hashable, tuple[Any, int]]] = WeakKeyDictionary()
_LOCK = threading.Lock()

# Marks that nobody sees: soft hyphen, zero width spaces and joiners, byte order mark.
_UNSEEN = dict.fromkeys((0x00AD, 0x200B, 0x200C, 0x200D, 0x2060, 0xFEFF))
# Letters whose stroke or shape Unicode does not take off, as it does an accent.
_STROKES = str.maketrans({"ł": "l", "ø": "o", "đ": "d", "ħ": "h", "ŧ": "t", "ı": "i"})
_STROKES |= str.maketrans({"æ": "ae", "œ": "oe"})
# A sign that no text of a table has, between texts that are looked at in one go.
_BETWEEN = "\x00"
_BLANKS = "\t\n\v\f\r\x1c\x1d\x1e\x1f"


def kept(dataset: Dataset, key: Hashable, make: Callable[[], T], size: Callable[[T], int]) -> T:
    """Return what `make` gives, kept as long as `dataset` lives; all goes when there is no room.

    Parameters
    ----------
    dataset : Dataset
    key : hashable
    make : callable
        Its result must not refer to `dataset`. It may run twice when two threads ask at once.
    size : callable
        How many texts the result holds.
    """
    with _LOCK:
        store = _KEPT.setdefault(dataset, {})
        if key in store:
            found: T = store[key][0]
            return found
    made = make()
    with _LOCK:
        if sum(n for each in _KEPT.values() for _, n in each.values()) > MOST:
            for each in _KEPT.values():
                each.clear()
        store[key] = made, size(made)
    return made


@dataclass(frozen=True, eq=False)
class Keys:
    """The keys of a column.

    Attributes
    ----------
    different : array of str, shape (k,)
        In the order in which they first appear.
    at : array of int, shape (n,)
        Row i has key ``different[at[i]]``, or none where it is -1.
    """

    different: Texts
    at: Ints

    @cached_property
    def uses(self) -> Ints:
        """Rows that have each, shape (k,)."""
        return np.bincount(self.at[self.at >= 0], minlength=len(self.different)).astype(np.int64)


def folded(text: str) -> str:
    """Return text without what people write now one way, now another.

    Upper and lower case, how many blanks, marks that nobody sees, and the Unicode form of a letter
    (NFKC) do not count.
    """
    if text.isascii():
        return " ".join(text.lower().split())
    form = unicodedata.normalize("NFKC", text.translate(_UNSEEN)).casefold()
    return " ".join(unicodedata.normalize("NFKC", form).split())


def spelled(text: str) -> str:
    """Return text by its letters and digits alone, where it has letters.

    Accents, strokes through a letter, punctuation and blanks, which people leave out, do not count
    either; numbers stay as they are, as 1.5 is not 15.
    """
    apart = unicodedata.normalize("NFKD", folded(text)).translate(_STROKES)
    plain = "".join(sign for sign in apart if sign.isalnum())
    return plain if any(map(str.isalpha, plain)) else folded(text)


def all_folded(texts: list[str]) -> list[str]:
    """Return `folded` of each text; those in ASCII are done in one go."""
    whole = _whole(texts)
    if whole is None:
        plain = [text for text in texts if text.isascii() and _BETWEEN not in text]
        if len(plain) == len(texts) or not plain:
            return list(map(folded, texts))
        done = dict(zip(plain, all_folded(plain), strict=True))
        return [done[text] if text in done else folded(text) for text in texts]
    parts = whole.lower().split(_BETWEEN)
    return parts if _tidy(whole, "  ") else [" ".join(part.split()) for part in parts]


def all_stripped(texts: list[str]) -> list[str]:
    """Return each text without blanks around it; the same list where there are none."""
    whole = _whole(texts)
    if whole is not None and _tidy(whole):
        return texts
    return [text.strip() for text in texts]


def translated(texts: list[str], table: dict[int, int]) -> list[str] | None:
    """Return each text with other signs, in one go, or None where not all are in ASCII."""
    whole = _whole(texts)
    return None if whole is None else whole.translate(table).split(_BETWEEN)


def _whole(texts: list[str]) -> str | None:
    """Return the texts as one, or None where they would not come apart again or not all ASCII."""
    whole = _BETWEEN.join(texts)
    apart = bool(texts) and whole.isascii() and whole.count(_BETWEEN) == len(texts) - 1
    return whole if apart else None


def _tidy(whole: str, *untidy: str) -> bool:
    """Say whether no blank stands around one of the texts, and no tab or line end anywhere."""
    signs = (*_BLANKS, f" {_BETWEEN}", f"{_BETWEEN} ", *untidy)
    return whole.strip() == whole and not any(sign in whole for sign in signs)


def key_of(value: object) -> str:
    """Return the key that a cell holds, "" where it holds none; 7 and 7.0 are one key."""
    if isinstance(value, str):
        return value.strip()
    # A list or an object, which a saved table may hold, is the key of nothing.
    if not pd.api.types.is_scalar(value) or is_missing(value):
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value).strip()


def column_keys(dataset: Dataset, column: str, loose: Loose = False) -> Keys:
    """Return the keys of a column, or of the ids where `column` is empty; read once a dataset.

    `loose` compares them as `folded` does, "spelling" as `spelled` does; where that changes no key,
    the result is the same object as without it.

    Raises
    ------
    hetviz.errors.DataError
        If there is no such column.

    Notes
    -----
    O(rows), with Python's work for each different value only unless a column mixes types.
    """
    if column and (dataset.table is None or column not in dataset.table.columns):
        raise DataError(
            Problem(
                "unknown-column", f"dataset {dataset.name!r}", "there is no such column", column
            )
        )
    key = ("keys", column, loose)
    if not loose:
        return kept(dataset, key, lambda: _read(dataset, column), lambda k: len(k.different))
    exact = column_keys(dataset, column)
    # The same object takes no room twice.
    return kept(
        dataset, key, lambda: _folded(exact, loose), lambda k: 0 if k is exact else len(k.different)
    )


def together(dataset: Dataset, columns: Sequence[str], loose: Loose = False) -> Ints:
    """Return a number for what several columns say together, by row; -1 where one says nothing.

    Raises
    ------
    hetviz.errors.DataError
        If there is no such column.

    Notes
    -----
    O(rows) for each column.
    """
    at = np.zeros(len(dataset), dtype=np.int64)
    known = np.ones(len(dataset), dtype=bool)
    for column in columns:
        part = column_keys(dataset, column, loose)
        known &= part.at >= 0
        # Numbered again at each step, so that the product of the counts cannot overflow.
        at = pd.factorize(at * (len(part.different) + 1) + part.at)[0].astype(np.int64)
    out = np.full(len(dataset), -1, dtype=np.int64)
    out[known] = pd.factorize(at[known])[0]
    return out


def columns_keys(
    dataset: Dataset, columns: Sequence[str], loose: Loose = False, between: str = " + "
) -> Keys:
    """Return the keys that several columns make together; a row without one of them has none.

    Raises
    ------
    hetviz.errors.DataError
        If there is no such column.

    Notes
    -----
    O(rows) for each column; texts are made for each different key only.
    """
    if len(columns) == 1:
        return column_keys(dataset, columns[0], loose)
    parts = [column_keys(dataset, column, loose) for column in columns]
    at = together(dataset, columns, loose)
    rows = np.flatnonzero(at >= 0)
    first = np.zeros(int(at.max(initial=-1)) + 1, dtype=np.int64)
    first[at[rows][::-1]] = rows[::-1]
    texts = [between.join(str(part.different[part.at[row]]) for part in parts) for row in first]
    return Keys(np.array(texts, dtype=object), at)


def cells_of(dataset: Dataset, column: str) -> list[str]:
    """Return the text of each cell of a column, or of each id where `column` is empty.

    Raises
    ------
    hetviz.errors.DataError
        If there is no such column.
    """
    keys = column_keys(dataset, column)
    # Where there is none, -1 takes the last.
    texts = np.append(keys.different, np.array([""], dtype=object))
    cells: list[str] = texts[keys.at].tolist()
    return cells


def keys_of(dataset: Dataset, column: str, loose: bool = False) -> pd.Series:
    """Return the keys that there are, by row; `loose` compares them as `folded` does."""
    keys = column_keys(dataset, column, loose)
    rows = np.flatnonzero(keys.at >= 0)
    return pd.Series(keys.different[keys.at[rows]], index=rows, dtype=object)


def quoted(values: list[str], most: int = 3) -> str:
    """Return the first values in quotes, and count the others."""
    named = ", ".join(f"“{value}”" for value in values[:most])
    more = len(values) - most
    return f"{named} and {more:,} more" if more > 0 else named


def alone(rows: Ints, n: int) -> Ints:
    """Return the rows from 0 to below n that are not among `rows`, in order."""
    free = np.ones(n, dtype=bool)
    free[rows] = False
    return np.flatnonzero(free)


def members(groups: Ints, of: Ints) -> tuple[Ints, ...]:
    """Return the pairs (i, m) with ``groups[i] == of[m] >= 0``, ordered by i, then by m.

    Notes
    -----
    O(len(groups) + len(of) log len(of) + pairs).
    """
    order = np.argsort(of, kind="stable")
    order = order[of[order] >= 0]
    rows = np.flatnonzero(groups >= 0)
    n = np.bincount(of[order], minlength=int(groups.max(initial=-1)) + 1)
    each = n[groups[rows]]
    first = (np.cumsum(n) - n)[groups[rows]]
    within = np.arange(each.sum()) - np.repeat(np.cumsum(each) - each, each)
    return np.repeat(rows, each), order[np.repeat(first, each) + within]


def _read(dataset: Dataset, column: str) -> Keys:
    if not column or dataset.table is None:
        return _of(all_stripped(dataset.ids.tolist()), np.arange(len(dataset)))
    values = dataset.table[column]
    if values.dtype == object and pd.api.types.infer_dtype(values, skipna=False) != "string":
        # 1 and True are equal and not the same key, so that each cell is read.
        return _of(list(map(key_of, values.tolist())), np.arange(len(dataset)))
    if values.dtype == object:
        own, found = factorized(values.tolist())
        return _of(all_stripped(found.tolist()), own)
    at, different = pd.factorize(values)
    cells = different.tolist()
    if not pd.api.types.is_string_dtype(different.dtype):
        return _of(list(map(key_of, cells)), at)
    texts = all_stripped(cells)
    if texts is cells and "" not in texts:
        return Keys(np.array(texts, dtype=object), at.astype(np.int64))
    return _of(texts, at)


def _folded(exact: Keys, how: Loose) -> Keys:
    texts: list[str] = exact.different.tolist()
    loose = list(map(spelled, texts)) if how == "spelling" else all_folded(texts)
    return exact if loose == texts else _of(loose, exact.at)


def _of(texts: list[str], at: Ints) -> Keys:
    """Return keys of which some may be the same or empty; row i has ``texts[at[i]]``."""
    to, different = factorized(texts)
    held = different != ""
    if held.all() and len(different) == len(texts):
        return Keys(different, at.astype(np.int64))
    # Where there is no text, -1 takes the last.
    place = np.append(np.where(held, np.cumsum(held) - 1, -1)[to], -1)
    return Keys(different[held], place[at].astype(np.int64))
