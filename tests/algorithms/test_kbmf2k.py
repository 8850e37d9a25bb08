"""KBMF2K: link probabilities, unknown pairs, new items and several datasets."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

import hetviz
from hetviz.algorithms import kbmf2k
from hetviz.algorithms.kbmf2k import KBMF2K
from hetviz.data import Dataset, HeteroData, Links
from hetviz.errors import Cancelled, DataWarning, NotApplicableError

GROUPS = 4


def world(n: int = 60, tags: int = 24, extra: bool = False, **linked: Any) -> HeteroData:
    """Items and words in groups, with links within groups."""
    rng = np.random.default_rng(0)
    group, mine = np.arange(n) % GROUPS, np.arange(tags) % GROUPS
    X = 4.0 * rng.normal(size=(GROUPS, 6))[group] + rng.normal(size=(n, 6))
    Z = 4.0 * rng.normal(size=(GROUPS, 5))[mine] + rng.normal(size=(tags, 5))
    items = Dataset("items", [f"i{k}" for k in range(n)], X)
    words = Dataset("words", [f"w{k}" for k in range(tags)], Z)
    i, j = np.nonzero((group[:, None] == mine[None]) & (rng.random((n, tags)) < 0.6))
    parts, links = [items, words], [Links("items", "words", i, j, **linked)]
    if extra:
        parts.append(Dataset("marks", ["a", "b", "c", "d"]))
        links.append(Links("words", "marks", np.arange(tags), mine))
    return HeteroData(parts, links)


WORLD = world()
TRUTH = (np.arange(60)[:, None] % GROUPS) == (np.arange(24)[None] % GROUPS)


def scores(model: KBMF2K, data: HeteroData) -> Any:
    Y = model.embedding_.coordinates
    return model.link_scores(data["items"], data["words"], Y["items"], Y["words"])


@pytest.mark.parametrize("likelihood", ["probit", "gaussian"])
def test_held_out_links_have_the_highest_probability(likelihood: str) -> None:
    train, _ = WORLD.holdout(links=0.3)
    model = KBMF2K(n_components=6, likelihood=likelihood).fit(train)
    P = scores(model, train)
    left = np.ones(P.shape, dtype=bool)
    left[train.links[0].i, train.links[0].j] = False
    assert roc_auc_score(TRUTH[left], P[left]) > 0.9
    assert (np.diff(model.loss_history_) <= 1e-8 * np.abs(model.loss_history_[:-1])).all()
    assert model.evidence_ == -model.loss_history_[-1]
    if likelihood == "probit":
        assert ((P >= 0) & (P <= 1)).all()
    predicted = hetviz.predict_links(train, "items", "words", top=10, by=model)
    i = train["items"].find(predicted["source_id"])
    j = train["words"].find(predicted["target_id"])
    assert TRUTH[i, j].mean() >= 0.9
    np.testing.assert_allclose(predicted["score"], P[i, j])


def test_new_items_have_link_probabilities() -> None:
    train, _ = WORLD.holdout(links=0.0, objects={"items": 0.2})
    model = KBMF2K(n_components=6).fit(train)
    fresh = [text for text in WORLD["items"].ids if text not in set(train["items"].ids)]
    predicted = hetviz.predict_links(
        HeteroData([WORLD["items"], WORLD["words"]]), "items", "words", 300, only=fresh, by=model
    )
    assert len(predicted) == len(fresh) * 24
    truth = TRUTH[
        WORLD["items"].find(predicted["source_id"]), WORLD["words"].find(predicted["target_id"])
    ]
    assert roc_auc_score(truth, predicted["score"]) > 0.9


def test_kernels_of_new_rows_are_used() -> None:
    X = np.asarray(WORLD["items"].X)
    K = np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2) / 50.0)
    old = np.arange(50)
    whole = Dataset("items", WORLD["items"].ids, kernel=K)
    links = WORLD.links[0]
    seen = Links("items", "words", links.i[links.i < 50], links.j[links.i < 50])
    model = KBMF2K(n_components=5).fit(HeteroData([whole.subset(old), WORLD["words"]], [seen]))
    fresh = whole.ids[50:].tolist()
    data = HeteroData([whole, WORLD["words"]])
    predicted = hetviz.predict_links(data, "items", "words", 240, only=fresh, by=model)
    truth = TRUTH[whole.find(predicted["source_id"]), WORLD["words"].find(predicted["target_id"])]
    assert roc_auc_score(truth, predicted["score"]) > 0.85


def test_unknown_pairs_differ_from_zeros() -> None:
    with pytest.warns(DataWarning, match="all known pairs are equal"):
        KBMF2K(unlisted="unknown", n_iter=5).fit(WORLD)
    rng = np.random.default_rng(1)
    i, j = np.nonzero(rng.random(TRUTH.shape) < 0.3)
    signed_links = Links("items", "words", i, j, np.where(TRUTH[i, j], 1.0, -1.0))
    data = HeteroData([WORLD["items"], WORLD["words"]], [signed_links])
    model = KBMF2K(unlisted="unknown", n_components=5).fit(data)
    left = np.ones(TRUTH.shape, dtype=bool)
    left[i, j] = False
    assert roc_auc_score(TRUTH[left], scores(model, data)[left]) > 0.9


def test_three_datasets_with_one_unlinked() -> None:
    data = world(extra=True)
    model = KBMF2K(n_components=4).fit(data)
    assert model.embedding_.n_unplaced == 0
    alone = data.edit().add(Dataset("alone", ["x"], [[1.0]]))
    with pytest.warns(DataWarning, match="alone has no links"):
        assert KBMF2K(n_iter=3).fit(alone).embedding_.n_unplaced == 1
    assert np.isnan(model.transform(Dataset("marks", ["new"])).coordinates["marks"]).all()


def test_low_rank_kernels_give_the_same_result() -> None:
    full = scores(KBMF2K(n_components=4, rank=None).fit(WORLD), WORLD)
    low = scores(KBMF2K(n_components=4, rank=30).fit(WORLD), WORLD)
    assert np.corrcoef(full.ravel(), low.ravel())[0, 1] > 0.9


def test_large_data_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kbmf2k, "MAX_PAIRS", 1_000)
    monkeypatch.setattr(kbmf2k, "MAX_ROWS", 50)
    with pytest.raises(NotApplicableError, match=r"1,440 pairs.*items has too many"):
        KBMF2K().fit(WORLD)


def test_cancel_keeps_the_partial_map() -> None:
    def stop(fraction: float, message: str = "", **figures: Any) -> None:
        if "layout" in figures and fraction > 0.1:
            assert figures["layout"]().shape == (84, 2)
            raise Cancelled

    model = KBMF2K(n_iter=30)
    with pytest.raises(Cancelled) as caught:
        model.fit(WORLD, progress=stop)
    assert caught.value.partial is model.embedding_
    assert model.n_iter_ == 4
