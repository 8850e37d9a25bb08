"""How well a map does: its satisfaction curves and its figures, each said in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from hetviz.ui.map import found_out, warned
from hetviz.ui.shell import session, theme
from hetviz.ui.shell.paths import PAGES
from hetviz.ui.widgets import charts
from hetviz.ui.widgets.measure_names import COLUMNS, FIRST, GROUPS, MEASURES, shown
from hetviz.workspace import Run, State


def show(state: State, run: Run) -> None:
    """Show the satisfaction curves and the figures of a map."""
    if state.data is None:
        return
    figures = charts.figures(state, run)
    # What must not be read off the map stands before any figure of it.
    warned.show(warned.of_map(state, run, figures))
    if figures.get("choice"):
        theme.section("Why this method")
        theme.quiet(str(figures["choice"]))
        st.page_link(PAGES / "compare.py", label="Try another", query_params=session.address())
    links = sum(int((group.weight > 0).sum()) for group in state.data.links)
    if figures["curves"] or figures.get("kinds"):
        theme.section("What the map keeps", theme.count(links, "link"))
        curves, kind = charts.choose_curve(figures)
        charts.show_curve(curves, kind)
        theme.quiet(charts.curve_words(curves, kind))
        st.page_link(
            PAGES / "guidance.py",
            label="What it breaks, and what that would cost",
            query_params=session.address(),
        )
    else:
        theme.section("How well it does")
        theme.quiet("No links yet that say together, so there are none to keep.")
    _figures(figures["scores"], figures.get("errors") or {})
    _beside(figures)
    found_out.show(figures)


def _beside(figures: Mapping[str, Any]) -> None:
    """Say what a map of no use, and the best of those tried, get where this one stands."""
    mine = figures["scores"].get("trustworthiness")
    if mine is None:
        return
    words = f"Neighbours that are true: {mine:.2f} here; about 0.50 for places at random"
    best = figures.get("best_neighbours")
    if best is not None:
        words += f"; {best['score']:.2f} for the best of the maps tried, {best['title']}"
    theme.quiet(f"{words}.")


def _figures(scores: Mapping[str, object], errors: Mapping[str, object]) -> None:
    known = [key for key in MEASURES if key in scores or f"{key}_held_out" in scores]
    first = [key for key in FIRST if key in known]
    if first:
        _table("0.5 is chance, 1 is best", first, scores, {})
    if not known:
        return
    with st.expander("All figures, and what they say"):
        for title, keys in GROUPS.items():
            there = [key for key in keys if key in known]
            if there:
                _table(title, there, scores, errors)
                _said([(MEASURES[key].name, MEASURES[key].says) for key in there])
        if any(key.endswith("_held_out") for key in scores):
            _said(list(COLUMNS.items()))
        if errors:
            theme.quiet("± is the standard error of what was measured on a sample.")


def _table(
    head: str, keys: list[str], scores: Mapping[str, object], errors: Mapping[str, object]
) -> None:
    held = any(f"{key}_held_out" in scores for key in keys)
    endings = ["", "_held_out"] if held else [""]
    rows = [
        [MEASURES[key].name] + [shown(key, scores, errors, key + ending) for ending in endings]
        for key in keys
    ]
    theme.table([head, *list(COLUMNS)[: len(endings)]], rows)


def _said(said: list[tuple[str, str]]) -> None:
    terms = "".join(
        f"<dt>{theme.esc(name)}</dt><dd>{theme.esc(words)}</dd>" for name, words in said
    )
    st.html(f'<dl class="hv-said">{terms}</dl>')
