"""Predict: links that nobody has given yet, labels, and something new."""

import streamlit as st

from hetviz.ui.predict import file as predict_file
from hetviz.ui.predict import labels, links, new_item
from hetviz.ui.shell import session, theme
from hetviz.ui.shell.paths import PAGES

SECTIONS = {
    "Links": links.show,
    "Labels": labels.show,
    "Something new": new_item.show,
    "New items from a file": predict_file.show,
}

state = session.workspace().state

if state.data is None:
    theme.headline("Nothing to predict yet", "Open a sample or your own files on the Start page.")
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
