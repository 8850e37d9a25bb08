"""Held-out links predicted by own scores or by the map, compared with simple baselines."""

from __future__ import annotations

import json
import tracemalloc

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, roc_auc_score

import hetviz
from hetviz.data import Dataset, HeteroData, Links
from hetviz.runs.compare.comparison import Comparison
from hetviz.runs.compare.predicted_links import (
    AUC_KEY,
    _mean_ranking_scores,
    held_out_scores,
    prediction_sentence,
)
from hetviz.runs.embed.run import fit_run


def shops_and_goods(n: int = 60) -> HeteroData:
    """Shops that sell goods of their kind; both have features that tell the kind roughly."""
    rng = np.random.default_rng(2)
    kind = np.arange(n) % 4
    parts = [
        Dataset(
            name, [f"{name}{k}" for k in range(n)], np.eye(4)[kind] + rng.normal(size=(n, 4)) / 3
        )
        for name in ("shops", "goods")
    ]
    i = np.repeat(np.arange(n), 4)
    j = 4 * rng.integers(0, n // 4, len(i)) + kind[i]
    return HeteroData(parts, [Links("shops", "goods", i, j)])


def test_held_out_links_use_own_scores_or_distances() -> None:
    data = shops_and_goods()
    comparison = hetviz.compare(
        data, ["pmvge", "pca"], seeds=1, params={"pmvge": {"n_iter": 60}}, new_items=0.1
    )
    assert comparison.judged_by == {"pmvge": "own scores", "pca": "nearness on the map"}
    train, held = data.holdout(links=0.2, random_state=0)
    model = fit_run(train, "pmvge", {"n_iter": 60}, 0).model
    is_known = np.zeros((60, 60), dtype=bool)
    is_known[train.links[0].i, train.links[0].j] = True
    truth = np.zeros((60, 60), dtype=bool)
    truth[held.links[0].i, held.links[0].j] = True
    Y, Z = (model.embedding_.coordinates[name] for name in ("shops", "goods"))
    S = model.link_scores(data["shops"], data["goods"], Y, Z)
    scores = comparison.fits[0].scores
    expected = roc_auc_score(truth[~is_known], S[~is_known])
    assert scores["link_score_auc_held_out"] == pytest.approx(expected)
    expected = average_precision_score(truth[~is_known], S[~is_known])
    assert scores["link_score_precision_held_out"] == pytest.approx(expected)
    embedding = comparison.embeddings["pca"]
    Y, Z = (embedding.coordinates[name] for name in ("shops", "goods"))
    closeness = -np.linalg.norm(Y[:, None] - Z[None], axis=2)
    scores_of_pca = next(fit for fit in comparison.fits if fit.key == "pca").scores
    expected = roc_auc_score(truth[~is_known], closeness[~is_known])
    assert scores_of_pca["link_score_auc_held_out"] == pytest.approx(expected, abs=1e-3)
    assert 0.5 < scores_of_pca["link_score_auc_new_items"] <= 1.0
    assert held_out_scores(train, model, None, 0) == {}


def test_yardsticks_are_computed_and_stored() -> None:
    comparison = hetviz.compare(shops_and_goods(), ["pca"], seeds=2)
    plain = comparison.yardsticks
    assert list(plain) == ["nearest profiles", "popularity", "chance"]
    auc, precision = "link_score_auc_held_out", "link_score_precision_held_out"
    assert plain["nearest profiles"][auc] > 0.7 > 0.6 > plain["popularity"][auc]
    assert plain["chance"][auc] == 0.5
    assert 0.0 < plain["chance"][precision] < plain["nearest profiles"][precision]
    content = json.loads(json.dumps(comparison.to_dict()))
    again = Comparison.from_dict(content)
    assert again.link_prediction_note == comparison.link_prediction_note
    assert "by closeness on the map" in comparison.link_prediction_note
    del content["judged_by"], content["yardsticks"]
    assert Comparison.from_dict(content).link_prediction_note == ""


def test_prediction_sentence_names_kinds_of_scores() -> None:
    titles = {"a": "A", "b": "B"}
    plain = {"chance": {"link_score_precision_held_out": 0.015}}
    kinds = {"a": "own scores", "b": "nearness on the map"}
    assert prediction_sentence(titles, kinds, plain) == (
        "Hidden links are predicted by the own scores of A and by closeness on the map for the "
        "others. Average precision of simple guesses: chance 1.5 %."
    )
    assert (
        "by the own scores of all methods"
        in prediction_sentence(titles, dict.fromkeys("ab", "own scores"), plain).lower()
    )
    assert prediction_sentence(titles, kinds, {}) == ""


def test_ranking_scores_use_bounded_memory() -> None:
    n = 30_000
    rows = np.arange(n)
    sides = [Dataset(name, [f"{name}{k}" for k in rows], rows[:, None] * 1.0) for name in "ab"]
    train = HeteroData(sides, [Links("a", "b", rows, (rows + 1) % n)])
    held_out = HeteroData(sides, [Links("a", "b", rows, rows)])

    def score(asked_rows: np.ndarray) -> np.ndarray:
        return -np.abs(asked_rows[:, None] - rows[None, :]).astype(np.float64)

    tracemalloc.start()
    comparison = _mean_ranking_scores(train, held_out, 0, lambda source, target: score)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert comparison[AUC_KEY] == 1.0
    assert peak < 100e6
