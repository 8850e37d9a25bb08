"""Options of the exported figure: size, colour, names, datasets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import streamlit as st

from hetviz.exports.figures import FigureSettings, settings_for
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
_SIZES = {
    "slide": "Slide, 16:9",
    "one column": "One column, 85 mm",
    "two columns": "Two columns, 174 mm",
}
_DPI: Mapping[int, str] = {300: "300", 150: "150", 600: "600"}
_SLIDE_DPI: Mapping[int, str] = {192: "1,920 × 1,080", 384: "3,840 × 2,160"}


@dataclass(frozen=True, eq=False)
class ExportOptions:
    """Options of the exported figure."""

    settings: FigureSettings
    colours: Colouring
    size: str


def choose_options(state: State, run: MapResult) -> ExportOptions:
    """Show the options and return the choice."""
    data = state.opened()
    theme.show_section("Appearance")
    size = st.selectbox(
        "Size",
        list(_SIZES),
        format_func=_SIZES.__getitem__,
        key="export-size",
        persist_state="session",
    )
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
        is_slide = size == "slide"
        resolutions = _SLIDE_DPI if is_slide else _DPI
        dpi = st.selectbox(
            "Pixels (PNG)" if is_slide else "Dots per inch (PNG)",
            list(resolutions),
            format_func=resolutions.__getitem__,
            key="export-pixels" if is_slide else "export-dpi",
            width=150,
            persist_state="session",
        )
        caption = st.checkbox("Caption below", key="export-caption", persist_state="session")
        terrain = st.checkbox(
            "Terrain", state.view.terrain, key=f"export-terrain-{state.view.terrain}"
        )
    coloured_state = replace(state, view=replace(state.view, colour=colour))
    colours = layers.colours_of(coloured_state, run)
    settings = settings_for(
        size,
        colour=colour,
        dpi=dpi,
        names=names,
        hidden=hidden,
        caption=caption,
        terrain=terrain,
        palette=dict(colours.swatches),
    )
    return ExportOptions(settings, colours, size)
