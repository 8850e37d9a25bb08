"""The Export page: a figure as it will be, and everything that can be taken along."""

from __future__ import annotations

import streamlit as st

from hetviz.exports.figures import FigureSettings
from hetviz.ui.export import files, options
from hetviz.ui.export import files as export_files
from hetviz.ui.map import away
from hetviz.ui.shell import background, theme
from hetviz.ui.widgets import charts, failed
from hetviz.ui.widgets.downloads import stem_of
from hetviz.workspace import Run, State

_PREVIEW_PIXELS = 1400


def show(state: State, run: Run) -> None:
    """Show the page."""
    data, embedding = state.opened(), charts.embedding_of(state, run)
    if embedding is None:
        return
    kinds = [f"{len(part):,} {name}" for name, part in data.datasets.items()]
    theme.headline(
        f"{theme.listed(kinds)}, ready for print",
        "Text in figures can be edited. Each file is made when you press its button.",
    )
    left, right = st.columns([1.7, 1], gap="large")
    with left:
        figure, words = st.container(key="export-preview"), st.container(key="export-said")
        # A container without anything in it has no room on the page yet.
        for one in (figure, words):
            one.empty()
    with right:
        # There from the start, so that nothing below it moves; filled once the figure is known.
        with st.container(key="primary_export"):
            menu = st.popover("Export", type="primary", width="stretch", key="export-menu")
        chosen = options.show(state, run)
    source = export_files.Source(state, run, data, embedding, chosen, stem_of(state.title))
    drawn, there = None, False
    with words, failed.told("figure"):
        with figure, st.spinner("Drawing the figure"):
            drawn = _drawn(source)
        there = True
    if drawn is None and there:
        with words:
            theme.quiet("The figure is being drawn.")
    elif drawn is not None:
        image, caption = drawn
        with figure:
            st.image(image, width="stretch", alt=f"The figure: {caption}")
        with words:
            theme.quiet(caption)
    with menu, st.container(key="export-files", width=520):
        theme.section("The map", "as it is drawn here")
        export_files.the_map(source)
        export_files.charts_of(source)
        export_files.tables(source)
        export_files.again(source)
        files.the_project(state)


def _drawn(of: export_files.Source) -> tuple[bytes, str] | None:
    """Return the figure as it will be, and its caption; None while a worker draws it."""
    settings = of.chosen.settings

    if settings.height:
        # Room for the figure before it is drawn; one as high as it needs has about the usual shape,
        # and takes more where that is too little.
        shape = settings.width / settings.height
        theme.rules(f".st-key-export-preview::before{{aspect-ratio:{shape:.3f}}}")
    dpi = round(_PREVIEW_PIXELS / (settings.width / 25.4))
    found: tuple[bytes, str] | None = away.found(
        background.owner(),
        of.data,
        ("export", id(of.run), id(of.chosen.colours), _settled(settings)),
        "hetviz.plots.paper_map:preview",
        {
            "embedding": of.embedding,
            "colours": of.chosen.colours,
            "dpi": min(max(dpi, 50), 600),
            "width": settings.width,
            "height": settings.height,
            "names": settings.names,
            "hidden": settings.hidden,
            "title": of.how,
            "caption": settings.caption,
        },
        (of.run, of.chosen.colours),
    )
    return found


def _settled(settings: FigureSettings) -> tuple[object, ...]:
    """Return what the preview depends on."""
    return settings.width, settings.height, settings.names, settings.hidden, settings.caption
