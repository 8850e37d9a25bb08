"""Actions on picked clusters: details, rename, merge, split, pull together."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import streamlit as st

from hetviz._text import shorten
from hetviz._types import Ints
from hetviz.errors import HetvizError
from hetviz.features.relations.grouping import links_between
from hetviz.plots.colour import CLUSTER
from hetviz.plots.filter_text import filter_words, number_text
from hetviz.runs.cluster.cards import ClusterCard
from hetviz.runs.cluster.codes import pack_codes
from hetviz.ui.clusters import cards as clusters_cards
from hetviz.ui.clusters import find
from hetviz.ui.item import item_chip, item_text
from hetviz.ui.map import filters
from hetviz.ui.map_data import layers
from hetviz.ui.map_data import parts as map_parts
from hetviz.ui.shell import session, theme
from hetviz.ui.statements import actions
from hetviz.workspace import MergeClusters, RenameCluster, SetView, SplitCluster, State
from hetviz.workspace.commands.clusters import sort_by_size, unique_names
from hetviz.workspace.commands.guidance import statement_command

_PART_OPTIONS = (2, 3, 4)
_MAX_ROWS = 6
_WORD_CHARS = 40


def keep_selection(rows: Ints) -> None:
    """Make a cluster of rows next to the existing ones, named by the filters that leave them."""
    state = session.workspace().state
    data, clustering = state.opened(), state.clustering
    codes = np.full(data.n_rows, -1)
    names: list[str] = []
    how: dict[str, object] = {"method": "selection"}
    if clustering is not None:
        codes, names = clustering.of(data), list(clustering.names)
        how = {**clustering.how, "edited": True}
    codes[rows] = len(names)
    words = [filter_words(data, item) for item in state.filters if item.kind != "rows"]
    is_shown = bool(words) and filters.shown_rows(state)[rows].all()
    names.append(", ".join(words) if is_shown else "Selection")
    codes, old_codes = sort_by_size(codes, len(names))
    find.set_clusters(codes, [names[code] for code in old_codes], how)
    session.run_command(SetView(colour=CLUSTER.key))


def show_actions(state: State, cards: tuple[ClusterCard, ...]) -> None:
    """Show the action buttons, disabled where they do not apply."""
    clustering = state.clustering
    if clustering is None:
        return
    numbers = [
        number for number in clusters_cards.picked_clusters(clustering) if number <= len(cards)
    ]
    single = cards[numbers[0] - 1] if len(numbers) == 1 else None
    with st.container(horizontal=True, gap="small", key="cluster-actions"):
        with st.popover("Details", disabled=single is None, key=f"closer-{numbers}"):
            if single is not None:
                _show_details(state, single)
        with st.popover("Rename", disabled=single is None, key=f"rename-{numbers}"):
            if single is not None:
                key = f"cluster-name-{clusters_cards.clustering_key(clustering)}-{single.number}"
                st.text_input("Name of the cluster", single.name, max_chars=60, key=key)
                st.button(
                    "Rename", key="rename-cluster", on_click=_rename, args=(single.number, key)
                )
        many = len(numbers) > 1
        st.button("Merge", disabled=not many, key="merge", on_click=_merge, args=(numbers,))
        with st.popover("Split", disabled=single is None, key=f"splitting-{numbers}"):
            parts = st.segmented_control(
                "Number of parts", _PART_OPTIONS, default=2, required=True, key="split-parts"
            )
            st.button("Split", key="split", on_click=_split, args=(numbers, int(parts)))
        st.button(
            "Pull together",
            disabled=not numbers,
            key="cluster-guidance",
            help="Links typical items of each picked cluster, as a set of guidance that you can "
            "switch off. The map then follows.",
            on_click=_pull_together,
            args=([cards[number - 1] for number in numbers],),
        )
    if not numbers:
        theme.show_note(
            "Pick one card to see details, rename or split it, or several to merge them."
        )
    elif single is not None:
        theme.show_note(single.sentence)


def _show_details(state: State, card: ClusterCard) -> None:
    data = state.opened()
    theme.show_section(
        card.name, "" if math.isnan(card.stability) else _stability_text(card.stability)
    )
    rows = [
        data.offsets[name].start + row
        for name, exemplars in card.exemplars.items()
        for row in exemplars.tolist()
    ]
    item_chip.show_named(data, rows[:10])
    shares = [*_share_rows(card.words), *_share_rows(card.categories)]
    if shares:
        theme.show_table(["Words and categories", "here", "elsewhere"], shares)
    if len(card.features):
        theme.show_table(
            ["Numbers, median", "here", "elsewhere"],
            [
                [
                    str(row["thing"]),
                    number_text(float(row["inside"]), "number"),
                    number_text(float(row["outside"]), "number"),
                ]
                for row in card.features[:_MAX_ROWS].to_dict("records")
            ],
        )
    if len(card.linked):
        theme.show_section("Strongest links from outside")
        item_chip.show_names(data, card.linked["row"].tolist())
    theme.show_note(
        "Only differences that are unlikely by chance are listed, corrected for the number of "
        "tests. On a map made from links, linked words differ for that reason too."
    )


def _stability_text(stability: float) -> str:
    return f"found again: {100 * stability:.0f} %"


def _share_rows(table: pd.DataFrame) -> list[list[str]]:
    return [
        [
            shorten(str(row["thing"]), _WORD_CHARS),
            item_text.share_text(float(row["inside"])),
            item_text.share_text(float(row["outside"])),
        ]
        for row in table[:_MAX_ROWS].to_dict("records")
    ]


def _rename(number: int, key: str) -> None:
    session.run_command(RenameCluster(number, str(st.session_state[key])))


def _merge(numbers: list[int]) -> None:
    """Merge clusters and name the result by what sets it apart."""
    from hetviz.runs.cluster.cards import cluster_names

    state = session.workspace().state
    clustering, data = state.clustering, state.opened()
    if clustering is None:
        return
    codes = np.where(np.isin(clustering.of(data), np.array(numbers) - 1), 0, -1)
    name = cluster_names(layers.get_contrasts(data), codes, 1)[0]
    if name == "Cluster 1":
        name = " + ".join(clustering.names[number - 1] for number in numbers)
    session.run_command(MergeClusters(numbers, *unique_names([name])))


def _split(numbers: list[int], k: int) -> None:
    from hetviz.runs.cluster.parts import split_cluster

    workspace = session.workspace()
    state = workspace.state
    clustering, data = state.clustering, state.opened()
    if clustering is None:
        return
    Y = map_parts.get_geometry(state, state.run).points.astype(np.float64)
    parts, names = split_cluster(
        layers.get_contrasts(data), Y, clustering.of(data), numbers[0] - 1, k
    )
    if len(names) < 2:
        session.add_message(
            "All items of this cluster are at the same position, so it cannot be split.", "note"
        )
        return
    old_name = clustering.names[numbers[0] - 1]
    part_names = [
        name if not name.startswith("Cluster ") else f"{old_name}, part" for name in names
    ]
    numbered_names = [
        f"{name} {number}" if part_names.count(name) > 1 else name
        for number, name in enumerate(part_names, 1)
    ]
    blob = workspace.blobs.put(pack_codes(parts))
    session.run_command(SplitCluster(numbers[0], blob, unique_names(numbered_names)))


def _pull_together(cards: list[ClusterCard]) -> None:
    """Link typical items within each cluster."""
    state = session.workspace().state
    data = state.opened()
    for card in cards:
        rows = [
            data.offsets[name].start + row
            for name, exemplars in card.exemplars.items()
            for row in exemplars.tolist()
        ]
        try:
            new_links = links_between(data, rows, None, 1.0, in_turn=True)
        except HetvizError as error:
            session.add_message(f"{card.name}: {error}")
            continue
        session.run_command(statement_command(data, new_links.links, set=f"cluster {card.name}"))
    actions.request_refit(state)
