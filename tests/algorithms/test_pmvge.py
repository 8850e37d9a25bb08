"""PMvGE: variants, featureless items, new items and predicted links."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import hetviz
from hetviz.algorithms.pmvge import PMvGE
from hetviz.core.prediction import pmvge
from hetviz.data import Dataset, HeteroData, Links
from hetviz.errors import Cancelled, DataWarning
from hetviz.metrics.fit.summary import evaluate

GROUPS = 4


def world(n: int = 60, tags: int = 24, sparse: bool = False) -> HeteroData:
    """Items with features, and words without features, each linked to one group of items."""
    rng = np.random.default_rng(0)
    group, mine = np.arange(n) % GROUPS, np.arange(tags) % GROUPS
    X = 4.0 * rng.normal(size=(GROUPS, 6))[group] + rng.normal(size=(n, 6))
    items = Dataset("items", [f"i{k}" for k in range(n)], sp.csr_array(X) if sparse else X)
    words = Dataset("words", [f"w{k}" for k in range(tags)])
    i, j = np.nonzero((group[:, None] == mine[None]) & (rng.random((n, tags)) < 0.6))
    return HeteroData([items, words], [Links("items", "words", i, j)])


WORLD = world()


@pytest.mark.parametrize("within", ["sn_graph", "second_order", "ignored"])
@pytest.mark.parametrize("similarity", ["distance", "inner"])
def test_held_out_links_are_predicted(within: str, similarity: str) -> None:
    train, _ = WORLD.holdout(links=0.3)
    model = PMvGE(within=within, similarity=similarity, n_components=3, n_iter=100).fit(train)
    predicted = hetviz.predict_links(train, "items", "words", top=20, by=model)
    i, j = WORLD["items"].find(predicted["source_id"]), WORLD["words"].find(predicted["target_id"])
    assert (i % GROUPS == j % GROUPS).mean() >= 0.9
    assert predicted["score"].between(0, 1).all()
    assert (np.diff(model.loss_history_) <= 1e-10).all()
    assert ("items", "words") in model.biases_


def test_within_weight_zero_equals_ignored() -> None:
    ignored = PMvGE(within="ignored", n_iter=10).fit(WORLD).embedding_.stacked()
    two = PMvGE(within="sn_graph", within_weight=0.0, n_iter=10).fit(WORLD).embedding_.stacked()
    np.testing.assert_array_equal(ignored, two)


def test_neighbour_links_keep_similarities() -> None:
    keep = {}
    for within in ("ignored", "sn_graph"):
        model = PMvGE(within=within, perplexity=5.0).fit(WORLD)
        keep[within] = evaluate(WORLD, model.embedding_).to_dict()["trustworthiness"]
    assert keep["sn_graph"] > keep["ignored"]


@pytest.mark.parametrize("hidden", [0, 16])
def test_new_items_are_placed_by_their_features_and_fitted_ones_exactly(hidden: int) -> None:
    train, held_out = WORLD.holdout(links=0.0, objects={"items": 0.2})
    model = PMvGE(hidden=hidden, n_components=3, n_iter=80).fit(train)
    new = model.transform(Dataset("items", held_out["items"].ids, held_out["items"].X))
    words = model.embedding_.coordinates["words"]
    group = np.array([int(text[1:]) % GROUPS for text in new.ids["items"]])
    D = np.linalg.norm(new.coordinates["items"][:, None] - words[None], axis=2)
    assert (D.argmin(axis=1) % GROUPS == group).mean() > 0.8
    again = model.transform(Dataset("items", ["twin"], np.asarray(train["items"].X)[[3]]))
    np.testing.assert_allclose(
        again.coordinates["items"][0], model.embedding_.coordinates["items"][3], atol=1e-12
    )
    assert np.isnan(model.transform(Dataset("words", ["x"])).coordinates["words"]).all()


def test_sparse_wide_and_kernel_inputs() -> None:
    dense = PMvGE(n_iter=5).fit(WORLD).embedding_.stacked()
    sparse = PMvGE(n_iter=5).fit(world(sparse=True)).embedding_.stacked()
    np.testing.assert_allclose(sparse, dense, atol=1e-6)
    rng = np.random.default_rng(0)
    wide = Dataset("items", WORLD["items"].ids, rng.normal(size=(60, 300)))
    model = PMvGE(n_iter=3).fit(HeteroData([wide, WORLD["words"]], WORLD.links))
    assert model._inputs["items"].features.shape == (60, 256)
    X = np.asarray(WORLD["items"].X)
    gram = Dataset("items", WORLD["items"].ids, kernel=X @ X.T)
    kernel = PMvGE(n_iter=3).fit(HeteroData([gram, WORLD["words"]], WORLD.links))
    assert kernel.embedding_.n_unplaced == 0


def test_words_without_links_are_left_off() -> None:
    words = Dataset("words", [*WORLD["words"].ids, "lonely"])
    with pytest.warns(DataWarning, match="1 of words have no features"):
        model = PMvGE(n_iter=3).fit(HeteroData([WORLD["items"], words], WORLD.links))
    assert model.embedding_.n_unplaced == 1


def test_many_pairs_are_sampled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pmvge, "EXACT_PAIRS", 10)
    monkeypatch.setattr(pmvge, "BATCH_SIZE", 256)
    model = PMvGE(within="ignored", n_iter=60).fit(WORLD)
    assert "steps" in model.stopping_reason_
    assert evaluate(WORLD, model.embedding_).to_dict()["link_auc"] > 0.8


def test_cancel_keeps_the_partial_map() -> None:
    def stop(fraction: float, message: str = "", **figures: Any) -> None:
        if message.startswith("Iteration 5"):
            assert figures["layout"]().shape == (84, 2)
            raise Cancelled

    model = PMvGE()
    with pytest.raises(Cancelled) as caught:
        model.fit(WORLD, progress=stop)
    assert caught.value.partial is model.embedding_
    assert model.n_iter_ == 5


def test_diagnostics_explain_links_and_features() -> None:
    rng = np.random.default_rng(1)
    group = np.arange(60) % 2
    X = rng.normal(size=(60, 5))
    X[:, 2] += 6.0 * group
    items = Dataset("items", map(str, range(60)), X, feature_names=[*"abcde"])
    words = Dataset("words", ["left", "right"])
    data = HeteroData([items, words], [Links("items", "words", np.arange(60), group)])
    for hidden in (0, 8):
        model = PMvGE(within="ignored", hidden=hidden, n_iter=60).fit(data)
        diagnostics = model.embedding_.diagnostics
        moved = diagnostics["importances of items"].values
        assert max(moved, key=lambda name: moved[name]) == "c"
        assert (
            0.3
            < diagnostics["explained"].values["items - words"]
            == model.explained_["items - words"]
        )
        assert diagnostics["loss by kind"].values == {"items - words": pytest.approx(1.0)}
        places = model.embedding_.coordinates["items"]
        assert diagnostics["spread"].values["items"] == pytest.approx(
            np.sqrt(places.var(axis=0).sum())
        )
    assert "bias" not in PMvGE(bias=False, n_iter=2).fit(data).embedding_.diagnostics
    assert {*PMvGE(n_iter=2).fit(data).explained_} == {"items - words", "items, similar features"}
