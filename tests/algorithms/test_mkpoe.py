from __future__ import annotations

import json
import warnings
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import hetviz
from hetviz.algorithms.mkpoe import MKPOE
from hetviz.data import Comparisons, Dataset, HeteroData, Links
from hetviz.errors import (
    Cancelled,
    ConvergenceWarning,
    DataWarning,
    NotApplicableError,
    ParameterError,
)

N = 60


def make_data(seed: int = 0, m: int = 500, flipped: float = 0.0) -> tuple[HeteroData, np.ndarray]:
    """An informative view, a view of noise, and comparisons of places in a plane."""
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(N, 2))
    ids = [f"i{k}" for k in range(N)]
    tells = np.hstack([Z, 1.3 * rng.normal(size=(N, 3))])
    datasets = [
        Dataset("tells", ids, tells, entity="thing"),
        Dataset("noise", ids[::-1], rng.normal(size=(N, 5)), entity="thing"),
    ]
    T = rng.integers(0, N, (m, 3))
    T = T[(T[:, 0] != T[:, 1]) & (T[:, 0] != T[:, 2]) & (T[:, 1] != T[:, 2])]
    near, far = (((Z[T[:, 0]] - Z[T[:, end]]) ** 2).sum(axis=1) for end in (1, 2))
    turned = (near > far) != (rng.random(len(T)) < flipped)
    return HeteroData(datasets, [], Comparisons(np.where(turned[:, None], T[:, [0, 2, 1]], T))), Z


def quiet(model: MKPOE, data: HeteroData, **options: Any) -> MKPOE:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        return model.fit(data, **options)


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"diagonal": True},
        {"features": "rbf"},
        {"features": "cosine"},
        {"features": "rbf", "diagonal": True},
        {"order": "none", "contradictions": "keep"},
    ],
)
def test_held_out_comparisons_hold_and_noise_has_low_weight(params: dict) -> None:
    data, _ = make_data()
    train, held_out = data.holdout(links=0, comparisons=0.3)
    model = MKPOE(**params).fit(train)
    before = hetviz.evaluate(train, hetviz.embed(train, "pca"), held_out).to_dict()
    after = hetviz.evaluate(train, model.embedding_, held_out).to_dict()
    assert after["comparison_accuracy_held_out"] > before["comparison_accuracy_held_out"] + 0.05
    assert model.view_weights_["noise"] < 0.25
    assert sum(model.view_weights_.values()) == pytest.approx(1.0)
    assert model.gap_["thing"] <= 3e-3
    json.dumps(model.diagnostics_, allow_nan=False)


def test_sum_of_kernels_includes_noise() -> None:
    data, _ = make_data()
    product, summed = MKPOE(beta=3.0).fit(data), MKPOE(beta=3.0, combine="sum").fit(data)
    assert product.view_weights_["noise"] < summed.view_weights_["noise"]
    single = MKPOE(weights={"noise": 0.0}).fit(data)
    assert single.view_weights_ == {"tells": 1.0}


def test_new_items_equal_their_fitted_twins() -> None:
    data, _ = make_data()
    model = MKPOE(features="rbf").fit(data)
    tells, noise = np.asarray(data["tells"].X), np.asarray(data["noise"].X)
    twins = HeteroData(
        [
            Dataset("tells", ["twin"], tells[[7]], entity="thing"),
            Dataset("noise", ["twin"], noise[[N - 1 - 7]], entity="thing"),
        ]
    )
    placed = model.transform(twins).coordinates
    np.testing.assert_allclose(
        placed["tells"][0], model.embedding_.coordinates["tells"][7], atol=1e-9
    )
    np.testing.assert_array_equal(placed["tells"], placed["noise"])
    alone = model.transform(Dataset("tells", ["twin"], tells[[7]], entity="thing"))
    assert np.isfinite(alone.coordinates["tells"]).all()


def test_new_view_completes_the_place_of_a_fitted_item() -> None:
    data, _ = make_data()
    short = data.edit().subset({"noise": [f"i{k}" for k in range(1, N)]})
    model = MKPOE().fit(short)
    noise = np.asarray(data["noise"].X)
    fitted = model.embedding_.coordinates["tells"][0]
    added = model.transform(Dataset("noise", ["i0"], noise[[N - 1]], entity="thing"))
    weight = np.linalg.norm(added.coordinates["noise"][0] - fitted)
    assert weight < np.linalg.norm(model.embedding_.stacked(), axis=1).max()
    assert np.isfinite(fitted).all()


def test_weights_by_feature_and_landmark() -> None:
    data, _ = make_data()
    by_feature = MKPOE(diagonal=True).fit(data)
    assert set(by_feature.column_weights_["tells"]) <= {"1", "2", "3", "4", "5"}
    by_landmark = MKPOE(diagonal=True, features="rbf").fit(data)
    assert set(by_landmark.column_weights_["tells"]) <= set(data["tells"].ids)
    full = MKPOE(features="rbf").fit(data)
    assert len(full.column_weights_["tells"]) > 20
    assert len(full.diagnostics_["column_weights"]["tells"]) == 20


def test_kernels_distances_and_sparse_features_equal_plain_features() -> None:
    data, _ = make_data()
    X = np.asarray(data["tells"].X)
    X = X - X.mean(axis=0)
    D = np.linalg.norm(X[:, None] - X[None], axis=2)
    ids = data["tells"].ids
    places = []
    for part in (
        Dataset("tells", ids, X),
        Dataset("tells", ids, kernel=X @ X.T),
        Dataset("tells", ids, distance=D),
        Dataset("tells", ids, sp.csr_array(X)),
    ):
        Y = MKPOE().fit(HeteroData([part], [], data.comparisons)).embedding_.coordinates["tells"]
        places.append(np.linalg.norm(Y[:, None] - Y[None], axis=2))
    for other in places[1:]:
        np.testing.assert_allclose(other, places[0], atol=0.05 * places[0].max())


def test_many_sparse_features_of_few_items() -> None:
    rng = np.random.default_rng(3)
    X = sp.random_array((40, 900), density=0.05, rng=rng, format="csr")
    d, T = X.toarray(), rng.integers(0, 40, (100, 3))
    near, far = (((d[T[:, 0]] - d[T[:, end]]) ** 2).sum(axis=1) for end in (1, 2))
    T = np.where((near > far)[:, None], T[:, [0, 2, 1]], T)[near != far]
    ids = [str(k) for k in range(40)]
    plain, sparse = (
        MKPOE().fit(HeteroData([Dataset("a", ids, part)], [], Comparisons(T))) for part in (d, X)
    )
    np.testing.assert_allclose(
        plain.embedding_.stacked(), sparse.embedding_.stacked(), rtol=1e-3, atol=1e-3
    )
    assert (
        hetviz.evaluate(
            HeteroData([Dataset("a", ids, d)], [], Comparisons(T)), plain.embedding_
        ).to_dict()["comparison_accuracy"]
        > 0.95
    )


def test_strength_is_chosen_by_cross_validation() -> None:
    data, _ = make_data(m=200, flipped=0.1)
    model = MKPOE(beta="cv").fit(data)
    tried = model.diagnostics_["problems"]["thing"]["held_out_by_beta"]
    assert set(tried) == {3.0, 10.0, 30.0, 100.0, 300.0}
    assert all(0.5 < share <= 1.0 for share in tried.values())


def test_warns_about_too_little_strength() -> None:
    data, _ = make_data()
    with pytest.warns(DataWarning, match="All items are at one point"):
        model = MKPOE(beta=0.5).fit(data)
    assert not model.embedding_.stacked().any()
    critical = model.critical_beta_["thing"]
    absolute = MKPOE(beta=30 * critical, absolute_beta=True).fit(data)
    np.testing.assert_allclose(
        absolute.embedding_.stacked(), MKPOE().fit(data).embedding_.stacked()
    )


def test_strength_accepts_multiples() -> None:
    data, _ = make_data()
    relative = MKPOE(beta="relative:10").fit(data).embedding_.stacked()
    np.testing.assert_array_equal(relative, MKPOE(beta=10.0).fit(data).embedding_.stacked())


@pytest.mark.parametrize("wrong", ["relative:", "relative:nan", "relative:-3", "30"])
def test_invalid_strength_is_refused(wrong: str) -> None:
    data, _ = make_data()
    with pytest.raises(ParameterError, match="relative:30"):
        MKPOE(beta=wrong).fit(data)


def test_warns_if_not_converged() -> None:
    data, _ = make_data()
    with pytest.warns(ConvergenceWarning, match="relative gap"):
        MKPOE(beta=3000.0, tol=1e-8).fit(data)


def test_kinds_without_comparisons_are_left_off_with_a_warning() -> None:
    data, _ = make_data()
    more = data.edit().add(Dataset("other", ["x", "y"], [[0.0], [1.0]]), Dataset("bare", ["u"]))
    more = more.edit().add(Comparisons([[0, 1, 2 * N]]))
    with pytest.warns(DataWarning) as caught:
        model = MKPOE().fit(more)
    text = " ".join(str(warning.message) for warning in caught)
    assert "1 of" in text
    assert "other and bare have no comparisons" in text
    assert not model.embedding_.placed["other"].any()
    components = model.embedding_.components
    assert components is not None
    assert components["tells"] == components["noise"] != components["other"]


def across() -> HeteroData:
    """Comparisons between people and books, and links between them."""
    rng = np.random.default_rng(4)
    Z = rng.normal(size=(40, 2))
    a = Dataset("a", [f"a{k}" for k in range(40)], Z @ rng.normal(size=(2, 4)))
    b = Dataset("b", [f"b{k}" for k in range(40)], Z @ rng.normal(size=(2, 3)))
    T = np.column_stack([rng.integers(0, 40, 150), 40 + rng.integers(0, 40, (150, 2))])
    W = np.vstack([Z, Z])
    near, far = (((W[T[:, 0]] - W[T[:, end]]) ** 2).sum(axis=1) for end in (1, 2))
    T = np.where((near > far)[:, None], T[:, [0, 2, 1]], T)[near != far]
    return HeteroData([a, b], [Links("a", "b", range(30), range(30))], Comparisons(T))


def test_comparisons_across_kinds_need_joined_datasets() -> None:
    data = across()
    with pytest.raises(NotApplicableError, match="switch on Join datasets"):
        MKPOE().fit(data)
    train, held_out = data.holdout(links=0, comparisons=0.3)
    model = quiet(MKPOE(join=True), train)
    scores = hetviz.evaluate(train, model.embedding_, held_out).to_dict()
    assert scores["comparison_accuracy_held_out"] > 0.8
    assert model.embedding_.placed["b"].all()
    twin = model.transform(Dataset("b", ["new"], np.asarray(data["b"].X)[[5]]))
    np.testing.assert_allclose(
        twin.coordinates["b"][0], model.embedding_.coordinates["b"][5], atol=1e-9
    )


def test_partial_layouts_and_cancel_keeps_the_last() -> None:
    data, _ = make_data()
    seen: list[np.ndarray] = []

    def watch(fraction: float, message: str = "", **figures: Any) -> None:
        if "layout" in figures:
            seen.append(figures["layout"]())
            if len(seen) == 3:
                raise Cancelled

    model = MKPOE(tol=1e-6)
    with pytest.raises(Cancelled) as caught:
        model.fit(data, progress=watch)
    assert all(layout.shape == (2 * N, 2) for layout in seen)
    np.testing.assert_array_equal(caught.value.partial.stacked(), seen[-1])
    assert model.stopping_reason_ == "stopped early"


def test_cycles_are_reported_by_row() -> None:
    ids = ["a", "b", "c", "d"]
    X = np.random.default_rng(0).normal(size=(4, 3))
    comparisons = Comparisons([[0, 1, 2], [0, 2, 3], [0, 3, 1], [1, 2, 3]])
    model = MKPOE().fit(HeteroData([Dataset("t", ids, X)], [], comparisons))
    assert model.order_["t"].counts["circular"] == 1
    assert model.diagnostics_["comparisons"]["t"]["kept"] == 3
    empty = Comparisons([[0, 1, 2], [0, 2, 1]])
    with pytest.warns(DataWarning, match="No comparison of t is left"):
        nothing = MKPOE().fit(HeteroData([Dataset("t", ids, X)], [], empty))
    assert not nothing.embedding_.stacked().any()


def test_view_without_compared_items_has_no_weight() -> None:
    data, _ = make_data()
    small = data.edit().subset({"noise": ["i58", "i59"]})
    comparisons = Comparisons([[0, 1, 2], [3, 4, 5]])
    for diagonal in (False, True):
        model = MKPOE(diagonal=diagonal).fit(HeteroData(small.datasets, [], comparisons))
        assert model.view_weights_ == {"tells": 1.0, "noise": 0.0}
        assert np.isfinite(model.embedding_.stacked()).all()
