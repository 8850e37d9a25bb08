"""Data: the tables, a card for each dataset, what joins them, more files."""

import streamlit as st

from hetviz.ui.data import belonging, dataset_card, joining, new_version, open_tables, upload
from hetviz.ui.shell import recent, session, theme
from hetviz.ui.shell.paths import PAGES

state = session.workspace().state
waiting = upload.staged()

if waiting is not None:
    upload.account(waiting)
elif new_version.waits(state):
    new_version.account(state)
elif state.data is None:
    theme.headline("No data yet", "Drop files here, or open a sample on the Start page.")
    upload.drop_zone("Your own files", fresh=True)
    st.page_link(
        PAGES / "start.py", label="Samples on the Start page", query_params=session.address()
    )
else:
    links = sum(map(len, state.data.links))
    kinds = [f"{len(dataset):,} {name}" for name, dataset in state.data.datasets.items()]
    theme.headline(f"{theme.listed(kinds)}, {theme.count(links, 'link')}", state.description)
    left, right = st.columns([2.6, 1], gap="large")
    with left:
        open_tables.show(state)
        for name in state.data.datasets:
            dataset_card.card(state, name)
    with right:
        belonging.linked(state)
        theme.section("Add files", "to these data")
        upload.drop_zone("More files", fresh=False)
        theme.quiet(
            "A table becomes one more dataset; a table with source_id and target_id, links."
        )
        joining.column(state)
        dataset_card.links_summary(state)
        recent.remember()
