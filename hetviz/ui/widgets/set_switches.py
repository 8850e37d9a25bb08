"""Switches that turn sets of guidance, or the statements of people, on and off."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Literal

import streamlit as st

from hetviz.ui.shell import theme

_MIN_ROWS_TO_SCROLL = 9


def show_switches(
    sets: Iterable[tuple[str, int, bool]],
    switch: Callable[[str, bool], None],
    key: str,
    height: int,
) -> None:
    """Show a switch for each set or person (name, statements, on); long lists scroll."""
    rows = list(sets)
    box_height: int | Literal["content"] = height if len(rows) >= _MIN_ROWS_TO_SCROLL else "content"
    with st.container(height=box_height, border=False, gap="xsmall", key=key):
        for name, number, on in rows:
            # The state is part of the key, so that undo moves the switch too.
            switch_key = f"{key.removesuffix('s')}-{name}-{on}"
            st.toggle(
                theme.escape_markdown(f"{name} ({number:,})"),
                value=on,
                key=switch_key,
                on_change=on_toggle,
                args=(switch_key, name, on, switch),
            )


def on_toggle(key: str, name: str, on: bool, switch: Callable[[str, bool], None]) -> None:
    """Switch a set, ignoring switches that reappear without a change."""
    if st.session_state[key] != on:
        switch(name, not on)
