"""Data page: tables, dataset cards, joins and more files."""

import streamlit as st

from hetviz.ui.data import dataset_card, join_panel, new_version, open_tables
from hetviz.ui.reading import join_choice, upload
from hetviz.ui.shell import recent, session, theme
from hetviz.ui.shell.paths import PAGES

state = session.workspace().state
staged = upload.staged_files()

if staged is not None:
    upload.show_review(staged)
elif new_version.is_pending(state):
    new_version.show_review(state)
elif state.data is None:
    theme.show_headline("No data yet", "Drop files here, or open a sample on the Start page.")
    upload.drop_zone("Your own files", fresh=True)
    st.page_link(
        PAGES / "start.py", label="Samples on the Start page", query_params=session.url_params()
    )
else:
    links = sum(map(len, state.data.links))
    counts = [f"{len(dataset):,} {name}" for name, dataset in state.data.datasets.items()]
    theme.show_headline(
        f"{theme.join_words(counts)}, {theme.count(links, 'link')}", state.description
    )
    left, right = st.columns([2.6, 1], gap="large")
    with left:
        open_tables.show_tables(state)
        for name in state.data.datasets:
            dataset_card.show_card(state, name)
    with right:
        join_choice.show_link_kinds(state)
        theme.show_section("Add files", "to these data")
        upload.drop_zone("More files", fresh=False)
        theme.show_note(
            "A table becomes a new dataset. A table with source_id and target_id becomes links."
        )
        join_panel.show_panel(state)
        dataset_card.show_relations(state)
        recent.record_project()
