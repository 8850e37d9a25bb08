"""Map: the work place."""

import streamlit as st

from hetviz.ui.map import new_map, panel, toolbar, view
from hetviz.ui.shell import background, recent, session, theme
from hetviz.ui.shell.paths import PAGES
from hetviz.ui.statements import bar, draft

draft.follow()
state = session.workspace().state

if state.data is None:
    theme.headline("Nothing to map yet", "Open a sample or your own files on the Start page.")
    st.page_link(PAGES / "start.py", label="To the Start page")
    st.stop()

left, right = st.columns([2.75, 1], gap="medium")
with left:
    place = toolbar.tools(state)
    job = background.live()
    if state.run is not None or (job is not None and job.seq):
        toolbar.below(state, view.show(state))
    elif job is not None:
        theme.headline("The first map is being made", "It appears here as soon as it is ready.")
    else:
        new_map.no_map(state)
if state.run is not None:
    toolbar.new_map(state, place)
with right, st.container(key="panel", gap="small"):
    panel.show(state)
    recent.remember()
if state.run is not None:
    bar.show(state)
