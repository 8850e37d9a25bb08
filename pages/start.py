"""Start: the open map, live; own files; the samples."""

import streamlit as st

from hetviz.ui.data import upload
from hetviz.ui.shell import recent, session, theme
from hetviz.ui.shell.paths import PAGES
from hetviz.ui.start import gallery, project_file

refused = project_file.open_dropped_project()
state = session.workspace().state
reads = refused is None and upload.is_staged()

if reads:
    # Tables that wait have the whole window.
    with st.container(key="start-told"), st.container(key="start-staged"):
        waiting = upload.staged_files()
        if waiting is not None:
            upload.show_review(waiting)
elif refused is not None:
    with st.container(key="start-told"):
        project_file.show_errors(refused)
else:
    with st.container(key="start-main"):
        theme.show_headline(*gallery.map_headline(state))
        if state.data is not None and state.run is None:
            theme.show_note("These data have no map yet. The Map page makes one.")
    if state.data is not None:
        with st.container(
            key="start-foot", horizontal=True, vertical_alignment="center", gap="medium"
        ):
            with st.container(key="primary_map", width="content"):
                label = "Open this map" if state.run else "Make a map"
                if st.button(label, type="primary"):
                    st.switch_page(PAGES / "map.py", query_params=session.url_params())
            gallery.show_legend(state, [])
if not reads:
    with st.container(key="start-side"):
        theme.show_section("Your own data")
        upload.drop_zone("Your own files", fresh=True)
        theme.show_note(
            "Drop them here: one table for each dataset, and links if you have them. Several at "
            "once, or a zip; 200 MB each. A project that was saved as a file opens as it was."
        )
        theme.show_section("Samples", "open with their map drawn")
        gallery.show_samples()
        recent.show_projects()
