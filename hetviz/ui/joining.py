"""The Data page's ways to join datasets: as views of the same things, and by a shared key."""

from __future__ import annotations

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from hetviz.data import Dataset, HeteroData
from hetviz.data.matching import Match, match_by_key
from hetviz.errors import DataError
from hetviz.plots.text import short
from hetviz.ui import look, session
from hetviz.workspace import LinkByKey, SetEntity, State

_IDS = ""
_TOLD = 5


def same_things(data: HeteroData, name: str, place: int) -> None:
    """Ask whether a dataset shows the same things as another one."""
    others = [other for other in data.datasets if other != name]
    if not others:
        return
    with (
        st.popover("Same things", type="tertiary", key=f"same-{place}"),
        st.container(width=340, key=f"same-form-{place}"),
    ):
        look.quiet(
            "Two datasets can show the same things in two ways, as a picture and a text of one "
            "product. Rows with the same id are then one thing, and need no links."
        )
        entity = data[name].entity
        now = next((other for other in others if data[other].entity == entity), None)
        chosen = st.selectbox(
            f"{look.plain(name)}: the same things as",
            [None, *others],
            index=0 if now is None else 1 + others.index(now),
            format_func=lambda other: "none of the others" if other is None else str(other),
            key=f"same-as-{place}-{name}-{now}",
        )
        if chosen is not None:
            shared = int((data[chosen].find(data[name].ids) >= 0).sum())
            look.quiet(
                f"{shared:,} of {len(data[name]):,} {name} have an id that {chosen} has too."
            )
        st.button(
            "Apply",
            key=f"do-same-{place}",
            disabled=chosen == now,
            on_click=_say,
            args=(name, data[chosen].entity if chosen is not None else _alone(data, name)),
        )


def _alone(data: HeteroData, name: str) -> str:
    """Return an entity that no other dataset has."""
    taken = {other.entity for other in data.datasets.values() if other.name != name}
    entity = name
    while entity in taken:
        entity += " alone"
    return entity


def _say(name: str, entity: str) -> None:
    session.do(SetEntity(name, entity))


def by_key(state: State) -> None:
    """Ask for two datasets and a column of each whose equal values link their items."""
    data = state.data
    if data is None or len(data.datasets) < 2:
        return
    with st.expander("Link by a shared key"):
        look.quiet("Items are linked whose values are the same text in the two columns.")
        names = list(data.datasets)
        source = st.selectbox("First dataset", names, key="key-source")
        source_column = _column(data[source], "key-source")
        others = [name for name in names if name != source]
        target = st.selectbox("Second dataset", others, key=f"key-target-{source}")
        target_column = _column(data[target], "key-target")
        kind = st.text_input(
            "What to call these links",
            value="same id" if source_column == _IDS else f"same {short(source_column, 100)}",
            max_chars=150,
            key=f"key-kind-{source_column}",
        )
        match = _match(data, source, source_column, target, target_column)
        if match is not None:
            _preview(data, match)
        number = 0 if match is None else len(match.i)
        with st.container(key="primary_link"):
            st.button(
                f"Add {look.count(number, 'link')}" if number else "Add links",
                type="primary",
                key="do-link",
                disabled=not number or not kind.strip(),
                on_click=_link,
                args=(LinkByKey(source, source_column, target, target_column, kind.strip()),),
            )


def _column(dataset: Dataset, key: str) -> str:
    columns = [] if dataset.table is None else list(map(str, dataset.table.columns))
    return str(
        st.selectbox(
            "Its key",
            [_IDS, *columns],
            format_func=lambda column: column or "the ids",
            key=f"{key}-column-{dataset.name}",
        )
    )


def _match(
    data: HeteroData, source: str, source_column: str, target: str, target_column: str
) -> Match | None:
    key = ("match", id(data), source, source_column, target, target_column)
    try:
        return session.cached(
            key, data, lambda: match_by_key(data, source, source_column, target, target_column)
        )
    except DataError as error:
        st.warning(look.plain(error), icon=":material/warning:")
        return None


def _preview(data: HeteroData, match: Match) -> None:
    if not len(match.i):
        look.quiet("No value of the one occurs in the other. Choose other columns.")
        return
    joined = [
        f"{len(np.unique(rows)):,} of {len(data[name]):,} {name}"
        for name, rows in ((match.source, match.i), (match.target, match.j))
    ]
    look.quiet(f"{look.count(len(match.i), 'pair')}: {look.listed(joined)}.")
    for name, rows in ((match.source, match.source_alone), (match.target, match.target_alone)):
        if len(rows):
            look.quiet(f"Without a partner, {name}: {_some(data[name], rows)}.")


def _some(dataset: Dataset, rows: NDArray[np.int64]) -> str:
    """Name some rows, and count the others."""
    named = [short(str(dataset.titles[row]), 40) for row in rows[:_TOLD]]
    more = len(rows) - len(named)
    return ", ".join(named) + (f" and {more:,} more" if more else "")


def _link(command: LinkByKey) -> None:
    session.do(command)
