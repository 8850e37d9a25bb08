"""Guidance from a column that people have: links within groups, comparisons by tree or number."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from hetviz.data import Comparisons, HeteroData, Labels, Links
from hetviz.errors import HetvizError
from hetviz.features.known import groups_of
from hetviz.features.relations.comparisons import (
    comparisons_from_hierarchy,
    comparisons_from_label,
    comparisons_from_rating,
)
from hetviz.features.relations.label_links import links_from_labels
from hetviz.ui.guidance import sentences
from hetviz.ui.shell import session, theme
from hetviz.ui.widgets import item_chip, item_text
from hetviz.workspace import AddComparisons, AddLinks, Command

_PREVIEWED = 3
_LINKS, _LABEL = "same value: together", "same value: nearer than another"
_RATING, _TREE = "like numbers: nearer than unlike", "same branch of a tree: nearer"


def form(data: HeteroData) -> None:
    """Ask for a column and what it says; show how much that makes before it is added."""
    dataset = str(st.selectbox("Dataset", list(data.datasets), key="derive-dataset"))
    columns = item_text.columns_of(data, dataset)
    if item_text.while_read(data, dataset):
        theme.quiet(f"The columns of {dataset} are being read.")
        return
    if not columns:
        theme.quiet(f"{dataset} has neither labels nor columns.")
        return
    column = str(st.selectbox("Column", list(columns), key=f"derive-column-{dataset}"))
    numbers = columns[column].kind in ("number", "date")
    groups = groups_of(columns[column]) is not None
    ways = [_LINKS, _LABEL] * groups + ([_RATING] if numbers else [_TREE])
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
            on_click=_do,
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
    if way == _LABEL:
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


def _do(command: Command) -> None:
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
