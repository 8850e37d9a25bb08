"""Compare: methods side by side, judged by what none of them saw."""

import streamlit as st

from hetviz.ui.compare import choose, leaderboard, maps, progress, sweep
from hetviz.ui.compare.results import kept_of
from hetviz.ui.shell import recent, session, theme
from hetviz.ui.shell.paths import PAGES

VIEWS = ["Methods", "Settings"]

state = session.workspace().state

if state.data is None:
    theme.headline("Nothing to compare yet", "Open a sample or your own files on the Start page.")
    st.page_link(PAGES / "start.py", label="To the Start page", query_params=session.address())
    st.stop()

kept = kept_of(state)
if kept is None:
    theme.headline(
        "Which of the maps to believe",
        "Methods are fitted without a part of what is known, and judged by how much of it their "
        "maps keep.",
    )
else:
    leaderboard.headline(state, kept)
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
        leaderboard.measure_choice(kept)
progress.show()
if view == VIEWS[1]:
    sweep.show(state)
else:
    left, right = st.columns([1.32, 1], gap="large")
    with left:
        to_come = choose.show(state, kept)
        if kept is not None:
            leaderboard.advice(state, kept)
            leaderboard.more(kept)
    with right:
        maps.show(state, kept, to_come)
    recent.remember()
