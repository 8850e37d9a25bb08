"""Saying something new: two items together or apart, one nearer to this than to that."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from hetviz._text import short
from hetviz.data import Comparisons, HeteroData, Labels, Links
from hetviz.data.edits.by_id import comparisons_by_id, links_by_id
from hetviz.errors import HetvizError
from hetviz.features.known import groups_of
from hetviz.features.relations.comparisons import (
    comparisons_from_hierarchy,
    comparisons_from_label,
    comparisons_from_rating,
)
from hetviz.features.relations.label_links import links_from_labels
from hetviz.metrics.conflicts.conflicts import would_contradict
from hetviz.ui.guidance import sentences
from hetviz.ui.map.search import search
from hetviz.ui.shell import session, theme
from hetviz.ui.shell.paths import PAGES
from hetviz.ui.statements import commands
from hetviz.ui.widgets import item_chip, item_text
from hetviz.workspace import AddComparisons, AddLinks, Command, SetLabels

_LINK, _COMPARISON, _LABEL, _COLUMN = "Two items", "Nearer to", "Label", "From a column"
_MOST_LISTED = 3_000
_MOST_FOUND = 40
_NAME = 60
_PREVIEWED = 3
_LINKS, _COLUMN_LABEL = "same value: together", "same value: nearer than another"
_RATING, _TREE = "like numbers: nearer than unlike", "same branch of a tree: nearer"


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
            _from_column(data)


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


def _from_column(data: HeteroData) -> None:
    """Ask for a column and what it says; show how much that makes before it is added."""
    dataset = str(st.selectbox("Dataset", list(data.datasets), key="derive-dataset"))
    none = f"{dataset} has neither labels nor columns."
    columns = item_text.offered(data, dataset, none, "add")
    if not columns:
        return
    column = str(st.selectbox("Column", list(columns), key=f"derive-column-{dataset}"))
    numbers = columns[column].kind in ("number", "date")
    groups = groups_of(columns[column]) is not None
    ways = [_LINKS, _COLUMN_LABEL] * groups + ([_RATING] if numbers else [_TREE])
    way = str(st.selectbox("What it says", ways, key=f"derive-way-{numbers}-{groups}"))
    separator = ">"
    if way == _TREE:
        separator = st.text_input(
            "Between the steps of the tree, as in animal > cat", ">", max_chars=5, key="derive-sep"
        )
    try:
        command, shown = _made(data, dataset, column, way, separator)
    except HetvizError as error:
        theme.quiet(str(error))
        return
    _preview(data, shown)
    number = len(shown)
    with st.container(key="primary_derive"):
        st.button(
            f"Add {theme.count(number, 'link' if isinstance(shown, Links) else 'comparison')}",
            type="primary",
            key="do-derive",
            disabled=not number,
            on_click=_derive,
            args=(command,),
        )


def _made(
    data: HeteroData, dataset: str, column: str, way: str, separator: str
) -> tuple[Command, Links | Comparisons]:
    name = f"from {column}"
    if way == _LINKS:
        each = st.slider("Typical items of each value", 2, 15, 3, key="derive-each")
        apart = st.checkbox("And different values apart", key="derive-apart")
        links = session.cached(
            ("derived", id(data), dataset, column, each, apart),
            data,
            lambda: links_from_labels(
                _labelled(data, dataset, column), column, each, apart, dataset=dataset
            ),
        )
        return _links(data, links, name), links
    most = st.select_slider("At most", [50, 100, 200, 500, 1000, 2000], 200, key="derive-most")
    draw: Callable[[], Comparisons]
    if way == _COLUMN_LABEL:
        draw = lambda: comparisons_from_label(data, dataset, column, n_comparisons=most)  # noqa: E731
    elif way == _RATING:
        draw = lambda: comparisons_from_rating(data, dataset, column, n_comparisons=most)  # noqa: E731
    else:
        draw = lambda: comparisons_from_hierarchy(  # noqa: E731
            data, dataset, column, separator=separator, n_comparisons=most
        )
    compared = session.cached(
        ("derived", id(data), dataset, column, way, most, separator), data, draw
    )
    return AddComparisons(_rows(data, compared), set=name), compared


def _derive(command: Command) -> None:
    session.do(command)


def _labelled(data: HeteroData, dataset: str, column: str) -> HeteroData:
    """Return data in which a column is a label."""
    if any((label.dataset, label.name) == (dataset, column) for label in data.labels):
        return data
    values = groups_of(item_text.columns_of(data, dataset)[column])
    label = Labels(dataset, column, [] if values is None else values)
    return HeteroData(data.datasets, data.links, data.comparisons, [*data.labels, label])


def _links(data: HeteroData, links: Links, name: str) -> AddLinks:
    source, target = data[links.source].ids[links.i], data[links.target].ids[links.j]
    pairs = [[str(p), str(q)] for p, q in zip(source, target, strict=True)]
    return AddLinks(
        links.source, links.target, pairs, links.weight.tolist(), kind=links.kind, set=name
    )


def _rows(data: HeteroData, compared: Comparisons) -> list[list[list[str]]]:
    return [
        [
            [item.dataset.name, str(item.dataset.ids[item.row])]
            for item in (item_chip.item_at(data, int(row)) for row in objects)
        ]
        for objects in compared.objects
    ]


def _preview(data: HeteroData, shown: Links | Comparisons) -> None:
    """Show the first few of what would be added."""
    rows: list[dict[str, object]]
    if isinstance(shown, Links):
        p, q = data.offsets[shown.source].start, data.offsets[shown.target].start
        rows = [
            {"form": "link", "p": p + i, "q": q + j, "weight": weight}
            for i, j, weight in zip(shown.i, shown.j, shown.weight, strict=True)
        ][:_PREVIEWED]
    else:
        rows = [
            {"form": "comparison", **dict(zip("abcd", pair, strict=True))}
            for pair in shown.pairs[:_PREVIEWED]
        ]
    st.html("".join(f'<p class="hv-statement">{sentences.sentence(data, row)}</p>' for row in rows))
    more = len(shown) - len(rows)
    if more > 0:
        theme.quiet(f"… and {more:,} more. They make one set, which can be switched off.")
