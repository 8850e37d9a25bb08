"""Finding one item: in a list searched while typing, or by its name where there are many."""

from __future__ import annotations

import streamlit as st

from hetviz._text import short
from hetviz.data import HeteroData
from hetviz.ui.map.search import search
from hetviz.ui.shell import theme
from hetviz.ui.widgets import item_chip

_MOST_LISTED = 3_000
_MOST_FOUND = 40
_NAME = 60


def item(data: HeteroData, label: str, key: str) -> int | None:
    """Ask for an item; return its global row."""
    if data.n_rows <= _MOST_LISTED:
        options = list(range(data.n_rows))
    else:
        text = st.text_input(f"{label}: its name", key=f"{key}-text", max_chars=100)
        options = search(data, text, _MOST_FOUND)
        if text.strip() and not options:
            theme.quiet("No item is called that.")
    row: int | None = st.selectbox(
        label,
        options,
        index=None if data.n_rows <= _MOST_LISTED else 0 if options else None,
        format_func=lambda row: _name(data, row),
        placeholder="Type a name",
        key=f"{key}-row",
    )
    return row


def _name(data: HeteroData, row: int) -> str:
    found = item_chip.item_at(data, row)
    return f"{found.glyph} {short(found.title, _NAME)}"
