"""Charts on the page: the map, its selection, the curve; each kept as long as nothing changes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from hetviz.data import Embedding, HeteroData
from hetviz.plots import (
    Colouring,
    MapPicture,
    colouring,
    curve_alt,
    curve_figure,
    hide_rules,
    map_figure,
    still_map,
)
from hetviz.plots.curve import LOOK_AT, kept_at
from hetviz.plots.map import DOT
from hetviz.ui import look, pictures, session
from hetviz.workspace import Run, State

# Up to this many points the browser is quicker without its graphics card.
_FEW = 2500
_CONFIG = {
    "displaylogo": False,
    "scrollZoom": True,
    "modeBarButtonsToRemove": ["toImage", "autoScale2d", "zoom2d"],
}


def embedding_of(state: State, run: Run) -> Embedding | None:
    """Return the run's places of the rows that are there now."""
    return session.cached(
        ("places", id(state.data), id(run)), (state.data, run), lambda: state.embedding(run)
    )


def colours(state: State) -> Colouring:
    """Return the colouring that the view asks for."""
    data = _data(state)
    return session.cached(
        ("colours", id(data), state.view.colour), data, lambda: colouring(data, state.view.colour)
    )


def picture(state: State, selected: tuple[int, ...] = (), webgl: bool = True) -> MapPicture | None:
    """Return the map of the chosen run, or None without one."""
    run = state.run
    if run is None or state.data is None:
        return None
    data, sid = state.data, str(st.session_state["sid"])
    embedding = embedding_of(state, run)
    if embedding is None:
        return None
    theme = session.theme()
    key = ("map", id(data), id(run), state.view, theme, selected, webgl)

    def draw() -> MapPicture:
        return map_figure(
            data,
            embedding,
            colours(state),
            theme,
            hidden=state.view.hidden,
            picture_of=lambda name, row: pictures.address(sid, data, name, row),
            selected=selected,
            webgl=webgl,
        )

    return session.cached(key, (data, run), draw)


def show_still(state: State) -> MapPicture | None:
    """Show the map to look at: pan and zoom, no selection.

    A picture of it stands in its place until the browser has loaded what draws it.
    """
    few = state.data is not None and state.data.n_rows <= _FEW
    drawn = picture(state, webgl=not few)
    if drawn is not None:
        look.stand_in("live", _still(state))
        look.rules(hide_rules(".st-key-live", drawn.written))
        with st.container(key="live", height=560, border=False):
            st.plotly_chart(
                drawn.figure,
                key="start-map",
                theme=None,
                height="stretch",
                config={**_CONFIG, "displayModeBar": False, "scrollZoom": False},
                alt=drawn.alt,
            )
    return drawn


def _still(state: State) -> str:
    data, run, theme = _data(state), state.run, session.theme()
    embedding = None if run is None else embedding_of(state, run)
    if embedding is None:
        return ""
    return session.cached(
        ("still", id(data), id(run), state.view.colour, theme),
        (data, run),
        lambda: still_map(data, embedding, colours(state), theme, width=900, height=560, dot=DOT),
    )


def show_map(state: State) -> MapPicture | None:
    """Show the map to work with; what is selected goes to `selected`."""
    run = state.run
    if run is None:
        return None
    # A changed figure is a new chart, which forgets its selection: the rows selected before are
    # then drawn into it. They must not be while it stays, or every selection would redraw it.
    basis = (id(state.data), id(run), state.view, session.theme())
    if st.session_state.get("map-basis") != basis:
        st.session_state["map-basis"] = basis
        st.session_state["map-baked"] = selected(state)
    drawn = picture(state, st.session_state["map-baked"])
    if drawn is not None:
        look.rules(hide_rules(".st-key-map", drawn.written))
        with st.container(key="map", height=600, border=False):
            st.plotly_chart(
                drawn.figure,
                key=_map_key(),
                theme=None,
                height="stretch",
                config=_CONFIG,
                on_select=_keep_selection,
                alt=drawn.alt,
            )
    return drawn


def selected(state: State) -> tuple[int, ...]:
    """Return the selected rows that there are, in order."""
    kept: tuple[str, tuple[int, ...]] = st.session_state.get("selected", ("", ()))
    # Rows mean nothing once the data have changed.
    return kept[1] if kept[0] == _data(state).fingerprint() else ()


def clear_selection() -> None:
    """Select nothing."""
    st.session_state["selected"] = ("", ())
    st.session_state.pop("map-basis", None)
    # A chart of another name, or the browser would go on showing what it had selected.
    st.session_state["map-number"] = st.session_state.get("map-number", 0) + 1


def _keep_selection() -> None:
    event: Any = st.session_state.get(_map_key())
    points = event["selection"]["points"] if event else []
    rows = set()
    for point in points:
        row = point.get("customdata")
        # One number a point comes back as itself or in a list, as Plotly pleases.
        rows.add(int(row[0] if isinstance(row, list) else row))
    data = session.workspace().state.data
    if data is not None:
        st.session_state["selected"] = (data.fingerprint(), tuple(sorted(rows)))


def _map_key() -> str:
    return f"big-map-{st.session_state.get('map-number', 0)}"


def figures(state: State, run: Run) -> Mapping[str, Any]:
    """Return a run's measures and curves; taken now where they never were."""
    if run.figures is not None:
        return run.figures
    # It loads scikit-learn, which nothing before the first map needs.
    from hetviz.jobs.tasks import figures_of

    data = _data(state)
    embedding = embedding_of(state, run)
    if embedding is None:
        return {"scores": {}, "curves": {}}
    return session.cached(
        ("figures", id(data), id(run)),
        (data, run),
        lambda: figures_of(data, embedding, state.held_out),
    )


def show_curve(curves: Mapping[str, Any]) -> None:
    """Show satisfaction curves."""
    st.plotly_chart(
        curve_figure(curves, session.theme()),
        key="curve",
        theme=None,
        config={"displayModeBar": False},
        alt=curve_alt(curves),
    )


def curve_words(curves: Mapping[str, Any]) -> str:
    """Say in one sentence what the curves show where they are read off."""
    kept = {key: f"{kept_at(curve):.0%}".replace("%", " %") for key, curve in curves.items()}
    held = f" and {kept['held_out']} of those held out" if "held_out" in kept else ""
    first = kept.get("given", "")
    share = f"{LOOK_AT:.0%}".replace("%", " %")
    if not first:
        return f"The nearest {share} of all pairs hold {kept['held_out']} of the held-out links."
    return f"The nearest {share} of all pairs hold {first} of the links{held}; by chance {share}."


def _data(state: State) -> HeteroData:
    assert state.data is not None  # noqa: S101 - asked for only where data are open
    return state.data
