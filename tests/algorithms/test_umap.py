"""UMAP: links, negative links, earlier maps and new items."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hetviz.algorithms.umap import UMAP
from hetviz.data import Dataset, HeteroData, Links
from hetviz.errors import Cancelled, DataWarning, NotApplicableError
from hetviz.metrics.fit.summary import evaluate

GROUPS = 5


def world(n: int = 150, tags: int = 10) -> HeteroData:
    """Items in groups, and tags each linked to one group."""
    rng = np.random.default_rng(0)
    group, mine = np.arange(n) % GROUPS, np.arange(tags) % GROUPS
    X = 5.0 * rng.normal(size=(GROUPS, 6))[group] + rng.normal(size=(n, 6))
    items = Dataset("items", [f"i{k}" for k in range(n)], X)
    words = Dataset("words", [f"w{k}" for k in range(tags)])
    i, j = np.nonzero((group[:, None] == mine[None]) & (rng.random((n, tags)) < 0.6))
    return HeteroData([items, words], [Links("items", "words", i, j)])


WORLD = world()


def quick(**parameters: Any) -> UMAP:
    return UMAP(**({"n_epochs": 150} | parameters))


def test_linked_items_and_neighbours_are_close() -> None:
    method = quick().fit(WORLD)
    scores = evaluate(WORLD, method.embedding_).to_dict()
    assert scores["link_auc"] > 0.9
    assert scores["trustworthiness"] > 0.85
    assert method.n_iter_ == 150
    weak = evaluate(WORLD, quick(link_strength=0.01).fit(WORLD).embedding_).to_dict()
    assert weak["link_auc"] < scores["link_auc"]


def test_one_and_three_axes() -> None:
    for k in (1, 3):
        embedding = quick(n_components=k).fit(WORLD).embedding_
        assert embedding.n_components == k
        assert embedding.n_unplaced == 0


def test_items_without_features_and_links_have_no_place() -> None:
    words = Dataset("words", [*WORLD["words"].ids, "lonely"])
    data = HeteroData([WORLD["items"], words], WORLD.links)
    with pytest.warns(DataWarning, match="1 of words have no features"):
        embedding = quick().fit(data).embedding_
    assert np.isnan(embedding.coordinates["words"][10]).all()
    same = Dataset("same", [str(k) for k in range(9)], np.ones((9, 2)))
    with pytest.warns(DataWarning), pytest.raises(NotApplicableError, match="no link counts"):
        UMAP().fit(HeteroData([same]))


def test_negative_links_are_no_edges_and_separate_pairs() -> None:
    i, j = np.arange(5), np.arange(5) + GROUPS
    negative = Links("items", "items", i, j, -np.ones(5))
    parted = quick().fit(HeteroData(WORLD.datasets.values(), [*WORLD.links, negative]))
    assert parted.diagnostics_["apart far enough"] == 1.0
    plain = quick().fit(WORLD).embedding_.coordinates["items"]
    apart = parted.embedding_.coordinates["items"]
    gap = [np.linalg.norm(Y[i] - Y[j], axis=1) / Y.std() for Y in (plain, apart)]
    assert gap[1].mean() > 1.5 * gap[0].mean()


def test_weight_zero_leaves_a_dataset_out() -> None:
    with pytest.warns(DataWarning, match="10 of words"):
        embedding = quick(weights={"words": 0.0}).fit(WORLD).embedding_
    assert embedding.n_unplaced == 10


def test_continuing_keeps_the_map_and_applies_new_links() -> None:
    first = quick().fit(WORLD)
    before = first.embedding_.stacked()
    words = first.embedding_.coordinates["words"]
    far = np.linalg.norm(words - first.embedding_.coordinates["items"][0], axis=1)
    user_link = Links("items", "words", [0], [far.argmax()], kind="said")
    changed = HeteroData(WORLD.datasets.values(), [*WORLD.links, user_link])
    again = quick().fit(changed, start=first.embedding_)
    moved = np.linalg.norm(again.embedding_.stacked() - before, axis=1)
    assert again.n_iter_ == 15
    assert np.median(moved) < 0.05 * np.ptp(before, axis=0).max()
    after = again.embedding_.coordinates
    assert np.linalg.norm(after["words"][far.argmax()] - after["items"][0]) < 0.5 * far.max()


def test_cancel_keeps_the_layout() -> None:
    frames: list[Any] = []

    def progress(fraction: float, message: str = "", **figures: Any) -> None:
        if "layout" in figures:
            frames.append(figures["layout"]())
            raise Cancelled

    method = quick()
    with pytest.raises(Cancelled) as caught:
        method.fit(WORLD, progress)
    np.testing.assert_array_equal(method.embedding_.stacked(), frames[0])
    assert caught.value.partial is method.embedding_


def test_new_items_are_close_to_similar_and_linked_items() -> None:
    method = quick().fit(WORLD)
    X = np.asarray(WORLD["items"].X)
    rng = np.random.default_rng(1)
    new = Dataset("items", [f"n{k}" for k in range(50)], X[:50] + 0.3 * rng.normal(size=(50, 6)))
    placed = method.transform(new).coordinates["items"]
    Y = method.embedding_.coordinates["items"]
    nearest = np.linalg.norm(placed[:, None] - Y[None], axis=2).argmin(axis=1)
    assert (nearest % GROUPS == np.arange(50) % GROUPS).mean() > 0.9
    words = method.transform(Dataset("words", ["fresh"]), [("words", "fresh", "items", "i3")])
    np.testing.assert_allclose(words.coordinates["words"][0], Y[3])
