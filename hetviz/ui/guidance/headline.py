"""The headline of the Guidance page, and the way to a new map."""

from __future__ import annotations

import streamlit as st

from hetviz._text import per_hundred, rounded
from hetviz.data import HeteroData
from hetviz.plots.curve import LOOK_AT, kept_at
from hetviz.ui.guidance import label_table
from hetviz.ui.guidance.ledger import Ledger
from hetviz.ui.shell import background, session, theme
from hetviz.ui.widgets import charts
from hetviz.workspace import State


def headline(state: State, data: HeteroData, ledger: Ledger) -> None:
    """Say how much was said and how far the map keeps it."""
    parts = [
        theme.count(len(ledger.links), "link"),
        theme.count(len(ledger.comparisons), "comparison"),
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


def refit(state: State) -> None:
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
