"""Start page: the open map, file upload and samples."""

import streamlit as st

from hetviz.ui.reading import upload
from hetviz.ui.shell import navigation, recent, session, theme
from hetviz.ui.start import gallery, project_file

failed_upload = project_file.open_dropped_project()
state = session.workspace().state
is_review = failed_upload is None and upload.is_staged()

if not is_review:
    # First, as what a visitor does next also comes first on a phone.
    with st.container(key="start-side"):
        st.html('<div class="hv-head hv-question"><h2>What do you want to map?</h2></div>')
        upload.drop_zone("Your own files", fresh=True)
        theme.show_note(
            "Drop your files here: one table for each dataset, and links if you have them. Each "
            "may have up to 200 MB. A saved project opens, too."
        )
        theme.show_section("Samples", "with a finished map")
        gallery.show_samples()
        recent.show_projects()
if is_review:
    # The review of files has the whole window.
    with st.container(key="start-review"), st.container(key="start-staged"):
        staged = upload.staged_files()
        if staged is not None:
            upload.show_review(staged)
elif failed_upload is not None:
    with st.container(key="start-review"):
        project_file.show_errors(failed_upload)
else:
    with st.container(key="start-main"):
        theme.show_headline(*gallery.map_headline(state))
        if state.data is not None and state.run is None:
            theme.show_note("These data have no map yet. Make one on the Map page.")
    if state.data is not None:
        with st.container(
            key="start-foot", horizontal=True, vertical_alignment="center", gap="medium"
        ):
            with st.container(key="primary_map", width="content"):
                label = "Open this map" if state.run else "Make a map"
                if st.button(label, type="primary"):
                    navigation.go_to("map")
            gallery.show_legend(state, [])
