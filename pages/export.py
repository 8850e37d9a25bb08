"""Export: figures for print, pages, tables, recipes, the report."""

import streamlit as st

from hetviz.ui.export import files
from hetviz.ui.shell import background, recent, session, theme
from hetviz.ui.shell.paths import PAGES

state = session.workspace().state

if state.data is None:
    theme.show_headline(
        "Nothing to take along yet", "Open a sample or your own files on the Start page."
    )
    st.page_link(PAGES / "start.py", label="To the Start page", query_params=session.url_params())
elif state.run is None:
    if background.running_job() is None:
        words = "No map to take along yet", "The Map page makes one; then its figures are here."
    else:
        words = "The map is being made", "Its figures are here as soon as it is ready."
    theme.show_headline(*words)
    st.page_link(PAGES / "map.py", label="To the Map page", query_params=session.url_params())
    files.show_project_files(state)
else:
    # It loads matplotlib, which no other page needs.
    from hetviz.ui.export import page

    page.show(state, state.run)
    recent.record_project()
