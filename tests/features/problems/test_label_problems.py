"""Which label is learned when it is named, named by its dataset, or left to choose."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from hetviz.data import Dataset, HeteroData, Labels
from hetviz.errors import DataError, NotApplicableError, ParameterError
from hetviz.features.problems.label_problems import (
    first_learnable_problem,
    tree_features,
    without_column,
)
from hetviz.features.recipe import make_features

IDS = [f"i{k}" for k in range(8)]
X = np.random.default_rng(0).normal(size=(8, 2))
SAME, HALVES = ["one"] * 8, ["a", "b"] * 4
DATA = HeteroData(
    [
        Dataset("items", IDS, X, table=pd.DataFrame({"size": np.arange(8.0) + 0.5})),
        Dataset("items:more", IDS, X + 1.0, entity="others"),
    ],
    labels=[Labels("items", "same", SAME), Labels("items:more", "half", HALVES)],
)


def chosen(label: str | None) -> tuple[str, str]:
    column = first_learnable_problem(DATA, label, key="gbc", title="Consensus").column
    return column.dataset, column.name


def test_first_learnable_problem() -> None:
    assert chosen(None) == ("items:more", "half")
    assert chosen("items:more") == ("items:more", "half")


def test_label_with_longest_dataset_name() -> None:
    assert chosen("items:size") == ("items", "size")
    assert chosen("items:more:half") == ("items:more", "half")


def test_label_problem_reasons() -> None:
    with pytest.raises(NotApplicableError, match="has one value only"):
        chosen("items")
    with pytest.raises(ParameterError, match="one value only"):
        chosen("items:same")
    with pytest.raises(DataError, match="this label or column does not exist"):
        chosen("items:colour")
    with pytest.raises(
        ParameterError, match=r"gbc: label = 'colour' is unknown\. Give dataset:column"
    ):
        chosen("colour")


TABLE = pd.DataFrame(
    {
        "size": ["1", "", "3", "4", "7", "2"],
        "lat": ["10", "20", "", "40", "50", "60"],
        "lon": ["11", "21", "31", "41", "51", "-60"],
        "colour": ["red", "blue", "red", "", "blue", "red"],
    }
)


def test_tree_features_keep_missing_values() -> None:
    dataset = make_features(
        Dataset("things", tuple("abcdef"), table=TABLE),
        {"size": {"impute": "none"}, "colour": {"use": True, "impute": "own category"}},
    )
    assert dataset.feature_names is not None
    X = tree_features(dataset, dataset.X, "other")
    gaps = {
        name: tuple(np.flatnonzero(np.isnan(X[:, place])))
        for place, name in enumerate(dataset.feature_names)
    }
    by_column = {name: {rows for n, rows in gaps.items() if n.startswith(name)} for name in TABLE}
    assert by_column["size"] == {(1,)}
    assert by_column["lat"] | by_column["lon"] == {(2,)}
    assert by_column["colour"] == {(3,)}
    expected = ~np.isnan(X)
    np.testing.assert_array_equal(X[expected], np.asarray(dataset.X)[expected])


def test_tree_features_exclude_the_label() -> None:
    dataset = make_features(
        Dataset("things", tuple("abcdef"), table=TABLE), {"size": {"impute": "none"}}
    )
    assert {"size", "size (missing)"} <= set(dataset.feature_names or ())
    left = without_column(dataset, "size").feature_names or ()
    assert [name for name in left if name.startswith("size")] == []
    assert len(left) == len(dataset.feature_names or ()) - 2
