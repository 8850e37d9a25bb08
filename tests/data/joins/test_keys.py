"""Keys read for whole columns at once are those of each cell by itself, and are read once."""

from __future__ import annotations

import gc

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hetviz.data import Dataset
from hetviz.data.joins import keys as keys_module
from hetviz.data.joins.keys import (
    cell_texts,
    column_keys,
    key_of,
    keys_by_row,
    matching_pairs,
    normalise_key,
    normalise_keys,
    strip_texts,
)
from hetviz.data.joins.lists import entries_of, separator_of

TEXTS = st.lists(st.text(alphabet="aB \t\x00\x1cé\u200bſ;,", max_size=5), max_size=8)


def table(cells: list[object], dtype: object = None) -> Dataset:
    column = pd.Series(cells, dtype=dtype)  # type: ignore[call-overload]
    return Dataset("a", [f"r{k}" for k in range(len(cells))], table=pd.DataFrame({"c": column}))


@given(TEXTS)
@example(["a", " b", "A  b"])
@example(["a\x00", "B"])
def test_normalise_keys_matches_normalise_key(texts: list[str]) -> None:
    assert normalise_keys(texts) == [normalise_key(text) for text in texts]
    assert strip_texts(texts) == [text.strip() for text in texts]


@pytest.mark.parametrize(
    ("cells", "dtype"),
    [
        ([1, True, 2.0, "2", " x ", None, "x", ""], object),
        (["b ", "a", None, "", "a", " "], None),
        ([3.0, np.nan, 2.5, 3.0], None),
        (["u", "v", "u", None], "category"),
        (["2020-01-01", None, "2020-01-01"], "datetime64[ns]"),
    ],
)
def test_column_keys_match_cell_keys(cells: list[object], dtype: object) -> None:
    data = table(cells, dtype)
    assert data.table is not None
    expected = [key_of(value) for value in data.table["c"].tolist()]
    assert cell_texts(data, "c") == expected
    result = keys_by_row(data, "c", loose=True)
    assert result.to_dict() == {
        row: normalise_key(key) for row, key in enumerate(expected) if normalise_key(key)
    }
    keys = column_keys(data, "c")
    assert sorted(keys.distinct) == sorted(set(expected) - {""})
    assert keys.uses.tolist() == [expected.count(key) for key in keys.distinct]


@given(
    st.lists(st.integers(-1, 3), max_size=9).map(lambda x: np.array(x, dtype=np.int64)),
    st.lists(st.integers(-1, 3), max_size=9).map(lambda x: np.array(x, dtype=np.int64)),
)
def test_matching_pairs_are_complete(groups: np.ndarray, of: np.ndarray) -> None:
    expected = [
        (i, m) for i, g in enumerate(groups) for m, other in enumerate(of) if g == other >= 0
    ]
    assert list(zip(*(x.tolist() for x in matching_pairs(groups, of)), strict=True)) == expected


@given(TEXTS.filter(len), st.booleans(), st.sampled_from([";", ", ", ";;"]))
def test_entries_match_split_cells(cells: list[str], loose: bool, sign: str) -> None:
    result = entries_of(table([*cells]), "c", sign, loose)
    expected = []
    for row, cell in enumerate(cells):
        keys = {}
        for text in sorted({part.strip() for part in cell.strip().split(sign)} - {""}):
            keys.setdefault(normalise_key(text) if loose else text, text)
        expected += [(row, text, key) for key, text in keys.items() if key]
    assert list(result.itertuples(index=False, name=None)) == expected


def test_separator_sample_ignores_cell_order() -> None:
    cells = [f"a{k}; b{k}" if k % 4 == 0 else f"a{k}" for k in range(9_000)]
    assert separator_of(cells) == separator_of(cells[::-1]) == ";"
    assert separator_of([f"a{k}; b" if k % 8 == 0 else f"a{k}" for k in range(9_000)]) is None


def test_key_cache_is_bounded_and_weak(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    data = table(["a", "B"])
    first = column_keys(data, "c")
    assert column_keys(data, "c") is first
    assert column_keys(table(["a", "b"]), "c", loose=True) is not first
    monkeypatch.setattr(keys_module.TEXTS, "_max_size", 1)
    column_keys(data, "")
    assert column_keys(data, "c") is not first
    gc.collect()  # what other tests left
    before = len(keys_module.TEXTS._groups)
    del data
    gc.collect()
    assert len(keys_module.TEXTS._groups) == before - 1
