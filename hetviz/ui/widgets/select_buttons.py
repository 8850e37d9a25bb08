"""Buttons that select items of the map that are shown, and offer those that are not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import streamlit as st

from hetviz.ui.map_data import parts
from hetviz.ui.shell import selection, theme
from hetviz.workspace import State


def show_select_button(
    state: State,
    label: str,
    key: str,
    rows: Sequence[int],
    *,
    noun: str = "item",
    selected: Sequence[int] = (),
    kind: Literal["secondary", "tertiary"] = "secondary",
) -> None:
    """Show a button that selects the shown ones of `rows`, and one that adds the hidden ones.

    `label`: Text of the button; `{n}` stands for "3 linked items", those shown.
    `noun`: Name of one of the items, such as "neighbour".
    `selected`: Items that are selected in any case.
    """
    is_visible = parts.visible_mask(state)
    shown = [row for row in rows if is_visible[row]]
    n_hidden = len(rows) - len(shown)
    st.button(
        label.replace("{n}", theme.count(len(shown), noun)),
        key=key,
        type=kind,
        disabled=not shown,
        on_click=selection.select_rows,
        args=([*selected, *shown],),
    )
    if n_hidden:
        st.button(
            f"Add {theme.count(n_hidden, f'hidden {noun}')}",
            key=f"{key}-hidden",
            type="tertiary",
            on_click=selection.select_rows,
            args=([*selected, *rows],),
            help="A filter or a hidden dataset hides them. They are selected, and shown once it "
            "is removed.",
        )
