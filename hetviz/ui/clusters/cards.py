"""Clusters as cards: what each is called, examples, how pure and stable it is, its words."""

from __future__ import annotations

import math

import numpy as np
import streamlit as st

from hetviz._text import short
from hetviz.data import HeteroData
from hetviz.plots.colour import CLUSTER
from hetviz.plots.palette import N_COLOURS, shape_of
from hetviz.runs.cluster.cards import ClusterCard, cluster_cards, told_categories, told_words
from hetviz.ui.map import layers
from hetviz.ui.map import parts as map_parts
from hetviz.ui.map.array_cache import kept
from hetviz.ui.shell import theme
from hetviz.ui.widgets import item_chip
from hetviz.workspace import Clustering, State

_FACES, _CHIPS, _CHIP = 8, 4, 22


def cards_of(state: State) -> tuple[ClusterCard, ...]:
    """Return the cards of the clusters as they are now; made once."""
    data, found, run = state.opened(), state.clustering, state.run
    if found is None:
        return ()
    contrasts = layers.contrasts_of(data)

    def make() -> tuple[ClusterCard, ...]:
        Y = map_parts.geometry(state, run).points.astype(np.float64)
        codes = found.of(data)
        return cluster_cards(contrasts, Y, codes, len(found.names), found.names, found.stability)

    return kept(data, ("cards", id(found), id(run)), make, (found, run))


def mark(found: Clustering) -> str:
    """Return what tells these clusters from others in the keys of their checkboxes."""
    return f"{id(found):x}"


def picked(found: Clustering) -> list[int]:
    """Return the numbers of the clusters that are picked, from 1."""
    return [
        number
        for number in range(1, len(found.names) + 1)
        if st.session_state.get(f"pick-{mark(found)}-{number}")
    ]


def show(state: State, cards: tuple[ClusterCard, ...]) -> None:
    """Show all cards."""
    data, found = state.opened(), state.clustering
    if found is None:
        return
    with st.container(key="clusters-cards"), st.grid(3, min_column_width=200, gap="small"):
        for card in cards:
            with st.container(border=True, key=f"cluster-{card.number}", gap="xsmall"):
                st.checkbox(
                    f"{card.number} **{theme.plain(card.name)}**",
                    key=f"pick-{mark(found)}-{card.number}",
                )
                # In the colours of something else a cluster's own would be taken for one of those.
                own = f"var(--hv-c{(card.number - 1) % N_COLOURS})"
                colour = own if state.view.colour == CLUSTER.key else "var(--hv-mute)"
                st.html(_body(data, card, mark(found), colour))


def _body(data: HeteroData, card: ClusterCard, mark: str, colour: str) -> str:
    return (
        f'<div class="hv-cluster" data-hv-cluster="clusters/{mark}/{card.number - 1}" '
        f'data-hv-name="{theme.esc(card.name)}">{_examples(data, card)}{_purity(card, colour)}'
        f"{_counts(data, card)}{_words(card)}</div>"
    )


def _examples(data: HeteroData, card: ClusterCard) -> str:
    """Show examples by their pictures, else by their names."""
    pictured, named = [], []
    for name, rows in card.exemplars.items():
        start = data.offsets[name].start
        for row in rows.tolist():
            item = item_chip.item_at(data, start + row)
            source = item_chip.picture_of(data, item)
            title = theme.esc(item.title)
            if source:
                pictured.append(f'<img src="{theme.esc(source)}" alt="{title}" title="{title}">')
            else:
                named.append(f"{item.glyph} {theme.esc(short(item.title, _CHIP))}")
    if pictured:
        return f'<div class="hv-faces">{"".join(pictured[:_FACES])}</div>'
    return f'<p class="hv-names-line">{" · ".join(named[:_CHIPS])}</p>'


def _purity(card: ClusterCard, colour: str) -> str:
    if card.label is None or math.isnan(card.purity):
        return ""
    share = f"{100 * card.purity:.0f} %"
    whose = f" {card.labelled}" if card.labelled else ""
    return (
        f'<div class="hv-pure" role="img" aria-label="{share} {theme.esc(card.label)}">'
        f'<i style="width:{100 * card.purity:.0f}%;background:{colour}"></i></div>'
        f"<p>{theme.esc(share + whose)} {theme.esc(card.label)}</p>"
    )


def _counts(data: HeteroData, card: ClusterCard) -> str:
    places = {name: at for at, name in enumerate(data.datasets)}
    parts = [
        f"<span>{shape_of(places[name])[1]} {count:,} {theme.esc(name)}</span>"
        for name, count in card.counts.items()
    ]
    return f'<p class="hv-counts">{"".join(parts)}</p>'


def _words(card: ClusterCard) -> str:
    told = told_words(card.words, 4) or told_categories(card.categories, most=2)
    if not told:
        return ""
    chips = "".join(f"<li>{theme.esc(short(word, _CHIP))}</li>" for word in told)
    return f'<ul class="hv-names">{chips}</ul>'


def headline(state: State, cards: tuple[ClusterCard, ...]) -> None:
    """Say how many clusters there are, which are the clearest, and how they were found."""
    found = state.clustering
    assert found is not None  # noqa: S101 - asked for only where there are clusters
    if not cards:
        theme.headline("No clusters found", "No group of items lies apart from the rest.")
        return
    clear = sorted(cards, key=lambda card: -_clear(card))[:3]
    names = theme.listed([f"“{card.name}”" for card in clear])
    if len(cards) == 1:
        title = f"One cluster: “{cards[0].name}”"
    elif len(cards) <= 3:
        title = f"{len(cards)} clusters: {names}"
    else:
        title = f"The clearest of {len(cards)} clusters: {names}"
    theme.headline(title, _how(state, cards))


def _clear(card: ClusterCard) -> float:
    """Return how clear a cluster is: purity times stability, those known."""
    known = [value for value in (card.purity, card.stability) if not math.isnan(value)]
    return float(np.prod(known)) if known else 0.0


def _how(state: State, cards: tuple[ClusterCard, ...]) -> str:
    found = state.clustering
    assert found is not None  # noqa: S101 - see headline
    how = found.how
    if how.get("method") == "label":
        words = f"The values of “{how.get('label')}” as clusters."
    else:
        method = {"hdbscan": "HDBSCAN", "agglomerative": "joining the nearest"}.get(
            str(how.get("method")), "k-means"
        )
        words = f"Found by {method} {how.get('space', 'on the map itself')}, named by what sets "
        words += "each apart."
    if found.changed:
        words += " Changed by hand since."
    if found.run != state.chosen:
        words += " Found on another map than the one shown."
    out = state.opened().n_rows - sum(sum(card.counts.values()) for card in cards)
    if out:
        words += f" {theme.count(out, 'item')} in none."
    return words
