"""Coefficients of axes, and the columns that vary along a direction drawn on a map."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import hetviz
from hetviz.algorithms.cca import CCA
from hetviz.data import Dataset, HeteroData, Links
from hetviz.errors import ParameterError
from hetviz.features import interpretation
from hetviz.features.interpretation import columns_along, feature_names, shared_words


def described(n: int = 200) -> tuple[Dataset, np.ndarray]:
    rng = np.random.default_rng(0)
    Y = rng.normal(size=(n, 2))
    X = np.column_stack([3.0 * Y[:, 0], -Y[:, 1] + 0.2 * rng.normal(size=n), rng.normal(size=n)])
    X = np.hstack([X, np.full((n, 1), 5.0)])
    names = ["right", "down", "noise", "constant"]
    return Dataset("a", [f"i{k}" for k in range(n)], X, feature_names=names), Y


def test_columns_along_finds_planted_columns() -> None:
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


def test_columns_along_sparse_and_unplaced_rows() -> None:
    dataset, Y = described()
    X = np.asarray(dataset.X)
    Y[::7] = np.nan
    mask = np.isfinite(Y[:, 0])
    along = Y[mask] @ np.array([0.6, 0.8])
    sparse = Dataset("a", dataset.ids, sp.csr_array(X), feature_names=dataset.feature_names)
    for kind in (dataset, sparse):
        result = columns_along(kind, Y, [3.0, 4.0]).set_index("column")
        for column, name in enumerate(("right", "down", "noise")):
            r = np.corrcoef(X[mask, column], along)[0, 1]
            slope = np.polyfit(along, X[mask, column], 1)[0]
            assert result.loc[name, "correlation"] == pytest.approx(r)
            assert result.loc[name, "change"] == pytest.approx(slope)


def test_columns_along_refuses_invalid_input() -> None:
    dataset, Y = described()
    with pytest.raises(ParameterError, match="'tags' has no features"):
        columns_along(Dataset("tags", ["x"]), np.zeros((1, 2)), [1.0, 0.0])
    for direction in ([0.0, 0.0], [1.0], [np.nan, 1.0]):
        with pytest.raises(ParameterError, match="must have 2 numbers"):
            columns_along(dataset, Y, direction)
    assert columns_along(dataset, np.zeros_like(Y), [1.0, 0.0]).empty


def test_coefficients_per_standard_deviation() -> None:
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


def test_neighbor_agreement_extremes():
    rng = np.random.default_rng(0)
    group = np.repeat([0.0, 1.0], 100)
    Y = rng.normal(size=(200, 2)) + 50 * group[:, None]
    assert interpretation.neighbor_agreement(group[:, None], Y) == pytest.approx(1.0)
    assert interpretation.neighbor_agreement(rng.normal(size=(200, 3)), Y) == pytest.approx(
        0.0, abs=0.1
    )
    assert interpretation.neighbor_agreement(sp.csr_array(group[:, None]), Y) == pytest.approx(1.0)


def test_neighbor_agreement_of_four_points():
    Y = np.array([[0.0, 0.0], [1.0, 0.0], [9.0, 0.0], [10.0, 0.0]])
    x = np.array([[0.0], [1.0], [0.0], [1.0]])
    # each neighbour is 1 away; all pairs are 2/3 away on average
    assert interpretation.neighbor_agreement(x, Y, n_neighbors=1) == pytest.approx(1 - 1 / (2 / 3))


def test_neighbor_agreement_is_nan_if_undefined():
    Y = np.zeros((5, 2))
    assert np.isnan(interpretation.neighbor_agreement(np.ones((5, 1)), Y))
    assert np.isnan(interpretation.neighbor_agreement(np.ones((5, 1)), np.full((5, 2), np.nan)))
    # all at one place: neighbours are as alike as any
    doubles = interpretation.neighbor_agreement(np.arange(20.0)[:, None], np.zeros((20, 2)), 19)
    assert doubles == pytest.approx(0.0)


def test_neighbor_agreement_samples_placed_rows(monkeypatch):
    monkeypatch.setattr(interpretation, "MAX_ROWS", 300)
    monkeypatch.setattr(interpretation, "MAX_QUERIES", 100)
    rng = np.random.default_rng(0)
    x = rng.normal(size=1000)
    Y = np.column_stack([x, np.zeros(1000)])
    Y[:10] = np.nan
    assert interpretation.neighbor_agreement(x[:, None], Y) > 0.9


def test_column_effects_by_column():
    x = np.arange(40.0)
    table = pd.DataFrame({"x": x, "other": np.random.default_rng(0).normal(size=40)})
    result = hetviz.make_features(hetviz.Dataset("d", [str(k) for k in range(40)], table=table))
    messages = interpretation.column_effects(result, np.column_stack([x, x]))
    assert messages["x"] > 0.9 > 0.3 > messages["other"]
    assert interpretation.column_effects(result) == {}
    less = hetviz.make_features(result, {"x": {"use": False}})
    assert interpretation.column_effects(less, np.column_stack([x, x]))["x"] == pytest.approx(
        messages["x"]
    )


def test_feature_names_of_text_directions() -> None:
    kinds = ("plays the audio stream", "draws the vector picture", "sends the mail message")
    texts = [kinds[at % 3] + f" number{at}" for at in range(30)]
    dataset = hetviz.make_features(
        Dataset("tools", [f"t{at}" for at in range(30)], table=pd.DataFrame({"about": texts}))
    )
    assert dataset.feature_names is not None
    assert dataset.feature_names[0] == "about~1"
    called = feature_names(dataset)
    assert len(set(called)) == len(called)
    assert shared_words(dataset, 0, 3) == {"about": ["audio", "plays", "stream"]}
    assert shared_words(dataset, 0, 1) == {"about": []}
    words = {word for kind in kinds for word in kind.split()} - {"the"}
    for name in called[1:]:
        assert set(name.removeprefix("about (").rstrip(")").split(", ")) <= words
