"""Table of the labels of items, edited in place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from hetviz.data import HeteroData, Labels
from hetviz.data.queries.filters import fold_text
from hetviz.ui.guidance import editor
from hetviz.ui.guidance.table import PAGE_SIZE, choose_person
from hetviz.ui.item import item_chip
from hetviz.ui.item.item import find_item
from hetviz.ui.shell import session, theme
from hetviz.ui.widgets import pager
from hetviz.workspace import SetLabels

_MAX_ROWS = 14
_ALL, _UNKNOWN, _KNOWN = "all items", "without a label", "with a label"


def count_labels(data: HeteroData) -> int:
    """Return how many labels the items have."""
    return sum(int(label.known.sum()) for label in data.labels)


def show_labels(data: HeteroData) -> None:
    """Show a label column, or how to add one."""
    if not data.labels:
        theme.show_note("No labels yet. Start a label column with Add, then label the items here.")
        return
    with st.container(horizontal=True, key="label-filters"):
        label, rows = _choose_rows(data)
    _show_page(data, label, rows)


def _choose_rows(data: HeteroData) -> tuple[Labels, list[int]]:
    """Ask for a label column and a filter, and return the label with the matching rows."""
    position = st.selectbox(
        "Label",
        range(len(data.labels)),
        format_func=lambda k: f"{data.labels[k].name} of {data.labels[k].dataset}",
        key="label-table-column",
        label_visibility="collapsed",
        width=190,
    )
    label = data.labels[position]
    choice = st.selectbox(
        "Which",
        [_ALL, _UNKNOWN, _KNOWN, *map(str, label.classes)],
        key=f"label-which-{position}",
        label_visibility="collapsed",
        width=190,
    )
    people = _people(label)
    person = choose_person(
        sorted({name for names in people.values() for name in names}), "label-person"
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
    mask = np.ones(len(label), dtype=bool)
    if choice in (_KNOWN, _UNKNOWN):
        mask = label.known == (choice == _KNOWN)
    elif choice != _ALL:
        mask = np.array([str(value) == choice for value in label.values]) & label.known
    if person is not None:
        mask &= [
            person in people.get(row, {"": ""}) and label.known[row] for row in range(len(label))
        ]
    needle = fold_text(text.strip())
    if needle:
        mask &= [needle in fold_text(str(name)) for name in data[label.dataset].display_names]
    return label, np.flatnonzero(mask).tolist()


def _people(label: Labels) -> dict[int, dict[str, object]]:
    """Return the label of each person by row, for rows that people labelled with a name."""
    people: dict[int, dict[str, object]] = {}
    for row, value, who, _ in label.entries() if label.annotations is not None else ():
        people.setdefault(row, {})[who] = value
    return people


def _people_text(labels: Mapping[str, object]) -> str:
    """Return who labelled an item, with the labels if they differ."""
    if len(set(labels.values())) == 1:
        return theme.join_words([*filter(None, labels)])
    return ", ".join(f"{name or 'no name'}: {value}" for name, value in labels.items())


def _show_page(data: HeteroData, label: Labels, rows: list[int]) -> None:
    if not rows:
        theme.show_note("No item passes this filter.")
        return
    table_box = st.container()
    with st.container(horizontal=True, vertical_alignment="center", key="below-labels"):
        theme.show_note(f"{theme.count(len(rows), 'item')}. Double-click a label to edit it.")
        shown = pager.choose_rows(len(rows), PAGE_SIZE, "page-labels")
    with table_box:
        _show_table(data, label, rows[shown])


def _show_table(data: HeteroData, label: Labels, rows: list[int]) -> None:
    dataset = data[label.dataset]
    start = data.offsets[label.dataset].start
    frame = pd.DataFrame(index=pd.Index([str(dataset.ids[row]) for row in rows], name="key"))
    frame["face"] = [item_chip.picture_of(data, find_item(data, start + row)) for row in rows]
    frame["item"] = [str(dataset.display_names[row]) for row in rows]
    frame["label"] = ["" if label.values[row] is None else str(label.values[row]) for row in rows]
    columns: dict[str, Any] = {}
    if frame["face"].notna().any():
        columns["face"] = st.column_config.ImageColumn("", width=44)
    columns["item"] = st.column_config.TextColumn(dataset.name, width="medium")
    columns["label"] = st.column_config.TextColumn(label.name, width="medium", max_chars=200)
    people = _people(label)
    if people:
        frame["who"] = [_people_text(people.get(row, {"": ""})) for row in rows]
        columns["who"] = st.column_config.TextColumn("Added by", width="medium")
    editor.show_table(
        f"table-label-{label.dataset}-{label.name}",
        frame,
        columns,
        {"label"},
        lambda changes: _save(label, changes),
        _MAX_ROWS,
        f"Table of {theme.count(len(rows), 'item')} with their {label.name}",
    )


def _save(label: Labels, changes: Mapping[str, Mapping[str, Any]]) -> None:
    # Typed text becomes the existing value that reads the same, so numbers stay numbers.
    class_of_text = {str(value): value for value in label.classes}
    values = {
        key: class_of_text.get(cells["label"], cells["label"]) if cells["label"] else None
        for key, cells in changes.items()
    }
    session.run_command(SetLabels(label.dataset, label.name, values))
