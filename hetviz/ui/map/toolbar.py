"""The row above the map: colour, filters, maps; below it what it does not show."""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from hetviz.plots import colour_options
from hetviz.ui.map import history, layers
from hetviz.ui.map import new_map as maker
from hetviz.ui.shell import session, theme
from hetviz.ui.start import gallery
from hetviz.ui.statements import sets
from hetviz.ui.widgets import filters
from hetviz.workspace import SetView, State


def tools(state: State) -> DeltaGenerator:
    """Show the row; every change is a command. Return where `new_map` goes."""
    data = state.opened()
    with st.container(horizontal=True, vertical_alignment="center", key="tools", gap="small"):
        known = [*colour_options(data), *layers.options(state, state.run)]
        options = {option.key: option.title for option in known}
        now = state.view.colour if state.view.colour in options else next(iter(options))
        key = f"colour-{data.fingerprint()[:12]}-{now}"
        st.selectbox(
            "Colour",
            list(options),
            index=list(options).index(str(now)),
            format_func=lambda option: f"Colour: {options[option]}",
            key=key,
            label_visibility="collapsed",
            width=230,
            on_change=_colour,
            args=(key, now),
        )
        filters.popover(state)
        sets.popover(state)
        history.show(state)
        place = st.container(width="content")
    filters.chips(state)
    return place


def new_map(state: State, place: DeltaGenerator) -> None:
    """Show the button that opens the form for another map.

    It loads the numerical libraries, so it comes after the map.
    """
    # Another key once a map was started: that closes it, and the map can be seen to move.
    key = f"maker-{st.session_state.get(maker.STARTED, 0)}"
    with place, st.popover("New map", key=key):
        maker.show(state)


def below(state: State, said: list[str]) -> None:
    """Say below the map where its colours come from, and what is not on it."""
    with st.container(key="below"):
        theme.quiet(" ".join([*gallery.borrowed_words(state), *said]))


def _colour(key: str, shown: str) -> None:
    chosen = str(st.session_state[key])
    # Also called at times for the colour that is shown; a step for that ran the whole page again.
    if chosen != shown:
        session.do(SetView(colour=chosen))
