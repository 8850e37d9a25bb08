"""What is done with picked clusters: look closer, rename, merge, split, turn into guidance."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import streamlit as st

from hetviz._text import short
from hetviz.errors import HetvizError
from hetviz.features.relations.grouping import links_between
from hetviz.runs.cluster.cards import ClusterCard
from hetviz.runs.cluster.codes import pack_codes
from hetviz.ui.clusters import cards as clusters_cards
from hetviz.ui.map import layers
from hetviz.ui.map import parts as map_parts
from hetviz.ui.shell import session, theme
from hetviz.ui.statements import draft
from hetviz.ui.widgets import item_chip, item_text
from hetviz.workspace import (
    MergeClusters,
    RenameCluster,
    SplitCluster,
    State,
    from_dict,
)
from hetviz.workspace.commands.clusters import bounded_names

_PARTS = (2, 3, 4)
_ROWS = 6
_WORD = 40


def show(state: State, cards: tuple[ClusterCard, ...]) -> None:
    """Show the row of buttons; what cannot be done now is greyed."""
    found = state.clustering
    if found is None:
        return
    numbers = [number for number in clusters_cards.picked(found) if number <= len(cards)]
    one = cards[numbers[0] - 1] if len(numbers) == 1 else None
    with st.container(horizontal=True, gap="small", key="cluster-acts"):
        with st.popover("Look closer", disabled=one is None, key=f"closer-{numbers}"):
            if one is not None:
                _closer(state, one)
        with st.popover("Rename", disabled=one is None, key=f"rename-{numbers}"):
            if one is not None:
                key = f"cluster-name-{clusters_cards.mark(found)}-{one.number}"
                st.text_input("Name of the cluster", one.name, max_chars=60, key=key)
                st.button("Rename", key="rename-cluster", on_click=_rename, args=(one.number, key))
        many = len(numbers) > 1
        st.button("Merge", disabled=not many, key="merge", on_click=_merge, args=(numbers,))
        with st.popover("Split", disabled=one is None, key=f"splitting-{numbers}"):
            parts = st.segmented_control(
                "Into how many parts", _PARTS, default=2, required=True, key="split-parts"
            )
            st.button("Split it", key="split", on_click=_split, args=(numbers, int(parts)))
        st.button(
            "Say together",
            disabled=not numbers,
            key="cluster-guidance",
            help="Links between typical items of each picked cluster, as a set of guidance that "
            "can be switched off; the map then follows.",
            on_click=_say,
            args=([cards[number - 1] for number in numbers],),
        )
    if not numbers:
        theme.quiet("Pick one card to look closer, rename or split it, two or more to merge them.")
    elif one is not None:
        theme.quiet(one.sentence)


def _closer(state: State, card: ClusterCard) -> None:
    data = state.opened()
    theme.section(card.name, "" if math.isnan(card.stability) else _again(card.stability))
    rows = [
        data.offsets[name].start + row
        for name, some in card.exemplars.items()
        for row in some.tolist()
    ]
    item_chip.named(data, rows[:10])
    shares = [*_shares(card.words), *_shares(card.categories)]
    if shares:
        theme.table(["Words and categories", "here", "elsewhere"], shares)
    if len(card.features):
        theme.table(
            ["Numbers, median", "here", "elsewhere"],
            [
                [
                    str(row["thing"]),
                    item_text.number_words(float(row["inside"]), "number"),
                    item_text.number_words(float(row["outside"]), "number"),
                ]
                for row in card.features[:_ROWS].to_dict("records")
            ],
        )
    if len(card.linked):
        theme.section("Linked most from outside")
        item_chip.chips(data, card.linked["row"].tolist())
    theme.quiet(
        "Listed is what chance would rarely bring about, corrected for the number of tests. On a "
        "map made from links, linked words differ for that reason too."
    )


def _again(stability: float) -> str:
    return f"found again: {100 * stability:.0f} %"


def _shares(table: pd.DataFrame) -> list[list[str]]:
    return [
        [
            short(str(row["thing"]), _WORD),
            item_text.share_words(float(row["inside"])),
            item_text.share_words(float(row["outside"])),
        ]
        for row in table[:_ROWS].to_dict("records")
    ]


def _rename(number: int, key: str) -> None:
    session.do(RenameCluster(number, str(st.session_state[key])))


def _merge(numbers: list[int]) -> None:
    """Merge clusters, named anew by what sets them apart together."""
    from hetviz.runs.cluster.cards import cluster_names

    state = session.workspace().state
    found, data = state.clustering, state.opened()
    if found is None:
        return
    codes = np.where(np.isin(found.of(data), np.array(numbers) - 1), 0, -1)
    name = cluster_names(layers.contrasts_of(data), codes, 1)[0]
    if name == "Cluster 1":
        name = " + ".join(found.names[number - 1] for number in numbers)
    session.do(MergeClusters(numbers, *bounded_names([name])))


def _split(numbers: list[int], k: int) -> None:
    from hetviz.runs.cluster.parts import split

    workspace = session.workspace()
    state = workspace.state
    found, data = state.clustering, state.opened()
    if found is None:
        return
    Y = map_parts.geometry(state, state.run).points.astype(np.float64)
    parts, names = split(layers.contrasts_of(data), Y, found.of(data), numbers[0] - 1, k)
    if len(names) < 2:
        session.tell("This cluster lies at a single place, so there is nothing to split.", "note")
        return
    old = found.names[numbers[0] - 1]
    given = [name if not name.startswith("Cluster ") else f"{old}, part" for name in names]
    told = [f"{name} {at}" if given.count(name) > 1 else name for at, name in enumerate(given, 1)]
    blob = workspace.blobs.put(pack_codes(parts))
    session.do(SplitCluster(numbers[0], blob, bounded_names(told)))


def _say(cards: list[ClusterCard]) -> None:
    """Link typical items of each cluster."""
    state = session.workspace().state
    data = state.opened()
    for card in cards:
        rows = [
            data.offsets[name].start + row
            for name, some in card.exemplars.items()
            for row in some.tolist()
        ]
        try:
            made = links_between(data, rows, None, 1.0, in_turn=True)
        except HetvizError as error:
            session.tell(f"{card.name}: {error}")
            continue
        session.do(from_dict(made.to_command(data, set=f"cluster {card.name}")))
    draft.want(state)
