from __future__ import annotations

import numpy as np
import pytest
from sklearn import decomposition

from hetviz.algorithms.pca import PCA
from hetviz.data import Dataset, HeteroData
from hetviz.errors import DataWarning

rng = np.random.default_rng(0)


def aligned(Y: np.ndarray, reference: np.ndarray) -> np.ndarray:
    """Flip axes and rescale the map to compare it with a reference."""
    signs = np.sign((Y * reference).sum(axis=0))
    return Y * signs * np.linalg.norm(reference) / np.linalg.norm(Y)


def test_single_dataset_equals_pca() -> None:
    X = rng.normal(size=(50, 6)) * [5, 3, 2, 1, 1, 1]
    Y = PCA().fit(HeteroData([Dataset("a", [str(k) for k in range(50)], X)])).embedding_
    reference = decomposition.PCA(2).fit(X)
    np.testing.assert_allclose(
        aligned(Y.coordinates["a"], reference.transform(X)), reference.transform(X), atol=1e-9
    )


def test_views_have_equal_weight_and_share_places() -> None:
    ids = [str(k) for k in range(30)]
    small, large = rng.normal(size=(30, 3)), 1000 * rng.normal(size=(30, 40))
    data = HeteroData(
        [Dataset("s", ids, small, entity="e"), Dataset("l", ids[::-1], large[::-1], entity="e")]
    )
    model = PCA().fit(data)
    joined = np.hstack([(X - X.mean(0)) / np.linalg.norm(X - X.mean(0)) for X in (small, large)])
    reference = decomposition.PCA(2).fit_transform(joined)
    Y = model.embedding_.coordinates
    np.testing.assert_allclose(Y["s"], Y["l"][::-1])
    np.testing.assert_allclose(aligned(Y["s"], reference), reference, atol=1e-9)


def test_object_missing_in_a_view_is_placed_by_others() -> None:
    Z = rng.normal(size=(40, 2)) * [3, 1]
    ids = [str(k) for k in range(40)]
    first = Dataset("f", ids, Z, entity="e")
    second = Dataset("g", ids[5:], Z[5:] @ [[0, 1], [1, 0]], entity="e")
    Y = PCA().fit(HeteroData([first, second])).embedding_.coordinates["f"]
    axis = np.corrcoef(Y[:5, 0], Z[:5, 0])[0, 1]
    assert abs(axis) > 0.99
    assert np.isfinite(Y).all()


def test_kernels_and_distances_are_classical_scaling() -> None:
    X = rng.normal(size=(25, 4)) * [4, 3, 1, 1]
    ids = [str(k) for k in range(25)]
    D = np.linalg.norm(X[:, None] - X[None], axis=2)
    plain, kernel, distance = (
        PCA().fit(HeteroData([part])).embedding_.coordinates["a"]
        for part in (
            Dataset("a", ids, X),
            Dataset("a", ids, kernel=X @ X.T),
            Dataset("a", ids, distance=D),
        )
    )
    np.testing.assert_allclose(aligned(kernel, plain), plain, atol=1e-8)
    np.testing.assert_allclose(aligned(distance, plain), plain, atol=1e-8)


def test_standardize_gives_every_feature_the_same_spread() -> None:
    X = rng.normal(size=(60, 3))
    ids = [str(k) for k in range(60)]
    both = [
        PCA(standardize=True).fit(HeteroData([Dataset("a", ids, part)])).embedding_.stacked()
        for part in (X, X * [1, 100, 0.01])
    ]
    np.testing.assert_allclose(both[0], both[1], atol=1e-10)


def test_featureless_datasets_are_left_off_with_a_warning() -> None:
    data = HeteroData([Dataset("a", ["x", "y"], np.eye(2)), Dataset("tags", ["t"])])
    with pytest.warns(DataWarning, match="tags has no features"):
        embedding = PCA().fit(data).embedding_
    assert embedding.n_unplaced == 1
    assert embedding.components["a"] != embedding.components["tags"]


def test_entities_are_separate_components() -> None:
    data = HeteroData([Dataset("a", ["x", "y"], np.eye(2)), Dataset("b", ["x", "y"], np.eye(2))])
    assert len(set(PCA().fit(data).embedding_.components.values())) == 2


def test_view_weights() -> None:
    ids = [str(k) for k in range(30)]
    X, Z = rng.normal(size=(30, 3)), rng.normal(size=(30, 4))
    views = [Dataset("x", ids, X, entity="e"), Dataset("z", ids, Z, entity="e")]
    data = HeteroData(views)
    only = PCA(weights={"z": 0.0}).fit(data)
    alone = PCA().fit(HeteroData(views[:1])).embedding_.coordinates["x"]
    np.testing.assert_allclose(only.embedding_.coordinates["x"], alone, atol=1e-12)
    np.testing.assert_allclose(only.embedding_.coordinates["z"], alone, atol=1e-12)
    same = PCA(weights={"x": 3.0, "z": 3.0}).fit(data).embedding_.stacked()
    np.testing.assert_allclose(same, PCA().fit(data).embedding_.stacked(), atol=1e-12)
    joined = [(V - V.mean(0)) / np.linalg.norm(V - V.mean(0)) for V in (X, Z)]
    reference = decomposition.PCA(2).fit_transform(np.hstack([2.0 * joined[0], joined[1]]))
    heavier = PCA(weights={"x": 4.0}).fit(data)
    places = heavier.embedding_.coordinates["x"]
    np.testing.assert_allclose(aligned(places, reference), reference, atol=1e-9)
    with pytest.warns(DataWarning, match="no features that count"):
        nowhere = PCA(weights={"x": 0.0, "z": 0.0}).fit(data).embedding_
    assert nowhere.n_unplaced == 60
