"""Groups become a few typical pairs, the same every time, and it is said how many could be made."""

from __future__ import annotations

import numpy as np
import pytest

import hetviz
from hetviz import Dataset, Embedding, HeteroData, Labels
from hetviz.core.clustering.partition import choose_exemplars
from hetviz.errors import DataError, ParameterError
from hetviz.features.relations.grouping import DEFAULT_MAX_PAIRS


def clumps(n: int = 40) -> HeteroData:
    """Two datasets of two clumps each, one without features, and a second view of the first."""
    rng = np.random.default_rng(0)
    X = np.repeat([[0.0, 0.0], [9.0, 9.0]], n // 2, axis=0) + rng.normal(size=(n, 2))
    ids = [f"a{k}" for k in range(n)]
    return HeteroData(
        [
            Dataset("a", ids, X, entity="thing"),
            Dataset("view", ids, X[:, :1], entity="thing"),
            Dataset("bare", [f"b{k}" for k in range(n)]),
        ],
        labels=[
            Labels("a", "side", ["low"] * (n // 2) + ["high"] * (n // 2)),
            Labels("bare", "side", ["low"] * 3 + ["high"] * 2 + [None] * (n - 5)),
        ],
    )


def test_exemplars_cover_clusters_without_outliers() -> None:
    X = np.array([[0.0], [0.1], [0.2], [5.0], [5.1], [5.2], [5.3]])
    assert choose_exemplars(X, 2).tolist() in ([1, 4], [1, 5])
    assert choose_exemplars(X, 1).tolist() == [3]
    assert choose_exemplars(X, 9).tolist() == list(range(7))


def test_exemplars_of_equal_rows_differ() -> None:
    result = choose_exemplars(np.zeros((6, 2)), 4)
    assert len(set(result.tolist())) == 4


def test_small_groups_give_all_pairs() -> None:
    result = hetviz.links_between(clumps(), [0, 1, 2], [80, 81], 0.5)
    assert (result.n_possible, result.n_pairs, result.account) == (6, 6, "All 6 pairs.")
    links = result[0]
    assert (links.source, links.target, set(links.weight)) == ("a", "bare", {0.5})
    assert sorted(zip(links.i.tolist(), links.j.tolist(), strict=True)) == [
        (0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 1),
    ]  # fmt: skip


def test_large_groups_are_thinned_deterministically() -> None:
    data = clumps(400)
    A, B = np.arange(0, 400), np.arange(800, 1100)
    result = hetviz.links_between(data, A, B, -1)
    assert result.n_possible == 400 * 300
    assert 0.7 * DEFAULT_MAX_PAIRS <= result.n_pairs <= DEFAULT_MAX_PAIRS
    assert "of 120,000 pairs" in result.account
    again = hetviz.links_between(data, A[::-1], B, -1)
    assert again[0].i.tolist() == result[0].i.tolist()
    sides = {row < 200 for row in result.exemplars[0]}
    assert sides == {True, False}
    small = hetviz.links_between(data, A, B, -1, most=4)
    assert small.n_pairs <= 4


def test_in_turn_covers_every_item() -> None:
    data = clumps(400)
    A, B = np.arange(0, 6), np.arange(800, 861)
    result = hetviz.links_between(data, A, B, 1, in_turn=True)
    assert result.account == "61 of 366 pairs. Every item is in one of them."
    ends = [(links.source, links.target) for links in result]
    assert ends == [("a", "bare")]
    assert set(result[0].i) == set(range(6))
    assert len(set(result[0].j)) == 61
    more = hetviz.links_between(data, A, B, 1, in_turn=True, most=150)
    assert more.n_pairs == 150
    everything = hetviz.links_between(data, A, B, 1, in_turn=True, most=1000)
    assert everything.account == "All 366 pairs."
    fewer = hetviz.links_between(data, A, B, 1, in_turn=True, most=10)
    assert fewer.n_pairs == 10
    assert "typical" in fewer.account
    alike = hetviz.links_between(data, A, B[:6], 1, in_turn=True)
    assert (alike.n_pairs, alike.n_possible, alike[0].target) == (36, 36, "bare")
    within = hetviz.links_between(data, B, None, 1, in_turn=True)
    assert within.n_pairs == 300
    assert within.whole
    assert len(set(within[0].i) | set(within[0].j)) == 61
    eight = hetviz.links_between(data, B[:8], None, 1, in_turn=True)
    assert eight.account == "All 28 pairs."
    pair = hetviz.links_between(data, B[:2], None, 1, in_turn=True)
    assert pair.account == "The only pair."


def test_views_count_once() -> None:
    data = clumps()
    within = hetviz.links_between(data, [0, 40, 1, 41, 2], None, 1)
    assert (within.n_possible, within.n_pairs) == (3, 3)
    across = hetviz.links_between(data, [0, 1, 2], [41, 42, 43], 1)
    # 3 x 3 pairs, less 1-1 and 2-2, and 1-2 once
    assert (across.n_possible, across.n_pairs) == (6, 6)
    with pytest.raises(DataError, match="no pair of different items"):
        hetviz.links_between(data, [0], [40], 1)


def test_typical_items_by_embedding() -> None:
    data = clumps()
    far = np.zeros((40, 2))
    far[7] = 100
    places = {"a": far, "view": far, "bare": far}
    result = hetviz.links_between(data, range(40), [80], 1, most=2, embedding=Embedding(places))
    assert 7 in result.exemplars[0]


@pytest.mark.parametrize("most", [0, -1, True])
def test_links_between_refuses_invalid_most(most: int) -> None:
    with pytest.raises(ParameterError, match="most"):
        hetviz.links_between(clumps(), [0], [1], 1, most=most)


def test_links_from_labels_within_and_across() -> None:
    data = clumps()
    links = hetviz.links_from_labels(data, "side", 3, cannot=True)
    assert (links.within, len(links), int((links.weight < 0).sum())) == (True, 3 + 3 + 1, 1)
    low = links.i < 20
    assert ((low == (links.j < 20)) == (links.weight > 0)).all()
    assert links.meta is not None
    assert set(links.meta["set"]) == {"from side"}
    across = hetviz.links_from_labels(data, "side", 2, cannot=True, target="bare")
    assert (len(across), int((across.weight < 0).sum())) == (4 + 4 + 2, 2)
    with pytest.raises(DataError, match="Available: side"):
        hetviz.links_from_labels(data, "colour")
    with pytest.raises(ParameterError, match="per_class"):
        hetviz.links_from_labels(data, "side", 0)
    with pytest.raises(DataError, match="no two items"):
        hetviz.links_from_labels(data, "side", 1)
