"""Label prediction by the blend of own features, linked items and linked labels."""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest

import hetviz
from benchmarks.memory import label_peak, made
from hetviz.algorithms import memory
from hetviz.data import Dataset, HeteroData, Labels, Links
from hetviz.errors import NotApplicableError, ParameterError
from hetviz.jobs.tasks.predict import find_labels
from hetviz.progress import ignore_progress
from hetviz.runs.predict import label_blend, label_models
from hetviz.runs.predict.labels import predict_labels


@pytest.fixture
def few_trees(monkeypatch: pytest.MonkeyPatch) -> None:
    """Grow smaller forests, for tests that do not depend on their quality or size."""
    monkeypatch.setattr(label_models, "_TREES", 20)


def papers_of_authors(features: bool = True, told: float = 0.3) -> tuple[HeteroData, np.ndarray]:
    """Papers whose topic depends weakly on words and strongly on their authors."""
    rng = np.random.default_rng(4)
    topic = np.arange(120) % 3
    X = 0.8 * np.eye(3)[topic] + rng.normal(size=(120, 3))
    field = np.arange(30) % 3
    i = np.repeat(np.arange(120), 4)
    j = 3 * rng.integers(0, 10, len(i)) + topic[i]
    stray = rng.random(len(i)) < 0.1
    j[stray] = rng.integers(0, 30, stray.sum())
    values = np.where(rng.random(120) < told, topic.astype(str), None)
    data = HeteroData(
        [
            Dataset("papers", [f"p{k}" for k in range(120)], X if features else None),
            Dataset("authors", [f"a{k}" for k in range(30)]),
        ],
        [Links("papers", "authors", i, j)],
        None,
        [Labels("papers", "topic", values), Labels("authors", "field", field.astype(str))],
    )
    return data, topic.astype(str)


@pytest.mark.usefixtures("few_trees")
def test_blend_uses_labels_along_links() -> None:
    data, topic = papers_of_authors()
    prediction = hetviz.predict_labels(data, "papers", "topic", repeats=2)
    assert prediction.method == "blend"
    unknown = ~prediction.table["known"].to_numpy()
    right = prediction.table["label"].to_numpy()[unknown] == topic[unknown]
    held_out = prediction.held_out.set_index("model")["error"]
    assert right.mean() > 0.8
    assert held_out["blend"] < held_out["own features"] < held_out["guess"]
    assert held_out["blend"] <= held_out.drop("blend").min() + 0.08
    P = prediction.table[["p_0", "p_1", "p_2"]].to_numpy()
    np.testing.assert_allclose(P.sum(axis=1), 1.0)
    assert prediction.table["decided"].mean() > 0.8
    rows = prediction.figures["reliability"]
    assert sum(row[2] for row in rows) == (~unknown).sum()
    assert sum(prediction.figures["weights"].values()) == pytest.approx(1.0, abs=0.03)
    json.dumps(prediction.to_dict())


@pytest.mark.usefixtures("few_trees")
def test_blend_works_without_features() -> None:
    data, topic = papers_of_authors(features=False)
    prediction = hetviz.predict_labels(data, "papers", "topic", repeats=0)
    unknown = ~prediction.table["known"].to_numpy()
    assert (prediction.table["label"].to_numpy()[unknown] == topic[unknown]).mean() > 0.8


@pytest.mark.usefixtures("few_trees")
def test_blend_reports_unpredictable_labels() -> None:
    rng = np.random.default_rng(0)
    values = np.where(np.arange(90) < 60, rng.integers(0, 2, 90).astype(str), None)
    data = HeteroData(
        [Dataset("a", [f"a{k}" for k in range(90)], rng.normal(size=(90, 4)))],
        [],
        None,
        [Labels("a", "kind", values)],
    )
    prediction = hetviz.predict_labels(data, "a", "kind", repeats=0)
    unknown = prediction.table[~prediction.table["known"]]
    assert unknown["decided"].mean() < 0.7
    assert any("is no better than a guess" in reason for reason in prediction.reasons)


@pytest.mark.usefixtures("few_trees")
def test_blend_intervals_cover_numbers() -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 4))
    y = X @ [3.0, -2.0, 0.0, 1.0] + rng.normal(size=200)
    shown = np.where(np.arange(200) < 120, y, np.nan)
    values = [None if np.isnan(v) else float(v) for v in shown]
    data = HeteroData(
        [Dataset("a", [f"a{k}" for k in range(200)], X)], [], None, [Labels("a", "size", values)]
    )
    prediction = hetviz.predict_labels(data, "a", "size", repeats=1)
    table = prediction.table[120:]
    inside = (table["low"] <= y[120:]) & (y[120:] <= table["high"])
    assert 0.8 < inside.mean() < 1.0
    held_out = prediction.held_out.set_index("model")["error"]
    assert held_out["blend"] < 1.3
    assert held_out["guess"] > 3.0
    assert table["decided"].all()


@pytest.mark.usefixtures("few_trees")
def test_find_labels_task_of_blend_has_no_map() -> None:
    data, _ = papers_of_authors()
    made = find_labels(data, "papers", "topic", ignore_progress, repeats=0)
    assert made.content["title"] == "Blend of all models"
    assert made.maps == ()
    json.dumps(made.content)
    assert find_labels(data, "papers", "topic", ignore_progress, repeats=0).content == made.content
    with pytest.raises(ParameterError, match="has no parameter n_rounds"):
        hetviz.predict_labels(data, "papers", "topic", method="blend", n_rounds=3)


def test_folds_keep_classes_balanced() -> None:
    folds = label_blend._folds(np.repeat([0.0, 1.0, 2.0], 4), "classes", 0)
    assert sorted(zip(np.repeat([0, 1, 2], 4), folds, strict=True)) == [
        (code, fold) for code in range(3) for fold in range(4)
    ]
    # Two of a class are in different folds, and the only item of a class is in none.
    folds = label_blend._folds(np.array([0, 0, 1, 1, 2], dtype=float), "classes", 0)
    assert folds[0] != folds[1]
    assert folds[2] != folds[3]
    assert folds.tolist()[4] == -1
    assert (label_blend._folds(np.arange(6.0), "classes", 0) == -1).all()
    assert np.bincount(label_blend._folds(np.arange(20.0), "number", 0)).tolist() == [4] * 5


def test_prior_weights_favour_regressions_along_links() -> None:
    names = [label_models.PLAIN, label_models.PROPAGATED, label_models.FOREST]
    np.testing.assert_allclose(
        label_blend._prior_weights(names), 1.5 * np.array([1.0, 0.05, 0.05]) / 1.1
    )


def test_blend_of_one_label_per_class_is_not_tested() -> None:
    data, topic = papers_of_authors(features=False)
    values = [label if k in (0, 1, 2) else None for k, label in enumerate(topic)]
    data = HeteroData(data.datasets, data.links, None, [Labels("papers", "topic", values)])
    prediction = hetviz.predict_labels(data, "papers", "topic")
    assert len(prediction.held_out) == 0
    assert any("Nothing could check the probabilities" in text for text in prediction.reasons)
    weights = prediction.figures["weights"]
    assert weights[label_models.PLAIN] == max(weights.values())
    right = prediction.table["label"].to_numpy()[3:] == topic[3:]
    assert right.mean() > 0.7


@pytest.mark.usefixtures("few_trees")
def test_blend_measures_errors_in_its_folds() -> None:
    data, _ = papers_of_authors(told=0.5)
    by_folds = hetviz.predict_labels(data, "papers", "topic", repeats=1)
    n_known = int(by_folds.table["known"].sum())
    assert any(f"Only {n_known} known labels could" in text for text in by_folds.reasons)
    held_out = by_folds.held_out.set_index("model")
    assert (held_out["repeats"] == 5).all()
    assert held_out["n"].iloc[0] == -(-n_known // 5)
    assert held_out.loc["guess", "error"] > 0.5
    by_splits = hetviz.predict_labels(data, "papers", "topic", training_share=0.8, repeats=2)
    assert (by_splits.held_out["repeats"] == 2).all()
    assert by_splits.table.equals(by_folds.table)


@pytest.mark.skipif(sys.platform != "linux", reason="the peak is told by Linux")
@pytest.mark.parametrize(("n_classes", "trees"), [(2, 20), (60, 100)])
def test_blend_memory_stays_below_the_estimate(
    n_classes: int, trees: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The first call loads libraries, which do not count.
    monkeypatch.setattr(label_models, "_TREES", 5)
    label_peak(100, 2)
    # With two classes the trees are small.
    monkeypatch.setattr(label_models, "_TREES", trees)
    prediction = label_peak(1_000, n_classes)
    assert prediction is not None
    assert 10 < prediction["peak"] <= prediction["estimate"]


def test_blend_rejects_data_larger_than_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    data = made(600)
    monkeypatch.setattr(memory, "available_bytes", lambda: 10e6)
    told: list[object] = []
    with pytest.raises(
        NotApplicableError, match=r"about .* of memory for 600 items, but only 10 MB"
    ):
        predict_labels(data, "first", "side", progress=lambda *said, **_: told.append(said))
    assert told == []
