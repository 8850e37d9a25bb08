"""Compare: methods side by side, judged by what none of them saw."""

import streamlit as st

from hetviz.ui import (
    compare_board,
    compare_choose,
    compare_live,
    compare_maps,
    compare_sweep,
    look,
    recent,
    session,
    work,
)
from hetviz.ui.compare_found import kept_of
from hetviz.ui.places import PAGES

VIEWS = ["Results", "Methods", "One setting"]

state = session.workspace().state

if state.data is None:
    look.headline("Nothing to compare yet", "Open a sample or your own files on the Start page.")
    st.page_link(PAGES / "start.py", label="To the Start page")
    st.stop()

kept = kept_of(state)
st.session_state.setdefault("compare-view", "Methods" if kept is None else "Results")
if kept is None:
    look.headline(
        "Which of the maps to believe",
        "Methods are fitted without a part of what is known, and judged by how much of it their "
        "maps keep.",
    )
else:
    compare_board.headline(state, kept)
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
        compare_board.measure_choice(kept)
compare_live.show()
if view == "Methods":
    compare_choose.show(state)
elif view == "One setting":
    compare_sweep.show(state)
else:
    if kept is not None:
        compare_board.show(state, kept)
    elif len(state.runs) < 2 and work.live() is None:
        look.quiet("Nothing compared yet: tick methods under Methods and press Compare.")
    compare_maps.show(state, kept)
    recent.remember()
