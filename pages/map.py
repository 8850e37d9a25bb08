"""Map: the work place."""

import streamlit as st

from hetviz.ui import charts, look, map_panel, map_tools, session, work

state = session.workspace().state

if state.data is None:
    look.headline("Nothing to map yet", "Open a sample or your own files on the Start page.")
    st.stop()

left, right = st.columns([2.75, 1], gap="medium")
with left:
    map_tools.tools(state)
    drawn = charts.show_map(state)
    if drawn is not None:
        map_tools.below(state, drawn)
    elif work.live() is not None:
        look.headline("The first map is being made", "It appears here as soon as it is ready.")
    else:
        map_panel.no_map(state)
with right, st.container(key="panel"):
    chosen = charts.selected(state)
    if chosen:
        map_panel.selection(state, chosen)
    if state.run is not None:
        map_panel.quality(state, state.run)
    map_panel.maker(state)
