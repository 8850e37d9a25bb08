"""What is proposed to join datasets by, what is not, and with which score."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import hetviz
from hetviz.data import Dataset, HeteroData
from hetviz.data.joins.proposals import MOST_PROPOSALS, chance, key_columns

CITIES = ["Oslo", "Riga", "Wien", "Bern", "Rom", "Paris", "Madrid", "Lissabon"]


def cities(name: str = "cities") -> Dataset:
    table = pd.DataFrame({"name": CITIES, "size": [4.5, 3, 9, 2, 8, 11, 10, 5]})
    return Dataset(name, [f"c{row}" for row in range(len(CITIES))], table=table)


def films(column: str = "city", n: int = 40) -> Dataset:
    table = pd.DataFrame({column: [CITIES[row % 6] for row in range(n)]})
    return Dataset("films", [f"film {row}" for row in range(n)], table=table)


def told(data: HeteroData) -> list[tuple[str, str, str, str]]:
    return [
        (p.join.kind, p.join.source_column, p.join.target, p.join.target_column)
        for p in hetviz.propose_joins(data)
    ]


def test_a_column_that_names_the_items_of_another_dataset_is_proposed_with_its_score() -> None:
    data = HeteroData([cities(), films()])
    (found,) = hetviz.propose_joins(data)
    assert told(data) == [("key", "city", "cities", "name")]
    # All 40 films and 6 of 8 cities; next to nothing of it by chance.
    assert found.score == pytest.approx((1 + 6 / 8) / 2, abs=0.01)
    assert found.title == "films: city = cities: name"
    assert "40 of 40 films and 6 of 8 cities" in found.evidence[0]
    assert len(found.examples(data)) == 3
    assert found.examples(data)[0] == ("film 0", "Oslo")
    after = found.join.carried_out(data)
    assert told(after) == []
    assert found.to_dict(data)["pairs"] == 40


def test_ids_that_are_mostly_the_same_look_like_views() -> None:
    names = [f"{city}-{city[::-1]}" for city in CITIES]
    data = HeteroData([Dataset("text", names), Dataset("face", names[::-1][:7])])
    (found,) = hetviz.recognise_views(data)
    assert found.title == "text and face look like two views of the same things"
    after = found.join.carried_out(data)
    assert len(after.entities) == 1
    assert hetviz.recognise_views(after) == []


def test_running_numbers_are_no_evidence_and_said_so() -> None:
    ids = [str(row) for row in range(1, 31)]
    values = pd.DataFrame({"year": np.arange(1, 31)})
    (found,) = hetviz.propose_joins(HeteroData([Dataset("a", ids), Dataset("b", ids)]))
    assert found.join.kind == "views"
    assert found.score == pytest.approx(0.2)
    assert any("running numbers" in words for words in found.evidence)
    rows = [f"r{row}" for row in range(30)]
    data = HeteroData([Dataset("a", rows, table=values), Dataset("b", ids)])
    assert hetviz.propose_joins(data) == []
    # A column's name is evidence: b_id points to b.
    named = Dataset("a", rows, table=values.rename(columns={"year": "b_id"}))
    assert told(HeteroData([named, Dataset("b", ids)])) == [("key", "b_id", "b", "")]


def test_measurements_and_categories_are_no_keys() -> None:
    rng = np.random.default_rng(0)

    def table(name: str) -> Dataset:
        columns = {
            "size": rng.integers(0, 50, 60),
            "share": rng.random(60),
            "side": ["left", "right"] * 30,
        }
        return Dataset(name, [f"{name}{k}" for k in range(60)], table=pd.DataFrame(columns))

    assert hetviz.propose_joins(HeteroData([table("a"), table("b")])) == []


def test_codes_that_agree_only_without_regard_to_case_are_not_believed() -> None:
    letters = "abcdefghijklmnopqrstuvwxyz"
    codes = [x + y for x in letters for y in letters]
    languages = Dataset("languages", codes[:200])
    others = Dataset("countries", [text.upper() for text in codes[80:280]])
    same = Dataset("countries", codes[80:280])
    assert hetviz.propose_joins(HeteroData([languages, others])) == []
    assert len(hetviz.propose_joins(HeteroData([languages, same]))) == 1
    long = Dataset(
        "films", films().ids.tolist(), table=pd.DataFrame({"city": ["OSLO", "riga"] * 20})
    )
    (found,) = hetviz.propose_joins(HeteroData([long, cities()]))
    assert found.join.loose
    assert any("written alike" in words for words in found.evidence)


def test_chance_knows_patterns_and_ranges() -> None:
    ids = Dataset("a", ["item_004", "item_001", "item_002", "item_003"])
    some = Dataset("b", ["item_001", "item_004"])
    names = Dataset("c", ["aa", "bb"])
    a, b, c = key_columns(HeteroData([ids, some, names]))
    assert chance(a, b) == pytest.approx(2 / 4)
    assert chance(b, a) == 1
    assert chance(c, c) == pytest.approx(2 / 26**2, rel=0.01)
    assert chance(a, c) == 0


def test_what_is_listed_is_linked_where_it_is_known_and_else_becomes_a_dataset() -> None:
    lists = pd.DataFrame({"shown_in": ["Oslo; Riga", "Riga; Wien; Oslo", "Bern; Wien", "Rom"] * 5})
    source = Dataset("films", [f"f{k}" for k in range(20)], table=lists)
    assert told(HeteroData([source, cities()])) == [("list", "shown_in", "cities", "name")]
    data = HeteroData([source, Dataset("other", ["x", "y"])])
    (found,) = hetviz.propose_joins(data)
    assert (found.join.kind, found.join.target) == ("tags", "shown_in")
    after = found.join.carried_out(data)
    assert sorted(after["shown_in"].ids) == ["Bern", "Oslo", "Riga", "Rom", "Wien"]


def test_places_are_proposed_where_the_nearest_is_near() -> None:
    rng = np.random.default_rng(1)
    P = np.column_stack([rng.uniform(-60, 60, 30), rng.uniform(-180, 180, 30)])

    def table(name: str, at: np.ndarray) -> Dataset:
        return Dataset(
            name,
            [f"{name} {k}" for k in range(len(at))],
            table=pd.DataFrame(at, columns=["lat", "lon"]),
        )

    shops, towns = table("shops", P[:20] + 0.1), table("towns", P)
    (found,) = hetviz.propose_joins(HeteroData([shops, towns]))
    assert (found.join.kind, found.join.source, found.join.target) == ("near", "towns", "shops")
    assert 0.5 < found.score <= 1
    # The same places written in one column.
    cells = [f"{lat:.9f}, {lon:.9f}" for lat, lon in P]
    written = Dataset("towns", towns.ids.tolist(), table=pd.DataFrame({"where": cells}))
    (same,) = hetviz.propose_joins(HeteroData([shops, written]))
    assert same.join == found.join
    assert same.score == pytest.approx(found.score, abs=1e-6)
    assert same.match.j.tolist() == found.match.j.tolist()


def test_the_order_of_rows_and_of_datasets_changes_no_proposal() -> None:
    rng = np.random.default_rng(2)
    data = HeteroData([cities(), films(), Dataset("more", CITIES)])
    other = data.edit().reorder(["more", "films", "cities"])
    other = other.edit().reorder(
        {name: rng.permutation(len(d)) for name, d in other.datasets.items()}
    )

    def scores(data: HeteroData) -> list[tuple[float, tuple[str, ...], int]]:
        return sorted(
            (round(p.score, 9), tuple(sorted((p.join.source, p.join.target))), len(p.match.i))
            for p in hetviz.propose_joins(data)
        )

    assert scores(data) == scores(other)
    assert len(scores(data)) == 3


def test_proposals_are_few() -> None:
    ids = [f"{city}{city[::-1]}" for city in CITIES]
    data = HeteroData([Dataset(f"d{k}", ids) for k in range(8)])
    assert len(hetviz.propose_joins(data)) == MOST_PROPOSALS
