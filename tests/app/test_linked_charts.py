"""Tests of the charts below the map: codes of columns, failed filters, and their routes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

import numpy as np
import pandas as pd
import pytest

from hetviz.data import Dataset, Filter, HeteroData, Labels, Links, passing
from hetviz.ui.item import item_text
from hetviz.ui.map import linked_charts
from hetviz.ui.map_data.array_cache import ARRAYS, PackedArray
from hetviz.workspace import SESSIONS, State
from hetviz.workspace.sessions import new_session_id
from tests.app.asking import ask

N = 400


def example() -> HeteroData:
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "age": rng.integers(18, 90, N),
            "income": np.where(rng.random(N) < 0.1, np.nan, rng.lognormal(10, 1, N)),
            "joined": pd.date_range("2019-01-01", periods=N).strftime("%Y-%m-%d"),
            "seen": pd.date_range("2019-01-01", periods=N, freq="7h"),
            "city": [["Graz", "Wien", None][k % 3] for k in range(N)],
            # Few dates, most of them late.
            "month": [f"2020-{max(12 - k % 20, 9):02}-01" for k in range(N)],
            "stars": rng.integers(1, 6, N),
            "note": [f"customer number {k} says something else" for k in range(N)],
        }
    )
    customers = Dataset("customers", [f"c{k}" for k in range(N)], table=table)
    labels = Labels("customers", "segment", ["new" if k % 4 else "old" for k in range(N)])
    products = Dataset(
        "products", list("abcdef"), table=pd.DataFrame({"kind": ["x", "x", "y"] * 2})
    )
    bought = Links("customers", "products", [0, 1, 1, 5], [0, 1, 2, 2], [1.0, 1.0, 0.5, -1.0])
    stated = Links("products", "customers", [0], [9], kind="said")
    friends = Links("customers", "customers", [0], [1])
    return HeteroData([customers, products], [bought, stated, friends], labels=[labels])


DATA = example()


def codes_of(column: str) -> tuple[linked_charts.ColumnCodes, np.ndarray]:
    coded = linked_charts.codes_of(DATA, "customers", column)
    assert coded is not None
    return coded, array_of(coded.codes)


def array_of(packed: PackedArray) -> np.ndarray:
    return np.frombuffer(packed.content, dtype=packed.kind)


@pytest.mark.parametrize("column", ["age", "income", "joined", "seen"])
@pytest.mark.parametrize(("first", "last"), [(0, 5), (3, 3), (2, 23)])
def test_filter_of_brushed_bins_passes_the_rows_of_those_bins(
    column: str, first: int, last: int
) -> None:
    coded, codes = codes_of(column)
    inside = (codes >= first) & (codes <= last)
    lows, highs = np.array(coded.lows), np.array(coded.highs)
    low, high = np.nanmin(lows[first : last + 1]), np.nanmax(highs[first : last + 1])
    mask = passing(DATA, [Filter("customers", column, "range", low=float(low), high=float(high))])
    assert inside.any()
    assert np.array_equal(mask[:N], inside)


@pytest.mark.parametrize("column", ["city", "stars", "segment"])
def test_filter_of_a_value_passes_the_rows_of_its_code(column: str) -> None:
    coded, codes = codes_of(column)
    for code, value in enumerate(coded.values):
        mask = passing(DATA, [Filter("customers", column, values=(value,))])
        assert mask[:N].any()
        assert np.array_equal(mask[:N], codes == code)
    missing = passing(DATA, [Filter("customers", column, missing=True)])
    assert np.array_equal(missing[:N], codes == linked_charts.NO_CODE)


def test_codes_of_few_numbers_follow_their_order() -> None:
    coded, _ = codes_of("stars")
    assert coded.texts == ("1", "2", "3", "4", "5")
    assert coded.lows == ()


@pytest.mark.parametrize("column", ["age", "income", "joined", "stars", "month"])
def test_places_of_rows_follow_their_values_and_bins(column: str) -> None:
    coded, codes = codes_of(column)
    values = item_text.columns_of(DATA, "customers")[column]
    places = array_of(linked_charts.places_of(DATA, "customers", values)).astype(int)
    assert np.array_equal(places == 255, np.isnan(values.values))
    present = places < 255
    order = np.argsort(values.values[present], kind="stable")
    assert (np.diff(places[present][order]) >= 0).all()
    assert len(set(places[present])) > 2
    # The brush of a scatter covers the places of its bins.
    bins = (places[present] + 0.5) / 255 * len(coded.texts)
    assert (np.abs(bins - codes[present] - 0.5) < 0.6).all()


def test_only_numbers_and_dates_are_axes() -> None:
    axes = {
        choice["column"]
        for choice in linked_charts.chart_choices(DATA)
        if choice["axis"] and choice["dataset"] == "customers" and not choice["of"]
    }
    assert axes == {"age", "income", "joined", "seen", "stars", "month"}
    spec = linked_charts.chart_spec(
        DATA, "customers", "age", lambda array: array.key, has_places=True
    )
    assert spec is not None
    assert spec["places"] is not None
    assert (
        linked_charts.chart_spec(
            DATA, "customers", "city", lambda array: array.key, has_places=True
        )
        is None
    )


def test_column_of_texts_has_no_chart() -> None:
    assert linked_charts.codes_of(DATA, "customers", "note") is None
    assert linked_charts.codes_of(DATA, "customers", "gone") is None


def test_values_after_the_largest_code_are_pooled() -> None:
    values = [f"v{k:03}" for k in range(300)] * 2 + ["v000"]
    table = pd.DataFrame({"kind": values})
    data = HeteroData([Dataset("parts", [str(k) for k in range(601)], table=table)])
    coded = linked_charts.codes_of(data, "parts", "kind")
    assert coded is not None
    assert coded.texts[-1] == "50 other values"
    assert len(coded.values) == 250
    assert (array_of(coded.codes) == 250).sum() == 100


def test_failed_filters_have_a_bit_each() -> None:
    filters = (
        Filter("customers", "city", values=("Graz",)),
        Filter("customers", "age", "range", low=60.0),
    )
    failed = array_of(linked_charts.failed_filters(DATA, filters))
    for bit, item in enumerate(filters):
        assert np.array_equal((failed >> bit) & 1 == 0, passing(DATA, [item]))
    many = tuple(Filter("customers", "age", "range", low=float(k)) for k in range(30))
    assert np.array_equal(
        array_of(linked_charts.failed_filters(DATA, many)) == 0, passing(DATA, many)
    )


def spec_of(state: State, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(linked_charts, "state_of", lambda kind: kind())
    return linked_charts.charts_spec(state, "charts")


def test_closed_charts_send_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    filters = (Filter("customers", "city", values=("Graz",)),)
    spec = spec_of(State(data=DATA, filters=filters), monkeypatch)
    assert (spec["open"], spec["charts"], spec["filters"], spec["failed"]) == (False, [], [], None)


def test_open_charts_begin_with_the_coloured_column(monkeypatch: pytest.MonkeyPatch) -> None:
    state = State(data=DATA)
    view = replace(state.view, has_charts=True, colour='["customers", "city"]')
    filters = (Filter("customers", kind="rows", values=("c1", "c2")),)
    spec = spec_of(replace(state, view=view, filters=filters), monkeypatch)
    assert spec["charts"][0] == ["customers", "city", ""]
    assert len(spec["charts"]) == 4
    assert spec["charts"][-1] == ["products", "kind", "customers"]
    assert len({tuple(chart) for chart in spec["charts"]}) == 4
    # The ids of a filter of rows can be many.
    assert spec["filters"][0]["values"] == []
    packed = ARRAYS.get("charts", spec["failed"])
    assert (array_of(packed) == 0).sum() == 2 + 6


def test_first_charts_wait_for_the_columns_of_all_datasets(monkeypatch: pytest.MonkeyPatch) -> None:
    state = State(data=DATA)
    state = replace(state, view=replace(state.view, has_charts=True))
    assert not spec_of(state, monkeypatch)["loading"]
    monkeypatch.setattr(item_text, "is_loading", lambda _, name: name == "products")
    spec = spec_of(state, monkeypatch)
    assert (spec["loading"], spec["charts"]) == (True, [])
    chosen = replace(state, view=replace(state.view, charts=(("customers", "age", ""),)))
    assert spec_of(chosen, monkeypatch)["charts"] == [["customers", "age", ""]]


def test_charts_of_removed_datasets_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    state = State(data=DATA)
    scatter = ("customers", "age", "", "income")
    charts = (("gone", "age", ""), ("customers", "age", ""), scatter)
    view = replace(state.view, has_charts=True, charts=charts)
    spec = spec_of(replace(state, view=view), monkeypatch)
    assert spec["charts"] == [["customers", "age", ""], list(scatter)]


def test_page_gets_charts_with_their_arrays() -> None:
    state = State(data=DATA)
    charts = (
        ("customers", "age", "", "income"),
        ("products", "kind", "customers"),
        ("customers", "note", ""),
        ("gone", "age", ""),
    )
    scatter, linked = linked_charts.page_charts(
        replace(state, view=replace(state.view, charts=charts))
    )
    assert [scatter.chart, linked.chart] == list(charts[:2])
    assert [spec["title"] for spec in scatter.specs] == ["Age", "Income"]
    keys = [key for spec in scatter.specs for key in (spec["key"], spec["places"])]
    assert {len(scatter.arrays[str(key)]) for key in keys} == {N}
    assert len(linked.arrays) == 3


def test_page_has_its_charts_before_the_app_has_read_the_columns(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(item_text.worker_results, "fetch_from_worker", lambda *_: None)
    data = example()
    assert item_text.is_loading(data, "products")
    state = State(data=data)
    view = replace(state.view, charts=(("products", "kind", ""),))
    [kind] = linked_charts.page_charts(replace(state, view=view))
    assert kind.specs[0]["texts"] == ["X", "Y"]


class _Session:
    """Session whose commands are recorded."""

    def __init__(self, filters: tuple[Filter, ...]) -> None:
        self.state = State(data=DATA, filters=filters)
        self.commands: list[Any] = []

    def workspace(self) -> _Session:
        return self

    def run_command(self, command: Any) -> None:
        self.commands.append(command)


@pytest.fixture
def session(monkeypatch: pytest.MonkeyPatch) -> _Session:
    kept = (
        Filter("customers", "age", "range", low=20.0),
        Filter("customers", "city", values=("Graz",)),
    )
    session, parts = _Session(kept), {}
    monkeypatch.setattr(linked_charts, "session", session)
    monkeypatch.setattr(linked_charts, "state_of", lambda kind: parts.setdefault(kind, kind()))
    return session


def request(*parts: dict[str, Any]) -> dict[str, Any]:
    usual = {"dataset": "customers", "column": "age", "values": []}
    ends = {"low": None, "high": None, "missing": False}
    return {"number": 3, "filters": [{**usual, **ends, **part} for part in parts or ({},)]}


def test_filter_of_a_chart_replaces_that_of_its_column(session: _Session) -> None:
    city = session.state.filters[1].to_dict()
    linked_charts.apply_filter(request({"low": 60, "high": 75}))
    age = Filter("customers", "age", "range", low=60.0, high=75.0).to_dict()
    assert session.commands[-1].filters == [city, age]
    linked_charts.apply_filter(request())
    assert session.commands[-1].filters == [city]
    linked_charts.apply_filter(request({"column": "segment", "values": ["new"]}))
    assert session.commands[-1].filters[-1]["values"] == ["new"]
    assert linked_charts.charts_spec(session.state, "charts")["acknowledged"] == 3


def test_filters_of_a_scatter_are_one_step(session: _Session) -> None:
    linked_charts.apply_filter(
        request({"low": 60, "high": 75}, {"column": "income", "low": 900, "high": 2000})
    )
    (command,) = session.commands
    city, age, income = command.filters
    assert city["column"] == "city"
    assert (age["low"], income["column"], income["high"]) == (60.0, "income", 2000.0)


@pytest.mark.parametrize(
    "value",
    [
        None,
        {},
        {"number": 3, "filters": 2},
        request({"low": "much"}),
        request({"values": 3}),
        request({"low": 2, "high": 1}),
    ],
)
def test_invalid_filters_of_charts_are_ignored(session: _Session, value: object) -> None:
    linked_charts.apply_filter(value)
    assert session.commands == []


@pytest.fixture(scope="module")
def sid() -> str:
    sid = new_session_id()
    SESSIONS.get(sid).state = State(data=DATA)
    return sid


def test_chart_route_sends_texts_and_the_key_of_the_codes(sid: str) -> None:
    query = urlencode({"dataset": "customers", "column": "joined"})
    spec = ask(f"/hv/chart/{sid}?{query}").json
    assert spec["kind"] == "bins"
    assert spec["starts"][0] == "2019-01-01"
    assert spec["texts"][0] == f"{spec['starts'][0]} to {spec['ends'][0]}"
    assert len(ask(f"/hv/array/{sid}/{spec['key']}").body) == N
    spec = ask(f"/hv/chart/{sid}?{urlencode({'dataset': 'customers', 'column': 'city'})}").json
    assert (spec["kind"], sorted(spec["values"])) == ("values", ["Graz", "Wien"])


def test_chart_route_refuses_what_has_no_chart(sid: str) -> None:
    assert ask(f"/hv/chart/{sid}?{urlencode({'dataset': 'x', 'column': 'age'})}").status == 404
    query = urlencode({"dataset": "customers", "column": "note"})
    assert ask(f"/hv/chart/{sid}?{query}").status == 204


def test_columns_route_lists_columns_with_charts(sid: str) -> None:
    columns = ask(f"/hv/columns/{sid}").json["columns"]
    titles = {entry["column"] for entry in columns if entry["group"] == "customers"}
    assert titles == {"age", "income", "joined", "seen", "city", "stars", "segment", "month"}
    by_links = [entry for entry in columns if entry["group"] == "By links of customers"]
    assert [(entry["dataset"], entry["column"], entry["of"]) for entry in by_links] == [
        ("products", "kind", "customers")
    ]
    assert by_links[0]["title"] == "Kind of linked products"


def test_chart_of_linked_items_has_the_ends_of_observed_links(sid: str) -> None:
    query = {"dataset": "products", "column": "kind", "of": "customers"}
    spec = ask(f"/hv/chart/{sid}?{urlencode(query)}").json
    assert spec["title"] == "Kind of linked products"
    rows, targets = (
        np.frombuffer(ask(f"/hv/array/{sid}/{key}").body, dtype="<i4") for key in spec["links"]
    )
    # Neither links that say apart nor statements of the user count.
    assert list(zip(rows.tolist(), targets.tolist(), strict=True)) == [
        (0, N),
        (1, N + 1),
        (1, N + 2),
    ]
    other = {"dataset": "customers", "column": "city", "of": "products"}
    spec = ask(f"/hv/chart/{sid}?{urlencode(other)}").json
    assert ask(f"/hv/array/{sid}/{spec['links'][0]}").body == targets.tobytes()
    missing = {"dataset": "customers", "column": "city", "of": "customers"}
    assert ask(f"/hv/chart/{sid}?{urlencode(missing)}").status == 204


def dated(**missing: float) -> HeteroData:
    """Return the data with features of columns of dates, with these shares of missing dates."""
    columns = [
        {"column": name, "kind": "date", "share_missing": share} for name, share in missing.items()
    ]
    recipe: dict[str, object] = {
        "features": {"columns": [{"column": "age", "kind": "number"}, *columns]}
    }
    customers = replace(DATA["customers"], recipe=recipe)
    return HeteroData([customers, DATA["products"]], DATA.links)


def test_dates_are_shown_while_the_charts_are_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    filters = (Filter("customers", "joined", "range", low=17900.0),)
    state = State(data=dated(seen=0.1, joined=0.0), filters=filters)
    spec = spec_of(state, monkeypatch)
    assert (spec["open"], spec["charts"]) == (False, [])
    assert spec["time"] == ["customers", "joined", ""]
    assert len(spec["filters"]) == 1
    assert spec["failed"]
    closed = spec_of(replace(state, view=replace(state.view, has_time=False)), monkeypatch)
    assert (closed["time"], closed["filters"], closed["failed"]) == (None, [], None)
    # Opened charts have the dates too.
    opened = spec_of(replace(state, view=replace(state.view, has_charts=True)), monkeypatch)
    assert opened["charts"][0] == ["customers", "joined", ""]
    assert linked_charts.time_chart(DATA) is None


def test_dates_below_the_map_are_of_most_items() -> None:
    few = Dataset("staff", ["s1", "s2"], recipe=dated(born=0.0)["customers"].recipe)
    data = HeteroData([few, dated(joined=0.2)["customers"]])
    assert linked_charts.time_chart(data) == ["customers", "joined", ""]


def test_charts_of_dates_have_a_player() -> None:
    specs = [
        linked_charts.chart_spec(DATA, "customers", title, lambda array: "")
        for title in ("joined", "age")
    ]
    assert [spec and spec["time"] for spec in specs] == [True, False]
