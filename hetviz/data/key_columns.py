"""Columns that may hold keys, what they share, and how much of that is chance."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import NDArray

from hetviz.data.dataset import Dataset
from hetviz.data.heterodata import HeteroData
from hetviz.data.keys import folded, key_of
from hetviz.data.listing import entries_of, separator_of

_MOST_COLUMNS = 40
_LONGEST = 100
_SAMPLED = 2_000
# Words that say that a column is a key, and not of what.
_GENERIC = frozenset({"id", "ids", "key", "code", "name", "title", "label", "no", "nr", "ref"})
_LETTERS = re.compile(r"[^\W\d_]")


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
        The distinct ones, folded, in order.
    uses : array of int
        Rows that have each.
    rows : int
        Rows that have any.
    """

    dataset: str
    column: str
    separator: str | None
    keys: NDArray[np.object_]
    uses: NDArray[np.int64]
    rows: int

    @property
    def distinct(self) -> float:
        """How many different keys there are for each use."""
        return len(self.keys) / max(1, int(self.uses.sum()))


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

    Columns of fractions, of one value, and of long text hold none; of a table, the first 40 that
    may are looked at.
    """
    return [column for dataset in data.datasets.values() for column in _of_dataset(dataset)]


def shared(columns: Sequence[KeyColumn]) -> Shared:
    """Count what each two columns share, by one sparse product over the hashes of their keys.

    Notes
    -----
    O(K log K) for K distinct keys of all columns together, and one step for each two columns that
    share a key; never a comparison of two columns key by key.
    """
    hashes = [pd.util.hash_array(column.keys, categorize=False) for column in columns]
    _, at = np.unique(np.concatenate(hashes), return_inverse=True)
    place = np.repeat(np.arange(len(columns)), [len(one) for one in hashes])
    uses = np.concatenate([column.uses for column in columns]).astype(np.int64)
    shape = (int(at.max(initial=-1)) + 1, len(columns))
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
    patterns = Counter(map(_pattern, b.keys.tolist()))
    shares = [
        min(1.0, patterns[pattern] / possible)
        for pattern, possible in ((p, _possible(p)) for p in map(_pattern, _sample(a.keys)))
    ]
    return float(np.mean(shares)) if shares else 0.0


def counts_up(column: KeyColumn) -> bool:
    """Say whether keys are running numbers, as unrelated tables have them too."""
    numbers = _numbers(column, column)
    if numbers is None:
        return False
    x = numbers[0]
    return len(x) >= 0.9 * (int(x.max()) - int(x.min()) + 1)


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


def _of_dataset(dataset: Dataset) -> list[KeyColumn]:
    ids = Counter(dataset.ids.tolist())
    found = [_folded(dataset, "", ids)]
    table = dataset.table if dataset.table is not None else pd.DataFrame()
    for column in map(str, table.columns):
        if len(found) > _MOST_COLUMNS:
            break
        values = table[column]
        if pd.api.types.is_bool_dtype(values.dtype) or _fractions(values):
            continue
        held = _counts(values)
        total = sum(held.values())
        if len(held) < 2 or sum(map(len, held)) > _LONGEST * len(held) or held == ids:
            continue
        sign = separator_of(held)
        if sign is None:
            found.append(_folded(dataset, column, held))
        else:
            entries = entries_of(dataset, column, sign, loose=True)
            uses = Counter(entries["key"].tolist())
            found.append(_counted(dataset, column, sign, uses, total))
    return found


def _counts(values: pd.Series) -> Counter[str]:
    """Count the rows of each key; only different values are looked at one by one."""
    counts: Counter[str] = Counter()
    for value, n in Counter(values.tolist()).items():
        key = key_of(value)
        if key:
            counts[key] += n
    return counts


def _fractions(values: pd.Series) -> bool:
    if not pd.api.types.is_float_dtype(values.dtype):
        return False
    known = values.to_numpy(np.float64)
    known = known[np.isfinite(known)]
    return not len(known) or bool((known != np.round(known)).any())


def _folded(dataset: Dataset, column: str, held: Counter[str]) -> KeyColumn:
    counts: Counter[str] = Counter()
    for key, n in held.items():
        if folded(key):
            counts[folded(key)] += n
    return _counted(dataset, column, None, counts, sum(counts.values()))


def _counted(
    dataset: Dataset, column: str, sign: str | None, counts: Counter[str], rows: int
) -> KeyColumn:
    keys = np.empty(len(counts), dtype=object)
    keys[:] = sorted(counts)
    uses = np.array([counts[key] for key in keys], dtype=np.int64)
    return KeyColumn(dataset.name, column, sign, keys, uses, rows)


def _sample(keys: NDArray[np.object_]) -> list[str]:
    """Return some of the keys, the same ones whatever the order of the rows."""
    step = max(1, len(keys) // _SAMPLED)
    return [str(key) for key in keys[::step]]


def _numbers(a: KeyColumn, b: KeyColumn) -> tuple[NDArray[np.int64], NDArray[np.int64]] | None:
    """Return both columns' keys as whole numbers, after a beginning that all share, or None."""
    if not len(a.keys) or not len(b.keys):
        return None
    # Keys are in order, so that no two have fewer first letters in common than these ends.
    ends = [str(key) for part in (a.keys, b.keys) for key in (part[0], part[-1])]
    first, last = min(ends), max(ends)
    same = next((at for at, (x, y) in enumerate(zip(first, last, strict=False)) if x != y), None)
    skip = len(first[:same].rstrip("0123456789"))
    out = []
    for column in (a, b):
        rest = [str(key)[skip:] for key in column.keys]
        if not all(text.isascii() and text.isdigit() and len(text) < 16 for text in rest):
            return None
        out.append(np.array(rest).astype(np.int64))
    return out[0], out[1]


def _pattern(key: str) -> str:
    return re.sub(r"\d", "9", _LETTERS.sub("a", key))


def _possible(pattern: str) -> float:
    return float(10.0 ** min(300, pattern.count("9") + 1.415 * pattern.count("a")))


def _words(name: str) -> set[str]:
    words = {word for word in re.split(r"[\W\d_]+", name.casefold()) if word}
    singular = {
        word[:-3] + "y" if word.endswith("ies") else word.removesuffix("s") for word in words
    }
    return singular - _GENERIC
