"""Labels: what group each item is in, edited in place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from hetviz.data import HeteroData, Labels
from hetviz.data.queries.filters import folded
from hetviz.ui.guidance import editor
from hetviz.ui.guidance.table import PAGE
from hetviz.ui.shell import session, theme
from hetviz.ui.widgets import item_chip, pager
from hetviz.ui.widgets.item_chip import item_at
from hetviz.workspace import SetLabels

_SEEN = 14
_ALL, _UNKNOWN, _KNOWN = "all items", "without a label", "with a label"


def count(data: HeteroData) -> int:
    """Return how many labels items have."""
    return sum(int(label.known.sum()) for label in data.labels)


def show(data: HeteroData) -> None:
    """Show a label column, or say how to have one."""
    if not data.labels:
        theme.quiet("No labels yet. Begin a column at Add; then write a label to each item here.")
        return
    with st.container(horizontal=True, key="label-filters"):
        label, rows = _asked(data)
    _page(data, label, rows)


def _asked(data: HeteroData) -> tuple[Labels, list[int]]:
    """Ask which label column and which of its items to show; return their rows."""
    place = st.selectbox(
        "Label",
        range(len(data.labels)),
        format_func=lambda k: f"{data.labels[k].name} of {data.labels[k].dataset}",
        key="label-table-column",
        label_visibility="collapsed",
        width=190,
    )
    label = data.labels[place]
    which = st.selectbox(
        "Which",
        [_ALL, _UNKNOWN, _KNOWN, *map(str, label.classes)],
        key=f"label-which-{place}",
        label_visibility="collapsed",
        width=190,
    )
    text = st.text_input(
        "Find",
        key="find-label",
        placeholder="Find an item",
        icon=":material/search:",
        label_visibility="collapsed",
        width=220,
        max_chars=100,
    )
    wanted = folded(text.strip())
    shown = np.ones(len(label), dtype=bool)
    if which in (_KNOWN, _UNKNOWN):
        shown = label.known == (which == _KNOWN)
    elif which != _ALL:
        shown = np.array([str(value) == which for value in label.values]) & label.known
    wanted = folded(text.strip())
    if wanted:
        shown &= [wanted in folded(str(name)) for name in data[label.dataset].titles]
    return label, np.flatnonzero(shown).tolist()


def _page(data: HeteroData, label: Labels, rows: list[int]) -> None:
    """Show some of the items with their labels."""
    if not rows:
        theme.quiet("No item fits this choice.")
        return
    pages = -(-len(rows) // PAGE)
    place = st.container()
    with st.container(horizontal=True, vertical_alignment="center", key="below-labels"):
        theme.quiet(f"{theme.count(len(rows), 'item')}. Double-click a label to change it.")
        number = pager.show(pages, f"page-labels-{pages}")
    part = rows[(number - 1) * PAGE : number * PAGE]
    with place:
        _table(data, label, part)


def _table(data: HeteroData, label: Labels, rows: list[int]) -> None:
    dataset = data[label.dataset]
    start = data.offsets[label.dataset].start
    frame = pd.DataFrame(index=pd.Index([str(dataset.ids[row]) for row in rows], name="key"))
    frame["face"] = [item_chip.picture_of(data, item_at(data, start + row)) for row in rows]
    frame["item"] = [str(dataset.titles[row]) for row in rows]
    frame["label"] = ["" if label.values[row] is None else str(label.values[row]) for row in rows]
    columns: dict[str, Any] = {}
    if frame["face"].notna().any():
        columns["face"] = st.column_config.ImageColumn("", width=44)
    columns["item"] = st.column_config.TextColumn(dataset.name, width="medium")
    columns["label"] = st.column_config.TextColumn(label.name, width="medium", max_chars=200)
    editor.table(
        f"table-label-{label.dataset}-{label.name}",
        frame,
        columns,
        {"label"},
        lambda changes: _save(label, changes),
        _SEEN,
        f"Table of {theme.count(len(rows), 'item')} with their {label.name}",
    )


def _save(label: Labels, changes: Mapping[str, Mapping[str, Any]]) -> None:
    # A label of numbers stays one: what was typed is taken for the value that reads the same.
    known = {str(value): value for value in label.classes}
    values = {
        key: known.get(cells["label"], cells["label"]) if cells["label"] else None
        for key, cells in changes.items()
    }
    session.do(SetLabels(label.dataset, label.name, values))
