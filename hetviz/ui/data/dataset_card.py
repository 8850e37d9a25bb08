"""The Data page's parts: a card for each dataset, what links them, what else is known."""

from __future__ import annotations

import numpy as np
import streamlit as st

from hetviz.data import Dataset, HeteroData
from hetviz.plots.colour import spoken
from hetviz.plots.palette import shape_of
from hetviz.ui.data import feature_table, joining, new_version, upload
from hetviz.ui.shell import session, theme
from hetviz.ui.widgets import failed
from hetviz.workspace import DropDataset, RenameDataset, State


def card(state: State, name: str) -> None:
    """Show one dataset: what it holds and how it is used; rename and remove."""
    data = _open(state)
    dataset = data[name]
    place = list(data.datasets).index(name)
    info = next((info for info in state.understood if info.dataset == name), None)
    with st.container(border=True, key=f"dataset-{place}"):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.html(
                f'<div class="hv-card"><h3>{shape_of(place)[1]} {theme.esc(name)}</h3></div>',
                width="content",
            )
            look_line = _line(dataset)
            st.html(f'<p class="hv-quiet">{theme.esc(look_line)}</p>', width="content")
            st.space("stretch")
            _actions(data, name, place)
        if info is not None:
            facts = [f"features: {upload.feature_words(info)}", info.id_words]
            if info.title_column:
                facts.append(f"named by {spoken(info.title_column)}")
            theme.quiet("; ".join(facts)[:1].upper() + "; ".join(facts)[1:] + ".")
        views = [other for other in data.views(dataset.entity) if other != name]
        if views:
            theme.quiet(f"Shows the same things as {theme.listed(views)}.")
        with failed.told(f"features-{place}"):
            feature_table.show(state, name, place)
        _problems(state, name, info.file if info else None)


def links_summary(state: State) -> None:
    """Show what is known of how items relate: links by pair of datasets, comparisons, labels."""
    data = _open(state)
    theme.section("What is known of how items relate")
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
        between = f"within {group.source}" if group.within else f"{group.source} – {group.target}"
        if not any(sign in "123456789" for sign in unlinked):
            unlinked = "none"
        together, apart = int((group.weight > 0).sum()), int((group.weight < 0).sum())
        signs = [f"{together:,} together"] * bool(together) + [f"{apart:,} apart"] * bool(apart)
        rows.append((f"{between}: {group.kind}", f"{', '.join(signs)}; without one: {unlinked}"))
    for name, words in rows:
        st.html(f'<div class="hv-card"><h3>{theme.esc(name)}</h3><p>{theme.esc(words)}</p></div>')
    if not rows:
        theme.quiet(
            "No links yet. Add a table with the columns source_id and target_id to say which items "
            "belong together."
        )
    facts = []
    if data.comparisons is not None:
        facts.append(("Comparisons (a is nearer to b than to c)", f"{len(data.comparisons):,}"))
    for label in data.labels:
        facts.append(
            (f"Label “{spoken(label.name)}” of {label.dataset}", f"{len(label.classes)} values")
        )
    if state.held_out is not None:
        kept = sum(map(len, state.held_out.links))
        facts.append(("Links kept aside to judge maps by", f"{kept:,}"))
    if facts:
        theme.pairs(facts)


def _line(dataset: Dataset) -> str:
    words = theme.count(len(dataset), "row")
    if dataset.X is not None:
        words += f", {theme.count(dataset.X.shape[1], 'feature')}"
    if dataset.kernel is not None:
        words += ", a kernel"
    if dataset.distance is not None:
        words += ", distances"
    if dataset.is_featureless:
        words += ", no features of its own"
    return words


def _actions(data: HeteroData, name: str, place: int) -> None:
    joining.same_things(data, name, place)
    new_version.offer(name, place)
    with st.popover("Edit", type="tertiary", key=f"edit-{place}"):
        key = f"new-name-{place}-{name}"
        st.text_input("New name", value=name, max_chars=200, key=key)
        st.button("Rename", key=f"do-rename-{place}", on_click=_rename, args=(name, key))
        if len(data.datasets) > 1:
            linked = sum(len(g) for g in data.links if name in (g.source, g.target))
            theme.quiet(
                f"Removed, {name} goes with {theme.count(linked, 'link')}. Undo brings all of it "
                "back."
            )
            st.button("Remove", key=f"do-remove-{place}", on_click=_drop, args=(name,))


def _drop(name: str) -> None:
    session.do(DropDataset(name))


def _rename(name: str, key: str) -> None:
    session.do(RenameDataset(name, str(st.session_state[key])))


def _problems(state: State, name: str, file: str | None) -> None:
    mine = [
        problem
        for problem in state.problems
        if (file is not None and problem.where.startswith(file)) or repr(name) in problem.where
    ]
    if mine:
        with st.expander(f"{theme.count(len(mine), 'thing')} noticed while reading"):
            upload.problem_table(mine)


def _open(state: State) -> HeteroData:
    assert state.data is not None  # noqa: S101 - the page asks only where data are open
    return state.data
