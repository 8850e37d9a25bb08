"""Effects of statements on a map: own items, other links, other items."""

from __future__ import annotations

import json

import numpy as np
import pytest

import hetviz
from hetviz import Comparisons, Dataset, Embedding, HeteroData, Links
from hetviz.errors import DataError, ParameterError
from hetviz.metrics.trust.consequences import consequences_from_dict

N = 40


def on_a_line(*, comparisons: bool = False) -> HeteroData:
    """Forty items on a line with table links 1-2 and 20-21 and a user link 0-39."""
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


def test_consequences_count_statements_links_and_other_items() -> None:
    data = on_a_line()
    before, after = np.arange(N, dtype=float), np.arange(N, dtype=float)
    # Item 0 moves to item 39. Item 20 moves to the other end, away from item 21.
    after[0], after[20] = 39.2, -4.0
    result = hetviz.consequences(data, at(before), at(after), [key_of(data, 2)])
    assert (result.n_items, result.n_said) == (2, 1)
    assert (result.kept_before, result.kept_after) == (0, 1)
    assert result.apart_before == pytest.approx(1.0)
    assert result.apart_after == pytest.approx(0.2 / 43.2)
    assert (result.links_won, result.links_lost) == (0, 1)
    assert (result.n_moved, result.n_others) == (1, 38)
    # The neighbours of item 39 are not near item 0 in the data. Item 39 itself does not count.
    assert result.true_before == pytest.approx(1.0)
    assert result.true_after < result.true_before and result.has_more_false_neighbors
    words = " ".join(result.sentences())
    assert words.startswith(
        "1 of 1 pair follows your guidance now (0 before). Their distance is under 1 % of the"
    )
    assert "0 other links got closer, 1 drifted apart." in words
    assert words.endswith("1 of 38 other items moved.")


def test_consequences_report_pairs_of_hubs() -> None:
    data = on_a_line()
    i, j = np.r_[np.full(4, 0), np.full(4, 39), 10, 15, 25], np.r_[1:5, 35:39, 11, 16, 26]
    data = HeteroData(list(data.datasets.values()), [Links("items", "items", i, j), data.links[1]])
    place = at(np.arange(N, dtype=float))
    result = hetviz.consequences(data, place, place, [key_of(data, 11)])
    assert (result.kept_after, result.n_hubs) == (0, 1)
    assert result.sentences()[1].startswith("1 pair did not get close, because both items have")


def test_consequences_of_an_unchanged_map() -> None:
    data = on_a_line()
    place = at(np.arange(N, dtype=float))
    result = hetviz.consequences(data, place, place, [key_of(data, 2)])
    assert result.kept_before == result.kept_after == 0
    assert result.n_moved == result.links_won == result.links_lost == 0
    assert not result.has_more_false_neighbors
    again = consequences_from_dict(json.loads(json.dumps(result.to_dict())))
    assert again == result


def test_consequences_of_a_comparison_have_no_distance() -> None:
    data = on_a_line(comparisons=True)
    before = np.arange(N, dtype=float)
    result = hetviz.consequences(data, at(before), at(before), [key_of(data, 3)])
    assert (result.n_items, result.kept_after) == (3, 1)
    assert np.isnan(result.apart_after)
    assert result.to_dict()["apart_after"] is None
    assert result.sentences()[0] == "1 of 1 statement follows your guidance now (1 before)."


def test_consequences_refuse_unknown_statements() -> None:
    data, place = on_a_line(), at(np.arange(N, dtype=float))
    with pytest.raises(ParameterError, match="at least one statement"):
        hetviz.consequences(data, place, place, [])
    with pytest.raises(DataError, match="this statement does not exist"):
        hetviz.consequences(data, place, place, ["gone"])
