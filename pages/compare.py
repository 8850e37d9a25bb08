"""Compare: methods side by side, judged by what none of them saw."""

import streamlit as st

from hetviz.ui.compare import choose, leaderboard, maps, progress, sweep
from hetviz.ui.compare.results import kept_of
from hetviz.ui.shell import background, recent, session, theme
from hetviz.ui.shell.paths import PAGES

VIEWS = ["Results", "Methods", "One setting"]

state = session.workspace().state

if state.data is None:
    theme.headline("Nothing to compare yet", "Open a sample or your own files on the Start page.")
    st.page_link(PAGES / "start.py", label="To the Start page")
    st.stop()

kept = kept_of(state)
st.session_state.setdefault("compare-view", "Methods" if kept is None else "Results")
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
        "What to see",
        VIEWS,
        required=True,
        key="compare-view",
        persist_state="session",
        label_visibility="collapsed",
    )
    st.space("stretch")
    if view == "Results" and kept is not None:
        leaderboard.measure_choice(kept)
progress.show()
if view == "Methods":
    choose.show(state)
elif view == "One setting":
    sweep.show(state)
else:
    if kept is not None:
        leaderboard.show(state, kept)
    elif len(state.runs) < 2 and background.live() is None:
        theme.quiet("Nothing compared yet: tick methods under Methods and press Compare.")
    maps.show(state, kept)
    recent.remember()
