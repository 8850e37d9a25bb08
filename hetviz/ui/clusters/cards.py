"""Cluster cards: name, examples, purity, stability and characteristic words."""

from __future__ import annotations

import math

import numpy as np
import streamlit as st

from hetviz._text import shorten
from hetviz.data import HeteroData
from hetviz.plots.colour import CLUSTER
from hetviz.plots.palette import shape_of
from hetviz.runs.cluster.cards import ClusterCard, cluster_cards, top_categories, top_words
from hetviz.ui.item import item_chip
from hetviz.ui.item.item import find_item
from hetviz.ui.map_data import layers
from hetviz.ui.map_data import parts as map_parts
from hetviz.ui.map_data.array_cache import RESULTS
from hetviz.ui.shell import theme
from hetviz.workspace import ClusterAssignment, State

_MAX_PICTURES, _MAX_NAMES, _NAME_CHARS = 8, 4, 22


def cards_of(state: State) -> tuple[ClusterCard, ...]:
    """Return the cached cards of the current clusters."""
    data, clustering, run = state.opened(), state.clustering, state.run
    if clustering is None:
        return ()
    contrasts = layers.get_contrasts(data)

    def make() -> tuple[ClusterCard, ...]:
        Y = map_parts.get_geometry(state, run).points.astype(np.float64)
        codes = clustering.of(data)
        return cluster_cards(
            contrasts, Y, codes, len(clustering.names), clustering.names, clustering.stability
        )

    return RESULTS.get_or_compute(data, ("cards", id(clustering), id(run)), make, (clustering, run))


def clustering_key(clustering: ClusterAssignment) -> str:
    """Return a key that distinguishes these clusters in the keys of widgets."""
    return f"{id(clustering):x}"


def picked_clusters(clustering: ClusterAssignment) -> list[int]:
    """Return the numbers of the picked clusters, from 1."""
    return [
        number
        for number in range(1, len(clustering.names) + 1)
        if st.session_state.get(f"pick-{clustering_key(clustering)}-{number}")
    ]


def show_cards(state: State, cards: tuple[ClusterCard, ...]) -> None:
    """Show all cards."""
    data, clustering = state.opened(), state.clustering
    if clustering is None:
        return
    palette = theme.category_colours(layers.colours_of(state, state.run))
    with st.container(key="clusters-cards"):
        for card in cards:
            with st.container(border=True, key=f"cluster-{card.number}", gap="xsmall"):
                st.checkbox(
                    f"{card.number} **{theme.escape_markdown(card.name)}**",
                    key=f"pick-{clustering_key(clustering)}-{card.number}",
                )
                # Grey unless the map is coloured by cluster.
                is_coloured = state.view.colour == CLUSTER.key
                colour = palette[card.number - 1] if is_coloured else "var(--hv-mute)"
                st.html(_card_html(data, card, clustering_key(clustering), colour))


def _card_html(data: HeteroData, card: ClusterCard, key: str, colour: str) -> str:
    return (
        f'<div class="hv-cluster" data-hv-cluster="clusters/{key}/{card.number - 1}" '
        f'data-hv-name="{theme.escape_html(card.name)}">{_examples_html(data, card)}'
        f"{_purity_html(card, colour)}{_counts_html(data, card)}{_words_html(card)}</div>"
    )


def _examples_html(data: HeteroData, card: ClusterCard) -> str:
    """Return examples by their pictures, else by their names."""
    pictures, names = [], []
    for name, rows in card.exemplars.items():
        start = data.offsets[name].start
        for row in rows.tolist():
            item = find_item(data, start + row)
            source = item_chip.picture_of(data, item)
            title = theme.escape_html(item.title)
            if source:
                pictures.append(
                    f'<img src="{theme.escape_html(source)}" alt="{title}" title="{title}">'
                )
            else:
                names.append(f"{item.glyph} {theme.escape_html(shorten(item.title, _NAME_CHARS))}")
    if pictures:
        return f'<div class="hv-pictures">{"".join(pictures[:_MAX_PICTURES])}</div>'
    return f'<p class="hv-names-line">{" · ".join(names[:_MAX_NAMES])}</p>'


def _purity_html(card: ClusterCard, colour: str) -> str:
    if card.label is None or math.isnan(card.purity):
        return ""
    share = f"{100 * card.purity:.0f} %"
    datasets = f" {card.labelled}:" if card.labelled else ""
    return (
        f'<div class="hv-purity" role="img" aria-label="{share} {theme.escape_html(card.label)}">'
        f'<i style="width:{100 * card.purity:.0f}%;background:{colour}"></i></div>'
        "<p>"
        + theme.evidence_html(
            f"{theme.escape_html(share + datasets)} {theme.escape_html(card.label)}",
            theme.evidence_key("cluster-label", card.number),
        )
        + "</p>"
    )


def _counts_html(data: HeteroData, card: ClusterCard) -> str:
    numbers = {name: number for number, name in enumerate(data.datasets)}
    parts = [
        f"<span>{shape_of(numbers[name])[1]} {count:,} {theme.escape_html(name)}</span>"
        for name, count in card.counts.items()
    ]
    counts = theme.evidence_html("".join(parts), theme.evidence_key("cluster", card.number))
    return f'<p class="hv-counts">{counts}</p>'


def _words_html(card: ClusterCard) -> str:
    words_shown = top_words(card.words, 4) or top_categories(card.categories, max_categories=2)
    if not words_shown:
        return ""
    chips = "".join(
        f"<li>{theme.escape_html(shorten(word, _NAME_CHARS))}</li>" for word in words_shown
    )
    return f'<ul class="hv-names">{chips}</ul>'


def show_headline(state: State, cards: tuple[ClusterCard, ...]) -> None:
    """Show how many clusters there are, which are clearest, and how they were found."""
    clustering = state.clustering
    assert clustering is not None  # noqa: S101 - called only with clusters
    if not cards:
        theme.show_headline("No clusters found", "No group of items is separate from the others.")
        return
    clearest = sorted(cards, key=lambda card: -_clarity(card))[:3]
    names = theme.join_words([f"“{card.name}”" for card in clearest])
    if len(cards) == 1:
        title = f"One cluster: “{cards[0].name}”"
    elif len(cards) <= 3:
        title = f"{len(cards)} clusters: {names}"
    else:
        title = f"The clearest of {len(cards)} clusters: {names}"
    theme.show_headline(title, _method_text(state, cards))


def _clarity(card: ClusterCard) -> float:
    """Return how clear a cluster is: purity times stability, as far as known."""
    values = [value for value in (card.purity, card.stability) if not math.isnan(value)]
    return float(np.prod(values)) if values else 0.0


def _method_text(state: State, cards: tuple[ClusterCard, ...]) -> str:
    clustering = state.clustering
    assert clustering is not None  # noqa: S101 - see headline
    search = clustering.how
    if search.get("method") == "label":
        text = f"The values of “{search.get('label')}” as clusters."
    elif search.get("method") == "selection":
        text = "Chosen by hand."
    else:
        method = {"hdbscan": "HDBSCAN", "agglomerative": "agglomerative clustering"}.get(
            str(search.get("method")), "k-means"
        )
        text = f"Found by {method} {search.get('space', 'on the map itself')}, named by what "
        text += "is typical of each."
    if clustering.changed or search.get("edited"):
        text += " Edited by hand."
    if clustering.run != state.chosen:
        text += " Found on another map than the shown one."
    n_outside = state.opened().n_rows - sum(sum(card.counts.values()) for card in cards)
    if n_outside:
        text += f" {theme.count(n_outside, 'item')} in no cluster."
    return text
