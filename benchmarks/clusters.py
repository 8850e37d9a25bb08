"""Clusters against known groups: purity, and match of their keywords.

k-means on the maps that come with the samples, and on ten axes of guided projection. Emoji: the
known groups are `group` (8) and `subgroup` of the standard; the top words of a cluster come from
names and keywords alone, never from those columns. Digits: the digit; there are no words, so what
is looked at is the category that sets a cluster apart most.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import adjusted_rand_score

import hetviz
from benchmarks.harness import report
from hetviz.core.clustering.partition import partition
from hetviz.data import HeteroData
from hetviz.io import read_bundle
from hetviz.runs.cluster.cards import ClusterCard, cluster_cards
from hetviz.runs.cluster.contrast import Contrasts
from hetviz.runs.cluster.search import label_clusters

TOP = 5


def run(out: Path, quick: bool) -> None:
    """Write one table."""
    rows: list[dict[str, Any]] = []
    for name, numbers in (("emoji", (8, 20, 48, 98)), ("digits", (10, 15, 30))):
        loaded = read_bundle(name)
        assert loaded.map is not None
        spaces = {"map of the sample": loaded.map.stacked()}
        if not quick:
            wide = hetviz.embed(loaded.data, "guided-projection", n_components=10)
            spaces["10 axes, guided projection"] = wide.stacked()
        for space, Y in spaces.items():
            rows += measured(name, loaded.data, space, Y, numbers[:1] if quick else numbers)
        if name == "emoji":
            rows += [
                known_groups(loaded.data, spaces["map of the sample"], column)
                for column in ("group", "subgroup")
            ]
    report("clusters", rows, out, "shares over clusters; purity weighted by members")


def measured(
    name: str, data: HeteroData, space: str, Y: NDArray[np.float64], numbers: tuple[int, ...]
) -> Iterator[dict[str, Any]]:
    """Yield purity, and how often the words say the known group, for each number of clusters."""
    contrasts = Contrasts(data)
    for k in numbers:
        codes = partition(Y, "k-means", k)
        cards = cluster_cards(contrasts, Y, codes, k)
        expected = contrasts.labels[0].values
        has = np.array([value is not None for value in expected])
        sizes = np.array([sum(card.counts.values()) for card in cards])
        purity = np.array([card.purity for card in cards])
        row: dict[str, Any] = {
            "data": name,
            "space": space,
            "clusters": k,
            "purity": float(np.average(purity, weights=sizes)),
            "purity of one class": largest_share(expected[has]),
            "adjusted Rand": float(adjusted_rand_score(expected[has].astype(str), codes[has])),
        }
        if name == "emoji":
            for column in ("group", "subgroup"):
                row[f"{column} in top {TOP} words"] = told_by_words(data, cards, codes, column)
        row["top category is the main class"] = told_by_category(cards)
        yield row


def known_groups(data: HeteroData, Y: NDArray[np.float64], column: str) -> dict[str, Any]:
    """Return how often the words say the group where the clusters are the known groups."""
    codes, names = label_clusters(data, column)
    cards = cluster_cards(Contrasts(data), Y, codes, len(names))
    return {
        "data": "emoji",
        "space": f"the column {column} itself",
        "clusters": len(names),
        f"{column} in top {TOP} words": told_by_words(data, cards, codes, column),
    }


def largest_share(values: NDArray[np.object_]) -> float:
    """Return the share of the most common class: the purity of one cluster of all."""
    _, counts = np.unique(values.astype(str), return_counts=True)
    return float(counts.max() / counts.sum())


def told_by_words(
    data: HeteroData, cards: tuple[ClusterCard, ...], codes: NDArray[np.int64], column: str
) -> float:
    """Return the share of clusters with a word of their main group's name among the top words."""
    table = data["emoji"].table
    assert table is not None
    values = table[column].to_numpy(dtype=object)
    mine = codes[data.offsets["emoji"]]
    messages = []
    for card in cards:
        members = values[mine == card.number - 1]
        if not len(members):
            continue
        classes, counts = np.unique(members.astype(str), return_counts=True)
        names = {stem(part) for part in re.split(r"[-_]", classes[counts.argmax()])}
        words = {stem(part) for word in card.words["thing"][:TOP] for part in str(word).split()}
        messages.append(bool(names & words))
    return float(np.mean(messages))


def stem(word: str) -> str:
    """Return a word without the s of a plural."""
    plain = word.casefold()
    return plain[:-1] if plain.endswith("s") and len(plain) > 3 else plain


def told_by_category(cards: tuple[ClusterCard, ...]) -> float:
    """Return the share of clusters whose most telling category is their most common class."""
    messages = []
    for card in cards:
        if card.label is None:
            continue
        first = str(card.categories["thing"].iloc[0]) if len(card.categories) else ""
        value = first.partition(": ")[2].replace("-", " ")
        messages.append(value == card.label or first.replace(": ", " ") == card.label)
    return float(np.mean(messages)) if messages else float("nan")
