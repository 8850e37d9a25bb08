"""Downloads of the Export page, each made when its button is pressed.

A button's function runs outside the page, so it holds everything it needs.
"""

from __future__ import annotations

import base64
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import streamlit as st

from hetviz.algorithms.registry import is_method, methods
from hetviz.data import Embedding, HeteroData
from hetviz.exports.figures import bars_bytes, curve_bytes, map_bytes
from hetviz.exports.interactive import interactive_map
from hetviz.exports.model import MODEL
from hetviz.exports.report import report_page
from hetviz.exports.reproduce import map_recipe, reason_against_recipe
from hetviz.exports.tables import (
    atlas_table,
    coordinates_table,
    neighbors_table,
    selection_table,
    table_bytes,
)
from hetviz.features.spaces.pins import all_pinned_rows
from hetviz.io.bundle.saving import bundle_bytes
from hetviz.io.intake.guidance import guidance_csv
from hetviz.jobs.tasks.predict import LINKS
from hetviz.metrics.trust.spread import SPREAD
from hetviz.runs.cluster.regions import RegionLevel
from hetviz.runs.compare.measures import MEASURES
from hetviz.runs.embed.run import versions
from hetviz.ui.export.options import ExportOptions
from hetviz.ui.item import item_text
from hetviz.ui.map import linked_charts, stories
from hetviz.ui.map_data import spread
from hetviz.ui.shell import background, session, theme
from hetviz.ui.shell.comparison_results import (
    COMPARE,
    comparison_of,
    deciding_measures,
    short_title,
)
from hetviz.ui.shell.page_state import project_id
from hetviz.ui.widgets import charts
from hetviz.ui.widgets.downloads import download_button, stem_of
from hetviz.workspace import ORIGINAL_MAP, MapResult, State, save_project


@dataclass(frozen=True, eq=False)
class ExportSource:
    """Everything the files are made from."""

    state: State
    run: MapResult
    data: HeteroData
    embedding: Embedding
    options: ExportOptions
    stem: str
    regions: tuple[RegionLevel, ...] | None  # None while a worker finds them.

    @property
    def method_title(self) -> str:
        """Title of the method for captions, empty if it is unknown."""
        titles = {card.key: card.title for card in methods()}
        return titles.get(self.run.method, "")


def show_main_file(source: ExportSource) -> None:
    """Show the download for the chosen use."""
    extension, use = ("png", "a slide") if source.options.size == "slide" else ("pdf", "a paper")
    _show_figure(source, extension, f"{extension.upper()} for {use}", is_main=True)


def _show_figure(
    source: ExportSource, extension: str, label: str, *, is_main: bool = False
) -> None:
    make = partial(
        map_bytes,
        source.data,
        source.embedding,
        source.options.settings,
        extension,
        title=source.method_title,
        colours=source.options.colours,
        name=source.state.title,
        regions=source.regions,
    )
    download_button(label, f"{source.stem}-map.{extension}", make, is_main=is_main)


def show_map_files(source: ExportSource) -> None:
    """Show the downloads of the map."""
    settings = source.options.settings
    with st.container(horizontal=True, key="export-map"):
        for extension in ("png", "pdf", "svg"):
            _show_figure(source, extension, f"{extension.upper()} of the map")
        for name in source.data.datasets:
            # Begins to read the columns, or the download of the page has to.
            item_text.is_loading(source.data, name)
        page = partial(
            interactive_map,
            source.data,
            source.embedding,
            source.options.colours,
            title=source.state.title,
            subtitle=source.method_title,
            hidden=settings.hidden,
            names=settings.names,
            regions=source.regions,
        )
        shown, sid = replace(source.state, chosen=source.run.id), project_id()
        download_button(
            "Interactive page",
            f"{source.stem}-map.html",
            lambda: page(
                charts=linked_charts.page_charts(source.state),
                views=stories.page_views(shown, settings.hidden, sid),
                pins=all_pinned_rows(source.data, source.run.params.get("pins")).tolist(),
            ).encode(),
            "One file that opens without a server, with search, charts, pictures and neighbours.",
        )


def show_chart_files(source: ExportSource) -> None:
    """Show the downloads of the curve and the comparison of methods."""
    kinds = charts.curves_of(charts.run_figures(source.state, source.run))
    kinds_shown = [kind for kind in ("links", "comparisons", "apart") if kinds.get(kind)]
    for kind in kinds_shown[:1]:
        theme.show_section("The curve", "how well the map fits the guidance")
        with st.container(horizontal=True, key="export-curve"):
            for extension in ("pdf", "svg", "png"):
                draw = partial(
                    curve_bytes,
                    kinds[kind],
                    kind,
                    source.options.settings,
                    extension,
                    name=source.state.title,
                )
                download_button(extension.upper(), f"{source.stem}-curve.{extension}", draw)
    _show_comparison_files(source)


def _show_comparison_files(source: ExportSource) -> None:
    finding = source.state.findings.get(COMPARE)
    comparison = None if finding is None else comparison_of(finding)
    measure = None if comparison is None else next(iter(deciding_measures(comparison)), None)
    if comparison is None or measure is None:
        return
    table = comparison.table[comparison.table["n_fits"] > 0].dropna(subset=[measure])
    names = [short_title(comparison.candidate(str(key)).title) for key in table.index]
    measure_text = MEASURES[measure]
    theme.show_section("Comparison of methods")
    with st.container(horizontal=True, key="export-bars"):
        for extension in ("pdf", "svg", "png"):
            draw = partial(
                bars_bytes,
                names,
                table[measure].tolist(),
                table[f"{measure}_se"].tolist(),
                measure_text.label,
                measure_text.chance,
                source.options.settings,
                extension,
                name=source.state.title,
            )
            download_button(extension.upper(), f"{source.stem}-methods.{extension}", draw)


def show_table_files(source: ExportSource) -> None:
    """Show the downloads of coordinates, neighbours, the selection and the guidance."""
    theme.show_section("Tables", "with your own ids")
    exact = st.checkbox(
        "Unchanged text",
        key="export-exact",
        help="In CSV files, text that looks like a formula, such as =1+1, gets an apostrophe in "
        "front. Tick this for programs that read the ids back.",
    )
    codes: dict[str, Any] = {}
    if source.state.clustering is not None:
        names = [*source.state.clustering.names, ""]
        codes["cluster"] = [
            names[code] for code in source.state.clustering.of(source.data).tolist()
        ]
    measured = spread.find(source.state, source.run)
    if measured is not None:
        codes[SPREAD] = measured.share
    elif spread.can_measure(source.run):
        st.button(
            "Measure the spread of positions",
            key="export-spread",
            disabled=background.running_job() is not None,
            on_click=background.measure_spread,
            args=(source.state,),
            help="Refits the map several times with resampled links, which takes up to three times "
            "as long as making the map. Adds a column to the tables and a section to the report.",
        )
    makers: dict[str, Callable[[], Any]] = {
        "Coordinates": partial(coordinates_table, source.data, source.embedding, codes),
        "Neighbours": partial(neighbors_table, source.data, source.embedding),
    }
    selected = session.workspace().view_state.selection
    if len(selected):
        label = f"Selection ({len(selected):,})"
        makers[label] = partial(selection_table, source.data, source.embedding, selected, codes)
    for label, make in makers.items():
        stem = f"{source.stem}-{label.split(' ')[0].lower()}"
        with st.container(horizontal=True, vertical_alignment="center"):
            st.html(f'<span class="hv-status-line">{theme.escape_html(label)}</span>', width=118)
            for extension in ("csv", "parquet"):
                format_name = {"csv": "CSV", "parquet": "Parquet"}[extension]
                download_button(
                    format_name,
                    f"{stem}.{extension}",
                    partial(_table_content, make, extension, exact),
                )
    with st.container(horizontal=True):
        download_button(
            "Guidance (CSV)", f"{source.stem}-guidance.csv", partial(guidance_csv, source.data)
        )
        download_button(
            "For Embedding Atlas",
            f"{source.stem}-atlas.parquet",
            partial(
                _table_content,
                partial(atlas_table, source.data, source.embedding),
                "parquet",
                False,
            ),
        )


def _table_content(make: Callable[[], Any], extension: str, exact: bool) -> bytes:
    return table_bytes(make(), extension, exact=exact)


def show_report_files(source: ExportSource) -> None:
    """Show the downloads of the report, the recipe with its data, and the fitted method."""
    run, state = source.run, source.state
    is_known = is_method(run.method)
    fitted_run = None
    if is_known:
        # Earlier versions did not store the versions of packages.
        made_with = run.versions or versions()
        fitted_run = replace(run, fingerprint=source.data.fingerprint(), versions=made_with)
    theme.show_section("Report and recipe")
    scores = charts.run_figures(state, run)
    links = state.findings.get(LINKS)
    report = partial(
        report_page,
        source.data,
        source.embedding,
        run=fitted_run,
        figures={
            "scores": scores["scores"],
            "kinds": charts.curves_of(scores),
            "diagnostics": scores.get("diagnostics"),
            "best": charts.best_close_text(state, run),
        },
        clusters=None if state.clustering is None else state.clustering.summary(source.data),
        title=f"{state.title}: {source.method_title or run.title}",
        notes=tuple(scores.get("notes", ())),
        settings=source.options.settings,
        colours=source.options.colours,
        spread=spread.find(state, run),
        regions=source.regions,
        link_test=None
        if links is None or links.fingerprint != source.data.fingerprint()
        else links.content.get("test"),
    )
    with st.container(horizontal=True):
        download_button("Report", f"{source.stem}-report.html", lambda: report().encode())
        reason = reason_against_recipe(run.origin)
        if run.origin is not None and not reason:
            recipe = partial(
                map_recipe,
                run.origin,
                source.options.settings,
                state.title,
                is_exact=run.id != ORIGINAL_MAP,
                views=state.saved_views,
            )
            download_button("Reproduce this", f"{source.stem}-recipe.zip", recipe)
        if fitted_run is not None:
            _show_model_file(source)
    for note in _recipe_notes(source, reason):
        theme.show_note(note)


def _recipe_notes(source: ExportSource, reason: str) -> list[str]:
    """Return what the report and the recipe hold; `reason`: why there is no recipe."""
    run, state = source.run, source.state
    notes = ["The report has a methods paragraph and citations."]
    if run.origin is None or reason:
        return [*notes, f"There is no recipe that gives the same map again. {reason}"]
    notes[0] += " “Reproduce this” has the data, a recipe and a script that make the map again."
    if not state.is_current(run):
        notes.append(
            "The data changed since this map was made. The recipe has the data that it was made "
            "from."
        )
    n_added = run.embedding.n_rows - run.origin.result.embedding.n_rows
    if n_added:
        notes.append(
            f"{theme.count(n_added, 'item')} placed later on this map "
            f"{'is' if n_added == 1 else 'are'} not in the recipe."
        )
    if run.id == ORIGINAL_MAP:
        notes.append("The original map came with the data, so the new one may differ from it.")
    return notes


def _show_model_file(source: ExportSource) -> None:
    finding = source.state.findings.get(MODEL)
    is_current = finding is not None and finding.fingerprint == source.run.fingerprint
    if finding is not None and is_current and finding.content["method"] == source.run.method:
        size = _size_text(int(finding.content["bytes"]))
        make = partial(base64.b64decode, finding.content["zip"])
        download_button(f"Fitted method, {size}", f"{source.stem}.hetviz-model", make)
        return
    st.button(
        "Prepare the fitted method",
        key="export-model",
        disabled=background.running_job() is not None or source.run.only is not None,
        on_click=_fit_model,
        args=(source.run,),
        help="Fits the method again and saves it without pickle, to place new items later with "
        "hetviz.load_model.",
    )


def _fit_model(run: MapResult) -> None:
    background.start_task("fit-model", run.settings, repeats=run.id)


def _size_text(n_bytes: int) -> str:
    return f"{n_bytes / 1e6:.1f} MB" if n_bytes >= 1e6 else f"{max(n_bytes / 1e3, 1):.0f} kB"


def show_project_files(state: State) -> None:
    """Show the downloads of the project and its data."""
    theme.show_section("Project and data", "to continue elsewhere")
    stem = stem_of(state.title)
    with st.container(horizontal=True, key="export-project"):
        download_button("Project", f"{stem}.hetviz", partial(save_project, session.workspace()))
        download_button(
            "Data with guidance", f"{stem}.zip", partial(bundle_bytes, state.opened(), stem)
        )
    theme.show_note(
        "Project: one file with the data, all maps, clusters, names, groups and every step. Undo "
        "works in it, so it also contains what you removed. Drop it on the Start page to open it "
        "again, here or on another computer."
    )
    theme.show_note(
        "Data with guidance: only the present data, with their links, comparisons and labels."
    )
