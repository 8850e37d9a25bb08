"""Compare: methods side by side, judged by what none of them saw."""

import streamlit as st

from hetviz.ui.compare import leaderboard, method_table, progress, settings_search, side_by_side
from hetviz.ui.compare.results import finding_of
from hetviz.ui.shell import recent, session, theme
from hetviz.ui.shell.paths import PAGES

VIEWS = ["Methods", "Settings"]

state = session.workspace().state

if state.data is None:
    theme.show_headline(
        "Nothing to compare yet", "Open a sample or your own files on the Start page."
    )
    st.page_link(PAGES / "start.py", label="To the Start page", query_params=session.url_params())
    st.stop()

kept = finding_of(state)
if kept is None:
    theme.show_headline(
        "Which of the maps to believe",
        "Methods are fitted without a part of what is known, and judged by how much of it their "
        "maps keep.",
    )
else:
    leaderboard.show_headline(state, kept)
with st.container(horizontal=True, vertical_alignment="center", key="compare-tools"):
    view = st.segmented_control(
        "What to compare",
        VIEWS,
        default=VIEWS[0],
        required=True,
        key="compare-view",
        label_visibility="collapsed",
    )
    st.space("stretch")
    if view == VIEWS[0] and kept is not None:
        leaderboard.choose_measure(kept)
progress.show_progress()
if view == VIEWS[1]:
    settings_search.show_search(state)
else:
    left, right = st.columns([1.32, 1], gap="large")
    with left:
        to_come = method_table.show_methods(state, kept)
        if kept is not None:
            leaderboard.show_advice(state, kept)
            leaderboard.show_details(kept)
    with right:
        side_by_side.show_maps(state, kept, to_come)
    recent.record_project()
