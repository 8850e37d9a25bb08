"""Coefficients of axes, and the columns that vary along a direction drawn on a map."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from hetviz.algorithms.cca import CCA
from hetviz.data import Dataset, HeteroData, Links
from hetviz.errors import ParameterError
from hetviz.features.meaning import columns_along


def described(n: int = 200) -> tuple[Dataset, np.ndarray]:
    rng = np.random.default_rng(0)
    Y = rng.normal(size=(n, 2))
    X = np.column_stack([3.0 * Y[:, 0], -Y[:, 1] + 0.2 * rng.normal(size=n), rng.normal(size=n)])
    X = np.hstack([X, np.full((n, 1), 5.0)])
    names = ["right", "down", "noise", "constant"]
    return Dataset("a", [f"i{k}" for k in range(n)], X, feature_names=names), Y


def test_columns_go_with_the_direction_they_were_made_from() -> None:
    dataset, Y = described()
    right = columns_along(dataset, Y, [10.0, 0.0])
    assert right["column"][0] == "right"
    assert right["correlation"][0] == pytest.approx(1.0)
    assert right["change"][0] == pytest.approx(3.0)
    down = columns_along(dataset, Y, (0.0, 1.0), top=1)
    assert down["column"].tolist() == ["down"]
    assert down["correlation"][0] < -0.9
    assert set(right["column"]) == {"right", "down", "noise"}
    back = columns_along(dataset, Y, [-1.0, 0.0])
    assert back["correlation"][0] == pytest.approx(-1.0)


def test_they_are_plain_correlations_also_of_sparse_features_and_over_placed_rows() -> None:
    dataset, Y = described()
    X = np.asarray(dataset.X)
    Y[::7] = np.nan
    there = np.isfinite(Y[:, 0])
    along = Y[there] @ np.array([0.6, 0.8])
    sparse = Dataset("a", dataset.ids, sp.csr_array(X), feature_names=dataset.feature_names)
    for kind in (dataset, sparse):
        found = columns_along(kind, Y, [3.0, 4.0]).set_index("column")
        for column, name in enumerate(("right", "down", "noise")):
            r = np.corrcoef(X[there, column], along)[0, 1]
            slope = np.polyfit(along, X[there, column], 1)[0]
            assert found.loc[name, "correlation"] == pytest.approx(r)
            assert found.loc[name, "change"] == pytest.approx(slope)


def test_what_has_no_columns_or_no_direction_is_refused() -> None:
    dataset, Y = described()
    with pytest.raises(ParameterError, match="'tags' has no columns"):
        columns_along(Dataset("tags", ["x"]), np.zeros((1, 2)), [1.0, 0.0])
    for direction in ([0.0, 0.0], [1.0], [np.nan, 1.0]):
        with pytest.raises(ParameterError, match="2 numbers are needed"):
            columns_along(dataset, Y, direction)
    assert columns_along(dataset, np.zeros_like(Y), [1.0, 0.0]).empty


def test_coefficients_say_how_far_a_standard_deviation_moves_an_item() -> None:
    dataset, Y = described()
    other = Dataset("b", [f"o{k}" for k in range(200)], Y)
    data = HeteroData([dataset, other], [Links("a", "b", range(200), range(200))])
    model = CCA().fit(data)
    table = model.coefficients_["a"]
    assert table.index.tolist() == ["right", "down", "noise", "constant"]
    assert table.columns.tolist() == ["axis 1", "axis 2"]
    assert (table.loc["constant"] == 0.0).all()
    X = np.asarray(dataset.X).copy()
    moved = X.copy()
    moved[:, 1] += X[:, 1].std()
    before, after = (
        model.transform(Dataset("a", [f"n{k}" for k in range(200)], Z)).coordinates["a"]
        for Z in (X, moved)
    )
    np.testing.assert_allclose(
        after - before, np.tile(table.loc["down"].to_numpy(), (200, 1)), atol=1e-9
    )
    assert model.coefficients_["b"].index.tolist() == ["feature 1", "feature 2"]


def test_kernels_have_no_coefficients() -> None:
    dataset, Y = described(30)
    other = Dataset("b", [f"o{k}" for k in range(30)], Y)
    data = HeteroData([dataset, other], [Links("a", "b", range(30), range(30))])
    assert set(CCA(features={"a": "rbf"}).fit(data).coefficients_) == {"b"}
