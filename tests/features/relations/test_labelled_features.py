"""Features as trees see them: gaps stay open, and nothing tells the label."""

from __future__ import annotations

import numpy as np
import pandas as pd

from hetviz.data import Dataset
from hetviz.features.recipe import make_features
from hetviz.features.relations.labelled import tree_features, without_column

TABLE = pd.DataFrame(
    {
        "size": ["1", "", "3", "4", "7", "2"],
        "lat": ["10", "20", "", "40", "50", "60"],
        "lon": ["11", "21", "31", "41", "51", "-60"],
        "colour": ["red", "blue", "red", "", "blue", "red"],
    }
)


def test_gaps_stay_open_beside_columns_that_make_several_features() -> None:
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
    known = ~np.isnan(X)
    np.testing.assert_array_equal(X[known], np.asarray(dataset.X)[known])


def test_nothing_made_of_the_label_is_left() -> None:
    dataset = make_features(
        Dataset("things", tuple("abcdef"), table=TABLE), {"size": {"impute": "none"}}
    )
    assert {"size", "size (missing)"} <= set(dataset.feature_names or ())
    left = without_column(dataset, "size").feature_names or ()
    assert [name for name in left if name.startswith("size")] == []
    assert len(left) == len(dataset.feature_names or ()) - 2
