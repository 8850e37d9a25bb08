"""Sheet of the map with colours and filters, and the filters above the map."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

import streamlit as st

from hetviz._text import capital, shorten
from hetviz._types import Bools
from hetviz.data import Filter, HeteroData, passing
from hetviz.data.queries.filters import filters_for_rows
from hetviz.features.columns.types import Column
from hetviz.plots.colour import display_name
from hetviz.plots.filter_text import filter_words, number_text, value_text
from hetviz.ui.item import item_text
from hetviz.ui.map import value_chart
from hetviz.ui.map_data import layers
from hetviz.ui.shell import session, theme
from hetviz.ui.shell.page_state import state_of
from hetviz.workspace import SetFilters, State

_MAX_CHIP_CHARS = 60
_EPOCH = date(1970, 1, 1)
_TO_MIDNIGHT = 1.0 - 1e-6


@dataclass
class _FilterForm:
    """The colours whose column the form shows."""

    colour: str = ""


def add_sheet(state: State) -> None:
    """Show the sheet with the colours, which the browser fills in, and the form of a filter."""
    data = state.data
    if data is None:
        return
    with (
        st.popover("Colour and filter", key="filter"),
        st.container(key="filter-form"),
    ):
        with st.container(key="filter-colours", gap="xsmall"):
            theme.show_section("Colour")
            st.html('<div class="hv-colours-host"></div>')
        with st.container(key="filter-fields"):
            theme.show_section("Filter")
            _filter_form(state, data)


def show_chips(state: State) -> None:
    """Show a chip for each active filter and the number of items that pass."""
    data = state.data
    if data is None or not state.filters:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="filters"):
        number = count_shown(state)
        st.html(
            f'<p class="hv-status-line" role="status">Shown {number:,} of {data.n_rows:,}</p>',
            width="content",
        )
        rows = [item for item in state.filters if item.kind == "rows"]
        others = [item for item in state.filters if item.kind != "rows"]
        for position, item in enumerate(others):
            _chip(
                f"unfilter-{position}",
                filter_words(data, item),
                [f for f in state.filters if f is not item],
            )
        if rows:
            number = sum(len(item.values) for item in rows)
            _chip("unfilter-rows", f"only {theme.count(number, 'selected item')}", others)
        if len(others) + bool(rows) > 1:
            st.button(
                "Clear all", type="tertiary", key="unfilter", on_click=_set_filters, args=([],)
            )


def _chip(key: str, text: str, remaining: Sequence[Filter]) -> None:
    st.button(
        theme.escape_markdown(f"{shorten(text, _MAX_CHIP_CHARS)}  ×"),
        key=key,
        help=theme.escape_markdown(f"Remove this filter: {text}"),
        on_click=_set_filters,
        args=(remaining,),
    )


def count_shown(state: State) -> int:
    """Return how many items pass the filters."""
    return 0 if state.data is None else int(shown_rows(state).sum())


def shown_rows(state: State) -> Bools:
    """Return which items pass the filters."""
    data = state.opened()
    mask: Bools = session.get_or_compute(
        ("passing", id(data), state.filters), data, lambda: passing(data, state.filters)
    )
    return mask


def show_only(rows: Sequence[int]) -> None:
    """Show only these global rows, among those that pass the other filters."""
    state = session.workspace().state
    if state.data is not None:
        others = [item for item in state.filters if item.kind != "rows"]
        _set_filters([*others, *filters_for_rows(state.data, list(rows))])


def _filter_form(state: State, data: HeteroData) -> None:
    names = list(data.datasets)
    coloured = _choose_coloured_column(state, data)
    name = names[0]
    if len(names) > 1:
        _send_value("filter-dataset")
        name = st.selectbox("Dataset", names, key="filter-dataset")
    no_columns = f"{capital(name)} has no columns to filter by. Select items on the map instead."
    columns = item_text.choosable_columns(data, name, no_columns, "filter")
    if not columns:
        return
    key = f"filter-column-{name}"
    if key not in st.session_state and coloured is not None and coloured[0] == name:
        st.session_state[key] = coloured[1]
    _send_value(key)
    title = st.selectbox("Column", list(columns), format_func=display_name, key=key)
    column = columns[title]
    key = f"filter-{name}-{title}"
    bins = value_chart.bins_of(data, name, column)
    # A histogram lies above the slider, with the same axis. Bars would push the fields out of view.
    chart = None if bins is None else st.container(key="filter-chart", gap="xsmall")
    if bins is not None and column.kind == "number":
        new_filter = _range_filter(key, name, title, column, bins.low, bins.high)
    elif bins is not None and column.kind == "date":
        new_filter = _date_filter(key, name, title, column, bins.low, bins.high)
    else:
        new_filter = _value_filter(key, data, name, title, column)
    added = [] if new_filter is None else [new_filter]
    with st.container(key="primary_filter"):
        # A field that the press leaves is read first, which arguments of the press would miss.
        if (
            st.button("Add this filter", type="primary", key="add-filter", disabled=not added)
            and added
        ):
            _set_filters([*state.filters, *added])
            st.rerun()
    with chart or st.container(key="filter-chart", gap="xsmall"):
        active = [item for item in state.filters if (item.dataset, item.column) == (name, title)]
        value_chart.show_values(data, name, column, [*active, *added])


def _send_value(key: str) -> None:
    """Send a value again that was set while the form was not drawn, which shows the first one."""
    if key in st.session_state:
        st.session_state[key] = st.session_state[key]


def _choose_coloured_column(state: State, data: HeteroData) -> tuple[str, str] | None:
    """Choose the column of the colours in the form whenever they change; return it."""
    option, form = layers.colours_of(state, state.run).option, state_of(_FilterForm)
    # Other colours are of the whole map.
    if not option.key.startswith("["):
        return None
    name, title = json.loads(option.key)[:2]
    if form.colour != option.key:
        form.colour = option.key
        st.session_state.pop(f"filter-column-{name}", None)
        if len(data.datasets) > 1:
            st.session_state["filter-dataset"] = name
    return (name, title) if title in item_text.columns_of(data, name) else None


def _value_filter(
    key: str, data: HeteroData, name: str, title: str, column: Column
) -> Filter | None:
    """Ask for values, or for a text if there are too many values."""
    counts = value_chart.counts_of(data, name, column)
    missing = _include_missing(key, column)
    if counts is None:
        text = st.text_input("Contains", key=f"{key}-text", max_chars=200)
        text_filter = Filter(name, title, "text", text=text.strip(), missing=missing)
        return text_filter if text_filter.text else None
    values = st.multiselect(
        "Is one of",
        list(counts.index),
        format_func=lambda value: f"{value_text(value)} ({counts[value]:,})",
        key=f"{key}-values",
        placeholder="Choose values",
    )
    return Filter(name, title, values=tuple(values), missing=missing) if values or missing else None


def _range_filter(
    key: str, name: str, title: str, column: Column, low: float, high: float
) -> Filter | None:
    first, last, step = float(low), float(high), 1.0
    if not column.whole:
        # The slider rounds its values, so its ends are outside the data.
        step = 10.0 ** math.floor(math.log10(high - low) - 2)
        first, last = math.floor(low / step) * step, math.ceil(high / step) * step
    number = int if column.whole else float
    limits = number(first), number(last)
    st.slider(
        "From, to",
        *limits,
        limits,
        number(step),
        key=f"{key}-range",
        on_change=_type_ends,
        args=(key, limits),
        label_visibility="collapsed",
    )
    with st.container(horizontal=True):
        bottom, top = (
            st.number_input(
                label,
                value=None,
                step=number(step),
                format="%d" if column.whole else "%g",
                placeholder=number_text(end, "number"),
                key=f"{key}-{label}",
                on_change=_move_slider,
                args=(key, limits),
            )
            for label, end in (("From", low), ("To", high))
        )
    missing = _include_missing(key, column)
    if bottom is None and top is None and (missing or not column.n_missing):
        return None
    if bottom is not None and top is not None and top < bottom:
        theme.show_note("The upper end is below the lower one.")
        return None
    return Filter(name, title, "range", low=bottom, high=top, missing=missing)


def _type_ends(key: str, limits: tuple[float, float]) -> None:
    """Fill the ends of a range in as the slider was moved."""
    for label, end, limit in zip(
        ("From", "To"), st.session_state[f"{key}-range"], limits, strict=True
    ):
        st.session_state[f"{key}-{label}"] = None if end == limit else end


def _move_slider(key: str, limits: tuple[float, float]) -> None:
    """Move the slider to the ends that were typed, as far as it goes."""
    ends = [
        limit if typed is None else min(max(typed, limits[0]), limits[1])
        for typed, limit in zip(
            (st.session_state[f"{key}-{label}"] for label in ("From", "To")), limits, strict=True
        )
    ]
    st.session_state[f"{key}-range"] = (min(ends), max(ends))


def _date_filter(
    key: str, name: str, title: str, column: Column, low: float, high: float
) -> Filter | None:
    """Ask for the first and the last day."""
    first, last = (date.fromisoformat(number_text(end, "date")) for end in (low, high))
    with st.container(horizontal=True):
        start, end = (
            st.date_input(
                label,
                day,
                min_value=first,
                max_value=last,
                format="YYYY-MM-DD",
                key=f"{key}-{label}",
            )
            for label, day in (("From", first), ("To", last))
        )
    missing = _include_missing(key, column)
    if start == first and end == last and (missing or not column.n_missing):
        return None
    if end < start:
        theme.show_note("The last day is before the first.")
        return None
    # Times of the last day count, too.
    bottom, top = (float((day - _EPOCH).days) for day in (start, end))
    return Filter(
        name,
        title,
        "range",
        low=None if start == first else bottom,
        high=None if end == last else top + _TO_MIDNIGHT,
        missing=missing,
    )


def _include_missing(key: str, column: Column) -> bool:
    if not column.n_missing:
        return False
    return bool(
        st.checkbox(f"Include the {column.n_missing:,} without a value", key=f"{key}-missing")
    )


def _set_filters(filters: Sequence[Filter]) -> None:
    session.run_command(SetFilters(filters))
