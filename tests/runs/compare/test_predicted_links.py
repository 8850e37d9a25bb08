"""Unseen links by a method's own scores or by its map, beside plain guesses."""

from __future__ import annotations

import json
import tracemalloc

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, roc_auc_score

import hetviz
from hetviz.data import Dataset, HeteroData, Links
from hetviz.runs.compare.comparison import Comparison
from hetviz.runs.compare.predicted_links import AUC, _judged, held_out_scores, sentence
from hetviz.runs.embed.run import fit_run


def shops(n: int = 60) -> HeteroData:
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


def test_a_predictor_is_judged_by_its_scores_and_a_map_by_its_distances() -> None:
    data = shops()
    found = hetviz.compare(
        data, ["pmvge", "pca"], seeds=1, params={"pmvge": {"n_iter": 300}}, new_items=0.1
    )
    assert found.judged_by == {"pmvge": "own scores", "pca": "nearness on the map"}
    train, held = data.holdout(links=0.2, random_state=0)
    model = fit_run(train, "pmvge", {"n_iter": 300}, 0).model
    known = np.zeros((60, 60), dtype=bool)
    known[train.links[0].i, train.links[0].j] = True
    truth = np.zeros((60, 60), dtype=bool)
    truth[held.links[0].i, held.links[0].j] = True
    Y, Z = (model.embedding_.coordinates[name] for name in ("shops", "goods"))
    S = model.link_scores(data["shops"], data["goods"], Y, Z)
    scores = found.fits[0].scores
    expected = roc_auc_score(truth[~known], S[~known])
    assert scores["link_score_auc_held_out"] == pytest.approx(expected)
    expected = average_precision_score(truth[~known], S[~known])
    assert scores["link_score_precision_held_out"] == pytest.approx(expected)
    embedding = found.embeddings["pca"]
    Y, Z = (embedding.coordinates[name] for name in ("shops", "goods"))
    near = -np.linalg.norm(Y[:, None] - Z[None], axis=2)
    mine = next(fit for fit in found.fits if fit.key == "pca").scores
    expected = roc_auc_score(truth[~known], near[~known])
    assert mine["link_score_auc_held_out"] == pytest.approx(expected, abs=1e-3)
    assert 0.5 < mine["link_score_auc_new_items"] <= 1.0
    assert held_out_scores(train, model, None, 0) == {}


def test_plain_guesses_stand_beside_and_are_kept() -> None:
    found = hetviz.compare(shops(), ["pca"], seeds=2)
    plain = found.yardsticks
    assert list(plain) == ["nearest profiles", "popularity", "chance"]
    auc, precision = "link_score_auc_held_out", "link_score_precision_held_out"
    assert plain["nearest profiles"][auc] > 0.7 > 0.6 > plain["popularity"][auc]
    assert plain["chance"][auc] == 0.5
    assert 0.0 < plain["chance"][precision] < plain["nearest profiles"][precision]
    content = json.loads(json.dumps(found.to_dict()))
    again = Comparison.from_dict(content)
    assert again.told_of_links == found.told_of_links
    assert "all methods by nearness on the map" in found.told_of_links
    del content["judged_by"], content["yardsticks"]
    assert Comparison.from_dict(content).told_of_links == ""


def test_who_was_judged_by_what_is_said() -> None:
    titles = {"a": "A", "b": "B"}
    plain = {"chance": {"link_score_precision_held_out": 0.015}}
    ways = {"a": "own scores", "b": "nearness on the map"}
    assert sentence(titles, ways, plain) == (
        "Held-out links found: A by own scores, the others by nearness on the map. "
        "Average precision in 100 of plain guesses: chance 1.5."
    )
    assert (
        "all methods were judged by own scores"
        in sentence(titles, dict.fromkeys("ab", "own scores"), plain).lower()
    )
    assert sentence(titles, ways, {}) == ""


def test_no_matrix_of_all_pairs_is_made_of_many_items() -> None:
    n = 30_000
    rows = np.arange(n)
    sides = [Dataset(name, [f"{name}{k}" for k in rows], rows[:, None] * 1.0) for name in "ab"]
    train = HeteroData(sides, [Links("a", "b", rows, (rows + 1) % n)])
    held_out = HeteroData(sides, [Links("a", "b", rows, rows)])

    def score(asked: np.ndarray) -> np.ndarray:
        return -np.abs(asked[:, None] - rows[None, :]).astype(np.float64)

    tracemalloc.start()
    found = _judged(train, held_out, 0, lambda source, target: score)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found[AUC] == 1.0
    assert most < 100e6
