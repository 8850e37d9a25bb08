"""The Export page: a preview of the figure and all downloads."""

from __future__ import annotations

from contextlib import suppress

import streamlit as st

from hetviz.exports.figures import FigureSettings
from hetviz.ui.export import files, options
from hetviz.ui.export import files as export_files
from hetviz.ui.map_data import layers, worker_results
from hetviz.ui.shell import theme
from hetviz.ui.shell.page_state import project_id
from hetviz.ui.widgets import charts, failure
from hetviz.ui.widgets.downloads import stem_of
from hetviz.workspace import MapResult, State

_PREVIEW_PIXELS = 1400


def show(state: State, run: MapResult) -> None:
    """Show the page."""
    data, embedding = state.opened(), charts.embedding_of(state, run)
    if embedding is None:
        return
    counts = [f"{len(part):,} {name}" for name, part in data.datasets.items()]
    theme.show_headline(
        f"{theme.join_words(counts)}, ready for slides and print",
        "Figures have a white background. Text in them can be edited.",
    )
    left, right = st.columns([1.7, 1], gap="large")
    with left:
        figure, caption_box = st.container(key="export-preview"), st.container(key="export-said")
        # An empty container takes no space on the page, so draw something.
        for box in (figure, caption_box):
            box.empty()
    with right:
        # Drawn first so that nothing below it moves, and filled once the figure is known.
        with st.container(horizontal=True):
            main = st.container(key="primary_export")
            menu = st.popover("All files", key="export-menu")
        figure_options = options.choose_options(state, run)
    regions = None
    if figure_options.settings.names.startswith("regions"):
        # If this fails, the figure finds them again.
        with suppress(worker_results.WorkerError):
            regions = layers.find_regions(state, run, project_id())
    source = export_files.ExportSource(
        state, run, data, embedding, figure_options, stem_of(state.title), regions
    )
    with main:
        export_files.show_main_file(source)
    preview, is_complete = None, False
    with caption_box, failure.show_failure("figure"):
        with figure, st.spinner("Drawing the figure"):
            preview = _draw_preview(source)
        is_complete = True
    if preview is None and is_complete:
        with figure:
            theme.show_note("The figure is being drawn.")
    elif preview is not None:
        image, caption = preview
        with figure:
            st.image(image, width="stretch", alt=f"The figure: {caption}")
        with caption_box:
            theme.show_note(caption)
    with menu, st.container(key="export-files", width=520):
        theme.show_section("The map", "as in the preview")
        export_files.show_map_files(source)
        export_files.show_chart_files(source)
        export_files.show_table_files(source)
        export_files.show_report_files(source)
        files.show_project_files(state)


def _draw_preview(source: export_files.ExportSource) -> tuple[bytes, str] | None:
    """Return the preview and its caption, or None while a worker draws it."""
    settings = source.options.settings
    is_known = source.regions is not None
    if settings.height:
        # Reserve space of about the shape of the figure before it is drawn.
        shape = settings.width / settings.height
        theme.add_css(f".st-key-export-preview::before{{aspect-ratio:{shape:.3f}}}")
    dpi = round(_PREVIEW_PIXELS / (settings.width / 25.4))
    preview: tuple[bytes, str] | None = worker_results.fetch_from_worker(
        project_id(),
        source.data,
        ("export", id(source.run), id(source.options.colours), is_known, _preview_key(settings)),
        "draw-preview",
        {
            "embedding": source.embedding,
            "colours": source.options.colours,
            "dpi": min(max(dpi, 50), 600),
            "width": settings.width,
            "height": settings.height,
            "names": settings.names,
            "hidden": settings.hidden,
            "title": source.method_title,
            "caption": settings.caption,
            "has_terrain": settings.terrain,
            "font_size": settings.font_size,
            "regions": source.regions,
        },
        (source.run, source.options.colours),
        is_slow=True,
    )
    return preview


def _preview_key(settings: FigureSettings) -> tuple[object, ...]:
    return (
        settings.width,
        settings.height,
        settings.names,
        settings.hidden,
        settings.caption,
        settings.terrain,
        settings.font_size,
    )
