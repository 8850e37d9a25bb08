"""Map of all pages and its callbacks."""

from __future__ import annotations

from typing import Any

import streamlit as st

from hetviz.errors import HetvizError
from hetviz.plots.colour import LAYERS
from hetviz.ui.app import panel
from hetviz.ui.map import description, linked_charts, periods, preload, stories
from hetviz.ui.map.component import component
from hetviz.ui.map.component.messages import FilmStripSpec, MapSpec, SpreadSpec
from hetviz.ui.map_data import layers, selection_codec, spread
from hetviz.ui.map_data.array_cache import send_array
from hetviz.ui.map_data.periods import series_of
from hetviz.ui.shell import background, people, session
from hetviz.ui.shell import theme as look
from hetviz.ui.shell.page_state import project_id, state_of
from hetviz.ui.start import demo, gallery
from hetviz.ui.statements import messages
from hetviz.ui.widgets import charts
from hetviz.workspace import ChooseRun, MapResult, SetSwatch, SetView, State

_STAGE = "map"
_MAX_FILM = 6


def show_map(state: State, place: str) -> None:
    """Show the map: interactive, as a preview on the Start page, or hidden on other pages."""
    job = background.running_job()
    if state.data is None or (state.run is None and (job is None or not job.seq)):
        return
    workspace = session.workspace()
    work = place != "start"
    sid = project_id()
    selection, version = workspace.view_state.selection, workspace.selection_version
    story = stories.presented(state) if place == "map" else None
    if story is not None:
        # A presentation changes nothing in the project.
        state, selection = story[0], story[1].rows
        job, version = None, version + 1 + state_of(stories.StoryState).number
    if work and state.view.colour in LAYERS:
        with st.spinner("Checking where this map is reliable"):
            layers.colours_of(state, state.run, sid)
    spec = description.map_spec(
        state,
        state.run,
        session=sid,
        mode="work" if work else "look",
        selection=selection,
        camera=workspace.view_state.camera,
        version=version,
        live=job,
    )
    if work:
        run = state.run
        preload.start_preload(
            state.opened(), None if run is None else charts.embedding_of(state, run)
        )
        if spread.find(state, run) is None:
            background.measure_spread_automatically(state)
    with st.container(key=_STAGE, border=False):
        component.draw_map(
            {
                **spec,
                "name": _STAGE,
                "stage": True,
                "place": place,
                "opens_panel": panel.opening_version() if place == "map" else 0,
                # The browser may be ahead: a colour that it drew and that was undone at once.
                "version": workspace.version,
                # A changed number makes the browser repeat failed requests.
                "n_failures": len(layers.find_failures(state, state.run)),
                "draft": None if story else messages.draft_spec(state, sid),
                "story": stories.story_spec(state) if work else None,
                "film_strip": _film_strip(state, sid),
                "periods": periods.periods_spec(state, sid) if work and not story else None,
                "spread": _spread_spec(state, sid),
                "me": people.author_name() if work else "",
                "demo": None if work else demo.demo_spec(state, sid),
                "charts": linked_charts.charts_spec(state, sid) if work and not story else None,
                "notes": [*gallery.borrowed_colour_notes(state), *_map_notes(spec, state.run)],
            },
            _component_key(_STAGE),
            height="100%",
            on_selection=_on_selection,
            on_camera=_on_camera,
            on_hidden=_on_hidden,
            on_terrain=_on_terrain,
            on_requests=_on_requests,
            on_colour=_on_colour,
            on_swatch=_on_swatch,
            on_run=_on_run,
            on_charts=_on_charts,
            on_filter=_on_filter,
            on_seen=_on_seen,
            on_present=_on_present,
        )


def _film_strip(state: State, sid: str) -> list[FilmStripSpec]:
    """Return the latest maps for the thumbnails."""
    specs: list[FilmStripSpec] = []
    # Of the periods, one stands for all.
    series = series_of(state)
    one = state.run if state.run in series else series[-1] if series else None
    runs = [run for run in state.runs if run is one or run not in series]
    for run in runs[-_MAX_FILM:]:
        places = description.map_places(state, run, sid)
        figures = run.figures or {}
        specs.append(
            {
                "id": run.id,
                "title": run.title,
                "geometry": places,
                "close": charts.close_text(figures),
                "comparisons_met": figures.get("scores", {}).get("comparison_accuracy"),
                "is_open": run.id == state.chosen,
            }
        )
    return specs


def _spread_spec(state: State, sid: str) -> SpreadSpec | None:
    """Return what the map needs to fade unstable positions."""
    if not spread.can_measure(state.run):
        return None
    measured = spread.find(state, state.run)
    if measured is None:
        return {"key": None, "text": ""}
    return {
        "key": send_array(sid, spread.unstable_flags(state, measured)),
        "text": spread.faded_text(measured),
    }


def _map_notes(spec: MapSpec, run: MapResult | None) -> list[str]:
    notes = list(spec["notes"])
    if spec["unplaced"] and run is not None and run.period is not None:
        are = "is" if spec["unplaced"] == 1 else "are"
        items = look.count(spec["unplaced"], "item")
        notes.append(f"{items} {are} not in {run.period['name']}, and hidden.")
    elif spec["unplaced"]:
        notes.append(f"{look.count(spec['unplaced'], 'item')} without a position on this map.")
    return notes


def _component_key(name: str) -> str:
    # One map per project. The id is encoded because Streamlit refuses keys with two underscores.
    return f"{name}-{project_id().encode().hex()[:16]}"


def _browser_value(name: str) -> Any:
    """Return the last value of a state of the component, or None."""
    result = st.session_state.get(_component_key(_STAGE))
    return None if result is None else result.get(name)


def _on_selection() -> None:
    value, workspace = _browser_value("selection"), session.workspace()
    state = workspace.state
    if not isinstance(value, dict) or state.data is None:
        return
    try:
        rows = selection_codec.read_selection(value, state.data)
        workspace.set_view_state(selection=rows, browser_version=int(value.get("version", 0)))
        if len(rows):
            panel.open_tab("Item", opens=False)
    except HetvizError:
        # The selection is of other data, so the browser gets the current one.
        workspace.set_view_state(selection=workspace.view_state.selection)


def _on_camera() -> None:
    try:
        session.workspace().set_view_state(camera=_browser_value("camera") or {})
    except HetvizError:
        return


def _on_hidden() -> None:
    state, hidden = session.workspace().state, _browser_value("hidden") or []
    if state.data is not None:
        session.run_command(
            SetView(hidden=tuple(name for name in state.data.datasets if name in hidden))
        )


def _on_terrain() -> None:
    state, terrain = session.workspace().state, _browser_value("terrain")
    if state.data is not None and isinstance(terrain, bool) and terrain != state.view.terrain:
        session.run_command(SetView(terrain=terrain))


def _on_requests() -> None:
    messages.handle_requests(_browser_value("requests"))


def _on_colour() -> None:
    state, key = session.workspace().state, _browser_value("colour")
    if state.data is not None and isinstance(key, str) and key != state.view.colour:
        session.run_command(SetView(colour=key))


def _on_swatch() -> None:
    """Change the colour of a category, or of none to get all usual colours back."""
    state, value = session.workspace().state, _browser_value("swatch")
    if state.data is None or not isinstance(value, dict):
        return
    colours = layers.colours_of(state, state.run)
    key, code = colours.option.key, value.get("code")
    # The map may have been coloured otherwise in the meantime.
    if value.get("option") != key or code not in (None, *range(len(colours.categories))):
        return
    category = "" if code is None else colours.categories[code]
    session.run_command(SetSwatch(key, category, str(value.get("colour") or "")))


def _on_run() -> None:
    state, run = session.workspace().state, _browser_value("run")
    if run != state.chosen and any(other.id == run for other in state.runs):
        series = [each.id for each in series_of(state)]
        session.run_command(ChooseRun(str(run), is_period={run, state.chosen} <= {*series}))


def _on_charts() -> None:
    """Keep the charts below the map, and whether they or the table are open."""
    state, value = session.workspace().state, _browser_value("charts")
    if state.data is not None and isinstance(value, dict):
        has_charts, has_table = (bool(value.get(key)) for key in ("open", "table"))
        charts = value.get("charts")
        has_time = False if value.get("time") is False else None
        session.run_command(
            SetView(charts=charts, has_charts=has_charts, has_table=has_table, has_time=has_time)
        )


def _on_filter() -> None:
    linked_charts.apply_filter(_browser_value("filter"))


def _on_seen() -> None:
    stories.on_seen(_browser_value("seen"))


def _on_present() -> None:
    stories.on_present(_browser_value("present"))
