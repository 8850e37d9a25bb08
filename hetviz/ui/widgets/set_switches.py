"""A switch for each set of what was said, with how many statements it holds."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Literal

import streamlit as st

from hetviz.ui.shell import theme

_SCROLLS_FROM = 9


def show(
    sets: Iterable[tuple[str, int, bool]],
    switch: Callable[[str, bool], None],
    key: str,
    height: int,
    width: int | Literal["stretch"] = "stretch",
) -> None:
    """Show the switches.

    Parameters
    ----------
    sets : iterable of (name, number of statements, on)
        In the order shown.
    switch : callable
        Is given the name of a set and whether it is to be on.
    key : str
        Of their container, unlike all others of the page.
    height : int
        In px, where they are so many that they are scrolled.
    width : int or "stretch"
    """
    rows = list(sets)
    tall: int | Literal["content"] = height if len(rows) >= _SCROLLS_FROM else "content"
    with st.container(width=width, height=tall, border=False, gap="xsmall", key=key):
        for name, number, on in rows:
            # A key for each state: undo has to move the switch too.
            own = f"set-{name}-{on}"
            st.toggle(
                theme.plain(f"{name} ({number:,})"),
                value=on,
                key=own,
                on_change=turned,
                args=(own, name, on, switch),
            )


def turned(key: str, name: str, on: bool, switch: Callable[[str, bool], None]) -> None:
    """Switch a set. A switch that was away for a while and comes back unchanged tells of it too."""
    if st.session_state[key] != on:
        switch(name, not on)
