"""Components and inverse of methods that map features linearly."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hetviz
from hetviz import Dataset, HeteroData, Links
from hetviz.core.spectral.blocks import LinearMap
from hetviz.errors import DataError, UnfittedError

RNG = np.random.default_rng(0)
IDS = [f"i{row}" for row in range(40)]
COMMON = RNG.normal(size=(40, 2))
X = {
    "a": COMMON @ RNG.normal(size=(2, 6)) + 0.3 * RNG.normal(size=(40, 6)) + 5.0,
    "b": COMMON @ RNG.normal(size=(2, 5)) + 0.3 * RNG.normal(size=(40, 5)) - 2.0,
}
DATA = HeteroData(
    [Dataset(name, IDS, X=values) for name, values in X.items()],
    [Links("a", "b", np.arange(40), np.arange(40))],
)
VIEWS = HeteroData([Dataset(name, IDS, X=values, entity="item") for name, values in X.items()])
LINEAR = {
    "pca": {},
    "lpp": {},
    "multiview-lpp": {},
    "cca": {"axis_scale": 0.5},
    "cdmca": {"axis_scale": 1.0},
    "kernel-cdmca": {"features": "linear"},
    "guided-projection": {},
    "coca": {},
    "mkpe": {"variant": "parametric", "inputs": "features", "n_iter": 3, "n_init": 1},
    "pmvge": {"hidden": 0},
}


@pytest.mark.parametrize("method", LINEAR)
def test_components_place_rows_and_inverse_gives_features_placed_there(method: str) -> None:
    data = VIEWS if method == "coca" else DATA
    model: Any = hetviz.get_method(method)(**LINEAR[method]).fit(data)
    new = {name: values[:7] + 0.1 * RNG.normal(size=values[:7].shape) for name, values in X.items()}
    assert list(model.components_) == ["a", "b"]
    for name, rows in new.items():
        # By one dataset alone, as views of the same item share a place.
        entity = data[name].entity
        ids = [f"new {row}" for row in range(7)]
        Y = model.transform(Dataset(name, ids, X=rows, entity=entity)).coordinates[name]
        A, mean = model.components_[name], model.mean_[name]
        assert A.shape == (2, rows.shape[1])
        np.testing.assert_allclose((rows - mean) @ A.T, Y, atol=1e-9)
    back = model.inverse_transform(model.embedding_)
    for name, values in back.items():
        assert values.shape == X[name].shape
        A, mean = model.components_[name], model.mean_[name]
        np.testing.assert_allclose(
            (values - mean) @ A.T, model.embedding_.coordinates[name], atol=1e-8
        )
        # No part of the features is in a direction that the axes do not show.
        _, _, directions = np.linalg.svd(A)
        np.testing.assert_allclose((values - mean) @ directions[2:].T, 0.0, atol=1e-8)


@pytest.mark.parametrize("standardize", [False, True])
def test_components_and_inverse_of_principal_components(standardize: bool) -> None:
    X = RNG.normal(size=(30, 4)) * [1, 2, 3, 4] + 5
    whole = hetviz.PCA(n_components=4, standardize=standardize).fit(X)
    Y = whole.transform(X)
    (A,) = whole.components_.values()
    np.testing.assert_allclose((X - X.mean(axis=0)) @ A.T, Y, atol=1e-12)
    np.testing.assert_allclose(whole.inverse_transform(Y), X, atol=1e-10)
    part = hetviz.PCA(n_components=2).fit(X)
    _, _, axes = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    nearest = (X - X.mean(axis=0)) @ axes[:2].T @ axes[:2] + X.mean(axis=0)
    np.testing.assert_allclose(part.inverse_transform(part.transform(X)), nearest, atol=1e-10)
    both = hetviz.PCA().fit(DATA)
    back = both.inverse_transform(both.embedding_)
    assert {name: values.shape for name, values in back.items()} == {"a": (40, 6), "b": (40, 5)}
    with pytest.raises(DataError, match="an Embedding is needed, as a and b have features"):
        both.inverse_transform(Y)


def test_all_axes_give_the_features_back() -> None:
    model = hetviz.LPP(n_components=2).fit(COMMON)
    back = model.inverse_transform(model.transform(COMMON))
    np.testing.assert_allclose(back, COMMON, atol=1e-10)


def test_map_of_exact_numbers() -> None:
    fitted = LinearMap(np.array([[2.0], [0.0], [1.0]]), np.array([1.0, 7.0, 3.0]), 0.0)
    np.testing.assert_allclose(fitted(np.array([[2.0, 0.0, 4.0]])), [[3.0]])
    np.testing.assert_allclose(fitted.inverse(np.array([[5.0]])), [[3.0, 7.0, 4.0]])
    # An axis without any effect leaves the mean.
    nothing = LinearMap(np.zeros((2, 1)), np.array([1.0, 2.0]), 0.0)
    np.testing.assert_allclose(nothing.inverse(np.array([[9.0]])), [[1.0, 2.0]])


def test_maps_that_are_not_linear_are_named() -> None:
    assert not hasattr(hetviz.UMAP, "components_")
    with pytest.raises(UnfittedError, match="call fit before inverse_transform"):
        hetviz.LPP().inverse_transform(np.zeros((3, 2)))
    kernel = hetviz.LPP(features="rbf").fit(X["a"])
    assert kernel.components_ == {}
    with pytest.raises(DataError, match="no dataset has features that are mapped linearly"):
        kernel.inverse_transform(np.zeros((3, 2)))
    model = hetviz.PCA().fit(X["a"])
    for wrong in (np.zeros((3, 4)), [1.0, 2.0]):
        with pytest.raises(DataError, match="an array of 2 columns is needed, one per axis"):
            model.inverse_transform(wrong)
