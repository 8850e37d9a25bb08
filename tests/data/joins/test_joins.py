"""Joining datasets by keys, lists and places: exact small cases, and what must hold of all."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hetviz
from hetviz.data import Dataset, HeteroData, Links
from hetviz.data.joins.join import Join
from hetviz.data.joins.keys import normalise_key
from hetviz.data.joins.lists import match_by_list, separator_of
from hetviz.data.joins.matching import match_by_key
from hetviz.data.joins.places import EARTH_KM, match_by_nearness, place_columns
from hetviz.data.queries.reach import link_reach
from hetviz.errors import DataError, DataWarning, ParameterError
from tests.depth import examples


def toys(cells: list[Any] | None = None, column: str = "is") -> Dataset:
    cells = ["red; round", "red", None, "Red ; striped"] if cells is None else cells
    return Dataset(
        "toys", [f"t{k}" for k in range(len(cells))], table=pd.DataFrame({column: cells})
    )


def pairs(match: Any) -> list[tuple[int, int]]:
    return list(zip(match.i.tolist(), match.j.tolist(), strict=True))


def codes(caught: pytest.ExceptionInfo[DataError]) -> list[str]:
    return [problem.code for problem in caught.value.problems]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Straße", "STRASSE"),
        (" two  words ", "Two Words"),
        ("caf\u00e9", "cafe\u0301"),
        ("\ufb01lm", "FILM"),
        ("zero\u200bwidth", "zerowidth"),
    ],
)
def test_loose_keys_ignore_case_and_blanks(one: str, other: str) -> None:
    assert normalise_key(one) == normalise_key(other)
    data = HeteroData([Dataset("a", [one]), Dataset("b", [other])])
    assert pairs(match_by_key(data, "a", "", "b", "")) == []
    assert pairs(match_by_key(data, "a", "", "b", "", loose=True)) == [(0, 0)]


def test_keys_keep_leading_zeros() -> None:
    data = HeteroData([Dataset("a", ["007"]), Dataset("b", ["7"])])
    assert len(hetviz.links_by_key(data, "a", "b", loose=True)) == 0


def test_repeated_keys_are_counted_with_a_warning() -> None:
    a = Dataset("a", list("wxyz"), table=pd.DataFrame({"k": ["p", "p", "q", "r"]}))
    b = Dataset("b", list("stuv"), table=pd.DataFrame({"k": ["p", "p", "p", "q"]}))
    data = HeteroData([a, b])
    match = match_by_key(data, "a", "k", "b", "k")
    assert (len(match.i), match.crossed) == (7, 6)
    assert "6 of 7 pairs" in match.messages[0]
    with pytest.warns(DataWarning, match="6 of 7 pairs"):
        hetviz.links_by_key(data, "a", "b", "k", "k")


def test_too_many_pairs_are_refused_before_matching() -> None:
    n = 60_000
    table = pd.DataFrame({"k": ["one"] * n})
    data = HeteroData(
        [Dataset(name, [f"{name}{k}" for k in range(n)], table=table) for name in "ab"]
    )
    with pytest.raises(DataError, match="3,600,000,000 pairs of 60,000 and 60,000") as caught:
        match_by_key(data, "a", "k", "b", "k")
    assert codes(caught) == ["too-many-pairs"]
    assert all(proposal.join.source_column != "k" for proposal in hetviz.propose_joins(data))


def test_list_entries_match_ids_or_titles() -> None:
    looks = Dataset("looks", ["round", "red", "blue"])
    match = match_by_list(HeteroData([toys(), looks]), "toys", "is", "looks")
    assert pairs(match) == [(0, 0), (0, 1), (1, 1), (3, 1)]
    assert match.unmatched_source.tolist() == [2]
    assert match.unmatched_target.tolist() == [2]
    assert match.messages == ("Not in looks: “striped”.",)
    named = Dataset("looks", ["1", "2"], table=pd.DataFrame({"name": ["Red", "Round"]}))
    data = HeteroData([toys(), named])
    assert pairs(match_by_list(data, "toys", "is", "looks")) == [(0, 0), (0, 1), (1, 0), (3, 0)]
    assert pairs(match_by_list(data, "toys", "is", "looks", "")) == []
    assert pairs(match_by_list(data, "toys", "is", "looks", "name", loose=False)) == [(3, 0)]


def test_frequent_entries_have_less_weight() -> None:
    data = HeteroData([toys(["a; b"] * 2 + ["a"] * 10), Dataset("t", ["a", "b"])])
    links = hetviz.links_by_list(data, "toys", "is", "t")
    by_tag = {int(j): float(w) for j, w in zip(links.j, links.weight, strict=True)}
    assert by_tag == {0: pytest.approx(np.sqrt(3 / 12)), 1: 1.0}
    assert set(hetviz.links_by_list(data, "toys", "is", "t", weight="same").weight) == {1.0}


def test_dataset_from_list_uses_most_frequent_spelling() -> None:
    data = HeteroData([toys(["red", "Red; round", "Red", "round;;RED"]), Dataset("b", ["x"])])
    result = hetviz.dataset_from_list(data, "toys", "is", "looks")
    assert (result.name, result.ids.tolist()) == ("looks", ["Red", "round"])
    assert result.table is not None
    assert result.table["uses"].tolist() == [4, 2]
    assert result.is_featureless
    after = Join("tags", "toys", "looks", "is", loose=True).carried_out(data)
    assert after["looks"].ids.tolist() == ["Red", "round"]
    assert len(after.links[-1]) == 6
    exact = hetviz.dataset_from_list(data, "toys", "is", loose=False)
    assert sorted(exact.ids) == ["RED", "Red", "red", "round"]


@pytest.mark.parametrize(
    ("cells", "sign"),
    [
        (["a; b", "c"], ";"),
        (["a|b|c", "d"], "|"),
        (["red, green", "blue"], ","),
        (["red/green", "green/blue"], "/"),
        (["America/New_York", "America/Denver", "Europe/Paris", "UTC"], None),
        (["America/New_York", "America/Argentina/Salta", "Europe/Paris"], None),
        ([f"lib/tests/t{n}.py" for n in range(9)] + ["tests/lib/a.py", "tests/b.py"], None),
        (["Denver, CO", "Boulder, CO", "Austin, TX"], None),
        (["1,5", "2,25", "3", "<0,5"], None),
        ([f"{1940 + k}, {month}" for k in range(30) for month in ("May", "June")] + ["1999"], None),
        (
            ["Ames, IA", "York, York", "Reno"] + [f"{city}, OH" for city in "abcdefghijklmnopqrst"],
            None,
        ),
        ([f"{a}, {b}" for a in "abcdef" for b in "abcdef"], ","),
        ([f"{a}, red" for a in "abcdefghijklmnopqrstuvwxyz"] + ["red, blue, a"] * 4, ","),
        (["one", "two"], None),
        (
            ["He came, and he saw that all of it was good", "It ended, as it had to end, badly"],
            None,
        ),
        ([], None),
    ],
)
def test_separator_of_lists_and_prose(cells: list[str], sign: str | None) -> None:
    assert separator_of(cells) == sign


def test_invalid_lists_are_refused() -> None:
    data = HeteroData([toys(), Dataset("b", ["red"])])
    with pytest.raises(ParameterError, match="separator"):
        hetviz.links_by_list(data, "toys", "is", "b", separator="")
    with pytest.raises(ParameterError, match="weight"):
        hetviz.links_by_list(data, "toys", "is", "b", weight="much")
    with pytest.raises(DataError) as caught:
        match_by_list(data, "toys", "is", "b", make=True)
    assert codes(caught) == ["duplicate-name"]
    for cells, code in (([None, ""], "no-entries"), (["x" * 300], "long-entry")):
        with pytest.raises(DataError) as caught:
            hetviz.dataset_from_list(HeteroData([toys(cells)]), "toys", "is")
        assert codes(caught) == [code]


def placed(name: str, places: list[tuple[Any, Any]], columns: tuple[str, str]) -> Dataset:
    table = pd.DataFrame(places, columns=list(columns))
    return Dataset(name, [f"{name}{k}" for k in range(len(places))], table=table)


def towns() -> HeteroData:
    quarter = 90.0  # A quarter of the equator.
    a = placed("a", [(0, 0), (0, quarter), ("x", 3), (95, 0)], ("lat", "lon"))
    b = placed("b", [(0, 1), (0, 91), (0, -179)], ("geo_latitude", "Longitude (deg)"))
    return HeteroData([a, b])


@pytest.mark.parametrize(
    ("column", "cells"),
    [
        ("position", ["0.00, 0.00", "0.00,90.00", "", "95.00 0.00"]),
        ("position", ["0,00; 0,00", "0,00 90,00", None, "(95.00, 0.00)"]),
        ("lat, lon", ["0, 0", "0, 90", "-", "95, 0"]),
        ("long/lat", ["0, 0", "90, 0", "-", "0, 95"]),
    ],
)
def test_places_in_one_column_match_two_columns(column: str, cells: list[str]) -> None:
    two = towns()
    ids = [f"a{row}" for row in range(4)]
    cells = [cells[0], cells[1], cells[2], cells[3]] + [cells[0]] * 8
    first = Dataset(
        "a", [*ids, *(f"x{row}" for row in range(8))], table=pd.DataFrame({column: cells})
    )
    if column == "position":
        assert place_columns(first) == (column,)
    data = HeteroData([first, two["b"]])
    match = match_by_nearness(data, "a", "b", k=1, source_columns=(column,))
    assert pairs(match)[:2] == [(0, 0), (1, 1)]
    assert match.unmatched_source.tolist() == [2, 3]
    assert any("1 a have invalid coordinates" in words for words in match.messages)


@pytest.mark.parametrize(
    ("column", "cells"),
    [
        ("position", ["3, 5", "1, 2", "2, 9"]),
        ("size", ["1.5, 2.5", "3.5, 1.5", "2.5, 2.0"]),
        ("lat, lon", ["here", "there", "0, 0"]),
        ("prices", ["1.50, 2.25, 3.00", "1.50, 2.75, 9.25", "0.50, 0.75, 0.99"]),
        ("lat", [1.5, 2.5, 3.5]),
    ],
)
def test_other_number_pairs_are_not_places(column: str, cells: list[object]) -> None:
    table = pd.DataFrame({column: cells})
    assert place_columns(Dataset("a", ["x", "y", "z"], table=table)) is None


def test_three_place_columns_are_refused() -> None:
    with pytest.raises(ParameterError, match="one column with both"):
        match_by_nearness(towns(), "a", "b", source_columns=("lat", "lon", "lat"))


def test_nearest_links_weight_decreases_with_distance() -> None:
    data = towns()
    assert place_columns(data["b"]) == ("geo_latitude", "Longitude (deg)")
    match = match_by_nearness(data, "a", "b", k=1)
    assert pairs(match) == [(0, 0), (1, 1)]
    assert match.unmatched_source.tolist() == [2, 3]
    # Both pairs lie one degree of the equator apart, which is then the median.
    assert match.weight == pytest.approx([0.5, 0.5])
    assert any("1 a have invalid coordinates" in words for words in match.messages)
    degree = EARTH_KM * np.pi / 180
    within = hetviz.links_by_nearness(data, "a", "b", km=100 * degree)
    assert list(zip(within.i, within.j, strict=True)) == [(0, 0), (0, 1), (1, 0), (1, 1), (1, 2)]
    expected = 0.5 ** (np.array([1, 91, 89, 1, 91]) / 50)
    assert within.weight == pytest.approx(expected)
    nearest = match_by_nearness(data, "a", "b", k=2, km=89.5 * degree)
    assert pairs(nearest) == [(0, 0), (1, 0), (1, 1)]


def test_nearest_links_cross_date_line_and_poles() -> None:
    a = placed("a", [(0, 179.5), (89.9, 0)], ("lat", "lon"))
    b = placed("b", [(0, -179.5), (89.9, 180)], ("lat", "lon"))
    assert pairs(match_by_nearness(HeteroData([a, b]), "a", "b", km=120)) == [(0, 0), (1, 1)]


@pytest.mark.parametrize("bad", [{"k": 0}, {"k": 1.5}, {"k": True}, {"km": 0}, {"km": np.inf}])
def test_nearest_links_refuse_invalid_k_and_km(bad: dict[str, Any]) -> None:
    with pytest.raises(ParameterError):
        hetviz.links_by_nearness(towns(), "a", "b", **bad)


def test_nearest_links_refuse_many_pairs_and_no_places(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hetviz.data.joins.places.MAX_PAIRS", 4)
    with pytest.raises(DataError, match="6 pairs"):
        hetviz.links_by_nearness(towns(), "a", "b", km=20_100)
    with pytest.raises(DataError, match="6 pairs"):
        hetviz.links_by_nearness(towns(), "a", "b")
    with pytest.raises(DataError) as caught:
        hetviz.links_by_nearness(HeteroData([toys(), towns()["b"]]), "toys", "b")
    assert codes(caught) == ["no-places"]
    nowhere = placed("c", [("", "")], ("lat", "lon"))
    with pytest.raises(DataError) as caught:
        hetviz.links_by_nearness(HeteroData([nowhere, towns()["b"]]), "c", "b")
    assert codes(caught) == ["no-places"]


def test_join_without_new_pairs_is_refused() -> None:
    data = HeteroData([toys(), Dataset("b", ["red"])])
    join = Join("list", "toys", "b", "is", loose=True)
    after = join.carried_out(data)
    for message, given_data, code in (
        (join, after, "already-linked"),
        (Join("key", "toys", "b"), data, "no-match"),
        (Join("other", "toys", "b"), data, "bad-join"),
    ):
        with pytest.raises(DataError) as caught:
            message.carried_out(given_data)
        assert codes(caught) == [code]


def test_reach_warns_of_unlinked_items_and_hubs() -> None:
    a = Dataset("a", [f"a{k}" for k in range(40)])
    b = Dataset(
        "b", ["hub", "other", "none"], np.eye(3), table=pd.DataFrame({"name": ["Hub", "O", "N"]})
    )
    data = HeteroData([a, b], [Links("a", "b", np.arange(30), np.arange(30) // 25)])
    result = link_reach(data)
    assert (result.linked, result.items) == ({"a": 30, "b": 2}, {"a": 40, "b": 3})
    assert (result.hubs[0].title, result.hubs[0].links) == ("Hub", 25)
    assert result.hubs[0].share == pytest.approx(25 / 30)
    first, second, third = result.warnings
    assert first.startswith("10 of 40 a have no links and cannot be placed")
    assert second.startswith("1 of 3 b have no links and are placed by features")
    assert third.startswith("Hub (b) alone has 25 of 30 links, 83 %")
    light = HeteroData([a, b], [Links("a", "b", [0], [0])])
    assert all("alone holds" not in words for words in link_reach(light).warnings)


def test_reach_counts_views_as_linked() -> None:
    data = HeteroData([Dataset("a", ["x", "y"], entity="e"), Dataset("b", ["x"], entity="e")])
    assert link_reach(data).linked == {"a": 1, "b": 1}


cells = st.lists(
    st.sampled_from(["p", "P ", "q; r", "q", "", "7", "7.0", "é", "e\u0301"]),
    min_size=1,
    max_size=9,
)
places = st.lists(
    st.tuples(st.sampled_from([-90, -1, 0, 0.5, 90]), st.sampled_from([-180, -1, 0, 1, 180])),
    min_size=1,
    max_size=7,
)


@st.composite
def two_tables(draw: st.DrawFn) -> HeteroData:
    parts = []
    for name in ("a", "b"):
        column, where = draw(cells), draw(places)
        n = min(len(column), len(where))
        table = pd.DataFrame(where[:n], columns=["lat", "lon"]).assign(k=column[:n])
        parts.append(Dataset(name, [f"{name}{row}" for row in range(n)], table=table))
    return HeteroData(parts)


JOINS = [
    Join("key", "a", "b", "k", "k"),
    Join("key", "a", "b", "k", "k", loose=True),
    Join("list", "a", "b", "k", "k", loose=True),
    Join("tags", "a", "made", "k", loose=True),
    Join("near", "a", "b", k=2),
    Join("near", "a", "b", km=200.0),
]


def said(data: HeteroData, join: Join) -> list[tuple[str, str, float]]:
    """Return what a join links, by ids."""
    try:
        match = join.match(data)
    except DataError:
        return []
    target = data["b"] if match.new_dataset is None else match.new_dataset
    weight = np.ones(len(match.i)) if match.weight is None else match.weight
    ids = zip(data["a"].ids[match.i], target.ids[match.j], weight.round(9), strict=True)
    return sorted((str(x), str(y), float(w)) for x, y, w in ids)


@settings(max_examples=examples(15), deadline=None)
@given(two_tables(), st.randoms(use_true_random=False))
def test_joins_do_not_depend_on_row_order(data: HeteroData, luck: Any) -> None:
    shuffled = data.edit().subset(
        {name: luck.sample(range(len(part)), len(part)) for name, part in data.datasets.items()}
    )
    for join in JOINS:
        before = said(data, join)
        assert said(shuffled, join) == before
        # No pair twice, and no more pairs than were announced.
        assert len({pair[:2] for pair in before}) == len(before)
        if before:
            after = join.carried_out(data)
            assert len(after.links[-1]) == len(before)
            for name, part in data.datasets.items():
                assert after[name].ids.tolist() == part.ids.tolist()
            alone = join.match(data)
            assert len(set(alone.i)) + len(alone.unmatched_source) == len(data["a"])
