"""What a statement did to a map: what it names, other links, other items."""

from __future__ import annotations

import json

import numpy as np
import pytest

import hetviz
from hetviz import Comparisons, Dataset, Embedding, HeteroData, Links
from hetviz.errors import DataError, ParameterError
from hetviz.metrics.fit.consequences import consequences_from_dict

N = 40


def on_a_line(*, comparisons: bool = False) -> HeteroData:
    """Forty items in a row; 0 and 39 are said to be together, 1 and 2, 20 and 21 are linked."""
    items = Dataset("items", [f"i{k}" for k in range(N)], np.arange(N, dtype=float)[:, None])
    links = [
        Links("items", "items", [1, 20], [2, 21], kind="known"),
        Links("items", "items", [0], [39], kind="said"),
    ]
    compared = Comparisons([[0, 1, 0, 39]]) if comparisons else None
    return HeteroData([items], links, compared)


def at(x: np.ndarray) -> Embedding:
    Y = np.column_stack([x, np.zeros(len(x))])
    return Embedding({"items": Y}, {"items": [f"i{k}" for k in range(len(x))]})


def key_of(data: HeteroData, place: int) -> str:
    return str(hetviz.statements(data)["key"].iloc[place])


def test_the_named_the_other_links_and_the_rest_are_told_apart() -> None:
    data = on_a_line()
    before, after = np.arange(N, dtype=float), np.arange(N, dtype=float)
    # 0 goes to 39, and 20 is taken along to the other end, away from 21.
    after[0], after[20] = 39.2, -4.0
    found = hetviz.consequences(data, at(before), at(after), [key_of(data, 2)])
    assert (found.n_items, found.n_said) == (2, 1)
    assert (found.kept_before, found.kept_after) == (0, 1)
    assert found.apart_before == pytest.approx(1.0)
    assert found.apart_after == pytest.approx(0.2 / 43.2)
    assert (found.links_won, found.links_lost) == (0, 1)
    assert (found.n_moved, found.n_others) == (1, 38)
    # What lies about 39 is not near 0 in the data; that 39 is there counts for neither.
    assert found.true_before == pytest.approx(1.0)
    assert found.true_after < found.true_before and found.has_more_false_neighbors
    words = " ".join(found.sentences())
    assert words.startswith("The map keeps 1 of 1 pair (0 before). They lie under 1 % of the")
    assert "0 other links newly kept, 1 other link no longer" in words
    assert words.endswith("1 of 38 other items moved.")


def test_two_hubs_that_stay_with_their_own_are_told() -> None:
    data = on_a_line()
    i, j = np.r_[np.full(4, 0), np.full(4, 39), 10, 15, 25], np.r_[1:5, 35:39, 11, 16, 26]
    data = HeteroData(list(data.datasets.values()), [Links("items", "items", i, j), data.links[1]])
    place = at(np.arange(N, dtype=float))
    found = hetviz.consequences(data, place, place, [key_of(data, 11)])
    assert (found.kept_after, found.n_hubs) == (0, 1)
    assert found.sentences()[1].startswith("They are of two items that each hold many others")


def test_the_same_map_has_changed_nothing() -> None:
    data = on_a_line()
    place = at(np.arange(N, dtype=float))
    found = hetviz.consequences(data, place, place, [key_of(data, 2)])
    assert found.kept_before == found.kept_after == 0
    assert found.n_moved == found.links_won == found.links_lost == 0
    assert not found.has_more_false_neighbors
    again = consequences_from_dict(json.loads(json.dumps(found.to_dict())))
    assert again == found


def test_a_comparison_names_items_and_no_pair() -> None:
    data = on_a_line(comparisons=True)
    before = np.arange(N, dtype=float)
    found = hetviz.consequences(data, at(before), at(before), [key_of(data, 3)])
    assert (found.n_items, found.kept_after) == (3, 1)
    assert np.isnan(found.apart_after)
    assert found.to_dict()["apart_after"] is None
    assert found.sentences()[0] == "The map keeps 1 of 1 statement (1 before)."


def test_statements_that_are_not_there_are_named() -> None:
    data, place = on_a_line(), at(np.arange(N, dtype=float))
    with pytest.raises(ParameterError, match="no statement"):
        hetviz.consequences(data, place, place, [])
    with pytest.raises(DataError, match="this statement does not exist"):
        hetviz.consequences(data, place, place, ["gone"])
