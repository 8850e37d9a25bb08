"""Filters: what passes, what is said of them, and that they survive JSON and edits."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hetviz.data import Dataset, Filter, HeteroData, Labels, passing
from hetviz.data.queries.filters import column_of, filters_for_rows, fold_text
from hetviz.errors import DataError


def example() -> HeteroData:
    table = pd.DataFrame(
        {
            "name": ["Éclair", "oak", None, "  ", "STRASSE"],
            "size": [1.0, 2.5, np.nan, 4.0, 5.0],
            "code": ["007", "7", "007", None, "x"],
        }
    )
    plants = Dataset("plants", ["a", "b", "c", "d", "e"], table=table)
    birds = Dataset("birds", ["a", "z"])
    return HeteroData([plants, birds], labels=[Labels("plants", "kind", ["x", "y", None, "x", 3])])


def rows(*filters: Filter) -> list[int]:
    """Which rows of plants pass; those of birds must all do."""
    mask = passing(example(), filters)
    assert mask[5:].all()
    return np.flatnonzero(mask[:5]).tolist()


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"column": "code", "values": ("007",)}, [0, 2]),
        ({"column": "code", "values": ("007", "7")}, [0, 1, 2]),
        ({"column": "code", "values": ("007",), "missing": True}, [0, 2, 3]),
        ({"column": "code"}, []),
        ({"column": "code", "missing": True}, [3]),
        ({"column": "kind", "values": ("x", "3")}, [0, 3, 4]),
        ({"column": "size", "kind": "range", "low": 2.5, "high": 4}, [1, 3]),
        ({"column": "size", "kind": "range", "low": 2.6}, [3, 4]),
        ({"column": "size", "kind": "range", "high": 1}, [0]),
        ({"column": "size", "kind": "range", "high": 1, "missing": True}, [0, 2]),
        ({"column": "code", "kind": "range", "low": 0}, [0, 1, 2]),
        ({"column": "name", "kind": "text", "text": "eCL"}, [0]),
        ({"column": "name", "kind": "text", "text": "straße"}, [4]),
        ({"column": "name", "kind": "text", "text": "A", "missing": True}, [0, 1, 2, 3, 4]),
        ({"column": "name", "kind": "text", "text": ""}, [0, 1, 4]),
        ({"kind": "rows", "values": ("e", "a", "gone")}, [0, 4]),
        ({"kind": "rows"}, []),
    ],
)
def test_filter_mask(fields: dict[str, Any], expected: list[int]) -> None:
    assert rows(Filter("plants", **fields)) == expected


def test_filters_are_combined_by_and() -> None:
    assert rows() == [0, 1, 2, 3, 4]
    size = Filter("plants", "size", "range", low=2)
    code = Filter("plants", "code", values=("7", "x"))
    assert rows(size, code) == [1, 4]


def test_row_filter_survives_edits() -> None:
    data = example()
    filters = filters_for_rows(data, [1, 4, 6])
    assert np.flatnonzero(passing(data, filters)).tolist() == [1, 4, 6]
    moved = data.edit().reorder({"plants": ["e", "d", "c", "b", "a"]})
    assert np.flatnonzero(passing(moved, filters)).tolist() == [0, 3, 6]
    fewer = data.edit().subset({"plants": ["a", "b"]})
    assert np.flatnonzero(passing(fewer, filters)).tolist() == [1, 3]


@given(st.sets(st.integers(0, 6)))
def test_filters_for_rows(chosen: set[int]) -> None:
    data = example()
    filters = [
        Filter.from_dict(json.loads(json.dumps(filter.to_dict())))
        for filter in filters_for_rows(data, sorted(chosen))
    ]
    assert set(np.flatnonzero(passing(data, filters)).tolist()) == chosen


@pytest.mark.parametrize(
    "fields",
    [
        {"column": "size", "kind": "range", "low": 2, "high": 4.5},
        {"column": "size", "kind": "range", "low": 2},
        {"column": "size", "kind": "range", "high": 2},
        {"column": "size", "kind": "range"},
        {"column": "kind", "values": ("x", "y")},
        {"column": "kind", "values": tuple("abcde")},
        {"column": "kind", "missing": True},
        {"column": "kind", "values": ("x",), "missing": True},
        {"column": "kind"},
        {"column": "name", "kind": "text", "text": "oak"},
        {"kind": "rows", "values": ("a",)},
        {"kind": "rows"},
    ],
)
def test_filter_survives_json(fields: dict[str, Any]) -> None:
    filter = Filter("plants", **fields)
    assert Filter.from_dict(json.loads(json.dumps(filter.to_dict()))) == filter


@pytest.mark.parametrize(
    "entry",
    [
        {"dataset": "a", "column": "b", "kind": "magic"},
        {"dataset": "a"},
        {"dataset": "a", "column": "b", "kind": "rows"},
        {"dataset": "a", "column": "b", "values": "abc"},
        {"dataset": "a", "column": "b", "values": None},
        {"dataset": "a", "column": "b", "kind": "range", "low": 2, "high": 1},
        {"dataset": "a", "column": "b", "kind": "range", "low": float("nan")},
        {"dataset": "a", "column": "b", "kind": "range", "low": "1"},
        {"column": "b"},
        {"dataset": "a", "column": "b", "colour": "red"},
    ],
)
def test_filter_refuses_inconsistent_fields(entry: dict[str, Any]) -> None:
    with pytest.raises(DataError):
        Filter.from_dict(entry)


def test_filter_refuses_unknown_names() -> None:
    for filter in (Filter("fish", "x", values=("y",)), Filter("plants", "colour")):
        with pytest.raises(DataError, match="does not exist"):
            passing(example(), [filter])
    with pytest.raises(DataError, match="this column does not exist"):
        column_of(example(), "birds", "name")


def test_fold_text_ignores_case_and_accents() -> None:
    assert fold_text("Ça Va ǅ İstanbul ﬁ") == fold_text("CA VA dž istanbul FI")
    assert fold_text("o") != fold_text("0")


@pytest.mark.parametrize("dates", [["2020-01-02", "2020-02-01", None, "2021-05-05", "x"], None])
def test_range_of_dates_is_in_days(dates: list[str | None] | None) -> None:
    days = pd.to_datetime(["2020-01-02", "2020-02-01", None, "2021-05-05", None])
    table = pd.DataFrame({"made": days if dates is None else dates})
    data = HeteroData([Dataset("plants", list("abcde"), table=table)])
    first = (pd.Timestamp("2020-01-15") - pd.Timestamp("1970-01-01")).days
    mask = passing(data, [Filter("plants", "made", "range", low=float(first))])
    assert mask.tolist() == [False, True, False, True, False]
    with_missing = Filter("plants", "made", "range", high=float(first), missing=True)
    assert passing(data, [with_missing]).tolist() == [True, False, True, False, True]
