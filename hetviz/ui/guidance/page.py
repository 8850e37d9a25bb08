"""The Guidance page: all statements, how well the map meets them, and forms to add more."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import streamlit as st

from hetviz._text import per_hundred, round_percent
from hetviz.data import HeteroData
from hetviz.metrics.measure_names import CLOSE_MEANING
from hetviz.plots.curve import chance_of, share_close_at
from hetviz.ui.guidance import (
    add,
    ask_me,
    conflicts,
    curves,
    disagreements,
    group_table,
    label_table,
    table,
)
from hetviz.ui.guidance import file as guidance_file
from hetviz.ui.guidance.conflicts import report_of
from hetviz.ui.guidance.ledger import Ledger, ledger_of
from hetviz.ui.map_data import worker_results
from hetviz.ui.shell import background, session, theme
from hetviz.ui.shell.page_state import project_id, state_of
from hetviz.ui.statements import actions, consequences
from hetviz.ui.statements.statement_draft import StatementState
from hetviz.ui.widgets import charts, failure, set_switches
from hetviz.workspace import MapResult, RenameSet, State

if TYPE_CHECKING:
    import pandas as pd

_SETS_HEIGHT_PX = 260


def show(state: State, *, wide: bool, widen: Callable[[], None]) -> None:
    """Show the Guidance page, with the tables if `wide`; `widen` makes room for them."""
    data = state.opened()
    if guidance_file.is_pending():
        guidance_file.show_review(data)
        return
    ledger = None
    with failure.show_failure("ledger"):
        ledger = ledger_of(state)
    if ledger is None:
        is_waiting = worker_results.is_working(project_id())
        if is_waiting:
            ask_me.show_card(state)
        _show_headline(state, data)
        if is_waiting:
            theme.show_note("Preparing the table of links.")
        return
    if not wide:
        ask_me.show_card(state)
        _show_headline(state, data)
        if state.run is not None:
            consequences.show_consequences(state, state.run, "-guidance")
        _offer_refit(state)
        st.button("Open the table", key="guidance-wide", on_click=widen)
        _show_folded(state, data, ledger, has_unmet=state.run is not None)
        return
    left, right = st.columns([2.5, 1], gap="medium")
    with left:
        _show_headline(state, data)
        _show_tables(state, data, ledger)
    with right:
        ask_me.show_card(state)
        _show_folded(state, data, ledger)


def _show_folded(
    state: State, data: HeteroData, ledger: Ledger, *, has_unmet: bool = False
) -> None:
    """Show the contradictions, and folded: unmet links, sets and details."""
    conflicts.show_conflicts(state.guided or data, ledger)
    if has_unmet:
        with st.expander("Links still far"):
            curves.show_unmet(state, data, ledger, "link", curves.usual_point("link"))
    _show_sets(state, ledger)
    disagreements.show_people(state)
    with st.expander("Details"):
        if state.run is not None:
            _show_fit(state, state.run, data)
        _show_reach(data)


def _show_tables(state: State, data: HeteroData, ledger: Ledger) -> None:
    groups, n_links = ledger.groups, len(ledger.listed("link").rows)
    counts = {
        "link": ("Links", n_links),
        "group": ("Groups", len(groups)),
        "comparison": ("Comparisons", len(ledger.comparisons)),
        "label": ("Labels", label_table.count_labels(data)),
    }
    with st.container(horizontal=True, vertical_alignment="center", key="guidance-tools"):
        form = st.segmented_control(
            "Statements",
            list(counts),
            format_func=lambda key: f"{counts[key][0]} {counts[key][1]:,}",
            default="link",
            required=True,
            key="guidance-form",
            label_visibility="collapsed",
        )
        st.space("stretch")
        _offer_refit(state)
        add.show_popover(data)
        guidance_file.show_popover(data)
    if form == "label":
        label_table.show_labels(data)
    elif form == "group":
        group_table.show_groups(data, ledger)
    else:
        table.show_statements(data, ledger, form)
    if state.run is not None and form in ("link", "comparison"):
        curve_column, unmet_column = st.columns(2, gap="large")
        with curve_column:
            point = curves.show_curves(state, data, form)
        with unmet_column:
            curves.show_unmet(state, data, ledger, form, point)


def _show_reach(data: HeteroData) -> None:
    """Show how many items each kind of link reaches."""
    report = report_of(data)
    table = None if report is None else report.coverage
    if table is None or table.empty:
        return
    theme.show_section("Items with links")
    rows = []
    for row in table.to_dict("records"):
        within = row["source"] == row["target"]
        pair = f"within {row['source']}" if within else f"{row['source']} – {row['target']}"
        sides = [(row["source"], row["source_linked"], row["source_items"])]
        sides += [] if within else [(row["target"], row["target_linked"], row["target_items"])]
        links = f"{row['together']:,}" + (f" and {row['apart']:,} apart" if row["apart"] else "")
        items = ", ".join(
            f"{n_linked:,} of {n_items:,} {name}" for name, n_linked, n_items in sides
        )
        rows.append([pair, links if row["together"] or row["apart"] else "none", items])
    theme.show_table(["Datasets", "Links", "Items with a link"], rows, is_text=True)


def _show_sets(state: State, ledger: Ledger) -> None:
    """Show a switch for each set, with its number of statements."""
    sets = ledger.sets
    if sets.empty:
        return
    n_off = int((~sets["on"]).sum())
    label = "Sets of guidance" + (f": {n_off:,} off" if n_off else "")
    with st.expander(label, key="guidance-sets"):
        _show_switches(state, sets)


def _show_switches(state: State, sets: pd.DataFrame) -> None:
    theme.show_note("Each action makes a set. Switch a set off to make the map without it.")
    rows = [(str(name), int(number), bool(is_on)) for name, number, is_on in sets.to_numpy()]
    # The newest set first.
    set_switches.show_switches(rows[::-1], actions.switch_set, "sets", _SETS_HEIGHT_PX)
    st.toggle(
        "Refit after each change",
        value=actions.is_auto_refit(),
        key="refit-each",
        on_change=_on_refit_each,
    )
    if not actions.is_auto_refit() and state.run is not None and not state.is_current(state.run):
        st.button("Refit now", key="refit-now", on_click=actions.refit_now)
    with st.popover("Rename a set", type="tertiary", key="rename-set"):
        old = st.selectbox("Set", list(sets["set"]), key="rename-set-which")
        new = st.text_input("New name", max_chars=150, key=f"rename-set-to-{old}")
        st.button(
            "Rename",
            key="rename-set-do",
            disabled=not new.strip() or new.strip() == old,
            on_click=session.on_command,
            args=(RenameSet(str(old), new.strip()),),
        )


def _on_refit_each() -> None:
    state_of(StatementState).auto_refit = bool(st.session_state["refit-each"])


def _show_headline(state: State, data: HeteroData) -> None:
    """Show how well the map meets its guidance, in one sentence."""
    run = state.run
    if run is None:
        theme.show_headline(
            f"{_count_text(data)}, and no map yet", "Make a map to see how well it fits."
        )
        return
    figures = charts.run_figures(state, run)
    levels, scores = figures["curves"], figures["scores"]
    theme.show_headline("Does the map follow your guidance?")
    if "given" in levels:
        close_share = per_hundred(share_close_at(levels["given"]))
        theme.show_note(
            f"{close_share} % of your links ended up close together. "
            f"By chance it would be {round_percent(chance_of(levels['given']))}.",
            theme.evidence_key("links"),
        )
    elif "comparison_accuracy" in scores:
        theme.show_note(_comparison_text(scores), theme.evidence_key("comparisons"))
    else:
        theme.show_note(f"{_count_text(data)}.")


def _show_fit(state: State, run: MapResult, data: HeteroData) -> None:
    """Show the remaining facts on how well the map meets its guidance, with the curve."""
    figures = charts.run_figures(state, run)
    levels, scores = figures["curves"], figures["scores"]
    sentences = [f"{_count_text(data)}."]
    if "given" in levels:
        sentences += [charts.best_close_text(state, run), CLOSE_MEANING]
    if "held_out" in levels:
        sentences.append(
            f"Of the hidden links it is {round_percent(share_close_at(levels['held_out']))}."
        )
    if "given" in levels and "comparison_accuracy" in scores:
        sentences.append(_comparison_text(scores))
    if "comparison_accuracy_held_out" in scores:
        share = round_percent(scores["comparison_accuracy_held_out"])
        sentences.append(f"Of the hidden comparisons it agrees with {share}.")
    theme.show_note(" ".join(filter(None, sentences)))
    curves.show_small_curve(state)


def _comparison_text(scores: Mapping[str, float]) -> str:
    share = round_percent(scores["comparison_accuracy"])
    return f"The map agrees with {share} of the comparisons. By chance it would be 50 %."


def _count_text(data: HeteroData) -> str:
    parts = [
        theme.count(sum(map(len, data.links)), "link"),
        theme.count(0 if data.comparisons is None else len(data.comparisons), "comparison"),
        theme.count(label_table.count_labels(data), "label"),
    ]
    return theme.join_words([part for part in parts if not part.startswith("0 ")])


def _offer_refit(state: State) -> None:
    """Offer to refit the map if the guidance changed since it was made."""
    run = state.run
    if run is None or state.is_current(run) or background.running_job() is not None:
        return
    with st.container(key="primary_refit", width="content"):
        st.button(
            "Refit the map",
            type="primary",
            key="refit",
            help="Make the map again with the present guidance, starting from the present map.",
            on_click=_refit,
            args=(state,),
        )


def _refit(state: State) -> None:
    if not background.refit(state):
        session.add_message("This map cannot be refitted: its method is unknown here.")
