"""Descriptions of clusters: members, examples, distinctive features, linked items and names."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from hetviz._json import records
from hetviz._types import Bools, Floats, Ints, JsonObject, Sparse
from hetviz.core.clustering.partition import choose_exemplars
from hetviz.data import HeteroData
from hetviz.features.relations.label_links import MAX_CANDIDATES
from hetviz.runs.cluster.contrast import ContrastLabel, Contrasts
from hetviz.runs.cluster.names import name_groups, plain_value

N_EXEMPLARS = 8
MAX_Q = 0.05
_MAX_LINKED = 8
_MIN_WORD_SHARE = 0.04
_MIN_CLASS_SHARE, _MIN_TWO_CLASSES_SHARE = 0.5, 0.6
_MIN_CATEGORY_SHARE, _MIN_EFFECT = 0.25, 0.5
_STEM_LENGTH = 4
_MAX_NAME_WORDS, _MAX_WORDS = 2, 3
_LETTERS = re.compile(r"[^\W\d_]{2}|[\u3040-\u9fff\uac00-\ud7af]")


@dataclass(frozen=True, eq=False)
class ClusterCard:
    """Description of one cluster.

    `number`: From 1, the largest first.
    `exemplars` (dict of str to array of int): Up to eight typical and diverse rows of each
        dataset.
    `words`, `categories`, `features`: Distinctive things: thing (for categories "column: value"),
        dataset (not for words), inside and outside (shares; medians for features), effect (Cohen's
        h; rank-biserial correlation for features), p, and q: p corrected by Benjamini and Hochberg
        over all clusters. Only rows with q <= 0.05, the smallest p first.
    `linked`: Items outside with the most links into it: dataset, id, title, row (global), links.
    `purity`: Share of the labelled members with the most common label; NaN without labels. With
        several label columns, the one that most members have.
    `label`: The most common label, in words.
    `labelled`: The datasets of the label, if not all members have one: "of the countries".
    `stability`: Overlap with the most similar cluster found from half of the items, 0 to 1; NaN if
        unknown.
    """

    number: int
    name: str
    sentence: str
    counts: dict[str, int]
    exemplars: dict[str, Ints]
    words: pd.DataFrame
    categories: pd.DataFrame
    features: pd.DataFrame
    linked: pd.DataFrame
    purity: float
    label: str | None
    labelled: str
    stability: float

    def to_dict(self) -> JsonObject:
        """Return the card as JSON-ready values."""
        return {
            "number": self.number,
            "name": self.name,
            "sentence": self.sentence,
            "counts": dict(self.counts),
            "exemplars": {name: rows.tolist() for name, rows in self.exemplars.items()},
            "words": records(self.words),
            "categories": records(self.categories),
            "features": records(self.features),
            "linked": records(self.linked),
            "purity": None if np.isnan(self.purity) else self.purity,
            "label": self.label,
            "labelled": self.labelled,
            "stability": None if np.isnan(self.stability) else self.stability,
        }


def cluster_cards(
    contrasts: Contrasts,
    Y: Floats,
    codes: Ints,
    n_clusters: int,
    names: Sequence[str] | None = None,
    stability: Sequence[float] | Floats | None = None,
) -> tuple[ClusterCard, ...]:
    """Describe clusters.

    `contrasts`: words and columns of the data, read once for any number of clusterings. `Y`
    (n_rows, k): coordinates, NaN without a place; they define typical examples. `codes` (n_rows,):
    cluster of each row, -1 without one. `names`: see `cluster_names` when absent.

    Costs O(words + columns x clusters x rows). A map made from links has clusters that differ in
    linked names by construction, so the tests are a guide and no proof.
    """
    data = contrasts.data
    tables_of_all = contrasts.of(codes, n_clusters)
    degree = data.adjacency("+").astype(bool).astype(np.float64)
    names = cluster_names(contrasts, codes, n_clusters) if names is None else names
    cards = []
    for code in range(n_clusters):
        rows = np.flatnonzero(codes == code)
        tables = {kind: _rows_of_group(table, code) for kind, table in tables_of_all.items()}
        counts, typical = _members_by_dataset(data, rows, Y)
        main = _main_label(contrasts.labels, rows, counts)
        cards.append(
            ClusterCard(
                code + 1,
                str(names[code]),
                _make_sentence(counts, tables, main),
                counts,
                typical,
                tables["words"].drop(columns="dataset"),
                tables["categories"],
                tables["features"],
                _linked_items(data, degree, rows),
                main.shares[0] if main.classes else float("nan"),
                main.classes[0] if main.classes else None,
                main.whose,
                float("nan") if stability is None else float(stability[code]),
            )
        )
    return tuple(cards)


@dataclass(frozen=True)
class _MainLabel:
    """The label column that most members have, with its classes in words, the largest first."""

    column: str = ""
    classes: tuple[str, ...] = ()
    shares: tuple[float, ...] = ()
    whose: str = ""


def _main_label(
    labels: Sequence[ContrastLabel], rows: Ints, counts: Mapping[str, int]
) -> _MainLabel:
    best, n_best = None, 0
    for label in labels:
        n = sum(value is not None for value in label.values[rows])
        if n > n_best:
            best, n_best = label, n
    if best is None:
        return _MainLabel()
    values = [value for value in best.values[rows] if value is not None]
    classes, sizes = np.unique(values, return_counts=True)
    order = np.argsort(-sizes, kind="stable")
    class_texts = tuple(value_words(f"{best.column}: {classes[at]}") for at in order)
    unlabelled = [name for name in counts if name not in best.datasets]
    labelled = [name for name in counts if name in best.datasets]
    scope = f"of the {' and '.join(labelled)}" if unlabelled else ""
    return _MainLabel(best.column, class_texts, tuple((sizes[order] / n_best).tolist()), scope)


def cluster_names(
    contrasts: Contrasts,
    codes: Ints,
    n_clusters: int,
    among: Bools | None = None,
    taken: Collection[str] = (),
) -> list[str]:
    """Return names of clusters, see `hetviz.runs.cluster.names.name_groups`.

    "Cluster 3" is the name of the third if nothing is true of enough members.
    """
    names = name_groups(
        contrasts.data, contrasts.facts, codes, n_clusters, among=among, taken=taken
    )
    return [name.text or f"Cluster {number}" for number, name in enumerate(names, 1)]


def _rows_of_group(table: pd.DataFrame, code: int) -> pd.DataFrame:
    significant = table[(table["group"] == code) & (table["q"] <= MAX_Q)]
    columns = ["thing", "dataset", "inside", "outside", "effect", "p", "q"]
    strength = -significant["effect"].abs()
    order = np.lexsort((significant["thing"].astype(str), strength, significant["p"]))
    return significant.iloc[order][columns].reset_index(drop=True)


def _members_by_dataset(
    data: HeteroData, rows: Ints, Y: Floats
) -> tuple[dict[str, int], dict[str, Ints]]:
    counts: dict[str, int] = {}
    typical: dict[str, Ints] = {}
    for name, span in data.offsets.items():
        members = rows[(rows >= span.start) & (rows < span.stop)]
        if not len(members):
            continue
        counts[name] = len(members)
        placed = members[np.isfinite(Y[members]).all(axis=1)]
        if len(placed) > MAX_CANDIDATES:
            at = np.linspace(0, len(placed) - 1, MAX_CANDIDATES).round().astype(np.int64)
            placed = placed[at]
        chosen = (
            placed[choose_exemplars(Y[placed], N_EXEMPLARS)]
            if len(placed)
            else members[:N_EXEMPLARS]
        )
        typical[name] = chosen - span.start
    return counts, typical


def _linked_items(data: HeteroData, degree: Sparse, rows: Ints) -> pd.DataFrame:
    into = np.asarray(degree[rows].sum(axis=0), dtype=np.float64).ravel()
    into[rows] = 0.0
    strongest = np.argsort(-into, kind="stable")[:_MAX_LINKED]
    strongest = strongest[into[strongest] > 0]
    starts = [span.start for span in data.offsets.values()]
    records = []
    for row in strongest.tolist():
        at = int(np.searchsorted(starts, row, side="right")) - 1
        dataset = list(data.datasets.values())[at]
        local = row - starts[at]
        records.append(
            {
                "dataset": dataset.name,
                "id": str(dataset.ids[local]),
                "title": str(dataset.titles[local]),
                "row": row,
                "links": int(into[row]),
            }
        )
    return pd.DataFrame(records, columns=["dataset", "id", "title", "row", "links"])


def top_words(table: pd.DataFrame, max_words: int = _MAX_WORDS) -> list[str]:
    """Return the first words of a card, no two with the same stem."""
    words: list[str] = []
    for word in table[table["inside"] >= _MIN_WORD_SHARE]["thing"]:
        stem = str(word).casefold()[:_STEM_LENGTH]
        if len(words) < max_words and all(stem not in chosen.casefold() for chosen in words):
            words.append(str(word))
    return words


def top_categories(
    table: pd.DataFrame, excluded_column: str = "", max_categories: int = 2
) -> list[str]:
    """Return the first categories of a card as distinct words, without one column."""
    categories: list[str] = []
    for thing in table[table["inside"] >= _MIN_CATEGORY_SHARE]["thing"]:
        column, _, value = str(thing).partition(": ")
        text = plain_value(value)
        if (
            column != excluded_column
            and _LETTERS.search(text)
            and text not in categories
            and len(categories) < max_categories
        ):
            categories.append(text)
    return categories


def value_words(thing: str) -> str:
    """Return "column: value" as words: the value alone if it is a word."""
    column, _, value = thing.partition(": ")
    text = plain_value(value)
    return text if _LETTERS.search(text) else f"{plain_value(column)} {text}"


def _make_sentence(
    counts: Mapping[str, int], tables: Mapping[str, pd.DataFrame], main: _MainLabel
) -> str:
    """Return "12 emoji and 30 keywords, 85 % food drink, with the words juice, sweet, summer"."""
    parts = [f"{count:,} {name}" for name, count in counts.items()]
    text = parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
    if main.classes and main.shares[0] >= _MIN_CLASS_SHARE:
        share = main.shares[0]
        scope = f" {main.whose}" if main.whose else ""
        text += f", {'all' if share == 1 else f'{100 * share:.0f} %'}{scope} {main.classes[0]}"
    words = top_words(tables["words"])
    if words:
        return f"{text}, with the words {', '.join(words)}."
    categories = top_categories(tables["categories"], main.column)
    categories = [category for category in categories if category not in main.classes[:1]]
    return f"{text}, more often {' and '.join(categories)}." if categories else f"{text}."
