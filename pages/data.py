"""Data page: tables, dataset cards, joins and more files."""

import streamlit as st

from hetviz.ui.data import dataset_card, join_panel, new_version, open_tables
from hetviz.ui.reading import join_choice, upload
from hetviz.ui.shell import navigation, recent, session, theme

state = session.workspace().state
staged = upload.staged_files()

if staged is not None:
    upload.show_review(staged)
elif new_version.is_pending(state):
    new_version.show_review(state)
elif state.data is None:
    theme.show_headline(
        "What do you want to map?", "Drop files here, or open a sample on the Start page."
    )
    upload.drop_zone("Your own files", fresh=True)
    navigation.show_link("start", "Samples on the Start page")
else:
    links = sum(map(len, state.data.links))
    counts = [f"{len(dataset):,} {name}" for name, dataset in state.data.datasets.items()]
    with st.container(horizontal=True, vertical_alignment="bottom", key="data-head"):
        contents = f"{theme.join_words(counts)}, {theme.count(links, 'link')}."
        theme.show_headline("What is in your data?", f"{contents} {state.description}".strip())
        with st.container(key="primary_map", width="content"):
            if st.button("Open the map" if state.run else "Make a map", type="primary"):
                navigation.go_to("map")
    left, right = st.columns([2.6, 1], gap="large")
    with left:
        open_tables.show_tables(state)
        for name in state.data.datasets:
            dataset_card.show_card(state, name)
    with right:
        join_choice.show_link_kinds(state)
        join_panel.show_panel(state)
        theme.show_section("Add files", "to these data")
        upload.drop_zone("More files", fresh=False)
        theme.show_note(
            "A table becomes a new dataset. A table with source_id and target_id becomes links."
        )
        with st.expander("Links, comparisons and labels", key="relations"):
            dataset_card.show_relations(state)
        recent.record_project()
