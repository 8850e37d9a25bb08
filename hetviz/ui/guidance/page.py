"""All that was said of how items relate, how far the map keeps it, and saying more."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from hetviz.data import HeteroData
from hetviz.ui.guidance import (
    add,
    ask_me,
    conflicts,
    curves,
    group_table,
    headline,
    label_table,
    reach,
    sets,
    table,
)
from hetviz.ui.guidance import file as guidance_file
from hetviz.ui.guidance.ledger import Ledger, ledger_of
from hetviz.ui.statements import outcome
from hetviz.workspace import State


def show(state: State, *, wide: bool, widen: Callable[[], None]) -> None:
    """Show guidance: what one acts on; with room also the tables. `widen` makes that room."""
    data = state.opened()
    if guidance_file.waits():
        guidance_file.account(data)
        return
    ledger = ledger_of(state)
    if not wide:
        headline.headline(state, data, ledger)
        if state.run is not None:
            outcome.show(state, state.run, "-guidance")
        headline.refit(state)
        st.button("Open the table", type="tertiary", key="guidance-wide", on_click=widen)
        if state.run is not None:
            curves.glance(state)
        _beside(state, data, ledger)
        if state.run is not None:
            curves.broken(state, data, ledger, "link", curves.usual("link"))
        return
    left, right = st.columns([2.5, 1], gap="medium")
    with left:
        headline.headline(state, data, ledger)
        _tables(state, data, ledger)
    with right:
        curves.glance(state, low=True)
        _beside(state, data, ledger)


def _beside(state: State, data: HeteroData, ledger: Ledger) -> None:
    ask_me.card(state)
    conflicts.show(state.guided or data, ledger)
    sets.show(state, ledger)
    reach.show(data)


def _tables(state: State, data: HeteroData, ledger: Ledger) -> None:
    groups = group_table.groups_of(data)
    alone = len(ledger.links) - sum(len(group.keys) for group in groups)
    counts = {
        "link": ("Links", alone),
        "group": ("Groups", len(groups)),
        "comparison": ("Comparisons", len(ledger.comparisons)),
        "label": ("Labels", label_table.count(data)),
    }
    with st.container(horizontal=True, vertical_alignment="center", key="guidance-tools"):
        form = st.segmented_control(
            "What was said",
            list(counts),
            format_func=lambda key: f"{counts[key][0]} {counts[key][1]:,}",
            default="link",
            required=True,
            key="guidance-form",
            label_visibility="collapsed",
        )
        st.space("stretch")
        headline.refit(state)
        add.offer(data)
        guidance_file.offer(data)
    if form == "label":
        label_table.show(data)
    elif form == "group":
        group_table.show(data, ledger)
    else:
        table.show(data, ledger, form)
    if state.run is not None and form in ("link", "comparison"):
        one, other = st.columns(2, gap="large")
        with one:
            read = curves.measured(state, data, form)
        with other:
            curves.broken(state, data, ledger, form, read)
