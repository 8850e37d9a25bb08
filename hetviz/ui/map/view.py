"""The map on a page."""

from __future__ import annotations

from typing import Any

import streamlit as st

from hetviz.errors import HetvizError
from hetviz.plots import still_map
from hetviz.plots.colour import LAYERS
from hetviz.ui.map import component, description, selection_codec
from hetviz.ui.shell import background, session
from hetviz.ui.shell import theme as look
from hetviz.ui.statements import messages
from hetviz.ui.widgets import charts
from hetviz.workspace import SetView, State

_WORK, _LOOK = "map", "live"
_DOT = 5.5
_WORK_HEIGHT = "max(360px, calc(100vh - 267px))"
_WORK_HEIGHT_BELOW_FILTERS = "max(340px, calc(100vh - 313px))"
_LOOK_HEIGHT = "max(320px, calc(100vh - 300px))"


def show(state: State) -> list[str]:
    """Show the map to work with; return what must be said of it."""
    job = background.live()
    workspace = session.workspace()
    if state.view.colour in LAYERS:
        with st.spinner("Finding out where this map can be trusted"):
            charts.colours(state)
    spec = description.spec(
        state,
        state.run,
        session=str(st.session_state["sid"]),
        theme=session.theme(),
        mode="work",
        selection=workspace.glance.selection,
        camera=workspace.glance.camera,
        version=workspace.selection_version,
        live=job,
    )
    with st.container(key=_WORK, border=False):
        component.draw(
            {**spec, "name": _WORK, "acts": messages.spec(state, spec["session"])},
            _key(_WORK),
            height=_WORK_HEIGHT_BELOW_FILTERS if state.filters else _WORK_HEIGHT,
            on_selection=_selected,
            on_camera=_moved,
            on_hidden=_hidden,
            on_act=_acted,
        )
    return _notes(spec)


def show_live(state: State) -> list[str]:
    """Show the map to look at; a picture of it stands in its place until the browser is ready.

    Returns what must be said of it.
    """
    spec = description.spec(
        state,
        state.run,
        session=str(st.session_state["sid"]),
        theme=session.theme(),
        mode="look",
    )
    look.stand_in(_LOOK, _still(state))
    with st.container(key=_LOOK, border=False):
        component.draw({**spec, "name": _LOOK}, _key(_LOOK), height=_LOOK_HEIGHT)
    return _notes(spec)


def _notes(spec: dict[str, Any]) -> list[str]:
    said = list(spec["notes"])
    if spec["outside"]:
        said.append(f"{look.count(spec['outside'], 'item')} beyond the edge: drag or zoom out.")
    if spec["unplaced"]:
        said.append(f"{look.count(spec['unplaced'], 'item')} without a place on this map.")
    return said


def _key(name: str) -> str:
    # A map of its own for each project that this tab opens. Streamlit refuses keys with two
    # underscores, which an id may have.
    return f"{name}-{st.session_state['sid'].encode().hex()[:16]}"


def _said(name: str) -> Any:
    """Return what the browser last said of a state of the map, or None."""
    result = st.session_state.get(_key(_WORK))
    return None if result is None else result.get(name)


def _selected() -> None:
    value, workspace = _said("selection"), session.workspace()
    state = workspace.state
    if not isinstance(value, dict) or state.data is None:
        return
    try:
        rows = selection_codec.rows_of_message(value, state.data)
        workspace.set_glance(selection=rows, heard=int(value.get("version", 0)))
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


def _still(state: State) -> str:
    data, run, theme = state.opened(), state.run, session.theme()
    embedding = None if run is None else charts.embedding_of(state, run)
    if embedding is None:
        return ""
    return session.cached(
        ("still", id(data), id(run), state.view.colour, theme),
        (data, run),
        lambda: still_map(
            data, embedding, charts.colours(state), theme, width=900, height=560, dot=_DOT
        ),
    )
