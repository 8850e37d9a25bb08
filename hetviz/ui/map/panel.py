"""The panel beside the map: what is selected, and how well the map does."""

from __future__ import annotations

import streamlit as st

from hetviz.ui.map import group_panel, item_panel, new_map, quality
from hetviz.ui.shell import selection
from hetviz.ui.statements import moved
from hetviz.workspace import State

_HINTS = (
    "Click an item to see what is near and linked.",
    "Draw around several to see what sets them apart.",
    "Scroll to zoom, double-click to see all.",
)
KEYS = (
    ("Shift + click", "add to the selection"),
    ("Shift + drag", "lasso"),
    ("A, B", "make a group of the selection"),
    ("T, X", "together, apart; again: add"),
    ("N, P", "step through what is near"),
    ("/", "find an item"),
    ("Esc", "select nothing"),
    ("?", "all keys of the map"),
)


def show(state: State) -> None:
    """Show the panel for what is selected now."""
    rows = selection.chosen(state)
    if len(rows) == 1:
        item_panel.show(state, int(rows[0]))
    elif len(rows):
        group_panel.show(state, rows)
    elif state.run is not None and not moved.show(state, state.run):
        _hints()
    if state.run is not None:
        quality.show(state, state.run)
    else:
        new_map.show(state)


def _hints() -> None:
    lines = "".join(f"<li>{line}</li>" for line in _HINTS)
    keys = "".join(f"<dt><kbd>{key}</kbd></dt><dd>{does}</dd>" for key, does in KEYS)
    st.html(f'<ul class="hv-hints">{lines}</ul><dl class="hv-key-list">{keys}</dl>')
