"""What a cluster is: its members, examples, what sets it apart, its neighbours, and a sentence."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from hetviz._json import records
from hetviz._types import Bools, Floats, Ints, JsonObject, Sparse
from hetviz.core.clustering.partition import exemplars
from hetviz.data import HeteroData
from hetviz.features.relations.label_links import MAX_CANDIDATES
from hetviz.runs.cluster.contrast import Contrasts, Known

EXEMPLARS = 8
Q_LEVEL = 0.05
_NEIGHBOURS = 8
_LEAST_SHARE = 0.04
_NAME_SHARE, _TWO_SHARE = 0.5, 0.6
_CATEGORY_SHARE, _LEAST_EFFECT = 0.25, 0.5
_STEM = 4
_NAME_WORDS, _TOLD_WORDS = 2, 3
_LETTERS = re.compile(r"[^\W\d_]{2}|[\u3040-\u9fff\uac00-\ud7af]")


@dataclass(frozen=True, eq=False)
class ClusterCard:
    """One cluster, described.

    Attributes
    ----------
    number : int
        From 1, the largest first.
    name, sentence : str
    counts : dict of str to int
        Members of each dataset that has any.
    exemplars : dict of str to array of int
        Rows of each such dataset that are typical and unlike each other, eight at most.
    words, categories, features : DataFrame
        What sets it apart: thing (for categories "column: value"), dataset (not for words), inside
        and outside (shares; medians for features), effect (Cohen's h; rank-biserial correlation
        for features), p, and q: p corrected by Benjamini and Hochberg over all clusters. Only
        q <= 0.05, the smallest p first.
    linked : DataFrame
        Items outside that have the most links into it: dataset, id, title, row (global), links.
    purity : float
        Share of the members with a label that have its most common one; NaN where none has one. Of
        several labels the one that most members have.
    label : str or None
        That most common one, in words.
    labelled : str
        Whose label it is, where not of all members: "of the countries".
    stability : float
        Overlap with the most alike cluster found from half of the items, 0 to 1; NaN if unknown.
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

    Parameters
    ----------
    contrasts : Contrasts
        Of the data; words and columns are read once for any number of clusterings.
    Y : array of shape (n_rows, k)
        Where the rows lie, NaN without a place; examples are typical in it.
    codes : array of int, shape (n_rows,)
        Cluster of each row, -1 without one.
    n_clusters : int
    names : sequence of str, optional
        Made from what sets each apart when absent.
    stability : sequence of float, optional

    Notes
    -----
    Costs O(words + columns x clusters x rows). Clusters of a map that was made from links differ
    in linked names because of that: the tests say where to look and prove nothing.
    """
    data = contrasts.data
    found = contrasts.of(codes, n_clusters)
    degree = data.adjacency("+").astype(bool).astype(np.float64)
    made: list[str] = []
    cards = []
    for code in range(n_clusters):
        rows = np.flatnonzero(codes == code)
        tables = {kind: _of_group(table, code) for kind, table in found.items()}
        counts, typical = _members(data, rows, Y)
        main = _main_label(contrasts.labels, rows, counts)
        name = _name(code + 1, tables, main, made) if names is None else str(names[code])
        made.append(name)
        cards.append(
            ClusterCard(
                code + 1,
                name,
                _sentence(counts, tables, main),
                counts,
                typical,
                tables["words"].drop(columns="dataset"),
                tables["categories"],
                tables["features"],
                _linked(data, degree, rows),
                main.shares[0] if main.classes else float("nan"),
                main.classes[0] if main.classes else None,
                main.whose,
                float("nan") if stability is None else float(stability[code]),
            )
        )
    return tuple(cards)


@dataclass(frozen=True)
class _Main:
    """The label that most members of a cluster have: its classes in words, the largest first."""

    column: str = ""
    classes: tuple[str, ...] = ()
    shares: tuple[float, ...] = ()
    whose: str = ""

    @property
    def told(self) -> str:
        """The class of at least half of them, or the two of most; empty where they are mixed."""
        if self.classes and self.shares[0] >= _NAME_SHARE:
            return self.classes[0]
        if len(self.classes) > 1 and sum(self.shares[:2]) >= _TWO_SHARE:
            return (
                f"{self.classes[0]} or {self.classes[1].removeprefix(_plain(self.column)).strip()}"
            )
        return ""


def _main_label(labels: Sequence[Known], rows: Ints, counts: Mapping[str, int]) -> _Main:
    best, n_best = None, 0
    for known in labels:
        n = sum(value is not None for value in known.values[rows])
        if n > n_best:
            best, n_best = known, n
    if best is None:
        return _Main()
    values = [value for value in best.values[rows] if value is not None]
    classes, sizes = np.unique(values, return_counts=True)
    order = np.argsort(-sizes, kind="stable")
    said = tuple(value_words(f"{best.column}: {classes[at]}") for at in order)
    others = [name for name in counts if name not in best.datasets]
    mine = [name for name in counts if name in best.datasets]
    whose = f"of the {' and '.join(mine)}" if others else ""
    return _Main(best.column, said, tuple((sizes[order] / n_best).tolist()), whose)


def cluster_names(
    contrasts: Contrasts,
    codes: Ints,
    n_clusters: int,
    among: Bools | None = None,
    words_only: bool = False,
) -> list[str]:
    """Return names for clusters as on their cards, by what sets them apart from rows `among`.

    By words alone where `words_only`. "Cluster 3" where nothing sets the third apart.
    """
    found = contrasts.of(codes, n_clusters, among, words_only)
    made: list[str] = []
    for code in range(n_clusters):
        rows = np.flatnonzero(codes == code)
        tables = {kind: _of_group(table, code) for kind, table in found.items()}
        counts = {
            name: n
            for name, span in contrasts.data.offsets.items()
            if (n := int(((rows >= span.start) & (rows < span.stop)).sum()))
        }
        main = _Main() if words_only else _main_label(contrasts.labels, rows, counts)
        made.append(_name(code + 1, tables, main, made))
    return made


def _of_group(table: pd.DataFrame, code: int) -> pd.DataFrame:
    mine = table[(table["group"] == code) & (table["q"] <= Q_LEVEL)]
    columns = ["thing", "dataset", "inside", "outside", "effect", "p", "q"]
    strength = -mine["effect"].abs()
    order = np.lexsort((mine["thing"].astype(str), strength, mine["p"]))
    return mine.iloc[order][columns].reset_index(drop=True)


def _members(data: HeteroData, rows: Ints, Y: Floats) -> tuple[dict[str, int], dict[str, Ints]]:
    counts: dict[str, int] = {}
    typical: dict[str, Ints] = {}
    for name, span in data.offsets.items():
        mine = rows[(rows >= span.start) & (rows < span.stop)]
        if not len(mine):
            continue
        counts[name] = len(mine)
        placed = mine[np.isfinite(Y[mine]).all(axis=1)]
        if len(placed) > MAX_CANDIDATES:
            at = np.linspace(0, len(placed) - 1, MAX_CANDIDATES).round().astype(np.int64)
            placed = placed[at]
        chosen = placed[exemplars(Y[placed], EXEMPLARS)] if len(placed) else mine[:EXEMPLARS]
        typical[name] = chosen - span.start
    return counts, typical


def _linked(data: HeteroData, degree: Sparse, rows: Ints) -> pd.DataFrame:
    into = np.asarray(degree[rows].sum(axis=0), dtype=np.float64).ravel()
    into[rows] = 0.0
    first = np.argsort(-into, kind="stable")[:_NEIGHBOURS]
    first = first[into[first] > 0]
    starts = [span.start for span in data.offsets.values()]
    records = []
    for row in first.tolist():
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


def told_words(table: pd.DataFrame, most: int = _TOLD_WORDS) -> list[str]:
    """Return the words of a card to tell, no two of one stem."""
    found: list[str] = []
    for word in table[table["inside"] >= _LEAST_SHARE]["thing"]:
        stem = str(word).casefold()[:_STEM]
        if len(found) < most and all(stem not in one.casefold() for one in found):
            found.append(str(word))
    return found


def _name(
    number: int, tables: Mapping[str, pd.DataFrame], main: _Main, taken: Sequence[str]
) -> str:
    words = told_words(tables["words"], _NAME_WORDS + 1)
    features = tables["features"]
    features = features[
        (features["effect"].abs() >= _LEAST_EFFECT)
        & features["thing"].map(lambda name: bool(_LETTERS.search(str(name)))).astype(bool)
    ]
    categories = told_categories(tables["categories"], main.column)
    there = {one.casefold() for one in taken}
    if words:
        name = ", ".join(words[:_NAME_WORDS])
        if name.casefold() in there:
            name = ", ".join(words)
    elif main.told:
        name = main.told
    elif categories:
        name = categories[0]
    elif len(features):
        high = features.iloc[0]["effect"] > 0
        name = f"{'high' if high else 'low'} {_plain(str(features.iloc[0]['thing']))}"
    else:
        name = f"cluster {number}"
    name = capital(name)
    return name if name.casefold() not in there else f"{name} ({number})"


def told_categories(table: pd.DataFrame, but: str = "", most: int = 2) -> list[str]:
    """Return the categories of a card to tell: words, each once, none of the column `but`."""
    found: list[str] = []
    for thing in table[table["inside"] >= _CATEGORY_SHARE]["thing"]:
        column, _, value = str(thing).partition(": ")
        said = _plain(value)
        if column != but and _LETTERS.search(said) and said not in found and len(found) < most:
            found.append(said)
    return found


def value_words(thing: str) -> str:
    """Return "column: value" as words: the value alone where it says something by itself."""
    column, _, value = thing.partition(": ")
    said = _plain(value)
    return said if _LETTERS.search(said) else f"{_plain(column)} {said}"


def capital(text: str) -> str:
    """Return text that begins with a capital letter."""
    return text[:1].upper() + text[1:]


def _plain(text: str) -> str:
    slug = text == text.lower() and re.fullmatch(r"[^\W\d_]+(?:[-_][^\W\d_]+)*", text)
    return text.replace("-", " ").replace("_", " ") if slug else text


def _sentence(counts: Mapping[str, int], tables: Mapping[str, pd.DataFrame], main: _Main) -> str:
    """Return "12 emoji and 30 keywords, 85 % food drink, with the words juice, sweet, summer"."""
    parts = [f"{count:,} {name}" for name, count in counts.items()]
    said = parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
    if main.classes and main.shares[0] >= _NAME_SHARE:
        share = main.shares[0]
        whose = f" {main.whose}" if main.whose else ""
        said += f", {'all' if share == 1 else f'{100 * share:.0f} %'}{whose} {main.classes[0]}"
    words = told_words(tables["words"])
    if words:
        return f"{said}, with the words {', '.join(words)}."
    categories = told_categories(tables["categories"], main.column)
    categories = [one for one in categories if one not in main.classes[:1]]
    return f"{said}, more often {' and '.join(categories)}." if categories else f"{said}."
