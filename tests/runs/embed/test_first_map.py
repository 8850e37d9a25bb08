"""The first map: the best of a few, legible, and a reason where none suits."""

from __future__ import annotations

import numpy as np
import pytest

from hetviz.data import Dataset, HeteroData, Links
from hetviz.errors import Cancelled, NotApplicableError
from hetviz.metrics.fit.summary import evaluate
from hetviz.runs.embed.first_map import LEGIBLE, first_map, spreads
from hetviz.runs.embed.run import embed


def linked(n: int = 60) -> HeteroData:
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(n, 2))
    a = Dataset("a", [f"a{k}" for k in range(n)], Z @ rng.normal(size=(2, 6)))
    b = Dataset("b", [f"b{k}" for k in range(n)], 50 * Z @ rng.normal(size=(2, 4)))
    return HeteroData([a, b], [Links("a", "b", np.arange(n), np.arange(n))])


def test_no_candidate_is_better_than_the_chosen_one() -> None:
    data = linked()
    found = first_map(data)
    assert found.area == evaluate(data, found.embedding).to_dict()["guidance_area"]
    for params in ({"kernel": "linear"}, {"kernel": "rbf"}):
        other = embed(data, "guided-projection", **params)
        assert evaluate(data, other).to_dict()["guidance_area"] <= found.area


def test_its_recipe_gives_the_same_map() -> None:
    found = first_map(linked())
    again = embed(linked(), found.method, **found.params)
    np.testing.assert_array_equal(again.stacked(), found.embedding.stacked())


def test_without_links_it_shows_neighbours_or_is_pca_where_there_are_many(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    data = HeteroData([linked()["a"]])
    found = first_map(data)
    assert (found.method, found.area) == ("mr-sne", None)
    monkeypatch.setattr("hetviz.runs.embed.first_map.NEIGHBOUR_ROWS", 10)
    assert first_map(data).method == "pca"


def test_links_that_the_features_say_nothing_of_are_shown_by_the_neighbour_map() -> None:
    rng = np.random.default_rng(0)
    net = Dataset("net", [f"n{k}" for k in range(60)], rng.normal(size=(60, 1)))
    order = rng.permutation(60)
    found = first_map(HeteroData([net], [Links("net", "net", order[:-1], order[1:])]))
    assert found.method == "mr-sne"
    assert found.area is not None
    assert found.area > 0.7


def test_a_dataset_whose_features_say_nothing_is_placed_by_its_links() -> None:
    data = linked()
    rng = np.random.default_rng(1)
    noise = Dataset("noise", [f"n{k}" for k in range(400)], rng.normal(size=(400, 1)))
    to = Links("noise", "a", np.arange(400), rng.integers(0, 60, 400))
    more = data.edit().add(noise, to)
    plain = spreads(embed(more, "guided-projection", kernel="linear"))
    assert max(plain.values()) > LEGIBLE * plain["noise"]
    found = first_map(more)
    assert found.params["features"] == {"noise": "featureless"}
    assert found.rank[0]
    assert max(spreads(found.embedding).values()) <= LEGIBLE * min(
        spreads(found.embedding).values()
    )


def test_reasons_are_told_where_no_method_suits() -> None:
    with pytest.raises(NotApplicableError) as caught:
        first_map(HeteroData([Dataset("a", ["x", "y"])]))
    assert caught.value.reasons


def test_a_cancel_passes_through() -> None:
    calls: list[float] = []

    def stop(fraction: float, message: str = "", **figures: object) -> None:
        calls.append(fraction)
        if len(calls) == 1:
            raise Cancelled("Stopped.")

    with pytest.raises(Cancelled):
        first_map(linked(), stop)
    assert len(calls) == 1


def test_a_graph_without_features_has_a_map_of_its_links() -> None:
    ids = [f"n{k}" for k in range(20)]
    ring = Links("net", "net", np.arange(20), (np.arange(20) + 1) % 20)
    found = first_map(HeteroData([Dataset("net", ids)], [ring]))
    assert found.method == "mr-sne"
    assert found.embedding.placed["net"].all()
    assert found.area is not None
    assert found.area > 0.7
