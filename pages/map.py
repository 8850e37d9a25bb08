"""Map: the work place."""

import streamlit as st

from hetviz.ui import (
    act_bar,
    act_draft,
    look,
    maker,
    map_panel,
    map_tools,
    map_view,
    recent,
    session,
    work,
)
from hetviz.ui.places import PAGES

act_draft.follow()
state = session.workspace().state

if state.data is None:
    look.headline("Nothing to map yet", "Open a sample or your own files on the Start page.")
    st.page_link(PAGES / "start.py", label="To the Start page")
    st.stop()

left, right = st.columns([2.75, 1], gap="medium")
with left:
    place = map_tools.tools(state)
    job = work.live()
    if state.run is not None or (job is not None and job.seq):
        map_tools.below(state, map_view.show(state))
    elif job is not None:
        look.headline("The first map is being made", "It appears here as soon as it is ready.")
    else:
        maker.no_map(state)
if state.run is not None:
    map_tools.new_map(state, place)
with right, st.container(key="panel", gap="small"):
    map_panel.show(state)
    recent.remember()
if state.run is not None:
    act_bar.show(state)
