"""Quality of a map: warnings, curves and measures with explanations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from hetviz._text import format_score
from hetviz.metrics.measure_names import (
    COLUMNS,
    GROUPS,
    MAIN_MEASURES,
    MEASURE_TEXTS,
    score_text,
)
from hetviz.ui.map import balance, map_warnings
from hetviz.ui.shell import navigation, theme
from hetviz.ui.widgets import charts, diagnostics
from hetviz.workspace import MapResult, State


def show_quality(state: State, run: MapResult) -> None:
    """Show the curves and measures of a map."""
    if state.data is None:
        return
    figures = charts.run_figures(state, run)
    # Warnings come before the measures.
    map_warnings.show_warnings(map_warnings.map_warnings(state, run, figures))
    balance.show_balance(state, run)
    if figures.get("choice"):
        theme.show_section("Why this method")
        theme.show_note(str(figures["choice"]))
        navigation.show_link("compare", "Try another")
    links = sum(int((group.weight > 0).sum()) for group in state.data.links)
    if figures["curves"] or figures.get("kinds"):
        # The map of a period has only some of the links.
        aside = theme.count(links, "link") if run.period is None else ""
        theme.show_section("Links on the map", aside)
        curves, kind = charts.choose_curve(figures)
        charts.show_curve(curves, kind)
        best = charts.best_close_text(state, run) if kind == "links" else ""
        theme.show_note(
            f"{charts.curve_sentence(curves, kind)} {best}".rstrip(), charts.curve_evidence(kind)
        )
        navigation.show_link(
            "guidance", "Links that are far apart, and what fixing them would take"
        )
    else:
        theme.show_section("Quality")
        theme.show_note("No links that pull items together yet.")
    _show_figures(figures["scores"], figures.get("errors") or {})
    _show_neighbour_baselines(figures)
    diagnostics.show_diagnostics(figures)


def _show_neighbour_baselines(figures: Mapping[str, Any]) -> None:
    """Show the neighbour score next to that of a random map and of the best map tried."""
    score = figures["scores"].get("trustworthiness")
    if score is None:
        return
    text = f"Similar neighbours: {format_score(score)} (random map: 0.50)."
    best = figures.get("best_neighbours")
    if best is not None:
        score = format_score(best["score"])
        text += f" When methods were tried, {best['title']} had the most: {score}."
    theme.show_note(text, theme.evidence_key("neighbours"))


def _show_figures(scores: Mapping[str, object], errors: Mapping[str, object]) -> None:
    available = [key for key in MEASURE_TEXTS if key in scores or f"{key}_held_out" in scores]
    first = [key for key in MAIN_MEASURES if key in available]
    if first:
        _show_measures("0.5 is chance, 1 is best", first, scores, {})
    if not available:
        return
    with st.expander("All measures"):
        for title, keys in GROUPS.items():
            available_keys = [key for key in keys if key in available]
            if available_keys:
                _show_measures(title, available_keys, scores, errors)
                _show_terms(
                    [
                        (MEASURE_TEXTS[key].name, MEASURE_TEXTS[key].meaning)
                        for key in available_keys
                    ]
                )
        if any(key.endswith("_held_out") for key in scores):
            _show_terms(list(COLUMNS.items()))
        if errors:
            theme.show_note("± is the standard error of measures computed on a sample.")


def _show_measures(
    head: str, keys: list[str], scores: Mapping[str, object], errors: Mapping[str, object]
) -> None:
    has_held_out = any(f"{key}_held_out" in scores for key in keys)
    endings = ["", "_held_out"] if has_held_out else [""]
    rows = [
        [MEASURE_TEXTS[key].name]
        + [score_text(key, scores, errors, key + ending) for ending in endings]
        for key in keys
    ]
    theme.show_table(
        [head, *list(COLUMNS)[: len(endings)]],
        rows,
        evidence=[
            theme.evidence_key("measure", key, "given" if key in scores else "hidden")
            for key in keys
        ],
    )


def _show_terms(terms: list[tuple[str, str]]) -> None:
    items = "".join(
        f"<dt>{theme.escape_html(name)}</dt><dd>{theme.escape_html(text)}</dd>"
        for name, text in terms
    )
    st.html(f'<dl class="hv-facts">{items}</dl>')
