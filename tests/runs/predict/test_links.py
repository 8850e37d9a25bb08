"""Link suggestions from maps and methods."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hetviz
from hetviz.algorithms.mkpe import MKPE
from hetviz.data import Dataset, Embedding, HeteroData, Links
from hetviz.errors import DataError, HetvizError, ParameterError
from hetviz.runs.predict import links as prediction

A = np.array([[0.0], [1.0], [2.0], [10.0]])
B = np.array([[0.1], [1.3], [7.0]])


def small_map() -> tuple[HeteroData, Embedding]:
    a, b = Dataset("a", ["a0", "a1", "a2", "a3"]), Dataset("b", ["b0", "b1", "b2"])
    links = [
        Links("a", "b", [0, 1], [0, 0]),
        Links("b", "a", [1, 2], [1, 3], [1.0, -1.0], kind="other"),
    ]
    ids = {"a": a.ids, "b": b.ids}
    return HeteroData([a, b], links), Embedding({"a": A, "b": B}, ids)


def test_predict_links_ranks_closest_unlinked_pairs() -> None:
    data, embedding = small_map()
    suggestions = hetviz.predict_links(data, "a", "b", by=embedding)
    # Distances of the other pairs: a2-b1 .7, a0-b1 1.3, a2-b0 1.9, a2-b2 5, a1-b2 6, a0-b2 7, ...
    pairs = list(zip(suggestions["source_id"], suggestions["target_id"], strict=True))
    assert pairs[:4] == [("a2", "b1"), ("a0", "b1"), ("a2", "b0"), ("a2", "b2")]
    assert len(pairs) == 12 - 4
    assert not {("a0", "b0"), ("a1", "b0"), ("a1", "b1"), ("a3", "b2")} & set(pairs)
    assert suggestions["rank"].tolist() == list(range(1, 9))
    assert (np.diff(suggestions["score"]) <= 0).all()
    D = np.abs(A - B.T)
    assert suggestions["score"][0] == pytest.approx((D > 0.7 + 1e-9).mean())
    assert (
        suggestions["rank_best"].tolist()
        == suggestions["rank"].tolist()
        == suggestions["rank_worst"].tolist()
    )


def test_predict_links_names_closest_known_links() -> None:
    data, embedding = small_map()
    suggestions = hetviz.predict_links(data, "a", "b", by=embedding).set_index(
        ["source_id", "target_id"]
    )
    near = suggestions.loc[("a2", "b0")]
    assert near["source_evidence"] == ()
    assert near["target_evidence"] == ("a1", "a0")
    assert suggestions.loc[("a0", "b1")]["source_evidence"] == ("b0",)
    one = hetviz.predict_links(data, "a", "b", evidence=1, by=embedding)
    assert one["target_evidence"].map(len).max() == 1


def test_predict_links_is_symmetric() -> None:
    data, embedding = small_map()
    there = hetviz.predict_links(data, "a", "b", by=embedding)
    back = hetviz.predict_links(data, "b", "a", by=embedding)
    assert there["source_id"].tolist() == back["target_id"].tolist()
    np.testing.assert_allclose(there["score"], back["score"])
    assert there["source_evidence"].tolist() == back["target_evidence"].tolist()


def test_predict_links_lists_pairs_within_a_dataset_once() -> None:
    data, embedding = small_map()
    suggestions = hetviz.predict_links(data, "a", "a", by=embedding)
    pairs = {
        frozenset(pair)
        for pair in zip(suggestions["source_id"], suggestions["target_id"], strict=True)
    }
    assert len(suggestions) == len(pairs) == 6
    assert all(len(pair) == 2 for pair in pairs)
    mine = hetviz.predict_links(data, "a", "a", only=["a3"], by=embedding)
    assert mine["target_id"].tolist() == ["a2", "a1", "a0"]


def test_predict_links_respects_only_and_top() -> None:
    data, embedding = small_map()
    suggestions = hetviz.predict_links(data, "a", "b", top=2, only=["a3", "a0"], by=embedding)
    assert suggestions["source_id"].tolist() == ["a0", "a0"]
    assert suggestions["target_id"].tolist() == ["b1", "b2"]


def test_predict_links_skips_unplaced_rows_and_views() -> None:
    ids = ["x", "y"]
    data = HeteroData([Dataset("a", ids, entity="o"), Dataset("b", ids, entity="o")])
    placed = Embedding({"a": [[0.0], [1.0]], "b": [[0.0], [np.nan]]}, {"a": ids, "b": ids})
    suggestions = hetviz.predict_links(data, "a", "b", by=placed)
    assert list(zip(suggestions["source_id"], suggestions["target_id"], strict=True)) == [
        ("y", "x")
    ]
    nowhere = Embedding({"a": np.full((2, 1), np.nan), "b": [[0.0], [1.0]]}, {"a": ids, "b": ids})
    none = hetviz.predict_links(data, "a", "b", by=nowhere)
    assert len(none) == 0
    assert "source_evidence" in none


def test_predict_links_of_several_fits_averages_scores() -> None:
    data, embedding = small_map()
    turned = Embedding({"a": A, "b": B[::-1]}, embedding.ids)
    suggestions = hetviz.predict_links(data, "a", "b", by=[embedding, turned])
    one = hetviz.predict_links(data, "a", "b", by=embedding).set_index(["source_id", "target_id"])
    two = hetviz.predict_links(data, "a", "b", by=turned).set_index(["source_id", "target_id"])
    for _, row in suggestions.iterrows():
        pair = (row["source_id"], row["target_id"])
        scores = [frame.loc[pair]["score"] for frame in (one, two)]
        assert row["score"] == pytest.approx(np.mean(scores))
        ranks = [1 + int((frame["score"] > frame.loc[pair]["score"]).sum()) for frame in (one, two)]
        assert [row["rank_best"], row["rank_worst"]] == sorted(ranks)


def test_predict_links_does_not_depend_on_block_size(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    a, b = Dataset("a", [f"a{k}" for k in range(40)]), Dataset("b", [f"b{k}" for k in range(30)])
    data = HeteroData([a, b], [Links("a", "b", range(30), range(30))])
    embedding = Embedding(
        {"a": rng.normal(size=(40, 2)), "b": rng.normal(size=(30, 2))}, {"a": a.ids, "b": b.ids}
    )
    whole = hetviz.predict_links(data, "a", "b", top=15, by=embedding)
    inside = hetviz.predict_links(data, "a", "a", top=15, by=embedding)
    monkeypatch.setattr(prediction, "_BLOCK_SCORES", 60)
    assert hetviz.predict_links(data, "a", "b", top=15, by=embedding).equals(whole)
    assert hetviz.predict_links(data, "a", "a", top=15, by=embedding).equals(inside)


def data_with_new_rows() -> tuple[HeteroData, HeteroData, Any]:
    rng = np.random.default_rng(1)
    group = np.arange(24) % 3
    X = 5.0 * np.eye(3)[group] + 0.3 * rng.normal(size=(24, 3))
    Z = 5.0 * np.eye(3) + 0.3 * rng.normal(size=(3, 3))
    ids = np.array([f"i{k}" for k in range(24)])
    words = Dataset("words", ["red", "blue", "green"], Z)

    def first(n: int) -> HeteroData:
        items = Dataset("items", ids[:n], X[:n])
        return HeteroData([items, words], [Links("items", "words", range(18), group[:18])])

    return first(18), first(24), group


def test_predict_links_places_new_rows() -> None:
    data, more, group = data_with_new_rows()
    model = MKPE(n_iter=150).fit(data)
    suggestions = hetviz.predict_links(
        more, "items", "words", only=[f"i{k}" for k in range(18, 24)], by=model
    )
    assert len(suggestions) == 18
    best = suggestions.groupby("source_id").first()["target_id"]
    right = [best[f"i{k}"] == ["red", "blue", "green"][group[k]] for k in range(18, 24)]
    assert np.mean(right) == 1.0
    assert suggestions["score"].between(0, 1).all()
    flat = hetviz.predict_links(more, "items", "words", by=model.embedding_)
    assert set(flat["source_id"]) <= set(data["items"].ids)


def test_predict_links_uses_own_scores() -> None:
    data, _, _ = data_with_new_rows()
    model = MKPE(n_iter=20).fit(data)
    suggestions = hetviz.predict_links(data, "items", "words", top=3, by=model)
    Y = model.embedding_.coordinates
    first = suggestions.iloc[0]
    i, j = data["items"].position(first["source_id"]), data["words"].position(first["target_id"])
    k = np.exp(-((Y["items"][i] - Y["words"][j]) ** 2).sum() / model.sigma_**2)
    assert first["score"] == pytest.approx(k)


def test_predict_links_rejects_bad_arguments() -> None:
    data, embedding = small_map()
    with pytest.raises(DataError, match="this dataset does not exist"):
        hetviz.predict_links(data, "a", "c", by=embedding)
    with pytest.raises(DataError, match="this id does not exist"):
        hetviz.predict_links(data, "a", "b", only=["z"], by=embedding)
    with pytest.raises(ParameterError, match="top = 0"):
        hetviz.predict_links(data, "a", "b", top=0, by=embedding)
    with pytest.raises(ParameterError, match="give a fitted"):
        hetviz.predict_links(data, "a", "b", by=[])
    with pytest.raises(HetvizError, match="call fit"):
        hetviz.predict_links(data, "a", "b", by=MKPE())
