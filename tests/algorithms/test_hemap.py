"""HeMap on datasets: pairing, warnings and transfer decisions."""

from __future__ import annotations

from contextlib import nullcontext

import numpy as np
import pytest

from hetviz.algorithms.hemap import HeMap
from hetviz.algorithms.registry import suggest
from hetviz.data import Dataset, HeteroData, Labels, Links
from hetviz.errors import DataWarning, NotApplicableError, ParameterError
from hetviz.metrics.fit.summary import evaluate


def ids(n: int, letter: str) -> list[str]:
    return [f"{letter}{k}" for k in range(n)]


def two(linked: int = 60, n: int = 80) -> HeteroData:
    """Two datasets of one hidden plane, with class names that differ."""
    rng = np.random.default_rng(0)
    classes = np.repeat([0, 1, 2, 3], n // 4)
    Z = 3.0 * np.array([[0, 0], [0, 1], [1, 0], [1, 1]])[classes] + 0.4 * rng.normal(size=(n, 2))
    T, S = (Z @ rng.normal(size=(2, d)) + 0.2 * rng.normal(size=(n, d)) for d in (6, 5))
    links = [Links("t", "s", range(linked), range(linked))] if linked else []
    labels = [Labels(name, "class", [f"k{c}" for c in classes]) for name in "ts"]
    parts = [Dataset("t", ids(n, "t"), T), Dataset("s", ids(n, "s"), S)]
    return HeteroData(parts, links, None, labels)


@pytest.mark.parametrize("kind", ["linear", "nonlinear"])
@pytest.mark.parametrize("constraint", ["joint", "block"])
def test_linked_items_are_close_and_others_follow_features(kind: str, constraint: str) -> None:
    data = two()
    model = HeMap(kind=kind, constraint=constraint).fit(data)
    assert model.diagnostics_["pairing"] == "links"
    assert model.diagnostics_["pairs"] == 60
    other_links = HeteroData(data.datasets, [Links("t", "s", range(60, 80), range(60, 80))])
    scores = [
        evaluate(part, model.embedding_).to_dict()["guidance_area"] for part in (data, other_links)
    ]
    # Ranked among the pairs of items with links, of which the second part has 20.
    assert scores[0] > 0.85
    assert scores[1] > 0.75
    assert model.embedding_.stacked_placed().all()
    assert model.diagnostics_["objective"] >= 0.0
    if constraint == "block":
        assert (np.diff(model.loss_history_) <= 1e-9).all()
        assert model.diagnostics_["objective"] >= model.diagnostics_["bound"] - 1e-9
        assert model.n_iter_ > 0


def test_random_pairs_are_reported() -> None:
    data = two(linked=0)
    with pytest.warns(DataWarning, match="paired at random|too risky"):
        model = HeMap(pairing="random").fit(data)
    assert "paired at random" in model.embedding_.note
    linked = two(linked=80)
    area = evaluate(linked, model.embedding_).to_dict()["guidance_area"]
    assert area < 0.65
    by_links = HeMap().fit(linked)
    assert evaluate(linked, by_links.embedding_).to_dict()["guidance_area"] > 0.85
    assert "random" not in by_links.embedding_.note


def test_labels_pair_items_without_links() -> None:
    data = two(linked=0)
    model = HeMap().fit(data)
    assert model.diagnostics_["pairing"] == "labels"
    value = {name: data.label("class").values for name in "ts"}
    pairs = model.pairing_
    assert (value["t"][pairs.target] == value["s"][pairs.source]).all()
    assert set(pairs.target) == set(range(80))
    bare = HeteroData(data.datasets)
    # Random pairs may also be reported as too risky to learn from.
    with pytest.warns(DataWarning) as caught:
        assert HeMap().fit(bare).diagnostics_["pairing"] == "random"
    assert any("at random" in str(warning.message) for warning in caught)
    for pairing, words in (("links", "no common ids"), ("labels", "no common class")):
        with pytest.raises(NotApplicableError, match=words):
            HeMap(pairing=pairing).fit(bare)


def test_transfer_decision_does_not_depend_on_rounding() -> None:
    bare = HeteroData(two(linked=0).datasets)
    rng = np.random.default_rng(1)
    decisions = []
    for size in (0.0, 1e-15, 1e-12, 1e-10):
        parts = [
            Dataset(name, part.ids, np.asarray(part.X) * (1 + size * rng.normal(size=part.X.shape)))
            for name, part in bare.datasets.items()
        ]
        with pytest.warns(DataWarning):
            decisions.append(HeMap().fit(HeteroData(parts)).selection_)
    for other in decisions[1:]:
        assert other.decision == decisions[0].decision
        np.testing.assert_array_equal(other.rows, decisions[0].rows)


def test_pairs_use_all_rows_of_the_smaller_dataset() -> None:
    data = two(linked=0)
    smaller = data.edit().subset({"s": range(0, 80, 2)})
    for pairing in ("random", "labels"):
        expected_warning = pytest.warns(DataWarning) if pairing == "random" else nullcontext()
        with expected_warning:
            pairs = HeMap(pairing=pairing).fit(smaller).pairing_
        assert len(pairs.target) == len(pairs.source) == 80
        assert set(pairs.target) == set(range(80))
        assert set(pairs.source) == set(range(40))


def test_views_are_paired_by_id() -> None:
    data = two(linked=0)
    views = HeteroData(
        [
            Dataset("t", ids(80, "o"), np.asarray(data["t"].X), entity="o"),
            Dataset("s", ids(80, "o")[::-1], np.asarray(data["s"].X)[::-1], entity="o"),
        ]
    )
    model = HeMap().fit(views)
    assert model.diagnostics_["pairing"] == "links"
    distances = np.linalg.norm(
        model.embedding_.coordinates["t"] - model.embedding_.coordinates["s"][::-1], axis=1
    )
    assert np.median(distances) < 0.5


def test_default_datasets_have_most_links() -> None:
    data = two()
    rng = np.random.default_rng(1)
    third = Dataset("third", ids(30, "x"), rng.normal(size=(30, 4)))
    more = data.edit().add(third, Links("third", "s", range(30), range(30)))
    with pytest.warns(DataWarning, match="third is left off"):
        model = HeMap().fit(more)
    assert (model.target_, model.source_) == ("t", "s")
    assert not model.embedding_.placed["third"].any()
    with pytest.warns(DataWarning, match="t is left off|too risky"):
        named = HeMap(source="third").fit(more)
    assert (named.target_, named.source_) == ("s", "third")
    with pytest.raises(ParameterError, match="'nowhere' must be a dataset with features"):
        HeMap(target="nowhere").fit(more)
    with pytest.raises(ParameterError, match="are both 't'"):
        HeMap(target="t", source="t").fit(more)


def test_similar_source_is_accepted() -> None:
    model = HeMap().fit(two(linked=80))
    transfer = model.diagnostics_["transfer"]
    assert transfer["decision"] == "accept"
    assert len(model.selection_.rows) == round(transfer["fraction"] * 80)


def test_dissimilar_source_is_rejected() -> None:
    rng = np.random.default_rng(2)
    clusters = 20.0 * rng.normal(size=(6, 4))[rng.integers(0, 6, 200)]
    data = HeteroData(
        [
            Dataset("t", ids(200, "t"), clusters + rng.normal(size=(200, 4))),
            Dataset("s", ids(200, "s"), rng.standard_t(1.1, size=(200, 3))),
        ]
    )
    with (
        pytest.warns(DataWarning, match="at random"),
        pytest.warns(DataWarning, match="from s for t is too risky: only [0-9] %"),
    ):
        model = HeMap(beta=0.1).fit(data)
    assert model.selection_.decision == "too_risky"
    assert model.selection_.rows.size == 0


def test_single_dataset_with_features_is_refused() -> None:
    data = HeteroData(
        [Dataset("a", ids(3, "a"), np.eye(3)), Dataset("tags", ["x"])],
        [Links("a", "tags", [0], [0])],
    )
    with pytest.raises(NotApplicableError, match="compares two datasets by their features"):
        HeMap().fit(data)
    assert not next(v for v in suggest(data) if v.card.key == "hemap").suits
