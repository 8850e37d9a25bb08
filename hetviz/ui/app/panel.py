"""Panel next to the map with the tabs Item, Guidance, Clusters and Predict."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import streamlit as st

from hetviz._types import Ints
from hetviz.ui.app import help_texts
from hetviz.ui.item import item_panel
from hetviz.ui.map import group_panel, map_reasons, new_map, periods, quality
from hetviz.ui.map.component import component
from hetviz.ui.map.panel_view import TABS, PanelView
from hetviz.ui.shell import background, selection, session, theme
from hetviz.ui.shell.page_state import page_state, state_of
from hetviz.ui.statements import consequences, draft_panel, pins, statement_draft
from hetviz.ui.widgets import charts, failure
from hetviz.workspace import State

_KEY = "panel-tabs"

_HINTS = (
    "Click an item to see what is close and linked.",
    "Draw around several to see what sets them apart.",
    "Scroll to zoom, double-click to see all.",
)
_FIRST_MAP_TEXTS = (
    "A quick first sketch. A better map is being made, and you can already look around.",
    "Several methods are compared, and the best map stays.",
    "Cancel keeps the latest map, if there is one.",
)
_FIRST_KEYS = ("Shift + drag", "A, B", "T, X", "N and P", "/", "Esc", "?")


def open_tab(tab: str, *, opens: bool = True, wide: bool = False) -> None:
    """Switch to a tab; with `opens`, open the panel too."""
    view = state_of(PanelView)
    if (tab, wide, opens) != (view.tab, view.wide, False):
        view.tab, view.wide, view.opens_panel = tab, wide, opens
        view.version += 1


def opening_version() -> int:
    """Return the version of the panel if its last change opens it, or 0."""
    view = state_of(PanelView)
    return view.version if view.opens_panel else 0


@st.fragment
def show_panel() -> None:
    """Show the panel; a change within a tab runs only this fragment."""
    if _page_inputs() != page_state().panel_drawn or page_state().go_to is not None:
        # The map and the top bar need the change as well.
        st.rerun()
    state, view = session.workspace().state, state_of(PanelView)
    tabs = view.update_tabs({tab: _tab_state(tab) for tab in TABS})
    close_texts, best_close = _close_texts(state, measure=view.tab in TABS[:2])
    with st.container(key="panel", gap=None):
        component.show_tabs(
            {
                "tab": view.tab,
                "loaded": tabs,
                "view": view.token,
                "wide": view.wide,
                "version": view.version,
                "open": view.opens_panel,
                "has_selection": bool(len(selection.selected_rows(state))),
                "close_texts": close_texts,
                "best_close": best_close,
            },
            _KEY,
            on_view=_on_tab_change,
        )
        width = "wide" if view.wide else "narrow"
        with st.container(key="panel-body", gap=None), st.container(key=f"panel-{width}", gap=None):
            places = {tab: st.container(key=f"tab-{tab.lower()}", gap="small") for tab in TABS}
            for tab in tabs:
                with places[tab], failure.show_failure(f"tab-{tab}"):
                    _show_tab(tab, state)


def _tab_state(tab: str) -> tuple[object, ...]:
    """Return the state that a tab depends on; the tab is redrawn when it differs."""
    workspace = session.workspace()
    return (
        workspace.version,
        background.running_job() is None,
        *(_page_inputs() if tab == TABS[0] else ()),
    )


def _close_texts(state: State, measure: bool) -> tuple[dict[str, str], str]:
    """Return the share of close links of the shown map, by run, and that of the best map."""
    run = state.run if measure else None
    text = None if run is None else charts.close_text(charts.run_figures(state, run))
    texts = {} if run is None or text is None else {run.id: text}
    return texts, charts.best_close_text(state, run)


def note_drawn() -> None:
    """Record the state that the page was drawn for."""
    page_state().panel_drawn = _page_inputs()


def _page_inputs() -> tuple[object, ...]:
    workspace = session.workspace()
    n_messages = len(page_state().messages)
    groups = tuple(
        (name, hash(rows.tobytes())) for name, rows in workspace.view_state.groups.items()
    )
    return workspace.version, workspace.selection_version, groups, n_messages


def _on_tab_change() -> None:
    result: Any = st.session_state.get(_KEY)
    value = None if result is None else result.get("view")
    if isinstance(value, dict) and value.get("tab") in TABS:
        view = state_of(PanelView)
        view.tab, view.wide = str(value["tab"]), bool(value.get("wide"))


def _keep_as_cluster(rows: Ints) -> None:
    # Imported late: the pages load the numerical libraries.
    from hetviz.ui.clusters import actions

    actions.keep_selection(rows)


_GROUP_ACTIONS = (
    group_panel.GroupAction(
        "Label",
        "label-selection",
        "Begins a sentence that gives all of them a label, such as a category of your own.",
        partial(statement_draft.begin, "label"),
    ),
    group_panel.GroupAction(
        "Keep as cluster",
        "cluster-selection",
        "Adds a cluster of them and colours the map by clusters. Rename it in Clusters.",
        _keep_as_cluster,
    ),
)


def _show_item_tab(state: State) -> None:
    rows = selection.selected_rows(state)
    groups = statement_draft.get_groups(state)
    named = not len(rows) or any(np.array_equal(rows, group) for group in groups.values())
    # The effects of the last statement are hidden while another is drafted.
    if named and draft_panel.show_draft(state):
        return
    if state.run is not None:
        consequences.show_consequences(state, state.run)
    if len(rows) == 1:
        show_more = partial(pins.show_pin_button, state)
        item_panel.show_item(
            session.workspace(), int(rows[0]), statement_draft.draft_together, show_more
        )
    elif len(rows):
        group_panel.show_group(state, rows, _GROUP_ACTIONS, partial(pins.show_pin_button, state))
    elif state.run is not None and state.run.period is not None:
        periods.show_moved(state, state.run)
    elif state.run is not None and not consequences.show_moved(state, state.run):
        _show_hints()
        map_reasons.show_reasons(state, state.run)
    if state.run is not None:
        pins.show_pins(state, state.run)
        quality.show_quality(state, state.run)
    elif background.running_job() is None:
        new_map.show_form(state)
    else:
        # The form would load the numerical libraries, and no other map can be started now.
        theme.show_section("The first map is being made")
        for text in _FIRST_MAP_TEXTS:
            theme.show_note(text)


def _show_tab(tab: str, state: State) -> None:
    # Imported late: the pages load the numerical libraries.
    if tab == "Guidance":
        from hetviz.ui.guidance import page as guidance

        widen = partial(open_tab, tab, wide=True)
        guidance.show(state, wide=state_of(PanelView).wide, widen=widen)
    elif tab == "Clusters":
        from hetviz.ui.clusters import page as clusters

        clusters.show(state)
    elif tab == "Predict":
        from hetviz.ui.predict import page as predict

        predict.show(state)
    else:
        _show_item_tab(state)


def _show_hints() -> None:
    lines = "".join(f"<li>{hint}</li>" for hint in _HINTS)
    keys = "".join(
        f"<dt><kbd>{key}</kbd></dt><dd>{does}</dd>"
        for key, does in help_texts.KEYS
        if key in _FIRST_KEYS
    )
    st.html(f'<ul class="hv-hints">{lines}</ul><dl class="hv-key-list">{keys}</dl>')
