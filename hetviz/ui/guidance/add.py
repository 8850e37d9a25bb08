"""Saying something new: two items together or apart, one nearer to this than to that."""

from __future__ import annotations

import streamlit as st

from hetviz._text import short
from hetviz.data import HeteroData
from hetviz.data.edits.by_id import comparisons_by_id, links_by_id
from hetviz.metrics.conflicts.conflicts import would_contradict
from hetviz.ui.guidance import derive
from hetviz.ui.map.search import search
from hetviz.ui.shell import session, theme
from hetviz.ui.shell.paths import PAGES
from hetviz.ui.statements import commands
from hetviz.ui.widgets import item_chip
from hetviz.workspace import AddComparisons, AddLinks, Command, SetLabels

_LINK, _COMPARISON, _LABEL, _COLUMN = "Two items", "Nearer to", "Label", "From a column"
_MOST_LISTED = 3_000
_MOST_FOUND = 40
_NAME = 60


def offer(data: HeteroData) -> None:
    """Offer the forms."""
    with st.popover("Add", icon=":material/add:", key="add"), st.container(width=380):
        way = st.segmented_control(
            "What to add",
            [_LINK, _COMPARISON, _LABEL, _COLUMN],
            default=_LINK,
            required=True,
            key="add-way",
            label_visibility="collapsed",
        )
        if way == _LINK:
            _link(data)
        elif way == _COMPARISON:
            _comparison(data)
        elif way == _LABEL:
            _label(data)
        else:
            derive.form(data)


def _link(data: HeteroData) -> None:
    first = _item(data, "One item", "add-p")
    second = _item(data, "The other item", "add-q")
    weight = st.slider(
        "−1 apart, 1 together", -1.0, 1.0, 1.0, 0.05, key="add-weight",
    )  # fmt: skip
    note = st.text_input("Note", max_chars=500, key="add-note")
    command: AddLinks | None = None
    if first is not None and second is not None and first != second and weight:
        p, q = item_chip.item_at(data, first), item_chip.item_at(data, second)
        command = AddLinks(
            p.dataset.name,
            q.dataset.name,
            [[str(p.dataset.ids[p.row]), str(q.dataset.ids[q.row])]],
            weight,
            note=note.strip(),
        )
    elif first is not None and first == second:
        theme.quiet("An item is not linked to itself: choose two.")
    _warn(data, command)
    _button("Add the link", "add-link", command)
    st.page_link(
        PAGES / "data.py",
        label="Link many by a shared key, on the Data page",
        query_params=session.address(),
    )


def _comparison(data: HeteroData) -> None:
    rows = [
        _item(data, "This item", "add-a"),
        _item(data, "is nearer to", "add-b"),
        _item(data, "than to", "add-c"),
    ]
    note = st.text_input("Note", max_chars=500, key="add-compared-note")
    known = [row for row in rows if row is not None]
    command: AddComparisons | None = None
    if len(known) == 3 and len(set(known)) == 3:
        items = [item_chip.item_at(data, row) for row in known]
        command = AddComparisons(
            [[[item.dataset.name, str(item.dataset.ids[item.row])] for item in items]],
            note=note.strip(),
        )
    elif len(set(known)) < len(known):
        theme.quiet("Three different items are needed.")
    _warn(data, command)
    _button("Add the comparison", "add-comparison", command)


def _warn(data: HeteroData, command: AddLinks | AddComparisons | None) -> None:
    """Say what the new statement would contradict, before it is said."""
    if command is None:
        return
    if isinstance(command, AddLinks):
        ends = command.source, command.target, command.pairs, command.weight
        found = would_contradict(data, links_by_id(data, *ends, kind=command.kind))
    else:
        found = would_contradict(data, comparisons_by_id(data, command.rows, command.weight))
    for conflict in found[:1]:
        st.warning(theme.plain(f"This contradicts: {conflict.sentence}"))


def _label(data: HeteroData) -> None:
    theme.quiet("A label column that is not there yet is begun with the first item.")
    row = _item(data, "Item", "add-labelled")
    column = st.text_input(
        "Label column", commands.own_column(data), max_chars=100, key="add-label-column"
    )
    value = st.text_input("Its label", max_chars=200, key="add-label-value")
    command: Command | None = None
    if row is not None and column.strip() and value.strip():
        found = item_chip.item_at(data, row)
        values = {str(found.dataset.ids[found.row]): value.strip()}
        command = SetLabels(found.dataset.name, column.strip(), values)
    _button("Set the label", "add-label", command)


def _button(label: str, key: str, command: Command | None) -> None:
    with st.container(key=f"primary_{key}"):
        st.button(
            label,
            type="primary",
            key=key,
            disabled=command is None,
            on_click=_do,
            args=(command,),
        )


def _do(command: Command) -> None:
    session.do(command)


def _item(data: HeteroData, label: str, key: str) -> int | None:
    """Ask for an item; return its global row."""
    if data.n_rows <= _MOST_LISTED:
        options = list(range(data.n_rows))
    else:
        text = st.text_input(f"{label}: its name", key=f"{key}-text", max_chars=100)
        options = search(data, text, _MOST_FOUND)
        if text.strip() and not options:
            theme.quiet("No item is called that.")
    row: int | None = st.selectbox(
        label,
        options,
        index=None if data.n_rows <= _MOST_LISTED else 0 if options else None,
        format_func=lambda row: _name(data, row),
        placeholder="Type a name",
        key=f"{key}-row",
    )
    return row


def _name(data: HeteroData, row: int) -> str:
    found = item_chip.item_at(data, row)
    return f"{found.glyph} {short(found.title, _NAME)}"
