"""Clusters: which groups lie on the map, what each of them is, and what to do with them."""

import streamlit as st

from hetviz.ui import (
    act_draft,
    clusters_acts,
    clusters_cards,
    clusters_find,
    clusters_map,
    compare_live,
    look,
    recent,
    session,
    work,
)
from hetviz.ui.places import PAGES

act_draft.follow()
state = session.workspace().state

if state.data is None or state.run is None:
    look.headline("No clusters yet", "Clusters are found on a map: make one first.")
    st.page_link(PAGES / "map.py", label="To the Map page")
    st.stop()

if state.clustering is None:
    look.headline(
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
    clusters_find.show(state)
    if work.live() is not None:
        compare_live.show()
    clusters_map.show(state)
    if cards:
        clusters_acts.show(state, cards)
with right:
    clusters_cards.show(state, cards)
    recent.remember()
