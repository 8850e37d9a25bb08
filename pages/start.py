"""Start: the open map, live; own files; the samples."""

import streamlit as st

from hetviz.ui.data import upload
from hetviz.ui.map import view
from hetviz.ui.shell import recent, session, theme
from hetviz.ui.shell.paths import PAGES
from hetviz.ui.start import gallery, opening

refused = opening.waiting()
state = session.workspace().state
waiting = upload.staged()
left, right = st.columns([2.25, 1], gap="large")

with left:
    if refused is not None:
        opening.refusal(refused)
    elif waiting is not None:
        upload.account(waiting)
    elif state.data is None:
        theme.headline(
            "Nothing is open yet", "Drop your own files at the right, or open one of the samples."
        )
    else:
        theme.headline(
            gallery.found(state.data, state.run is not None), gallery.joined_by(state.data)
        )
        if state.run is None:
            theme.quiet("These data have no map yet. The Map page makes one.")
        said = [] if state.run is None else view.show_live(state)
        words, button = st.columns([3.4, 1], vertical_alignment="center")
        with words:
            gallery.legend(state, said)
        with button, st.container(key="primary_map"):
            label = "Open this map" if state.run else "Make a map"
            if st.button(label, type="primary", width="stretch"):
                st.switch_page(PAGES / "map.py")

with right:
    theme.section("Your own data")
    upload.drop_zone("Your own files", fresh=True)
    theme.quiet(
        "Drop them here: one table for each dataset, and links if you have them. Several at once, "
        "or a zip; 200 MB each. A project that was saved as a file opens as it was."
    )
    theme.section("Samples", "open with their map drawn")
    gallery.cards()
    recent.show()
