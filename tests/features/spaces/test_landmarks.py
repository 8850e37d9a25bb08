"""Landmarks: which rows stand for all, and where all lie by them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hetviz
from hetviz.core.graph import neighbors
from hetviz.data import Dataset, HeteroData, Links
from hetviz.errors import Cancelled
from hetviz.features.spaces import landmarks as module
from hetviz.features.spaces.landmarks import landmarks, place_by_landmarks


def shops(n: int = 600, m: int = 30, seed: int = 0) -> HeteroData:
    """Things in five heaps, each sold in a shop that sells that heap; shops without features."""
    rng = np.random.default_rng(seed)
    heap = np.arange(n) % 5
    X = 10 * np.eye(5)[heap] + rng.normal(size=(n, 5))
    things = Dataset("things", [f"t{k}" for k in range(n)], X)
    stores = Dataset("stores", [f"s{k}" for k in range(m)])
    to = heap + 5 * rng.integers(m // 5, size=n)
    return HeteroData([things, stores], [Links("things", "stores", np.arange(n), to)])


def test_landmarks_cover_datasets_and_are_linked() -> None:
    data = shops()
    rows = landmarks(data, 100)
    assert len(rows) == len(set(rows.tolist())) == 100
    in_stores = rows[rows >= 600]
    assert len(in_stores) == 30
    linked = data.adjacency("+")[rows][:, rows]
    assert (np.asarray(linked.sum(axis=1)).ravel()[:70] > 0).all()
    # by chance alone 8 of 50 would know another one
    small_limit = landmarks(shops(n=600, m=600), 100)
    W = shops(n=600, m=600).adjacency("+")[small_limit][:, small_limit]
    assert (np.asarray(W.sum(axis=1)).ravel() > 0).mean() > 0.5
    np.testing.assert_array_equal(rows, landmarks(data, 100))


def test_rows_without_links_can_be_landmarks() -> None:
    alone = HeteroData([Dataset("a", [str(k) for k in range(500)], np.eye(500)[:, :3])])
    rows = landmarks(alone, 50)
    assert len(rows) == 50
    assert rows.max() > 250


def test_place_by_landmarks_uses_similarity_and_links() -> None:
    data = shops()
    rows = landmarks(data, 100)
    heap = np.concatenate([np.arange(600) % 5, np.arange(30) % 5])
    corner = 10.0 * np.column_stack([heap % 3, heap // 3])
    X = np.asarray(data["things"].X)
    Y = place_by_landmarks(
        data, rows[rows < 600], corner[rows[rows < 600]], [X - X.mean(axis=0), None]
    )
    assert np.isfinite(Y).all()
    assert np.abs(Y - corner).max() < 1.0


def test_place_by_landmarks_can_be_cancelled(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(neighbors, "_BLOCK_ENTRIES", 10_000)
    data = shops()
    rows = landmarks(data, 100)
    rows = rows[rows < 600]
    X = np.asarray(data["things"].X)
    beats: list[int] = []

    def stop() -> None:
        beats.append(1)
        if len(beats) == 3:
            raise Cancelled("Stopped.")

    with pytest.raises(Cancelled):
        place_by_landmarks(data, rows, X[rows, :2], [X, None], check_cancelled=stop)
    assert len(beats) == 3


def test_unreachable_rows_are_not_placed() -> None:
    data = HeteroData([Dataset("a", ["x", "y", "z"]), Dataset("b", ["u"], np.eye(1))])
    Y = place_by_landmarks(data, np.array([0]), np.zeros((1, 2)), [None, np.zeros((1, 1))])
    assert np.isfinite(Y).all(axis=1).tolist() == [True, False, False, False]


@pytest.fixture
def small_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take 600 rows for very many."""
    from hetviz.algorithms import landmark_start
    from hetviz.runs import first_map

    monkeypatch.setattr(landmark_start, "MIN_ROWS", 500)
    monkeypatch.setattr(first_map, "MIN_ROWS", 500)
    monkeypatch.setattr(module.landmarks, "__defaults__", (100, 0))


@pytest.mark.parametrize("key", ["joint-map", "mr-sne", "umap", "graph-axes"])
def test_large_map_starts_with_landmarks(small_limit: None, key: str) -> None:
    data = shops()
    displayed: list[int] = []

    def progress(fraction: float, message: str = "", **figures: Any) -> None:
        if "layout" in figures:
            Y = figures["layout"]()
            assert Y.shape == (630, 2)
            displayed.append(int(np.isfinite(Y).all(axis=1).sum()))

    result = hetviz.embed(data, key, progress=progress, random_state=3)
    assert displayed[0] <= 100
    assert displayed[-1] == 630
    assert displayed == sorted(displayed)
    assert result.n_unplaced == 0
    messages = result.diagnostics["placement error"].values
    assert 0 < messages["half of them, at most"] < messages["nine in ten, at most"]
    again = hetviz.embed(data, key, random_state=3)
    np.testing.assert_array_equal(result.stacked(), again.stacked())
    # what is in one heap lies together
    Y, heap = result.coordinates["things"], np.arange(600) % 5
    middles = np.array([np.median(Y[heap == first], axis=0) for first in range(5)])
    nearest = ((Y[:, None] - middles) ** 2).sum(axis=2).argmin(axis=1)
    assert (nearest == heap).mean() > 0.95


def test_cancel_keeps_landmarks(small_limit: None) -> None:
    def stop(fraction: float, message: str = "", **figures: Any) -> None:
        if message.startswith("Landmarks") and "layout" in figures and fraction > 0.03:
            raise Cancelled("Stopped.")

    with pytest.raises(Cancelled) as caught:
        hetviz.embed(shops(), "joint-map", progress=stop)
    remaining = caught.value.partial
    assert remaining is not None
    assert {name: len(Y) for name, Y in remaining.coordinates.items()} == {
        "things": 600,
        "stores": 30,
    }
    assert 530 <= remaining.n_unplaced < 540


def test_first_map_compares_methods_on_landmarks(
    small_limit: None, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HETVIZ_HOME", str(tmp_path))
    from hetviz.runs.first_map import first_map

    messages: list[str] = []
    placed: list[int] = []

    def progress(fraction: float, message: str = "", **figures: Any) -> None:
        messages.append(message)
        if message.startswith("A first sketch of all items"):
            placed.append(int(np.isfinite(figures["layout"]()).all(axis=1).sum()))

    result = first_map(shops(), progress)
    assert any("of 100 items" in words for words in messages)
    assert "of 100 items" in result.figures["choice"]
    assert placed == [630]
    assert result.embedding.n_unplaced == 0
    again = hetviz.embed(shops(), result.method, **result.params)
    np.testing.assert_array_equal(again.stacked(), result.embedding.stacked())
    assert hetviz.suggest(shops())[0].card.key == result.method


def test_cancelled_first_map_places_all_items(
    small_limit: None, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HETVIZ_HOME", str(tmp_path))
    from hetviz.runs.embed.run import MapResult
    from hetviz.runs.first_map import first_map

    def stop(fraction: float, message: str = "", **figures: Any) -> None:
        if message.startswith("Comparing"):
            raise Cancelled("Stopped.")

    with pytest.raises(Cancelled) as caught:
        first_map(shops(), stop)
    remaining = caught.value.partial
    assert isinstance(remaining, MapResult)
    assert remaining.embedding.n_unplaced == 0
