"""Which groups lie on the map, what each of them is, and what to do with them."""

from __future__ import annotations

import streamlit as st

from hetviz.runs.cluster.cards import ClusterCard
from hetviz.ui.clusters import actions, find, quick
from hetviz.ui.clusters import cards as clusters_cards
from hetviz.ui.compare import progress
from hetviz.ui.shell import background, theme
from hetviz.workspace import State


def show(state: State) -> None:
    """Show the clusters of the shown map."""
    if state.run is None:
        theme.headline("No clusters yet", "Clusters are found on a map: make one first.")
        return
    cards: tuple[ClusterCard, ...] = ()
    if state.clustering is None:
        if not quick.show(state, state.run):
            theme.headline(
                "No clusters yet",
                "Find groups of items that lie together, and what sets each of them apart.",
            )
        theme.section("Look closer")
        theme.quiet("Tries many numbers of clusters, and says how far each is to be trusted.")
    else:
        with st.spinner("Reading what sets the clusters apart"):
            cards = clusters_cards.cards_of(state)
        clusters_cards.headline(state, cards)
    find.show(state)
    if background.live() is not None:
        progress.show()
    if cards:
        actions.show(state, cards)
    clusters_cards.show(state, cards)
