"""Columns that may hold keys, what they share, and how much of that is chance."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from string import ascii_letters, digits

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import NDArray

from hetviz._types import Ints, Texts
from hetviz.data.joins.column_cache import kept
from hetviz.data.joins.geographic import place_columns
from hetviz.data.joins.keys import column_keys, translated
from hetviz.data.joins.list_columns import entries_of, separator_of
from hetviz.data.model.dataset import Dataset
from hetviz.data.model.heterodata import HeteroData

_MOST_COLUMNS = 40
_LONGEST = 100
_SAMPLED = 2_000
# Words that say that a column is a key, and not of what.
_GENERIC = frozenset({"id", "ids", "key", "code", "name", "title", "label", "no", "nr", "ref"})
_LETTERS = re.compile(r"[^\W\d_]")
_ASCII = str.maketrans(ascii_letters + digits, "a" * 52 + "9" * 10)


@dataclass(frozen=True, eq=False)
class KeyColumn:
    """A column, or the ids, as keys.

    Attributes
    ----------
    dataset, column : str
        An empty column is the ids.
    separator : str or None
        Where cells list several keys.
    keys : array of str
        The distinct ones, folded.
    uses : array of int
        Rows that have each.
    rows : int
        Rows that have any.
    """

    dataset: str
    column: str
    separator: str | None
    keys: Texts
    uses: Ints
    rows: int
    _numbers: dict[int, Ints | None] = field(default_factory=dict, repr=False)

    @cached_property
    def distinct(self) -> float:
        """How many different keys there are for each use."""
        return len(self.keys) / max(1, int(self.uses.sum()))

    @cached_property
    def hashes(self) -> NDArray[np.uint64]:
        """One number for each key."""
        return pd.util.hash_array(self.keys, categorize=False)

    @cached_property
    def ends(self) -> tuple[str, str]:
        """The first and the last key in the alphabet."""
        return min(self.keys), max(self.keys)

    @cached_property
    def patterns(self) -> Counter[str]:
        """How many keys there are of each pattern."""
        return Counter(_patterns(self.keys.tolist()))

    @cached_property
    def some_patterns(self) -> list[str]:
        """The patterns of some keys, the same ones whatever the order of the rows."""
        step = max(1, len(self.keys) // _SAMPLED)
        return _patterns(sorted(self.keys.tolist())[::step])

    @cached_property
    def counts_up(self) -> bool:
        """Whether the keys are running numbers, as unrelated tables have them too."""
        numbers = _numbers(self, self)
        if numbers is None:
            return False
        x = numbers[0]
        return len(x) >= 0.9 * (int(x.max()) - int(x.min()) + 1)

    def numbers(self, skip: int) -> Ints | None:
        """Return the keys without so many first letters as whole numbers, or None."""
        if skip not in self._numbers:
            rest = [key[skip:] for key in self.keys.tolist()]
            whole = all(text.isascii() and text.isdigit() and len(text) < 16 for text in rest)
            self._numbers[skip] = np.array(list(map(int, rest)), dtype=np.int64) if whole else None
        return self._numbers[skip]


@dataclass(frozen=True, eq=False)
class Shared:
    """What columns share; entry [a, b] is of columns a and b.

    Attributes
    ----------
    keys, rows, pairs : sparse array of shape (columns, columns)
        Distinct keys of both; uses in a of keys that b has; pairs that they would make.
    """

    keys: sp.csr_array
    rows: sp.csr_array
    pairs: sp.csr_array


def key_columns(data: HeteroData) -> list[KeyColumn]:
    """Return the columns of all datasets that may hold keys, the ids first.

    Columns of fractions, of places, of one value, and of long text hold none; of a table, the first
    40 that may are looked at. They are read once a dataset.
    """
    return [column for dataset in data.datasets.values() for column in _kept(dataset)]


def shared(columns: Sequence[KeyColumn]) -> Shared:
    """Count what each two columns share, by one sparse product over the hashes of their keys.

    Notes
    -----
    O(K) for K distinct keys of all columns together, and one step for each two columns that share a
    key; never a comparison of two columns key by key.
    """
    at, different = pd.factorize(np.concatenate([column.hashes for column in columns]))
    place = np.repeat(np.arange(len(columns)), [len(column.keys) for column in columns])
    uses = np.concatenate([column.uses for column in columns]).astype(np.int64)
    # Most keys stand in one column only.
    several = np.bincount(at, minlength=len(different))[at] > 1
    at, place, uses = at[several], place[several], uses[several]
    shape = (len(different), len(columns))
    R = sp.csr_array((uses, (at, place)), shape=shape)
    B = sp.csr_array((np.ones(len(uses), dtype=np.int64), (at, place)), shape=shape)
    return Shared((B.T @ B).tocsr(), (R.T @ B).tocsr(), (R.T @ R).tocsr())


def chance(a: KeyColumn, b: KeyColumn) -> float:
    """Return the share of a's keys that would be among b's if both were made up blindly.

    Whole numbers, also after a beginning that all keys have (item_001): the share of the numbers
    from a's least to its greatest that b has. Other keys: of all texts of the same pattern (26
    letters, 10 digits, other signs as they are), the share that b has. Of at most 2,000 keys of a.
    """
    numbers = _numbers(a, b)
    if numbers is not None:
        x, y = numbers
        inside = int(((y >= x.min()) & (y <= x.max())).sum())
        return min(1.0, inside / (int(x.max()) - int(x.min()) + 1))
    shares = [min(1.0, b.patterns[p] / _possible(p)) for p in a.some_patterns]
    return float(np.mean(shares)) if shares else 0.0


def called_alike(a: KeyColumn, b: KeyColumn) -> bool:
    """Say whether the name of one column points to the other, or to its dataset."""
    if not a.column and not b.column:
        return False
    words_a, words_b = _words(a.column), _words(b.column)
    return bool(
        words_a & words_b
        or (words_a & _words(b.dataset) and a.column)
        or (words_b & _words(a.dataset) and b.column)
    )


def _kept(dataset: Dataset) -> list[KeyColumn]:
    # Their texts are those of `column_keys` and `entries_of`, which are counted there.
    return kept(dataset, "key columns", lambda: _of_dataset(dataset), lambda _: 0)


def _of_dataset(dataset: Dataset) -> list[KeyColumn]:
    found = [_key_column(dataset, "")]
    ids = set(dataset.ids.tolist())
    table = dataset.table if dataset.table is not None else pd.DataFrame()
    places = place_columns(dataset) or ()
    for column in map(str, table.columns):
        if len(found) > _MOST_COLUMNS:
            break
        if places == (column,):
            continue
        values = table[column]
        if pd.api.types.is_bool_dtype(values.dtype) or _fractions(values):
            continue
        held = column_keys(dataset, column)
        texts = held.different.tolist()
        again = len(texts) == len(ids) and ids.issuperset(texts)
        if len(texts) < 2 or sum(map(len, texts)) > _LONGEST * len(texts) or again:
            continue
        sign = separator_of(texts)
        if sign is None:
            found.append(_key_column(dataset, column))
        else:
            at, keys = pd.factorize(entries_of(dataset, column, sign, loose=True)["key"])
            uses = np.bincount(at, minlength=len(keys)).astype(np.int64)
            different = np.asarray(keys, dtype=object)
            rows = int(held.uses.sum())
            found.append(KeyColumn(dataset.name, column, sign, different, uses, rows))
    return found


def _key_column(dataset: Dataset, column: str) -> KeyColumn:
    keys = column_keys(dataset, column, loose=True)
    return KeyColumn(dataset.name, column, None, keys.different, keys.uses, int(keys.uses.sum()))


def _fractions(values: pd.Series) -> bool:
    if not pd.api.types.is_float_dtype(values.dtype):
        return False
    known = values.to_numpy(np.float64)
    known = known[np.isfinite(known)]
    return not len(known) or bool((known != np.round(known)).any())


def _numbers(a: KeyColumn, b: KeyColumn) -> tuple[Ints, Ints] | None:
    """Return both columns' keys as whole numbers, after a beginning that all share, or None."""
    if not len(a.keys) or not len(b.keys):
        return None
    # No two keys have fewer first letters in common than the first and the last in the alphabet.
    ends = [*a.ends, *b.ends]
    first, last = min(ends), max(ends)
    same = next((at for at, (x, y) in enumerate(zip(first, last, strict=False)) if x != y), None)
    skip = len(first[:same].rstrip("0123456789"))
    if not all(end[skip:].isdigit() for end in ends):
        return None
    x, y = a.numbers(skip), b.numbers(skip)
    return None if x is None or y is None else (x, y)


def _patterns(keys: list[str]) -> list[str]:
    """Return each key with "a" for a letter and "9" for a digit."""
    found = translated(keys, _ASCII)
    return found or [re.sub(r"\d", "9", _LETTERS.sub("a", key)) for key in keys]


def _possible(pattern: str) -> float:
    return float(10.0 ** min(300, pattern.count("9") + 1.415 * pattern.count("a")))


def _words(name: str) -> set[str]:
    words = {word for word in re.split(r"[\W\d_]+", name.casefold()) if word}
    singular = {
        word[:-3] + "y" if word.endswith("ies") else word.removesuffix("s") for word in words
    }
    return singular - _GENERIC
