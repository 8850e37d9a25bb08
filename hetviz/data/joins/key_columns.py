"""Columns of datasets that may hold keys, with what is known about their values and names."""

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
from hetviz.data.joins.key_names import (
    column_words,
    is_named_key,
    is_named_measure,
    without_id_words,
    words_of_name,
)
from hetviz.data.joins.keys import column_keys, translate_texts
from hetviz.data.joins.lists import entries_of, separator_of
from hetviz.data.joins.places import place_columns
from hetviz.data.model.dataset import MADE_IDS, Dataset
from hetviz.data.model.heterodata import HeteroData
from hetviz.memo import cached_while_alive

MAX_SAMPLED_KEYS = 2_000
_MAX_COLUMNS = 40
_MAX_MEAN_KEY_LENGTH = 100
_MAX_DIGITS = 15
_LETTERS = re.compile(r"[^\W\d_]")
_ASCII = str.maketrans(ascii_letters + digits, "a" * 52 + "9" * 10)
_DATE = re.compile(r"\d{4}-\d\d?-\d\d?.*|\d{1,2}[./]\d{1,2}[./]\d{2,4}.*|\d{1,2}:\d\d.*")
_FRACTION = re.compile(r"-?\d*[.,]\d+(e-?\d+)?")
_MAX_DATE_SHARE = 0.8


@dataclass(frozen=True, eq=False)
class KeyColumn:
    """Keys of a column or of the ids."""

    # `dataset`, `column`: an empty column stands for the ids.
    dataset: str
    column: str
    separator: str | None  # Separator of cells that list several keys.
    keys: Texts  # Distinct normalised keys.
    uses: Ints  # Number of rows of each key.
    rows: int  # Number of rows with any key.
    called: str  # Name of the column; for ids the name in the file, empty if unknown.
    n_rows: int = 0  # Number of rows of the dataset.
    words: tuple[str, ...] = ()
    is_title: bool = False
    is_date: bool = False
    n_texts: int = 0  # Number of columns of words of the dataset.
    _numbers: dict[int, Ints | None] = field(default_factory=dict, repr=False)

    @property
    def is_id(self) -> bool:
        """Whether these are the ids of the dataset."""
        return not self.column

    @cached_property
    def entity_words(self) -> tuple[str, ...]:
        """The words of the name without those that only mark a key."""
        return without_id_words(self.words)

    @cached_property
    def bare_name(self) -> str:
        """The name as words, for comparison with other names."""
        return "_".join(self.words)

    @cached_property
    def is_named_key(self) -> bool:
        return is_named_key(self.words)

    @cached_property
    def is_measure(self) -> bool:
        """Whether the name denotes a measurement, a time, an order or an attribute."""
        return is_named_measure(self.words)

    @cached_property
    def distinct(self) -> float:
        """Number of distinct keys per use."""
        return len(self.keys) / max(1, int(self.uses.sum()))

    @property
    def is_unique(self) -> bool:
        """Whether every row has a key of its own."""
        return self.rows == self.n_rows and len(self.keys) == self.rows

    @cached_property
    def hashes(self) -> NDArray[np.uint64]:
        return pd.util.hash_array(self.keys, categorize=False)

    @cached_property
    def ends(self) -> tuple[str, str]:
        """The alphabetically first and last key."""
        return min(self.keys), max(self.keys)

    @cached_property
    def patterns(self) -> Counter[str]:
        return Counter(_patterns(self.keys.tolist()))

    @cached_property
    def some_patterns(self) -> list[str]:
        """Patterns of a sample of keys that does not depend on the order of the rows."""
        return _patterns(self.sample)

    @cached_property
    def sample(self) -> list[str]:
        """Some keys, which do not depend on the order of the rows."""
        step = max(1, len(self.keys) // MAX_SAMPLED_KEYS)
        return sorted(self.keys.tolist())[::step]

    @cached_property
    def integers(self) -> Ints | None:
        """The keys as sorted whole numbers, signed or not, or None."""
        texts = self.keys.tolist()
        if not texts or not all(_is_integer(text) for text in texts):
            return None
        return np.sort(np.array(list(map(int, texts)), dtype=np.int64))

    @cached_property
    def has_fractions(self) -> bool:
        """Whether the keys are numbers with decimals."""
        sample = self.sample
        return any(_FRACTION.fullmatch(key) for key in sample) and all(
            _FRACTION.fullmatch(key) or _is_integer(key) for key in sample
        )

    @cached_property
    def letter_share(self) -> float:
        """Share of keys with a letter, in the sample."""
        return sum(any(map(str.isalpha, key)) for key in self.sample) / max(1, len(self.sample))

    @cached_property
    def mean_length(self) -> float:
        """Mean number of characters of a key, in the sample."""
        return sum(map(len, self.sample)) / max(1, len(self.sample))

    @cached_property
    def no_partner_keys(self) -> frozenset[str]:
        """Keys that usually mean that there is no partner: 0 or -1 among positive numbers."""
        if self.integers is None or int((self.integers > 0).sum()) < 3:
            return frozenset()
        return frozenset({"0", "-1"}.intersection(self.keys.tolist()))

    @cached_property
    def counts_up(self) -> bool:
        """Whether the keys are running numbers, which unrelated tables have too."""
        numbers = numbers_after_prefix(self, self)
        if numbers is None:
            return False
        x = numbers[0]
        return len(x) >= 0.9 * (int(x.max()) - int(x.min()) + 1)

    def numbers(self, skip: int) -> Ints | None:
        """Return the keys without their first `skip` letters as whole numbers, or None."""
        if skip not in self._numbers:
            suffixes = [key[skip:] for key in self.keys.tolist()]
            is_numeric = all(
                text.isascii() and text.isdigit() and len(text) <= _MAX_DIGITS for text in suffixes
            )
            self._numbers[skip] = (
                np.array(list(map(int, suffixes)), dtype=np.int64) if is_numeric else None
            )
        return self._numbers[skip]


@dataclass(frozen=True, eq=False)
class SharedKeys:
    """Counts of shared keys; entry [a, b] is for columns a and b."""

    # `keys`, `rows`, `pairs`: shape (columns, columns). Number of shared distinct keys; of uses in
    # a of keys of b; of resulting pairs.
    keys: sp.csr_array
    rows: sp.csr_array
    pairs: sp.csr_array


def key_columns(data: HeteroData) -> list[KeyColumn]:
    """Return the possible key columns of all datasets, the ids first; cached for each dataset."""
    return [column for dataset in data.datasets.values() for column in _columns_of_dataset(dataset)]


def shared_keys(columns: Sequence[KeyColumn]) -> SharedKeys:
    """Count the shared keys of all pairs of columns by one sparse product over key hashes.

    O(K) for K distinct keys of all columns, plus one step for each pair of columns with a common
    key.
    """
    at, distinct = pd.factorize(np.concatenate([column.hashes for column in columns]))
    column_of_key = np.repeat(np.arange(len(columns)), [len(column.keys) for column in columns])
    uses = np.concatenate([column.uses for column in columns]).astype(np.int64)
    # Most keys occur in one column only.
    is_shared = np.bincount(at, minlength=len(distinct))[at] > 1
    at, column_of_key, uses = at[is_shared], column_of_key[is_shared], uses[is_shared]
    shape = (len(distinct), len(columns))
    R = sp.csr_array((uses, (at, column_of_key)), shape=shape)
    B = sp.csr_array((np.ones(len(uses), dtype=np.int64), (at, column_of_key)), shape=shape)
    return SharedKeys((B.T @ B).tocsr(), (R.T @ B).tocsr(), (R.T @ R).tocsr())


def chance_share(a: KeyColumn, b: KeyColumn) -> float:
    """Return the expected share of keys of `a` that occur in `b` by chance.

    Whole numbers, also after a common prefix (item_001): the share of the numbers between the
    smallest and the largest number of `a` that `b` has. Other keys: the share of all texts of the
    same pattern (26 letters, 10 digits, other characters fixed) that `b` has, for at most 2,000
    keys of `a`.
    """
    if (numbers := numbers_after_prefix(a, b)) is not None:
        x, y = numbers
        inside = int(((y >= x.min()) & (y <= x.max())).sum())
        return min(1.0, inside / (int(x.max()) - int(x.min()) + 1))
    shares = [min(1.0, b.patterns[p] / _possible(p)) for p in a.some_patterns]
    return float(np.mean(shares)) if shares else 0.0


@cached_while_alive
def _columns_of_dataset(dataset: Dataset) -> list[KeyColumn]:
    recipe = dataset.recipe or {}
    table = dataset.table if dataset.table is not None else pd.DataFrame()
    # A join names columns as text, so columns with numbers as names are skipped.
    names: Sequence[object] = table.columns.tolist()
    columns = [name for name in names if isinstance(name, str)]
    id_name = str(recipe.get("id", ""))
    words = dict(zip([*columns, id_name], column_words([*columns, id_name]), strict=True))
    out = [] if recipe.get(MADE_IDS) else [_key_column(dataset, "", words[id_name])]
    ids = set(dataset.ids.tolist())
    places = place_columns(dataset) or ()
    for column in columns:
        if len(out) > _MAX_COLUMNS:
            break
        if places == (column,):
            continue
        values = table[column]
        if pd.api.types.is_bool_dtype(values.dtype) or _has_fractions(values):
            continue
        keys_of_column = column_keys(dataset, column)
        texts = keys_of_column.distinct.tolist()
        repeats_ids = len(texts) == len(ids) and ids.issuperset(texts)
        if (
            len(texts) < 2
            or sum(map(len, texts)) > _MAX_MEAN_KEY_LENGTH * len(texts)
            or repeats_ids
        ):
            continue
        # A cell that looks like a list can still be one name, such as "Doe, Jane".
        key_column = _key_column(dataset, column, words[column])
        out.append(key_column)
        if (sign := separator_of(texts)) is not None:
            at, keys = pd.factorize(entries_of(dataset, column, sign, loose=True)["key"])
            uses = np.bincount(at, minlength=len(keys)).astype(np.int64)
            distinct = np.asarray(keys, dtype=object)
            rows = int(keys_of_column.uses.sum())
            out.append(
                KeyColumn(
                    dataset.name, column, sign, distinct, uses, rows, column, len(dataset),
                    key_column.words
                )
            )  # fmt: skip
    return out


def _key_column(dataset: Dataset, column: str, words: tuple[str, ...]) -> KeyColumn:
    keys = column_keys(dataset, column, loose=True)
    rows = int(keys.uses.sum())
    called = column or str((dataset.recipe or {}).get("id", ""))
    is_time = bool(
        column
        and dataset.table is not None
        and pd.api.types.is_datetime64_any_dtype(dataset.table[column].dtype)
    )
    if not is_time:
        sample = keys.distinct[:MAX_SAMPLED_KEYS].tolist()
        n_dates = sum(_DATE.fullmatch(text) is not None for text in sample)
        is_time = n_dates > _MAX_DATE_SHARE * len(sample)
    is_title = bool(column) and column == dataset.title_column
    table = dataset.table
    n_texts = 0 if table is None else sum(map(_is_text, (table[name] for name in table)))
    return KeyColumn(
        dataset.name, column, None, keys.distinct, keys.uses, rows, called, len(dataset),
        words or words_of_name(called), is_title, is_time, n_texts,
    )  # fmt: skip


def _has_fractions(values: pd.Series) -> bool:
    if not pd.api.types.is_float_dtype(values.dtype):
        return False
    finite = values.to_numpy(np.float64)
    finite = finite[np.isfinite(finite)]
    return not len(finite) or bool((finite != np.round(finite)).any())


def _is_text(values: pd.Series) -> bool:
    is_other = pd.api.types.is_numeric_dtype(values.dtype)
    return not is_other and not pd.api.types.is_datetime64_any_dtype(values.dtype)


def _is_integer(text: str) -> bool:
    text = text.removeprefix("-")
    return text.isascii() and text.isdigit() and len(text) <= _MAX_DIGITS


def numbers_after_prefix(a: KeyColumn, b: KeyColumn) -> tuple[Ints, Ints] | None:
    """Return the keys of both columns as whole numbers after a common prefix, or None."""
    if not len(a.keys) or not len(b.keys):
        return None
    # The alphabetically first and last key have the shortest common prefix.
    ends = [*a.ends, *b.ends]
    first, last = min(ends), max(ends)
    prefix_end = next(
        (at for at, (x, y) in enumerate(zip(first, last, strict=False)) if x != y), None
    )
    skip = len(first[:prefix_end].rstrip("0123456789"))
    if not all(end[skip:].isdigit() for end in ends):
        return None
    x, y = a.numbers(skip), b.numbers(skip)
    return None if x is None or y is None else (x, y)


def _patterns(keys: list[str]) -> list[str]:
    """Return each key with "a" for a letter and "9" for a digit."""
    translated = translate_texts(keys, _ASCII)
    return translated or [re.sub(r"\d", "9", _LETTERS.sub("a", key)) for key in keys]


def _possible(pattern: str) -> float:
    return float(10.0 ** min(300, pattern.count("9") + 1.415 * pattern.count("a")))
