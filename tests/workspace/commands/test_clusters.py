"""Tests of cluster commands."""

from __future__ import annotations

import numpy as np

from hetviz.data import Dataset, HeteroData
from hetviz.workspace import ClusterAssignment
from hetviz.workspace.commands.clusters import unique_names, validate_name


def test_summary_counts_items() -> None:
    data = HeteroData([Dataset("a", ["1", "2", "3"], np.eye(3)), Dataset("b", ["x", "y"])])
    codes = np.array([0, 0, 1, -1, 0])
    result = ClusterAssignment.on(data, codes, ("many", "one"), stability=(0.5, float("nan")))
    table = result.summary(data)
    assert table["cluster"].tolist() == ["many", "one"]
    assert table["a"].tolist() == [2, 1]
    assert table["b"].tolist() == [1, 0]
    assert table["stability"].tolist() == ["0.50", ""]


def test_unique_names_are_short_and_distinct() -> None:
    long = "an emoji that is found by a word that is longer than any name may be: "
    result = unique_names([long + "one", long + "two", "", "two\nlines", "two lines"])
    assert max(map(len, result)) <= 60
    assert len(set(result)) == 5
    assert result[0].endswith("…")
    assert result[2:] == ["Cluster 3", "two lines", "two lines (2)"]
    assert [validate_name(name) for name in result] == result
