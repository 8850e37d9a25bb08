"""Merging of two guidance files."""

from __future__ import annotations

import json

import pytest

import hetviz
from hetviz import Comparisons, Dataset, HeteroData, Links
from hetviz.errors import DataError, ParameterError
from hetviz.io import guidance_csv

BASE = HeteroData([Dataset("x", list("abcd"))], [Links("x", "x", [2], [3], kind="old")])


def file(*links: tuple[int, int, float], rows: list[list[int]] | None = None) -> bytes:
    groups = [Links("x", "x", [i], [j], [w]) for i, j, w in links]
    comparisons = Comparisons(rows) if rows else None
    return guidance_csv(HeteroData(BASE.datasets, groups, comparisons)).encode()


OURS = file((0, 1, 1), (1, 2, 0.5), rows=[[0, 1, 2]])
THEIRS = file((1, 0, 0.25), (0, 2, -1), (2, 3, 1), rows=[[0, 1, 2], [0, 2, 1]])


def test_merge_contains_both_files_and_lists_differences() -> None:
    merged = hetviz.merge_guidance(BASE, OURS, THEIRS)
    assert (merged.both, merged.only_ours, merged.only_theirs) == (2, 1, 3)
    assert merged.differ == ({"key": "link|x|a|x|b|link", "fields": {"weight": [1.0, 0.25]}},)
    table = hetviz.statements(merged.data).set_index("key")
    assert len(table) == 6
    assert table.loc["link|x|a|x|b|link", "weight"] == 1
    kinds = sorted((conflict.kind, len(conflict.keys)) for conflict in merged.conflicts)
    assert kinds == [("comparisons", 2), ("links", 3)]
    json.dumps(merged.to_dict())


def test_merge_keeps_theirs_and_writes_csv() -> None:
    merged = hetviz.merge_guidance(BASE, OURS, THEIRS, keep="theirs")
    again = hetviz.merge_guidance(BASE, merged.csv().encode(), merged.csv().encode())
    assert (again.both, again.only_ours, again.only_theirs, again.differ) == (6, 0, 0, ())
    table = hetviz.statements(again.data).set_index("key")
    assert table.loc["link|x|a|x|b|link", "weight"] == 0.25


def test_merge_refuses_bad_files_and_options() -> None:
    with pytest.raises(DataError, match=r"theirs, row 1.*'z'"):
        hetviz.merge_guidance(BASE, OURS, OURS.replace(b"x,a,", b"x,z,"))
    with pytest.raises(ParameterError, match="keep"):
        hetviz.merge_guidance(BASE, OURS, OURS, keep="both")
