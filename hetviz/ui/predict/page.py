"""The Predict page: links, labels and new items."""

from __future__ import annotations

import streamlit as st

from hetviz.ui.predict import file as predict_file
from hetviz.ui.predict import labels, links, new_item
from hetviz.workspace import State

SECTIONS = {
    "Links": links.show,
    "Labels": labels.show,
    "New item": new_item.show,
    "File": predict_file.show,
}


def show(state: State) -> None:
    """Show the Predict page."""
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
