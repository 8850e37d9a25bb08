"""MKPE: scores, views, negative links, missing and new items."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hetviz.algorithms import mkpe
from hetviz.algorithms.mkpe import MKPE
from hetviz.data import Dataset, HeteroData, Links
from hetviz.errors import Cancelled, DataWarning, NotApplicableError
from hetviz.features.spaces.inputs import UnitFeatures
from hetviz.metrics.fit.summary import evaluate

GROUPS = 4


def world(n: int = 60, tags: int = 20, **linked: Any) -> HeteroData:
    """Items in groups, and words with own features, each linked to one group."""
    rng = np.random.default_rng(0)
    group, mine = np.arange(n) % GROUPS, np.arange(tags) % GROUPS
    X = 4.0 * rng.normal(size=(GROUPS, 6))[group] + rng.normal(size=(n, 6))
    Z = 4.0 * rng.normal(size=(GROUPS, 5))[mine] + rng.normal(size=(tags, 5))
    items = Dataset("items", [f"i{k}" for k in range(n)], X)
    words = Dataset("words", [f"w{k}" for k in range(tags)], Z)
    i, j = np.nonzero((group[:, None] == mine[None]) & (rng.random((n, tags)) < 0.5))
    return HeteroData([items, words], [Links("items", "words", i, j, **linked)])


WORLD = world()


@pytest.mark.parametrize(
    "parameters",
    [{}, {"variant": "parametric"}, {"variant": "parametric", "inputs": "features"}],
)
def test_linked_items_are_close_including_held_out_links(parameters: dict[str, Any]) -> None:
    train, held_out = WORLD.holdout(links=0.3)
    model = MKPE(n_components=3, **parameters).fit(train)
    scores = evaluate(WORLD, model.embedding_, held_out).to_dict()
    assert scores["link_auc_held_out"] > 0.85
    assert (np.diff(model.loss_history_) <= 0).all()
    assert len(model.spread_of_starts_) == 3
    assert model.loss_history_[-1] == min(model.spread_of_starts_)
    parts = model.diagnostics_["loss"]
    kinds = ("items - items similarities", "words - words similarities", "items - words links")
    assert set(parts) == set(kinds)
    assert sum(parts.values()) == pytest.approx(model.loss_history_[-1])
    for frame in model.frames_.values():
        np.testing.assert_allclose(frame.T @ frame, np.eye(3), atol=1e-12)


def test_starts_on_a_sample_lead_to_the_loss_of_starts_on_all_pairs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    data = world(160)
    exact = MKPE().fit(data)
    monkeypatch.setattr(mkpe, "_MAX_ITEMS_OF_STARTS", 100)
    model = MKPE().fit(data)
    assert len(model.spread_of_starts_) == 3
    assert len(model.loss_history_) - 1 <= mkpe._FINAL_SWEEPS
    assert (np.diff(model.loss_history_) <= 0).all()
    assert model.loss_history_[-1] < 1.1 * exact.loss_history_[-1]


def test_noise_features_are_not_important() -> None:
    rng = np.random.default_rng(1)
    X = np.asarray(WORLD["items"].X)
    noisy = Dataset("items", WORLD["items"].ids, np.hstack([X, 0.01 * rng.normal(size=(60, 1))]))
    data = HeteroData([noisy, WORLD["words"]], WORLD.links)
    model = MKPE(variant="parametric", inputs="features", n_iter=200).fit(data)
    importance = model.importances_["items"]
    assert importance.shape == (7,)
    assert np.isfinite(importance).all()
    free = MKPE().fit(WORLD)
    assert free.importances_ == {}


def wide(n: int = 12, p: int = 40) -> HeteroData:
    """A few items of many features, linked with words."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(n, 3)) @ rng.normal(size=(3, p)) + 0.1 * rng.normal(size=(n, p))
    items = Dataset("items", [f"i{k}" for k in range(n)], X)
    words = Dataset("words", [f"w{k}" for k in range(4)])
    return HeteroData([items, words], [Links("items", "words", np.arange(n), np.arange(n) % 4)])


def test_new_items_ignore_directions_without_fitted_variance() -> None:
    data = wide()
    X = np.asarray(data["items"].X)
    nowhere = np.linalg.svd(X - X.mean(axis=0))[2][-1]
    moved = Dataset("items", ["new"], X[:1] + 50.0 * nowhere)
    away = {}
    for directions in ("auto", None):
        model = MKPE(
            variant="parametric", inputs="features", directions=directions, n_iter=5, n_init=1
        ).fit(data)
        placed = model.transform(moved).coordinates["items"][0]
        away[directions] = np.linalg.norm(placed - model.embedding_.coordinates["items"][0])
        assert model.importances_["items"].shape == (40,)
    assert away["auto"] < 1e-9 < 0.01 < away[None]
    assert model.frames_["items"].shape == (40, 2)


def test_directions_keep_the_requested_variance() -> None:
    items = wide()["items"]
    X = np.asarray(items.X)
    D = np.linalg.norm(X[:, None] - X[None], axis=2)
    for share, n_directions in ((1.0, 11), (0.95, 3), (0.01, 1)):
        inputs = UnitFeatures.fit(items, share)
        Z = inputs.of(items)
        assert Z.shape[1] == n_directions
        assert (Z**2).sum() / len(Z) >= share - 1e-12
        if share == 1.0:
            near = np.linalg.norm(Z[:, None] - Z[None], axis=2)
            np.testing.assert_allclose(near * inputs.size, D, atol=1e-9)
    assert UnitFeatures.fit(items, 0.01, min_axes=4).of(items).shape[1] == 4
    # There are not enough directions, so all features are used.
    assert UnitFeatures.fit(items, 0.5, min_axes=13).axes is None
    assert UnitFeatures.fit(items, "auto").of(items).shape[1] == 3
    # With fewer features than items, all are used.
    assert UnitFeatures.fit(WORLD["items"], "auto").axes is None


def test_paper_equals_its_single_settings() -> None:
    data = wide()
    printed = MKPE(paper=True, within_weight=5.0, n_init=3).fit(data)
    by_hand = MKPE(within_weight=0.1, equal_spread=False, n_init=1, n_iter=100, sigma0=None).fit(
        data
    )
    np.testing.assert_array_equal(printed.embedding_.stacked(), by_hand.embedding_.stacked())
    assert len(printed.spread_of_starts_) == 1
    for frame in printed.frames_.values():
        # The places are orthonormal.
        np.testing.assert_allclose(frame.T @ frame, np.eye(2), atol=1e-12)
    np.testing.assert_array_equal(printed.embedding_.coordinates["items"], printed.frames_["items"])


def test_new_items_are_close_to_their_group() -> None:
    train, held_out = WORLD.holdout(links=0.0, objects={"items": 0.2})
    for variant in ("coordinates", "parametric"):
        model = MKPE(variant=variant, n_components=3).fit(train)
        new = model.transform(Dataset("items", held_out["items"].ids, held_out["items"].X))
        group = np.array([int(text[1:]) % GROUPS for text in new.ids["items"]])
        groups = np.array([int(text[1:]) % GROUPS for text in train["items"].ids])
        Y, F = new.coordinates["items"], model.embedding_.coordinates["items"]
        D = ((Y[:, None] - F[None]) ** 2).sum(axis=2)
        assert (groups[D.argmin(axis=1)] == group).mean() > 0.9


def test_new_item_without_features_is_placed_by_links() -> None:
    tags = Dataset("tags", [f"t{k}" for k in range(GROUPS)])
    links = Links("items", "tags", np.arange(60), np.arange(60) % GROUPS)
    model = MKPE(n_components=3).fit(HeteroData([WORLD["items"], tags], [links]))
    new = model.transform(
        Dataset("tags", ["more", "lost"]),
        [("tags", "more", "items", f"i{k}") for k in range(0, 60, GROUPS)],
    )
    Y = new.coordinates["tags"]
    assert np.isnan(Y[1]).all()
    placed = model.embedding_.coordinates
    away = np.linalg.norm(placed["items"] - Y[0], axis=1)
    assert away[::GROUPS].mean() < 0.5 * away[1::GROUPS].mean()


def test_items_without_data_are_left_off() -> None:
    tags = Dataset("tags", [*"abcd", "lonely"])
    data = HeteroData(
        [WORLD["items"], tags], [Links("items", "tags", range(60), np.arange(60) % 4)]
    )
    with pytest.warns(DataWarning, match="1 of tags have no similarities"):
        model = MKPE().fit(data)
    assert model.embedding_.n_unplaced == 1
    assert not model.embedding_.placed["tags"][4]


def test_negative_links_separate_and_scores_are_unchanged() -> None:
    features = WORLD["items"]
    near = Links("items", "items", [0], [4])
    far = Links("items", "items", [0], [4], -1.0)
    away = {}
    for word, links in (("together", near), ("apart", far)):
        model = MKPE(n_iter=200).fit(HeteroData([features], [links]))
        Y = model.embedding_.coordinates["items"]
        away[word] = np.linalg.norm(Y[0] - Y[4]) / model.sigma_
    assert away["apart"] > 1.5 > 0.6 > away["together"]
    scored = Links("items", "items", [0], [1], score=[0.5])
    model = MKPE(n_iter=300).fit(HeteroData([features], [scored]))
    Y = model.embedding_.coordinates["items"]
    np.testing.assert_allclose(
        model.link_scores(features, features, Y[[0]], Y[[1]]), 0.5, atol=0.02
    )
    with pytest.warns(DataWarning, match="below 0 or above 1"):
        MKPE(n_iter=1).fit(HeteroData([features], [Links("items", "items", [0], [1], score=[5.0])]))


def test_masked_pairs_do_not_matter_but_zeros_do() -> None:
    once = MKPE(n_iter=5).fit(WORLD).embedding_.stacked()
    complete = MKPE(n_iter=5).fit(world(complete=True)).embedding_.stacked()
    assert np.abs(once - complete).max() > 1e-3


def test_views_of_one_object_are_close() -> None:
    rng = np.random.default_rng(2)
    Z = rng.normal(size=(30, 2))
    ids = [f"o{k}" for k in range(30)]
    views = [Dataset(name, ids, Z @ rng.normal(size=(2, 4)), entity="o") for name in "ab"]
    gap = {}
    for tie in (True, False):
        model = MKPE(tie_views=tie, n_iter=150).fit(HeteroData(views))
        a, b = (model.embedding_.coordinates[name] for name in "ab")
        gap[tie] = np.linalg.norm(a - b, axis=1).mean() / model.sigma_
        assert len(set(model.embedding_.components.values())) == (1 if tie else 2)
    assert gap[True] < 0.5 * gap[False]


def test_more_axes_than_items_are_refused() -> None:
    tags = Dataset("tags", ["a", "b"])
    data = HeteroData(
        [WORLD["items"], tags], [Links("items", "tags", range(60), np.arange(60) % 2)]
    )
    with pytest.raises(NotApplicableError, match=r"tags has only 2 items\. Use at most 2 axes"):
        MKPE(n_components=3).fit(data)
    with (
        pytest.warns(DataWarning, match="60 of items have no similarities"),
        pytest.raises(NotApplicableError, match="No item has similarities"),
    ):
        MKPE(within="none").fit(HeteroData([WORLD["items"]]))


def test_cancel_keeps_the_partial_map() -> None:
    seen: list[Any] = []

    def stop(fraction: float, message: str = "", **figures: Any) -> None:
        if "layout" in figures:
            seen.append(figures["layout"]())
        if len(seen) == 9:
            raise Cancelled

    model = MKPE(n_iter=20)
    with pytest.raises(Cancelled) as caught:
        model.fit(WORLD, progress=stop)
    assert seen[0].shape == (80, 2)
    assert caught.value.partial is model.embedding_
    assert model.n_iter_ == 8
    assert "stopped" in model.stopping_reason_


def test_paper_parameters() -> None:
    model = MKPE(sigma0=None, equal_spread=False, retraction="qr", link_score="weight").fit(WORLD)
    assert np.isfinite(model.embedding_.stacked()).all()
    assert MKPE(sigma0=0.5, n_init=1).fit(WORLD).sigma_ > 0
