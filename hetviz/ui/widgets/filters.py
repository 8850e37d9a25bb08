"""Filters above the map: which items to look at, by any column of any dataset."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import streamlit as st

from hetviz._text import short
from hetviz.data import Filter, HeteroData, passing
from hetviz.data.queries.filters import column_of, only_rows
from hetviz.features.columns.types import Column
from hetviz.plots.colour import spoken
from hetviz.ui.map import away
from hetviz.ui.shell import session, theme
from hetviz.ui.widgets import item_text
from hetviz.workspace import SetFilters, State

_MOST_VALUES = 500
_CHIP = 60


def popover(state: State) -> None:
    """Show the button that adds a filter."""
    data = state.data
    if data is None:
        return
    with (
        st.popover("Filter", key="filter"),
        st.container(width=340, border=False, key="filter-form"),
    ):
        _form(state, data)


def chips(state: State) -> None:
    """Show what is filtered: one chip for each filter, how many items pass, and a way out."""
    data = state.data
    if data is None or not state.filters:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="filters"):
        number = shown(state)
        st.html(
            f'<p class="hv-now" role="status">Shown {number:,} of {data.n_rows:,}</p>',
            width="content",
        )
        rows = [one for one in state.filters if one.kind == "rows"]
        others = [one for one in state.filters if one.kind != "rows"]
        for place, one in enumerate(others):
            _chip(f"unfilter-{place}", words(data, one), [f for f in state.filters if f is not one])
        if rows:
            number = sum(len(one.values) for one in rows)
            _chip("unfilter-rows", f"only {theme.count(number, 'chosen item')}", others)
        if len(others) + bool(rows) > 1:
            st.button("Clear all", type="tertiary", key="unfilter", on_click=_set, args=([],))


def _chip(key: str, said: str, without: Sequence[Filter]) -> None:
    st.button(
        theme.plain(f"{short(said, _CHIP)}  ×"),
        key=key,
        help=theme.plain(f"Remove this filter: {said}"),
        on_click=_set,
        args=(without,),
    )


def shown(state: State) -> int:
    """Return how many items pass."""
    data = state.data
    if data is None:
        return 0
    mask = session.cached(
        ("passing", id(data), state.filters), data, lambda: passing(data, state.filters)
    )
    return int(mask.sum())


def words(data: HeteroData, one: Filter) -> str:
    """Return a filter in plain words: "emoji: group is food-drink"."""
    start = f"{one.dataset}: {spoken(one.column).lower()}"
    try:
        column = item_text.columns_of(data, one.dataset).get(one.column)
    except away.Failed:
        # It is told where columns are chosen; a filter that is there is named all the same.
        column = None
    kind = "number" if column is None else column.kind
    if one.kind == "text":
        said = f"{start} contains “{one.text}”"
    elif one.kind == "values":
        named = [item_text.in_words(value) for value in one.values]
        listed = theme.listed(
            named[:3] if len(named) <= 3 else [*named[:2], f"{len(named) - 2} more"]
        )
        said = f"{start} is {listed.replace(' and ', ' or ')}" if named else ""
    else:
        said = f"{start} {_range_words(one, kind)}"
    if not one.missing:
        return said
    return f"{said}, or missing" if said else f"{start} is missing"


def _range_words(one: Filter, kind: str) -> str:
    low, high = (
        None if end is None else item_text.number_words(end, kind) for end in (one.low, one.high)
    )
    if low is None or high is None:
        return f"at least {low}" if low else f"at most {high}" if high else "has a value"
    return f"from {low} to {high}"


def only(rows: Sequence[int]) -> None:
    """Show these global rows only, within what other filters let pass."""
    state = session.workspace().state
    if state.data is not None:
        kept = [one for one in state.filters if one.kind != "rows"]
        _set([*kept, *only_rows(state.data, list(rows))])


def _form(state: State, data: HeteroData) -> None:
    names = list(data.datasets)
    name = names[0]
    if len(names) > 1:
        name = st.selectbox("Dataset", names, key="filter-dataset")
    none = f"{name} has no columns to filter by. Select items on the map instead."
    columns = item_text.offered(data, name, none, "filter")
    if not columns:
        return
    title = st.selectbox("Column", list(columns), format_func=spoken, key=f"filter-column-{name}")
    column = columns[title]
    key = f"filter-{name}-{title}"
    made = (_numbers if _is_range(column) else _values)(key, data, name, title, column)
    ready = made is not None
    with st.container(key="primary_filter"):
        st.button(
            "Add this filter",
            type="primary",
            key="add-filter",
            disabled=not ready,
            on_click=_set,
            args=([*state.filters, *([made] if made else [])],),
        )


def _is_range(column: Column) -> bool:
    return column.kind == "number" and len(np.unique(column.values)) > 12


def _values(key: str, data: HeteroData, name: str, title: str, column: Column) -> Filter | None:
    """Ask for values, or where there are too many of them, for a text."""
    counts = session.cached(
        ("counts", id(data), name, title),
        data,
        lambda: column_of(data, name, title).dropna().astype(str).value_counts(),
    )
    missing = _missing(key, column)
    if len(counts) > _MOST_VALUES or column.kind in ("text", "unique"):
        text = st.text_input("Contains", key=f"{key}-text", max_chars=200)
        base = Filter(name, title, "text", text=text.strip(), missing=missing)
        return base if base.text else None
    chosen = st.multiselect(
        "Is one of",
        list(counts.index),
        format_func=lambda value: f"{item_text.in_words(value)} ({counts[value]:,})",
        key=f"{key}-values",
        placeholder="Choose values",
    )
    return Filter(name, title, values=tuple(chosen), missing=missing) if chosen or missing else None


def _numbers(key: str, data: HeteroData, name: str, title: str, column: Column) -> Filter | None:
    present = column.values[~np.isnan(column.values)]
    low, high = float(present.min()), float(present.max())
    ends: tuple[float, float]
    if column.whole:
        ends = st.slider("From, to", int(low), int(high), (int(low), int(high)), key=f"{key}-range")
    else:
        # The slider rounds what it shows; its ends lie outside, so that nothing is lost at them.
        step = 10.0 ** math.floor(math.log10(high - low) - 2)
        first, last = math.floor(low / step) * step, math.ceil(high / step) * step
        ends = st.slider("From, to", first, last, (first, last), step, key=f"{key}-range")
    missing = _missing(key, column)
    bottom = None if ends[0] <= low else ends[0]
    top = None if ends[1] >= high else ends[1]
    if bottom is None and top is None and (missing or not column.n_missing):
        return None
    return Filter(name, title, "range", low=bottom, high=top, missing=missing)


def _missing(key: str, column: Column) -> bool:
    if not column.n_missing:
        return False
    return bool(st.checkbox(f"Keep the {column.n_missing:,} without a value", key=f"{key}-missing"))


def _set(filters: Sequence[Filter]) -> None:
    session.do(SetFilters(filters))
