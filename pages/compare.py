"""Compare page: methods side by side, ranked by hidden links."""

import streamlit as st

from hetviz.ui.compare import leaderboard, method_table, settings_search, side_by_side
from hetviz.ui.shell import navigation, recent, session, theme
from hetviz.ui.shell.comparison_results import COMPARE
from hetviz.ui.widgets import progress

VIEWS = ["Methods", "Settings"]

state = session.workspace().state

if state.data is None:
    theme.show_headline(
        "Nothing to compare yet", "Open a sample or your own files on the Start page."
    )
    navigation.show_link("start", "To the Start page")
    st.stop()

finding = state.findings.get(COMPARE)
if finding is None:
    theme.show_headline("Is there a better map for these data?", method_table.question_text(state))
else:
    leaderboard.show_headline(state, finding)
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
    if view == VIEWS[0] and finding is not None:
        leaderboard.choose_measure(finding)
progress.show_progress()
if view == VIEWS[1]:
    settings_search.show_search(state)
else:
    # Before a comparison there is more to see on the map than to read.
    left, right = st.columns([1, 1.5] if finding is None else [1.32, 1], gap="large")
    with left:
        method_table.show_methods(state, finding)
        if finding is not None:
            leaderboard.show_details(finding)
    with right:
        side_by_side.show_maps(state, finding)
    recent.record_project()
