"""The row above the map: datasets drawn, colour, filters, maps; below it what it does not show."""

from __future__ import annotations

import streamlit as st

from hetviz.plots import MapPicture, colour_options
from hetviz.plots.palette import shape_of
from hetviz.ui import filters, gallery, history, look, session
from hetviz.workspace import SetView, State


def tools(state: State) -> None:
    """Show the row; every change is a command."""
    data = state.data
    if data is None:
        return
    names = list(data.datasets)
    with st.container(horizontal=True, vertical_alignment="center", key="tools", gap="small"):
        key = f"layers-{'|'.join(names)}"
        shown = [name for name in names if name not in state.view.hidden]
        if st.session_state.get(key) != shown:
            st.session_state[key] = shown
        st.pills(
            "Datasets",
            names,
            selection_mode="multi",
            format_func=lambda name: (
                f"{shape_of(names.index(name))[1]} {look.plain(name)} {len(data[name]):,}"
            ),
            key=key,
            label_visibility="collapsed",
            on_change=_layers,
            args=(key, names),
        )
        options = {option.key: option.title for option in colour_options(data)}
        now = state.view.colour if state.view.colour in options else next(iter(options))
        st.selectbox(
            "Colour",
            list(options),
            index=list(options).index(str(now)),
            format_func=lambda option: f"Colour: {options[option]}",
            key=f"colour-{data.fingerprint()[:12]}-{now}",
            label_visibility="collapsed",
            width=230,
            on_change=_colour,
            args=(f"colour-{data.fingerprint()[:12]}-{now}",),
        )
        filters.popover(state)
        history.show(state)
    filters.chips(state)


def below(state: State, drawn: MapPicture) -> None:
    """Say below the map what its colours are, and what is not on it."""
    words = [gallery.colour_words(state), *drawn.notes]
    if drawn.outside:
        words.append(f"{look.count(drawn.outside, 'item')} beyond the edge: drag or zoom out.")
    if drawn.unplaced:
        words.append(f"{look.count(drawn.unplaced, 'item')} without a place on this map.")
    look.quiet(" ".join(words))


def _layers(key: str, names: list[str]) -> None:
    shown = st.session_state[key]
    session.do(SetView(hidden=tuple(name for name in names if name not in shown)))


def _colour(key: str) -> None:
    session.do(SetView(colour=str(st.session_state[key])))
