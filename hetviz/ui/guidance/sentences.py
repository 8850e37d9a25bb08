"""Statements as sentences with the pictures of their items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from hetviz._text import short
from hetviz.data import HeteroData
from hetviz.ui.guidance.ledger import COMPARED, LINK_ENDS
from hetviz.ui.shell import selection, theme
from hetviz.ui.widgets import item_chip

_NAME = 30


def items_of(row: Mapping[str, Any]) -> list[int]:
    """Return the global rows that a row of the ledger names, each once."""
    ends = LINK_ENDS if row["form"] == "link" else COMPARED
    return list(dict.fromkeys(int(row[end]) for end in ends))


def sentence(data: HeteroData, row: Mapping[str, Any]) -> str:
    """Return a statement as HTML."""
    if row["form"] == "link":
        p, q = (_named(data, int(row[end])) for end in LINK_ENDS)
        return f"{p} {weight_words(float(row['weight']))} {q}"
    a, b, c, d = (_named(data, int(row[end])) for end in COMPARED)
    if row["a"] == row["c"]:
        return f"{a} <em>is nearer to</em> {b} <em>than to</em> {d}"
    return f"{a} <em>and</em> {b} <em>are nearer than</em> {c} <em>and</em> {d}"


def words(data: HeteroData, row: Mapping[str, Any]) -> str:
    """Return a statement as plain text."""
    if row["form"] == "link":
        p, q = (item_chip.item_at(data, int(row[end])).title for end in LINK_ENDS)
        return f"{p} and {q}: {'together' if row['weight'] > 0 else 'apart'}"
    a, b, c, d = (item_chip.item_at(data, int(row[end])).title for end in COMPARED)
    if row["a"] == row["c"]:
        return f"{a} is nearer to {b} than to {d}"
    return f"{a} and {b} are nearer than {c} and {d}"


def weight_words(weight: float) -> str:
    """Return a signed weight with its word, as HTML."""
    sign, word = ("plus", "together") if weight > 0 else ("minus", "apart")
    number = f"{weight:+.2g}".replace("-", "−")
    return f'<b class="hv-{sign}">{number} {word}</b>'


def lines(
    data: HeteroData, rows: Sequence[Mapping[str, object]], key: str, asides: Mapping[str, str]
) -> None:
    """Show statements one below the other, with a grey text by their key and a way to the map."""
    with st.container(key=f"{key}-lines", gap="xsmall"):
        for number, row in enumerate(rows):
            said, way = st.columns([5, 1], gap="small", vertical_alignment="center")
            aside = asides.get(str(row["key"]), "")
            told = f"<small>{theme.esc(aside)}</small>" if aside else ""
            said.html(f'<p class="hv-statement">{sentence(data, row)}{told}</p>')
            with way:
                st.button(
                    "Show",
                    type="tertiary",
                    key=f"{key}-show-{number}",
                    help="Show these items on the map",
                    on_click=show_on_map,
                    args=(items_of(row),),
                )


def show_on_map(rows: Sequence[int]) -> None:
    """Select items and go to the map."""
    selection.choose(rows)
    st.session_state["go-to"] = "map"


def _named(data: HeteroData, row: int) -> str:
    item = item_chip.item_at(data, row)
    source = item_chip.picture_of(data, item)
    title = theme.esc(item.title)
    face = (
        f'<img src="{theme.esc(source)}" alt="" loading="lazy">'
        if source
        else f"<i>{item.glyph}</i>"
    )
    return f'<span title="{title}">{face}{theme.esc(short(item.title, _NAME))}</span>'
