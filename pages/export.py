"""Export page: figures, pages, tables, recipes and the report."""

import streamlit as st

from hetviz.ui.export import files
from hetviz.ui.shell import background, recent, session, theme
from hetviz.ui.shell.paths import PAGES

state = session.workspace().state

if state.data is None:
    theme.show_headline(
        "Nothing to export yet", "Open a sample or your own files on the Start page."
    )
    st.page_link(PAGES / "start.py", label="To the Start page", query_params=session.url_params())
elif state.run is None:
    if background.running_job() is None:
        headline = "No map to export yet", "Make one on the Map page first."
    else:
        headline = "The map is being made", "Its figures appear here when it is ready."
    theme.show_headline(*headline)
    st.page_link(PAGES / "map.py", label="To the Map page", query_params=session.url_params())
    files.show_project_files(state)
else:
    # Imported late: it loads matplotlib.
    from hetviz.ui.export import page

    page.show(state, state.run)
    recent.record_project()
