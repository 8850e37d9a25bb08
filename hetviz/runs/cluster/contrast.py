"""Differences between clusters in words, categories and numbers."""

from __future__ import annotations

import weakref
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
import scipy.sparse as sp

from hetviz._text import plain_text
from hetviz._types import Bools, Floats, Ints, Texts
from hetviz.data import Dataset, HeteroData
from hetviz.features.columns.names import is_named_id, label_reason
from hetviz.features.columns.types import Column
from hetviz.features.interpretation import feature_names
from hetviz.features.item_columns import group_values, indicators, item_columns
from hetviz.features.relations.words import item_words
from hetviz.metrics.contrast import correct_p_values, find_frequent_things, find_shifted_numbers
from hetviz.runs.cluster.names import Facts

_MAX_VALUES = 200
_MAX_NUMBERS = 300
_MAX_CELLS = 20_000_000


@dataclass(frozen=True, eq=False)
class ContrastLabel:
    """A label of one dataset, or of several that have the same classes."""

    column: str
    datasets: list[str]
    classes: set[str]
    values: Texts  # Shape (n_rows,).


class Contrasts:
    """Words, categories and numbers of items, read once, with a weak reference to the data."""

    def __init__(self, data: HeteroData) -> None:
        self._data = weakref.ref(data)

    @property
    def data(self) -> HeteroData:
        """The data; the caller must keep them alive."""
        data = self._data()
        if data is None:
            raise ReferenceError("the data are gone")
        return data

    @cached_property
    def _words(self) -> tuple[list[str], sp.csr_array]:
        return item_words(self.data)

    @cached_property
    def _columns(self) -> dict[str, dict[str, Column]]:
        return {name: item_columns(self.data, name) for name in self.data.datasets}

    @cached_property
    def facts(self) -> Facts:
        """What may be true of items, for names of groups."""
        columns: list[tuple[str, str, Texts, bool]] = []
        for label in self.labels:
            for name in label.datasets:
                values = label.values[self.data.offsets[name]]
                columns.append((name, label.column, values, True))
        labelled = {(name, column) for name, column, _, _ in columns}
        for name, own_columns in self._columns.items():
            for column in own_columns.values():
                is_choice = column.kind == "category" and (name, column.name) not in labelled
                if is_choice and not is_named_id(column.name) and not label_reason(column.name):
                    columns.append((name, column.name, column.values, False))
            for indicator, x in indicators(own_columns).items():
                if own_columns[indicator].kind == "number":
                    values = np.full(len(x), None, dtype=object)
                    values[x == 1], values[x == 0] = "yes", "no"
                    columns.append((name, indicator, values, False))
        return Facts.of(self.data, columns, self._words)

    @cached_property
    def labels(self) -> list[ContrastLabel]:
        """The first label of each dataset; labels that share half of their classes are merged."""
        labels: list[ContrastLabel] = []
        seen: set[str] = set()
        for column in self.data.labels:
            classes = {plain_text(value) for value in column.classes}
            is_usable = 2 <= len(classes) <= max(2, int(column.known.sum()) // 2)
            if column.dataset in seen or not is_usable:
                continue
            seen.add(column.dataset)
            texts = [None if value is None else plain_text(value) for value in column.values]
            same = next(
                (label for label in labels if len(classes & label.classes) >= len(classes) / 2),
                None,
            )
            if same is None:
                no_values = np.full(self.data.n_rows, None, dtype=object)
                same = ContrastLabel(column.name, [], classes, no_values)
                labels.append(same)
            same.datasets.append(column.dataset)
            same.values[self.data.offsets[column.dataset]] = texts
        return labels

    def of(
        self, codes: Ints, n_clusters: int, among: Bools | None = None, words_only: bool = False
    ) -> dict[str, pd.DataFrame]:
        """Return the differences of each cluster to other rows: "words", "categories", "features".

        The mask `among`, shape (n_rows,), limits the rows to compare. With `words_only` the other
        two tables are empty, which is several times faster. Each table has group, thing, dataset,
        inside, outside, effect, p and q, see `hetviz.runs.cluster.cards.ClusterCard`; q is
        corrected over all clusters of a table.
        """
        words, M = self._words
        rows = np.arange(len(codes)) if among is None else np.flatnonzero(among)
        word_table = find_frequent_things(sp.csr_array(M[rows]), codes[rows], n_clusters)
        tests = word_table.attrs["tests"]
        word_table["thing"] = [words[thing] for thing in word_table["thing"]]
        word_table["dataset"] = ""
        names = () if words_only else tuple(self.data.datasets)
        categories = [self._categories(name, codes, n_clusters, rows) for name in names]
        features = [self._numbers(name, codes, n_clusters, rows) for name in names]
        return {
            "words": _with_corrected_p([word_table], tests),
            "categories": _with_corrected_p(
                categories, sum(part.attrs["tests"] for part in categories)
            ),
            "features": _with_corrected_p(features, sum(part.attrs["tests"] for part in features)),
        }

    def _categories(self, name: str, codes: Ints, n_clusters: int, rows: Ints) -> pd.DataFrame:
        own_rows = self._own_rows(name, rows)
        own_codes = codes[self.data.offsets[name]][own_rows]
        parts, tests = [], 0
        for column in self._columns[name].values():
            values = group_values(column)
            if values is None:
                continue
            values = values[own_rows]
            is_known = np.array([value is not None for value in values], dtype=bool)
            distinct, at = np.unique(values[is_known].astype(str), return_inverse=True)
            if len(distinct) > _MAX_VALUES:
                continue
            known_rows = np.flatnonzero(is_known)
            M = sp.csr_array(
                (np.ones(len(known_rows)), (known_rows, at)), shape=(len(own_codes), len(distinct))
            )
            table = find_frequent_things(M, own_codes, n_clusters)
            tests += table.attrs["tests"]
            table["thing"] = [f"{column.name}: {distinct[thing]}" for thing in table["thing"]]
            parts.append(table)
        return _join_tables(parts, name, tests)

    def _numbers(self, name: str, codes: Ints, n_clusters: int, rows: Ints) -> pd.DataFrame:
        own_rows = self._own_rows(name, rows)
        names, X = self._numeric[name]
        table = find_shifted_numbers(
            X[own_rows], codes[self.data.offsets[name]][own_rows], n_clusters
        )
        tests = table.attrs["tests"]
        table["thing"] = [names[thing] for thing in table["thing"]]
        return _join_tables([table], name, tests)

    def _own_rows(self, name: str, rows: Ints) -> Ints:
        """Return the global rows that belong to a dataset, as its own rows."""
        span = self.data.offsets[name]
        return np.asarray(rows[(rows >= span.start) & (rows < span.stop)] - span.start)

    @cached_property
    def _numeric(self) -> dict[str, tuple[list[str], Floats]]:
        return {
            name: _numeric_columns(dataset, self._columns[name])
            for name, dataset in self.data.datasets.items()
        }


def _numeric_columns(dataset: Dataset, columns: dict[str, Column]) -> tuple[list[str], Floats]:
    """Return up to 300 numeric columns of a dataset and features with other names."""
    numbers = {
        column.name: column.values.astype(np.float64)
        for column in columns.values()
        if column.kind == "number" and group_values(column) is None
    }
    X = dataset.X
    if X is not None and X.shape[0] * X.shape[1] <= _MAX_CELLS:
        dense = np.asarray(X.toarray() if isinstance(X, sp.csr_array) else X, dtype=np.float64)
        for at, feature in enumerate(feature_names(dataset)):
            if feature not in numbers:
                numbers[feature] = dense[:, at]
    names = list(numbers)[:_MAX_NUMBERS]
    if not names:
        return [], np.zeros((len(dataset), 0))
    return names, np.column_stack([numbers[name] for name in names])


def _join_tables(parts: list[pd.DataFrame], dataset: str, tests: int) -> pd.DataFrame:
    parts = [part for part in parts if len(part)]
    out = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()
    out["dataset"] = dataset
    out.attrs["tests"] = tests
    return out


def _with_corrected_p(parts: list[pd.DataFrame], tests: int) -> pd.DataFrame:
    nonempty = [part for part in parts if len(part)]
    columns = ["group", "thing", "dataset", "inside", "outside", "effect", "p"]
    if not nonempty:
        return pd.DataFrame(columns=[*columns, "q"])
    for part in nonempty:
        part.attrs.clear()
    out = pd.concat([part[columns] for part in nonempty], ignore_index=True)
    out["q"] = correct_p_values(out["p"].to_numpy(np.float64), tests)
    return out
