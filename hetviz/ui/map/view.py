"""The one map of all places, and what the browser says of it."""

from __future__ import annotations

from typing import Any

import streamlit as st

from hetviz.errors import HetvizError
from hetviz.plots.colour import LAYERS
from hetviz.plots.curve import kept_at
from hetviz.ui.map import description, layers, panel, ready, selection_codec
from hetviz.ui.map.component import component
from hetviz.ui.shell import background, session
from hetviz.ui.shell import theme as look
from hetviz.ui.start import gallery
from hetviz.ui.statements import messages
from hetviz.ui.widgets import charts
from hetviz.workspace import ChooseRun, SetView, State

_STAGE = "map"
_MOST_FILM = 6


def stage(state: State, place: str) -> None:
    """Show the one map of all places: to work with, to look at on the start page, else hidden.

    Where there are no data, or no map and none in the making, there is none.
    """
    job = background.live()
    if state.data is None or (state.run is None and (job is None or not job.seq)):
        return
    workspace = session.workspace()
    work = place != "start"
    sid = str(st.session_state["sid"])
    if work and state.view.colour in LAYERS:
        with st.spinner("Finding out where this map can be trusted"):
            layers.colours_of(state, state.run, sid)
    spec = description.spec(
        state,
        state.run,
        session=sid,
        mode="work" if work else "look",
        selection=workspace.glance.selection,
        camera=workspace.glance.camera,
        version=workspace.selection_version,
        live=job,
    )
    if work:
        run = state.run
        ready.begin(state.data, None if run is None else charts.embedding_of(state, run))
    with st.container(key=_STAGE, border=False):
        component.draw(
            {
                **spec,
                "name": _STAGE,
                "stage": True,
                "place": place,
                # Another number has the browser ask again for what it did not get.
                "failed": len(layers.failures(state, state.run)),
                "acts": messages.spec(state, sid),
                "film": _film(state, sid),
                "said": [*gallery.borrowed_words(state), *_notes(spec)],
            },
            _key(_STAGE),
            height="100%",
            on_selection=_selected,
            on_camera=_moved,
            on_hidden=_hidden,
            on_act=_acted,
            on_colour=_coloured,
            on_run=_chosen,
        )


def _film(state: State, sid: str) -> list[dict[str, object]]:
    """Return the maps made so far, as the browser draws them small."""
    found = []
    for run in state.runs[-_MOST_FILM:]:
        places = description.places(state, run, sid)
        figures = run.figures or {}
        scores, given = figures.get("scores", {}), figures.get("curves", {}).get("given")
        found.append(
            {
                "id": run.id,
                "title": run.title,
                "geometry": places,
                "kept": None if given is None else round(100 * kept_at(given)),
                "agrees": scores.get("comparison_accuracy"),
                "shown": run.id == state.chosen,
            }
        )
    return found


def _notes(spec: dict[str, Any]) -> list[str]:
    said = list(spec["notes"])
    if spec["unplaced"]:
        said.append(f"{look.count(spec['unplaced'], 'item')} without a place on this map.")
    return said


def _key(name: str) -> str:
    # A map of its own for each project that this tab opens. Streamlit refuses keys with two
    # underscores, which an id may have.
    return f"{name}-{st.session_state['sid'].encode().hex()[:16]}"


def _said(name: str) -> Any:
    """Return what the browser last said of a state of the map, or None."""
    result = st.session_state.get(_key(_STAGE))
    return None if result is None else result.get(name)


def _selected() -> None:
    value, workspace = _said("selection"), session.workspace()
    state = workspace.state
    if not isinstance(value, dict) or state.data is None:
        return
    try:
        rows = selection_codec.rows_of_message(value, state.data)
        workspace.set_glance(selection=rows, heard=int(value.get("version", 0)))
        if len(rows):
            panel.turn_to("Item", opens=False)
    except HetvizError:
        # Made on data or a map that is no longer there: the browser is told what is selected now.
        workspace.set_glance(selection=workspace.glance.selection)


def _moved() -> None:
    try:
        session.workspace().set_glance(camera=_said("camera") or {})
    except HetvizError:
        return


def _hidden() -> None:
    state, hidden = session.workspace().state, _said("hidden") or []
    if state.data is not None:
        session.do(SetView(hidden=tuple(name for name in state.data.datasets if name in hidden)))


def _acted() -> None:
    messages.acted(_said("act"))


def _coloured() -> None:
    state, key = session.workspace().state, _said("colour")
    if state.data is not None and isinstance(key, str) and key != state.view.colour:
        session.do(SetView(colour=key))


def _chosen() -> None:
    state, run = session.workspace().state, _said("run")
    if run != state.chosen and any(one.id == run for one in state.runs):
        session.do(ChooseRun(str(run)))
