"""Diagnostics of a fit as bars with explanations."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from hetviz._text import shorten
from hetviz.data.model.diagnostics import Diagnostic, from_json, without_repeated_text
from hetviz.ui.shell import theme

_MAX_BARS, _MAX_NAME = 8, 60


def show_diagnostics(figures: Mapping[str, object]) -> None:
    """Show the diagnostics of a map in an expander, if it has any."""
    diagnostics = from_json(figures.get("diagnostics"))
    if not diagnostics:
        return
    with st.expander("Diagnostics of the method"):
        for diagnostic, says in without_repeated_text(diagnostics.values()):
            theme.show_section(diagnostic.title, _n_shown_text(diagnostic))
            if says:
                theme.show_note(says)
            draw_bars(diagnostic)


def _n_shown_text(diagnostic: Diagnostic) -> str:
    more = max(len(diagnostic.values) - _MAX_BARS, 0) + diagnostic.left_out
    return f"{_MAX_BARS} of {len(diagnostic.values) + diagnostic.left_out:,}" if more else ""


def draw_bars(diagnostic: Diagnostic, max_name: int = _MAX_NAME) -> None:
    """Draw the values of a diagnostic as bars from 0; a single value is written as text."""
    rows = list(diagnostic.values.items())
    if len(rows) > _MAX_BARS:
        rows = sorted(rows, key=lambda pair: -abs(pair[1]))[:_MAX_BARS]
    largest = max(abs(value) for _, value in rows) or 1.0
    if len(rows) == 1:
        theme.show_pairs([(name, diagnostic.format_value(value)) for name, value in rows])
        return
    lines = "".join(
        _bar_html(shorten(name, max_name), value, largest, diagnostic) for name, value in rows
    )
    st.html(f'<ul class="hv-findings">{lines}</ul>')


def _bar_html(name: str, value: float, largest: float, diagnostic: Diagnostic) -> str:
    kind = ' class="below"' if value < 0 else ""
    bar = f'<u{kind}><i style="width:{abs(value) / largest:.1%}"></i></u>'
    text = theme.escape_html(diagnostic.format_value(value))
    return f"<li><span>{theme.escape_html(name)}</span>{bar}<b>{text}</b></li>"
