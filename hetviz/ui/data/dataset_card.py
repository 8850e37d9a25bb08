"""Dataset cards and the relations between items, on the Data page."""

from __future__ import annotations

import numpy as np
import streamlit as st

from hetviz._text import capital
from hetviz.data import Dataset, HeteroData
from hetviz.plots.colour import display_name
from hetviz.plots.palette import shape_of
from hetviz.ui.data import feature_table, join_panel, new_version
from hetviz.ui.shell import session, theme
from hetviz.ui.widgets import failure
from hetviz.workspace import DropDataset, RenameDataset, State


def show_card(state: State, name: str) -> None:
    """Show one dataset with its size, features and actions."""
    data = _opened(state)
    dataset = data[name]
    number = list(data.datasets).index(name)
    info = next((info for info in state.understood if info.dataset == name), None)
    with st.container(border=True, key=f"dataset-{number}"):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.html(
                f'<div class="hv-card"><h2>{shape_of(number)[1]} '
                f"{theme.escape_html(name)}</h2></div>",
                width="content",
            )
            size = _size_text(dataset)
            st.html(f'<p class="hv-quiet">{theme.escape_html(size)}</p>', width="content")
            st.space("stretch")
            _show_actions(data, name, number)
        if info is not None:
            facts = [f"features: {info.features or 'no features'}", info.id_words]
            if info.title_column:
                facts.append(f"named by {display_name(info.title_column)}")
            theme.show_note(capital("; ".join(facts)) + ".")
        views = [other for other in data.views(dataset.entity) if other != name]
        if views:
            theme.show_note(f"Shows the same items as {theme.join_words(views)}.")
        with failure.show_failure(f"features-{number}"):
            feature_table.show_features(state, name, number)
        _show_problems(state, name, info.file if info else None)


def show_relations(state: State) -> None:
    """Show the links by pair of datasets, the comparisons and the labels."""
    data = _opened(state)
    rows = []
    for group in data.links:
        linked_i = len(np.unique(group.i))
        linked_j = len(np.unique(group.j))
        if group.within:
            linked_i = len(np.unique(np.concatenate([group.i, group.j])))
            unlinked = f"{len(data[group.source]) - linked_i:,} {group.source}"
        else:
            unlinked = (
                f"{len(data[group.source]) - linked_i:,} {group.source}, "
                f"{len(data[group.target]) - linked_j:,} {group.target}"
            )
        ends = f"within {group.source}" if group.within else f"{group.source} – {group.target}"
        if not any(sign in "123456789" for sign in unlinked):
            unlinked = "none"
        together, apart = int((group.weight > 0).sum()), int((group.weight < 0).sum())
        signs = [f"{together:,} together"] * bool(together) + [f"{apart:,} apart"] * bool(apart)
        rows.append((f"{ends}: {group.kind}", f"{', '.join(signs)}. Without a link: {unlinked}"))
    for name, words in rows:
        st.html(
            "<div "
            f'class="hv-card"><h2>{theme.escape_html(name)}</h2><p>{theme.escape_html(words)}</p></div>'
        )
    if not rows:
        theme.show_note(
            "No links yet. Add a table with the columns source_id and target_id to link items."
        )
    facts = []
    if data.comparisons is not None:
        facts.append(("Comparisons (a is closer to b than to c)", f"{len(data.comparisons):,}"))
    for label in data.labels:
        facts.append(
            (
                f"Label “{display_name(label.name)}” of {label.dataset}",
                f"{len(label.classes)} values",
            )
        )
    if state.held_out is not None:
        n_hidden = sum(map(len, state.held_out.links))
        facts.append(("Hidden links to judge maps by", f"{n_hidden:,}"))
    if facts:
        theme.show_pairs(facts)


def _size_text(dataset: Dataset) -> str:
    words = theme.count(len(dataset), "row")
    if dataset.X is not None:
        words += f", {theme.count(dataset.X.shape[1], 'feature')}"
    if dataset.kernel is not None:
        words += ", a kernel"
    if dataset.distance is not None:
        words += ", distances"
    if dataset.is_featureless:
        words += ", no features"
    return words


def _show_actions(data: HeteroData, name: str, number: int) -> None:
    join_panel.same_items_popover(data, name, number)
    new_version.version_popover(name, number)
    with st.popover("Edit", type="tertiary", key=f"edit-{number}"):
        key = f"new-name-{number}-{name}"
        st.text_input("New name", value=name, max_chars=200, key=key)
        st.button("Rename", key=f"do-rename-{number}", on_click=_rename, args=(name, key))
        if len(data.datasets) > 1:
            n_links = sum(len(g) for g in data.links if name in (g.source, g.target))
            theme.show_note(
                f"Removing {name} also removes {theme.count(n_links, 'link')}. You can undo it."
            )
            st.button(
                "Remove",
                key=f"do-remove-{number}",
                on_click=session.on_command,
                args=(DropDataset(name),),
            )


def _rename(name: str, key: str) -> None:
    session.run_command(RenameDataset(name, str(st.session_state[key])))


def _show_problems(state: State, name: str, file: str | None) -> None:
    own_problems = [
        problem
        for problem in state.problems
        if (file is not None and problem.where.startswith(file)) or repr(name) in problem.where
    ]
    if own_problems:
        with st.expander(f"{theme.count(len(own_problems), 'note')} from reading the file"):
            failure.show_problems(own_problems)


def _opened(state: State) -> HeteroData:
    assert state.data is not None  # noqa: S101 - called only with open data
    return state.data
