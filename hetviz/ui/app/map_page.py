"""Elements over the map: errors, tools, list of maps, statement bar and panel."""

from __future__ import annotations

import streamlit as st

from hetviz.ui.app import panel
from hetviz.ui.map import filters, history, stories
from hetviz.ui.map import new_map as maker
from hetviz.ui.map_data import layers
from hetviz.ui.shell import background, navigation, recent, session, theme
from hetviz.ui.shell.page_state import page_state, state_of
from hetviz.ui.statements import bar
from hetviz.ui.widgets import failure
from hetviz.ui.widgets.folded import Opened, needs_content
from hetviz.workspace import State


def show_map_page(tab: str | None = None) -> None:
    """Show the elements; `tab` opens the panel at that tab."""
    state = session.workspace().state
    if state.data is None:
        with st.container(key="page"):
            theme.show_headline(
                "Nothing to map yet", "Open a sample or your own files on the Start page."
            )
            navigation.show_link("start", "To the Start page")
        return
    arrived, page_state().arrived = page_state().arrived, False
    if arrived:
        # The browser forgets the fields of a page that it leaves.
        state_of(Opened).names.clear()
        state_of(maker.MapForm).recipe = None
    if arrived and (tab is not None or state.run is None):
        panel.open_tab(tab or "Item", wide=tab == "Guidance")
    if state.run is None:
        job = background.running_job()
        if job is None or not job.seq:
            with st.container(key="no-map"):
                if job is None:
                    maker.show_no_map(state)
                else:
                    theme.show_headline(
                        "The first map is being made", "It appears here as soon as it is ready."
                    )
    else:
        _show_tools(state)
        bar.show_bar(state)
    panel.show_panel()
    recent.record_project()
    if state.run is not None:
        _show_new_map(state)
        _show_stories(state)


def _show_tools(state: State) -> None:
    """Show the active filters and errors below the legend, and the sheet of colours and filters."""
    filters.add_sheet(state)
    with st.container(horizontal=True, vertical_alignment="center", key="tools", gap="small"):
        filters.show_chips(state)
        missing = layers.find_failures(state, state.run)
        if missing:
            with st.container(key="missing"):
                for place, error in missing.items():
                    with failure.show_failure(place):
                        raise error


def _show_new_map(state: State) -> None:
    """Show the form for a new map and the list of maps."""
    # It loads the numerical libraries, so it runs after the map.
    # A new key after a start closes the popover.
    key = f"maker-{state_of(maker.MapForm).n_started}"
    with st.container(key="new-map"):
        popover = st.popover("New map", icon=":material/add:", key=key, on_change="rerun")
        if needs_content(popover, stays="new map"):
            with popover, st.container(width=400, key="maker"):
                maker.show_form(state)
                history.show_history(state)
        if state.run is not None and not state.is_current(state.run):
            # The style sheet shows the button for a map that is out of date.
            st.html('<i class="hv-outdated" hidden></i>')


def _show_stories(state: State) -> None:
    """Show the list of saved views, which the tools of the map open."""
    with st.container(key="saved-views"):
        popover = st.popover("Saved views", key="stories", on_change="rerun")
        if needs_content(popover, stays="saved views"):
            with popover, st.container(width=470, key="stories-body"):
                stories.show_list(state)
