"""What can be downloaded. Nothing is made before its button is pressed.

A button's function runs outside the page, so that it holds all that it needs.
"""

from __future__ import annotations

import base64
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import streamlit as st

from hetviz.algorithms.registry import methods
from hetviz.data import Embedding, HeteroData
from hetviz.exports.figures import bars_bytes, curve_bytes, map_bytes
from hetviz.exports.interactive import interactive_map
from hetviz.exports.model import MODEL
from hetviz.exports.report import report_page
from hetviz.exports.reproduce import recipe_zip
from hetviz.exports.tables import (
    atlas_table,
    coordinates_table,
    neighbors_table,
    selection_table,
    table_bytes,
)
from hetviz.io.bundle.guidance import guidance_csv
from hetviz.io.bundle.saving import bundle_bytes
from hetviz.plots.colour import colour_options
from hetviz.runs.compare.measures import MEASURES
from hetviz.runs.embed.recipe import coordinates_hash
from hetviz.runs.embed.run import Run as Made
from hetviz.runs.embed.run import versions
from hetviz.ui.compare.results import comparison_of, deciding, kept_of, short_title
from hetviz.ui.export.options import Chosen
from hetviz.ui.shell import background, session, theme
from hetviz.ui.widgets import charts
from hetviz.ui.widgets.downloads import button, stem_of
from hetviz.workspace import SHIPPED, Run, State, save_project

_FIT = "hetviz.exports.model:fit_model"


@dataclass(frozen=True, eq=False)
class Source:
    """All that the files are made of."""

    state: State
    run: Run
    data: HeteroData
    embedding: Embedding
    chosen: Chosen
    stem: str

    @property
    def how(self) -> str:
        """How the map was made, in words for a caption; empty where nobody knows."""
        titles = {card.key: card.title for card in methods()}
        return titles.get(self.run.method, "")


def the_map(of: Source) -> None:
    """Offer the map."""
    title = of.how
    settings, colours = of.chosen.settings, of.chosen.colours
    with st.container(horizontal=True, key="export-map"):
        for form in ("pdf", "svg", "png"):
            make = partial(
                map_bytes,
                of.data,
                of.embedding,
                settings,
                form,
                title=title,
                colours=colours,
                name=of.state.title,
            )
            button(f"{form.upper()} of the map", f"{of.stem}-map.{form}", make)
        page = partial(
            interactive_map,
            of.data,
            of.embedding,
            colours,
            title=of.state.title,
            subtitle=title,
            hidden=settings.hidden,
        )
        button(
            "Interactive page",
            f"{of.stem}-map.html",
            lambda: page().encode(),
            "One file that opens without a server: search, pictures, what lies near.",
        )


def charts_of(of: Source) -> None:
    """Offer the curve and the leaderboard."""
    kinds = charts.curves_of(charts.figures(of.state, of.run))
    sorts = [sort for sort in ("links", "comparisons", "apart") if kinds.get(sort)]
    for sort in sorts[:1]:
        theme.section("The curve", "how much of what was said the map keeps")
        with st.container(horizontal=True, key="export-curve"):
            for form in ("pdf", "svg", "png"):
                draw = partial(
                    curve_bytes,
                    kinds[sort],
                    sort,
                    of.chosen.settings,
                    form,
                    name=of.state.title,
                )
                button(form.upper(), f"{of.stem}-curve.{form}", draw)
    _leaderboard(of)


def _leaderboard(of: Source) -> None:
    kept = kept_of(of.state)
    found = None if kept is None else comparison_of(kept)
    measure = None if found is None else next(iter(deciding(found)), None)
    if found is None or measure is None:
        return
    table = found.table[found.table["n_fits"] > 0].dropna(subset=[measure])
    names = [short_title(found.candidate(str(key)).title) for key in table.index]
    said = MEASURES[measure]
    theme.section("The comparison of methods")
    with st.container(horizontal=True, key="export-bars"):
        for form in ("pdf", "svg", "png"):
            draw = partial(
                bars_bytes,
                names,
                table[measure].tolist(),
                table[f"{measure}_se"].tolist(),
                said.label,
                said.chance,
                of.chosen.settings,
                form,
                name=of.state.title,
            )
            button(form.upper(), f"{of.stem}-methods.{form}", draw)


def tables(of: Source) -> None:
    """Offer coordinates, neighbours, the selection, what was said."""
    theme.section("Tables", "with your own ids")
    exact = st.checkbox(
        "Exactly as they are",
        key="export-exact",
        help="A text that a spreadsheet would take for a formula, such as =1+1, gets an apostrophe "
        "in front in CSV files. Tick this for programs that read the ids back.",
    )
    codes: dict[str, Any] = {}
    if of.state.clustering is not None:
        names = [*of.state.clustering.names, ""]
        codes["cluster"] = [names[code] for code in of.state.clustering.of(of.data).tolist()]
    made: dict[str, Callable[[], Any]] = {
        "Coordinates": partial(coordinates_table, of.data, of.embedding, codes),
        "Neighbours": partial(neighbors_table, of.data, of.embedding),
    }
    selected = session.workspace().glance.selection
    if len(selected):
        label = f"Selection ({len(selected):,})"
        made[label] = partial(selection_table, of.data, of.embedding, selected)
    for label, make in made.items():
        stem = f"{of.stem}-{label.split(' ')[0].lower()}"
        with st.container(horizontal=True, vertical_alignment="center"):
            st.html(f'<span class="hv-now">{theme.esc(label)}</span>', width=118)
            for form in ("csv", "parquet"):
                words = {"csv": "CSV", "parquet": "Parquet"}[form]
                button(words, f"{stem}.{form}", partial(_table, make, form, exact))
    with st.container(horizontal=True):
        button("What was said (CSV)", f"{of.stem}-guidance.csv", partial(guidance_csv, of.data))
        button(
            "For Embedding Atlas",
            f"{of.stem}-atlas.parquet",
            partial(_table, partial(atlas_table, of.data, of.embedding), "parquet", False),
        )


def _table(make: Callable[[], Any], form: str, exact: bool) -> bytes:
    return table_bytes(make(), form, exact=exact)


def again(of: Source) -> None:
    """Offer the report, the recipe with its data, and the fitted method."""
    run, state = of.run, of.state
    known = run.method in {card.key for card in methods()}
    made = None
    if known:
        made = Made(
            of.data.fingerprint(),
            run.method,
            run.params,
            run.seed,
            versions(),
            0.0,
            run.weights,
            run.only,
            run.hold_out,
        )
    theme.section("To show and to repeat")
    figures_ = charts.figures(state, run)
    report = partial(
        report_page,
        of.data,
        of.embedding,
        run=made,
        figures={
            "scores": figures_["scores"],
            "kinds": charts.curves_of(figures_),
            "diagnostics": figures_.get("diagnostics"),
        },
        clusters=None if state.clustering is None else state.clustering.summary(of.data),
        title=f"{state.title}: {of.how or run.title}",
        notes=tuple(figures_.get("notes", ())),
        settings=of.chosen.settings,
        colours=of.chosen.colours,
    )
    with st.container(horizontal=True):
        button("Report", f"{of.stem}-report.html", lambda: report().encode())
        if made is not None:
            drawn = of.chosen.settings.to_dict()
            if drawn["colour"] not in {option.key for option in colour_options(of.data)}:
                drawn["colour"] = ""
            recipe = partial(_recipe, of, made, drawn)
            button("Reproduce this", f"{of.stem}-recipe.zip", recipe)
        if made is not None:
            _model(of)
    theme.quiet(
        "The report has a methods paragraph and citations. Reproduce this holds the data, a recipe "
        "and a Python script."
    )
    if not state.is_current(run):
        theme.quiet("The data changed since this map: a recipe would make another one.")


def _recipe(of: Source, made: Made, drawn: dict[str, Any]) -> bytes:
    # A shipped map was rounded when it was written, so its hash says nothing.
    digest = "" if of.run.id == SHIPPED else coordinates_hash(of.embedding)
    return recipe_zip(of.data, made, sha256=digest, figures=drawn, title=of.state.title)


def _model(of: Source) -> None:
    kept = of.state.findings.get(MODEL)
    fresh = kept is not None and kept.fingerprint == of.run.fingerprint
    if kept is not None and fresh and kept.content["method"] == of.run.method:
        size = _size(int(kept.content["bytes"]))
        make = partial(base64.b64decode, kept.content["zip"])
        button(f"Fitted method, {size}", f"{of.stem}-model.zip", make)
        return
    st.button(
        "Prepare the fitted method",
        key="export-model",
        disabled=background.live() is not None or of.run.only is not None,
        on_click=_fit,
        args=(of.run,),
        help="Fits the method again and keeps it, to place new items later: "
        "hetviz.load_model reads it. No pickle.",
    )


def _fit(run: Run) -> None:
    arguments = {
        "method": run.method,
        "params": dict(run.params),
        "seed": run.seed,
        "hold_out": run.hold_out,
        "weights": dict(run.weights),
    }
    background.find("Fitted method", _FIT, arguments)


def _size(n: int) -> str:
    """Return a number of bytes in words."""
    return f"{n / 1e6:.1f} MB" if n >= 1e6 else f"{max(n / 1e3, 1):.0f} kB"


def the_project(state: State) -> None:
    """Offer the project, and its data by themselves."""
    theme.section("To go on elsewhere", "or to keep")
    stem = stem_of(state.title)
    with st.container(horizontal=True, key="export-project"):
        button("Project", f"{stem}.hetviz", partial(save_project, session.workspace()))
        button("Data as guided", f"{stem}.zip", partial(bundle_bytes, state.opened(), stem))
    theme.quiet(
        "Project: one file with the data, all maps, clusters, names, groups and every step since "
        "the first, so that undo works and what you took out is still in it. Dropped on the Start "
        "page it opens again, here or on another computer."
    )
    theme.quiet("Data as guided: only the data as they are now, with what was said of them.")
