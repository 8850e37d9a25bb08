"""How the figure is to look: size, colour, names, which datasets."""

from __future__ import annotations

from dataclasses import dataclass, replace

import streamlit as st

from hetviz.exports.figures import SIZES, FigureSettings
from hetviz.plots.colour import Colouring, colour_options
from hetviz.ui.map import layers
from hetviz.ui.shell import theme
from hetviz.workspace import Run, State

_NAMES = {
    "groups": "Groups",
    "groups and items": "Groups and items",
    "items": "Items",
    "none": "Nothing",
}
_DPI = (150, 300, 600)


@dataclass(frozen=True, eq=False)
class Chosen:
    """What was chosen.

    Attributes
    ----------
    settings : FigureSettings
    colours : Colouring
        Of the map as it is now.
    """

    settings: FigureSettings
    colours: Colouring


def show(state: State, run: Run) -> Chosen:
    """Show the options; return what is chosen."""
    data = state.opened()
    theme.section("How it looks")
    size = st.selectbox("Size", list(SIZES), key="export-size", persist_state="session")
    options = [*layers.options(state, run), *colour_options(data)]
    titles = {option.key: option.title for option in options}
    keys = list(titles)
    shown = layers.colours_of(state, run).option.key
    colour = st.selectbox(
        "Colour",
        keys,
        index=keys.index(shown) if shown in keys else 0,
        # Options of a list are shown as they are, not read as markdown.
        format_func=titles.__getitem__,
        key=f"export-colour-{shown}",
    )
    names = st.selectbox(
        "Written on the map",
        list(_NAMES),
        format_func=_NAMES.__getitem__,
        key="export-names",
        persist_state="session",
    )
    hidden: tuple[str, ...] = ()
    if len(data.datasets) > 1:
        there = list(data.datasets)
        kept = st.pills(
            "Datasets",
            there,
            selection_mode="multi",
            default=[name for name in there if name not in state.view.hidden],
            format_func=theme.plain,
            key=f"export-datasets-{'|'.join(there)}",
        )
        # With none chosen there would be nothing to draw.
        hidden = tuple(name for name in there if name not in kept) if kept else ()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        dpi = st.selectbox(
            "Dots an inch (PNG)", _DPI, index=1, key="export-dpi", width=150,
            persist_state="session",
        )  # fmt: skip
        caption = st.checkbox("Caption below", key="export-caption", persist_state="session")
    width, height = SIZES[size]
    settings = FigureSettings(colour, width, height, dpi, names, hidden, caption)
    seen = replace(state, view=replace(state.view, colour=colour))
    return Chosen(settings, layers.colours_of(seen, run))
