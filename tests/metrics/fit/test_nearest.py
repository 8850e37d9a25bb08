from __future__ import annotations

import numpy as np
import pytest

from hetviz.data import Comparisons, Dataset, Embedding, HeteroData, Links
from hetviz.metrics.fit.nearest import comparison_nearness, link_nearness, nearest

rng = np.random.default_rng(3)
A, B = rng.normal(size=(30, 2)), rng.normal(size=(41, 2))
A[7] = B[5] = np.nan


def example() -> tuple[HeteroData, Embedding]:
    a, b = Dataset("a", [f"a{k}" for k in range(30)]), Dataset("b", [f"b{k}" for k in range(41)])
    links = [Links("a", "b", [2, 2, 2, 2], [0, 1, 2, 5], [1, 1, -1, 1]), Links("a", "a", [9], [2])]
    return HeteroData([a, b], links), Embedding({"a": A, "b": B}, {"a": a.ids, "b": b.ids})


def test_nearest_equal_brute_force_and_links_are_marked() -> None:
    data, embedding = example()
    found = nearest(data, embedding, 2, n=6, near=0.1)
    to_b = np.linalg.norm(B - A[2], axis=1)
    order = [k for k in np.argsort(to_b) if k != 5]
    assert (found["b"].rows - 30).tolist() == order[:6]
    assert found["b"].linked.tolist() == [k in (0, 1) for k in order[:6]]
    assert (found["b"].n_others, found["b"].n_near, found["b"].n_links) == (40, 4, 2)
    assert found["b"].n_links_near == sum(k in (0, 1) for k in order[:4])
    # The linked ones with their ranks; row 5 has no place.
    ranks = {k: sum(to_b[j] < to_b[k] for j in order) for k in (0, 1, 2)}
    near_first = sorted(ranks, key=lambda k: ranks[k])
    assert (found["b"].ends - 30).tolist() == near_first
    assert found["b"].nearer.tolist() == [ranks[k] for k in near_first]
    assert found["b"].weight.tolist() == [{2: -1}.get(k, 1) for k in near_first]
    assert found["b"].met().tolist() == [(ranks[k] < 4) == (k != 2) for k in near_first]
    assert 2 not in found["a"].rows
    assert (found["a"].n_others, found["a"].n_links) == (28, 1)


def test_an_item_without_a_place_has_no_nearest() -> None:
    data, embedding = example()
    assert nearest(data, embedding, 7) == {}


def data_of(links: list[Links], comparisons: Comparisons | None = None) -> HeteroData:
    a = Dataset("a", list("pqrs"), X=np.arange(4.0)[:, None])
    b = Dataset("b", list("xyz"), X=np.arange(3.0)[:, None])
    return HeteroData([a, b], links=links, comparisons=comparisons)


def map_of(data: HeteroData, a: list[float], b: list[float]) -> Embedding:
    places = {
        name: np.column_stack([values, np.zeros(len(values))])
        for name, values in (("a", a), ("b", b))
    }
    return Embedding(places, {name: part.ids for name, part in data.datasets.items()})


def test_each_link_is_ranked_among_all_pairs_of_its_datasets() -> None:
    data = data_of([Links("a", "b", [0, 3], [0, 0]), Links("b", "a", [2], [0])])
    near = link_nearness(data, map_of(data, [0.0, 1.0, 2.0, 10.0], [0.0, 1.5, 3.2]))
    # Twelve pairs; a tie with itself counts half. Of the distances from a to b, 0 is the least,
    # 10 the greatest, and 3.2 has three above it: 6.8, 8.5 and 10.
    assert near == pytest.approx([11.5 / 12, 0.5 / 12, 3.5 / 12])


def test_links_within_a_dataset_are_ranked_among_its_own_pairs() -> None:
    data = data_of([Links("a", "a", [0, 0], [1, 3])])
    near = link_nearness(data, map_of(data, [0.0, 1.0, 3.0, 10.0], [0.0] * 3))
    assert near == pytest.approx([5.5 / 6, 0.5 / 6])


def test_an_end_without_a_place_has_no_nearness() -> None:
    data = data_of([Links("a", "b", [0, 1], [0, 0])])
    near = link_nearness(data, map_of(data, [np.nan, 1.0, 2.0, 3.0], [0.0, 1.0, 2.0]))
    assert np.isnan(near[0])
    assert np.isfinite(near[1])


def test_comparisons_tell_how_clearly_the_map_agrees() -> None:
    data = data_of([], Comparisons([[0, 1, 2], [0, 2, 1], [4, 4, 4]]))
    near = comparison_nearness(data, map_of(data, [0.0, 1.0, 3.0, 10.0], [0.0] * 3))
    assert near == pytest.approx([0.75, 0.25, 0.5])
    assert len(comparison_nearness(data_of([]), map_of(data, [0.0] * 4, [0.0] * 3))) == 0
