from __future__ import annotations

import numpy as np
import pytest

from hetviz.core.measures.satisfaction import NEAR_SHARE, distance_percentiles, near_distance
from hetviz.data import Comparisons, Dataset, Embedding, HeteroData, Links
from hetviz.data.model.statements import statement_keys
from hetviz.metrics.conflicts.pricing import price
from hetviz.metrics.fit import nearest as near_module
from hetviz.metrics.fit.nearest import (
    close_distances,
    comparison_closeness,
    link_closeness,
    nearest,
    satisfied_links,
)
from hetviz.metrics.fit.summary import evaluate

rng = np.random.default_rng(3)
A, B = rng.normal(size=(30, 2)), rng.normal(size=(41, 2))
A[7] = B[5] = np.nan


def example() -> tuple[HeteroData, Embedding]:
    a, b = Dataset("a", [f"a{k}" for k in range(30)]), Dataset("b", [f"b{k}" for k in range(41)])
    links = [Links("a", "b", [2, 2, 2, 2], [0, 1, 2, 5], [1, 1, -1, 1]), Links("a", "a", [9], [2])]
    return HeteroData([a, b], links), Embedding({"a": A, "b": B}, {"a": a.ids, "b": b.ids})


def test_nearest_equal_brute_force_and_links_are_marked() -> None:
    data, embedding = example()
    limits = close_distances(data, embedding, 0.1)
    nearest_by_dataset = nearest(data, embedding, 2, n=6, max_distances=limits)
    to_b = np.linalg.norm(B - A[2], axis=1)
    order = [k for k in np.argsort(to_b) if k != 5]
    assert (nearest_by_dataset["b"].rows - 30).tolist() == order[:6]
    assert nearest_by_dataset["b"].linked.tolist() == [k in (0, 1) for k in order[:6]]
    # Few items have links, so close means among the closest tenth of all pairs of both datasets.
    both = np.delete(A, 7, axis=0)[:, None], np.delete(B, 5, axis=0)[None]
    far = np.sort(np.linalg.norm(both[0] - both[1], axis=2), axis=None)
    n_near = sum(to_b[k] <= far[len(far) // 10 - 1] for k in order)
    assert (
        nearest_by_dataset["b"].n_others,
        nearest_by_dataset["b"].n_close,
        nearest_by_dataset["b"].n_links,
    ) == (40, n_near, 2)
    assert nearest_by_dataset["b"].n_links_close == sum(k in (0, 1) for k in order[:n_near])
    # Linked rows with their ranks. Row 5 has no place.
    ranks = {k: sum(to_b[j] < to_b[k] for j in order) for k in (0, 1, 2)}
    near_first = sorted(ranks, key=lambda k: ranks[k])
    assert (nearest_by_dataset["b"].ends - 30).tolist() == near_first
    assert nearest_by_dataset["b"].n_closer.tolist() == [ranks[k] for k in near_first]
    assert nearest_by_dataset["b"].weight.tolist() == [{2: -1}.get(k, 1) for k in near_first]
    assert nearest_by_dataset["b"].is_satisfied().tolist() == [
        (ranks[k] < n_near) == (k != 2) for k in near_first
    ]
    assert 2 not in nearest_by_dataset["a"].rows
    assert (nearest_by_dataset["a"].n_others, nearest_by_dataset["a"].n_links) == (28, 1)


def test_items_of_unconnected_datasets_are_not_near() -> None:
    data, _ = example()
    apart = Embedding(
        {"a": A, "b": B}, {"a": data["a"].ids, "b": data["b"].ids}, components={"a": 0, "b": 1}
    )
    found = nearest(data, apart, 2, n=6)
    assert (len(found["a"].rows), len(found["b"].rows)) == (6, 0)
    assert len(found["b"].ends) == 3


def test_closeness_of_links_is_consistent() -> None:
    data, embedding = example()
    m = 200
    i, j = rng.integers(0, 30, m), rng.integers(0, 41, m)
    weight = np.where(np.arange(m) % 3, 1.0, -1.0)
    i, j = np.unique(np.column_stack([i, j]), axis=0).T
    data = HeteroData(list(data.datasets.values()), [Links("a", "b", i, j, weight[: len(i)])])
    near = link_closeness(data, embedding)
    share = evaluate(data, embedding).to_dict()["links_kept_chance"]
    assert share > NEAR_SHARE
    weight = data.links[0].weight
    placed = np.isfinite(near)
    is_satisfied = placed & np.where(weight > 0, near >= 1.0 - share, near < 1.0 - share)
    np.testing.assert_array_equal(satisfied_links(data, near), is_satisfied)
    assert 0 < is_satisfied[placed].sum() < placed.sum()
    for row in range(30):
        mine = placed & (i == row)
        met = nearest(data, embedding, row)["b"].is_satisfied().sum() if mine.any() else 0
        assert met == is_satisfied[mine].sum()
    broken = set(price(data, embedding)["key"])
    assert broken == set(statement_keys(data)[placed & ~is_satisfied])
    # For the whole map, links without a place are not close.
    summary = evaluate(data, embedding).to_dict()["links_kept"]
    assert summary == pytest.approx((near[weight > 0] >= 1.0 - share).mean())


def test_close_distances_separate_close_from_far_pairs() -> None:
    Y = np.arange(5.0)[:, None] ** 2
    far = sorted(abs(a - b) for k, a in enumerate(Y[:, 0]) for b in Y[:k, 0])
    assert near_distance(Y, share=0.3) == (far[2] + far[3]) / 2
    assert near_distance(Y, share=0.01) == 0.0
    assert near_distance(Y, share=1.0) == far[-1]
    assert np.isnan(near_distance(Y[:1]))
    # Pairs at equal distance are either all close or all far.
    line = np.array([[0.0], [1.0], [2.0], [3.0]])
    assert near_distance(line, share=0.4) == 1.5
    assert near_distance(line, share=0.2) == 0.0
    a, b = rng.normal(size=(1500, 2)), rng.normal(size=(1500, 2))
    share = distance_percentiles(a, np.arange(1500), np.arange(1500), b).values
    near = np.linalg.norm(a - b, axis=1) <= near_distance(a, b)
    assert (near == (share <= NEAR_SHARE)).all()


def test_item_without_a_place_has_no_nearest() -> None:
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


def test_link_closeness_ranks_among_all_pairs() -> None:
    data = data_of([Links("a", "b", [0, 3], [0, 0]), Links("b", "a", [2], [0])])
    near = link_closeness(data, map_of(data, [0.0, 1.0, 2.0, 10.0], [0.0, 1.5, 3.2]))
    # Twelve pairs. Ties with itself count half. Distances from a to b: 0 is the smallest,
    # 10 the largest, and three are above 3.2: 6.8, 8.5 and 10.
    assert near == pytest.approx([11.5 / 12, 0.5 / 12, 3.5 / 12])


def test_link_closeness_within_a_dataset() -> None:
    data = data_of([Links("a", "a", [0, 0], [1, 3])])
    near = link_closeness(data, map_of(data, [0.0, 1.0, 3.0, 10.0], [0.0] * 3))
    assert near == pytest.approx([5.5 / 6, 0.5 / 6])


def test_link_closeness_without_a_place_is_nan() -> None:
    data = data_of([Links("a", "b", [0, 1], [0, 0])])
    near = link_closeness(data, map_of(data, [np.nan, 1.0, 2.0, 3.0], [0.0, 1.0, 2.0]))
    assert np.isnan(near[0])
    assert np.isfinite(near[1])


def test_comparison_closeness_values() -> None:
    data = data_of([], Comparisons([[0, 1, 2], [0, 2, 1], [4, 4, 4]]))
    near = comparison_closeness(data, map_of(data, [0.0, 1.0, 3.0, 10.0], [0.0] * 3))
    assert near == pytest.approx([0.75, 0.25, 0.5])
    assert len(comparison_closeness(data_of([]), map_of(data, [0.0] * 4, [0.0] * 3))) == 0


def test_link_closeness_is_cached_for_large_groups(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(near_module, "_MIN_CACHED_LINKS", 3)
    rng = np.random.default_rng(3)
    parts = [Dataset(name, list("abcdefgh")) for name in "xy"]
    many = Links("x", "y", np.arange(8), np.arange(8)[::-1])
    Y = {name: rng.normal(size=(8, 2)) for name in "xy"}
    first = Embedding(Y, {dataset.name: dataset.ids for dataset in parts})
    link_closeness(HeteroData(parts, [many]), first)
    later = HeteroData(parts, [Links("y", "x", [1], [2]), many])
    again = Embedding(Y, {dataset.name: dataset.ids for dataset in parts})
    np.testing.assert_array_equal(link_closeness(later, first), link_closeness(later, again))
    # Other items with the same links are computed again.
    turned = [Dataset("x", list("hgfedcba")), parts[1]]
    other = HeteroData(turned, [many])
    np.testing.assert_array_equal(link_closeness(other, first), link_closeness(other, again))
    assert not np.array_equal(link_closeness(other, first), link_closeness(later, first)[1:])
