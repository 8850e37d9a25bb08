"""Costs of unsatisfied statements on small maps."""

from __future__ import annotations

import numpy as np
import pytest

import hetviz
from hetviz import Comparisons, Dataset, Embedding, HeteroData, Links
from hetviz.errors import ParameterError

X = [[0.0], [1.0], [2.0], [50.0], [51.0], [90.0]]


def line(links: list[Links], compared: Comparisons | None = None) -> tuple[HeteroData, Embedding]:
    """Six items on a line, and a map equal to the line. 3 of 15 pairs are close."""
    data = HeteroData([Dataset("x", list("abcdef"), X)], links, compared)
    return data, Embedding({"x": np.array(X)}, {"x": data["x"].ids})


def priced(links: list[Links], compared: Comparisons | None = None) -> list[dict[str, object]]:
    table = hetviz.price(*line(links, compared), near=0.2, k=2)
    return [{str(key): value for key, value in row.items()} for row in table.to_dict("records")]


def test_price_moves_the_cheaper_end() -> None:
    links = [Links("x", "x", [0, 0, 3], [3, 1, 4]), Links("x", "x", [0], [1], kind="met")]
    (row,) = priced(links)
    # Links a-b and d-e are satisfied. Moving a to d breaks a-b twice, moving d to a breaks d-e.
    assert row["key"] == "link|x|a|x|d|link"
    assert (row["price"], row["of"]) == (1, 15)
    assert row["row"] == 3
    assert row["opposed_by"] == ["link|x|d|x|e|link"]
    # Of its two nearest, d is close only to e.
    assert row["neighbours"] == 1
    assert row["kept"] == pytest.approx(1 - row["rank"] / 15, abs=1 / 15)  # type: ignore[operator]
    assert "Moving “d” to “a” would undo 1 other statement" in str(row["sentence"])


def test_price_of_a_free_move() -> None:
    (row,) = priced([Links("x", "x", [0], [5])])
    assert (row["row"], row["price"], row["neighbours"]) == (5, 0, 0)
    assert "nothing else" in str(row["sentence"])


def test_price_of_selected_statements() -> None:
    data, embedding = line([Links("x", "x", [0, 0, 0], [3, 1, 5])])
    every = hetviz.price(data, embedding, near=0.2, k=2)
    asked = hetviz.price(
        data, embedding, near=0.2, k=2, keys=[every["key"][1], "link|x|a|x|b|link"]
    )
    assert len(every) == 2
    assert asked.to_dict("records") == every.iloc[1:].to_dict("records")


def test_price_of_negative_links() -> None:
    data, embedding = line([Links("x", "x", [0, 0, 1], [1, 2, 2], [-1, 1, 1])])
    # 5 of 15 pairs are close, so a-c and b-c are satisfied.
    table = hetviz.price(data, embedding, near=0.3, k=2)
    assert table["key"].tolist() == ["link|x|a|x|b|link"]
    assert (table["price"][0], table["neighbours"][0]) == (1, 1)
    assert table["opposed_by"][0] == ["link|x|a|x|c|link"]
    assert "keep “a” close to “b”" in table["sentence"][0]


def test_price_of_comparisons() -> None:
    (row,) = priced([Links("x", "x", [0], [1])], Comparisons([[0, 5, 1], [0, 1, 5]]))
    assert (row["form"], row["rank"]) == ("comparison", -1)
    assert row["kept"] == pytest.approx(1 / 91)
    assert row["opposed_by"] == ["comparison|x|a|x|b|x|f"]
    assert row["row"] == 5


def test_price_skips_items_without_a_place() -> None:
    data, _ = line([Links("x", "x", [0, 0], [3, 5])])
    Y = np.array(X)
    Y[3] = np.nan
    table = hetviz.price(data, Embedding({"x": Y}, {"x": data["x"].ids}), near=0.2)
    assert table["key"].tolist() == ["link|x|a|x|f|link"]


def test_price_of_a_satisfied_map_is_empty() -> None:
    assert list(priced([Links("x", "x", [0], [1])])) == []
    with pytest.raises(ParameterError, match="near"):
        hetviz.price(*line([]), near=0)
