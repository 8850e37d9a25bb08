"""The first map: the best of a few, datasets of the same spread, a reason where none suits."""

from __future__ import annotations

import numpy as np
import pytest

from hetviz.data import Dataset, Embedding, HeteroData, Links
from hetviz.errors import Cancelled, NotApplicableError
from hetviz.metrics import evaluate
from hetviz.runs.first_map import comparable, first_map
from hetviz.runs.run import embed


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
    for method, params in (
        ("pca", {}),
        ("guided-projection", {"kernel": "linear"}),
        ("guided-projection", {"kernel": "rbf"}),
    ):
        other = comparable(embed(data, method, **params))
        assert evaluate(data, other).to_dict()["guidance_area"] <= found.area


def test_without_links_it_is_pca() -> None:
    data = HeteroData(linked().datasets)
    found = first_map(data)
    assert (found.method, found.area) == ("pca", None)


def test_spreads_are_equal_and_unplaced_rows_stay_so() -> None:
    places = {"a": np.array([[3.0, 4.0], [np.nan, np.nan]]), "b": np.array([[0.0, 0.1]])}
    scaled = comparable(Embedding(places))
    assert np.linalg.norm(scaled.coordinates["b"]) == pytest.approx(5.0)
    assert np.isnan(scaled.coordinates["a"][1]).all()


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
