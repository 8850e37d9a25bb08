"""Options of the exported figure: size, colour, names, datasets."""

from __future__ import annotations

from dataclasses import dataclass, replace

import streamlit as st

from hetviz.exports.figures import SIZES, FigureSettings
from hetviz.plots.colour import Colouring, colour_options, share_options
from hetviz.ui.map_data import layers
from hetviz.ui.shell import theme
from hetviz.workspace import MapResult, State

_NAME_OPTIONS = {
    "regions": "Regions",
    "regions and items": "Regions and items",
    "groups": "Groups",
    "groups and items": "Groups and items",
    "items": "Items",
    "none": "Nothing",
}
_DPI = (150, 300, 600)


@dataclass(frozen=True, eq=False)
class ExportOptions:
    """Options of the exported figure."""

    settings: FigureSettings
    colours: Colouring


def choose_options(state: State, run: MapResult) -> ExportOptions:
    """Show the options and return the choice."""
    data = state.opened()
    theme.show_section("Appearance")
    size = st.selectbox("Size", list(SIZES), key="export-size", persist_state="session")
    colours = layers.colours_of(state, run)
    options = [
        *layers.layer_options(state, run),
        *colour_options(data),
        *share_options(data, colours),
    ]
    titles = {option.key: option.title for option in options}
    keys = list(titles)
    current = colours.option.key
    colour = st.selectbox(
        "Colour",
        keys,
        index=keys.index(current) if current in keys else 0,
        # No escaping: options are not read as markdown.
        format_func=titles.__getitem__,
        key=f"export-colour-{current}",
    )
    names = st.selectbox(
        "Names on the map",
        list(_NAME_OPTIONS),
        format_func=_NAME_OPTIONS.__getitem__,
        key="export-names",
        persist_state="session",
    )
    hidden: tuple[str, ...] = ()
    if len(data.datasets) > 1:
        datasets = list(data.datasets)
        visible = st.pills(
            "Datasets",
            datasets,
            selection_mode="multi",
            default=[name for name in datasets if name not in state.view.hidden],
            format_func=theme.escape_markdown,
            key=f"export-datasets-{'|'.join(datasets)}",
        )
        # Without a choice all are drawn.
        hidden = tuple(name for name in datasets if name not in visible) if visible else ()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        dpi = st.selectbox(
            "Dots per inch (PNG)", _DPI, index=1, key="export-dpi", width=150,
            persist_state="session",
        )  # fmt: skip
        caption = st.checkbox("Caption below", key="export-caption", persist_state="session")
        terrain = st.checkbox(
            "Terrain", state.view.terrain, key=f"export-terrain-{state.view.terrain}"
        )
    width, height = SIZES[size]
    coloured_state = replace(state, view=replace(state.view, colour=colour))
    colours = layers.colours_of(coloured_state, run)
    settings = FigureSettings(
        colour, width, height, dpi, names, hidden, caption, terrain, dict(colours.swatches)
    )
    return ExportOptions(settings, colours)
