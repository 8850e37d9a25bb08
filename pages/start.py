"""Start: the open map, live; own files; the samples."""

import streamlit as st

from hetviz.ui import gallery, look, map_view, opening, recent, session, upload
from hetviz.ui.places import PAGES

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
        look.headline(
            "Nothing is open yet", "Drop your own files at the right, or open one of the samples."
        )
    else:
        look.headline(
            gallery.found(state.data, state.run is not None), gallery.joined_by(state.data)
        )
        if state.run is None:
            look.quiet("These data have no map yet. The Map page makes one.")
        said = [] if state.run is None else map_view.show_live(state)
        words, button = st.columns([3.4, 1], vertical_alignment="center")
        with words:
            gallery.legend(state, said)
        with button, st.container(key="primary_map"):
            label = "Open this map" if state.run else "Make a map"
            if st.button(label, type="primary", width="stretch"):
                st.switch_page(PAGES / "map.py")

with right:
    look.section("Your own data")
    upload.drop_zone("Your own files", fresh=True)
    look.quiet(
        "Drop them here: one table for each dataset, and links if you have them. Several at once, "
        "or a zip; 200 MB each. A project that was saved as a file opens as it was."
    )
    look.section("Samples", "open with their map drawn")
    gallery.cards()
    recent.show()
