"""The panel beside the map, with its tabs: the item, guidance, clusters, predictions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import streamlit as st

from hetviz.plots.curve import kept_at
from hetviz.ui.map import group_panel, item_panel, new_map, quality
from hetviz.ui.map.component import component
from hetviz.ui.map.panel_view import TABS, view_of
from hetviz.ui.shell import background, selection, session, theme, words
from hetviz.ui.statements import drafted, outcome, wording
from hetviz.ui.widgets import charts, failed
from hetviz.workspace import State

_KEY = "panel-tabs"

_HINTS = (
    "Click an item to see what is near and linked.",
    "Draw around several to see what sets them apart.",
    "Scroll to zoom, double-click to see all.",
)
_FIRST_MAP = (
    "At first items lie where features and links alone would put them. Then one method draws them, "
    "others are tried on held-out links and neighbours, and the best map of these stays.",
    "Cancel keeps the map that was drawn by then, if one was.",
)
_FIRST_KEYS = ("Shift + drag", "A, B", "T, X", "N and P", "/", "Esc", "?")


def turn_to(tab: str, *, opens: bool = True, wide: bool = False) -> None:
    """Turn to a tab; with `opens`, open the panel too."""
    view = view_of()
    if (tab, wide, opens) != (view.tab, view.wide, False):
        view.tab, view.wide, view.opens = tab, wide, opens
        view.turn += 1


def show() -> None:
    """Show the panel."""
    _body()


@st.fragment
def _body() -> None:
    """Show the tabs that are seen; what changes within one of them runs this part alone."""
    if _stamp() != st.session_state.get("panel-stamp") or "go-to" in st.session_state:
        # Something was changed from here that the map and the bar above show too.
        st.rerun()
    state, view = session.workspace().state, view_of()
    tabs = view.see({tab: _shown_of(tab) for tab in TABS})
    with st.container(key="panel", gap=None):
        component.tabs(
            {
                "tab": view.tab,
                "there": tabs,
                "view": view.token,
                "wide": view.wide,
                "turn": view.turn,
                "open": view.opens,
                "chosen": bool(len(selection.chosen(state))),
                "kept": _kept(state) if view.tab in TABS[:2] else {},
            },
            _KEY,
            on_view=_turned,
        )
        width = "wide" if view.wide else "narrow"
        with st.container(key="panel-body", gap=None), st.container(key=f"panel-{width}", gap=None):
            places = {tab: st.container(key=f"tab-{tab.lower()}", gap="small") for tab in TABS}
            for tab in tabs:
                with places[tab], failed.told(f"tab-{tab}"):
                    _SHOWN[tab](state)


def _shown_of(tab: str) -> tuple[object, ...]:
    """Return what a tab depends on: where that is another now, the tab is drawn anew when asked."""
    workspace = session.workspace()
    return (workspace.version, background.live() is None, *(_stamp() if tab == TABS[0] else ()))


def _kept(state: State) -> dict[str, int]:
    """Return how many of 100 links the shown map keeps, for its picture below the map."""
    run = state.run
    given = None if run is None else charts.figures(state, run)["curves"].get("given")
    return {} if run is None or given is None else {run.id: round(100 * kept_at(given))}


def drawn() -> None:
    """Note what the whole page, of which the panel is a part, was drawn for."""
    st.session_state["panel-stamp"] = _stamp()


def _stamp() -> tuple[object, ...]:
    workspace = session.workspace()
    told = len(st.session_state.get("messages", ()))
    groups = tuple((name, hash(rows.tobytes())) for name, rows in workspace.glance.groups.items())
    return workspace.version, workspace.selection_version, groups, told


def _turned() -> None:
    result: Any = st.session_state.get(_KEY)
    value = None if result is None else result.get("view")
    if isinstance(value, dict) and value.get("tab") in TABS:
        view = view_of()
        view.tab, view.wide = str(value["tab"]), bool(value.get("wide"))


def _item(state: State) -> None:
    rows = selection.chosen(state)
    groups = wording.groups(state)
    named = not len(rows) or any(np.array_equal(rows, group) for group in groups.values())
    # While something else is being said, what the last statement did would be taken for its doing.
    if named and drafted.show(state):
        return
    if state.run is not None:
        outcome.show(state, state.run)
    if len(rows) == 1:
        item_panel.show(state, int(rows[0]))
    elif len(rows):
        group_panel.show(state, rows)
    elif state.run is not None and not outcome.what_moved(state, state.run):
        _hints()
    if state.run is not None:
        quality.show(state, state.run)
    elif background.live() is None:
        new_map.show(state)
    else:
        # The form loads the numerical libraries, and while a map is made no other one can be.
        theme.section("The first map is being made")
        for line in _FIRST_MAP:
            theme.quiet(line)


def _guidance(state: State) -> None:
    from hetviz.ui.guidance import page

    page.show(state, wide=view_of().wide, widen=lambda: turn_to("Guidance", wide=True))


def _clusters(state: State) -> None:
    from hetviz.ui.clusters import page

    page.show(state)


def _predict(state: State) -> None:
    from hetviz.ui.predict import page

    page.show(state)


_SHOWN: dict[str, Callable[[State], None]] = {
    "Item": _item,
    "Guidance": _guidance,
    "Clusters": _clusters,
    "Predict": _predict,
}


def _hints() -> None:
    lines = "".join(f"<li>{line}</li>" for line in _HINTS)
    keys = "".join(
        f"<dt><kbd>{key}</kbd></dt><dd>{does}</dd>"
        for key, does in words.KEYS
        if key in _FIRST_KEYS
    )
    st.html(f'<ul class="hv-hints">{lines}</ul><dl class="hv-key-list">{keys}</dl>')
