"""The comparisons as one order: how many remain of them, stage by stage, and what else counts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from hetviz.data import HeteroData
from hetviz.ui.guidance.conflicts import report_of
from hetviz.ui.shell import theme
from hetviz.ui.widgets import charts
from hetviz.workspace import State

_STAGES = {
    "kept": ("count as they are", "What a method of comparisons is given."),
    "implied": ("follow from others", "True already, so nothing is lost without them."),
    "repeated": ("said before", "The earlier row has their weight too."),
    "contradicted": ("contradicted", "Another row says the opposite."),
    "circular": ("in a circle", "A nearer than b, b than c, c than a: one of them must go."),
    "impossible": ("impossible", "No pair is nearer than itself, or than an item to itself."),
}


def stages(data: HeteroData) -> None:
    """Show what becomes of the comparisons before a method gets them."""
    report = report_of(data)
    order = None if report is None else report.comparisons
    if order is None:
        return
    counts = order.counts
    theme.section("What becomes of them", theme.count(sum(counts.values()), "comparison"))
    bars(
        [
            (_STAGES[word][0], count, f"{count:,}", _STAGES[word][1])
            for word, count in counts.items()
            if count or word == "kept"
        ]
    )


def views(state: State) -> None:
    """Show the weight that the map gives each view, where its method finds one."""
    found = {} if state.run is None else charts.figures(state, state.run).get("views", {})
    if not found:
        return
    theme.section("What the map looks at", "weight of each view")
    total = sum(found.values()) or 1.0
    bars(
        [
            (name, weight, f"{weight / total:.0%}".replace("%", " %"), "")
            for name, weight in sorted(found.items(), key=lambda item: -item[1])
        ]
    )


def bars(rows: list[tuple[str, float, str, str]], full: float | None = None) -> None:
    """Show names with bars: name, length, its text, what it means; the longest fills its place."""
    top = full or max((length for _, length, _, _ in rows), default=0.0) or 1.0
    cells = "".join(
        f'<dt title="{theme.esc(means)}">{theme.esc(name)}</dt>'
        f'<dd><span><i style="width:{length / top:.1%}"></i></span><b>{theme.esc(text)}</b></dd>'
        for name, length, text, means in rows
    )
    st.html(f'<dl class="hv-bars">{cells}</dl>')


def shares(scores: Mapping[str, Any]) -> None:
    """Show how many comparisons the map keeps, of those given and those held out."""
    known = {
        "given": scores.get("comparison_accuracy"),
        "held out": scores.get("comparison_accuracy_held_out"),
    }
    rows = [(name, share) for name, share in known.items() if share is not None]
    if not rows:
        return
    theme.section("Comparisons the map keeps", "by chance 50 %")
    bars([(name, share, f"{share:.0%}".replace("%", " %"), "") for name, share in rows], 1.0)
