"""Maps of periods: membership, ties, planted movers, limits and refusals."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import hetviz
from hetviz.core.layout import sne
from hetviz.data import Dataset, HeteroData, Links
from hetviz.data.queries.periods import data_in, find_dates, find_periods
from hetviz.errors import DataError, NotApplicableError, ParameterError
from hetviz.runs.periods import PeriodMaps

METHODS = ("joint-map", "mr-sne", "umap")
N_TOPICS, N_PEOPLE, N_WORDS = 4, 30, 12
MOVER = "p3"


def clubs(*years: int, moves: bool = False) -> HeteroData:
    """Return people linked to the words of their topic in each year; in the last one, one moves."""
    rng = np.random.default_rng(0)
    words = [rng.choice(N_WORDS, 5, replace=False) for _ in range(N_TOPICS * N_PEOPLE)]
    i, j, when = [], [], []
    for year in years:
        for person, chosen in enumerate(words):
            topic = person // N_PEOPLE
            if moves and year == years[-1] and person == int(MOVER[1:]):
                topic = N_TOPICS - 1
            i += [person] * len(chosen)
            j += (topic * N_WORDS + chosen).tolist()
            when += [f"{year}-05-01"] * len(chosen)
    people = Dataset("people", [f"p{k}" for k in range(len(words))])
    terms = Dataset("words", [f"w{k}" for k in range(N_TOPICS * N_WORDS)])
    return HeteroData(
        [people, terms], [Links("people", "words", i, j, meta=pd.DataFrame({"day": when}))]
    )


@pytest.fixture(scope="module")
def moved() -> PeriodMaps:
    return hetviz.embed_periods(clubs(2019, 2020, moves=True), "day")


@pytest.mark.parametrize("method", METHODS)
def test_unchanged_items_stay(method: str) -> None:
    maps = hetviz.embed_periods(clubs(2019, 2020), "day", method=method)
    assert list(maps.maps) == ["2019", "2020"]
    assert maps.moved("2019", "2020")["moved"].median() < 0.02
    # Other fits with another seed and no tie lie elsewhere.
    other = hetviz.embed(maps.parts["2020"], method, random_state=5).stacked()
    first = maps["2019"].stacked()
    assert np.median(np.linalg.norm(other - first, axis=1)) > 0.05 * np.ptp(first, axis=0).max()


@pytest.mark.parametrize("method", METHODS)
def test_tie_holds_items_nearer(method: str) -> None:
    loose, tied = (
        hetviz.embed_periods(clubs(2019, 2020), "day", method=method, tie=tie, random_state=1)
        for tie in (0.0, 0.5)
    )
    distances = [maps.moved("2019", "2020")["moved"].mean() for maps in (loose, tied)]
    assert distances[1] < 0.5 * distances[0]


def test_planted_mover_is_first_and_clear(moved: PeriodMaps) -> None:
    table = moved.moved_most("2019", "2020", 3)
    assert table.loc[0, "id"] == MOVER
    assert table.loc[0, "clear"]
    assert table.loc[0, "moved"] > 0.2
    everything = moved.moved_most("2019", "2020", 1000)
    assert everything["clear"].sum() <= 0.05 * len(everything)


@pytest.mark.parametrize("method", METHODS)
def test_mover_reaches_its_new_neighbours(method: str) -> None:
    maps = hetviz.embed_periods(clubs(2019, 2020, moves=True), "day", method=method)
    Y = maps["2020"].coordinates["people"]
    centres = [Y[k * N_PEOPLE : (k + 1) * N_PEOPLE].mean(axis=0) for k in range(N_TOPICS)]
    row = int(MOVER[1:])
    assert np.argmin(np.linalg.norm(centres - Y[row], axis=1)) == N_TOPICS - 1


def test_trail_and_frame_follow_an_item(moved: PeriodMaps) -> None:
    trail = moved.trail("people", MOVER)
    assert trail["period"].tolist() == ["2019", "2020"]
    row = moved.parts["2020"]["people"].position(MOVER)
    np.testing.assert_array_equal(
        trail[["x", "y"]].to_numpy()[1], moved["2020"].coordinates["people"][row]
    )
    frame = moved.frame()
    assert len(frame) == sum(part.n_rows for part in moved.parts.values())
    with pytest.raises(DataError, match="no such item"):
        moved.trail("people", "p999")
    with pytest.raises(ParameterError, match="no period '2021'"):
        moved.moved("2019", "2021")


def test_same_seed_gives_the_same_maps(moved: PeriodMaps) -> None:
    again = hetviz.embed_periods(clubs(2019, 2020, moves=True), "day")
    for name, made in moved.maps.items():
        np.testing.assert_array_equal(again[name].stacked(), made.stacked())


def test_maps_are_the_same_for_any_number_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sne, "ONE_THREAD_ROWS", 5)
    data = clubs(2001, 2002)
    one, two = (
        hetviz.embed_periods(data, "day", method="mr-sne", n_jobs=n_jobs) for n_jobs in (1, 2)
    )
    assert all(np.array_equal(one[name].stacked(), two[name].stacked()) for name in one.maps)
    with pytest.raises(ParameterError, match="n_jobs = 0 must be a number of threads"):
        hetviz.embed_periods(data, "day", n_jobs=0)


def test_one_period_is_the_plain_map() -> None:
    data = clubs(2019)
    maps = hetviz.embed_periods(data, "day")
    np.testing.assert_array_equal(maps["2019"].stacked(), hetviz.embed(data, "joint-map").stacked())


def posts() -> HeteroData:
    """Return dated posts, one without a date, their authors, the towns of these, and a list."""
    table = pd.DataFrame({"day": ["2020-01-05", "2020-12-31", "2021-01-01", None]})
    return HeteroData(
        [
            Dataset("posts", ["a", "b", "c", "d"], table=table),
            Dataset("authors", ["x", "y", "z"]),
            Dataset("towns", ["t", "u"]),
            Dataset("apart", ["one", "two"]),
        ],
        [
            Links("posts", "authors", [0, 1, 2, 3], [0, 0, 1, 1]),
            Links("authors", "towns", [0, 1, 2], [0, 1, 1]),
            Links("posts", "posts", [2], [3]),
        ],
    )


def test_membership_of_a_period() -> None:
    data = posts()
    dates = find_dates(data, "day")
    years = find_periods(dates, "year")
    assert [year.name for year in years] == ["2020", "2021"]
    first, second = (data_in(data, dates, year) for year in years)
    ids = [
        {name: list(part.ids) for name, part in each.datasets.items()} for each in (first, second)
    ]
    # The undated post is linked to c, and z to no author of a dated post.
    assert ids[0] == {
        "posts": ["a", "b"],
        "authors": ["x"],
        "towns": ["t"],
        "apart": ["one", "two"],
    }
    assert ids[1] == {
        "posts": ["c", "d"], "authors": ["y"], "towns": ["u"], "apart": ["one", "two"],
    }  # fmt: skip


def test_dated_links_need_their_items() -> None:
    table = pd.DataFrame({"year": [2020, 2021]})
    meta = pd.DataFrame({"year": [2020, 2020, 2021]})
    data = HeteroData(
        [Dataset("posts", ["a", "b"], table=table), Dataset("tags", ["x", "y"])],
        [Links("posts", "tags", [0, 1, 1], [0, 1, 1], meta=meta)],
    )
    dates = find_dates(data, "year")
    first = data_in(data, dates, find_periods(dates, "year")[0])
    assert [list(part.ids) for part in first.datasets.values()] == [["a"], ["x"]]
    assert len(first.links[0]) == 1


def test_units_and_bounds() -> None:
    dates = find_dates(posts(), {"posts": "day"})
    assert [period.name for period in find_periods(dates, "quarter")] == [
        "2020-Q1", "2020-Q4", "2021-Q1",
    ]  # fmt: skip
    assert find_periods(dates, "month")[0].name == "2020-01"
    halves = find_periods(dates, ["2020-01-01", "2020-07-01", "2021-01-01"])
    # The last bound belongs to the last period.
    assert [int(half.contains(dates.all()).sum()) for half in halves] == [1, 2]
    assert len(find_periods(dates, 2)) == 2


def test_bad_periods_are_refused_with_the_reason() -> None:
    data = posts()
    dates = find_dates(data, "day")
    with pytest.raises(DataError, match="2022-01-01 to 2023-01-01"):
        find_periods(dates, ["2020-01-01", "2022-01-01", "2023-01-01"])
    for bad in ("decade", 0, ["2021-01-01", "2020-01-01"], [], 1.5):
        with pytest.raises(ParameterError, match="periods"):
            find_periods(dates, bad)  # type: ignore[arg-type]
    with pytest.raises(DataError, match="have this column"):
        find_dates(data, "when")
    with pytest.raises(DataError, match="no such dataset"):
        find_dates(data, {"post": "day"})
    with pytest.raises(ParameterError, match="Joint map"):
        hetviz.embed_periods(data, "day", method="pca")
    # Posts without features and links have no map.
    alone = HeteroData([data["posts"]])
    with pytest.raises(NotApplicableError, match="period 2020"):
        hetviz.embed_periods(alone, "day")


def test_periods_without_shared_items_are_refused() -> None:
    table = pd.DataFrame({"year": np.repeat([2020, 2021], 20)})
    X = np.random.default_rng(0).standard_normal((40, 4))
    data = HeteroData([Dataset("rows", map(str, range(40)), X, table=table)])
    with pytest.raises(DataError, match="shares no item with earlier periods"):
        hetviz.embed_periods(data, "year")


def test_tie_without_own_map_changes_nothing() -> None:
    data = clubs(2019)
    for first in (None, hetviz.embed(data, "umap")):
        plain, tied = (
            hetviz.embed(data, "mr-sne", start=first, tie=tie).stacked() for tie in (0.0, 0.3)
        )
        np.testing.assert_array_equal(plain, tied)
