"""Bar charts of the comparisons and of the views that a map uses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hetviz.data import HeteroData
from hetviz.ui.guidance.conflicts import report_of
from hetviz.ui.shell import theme
from hetviz.ui.widgets import charts
from hetviz.workspace import State

_FATE_TEXTS = {
    "kept": ("used", "Passed to methods that use comparisons."),
    "implied": ("implied", "They follow from others, so nothing is lost without them."),
    "repeated": ("repeated", "The first row also has their weight."),
    "contradicted": ("contradicted", "Another row says the opposite."),
    "circular": ("circular", "a closer than b, b than c, c than a. One of them must go."),
    "impossible": ("impossible", "No pair is closer than itself, or than an item to itself."),
}


def show_stages(data: HeteroData) -> None:
    """Show how many comparisons a method uses, and why it ignores the others."""
    report = report_of(data)
    order = None if report is None else report.comparisons
    if order is None:
        return
    counts = order.counts
    theme.show_section("How comparisons are used", theme.count(sum(counts.values()), "comparison"))
    charts.show_bars(
        [
            (_FATE_TEXTS[fate][0], count, f"{count:,}", _FATE_TEXTS[fate][1])
            for fate, count in counts.items()
            if count or fate == "kept"
        ]
    )


def show_view_weights(state: State) -> None:
    """Show the weight of each view, if the map's method learns weights."""
    weights = {} if state.run is None else charts.run_figures(state, state.run).get("views", {})
    if not weights:
        return
    theme.show_section("Weight of each view", "learned by the method")
    total = sum(weights.values()) or 1.0
    charts.show_bars(
        [
            (name, weight, f"{weight / total:.0%}".replace("%", " %"), "")
            for name, weight in sorted(weights.items(), key=lambda item: -item[1])
        ]
    )


def show_accuracy(scores: Mapping[str, Any]) -> None:
    """Show the share of given and held-out comparisons that the map agrees with."""
    accuracies = {
        "given": scores.get("comparison_accuracy"),
        "hidden": scores.get("comparison_accuracy_held_out"),
    }
    rows = [(name, share) for name, share in accuracies.items() if share is not None]
    if not rows:
        return
    theme.show_section("Comparisons satisfied", "chance: 50 %")
    charts.show_bars(
        [(name, share, f"{share:.0%}".replace("%", " %"), "") for name, share in rows], 1.0
    )
