from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given

from hetviz.data import Dataset
from hetviz.data.model.dataset import MADE_IDS
from hetviz.errors import DataError
from tests.data.strategies import datasets


def test_dataset_ids_are_unchanged_text() -> None:
    ids = ["007", "NA", "1e5", " spaced ", "libstdc++6", "game::board:chess", "é", "e\u0301"]
    assert list(Dataset("d", ids).ids) == ids


def test_dataset_lists_all_bad_rows() -> None:
    X = [[1.0, 2.0], [3.0, np.nan], [np.inf, 6.0], [7.0, 8.0], [9.0, 1.0]]
    with pytest.raises(DataError) as caught:
        Dataset("drugs", ["a", "b", "a", "", 7], X, feature_names=["mass", "charge"])  # type: ignore[list-item]
    problems = caught.value.problems
    assert [problem.code for problem in problems] == [
        "duplicate-id",
        "empty-id",
        "id-not-text",
        "not-finite",
        "not-finite",
    ]
    assert problems[0].row == 2
    assert problems[0].value == "a"
    assert "row 1" in problems[0].what
    assert problems[3].where == "dataset 'drugs', X, row 2, column charge"
    assert all(problem.remedy for problem in problems)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"ids": []}, "no-rows"),
        ({"ids": "abc"}, "bad-ids"),
        ({"ids": ["a", "b"], "X": [[1.0]]}, "row-count"),
        ({"ids": ["a", "b"], "X": [1.0, 2.0]}, "bad-shape"),
        ({"ids": ["a", "b"], "X": [["x"], ["y"]]}, "not-numbers"),
        ({"ids": ["a", "b"], "X": np.ones((2, 1)), "feature_names": ["p", "q"]}, "feature-names"),
        ({"ids": ["a", "b"], "feature_names": ["p"]}, "feature-names"),
        ({"ids": ["a"], "X": np.ones((1, 0))}, "no-columns"),
        ({"ids": ["a", "b"], "distance": [[0, -1.0], [-1.0, 0]]}, "negative-distance"),
        ({"ids": ["a", "b"], "table": pd.DataFrame({"x": [1]})}, "row-count"),
        ({"ids": ["a", "b"], "media": ["x.png"]}, "row-count"),
        ({"ids": ["a" * 300]}, "long-id"),
        ({"ids": ["a", "b"], "X": sp.csr_array([[np.nan, 0], [0, 1]])}, "not-finite"),
        ({"ids": ["a"], "name": ""}, "bad-name"),
    ],
)
def test_bad_input_is_refused_by_code(arguments: dict[str, object], code: str) -> None:
    with pytest.raises(DataError) as caught:
        Dataset(**{"name": "d", **arguments})  # type: ignore[arg-type]
    assert code in [problem.code for problem in caught.value.problems]


def test_arrays_are_read_only_copies() -> None:
    X = np.ones((2, 2))
    dataset = Dataset("d", ["a", "b"], X)
    X[0, 0] = 5.0
    assert dataset.X is not None
    assert dataset.X[0, 0] == 1.0
    with pytest.raises(ValueError, match="read-only"):
        dataset.X[0, 0] = 2.0


def test_sparse_features_stay_sparse_and_float32_stays_float32() -> None:
    sparse = Dataset("d", ["a", "b"], sp.csr_array([[1, 0], [0, 2]])).X
    assert sp.issparse(sparse)
    assert sparse.dtype == np.float64
    single = Dataset("d", ["a"], np.ones((1, 3), np.float32)).X
    assert single is not None
    assert single.dtype == np.float32


def test_dataset_titles_default_to_ids() -> None:
    table = pd.DataFrame({"name": ["Anna", None], "full": ["Anna K.", "Bo L."]})
    assert list(Dataset("d", ["a", "b"], table=table).titles) == ["Anna", "b"]
    declared = Dataset("d", ["a", "b"], table=table, recipe={"title": "full"})
    assert list(declared.titles) == ["Anna K.", "Bo L."]


def test_rows_without_id_and_title_are_called_rows() -> None:
    numbered = Dataset("d", ["1", "2"], recipe={MADE_IDS: True})
    assert list(numbered.display_names) == ["row 1", "row 2"]
    assert list(numbered.subset([1]).display_names) == ["row 2"]
    assert list(numbered.titles) == ["1", "2"]
    assert list(Dataset("d", ["ARI 2019"], recipe={MADE_IDS: True}).display_names) == ["ARI 2019"]
    assert list(Dataset("d", ["1", "2"]).display_names) == ["1", "2"]


def test_dataset_subset_reduces_kernel_on_both_axes() -> None:
    K = np.arange(9.0).reshape(3, 3)
    part = Dataset("d", ["a", "b", "c"], kernel=K + K.T).subset([2, 0])
    assert list(part.ids) == ["c", "a"]
    np.testing.assert_array_equal(part.kernel, (K + K.T)[np.ix_([2, 0], [2, 0])])


@given(datasets())
def test_positions_find_every_id(dataset: Dataset) -> None:
    assert [dataset.position(text) for text in dataset.ids] == list(range(len(dataset)))
    assert dataset.find(["\x00 never an id"]).tolist() == [-1]
