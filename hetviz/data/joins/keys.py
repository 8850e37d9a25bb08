"""Keys of rows as comparable text, from ids or columns, cached for each dataset."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
import pandas as pd

from hetviz._pandas import factorize, is_missing
from hetviz._text import join_first
from hetviz._types import Ints, Texts
from hetviz.data.model.dataset import Dataset
from hetviz.errors import DataError
from hetviz.memo import Memo

LooseKeys = bool | Literal["spelling", "zeros"]
"""Comparison of keys: exact (False), by `normalise_key` (True), by `normalise_spelling`, or without
the zeros in front of whole numbers ("zeros")."""

# Not those of a decimal part.
ZEROS_IN_FRONT = re.compile(r"(?<![0-9.,])0+(?=[0-9])")
# Invisible characters: soft hyphen, zero width spaces and joiners, byte order mark.
_INVISIBLE = dict.fromkeys((0x00AD, 0x200B, 0x200C, 0x200D, 0x2060, 0xFEFF))
# Letters that Unicode normalisation does not decompose.
_STROKES = str.maketrans({"ł": "l", "ø": "o", "đ": "d", "ħ": "h", "ŧ": "t", "ı": "i"})
_STROKES |= str.maketrans({"æ": "ae", "œ": "oe"})
# Separates texts that are processed as one string; no table text contains it.
_TEXT_END = "\x00"
_BLANKS = "\t\n\v\f\r\x1c\x1d\x1e\x1f"


@dataclass(frozen=True, eq=False)
class Keys:
    """Keys of a column."""

    distinct: Texts  # Shape (k,). Distinct keys, in order of first appearance.
    at: Ints  # Shape (n,). Row i has key ``different[at[i]]``, or none where it is -1.

    @cached_property
    def uses(self) -> Ints:
        """Number of rows of each distinct key, shape (k,)."""
        return np.bincount(self.at[self.at >= 0], minlength=len(self.distinct)).astype(np.int64)


def _n_texts(cached: Keys | pd.DataFrame | None) -> int:
    return 0 if cached is None else len(cached.distinct if isinstance(cached, Keys) else cached)


# About 200 MB.
TEXTS = Memo(max_size=3_000_000, size_of=_n_texts)
"""`Keys` and tables of texts by dataset."""


def normalise_key(text: str) -> str:
    """Return text with normalised case, blanks, invisible characters and Unicode form (NFKC)."""
    if text.isascii():
        return " ".join(text.lower().split())
    form = unicodedata.normalize("NFKC", text.translate(_INVISIBLE)).casefold()
    return " ".join(unicodedata.normalize("NFKC", form).split())


def normalise_spelling(text: str) -> str:
    """Return normalised text reduced to plain letters and digits.

    Accents, punctuation and blanks are dropped. Text without letters only gets `normalise_key`, so
    that 1.5 stays different from 15.
    """
    apart = unicodedata.normalize("NFKD", normalise_key(text)).translate(_STROKES)
    plain = "".join(sign for sign in apart if sign.isalnum())
    return plain if any(map(str.isalpha, plain)) else normalise_key(text)


def _without_zeros(text: str) -> str:
    """Return normalised text without zeros in front of whole numbers: "ak-1" for "AK-01"."""
    return ZEROS_IN_FRONT.sub("", normalise_key(text))


def normalise_keys(texts: list[str]) -> list[str]:
    """Return `normalise_key` of each text; ASCII texts are processed as one string."""
    joined = _join_ascii(texts)
    if joined is None:
        plain = [text for text in texts if text.isascii() and _TEXT_END not in text]
        if len(plain) == len(texts) or not plain:
            return list(map(normalise_key, texts))
        normalised = dict(zip(plain, normalise_keys(plain), strict=True))
        return [normalised[text] if text in normalised else normalise_key(text) for text in texts]
    parts = joined.lower().split(_TEXT_END)
    return parts if _is_tidy(joined, "  ") else [" ".join(part.split()) for part in parts]


def strip_texts(texts: list[str]) -> list[str]:
    """Return each text without surrounding blanks; the same list if nothing changes."""
    joined = _join_ascii(texts)
    if joined is not None and _is_tidy(joined):
        return texts
    return [text.strip() for text in texts]


def translate_texts(texts: list[str], table: dict[int, int]) -> list[str] | None:
    """Return each text with translated characters, or None if a text is not ASCII."""
    joined = _join_ascii(texts)
    return None if joined is None else joined.translate(table).split(_TEXT_END)


def _join_ascii(texts: list[str]) -> str | None:
    """Return the texts joined, or None if they could not be split again or are not ASCII."""
    joined = _TEXT_END.join(texts)
    is_separable = bool(texts) and joined.isascii() and joined.count(_TEXT_END) == len(texts) - 1
    return joined if is_separable else None


def _is_tidy(joined: str, *untidy: str) -> bool:
    """Return whether no text has surrounding blanks, and none has a tab or line end."""
    signs = (*_BLANKS, f" {_TEXT_END}", f"{_TEXT_END} ", *untidy)
    return joined.strip() == joined and not any(sign in joined for sign in signs)


def key_of(value: object) -> str:
    """Return the key of a cell, "" for none; 7 and 7.0 are the same key."""
    if isinstance(value, str):
        return value.strip()
    # Lists and objects in a saved table are no keys.
    if not pd.api.types.is_scalar(value) or is_missing(value):
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value).strip()


def column_keys(dataset: Dataset, column: str, loose: LooseKeys = False) -> Keys:
    """Return the keys of a column, or of the ids if `column` is empty; cached for each dataset.

    `loose` applies `normalise_key`, "spelling" applies `normalise_spelling`. If that changes no
    key, the exact `Keys` object is returned.
    """
    if column and (dataset.table is None or column not in dataset.table.columns):
        raise DataError.of(
            "unknown-column", f"dataset {dataset.name!r}", "this column does not exist", column
        )
    key = ("keys", column, loose)
    if not loose:
        return TEXTS.get_or_compute(dataset, key, lambda: _read_keys(dataset, column))
    exact = column_keys(dataset, column)
    normalised = TEXTS.get_or_compute(dataset, key, lambda: _normalised(exact, loose))
    return exact if normalised is None else normalised


def combined_codes(dataset: Dataset, columns: Sequence[str], loose: LooseKeys = False) -> Ints:
    """Return a code of the combined keys of several columns, by row; -1 if one is missing."""
    at = np.zeros(len(dataset), dtype=np.int64)
    has_all = np.ones(len(dataset), dtype=bool)
    for column in columns:
        part = column_keys(dataset, column, loose)
        has_all &= part.at >= 0
        # Recoded at each step, so that the product of the counts cannot overflow.
        at = pd.factorize(at * (len(part.distinct) + 1) + part.at)[0].astype(np.int64)
    codes = np.full(len(dataset), -1, dtype=np.int64)
    codes[has_all] = pd.factorize(at[has_all])[0]
    return codes


def combined_keys(
    dataset: Dataset, columns: Sequence[str], loose: LooseKeys = False, between: str = " + "
) -> Keys:
    """Return the combined keys of several columns; a row that lacks one has no key."""
    if len(columns) == 1:
        return column_keys(dataset, columns[0], loose)
    parts = [column_keys(dataset, column, loose) for column in columns]
    at = combined_codes(dataset, columns, loose)
    rows = np.flatnonzero(at >= 0)
    first = np.zeros(int(at.max(initial=-1)) + 1, dtype=np.int64)
    first[at[rows][::-1]] = rows[::-1]
    texts = [between.join(str(part.distinct[part.at[row]]) for part in parts) for row in first]
    return Keys(np.array(texts, dtype=object), at)


def cell_texts(dataset: Dataset, column: str) -> list[str]:
    """Return the text of each cell of a column, or of each id if `column` is empty."""
    keys = column_keys(dataset, column)
    # Code -1 (no key) selects the appended last entry.
    texts = np.append(keys.distinct, np.array([""], dtype=object))
    cells: list[str] = texts[keys.at].tolist()
    return cells


def keys_by_row(dataset: Dataset, column: str, loose: bool = False) -> pd.Series:
    """Return the existing keys by row; `loose` applies `normalise_key`."""
    keys = column_keys(dataset, column, loose)
    rows = np.flatnonzero(keys.at >= 0)
    return pd.Series(keys.distinct[keys.at[rows]], index=rows, dtype=object)


def quote_values(values: list[str]) -> str:
    """Return the first values in quotes and the number of the others."""
    return join_first([f"“{value}”" for value in values], 3)


def rows_without(rows: Ints, n: int) -> Ints:
    """Return the rows from 0 to below n that are not among `rows`, in order."""
    mask = np.ones(n, dtype=bool)
    mask[rows] = False
    return np.flatnonzero(mask)


def matching_pairs(groups: Ints, of: Ints) -> tuple[Ints, ...]:
    """Return the pairs (i, m) with ``groups[i] == of[m] >= 0``, ordered by i, then by m."""
    order = np.argsort(of, kind="stable")
    order = order[of[order] >= 0]
    rows = np.flatnonzero(groups >= 0)
    n = np.bincount(of[order], minlength=int(groups.max(initial=-1)) + 1)
    counts = n[groups[rows]]
    first = (np.cumsum(n) - n)[groups[rows]]
    within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    return np.repeat(rows, counts), order[np.repeat(first, counts) + within]


def _read_keys(dataset: Dataset, column: str) -> Keys:
    if not column or dataset.table is None:
        return _unique_keys(strip_texts(dataset.ids.tolist()), np.arange(len(dataset)))
    values = dataset.table[column]
    if values.dtype == object and pd.api.types.infer_dtype(values, skipna=False) != "string":
        # 1 and True are equal but different keys, so every cell is read.
        return _unique_keys(list(map(key_of, values.tolist())), np.arange(len(dataset)))
    if values.dtype == object:
        codes, distinct = factorize(values.tolist())
        return _unique_keys(strip_texts(distinct.tolist()), codes)
    at, different = pd.factorize(values)
    cells = different.tolist()
    if not pd.api.types.is_string_dtype(different.dtype):
        return _unique_keys(list(map(key_of, cells)), at)
    texts = strip_texts(cells)
    if texts is cells and "" not in texts:
        return Keys(np.array(texts, dtype=object), at.astype(np.int64))
    return _unique_keys(texts, at)


def _normalised(exact: Keys, form: LooseKeys) -> Keys | None:
    """Return normalised keys, None if they are the exact keys."""
    texts: list[str] = exact.distinct.tolist()
    if form == "spelling":
        normalised = list(map(normalise_spelling, texts))
    elif form == "zeros":
        normalised = list(map(_without_zeros, texts))
    else:
        normalised = normalise_keys(texts)
    return None if normalised == texts else _unique_keys(normalised, exact.at)


def _unique_keys(texts: list[str], at: Ints) -> Keys:
    """Return `Keys` of texts that may be equal or empty; row i has ``texts[at[i]]``."""
    to, different = factorize(texts)
    has_text = different != ""
    if has_text.all() and len(different) == len(texts):
        return Keys(different, at.astype(np.int64))
    # Code -1 (no text) selects the appended last entry.
    new_code = np.append(np.where(has_text, np.cumsum(has_text) - 1, -1)[to], -1)
    return Keys(different[has_text], new_code[at].astype(np.int64))
