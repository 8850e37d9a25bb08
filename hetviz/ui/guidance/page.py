"""All that was said of how items relate, how far the map keeps it, and saying more."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from hetviz._text import per_hundred, rounded
from hetviz.data import HeteroData
from hetviz.plots.curve import LOOK_AT, kept_at
from hetviz.ui.guidance import add, ask_me, conflicts, curves, group_table, label_table, table
from hetviz.ui.guidance import file as guidance_file
from hetviz.ui.guidance.conflicts import report_of
from hetviz.ui.guidance.ledger import Ledger, ledger_of
from hetviz.ui.map import away
from hetviz.ui.shell import background, session, theme
from hetviz.ui.statements import draft, outcome
from hetviz.ui.widgets import charts, failed, set_switches
from hetviz.workspace import RenameSet, State

_HEIGHT = 260


def show(state: State, *, wide: bool, widen: Callable[[], None]) -> None:
    """Show guidance: what one acts on; with room also the tables. `widen` makes that room."""
    data = state.opened()
    if guidance_file.waits():
        guidance_file.account(data)
        return
    ledger = None
    with failed.told("ledger"):
        ledger = ledger_of(state)
    if ledger is None:
        _headline(state, data)
        if not away.at_work(background.owner()):
            return
        theme.quiet("The links are being put in order: the table is here in a moment.")
        ask_me.card(state)
        return
    if not wide:
        _headline(state, data)
        if state.run is not None:
            outcome.show(state, state.run, "-guidance")
        _offer_refit(state)
        st.button("Open the table", type="tertiary", key="guidance-wide", on_click=widen)
        if state.run is not None:
            curves.glance(state)
        _beside(state, data, ledger)
        if state.run is not None:
            curves.broken(state, data, ledger, "link", curves.usual("link"))
        return
    left, right = st.columns([2.5, 1], gap="medium")
    with left:
        _headline(state, data)
        _tables(state, data, ledger)
    with right:
        curves.glance(state, low=True)
        _beside(state, data, ledger)


def _beside(state: State, data: HeteroData, ledger: Ledger) -> None:
    ask_me.card(state)
    conflicts.show(state.guided or data, ledger)
    _sets(state, ledger)
    _reach(data)


def _tables(state: State, data: HeteroData, ledger: Ledger) -> None:
    groups, alone = ledger.groups, len(ledger.listed("link").rows)
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
        _offer_refit(state)
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


def _reach(data: HeteroData) -> None:
    """Show a table of the datasets that links join, and of those that none do."""
    report = report_of(data)
    table = None if report is None else report.coverage
    if table is None or table.empty:
        return
    with st.expander("How far the links reach"):
        rows = []
        for row in table.to_dict("records"):
            within = row["source"] == row["target"]
            pair = f"within {row['source']}" if within else f"{row['source']} – {row['target']}"
            reached = [(row["source"], row["source_linked"], row["source_items"])]
            reached += (
                [] if within else [(row["target"], row["target_linked"], row["target_items"])]
            )
            links = f"{row['together']:,}" + (
                f" and {row['apart']:,} apart" if row["apart"] else ""
            )
            items = "; ".join(f"{some:,} of {all_:,} {name}" for name, some, all_ in reached)
            rows.append([pair, links if row["together"] or row["apart"] else "none", items])
        theme.table(["Datasets", "Links", "Items that have one"], rows, words=True)


def _sets(state: State, ledger: Ledger) -> None:
    """Show a switch for each set, with how many statements it holds."""
    sets = ledger.sets
    if sets.empty:
        return
    off = int((~sets["on"]).sum())
    theme.section("What counts", f"{theme.count(off, 'set')} off" if off else "")
    theme.quiet("What one action said is a set. Switch one off, and the map goes without it.")
    rows = [(str(name), int(number), bool(on)) for name, number, on in sets.to_numpy()]
    # The newest is what one would try first.
    set_switches.show(rows[::-1], draft.switch, "sets", _HEIGHT)
    st.toggle("Refit after each change", value=draft.refits(), key="refit-each", on_change=_refits)
    if not draft.refits() and state.run is not None and not state.is_current(state.run):
        st.button("Refit now", key="refit-now", on_click=draft.now)
    with st.popover("Rename a set", type="tertiary", key="rename-set"):
        old = st.selectbox("Set", list(sets["set"]), key="rename-set-which")
        new = st.text_input("New name", max_chars=150, key=f"rename-set-to-{old}")
        st.button(
            "Rename",
            key="rename-set-do",
            disabled=not new.strip() or new.strip() == old,
            on_click=_rename,
            args=(str(old), new.strip()),
        )


def _refits() -> None:
    st.session_state[draft.REFIT] = bool(st.session_state["refit-each"])


def _rename(old: str, new: str) -> None:
    session.do(RenameSet(old, new))


def _headline(state: State, data: HeteroData) -> None:
    """Say how much was said and how far the map keeps it."""
    parts = [
        theme.count(sum(map(len, data.links)), "link"),
        theme.count(0 if data.comparisons is None else len(data.comparisons), "comparison"),
        theme.count(label_table.count(data), "label"),
    ]
    said = [part for part in parts if not part.startswith("0 ")]
    known = f"{theme.listed(said)}."
    run = state.run
    if run is None:
        theme.headline(f"{theme.listed(said)}, and no map yet", "Make a map to see what it keeps.")
        return
    curves = charts.figures(state, run)["curves"]
    scores = charts.figures(state, run)["scores"]
    share = f"{LOOK_AT:.0%}".replace("%", " %")
    found = theme.listed(said)
    line = []
    if "given" in curves:
        kept, chance = per_hundred(kept_at(curves["given"])), per_hundred(LOOK_AT)
        found = f"The map keeps {kept} of 100 links, where chance keeps {chance}"
        line += [known, f"Kept: the pair is among the nearest {share} of all pairs."]
    if "held_out" in curves:
        line.append(f"Of links it was not shown it keeps {rounded(kept_at(curves['held_out']))}.")
    if "comparison_accuracy" in scores:
        share = rounded(scores["comparison_accuracy"])
        if "given" in curves:
            line.append(f"It agrees with {share} of the comparisons; by chance 50 %.")
        else:
            found = f"The map agrees with {share} of the comparisons"
            line += [known, "By chance it would agree with 50 %."]
    if "comparison_accuracy_held_out" in scores:
        share = rounded(scores["comparison_accuracy_held_out"])
        line.append(f"Of comparisons it was not shown it agrees with {share}.")
    theme.headline(found, " ".join(line))


def _offer_refit(state: State) -> None:
    """Offer to make the map again where what was said has changed since."""
    run = state.run
    if run is None or state.is_current(run) or background.live() is not None:
        return
    with st.container(key="primary_refit", width="content"):
        st.button(
            "Refit the map",
            type="primary",
            key="refit",
            help="Make the map again for what is said now, going on from where the items are.",
            on_click=_refit,
            args=(state,),
        )


def _refit(state: State) -> None:
    if not background.refit(state):
        session.tell("This map cannot be made again: its method is not known here.")
