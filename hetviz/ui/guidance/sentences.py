"""Statements as sentences with the pictures of their items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from hetviz._text import shorten
from hetviz.data import HeteroData
from hetviz.ui.guidance.ledger import COMPARISON_ENDS, LINK_ENDS
from hetviz.ui.item import item_chip
from hetviz.ui.item.item import find_item
from hetviz.ui.shell import selection, theme

_NAME_CHARS = 30


def rows_of_statement(row: Mapping[str, Any]) -> list[int]:
    """Return the global rows that a row of the ledger names, each once."""
    ends = LINK_ENDS if row["form"] == "link" else COMPARISON_ENDS
    return list(dict.fromkeys(int(row[end]) for end in ends))


def sentence_html(data: HeteroData, row: Mapping[str, Any]) -> str:
    """Return a statement as HTML."""
    if row["form"] == "link":
        p, q = (_item_html(data, int(row[end])) for end in LINK_ENDS)
        return f"{p} {weight_html(float(row['weight']))} {q}"
    a, b, c, d = (_item_html(data, int(row[end])) for end in COMPARISON_ENDS)
    if row["a"] == row["c"]:
        return f"{a} <em>is closer to</em> {b} <em>than to</em> {d}"
    return f"{a} <em>and</em> {b} <em>are closer than</em> {c} <em>and</em> {d}"


def weight_html(weight: float) -> str:
    """Return a signed weight with "together" or "apart", as HTML."""
    sign, word = ("plus", "together") if weight > 0 else ("minus", "apart")
    number = f"{weight:+.2g}".replace("-", "−")
    return f'<b class="hv-{sign}">{number} {word}</b>'


def show_statements(
    data: HeteroData, rows: Sequence[Mapping[str, object]], key: str, asides: Mapping[str, str]
) -> None:
    """Show statements below each other, with a grey text by key and a button to the map."""
    with st.container(key=f"{key}-lines", gap="xsmall"):
        for number, row in enumerate(rows):
            text_box, button_box = st.columns([5, 1], gap="small", vertical_alignment="center")
            aside = asides.get(str(row["key"]), "")
            aside_html = f"<small>{theme.escape_html(aside)}</small>" if aside else ""
            text_box.html(f'<p class="hv-statement">{sentence_html(data, row)}{aside_html}</p>')
            with button_box:
                st.button(
                    "Show",
                    type="tertiary",
                    key=f"{key}-show-{number}",
                    help="Show these items on the map",
                    on_click=selection.show_on_map,
                    args=(rows_of_statement(row),),
                )


def _item_html(data: HeteroData, row: int) -> str:
    item = find_item(data, row)
    source = item_chip.picture_of(data, item)
    title = theme.escape_html(item.title)
    face = (
        f'<img src="{theme.escape_html(source)}" alt="" loading="lazy">'
        if source
        else f"<i>{item.glyph}</i>"
    )
    return (
        f'<span title="{title}">{face}{theme.escape_html(shorten(item.title, _NAME_CHARS))}</span>'
    )
