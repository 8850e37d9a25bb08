"""Clusters: which groups lie on the map, what each of them is, and what to do with them."""

import streamlit as st

from hetviz.ui.clusters import actions, find
from hetviz.ui.clusters import cards as clusters_cards
from hetviz.ui.clusters import map as clusters_map
from hetviz.ui.compare import progress
from hetviz.ui.shell import background, recent, session, theme
from hetviz.ui.shell.paths import PAGES
from hetviz.ui.statements import draft

draft.follow()
state = session.workspace().state

if state.data is None or state.run is None:
    theme.headline("No clusters yet", "Clusters are found on a map: make one first.")
    st.page_link(PAGES / "map.py", label="To the Map page")
    st.stop()

if state.clustering is None:
    theme.headline(
        "No clusters yet",
        "Find groups of items that lie together, and what sets each of them apart.",
    )
    cards = ()
else:
    with st.spinner("Reading what sets the clusters apart"):
        cards = clusters_cards.cards_of(state)
    clusters_cards.headline(state, cards)
left, right = st.columns([1, 1.9], gap="medium")
with left:
    find.show(state)
    if background.live() is not None:
        progress.show()
    clusters_map.show(state)
    if cards:
        actions.show(state, cards)
with right:
    clusters_cards.show(state, cards)
    recent.remember()
