"""Predict: links that nobody has given yet, labels, and something new."""

import streamlit as st

from hetviz.ui import look, predict_file, predict_labels, predict_links, predict_new, session
from hetviz.ui.places import PAGES

SECTIONS = {
    "Links": predict_links.show,
    "Labels": predict_labels.show,
    "Something new": predict_new.show,
    "New items from a file": predict_file.show,
}

state = session.workspace().state

if state.data is None:
    look.headline("Nothing to predict yet", "Open a sample or your own files on the Start page.")
    st.page_link(PAGES / "start.py", label="To the Start page")
    st.stop()

chosen = st.segmented_control(
    "What to predict",
    list(SECTIONS),
    default="Links",
    required=True,
    key="predict-section",
    persist_state="session",
    label_visibility="collapsed",
)
SECTIONS[chosen](state)
