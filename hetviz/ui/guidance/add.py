"""Forms that add links, comparisons and labels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import streamlit as st

from hetviz._text import shorten
from hetviz.data import Comparisons, HeteroData, Labels, Links
from hetviz.data.queries.search import search_names
from hetviz.errors import HetvizError
from hetviz.features.item_columns import group_values
from hetviz.features.relations.comparisons import (
    comparisons_from_hierarchy,
    comparisons_from_label,
    comparisons_from_rating,
)
from hetviz.features.relations.label_links import links_from_labels
from hetviz.metrics.conflicts.conflicts import find_new_conflicts
from hetviz.ui.guidance import sentences
from hetviz.ui.item import item_text
from hetviz.ui.item.item import find_item
from hetviz.ui.shell import navigation, session, theme
from hetviz.ui.statements import commands
from hetviz.workspace import Command, SetLabels
from hetviz.workspace.commands.guidance import statement_command

_LINK_FORM, _COMPARISON_FORM, _LABEL_FORM, _COLUMN_FORM = (
    "Two items",
    "Closer to",
    "Label",
    "From a column",
)
_MAX_LISTED = 3_000
_MAX_HITS = 40
_NAME_CHARS = 60
_MAX_PREVIEWED = 3
_LINKS, _COLUMN_LABEL = "same value: together", "same value: closer than another"
_RATING, _TREE = "similar numbers: closer than others", "same branch of a tree: closer"


def show_popover(data: HeteroData) -> None:
    """Show the button that opens the forms."""
    with st.popover("Add", icon=":material/add:", key="add"), st.container(width=380):
        form = st.segmented_control(
            "What to add",
            [_LINK_FORM, _COMPARISON_FORM, _LABEL_FORM, _COLUMN_FORM],
            default=_LINK_FORM,
            required=True,
            key="add-way",
            label_visibility="collapsed",
        )
        if form == _LINK_FORM:
            _link_form(data)
        elif form == _COMPARISON_FORM:
            _comparison_form(data)
        elif form == _LABEL_FORM:
            _label_form(data)
        else:
            _column_form(data)


def _link_form(data: HeteroData) -> None:
    first = _choose_item(data, "One item", "add-p")
    second = _choose_item(data, "The other item", "add-q")
    weight = st.slider(
        "−1 apart, 1 together", -1.0, 1.0, 1.0, 0.05, key="add-weight",
    )  # fmt: skip
    note = st.text_input("Note", max_chars=500, key="add-note")
    links: list[Links] = []
    if first is not None and second is not None and first != second and weight:
        p, q = find_item(data, first), find_item(data, second)
        links = [Links(p.dataset.name, q.dataset.name, [p.row], [q.row], weight)]
    elif first is not None and first == second:
        theme.show_note("Choose two different items.")
    _warn_of_conflict(data, links)
    command = statement_command(data, links, note=note.strip()) if links else None
    _submit_button("Add the link", "add-link", command)
    navigation.show_link("data", "Link many by a shared key, on the Data page")


def _comparison_form(data: HeteroData) -> None:
    rows = [
        _choose_item(data, "This item", "add-a"),
        _choose_item(data, "is closer to", "add-b"),
        _choose_item(data, "than to", "add-c"),
    ]
    note = st.text_input("Note", max_chars=500, key="add-compared-note")
    chosen = [row for row in rows if row is not None]
    command: Command | None = None
    if len(chosen) == 3 and len(set(chosen)) == 3:
        comparison = Comparisons([chosen])
        _warn_of_conflict(data, [comparison])
        command = statement_command(data, comparison, note=note.strip())
    elif len(set(chosen)) < len(chosen):
        theme.show_note("Choose three different items.")
    _submit_button("Add the comparison", "add-comparison", command)


def _warn_of_conflict(data: HeteroData, parts: Sequence[Links | Comparisons]) -> None:
    """Warn of statements that the new one contradicts."""
    for conflict in find_new_conflicts(data, parts)[:1] if parts else []:
        st.warning(theme.escape_markdown(f"This contradicts: {conflict.sentence}"))


def _label_form(data: HeteroData) -> None:
    theme.show_note("A new label column starts with its first item.")
    row = _choose_item(data, "Item", "add-labelled")
    column = st.text_input(
        "Label column", commands.own_label_column(data), max_chars=100, key="add-label-column"
    )
    value = st.text_input("Its label", max_chars=200, key="add-label-value")
    command: Command | None = None
    if row is not None and column.strip() and value.strip():
        item = find_item(data, row)
        values = {str(item.dataset.ids[item.row]): value.strip()}
        command = SetLabels(item.dataset.name, column.strip(), values)
    _submit_button("Set the label", "add-label", command)


def _submit_button(label: str, key: str, command: Command | None) -> None:
    with st.container(key=f"primary_{key}"):
        st.button(
            label,
            type="primary",
            key=key,
            disabled=command is None,
            on_click=session.on_command,
            args=(command,),
        )


def _choose_item(data: HeteroData, label: str, key: str) -> int | None:
    """Ask for an item and return its global row."""
    names: Sequence[str] | dict[int, str]
    if data.n_rows <= _MAX_LISTED:
        options = list(range(data.n_rows))
        # Streamlit asks for the names of all items in each run.
        names = session.get_or_compute(
            ("names to choose from", *map(id, data.datasets.values())),
            data,
            lambda: [_name(data, row) for row in options],
        )
    else:
        text = st.text_input(f"{label}: its name", key=f"{key}-text", max_chars=100)
        options = search_names(data, text, _MAX_HITS).best
        names = {row: _name(data, row) for row in options}
        if text.strip() and not options:
            theme.show_note("No item has this name.")
    row: int | None = st.selectbox(
        label,
        options,
        index=None if data.n_rows <= _MAX_LISTED else 0 if options else None,
        format_func=names.__getitem__,
        placeholder="Type a name",
        key=f"{key}-row",
    )
    return row


def _name(data: HeteroData, row: int) -> str:
    item = find_item(data, row)
    return f"{item.glyph} {shorten(item.title, _NAME_CHARS)}"


def _column_form(data: HeteroData) -> None:
    """Ask for a column to derive statements from, with examples."""
    dataset = str(st.selectbox("Dataset", list(data.datasets), key="derive-dataset"))
    no_columns = f"{dataset} has neither labels nor columns."
    columns = item_text.choosable_columns(data, dataset, no_columns, "add")
    if not columns:
        return
    column = str(st.selectbox("Column", list(columns), key=f"derive-column-{dataset}"))
    is_number = columns[column].kind in ("number", "date")
    has_groups = group_values(columns[column]) is not None
    methods = [_LINKS, _COLUMN_LABEL] * has_groups + ([_RATING] if is_number else [_TREE])
    method = str(st.selectbox("Rule", methods, key=f"derive-way-{is_number}-{has_groups}"))
    separator = ">"
    if method == _TREE:
        separator = st.text_input(
            "Separator of tree levels, as in animal > cat", ">", max_chars=5, key="derive-sep"
        )
    try:
        command, statements = _derived(data, dataset, column, method, separator)
    except HetvizError as error:
        theme.show_note(str(error))
        return
    _show_examples(data, statements)
    n_statements = len(statements)
    noun = "link" if isinstance(statements, Links) else "comparison"
    with st.container(key="primary_derive"):
        st.button(
            f"Add {theme.count(n_statements, noun)}",
            type="primary",
            key="do-derive",
            disabled=not n_statements,
            on_click=session.on_command,
            args=(command,),
        )


def _derived(
    data: HeteroData, dataset: str, column: str, method: str, separator: str
) -> tuple[Command, Links | Comparisons]:
    name = f"from {column}"
    if method == _LINKS:
        n_typical = st.slider("Typical items of each value", 2, 15, 3, key="derive-each")
        with_apart = st.checkbox("Also push different values apart", key="derive-apart")
        links = session.get_or_compute(
            ("derived", id(data), dataset, column, n_typical, with_apart),
            data,
            lambda: links_from_labels(
                _with_label(data, dataset, column), column, n_typical, with_apart, dataset=dataset
            ),
        )
        return statement_command(data, [links], set=name), links
    max_comparisons = st.select_slider(
        "At most", [50, 100, 200, 500, 1000, 2000], 200, key="derive-most"
    )
    derive: Callable[..., Comparisons]
    if method == _COLUMN_LABEL:
        derive = comparisons_from_label
    elif method == _RATING:
        derive = comparisons_from_rating
    else:
        derive = partial(comparisons_from_hierarchy, separator=separator)
    comparisons = session.get_or_compute(
        ("derived", id(data), dataset, column, method, max_comparisons, separator),
        data,
        lambda: derive(data, dataset, column, n_comparisons=max_comparisons),
    )
    return statement_command(data, comparisons, set=name), comparisons


def _with_label(data: HeteroData, dataset: str, column: str) -> HeteroData:
    if any((label.dataset, label.name) == (dataset, column) for label in data.labels):
        return data
    values = group_values(item_text.columns_of(data, dataset)[column])
    label = Labels(dataset, column, [] if values is None else values)
    return HeteroData(data.datasets, data.links, data.comparisons, [*data.labels, label])


def _show_examples(data: HeteroData, statements: Links | Comparisons) -> None:
    """Show the first statements that would be added."""
    rows: list[dict[str, object]]
    if isinstance(statements, Links):
        p, q = data.offsets[statements.source].start, data.offsets[statements.target].start
        rows = [
            {"form": "link", "p": p + i, "q": q + j, "weight": weight}
            for i, j, weight in zip(statements.i, statements.j, statements.weight, strict=True)
        ][:_MAX_PREVIEWED]
    else:
        rows = [
            {"form": "comparison", **dict(zip("abcd", pair, strict=True))}
            for pair in statements.pairs[:_MAX_PREVIEWED]
        ]
    st.html(
        "".join(f'<p class="hv-statement">{sentences.sentence_html(data, row)}</p>' for row in rows)
    )
    n_others = len(statements) - len(rows)
    if n_others > 0:
        theme.show_note(f"… and {n_others:,} more. They form one set that you can switch off.")
