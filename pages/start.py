"""Start: the open map, live; own files; the samples."""

import streamlit as st

from hetviz.ui.data import upload
from hetviz.ui.shell import recent, session, theme
from hetviz.ui.shell.paths import PAGES
from hetviz.ui.start import gallery, opening

refused = opening.waiting()
state = session.workspace().state
reads = refused is None and upload.is_staged()

if reads:
    # Tables that wait have the whole window.
    with st.container(key="start-told"), st.container(key="start-staged"):
        waiting = upload.staged()
        if waiting is not None:
            upload.account(waiting)
elif refused is not None:
    with st.container(key="start-told"):
        opening.refusal(refused)
else:
    with st.container(key="start-main"):
        theme.headline(*gallery.headline(state))
        if state.data is not None and state.run is None:
            theme.quiet("These data have no map yet. The Map page makes one.")
    if state.data is not None:
        with st.container(
            key="start-foot", horizontal=True, vertical_alignment="center", gap="medium"
        ):
            with st.container(key="primary_map", width="content"):
                label = "Open this map" if state.run else "Make a map"
                if st.button(label, type="primary"):
                    st.switch_page(PAGES / "map.py", query_params=session.address())
            gallery.legend(state, [])
if not reads:
    with st.container(key="start-side"):
        theme.section("Your own data")
        upload.drop_zone("Your own files", fresh=True)
        theme.quiet(
            "Drop them here: one table for each dataset, and links if you have them. Several at "
            "once, or a zip; 200 MB each. A project that was saved as a file opens as it was."
        )
        theme.section("Samples", "open with their map drawn")
        gallery.cards()
        recent.show()
