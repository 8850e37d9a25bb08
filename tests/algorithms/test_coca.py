"""CoCA on datasets: sources, weights, missing items and new items."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.metrics import normalized_mutual_info_score

from hetviz.algorithms.coca import CoCA
from hetviz.algorithms.pca import PCA
from hetviz.algorithms.registry import suggest
from hetviz.data import Dataset, HeteroData, Labels, Links
from hetviz.errors import DataWarning, NotApplicableError, ParameterError

FIXTURES = Path(__file__).parents[1] / "fixtures"


def ids(n: int, letter: str = "r") -> list[str]:
    return [f"{letter}{k}" for k in range(n)]


def described(n: int = 60, noise: bool = False) -> HeteroData:
    """Views of one entity in different orders, with gaps, labels and two kinds of links."""
    rng = np.random.default_rng(0)
    classes = np.repeat(["a", "b", "c"], n // 3)
    centre = 3.0 * np.eye(3)[np.repeat([0, 1, 2], n // 3)]
    X, Y = (centre @ rng.normal(size=(3, d)) + rng.normal(size=(n, d)) for d in (5, 4))
    names = np.array(ids(n), dtype=object)
    order = rng.permutation(n)[: n - 10]
    parts = [
        Dataset("x", names, X, entity="thing"),
        Dataset("y", names[order], Y[order], entity="thing"),
    ]
    if noise:
        parts.append(Dataset("noise", names, rng.normal(size=(n, 6)), entity="thing"))
    same, other = rng.integers(0, n // 3, (2, 40))
    good = same != other
    links = [
        Links("x", "x", same[good], other[good], kind="near", role="relation"),
        Links("x", "x", np.arange(0, 20), np.arange(1, 21), kind="said"),
        Links("x", "x", np.arange(0, 20), np.arange(40, 60), -1.0, kind="said not"),
    ]
    return HeteroData(parts, links, None, [Labels("x", "class", classes)])


def test_views_share_places_by_id_in_any_order() -> None:
    data = described()
    embedding = CoCA().fit(data).embedding_
    x, y = (dict(zip(embedding.ids[n], embedding.coordinates[n], strict=True)) for n in "xy")
    assert all((x[text] == y[text]).all() for text in y)
    rows = np.random.default_rng(1).permutation(50)
    again = CoCA().fit(data.edit().subset({"y": rows})).embedding_
    np.testing.assert_allclose(again.coordinates["x"], embedding.coordinates["x"], atol=1e-9)


def test_only_links_within_an_entity_are_sources() -> None:
    data = described()
    other = Dataset("other", ids(5, "o"), np.random.default_rng(2).normal(size=(5, 3)))
    bare = HeteroData(data.datasets, (), None, data.labels)
    model = CoCA().fit(data)
    assert set(model.weights_["thing"]) == {"x", "y", "near", "said"}
    moved = model.embedding_.stacked() - CoCA().fit(bare).embedding_.stacked()
    assert np.abs(moved).max() > 1e-3
    crossed = bare.edit().add(other, Links("x", "other", range(5), range(5)))
    plain = bare.edit().add(other)
    np.testing.assert_array_equal(
        CoCA().fit(crossed).embedding_.stacked(), CoCA().fit(plain).embedding_.stacked()
    )


@pytest.mark.parametrize("learn_from", ["links", "labels"])
def test_learned_weights_are_low_for_noise(learn_from: str) -> None:
    data = described(noise=True)
    model = CoCA(weights="learned", learn_from=learn_from).fit(data)
    weights = model.weights_["thing"]
    assert weights["noise"] < 0.1
    assert weights["x"] + weights["y"] > 0.9
    # User links are either training data or a source, not both.
    assert ("said" in weights) == (learn_from == "labels")
    assert "near" in weights
    equal = CoCA().fit(data).weights_["thing"]
    assert equal["noise"] == pytest.approx(1 / 3)


def test_warns_without_pairs_to_learn_from() -> None:
    data = described()
    bare = HeteroData(data.datasets)
    for learn_from, words in (("links", "no known pairs"), ("labels", "no labels")):
        with pytest.warns(DataWarning, match=words):
            model = CoCA(weights="learned", learn_from=learn_from).fit(bare)
        np.testing.assert_array_equal(
            model.embedding_.stacked(), CoCA().fit(bare).embedding_.stacked()
        )


def test_manual_weights() -> None:
    data = HeteroData(described().datasets)
    alone = HeteroData([data["x"]])
    only_x = CoCA(weights={"y": 0.0}).fit(data)
    assert only_x.weights_["thing"] == {"x": 1.0, "y": 0.0}
    X = np.asarray(alone["x"].X)
    Z = (X - X.mean(0)) / X.std(0)
    first = np.linalg.svd(Z, full_matrices=False)[0][:, 0]
    places = only_x.embedding_.coordinates["x"][:, 0]
    assert abs(np.corrcoef(first, places)[0, 1]) == pytest.approx(1.0)
    # A view of weight 0 does not place items.
    new = Dataset("y", ["new"], np.asarray(data["y"].X)[:1], entity="thing")
    assert not only_x.transform(new).placed["y"].any()
    with pytest.raises(ParameterError, match="weights are 0 for all of x, y"):
        CoCA(weights={"x": 0.0, "y": 0.0}).fit(data)
    with pytest.raises(ParameterError, match="must be numbers"):
        CoCA(weights={"x": "learned"}).fit(data)


def test_new_items_get_the_mean_of_their_views() -> None:
    data = HeteroData(described().datasets)
    model = CoCA().fit(data)
    X, Y = np.asarray(data["x"].X), np.asarray(data["y"].X)
    row = data["y"].position("r7")
    new = HeteroData(
        [
            Dataset("x", ["new"], X[[7]], entity="thing"),
            Dataset("y", ["new", "half"], Y[[row, 3]], entity="thing"),
        ]
    )
    placed = model.transform(new)
    expected = model.embedding_.coordinates["x"][7]
    np.testing.assert_allclose(placed.coordinates["x"][0], expected, atol=1e-10)
    np.testing.assert_allclose(placed.coordinates["y"][0], expected, atol=1e-10)
    assert np.isfinite(placed.coordinates["y"][1]).all()


@pytest.mark.parametrize(
    "options",
    [
        {"output": "smoothed"},
        {"constraint": "block"},
        {"scale": "none"},
        {"graph_scale": "none"},
        {"agreement": "difference", "alpha": 0.01},
    ],
)
def test_each_option_changes_the_map(options: dict[str, Any]) -> None:
    data = described()
    plain, changed = (CoCA(**o).fit(data).embedding_.stacked() for o in ({}, options))
    assert np.isfinite(changed).all()
    assert np.abs(plain - changed).max() > 1e-6


def test_links_without_features() -> None:
    data = described()
    bare = HeteroData([Dataset("x", data["x"].ids), Dataset("lone", ["z"])], data.links)
    with pytest.warns(DataWarning, match="lone has no features"):
        embedding = CoCA().fit(bare).embedding_
    linked = np.asarray(bare.adjacency(1).sum(axis=1)).ravel()[:60] > 0
    assert (embedding.placed["x"] == linked).all()


def test_single_sources_are_refused() -> None:
    rng = np.random.default_rng(4)
    data = HeteroData(
        [Dataset(name, ids(9, name), rng.normal(size=(9, 3))) for name in "ab"],
        [Links("a", "b", range(9), range(9))],
    )
    with pytest.raises(NotApplicableError, match="Here each item has only one"):
        CoCA().fit(data)
    assert not next(v for v in suggest(data) if v.card.key == "coca").suits
    within = data.edit().add(Links("a", "a", [0], [1]))
    assert next(v for v in suggest(within) if v.card.key == "coca").suits


def test_digits_cluster_about_as_well_as_with_scaled_pca() -> None:
    with np.load(FIXTURES / "mfeat_fou_zer.npz") as file:
        views = {name: np.asarray(file[name], dtype=np.float64) for name in ("fou", "zer")}
    data = HeteroData([Dataset(name, ids(2000), X, entity="numeral") for name, X in views.items()])
    classes = np.repeat(np.arange(10), 200)

    def nmi(model: Any) -> float:
        Y = model.fit(data).embedding_.coordinates["fou"]
        clusters = KMeans(10, n_init=3, random_state=0).fit_predict(Y)
        return float(normalized_mutual_info_score(classes, clusters))

    collective, raw = nmi(CoCA(n_components=8)), nmi(CoCA(n_components=8, scale="none"))
    plain = nmi(PCA(n_components=8, standardize=True))
    assert abs(collective - plain) < 0.05
    assert collective > raw - 0.02
