"""What the method of a map found out on its way: each finding as bars, with what it says."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from hetviz._text import shorten
from hetviz.data.model.diagnostics import Diagnostic, from_json, without_repeated_text
from hetviz.ui.shell import theme

_MAX_BARS, _MAX_NAME = 8, 60


def show_diagnostics(figures: Mapping[str, object]) -> None:
    """Show what was kept with a map, folded away; nothing where nothing was."""
    found = from_json(figures.get("diagnostics"))
    if not found:
        return
    with st.expander("What the method found out"):
        for one, says in without_repeated_text(found.values()):
            theme.show_section(one.title, _n_shown_text(one))
            if says:
                theme.show_note(says)
            draw_bars(one)


def _n_shown_text(one: Diagnostic) -> str:
    more = max(len(one.values) - _MAX_BARS, 0) + one.left_out
    return f"{_MAX_BARS} of {len(one.values) + one.left_out:,}" if more else ""


def draw_bars(one: Diagnostic, most: int = _MAX_NAME) -> None:
    """Draw the values of a finding as bars from 0, the largest as long as there is room.

    Where some are below 0 their bars have another colour. A single value is only written. Names
    have `most` letters at most.
    """
    rows = list(one.values.items())
    if len(rows) > _MAX_BARS:
        rows = sorted(rows, key=lambda pair: -abs(pair[1]))[:_MAX_BARS]
    largest = max(abs(value) for _, value in rows) or 1.0
    if len(rows) == 1:
        theme.show_pairs([(name, one.written(value)) for name, value in rows])
        return
    lines = "".join(_bar_html(shorten(name, most), value, largest, one) for name, value in rows)
    st.html(f'<ul class="hv-findings">{lines}</ul>')


def _bar_html(name: str, value: float, largest: float, one: Diagnostic) -> str:
    kind = ' class="below"' if value < 0 else ""
    bar = f'<u{kind}><i style="width:{abs(value) / largest:.1%}"></i></u>'
    return f"<li><span>{theme.escape_html(name)}</span>{bar}<b>{theme.escape_html(one.written(value))}</b></li>"
