"""Tables joined as people mean it: keys, names, and rows that only describe what they name."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import hetviz
from hetviz.data import Dataset, HeteroData
from hetviz.data.joins.join import Join
from hetviz.errors import DataError, ParameterError
from hetviz.features.link_values import LinkValue, link_values
from hetviz.features.recipe import columns_used
from hetviz.features.table_joins import DetailTable, detail_tables, join_tables
from hetviz.io.intake.make_data import read_tables

N = 1_200
AIRPORTS = {"OSL": "Oslo", "RIX": "Riga", "VIE": "Wien", "BRN": "Bern"}
FROM, TO = Join("key", "flights", "airports", "origin"), Join("key", "flights", "airports", "dest")
BY = Join("key", "flights", "airlines", "carrier")


def tables() -> HeteroData:
    codes = list(AIRPORTS)
    flights = pd.DataFrame(
        {
            "origin": [codes[k % 4] for k in range(N)],
            "dest": [codes[(k + 1 + k % 3) % 4] for k in range(N)],
            "carrier": [["AA", "BB"][k % 4 > 0] for k in range(N)],
            "delay": [float(k % 4) for k in range(N)],
            "kind": ["day" if k % 4 else "night" for k in range(N)],
        }
    )
    names = pd.DataFrame({"name": list(AIRPORTS.values()), "high": [1.0, 2.0, 4.0, 8.0]})
    return HeteroData(
        [
            hetviz.make_features(Dataset("flights", list(map(str, range(N))), table=flights)),
            hetviz.make_features(Dataset("airports", codes, table=names)),
            Dataset("airlines", ["AA", "BB"], table=pd.DataFrame({"name": ["Alpha", "Beta"]})),
        ]
    )


def test_detail_tables() -> None:
    data = tables()
    joins = [p.join for p in hetviz.propose_joins(data) if p.sure]
    (result,) = detail_tables(data, joins)
    assert result.dataset == "flights"
    assert sorted(result.named) == ["airlines", "airports", "airports"]
    assert "airports twice" in result.sentence
    # A delay is no strength of a link.
    assert (result.take, result.kind, result.value) == ("both", "event", None)
    assert detail_tables(data, [BY]) == [DetailTable("flights", ("airlines",), "summary")]
    small = data.edit().subset({"flights": np.arange(900)})
    assert [table.take for table in detail_tables(small, joins)] == ["both"]
    assert [table.take for table in detail_tables(small, [BY])] == ["items"]


def test_rows_as_items_get_titles_and_lose_keys() -> None:
    data = tables()
    assert "carrier" in columns_used((data["flights"].recipe or {})["features"])
    after = join_tables(data, [FROM, TO, BY])
    flights = after["flights"]
    assert flights.titles[0] == "Oslo · Riga · Alpha"
    assert join_tables(data, [BY, TO, FROM])["flights"].titles[0] == "Oslo · Riga · Alpha"
    assert columns_used((flights.recipe or {})["features"]) == ["delay", "kind"]
    assert flights.feature_names is not None
    assert not any("Oslo" in name for name in flights.feature_names)
    assert sorted(map(len, after.links)) == [N, N, N]
    # What is joined by itself is what is sure.
    sure = join_tables(data)
    assert sure["flights"].titles[0] == "Oslo · Riga · Alpha"
    assert {group.kind for group in sure.links} == {group.kind for group in after.links}


def test_rows_as_links_have_weights() -> None:
    data = tables()
    delay = {"flights": LinkValue("delay", "amount")}
    after = join_tables(data, [FROM, BY], {"flights": "links"}, delay)
    assert list(after.datasets) == ["airports", "airlines"]
    (links,) = after.links
    assert (links.source, links.target, links.kind) == ("airports", "airlines", "flights")
    # All from Oslo fly with Alpha, and have no delay, so that nothing speaks of them.
    at = dict(zip(links.i.tolist(), links.weight.tolist(), strict=True))
    assert at == pytest.approx({1: 1 / 3, 2: 2 / 3, 3: 1})
    routes = join_tables(data, [FROM, TO], {"flights": "links"}).links[0]
    assert (routes.source, routes.target) == ("airports", "airports")
    assert (routes.i != routes.j).all()


def test_ranks_and_amounts_that_are_mostly_0_do_not_weigh_links_by_default() -> None:
    """A last place would pull together, a first push apart, and 0 points would link nothing."""
    n = 60
    results = pd.DataFrame(
        {
            "race": [f"r{k % 6}" for k in range(n)],
            "driver": [f"d{k % 10}" for k in range(n)],
            "position": [k % 10 + 1 for k in range(n)],
            "rank": [10 - k % 10 for k in range(n)],
            "points": [float(max(0, 4 - k % 10)) for k in range(n)],
        }
    )
    data = HeteroData(
        [
            Dataset("races", [f"r{k}" for k in range(6)]),
            Dataset("drivers", [f"d{k}" for k in range(10)]),
            Dataset("results", list(map(str, range(n))), table=results),
        ]
    )
    joins = [Join("key", "results", name + "s", name) for name in ("race", "driver")]
    values = link_values(data["results"], ["race", "driver"])
    assert [(value.column, value.meaning) for value in values] == [("points", "amount")]
    (links,) = join_tables(data, joins, {"results": "links"}).links
    assert len(links) == len(set(zip(results["race"], results["driver"], strict=True)))
    assert (links.weight > 0).all()
    (table,) = detail_tables(data, joins)
    assert (table.value, table.values) == (None, values)


def test_rows_as_summary_add_features() -> None:
    data = tables()
    after = join_tables(data, [FROM], {"flights": "summary"})
    assert not after.links
    table = after["airports"].table
    assert table is not None
    assert table["flights: how many"].tolist() == [300] * 4
    assert table["flights: mean delay"].tolist() == [0, 1, 2, 3]
    assert table["flights: share with kind night"].tolist() == [1, 0, 0, 0]
    assert after["airports"].feature_names is not None
    assert "flights: mean delay" in after["airports"].feature_names
    # Of an item that no row names, nothing is known but that.
    fewer = data.edit().subset({"flights": np.flatnonzero(np.arange(N) % 4 > 0)})
    table = join_tables(fewer, [FROM], {"flights": "summary"})["airports"].table
    assert table is not None
    assert table["flights: how many"].tolist()[0] == 0
    assert np.isnan(table["flights: mean delay"].tolist()[0])


def test_join_tables_refuses_invalid_rows() -> None:
    data = tables()
    with pytest.raises(ParameterError, match="Use one of: items, links"):
        join_tables(data, [FROM], {"flights": "points"})
    with pytest.raises(DataError, match="must refer to 2 items"):
        join_tables(data, [FROM], {"flights": "links"})
    with pytest.raises(DataError, match="must refer to 1 item"):
        join_tables(data, [], {"flights": "summary"})


def events(n_items: int = 40, n_rows: int = 1_600) -> HeteroData:
    """Trips of planes with measures, and columns whose means would say nothing."""
    rng = np.random.default_rng(0)
    plane = np.sort(rng.integers(n_items, size=n_rows))
    clock = rng.integers(24, size=n_rows) * 100 + rng.integers(60, size=n_rows)
    date = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(300, size=n_rows), unit="D")
    trips = pd.DataFrame(
        {
            "tail": [f"N{k}" for k in plane],
            "row": np.arange(1, n_rows + 1),
            "leg": pd.Series(plane).groupby(plane).cumcount() + 1,
            "trips": rng.integers(10, 999, size=n_rows),
            "dep_time": clock,
            "hour": clock // 100,
            "minute": clock % 100,
            "day": rng.integers(1, 32, size=n_rows),
            "month": rng.integers(1, 13, size=n_rows),
            "flight_number": rng.integers(100, 9_999, size=n_rows),
            "phone": rng.integers(10**6, 10**7, size=n_rows),
            "zip_code": rng.integers(10_000, 99_999, size=n_rows),
            "crew": [f"crew {k}" for k in rng.integers(20, size=n_rows)],
            "delay": rng.normal(size=n_rows) + plane,
            "minutes": rng.integers(30, 400, size=n_rows),
            "late": rng.random(n_rows) < 0.3,
            "date": date,
            "ended": date.strftime("%Y-%m-%d").tolist(),
            "remark": [f"remark {k} on this trip" for k in range(n_rows)],
        }
    )
    planes = Dataset("planes", [f"N{k}" for k in range(n_items)])
    return HeteroData([planes, Dataset("trips", list(map(str, range(n_rows))), table=trips)])


TAIL = Join("key", "trips", "planes", "tail")
MEANINGLESS = ["row", "leg", "trips", "dep_time", "hour", "minute", "day", "month", "phone"]
MEANINGLESS += ["flight_number", "zip_code"]


def test_summary_leaves_out_columns_without_meaningful_mean() -> None:
    data = events()
    (details,) = detail_tables(data, [TAIL])
    reasons = {column.name: column.reason for column in details.columns}
    assert {name for name, reason in reasons.items() if reason} == {*MEANINGLESS, "crew", "remark"}
    assert reasons["row"] == "it only counts the rows"
    assert reasons["leg"] == "it only counts the rows of each tail"
    assert reasons["dep_time"] == "clock times such as 1545"
    assert reasons["crew"] == "too many different values: 20"
    table = join_tables(data, [TAIL], {"trips": "summary"})["planes"].table
    assert table is not None
    means = {"mean delay", "mean minutes", "share with late True", "share with late False"}
    dates = {"first date", "last date", "first ended", "last ended"}
    assert set(table.columns) == {f"trips: {name}" for name in {"how many", *means, *dates}}
    trips = data["trips"].table
    assert trips is not None
    of_first = trips[trips["tail"] == "N0"]
    assert table["trips: first date"][0] == of_first["date"].min()
    assert table["trips: last ended"][0] == pd.Timestamp(of_first["ended"].max())
    assert table["trips: share with late True"][0] == pytest.approx(of_first["late"].mean())


@pytest.mark.parametrize("column", MEANINGLESS)
def test_summary_includes_a_column_that_was_left_out(column: str) -> None:
    data = events()
    include = {"trips": [column]}
    table = join_tables(data, [TAIL], {"trips": "summary"}, include=include)["planes"].table
    trips = data["trips"].table
    assert table is not None and trips is not None
    mean = trips[trips["tail"] == "N3"][column].mean()
    assert table[f"trips: mean {column}"][3] == pytest.approx(mean)


def test_summary_includes_the_most_frequent_of_many_categories() -> None:
    data = events()
    include = {"trips": ["crew"]}
    table = join_tables(data, [TAIL], {"trips": "summary"}, include=include)["planes"].table
    assert table is not None
    assert sum("share with crew" in name for name in table.columns) == 8


def test_summary_lists_columns_beyond_60_as_left_out() -> None:
    planes = Dataset("planes", ["N0", "N1"])
    measures = {f"m{k}": np.arange(20.0) + 0.25 + k / 3 for k in range(57)}
    trips = pd.DataFrame(
        {
            "tail": ["N0", "N1"] * 10,
            **measures,
            "class": ["a", "b", "c", "d"] * 5,
            "cost": np.arange(20) * 1.5,
            "day": pd.date_range("2013-01-01", periods=20),
            "fuel": np.arange(20) * 2.5,
        }
    )
    rows = Dataset("trips", list(map(str, range(20))), table=trips)
    data = HeteroData([planes, rows])
    (details,) = detail_tables(data, [TAIL])
    left_out = {column.name: column.reason for column in details.columns if column.reason}
    # The count, 57 means and "cost" are 59 columns. Four shares or two dates do not fit.
    assert left_out == {
        "class": "the summary already has 58 columns",
        "day": "the summary already has 59 columns",
    }
    plain = join_tables(data, [TAIL], {"trips": "summary"})["planes"].table
    assert plain is not None
    assert len(plain.columns) == 60
    assert "trips: mean fuel" in plain.columns
    included = {"trips": ["class"]}
    more = join_tables(data, [TAIL], {"trips": "summary"}, include=included)["planes"].table
    assert more is not None
    assert set(more.columns) - set(plain.columns) == {
        f"trips: share with class {level}" for level in "abcd"
    }


@pytest.mark.parametrize(
    ("column", "message"),
    [("remark", "no mean, share or span"), ("gone", "no column of a summary"), ("tail", "no col")],
)
def test_summary_refuses_columns_that_it_cannot_use(column: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        join_tables(events(), [TAIL], {"trips": "summary"}, include={"trips": [column]})


def test_rows_are_not_called_by_one_of_three_names() -> None:
    penguins = [f"{k},{('Biscoe', 'Dream', 'Torgersen')[k % 3]}" for k in range(60)]
    files = {
        "penguins.csv": "\n".join(["bill,island", *penguins]),
        "islands.csv": "island,area\nBiscoe,152\nDream,0.4\nTorgersen,0.1\n",
    }
    data = read_tables([(name, text.encode()) for name, text in files.items()]).data
    [proposal] = [one for one in hetviz.propose_joins(data) if one.sure]
    joined = join_tables(data, [proposal.join])
    assert joined["penguins"].title_column is None
    assert joined["penguins"].display_names[16] == "row 17"
