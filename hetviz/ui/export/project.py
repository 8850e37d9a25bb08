"""A whole project as a file to take along."""

from __future__ import annotations

from functools import partial

import streamlit as st

from hetviz.io.bundle.saving import bundle_bytes
from hetviz.ui.shell import session, theme
from hetviz.ui.widgets.downloads import button, stem_of
from hetviz.workspace import State, save_project


def offer(state: State) -> None:
    """Offer the project, and its data by themselves."""
    theme.section("To go on elsewhere", "or to keep")
    stem = stem_of(state.title)
    with st.container(horizontal=True, key="export-project"):
        button("Project", f"{stem}.hetviz", partial(save_project, session.workspace()))
        button("Data as guided", f"{stem}.zip", partial(bundle_bytes, state.opened(), stem))
    theme.quiet(
        "Project: one file with the data, all maps, clusters, names, groups and every step since "
        "the first, so that undo works and what you took out is still in it. Dropped on the Start "
        "page it opens again, here or on another computer."
    )
    theme.quiet("Data as guided: only the data as they are now, with what was said of them.")
