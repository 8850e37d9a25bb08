"""Charts below the map, which show and set the filters."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np
import pandas as pd

from hetviz._types import Bools, Floats, Ints
from hetviz.data import Filter, HeteroData, passing
from hetviz.data.queries.filters import column_of
from hetviz.errors import HetvizError
from hetviz.exports.interactive import PageChart
from hetviz.features.columns.types import Column
from hetviz.plots.colour import display_name
from hetviz.plots.filter_text import number_text, value_text
from hetviz.ui.item import item_text
from hetviz.ui.map import value_chart
from hetviz.ui.map.component.messages import ChartChoice, ChartSpec, ChartsSpec
from hetviz.ui.map_data import layers
from hetviz.ui.map_data.array_cache import RESULTS, PackedArray, send_array
from hetviz.ui.shell import session
from hetviz.ui.shell.page_state import state_of
from hetviz.workspace import SetFilters, State

NO_CODE = 255
"""Code of a row without a value."""
MAX_FILTERS = 24
"""Number of filters with a bit of their own."""
_MAX_CODES = 250
_N_FIRST = 4
_MIN_SHARE = 0.5
# Kind of the links of statements, which say what should be close.
_STATED = "said"
_KINDS = ("number", "category", "date")
_AXIS_KINDS = ("number", "date")


@dataclass(frozen=True, eq=False)
class ColumnCodes:
    """Code of each row of a column, with texts and values of the codes.

    `lows`, `highs`: Smallest and largest value in each bin, NaN in an empty one; without bins
        both are empty.
    """

    codes: PackedArray
    texts: tuple[str, ...]
    values: tuple[str, ...] = ()
    lows: tuple[float, ...] = ()
    highs: tuple[float, ...] = ()


@dataclass
class _FilterRequests:
    """Number of the last filter of a chart."""

    number: int = 0


def charts_spec(state: State, session_id: str) -> ChartsSpec:
    """Return the charts with the filters that each row fails, or only that they are closed."""
    data, view = state.opened(), state.view
    spec: ChartsSpec = {
        "open": view.has_charts,
        "table": view.has_table,
        "time": time_chart(data) if view.has_time else None,
        "loading": False,
        "charts": [],
        "filters": [],
        "failed": None,
        "acknowledged": state_of(_FilterRequests).number,
    }
    if not view.has_charts and spec["time"] is None:
        return spec
    charts = view.charts if view.has_charts else ()
    if charts is None:
        # The first charts depend on the columns of all datasets.
        spec["loading"] = any(item_text.is_loading(data, name) for name in data.datasets)
        charts = () if spec["loading"] else first_charts(state)
    spec["charts"] = [
        list(chart) for chart in charts if {chart[0], chart[2]} <= {*data.datasets, ""}
    ]
    spec["filters"] = [
        {
            "dataset": item.dataset,
            "column": item.column,
            "kind": item.kind,
            # Ids can be many, and no chart shows them.
            "values": [] if item.kind == "rows" else list(item.values),
            "low": item.low,
            "high": item.high,
            "missing": item.missing,
        }
        for item in state.filters[:MAX_FILTERS]
    ]
    if state.filters:
        spec["failed"] = send_array(session_id, failed_filters(data, tuple(state.filters)))
    return spec


def time_chart(data: HeteroData) -> list[str] | None:
    """Return the chart of the column of dates with most dated rows, None without one."""
    dated = [
        (len(dataset) * (1.0 - float(entry.get("share_missing", 0.0))), name, str(entry["column"]))
        for name, dataset in data.datasets.items()
        for entry in ((dataset.recipe or {}).get("features") or {}).get("columns", [])
        if entry.get("kind") == "date"
    ]
    return [*max(dated, key=lambda each: each[0])[1:], ""] if dated else None


def first_charts(state: State) -> tuple[tuple[str, str, str], ...]:
    """Return the charts to begin with: the coloured column, then some of each dataset in turn."""
    data = state.opened()
    option = layers.colours_of(state, state.run).option
    first = json.loads(option.key)[:2] if option.key.startswith("[") else None
    columns = {name: _good_columns(data, name) for name in data.datasets}
    time = time_chart(data)

    def in_turn() -> Iterator[tuple[str, str, str]]:
        if first is not None and first[0] in columns and codes_of(data, *first) is not None:
            yield (first[0], first[1], "")
        if time is not None and time[:2] != first and codes_of(data, *time[:2]) is not None:
            yield (time[0], time[1], "")
        open_names = list(columns)
        while open_names:
            for name in list(open_names):
                column = next(columns[name], None)
                if column is None:
                    open_names.remove(name)
                elif [name, column] not in (first, time and time[:2]):
                    yield (name, column, "")

    charts = list(islice(in_turn(), _N_FIRST))
    linked = [name for of, name in linked_pairs(data) if charts and of == charts[0][0]]
    for name in linked[:1]:
        # What the items of the first chart link to.
        title = next(_good_columns(data, name), None)
        if title is not None:
            charts[_N_FIRST - 1 :] = [(name, title, charts[0][0])]
    return tuple(charts)


def _good_columns(data: HeteroData, name: str) -> Iterator[str]:
    """Return the columns with a chart in which most rows have a value."""
    for title, column in item_text.columns_of(data, name).items():
        if column.kind in _KINDS and column.n_missing <= _MIN_SHARE * len(column.values):
            coded = codes_of(data, name, title)
            if coded is not None and len(coded.texts) > 1:
                yield title


def failed_filters(data: HeteroData, filters: tuple[Filter, ...]) -> PackedArray:
    """Return which filters each row fails, bit k for filter k; the last bit is for all others."""

    def make() -> PackedArray:
        failed: Ints = np.zeros(data.n_rows, dtype=np.int64)
        for k, item in enumerate(filters):
            failed |= (~_passing(data, item)).astype(np.int64) << min(k, MAX_FILTERS - 1)
        return PackedArray.pack(failed, "<i4")

    return RESULTS.get_or_compute(data, ("failed", filters), make)


def _passing(data: HeteroData, item: Filter) -> Bools:
    return RESULTS.get_or_compute(data, ("passing", (item,)), lambda: passing(data, [item]))


def codes_of(data: HeteroData, name: str, title: str) -> ColumnCodes | None:
    """Return the codes of a column, None for columns without a chart or that are being read."""
    column = item_text.columns_of(data, name).get(title)
    if column is None:
        return None
    codes: ColumnCodes | bool = RESULTS.get_or_compute(
        data, ("chart", name, title), lambda: _code_column(data, name, column) or False
    )
    return codes if isinstance(codes, ColumnCodes) else None


def _code_column(data: HeteroData, name: str, column: Column) -> ColumnCodes | None:
    bins = value_chart.bins_of(data, name, column)
    if bins is not None:
        return _code_bins(column, bins.edges)
    counts = value_chart.counts_of(data, name, column)
    if counts is None or not len(counts):
        return None
    names = counts.index[:_MAX_CODES]
    series = column_of(data, name, column.name)
    codes = names.get_indexer(pd.Index(series.where(series.isna(), series.astype(str))))
    codes = np.where(codes >= 0, codes, np.where(series.isna(), NO_CODE, len(names)))
    texts = [value_text(value) for value in names]
    if len(counts) > len(names):
        texts.append(f"{len(counts) - len(names):,} other values")
    return ColumnCodes(PackedArray.pack(codes, "|u1"), tuple(texts), tuple(map(str, names)))


def _code_bins(column: Column, edges: Floats) -> ColumnCodes:
    values = np.asarray(column.values, dtype=np.float64)
    present = ~np.isnan(values)
    n_bins = len(edges) - 1
    codes = np.full(len(values), NO_CODE)
    codes[present] = np.clip(np.searchsorted(edges, values[present], "right") - 1, 0, n_bins - 1)
    ends = pd.Series(values[present]).groupby(codes[present]).agg(["min", "max"])
    ends = ends.reindex(range(n_bins))
    lows, highs = (tuple(ends[end].tolist()) for end in ("min", "max"))
    starts, stops = (_texts_of(column, part) for part in (lows, highs))
    texts = [
        "no items" if not first else first if first == last else f"{first} to {last}"
        for first, last in zip(starts, stops, strict=True)
    ]
    return ColumnCodes(PackedArray.pack(codes, "|u1"), tuple(texts), lows=lows, highs=highs)


def _texts_of(column: Column, values: tuple[float, ...]) -> list[str]:
    return ["" if np.isnan(value) else number_text(value, column.kind) for value in values]


def places_of(data: HeteroData, name: str, column: Column) -> PackedArray:
    """Return the place of each row between the ends of the chart of a number or date.

    Places are 0 to 254, 255 is a row without a value.
    """

    def make() -> PackedArray:
        bins = value_chart.bins_of(data, name, column)
        coded = codes_of(data, name, column.name)
        if bins is not None:
            low, high = float(bins.edges[0]), float(bins.edges[-1])
            shares = (np.asarray(column.values, dtype=np.float64) - low) / (high - low)
        elif coded is not None:
            # Few values stand in the middle of their parts.
            codes = np.frombuffer(coded.codes.content, dtype=np.uint8)
            shares = np.where(codes == NO_CODE, np.nan, (codes + 0.5) / len(coded.texts))
        else:
            shares = np.full(len(column.values), np.nan)
        places = np.clip(np.floor(NO_CODE * shares), 0, NO_CODE - 1)
        return PackedArray.pack(np.where(np.isnan(shares), NO_CODE, places), "|u1")

    return RESULTS.get_or_compute(data, ("places", name, column.name), make)


def linked_pairs(data: HeteroData) -> list[tuple[str, str]]:
    """Return each pair of different datasets with links, in both directions."""
    pairs = [(links.source, links.target) for links in data.links if links.kind != _STATED]
    both = [ends for pair in pairs for ends in (pair, pair[::-1]) if pair[0] != pair[1]]
    return list(dict.fromkeys(both))


def links_between(data: HeteroData, of: str, name: str) -> tuple[PackedArray, PackedArray]:
    """Return the rows of one dataset and of another that links of the data join."""

    def make() -> tuple[PackedArray, PackedArray]:
        rows: list[Ints] = []
        targets: list[Ints] = []
        for links in data.links:
            if links.kind == _STATED or {links.source, links.target} != {of, name}:
                continue
            present = links.weight > 0
            ends = {links.source: links.i[present], links.target: links.j[present]}
            rows.append(data.offsets[of].start + ends[of])
            targets.append(data.offsets[name].start + ends[name])
        return (
            PackedArray.pack(np.concatenate(rows), "<i4"),
            PackedArray.pack(np.concatenate(targets), "<i4"),
        )

    return RESULTS.get_or_compute(data, ("links of chart", of, name), make)


def chart_spec(
    data: HeteroData,
    name: str,
    title: str,
    send: Callable[[PackedArray], str],
    of: str = "",
    *,
    has_places: bool = False,
) -> ChartSpec | None:
    """Return the chart of a column for the browser, None for columns without one.

    `send`: Returns the key under which the browser finds an array.
    `of`: Dataset whose links to the dataset of the column are counted, instead of the rows.
    `has_places`: Whether the chart places each row along the column.
    """
    coded = codes_of(data, name, title)
    if coded is None or (of and (of, name) not in linked_pairs(data)):
        return None
    column = item_text.columns_of(data, name)[title]
    if has_places and column.kind not in _AXIS_KINDS:
        return None
    unit = data[name].units.get(title, "")
    return {
        "kind": "bins" if coded.lows else "values",
        "title": (_linked_title(name, title) if of else display_name(title))
        + (f" ({unit})" if unit else ""),
        "time": column.kind == "date",
        "key": send(coded.codes),
        "links": [send(ends) for ends in links_between(data, of, name)] if of else None,
        "places": send(places_of(data, name, column)) if has_places else None,
        "texts": list(coded.texts),
        "values": list(coded.values),
        "lows": [None if np.isnan(value) else value for value in coded.lows],
        "highs": [None if np.isnan(value) else value for value in coded.highs],
        "starts": _texts_of(column, coded.lows),
        "ends": _texts_of(column, coded.highs),
    }


def page_charts(state: State) -> list[PageChart]:
    """Return the charts of the project for an exported page."""
    data = state.opened()
    item_text.read_all_columns(data)
    charts = first_charts(state) if state.view.charts is None else state.view.charts
    return [page_chart for chart in charts if (page_chart := _page_chart(data, chart)) is not None]


def _page_chart(data: HeteroData, chart: tuple[str, ...]) -> PageChart | None:
    name, x, of, *y = chart
    arrays: dict[str, bytes] = {}

    def send(array: PackedArray) -> str:
        arrays[array.key] = array.content
        return array.key

    specs = []
    for title in (x, *y) if name in data.datasets else ():
        spec = chart_spec(data, name, title, send, of, has_places=bool(y))
        if spec is not None:
            specs.append(spec)
    return PageChart(chart, specs, arrays) if len(specs) == 1 + len(y) else None


def _linked_title(name: str, title: str) -> str:
    return f"{display_name(title)} of linked {name}"


def chart_choices(data: HeteroData) -> list[ChartChoice]:
    """Return the columns that a chart can show: those of each dataset, then by links."""
    columns = {
        name: [
            (title, column.kind in _AXIS_KINDS)
            for title, column in item_text.columns_of(data, name).items()
            if column.kind in _KINDS
        ]
        for name in data.datasets
    }
    own: list[ChartChoice] = [
        {
            "group": name,
            "dataset": name,
            "column": title,
            "of": "",
            "title": display_name(title),
            "axis": is_axis,
        }
        for name, titles in columns.items()
        for title, is_axis in titles
    ]
    linked: list[ChartChoice] = [
        {
            "group": f"By links of {of}",
            "dataset": name,
            "column": title,
            "of": of,
            "title": _linked_title(name, title),
            "axis": False,
        }
        for of, name in linked_pairs(data)
        for title, _ in columns[name]
    ]
    return own + linked


def apply_filter(value: object) -> None:
    """Replace the filters of the columns of a chart by those of its brush."""
    state, requests = session.workspace().state, state_of(_FilterRequests)
    if not isinstance(value, dict) or state.data is None:
        return
    try:
        number = int(value["number"])
        filters = list(state.filters)
        for part in value["filters"]:
            dataset, column = part["dataset"], str(part["column"])
            values, missing = tuple(map(str, part["values"])), bool(part["missing"])
            low, high = (None if part[end] is None else float(part[end]) for end in ("low", "high"))
            filters = [item for item in filters if (item.dataset, item.column) != (dataset, column)]
            if low is not None or high is not None:
                new = Filter(dataset, column, "range", low=low, high=high, missing=missing)
                filters.append(new)
            elif values or missing:
                filters.append(Filter(dataset, column, values=values, missing=missing))
    except (KeyError, TypeError, ValueError, HetvizError):
        return
    requests.number = max(requests.number, number)
    session.run_command(SetFilters(filters))
