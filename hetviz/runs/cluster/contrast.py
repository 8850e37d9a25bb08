"""Words, categories and numbers of all items, read once, to tell any clusters apart by."""

from __future__ import annotations

import weakref
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
import scipy.sparse as sp

from hetviz._types import Bools, Floats, Ints, Texts
from hetviz.data import Dataset, HeteroData
from hetviz.features.columns.types import Column
from hetviz.features.interpretation import feature_names
from hetviz.features.item_columns import group_values, item_columns
from hetviz.features.relations.words import item_words
from hetviz.metrics.contrast import corrected, higher_or_lower, more_often

_MOST_VALUES = 200
_MOST_NUMBERS = 300
_MOST_CELLS = 20_000_000


@dataclass(frozen=True, eq=False)
class Known:
    """A label of one dataset, or of several that have the same classes.

    Attributes
    ----------
    column : str
    datasets : list of str
    classes : set of str
    values : array of str or None, shape (n_rows,)
    """

    column: str
    datasets: list[str]
    classes: set[str]
    values: Texts


class Contrasts:
    """What items can be told apart by.

    Parameters
    ----------
    data : HeteroData
        Not kept alive by this, so that it may be kept beside them.
    """

    def __init__(self, data: HeteroData) -> None:
        self._data = weakref.ref(data)

    @property
    def data(self) -> HeteroData:
        """The data, which somebody else keeps."""
        found = self._data()
        if found is None:
            raise ReferenceError("the data are gone")
        return found

    @cached_property
    def _words(self) -> tuple[list[str], sp.csr_array]:
        return item_words(self.data)

    @cached_property
    def _columns(self) -> dict[str, dict[str, Column]]:
        return {name: item_columns(self.data, name) for name in self.data.datasets}

    @cached_property
    def labels(self) -> list[Known]:
        """What items are known to be: the first label of each dataset, those alike put together.

        Labels of two datasets are alike that share at least half of their classes.
        """
        found: list[Known] = []
        done: set[str] = set()
        for column in self.data.labels:
            mine = {plain_text(value) for value in column.classes}
            few = 2 <= len(mine) <= max(2, int(column.known.sum()) // 2)
            if column.dataset in done or not few:
                continue
            done.add(column.dataset)
            texts = [None if value is None else plain_text(value) for value in column.values]
            alike = next((one for one in found if len(mine & one.classes) >= len(mine) / 2), None)
            if alike is None:
                nothing = np.full(self.data.n_rows, None, dtype=object)
                alike = Known(column.name, [], mine, nothing)
                found.append(alike)
            alike.datasets.append(column.dataset)
            alike.values[self.data.offsets[column.dataset]] = texts
        return found

    def of(
        self,
        codes: Ints,
        n_clusters: int,
        among: Bools | None = None,
        words_only: bool = False,
    ) -> dict[str, pd.DataFrame]:
        """Return what sets each cluster apart: "words", "categories" and "features".

        From the other rows, or from the others of those `among` which to compare, shape (n_rows,).
        With `words_only` the other two are empty, which is several times as fast.
        Each has group, thing, dataset, inside, outside, effect, p and q, see
        `hetviz.runs.cluster.cards.ClusterCard`; q is corrected over all clusters of a table.
        """
        words, M = self._words
        rows = np.arange(len(codes)) if among is None else np.flatnonzero(among)
        told = more_often(sp.csr_array(M[rows]), codes[rows], n_clusters)
        tests = told.attrs["tests"]
        told["thing"] = [words[thing] for thing in told["thing"]]
        told["dataset"] = ""
        names = () if words_only else tuple(self.data.datasets)
        categories = [self._categories(name, codes, n_clusters, rows) for name in names]
        features = [self._numbers(name, codes, n_clusters, rows) for name in names]
        return {
            "words": _with_q([told], tests),
            "categories": _with_q(categories, sum(part.attrs["tests"] for part in categories)),
            "features": _with_q(features, sum(part.attrs["tests"] for part in features)),
        }

    def _categories(self, name: str, codes: Ints, n_clusters: int, rows: Ints) -> pd.DataFrame:
        here = self._own(name, rows)
        mine = codes[self.data.offsets[name]][here]
        parts, tests = [], 0
        for column in self._columns[name].values():
            values = group_values(column)
            if values is None:
                continue
            values = values[here]
            known = np.array([value is not None for value in values], dtype=bool)
            distinct, at = np.unique(values[known].astype(str), return_inverse=True)
            if len(distinct) > _MOST_VALUES:
                continue
            has = np.flatnonzero(known)
            M = sp.csr_array((np.ones(len(has)), (has, at)), shape=(len(mine), len(distinct)))
            found = more_often(M, mine, n_clusters)
            tests += found.attrs["tests"]
            found["thing"] = [f"{column.name}: {distinct[thing]}" for thing in found["thing"]]
            parts.append(found)
        return _joined(parts, name, tests)

    def _numbers(self, name: str, codes: Ints, n_clusters: int, rows: Ints) -> pd.DataFrame:
        here = self._own(name, rows)
        names, X = self._measured[name]
        found = higher_or_lower(X[here], codes[self.data.offsets[name]][here], n_clusters)
        tests = found.attrs["tests"]
        found["thing"] = [names[thing] for thing in found["thing"]]
        return _joined([found], name, tests)

    def _own(self, name: str, rows: Ints) -> Ints:
        """Return which of the global rows are of a dataset, as its rows."""
        span = self.data.offsets[name]
        return np.asarray(rows[(rows >= span.start) & (rows < span.stop)] - span.start)

    @cached_property
    def _measured(self) -> dict[str, tuple[list[str], Floats]]:
        return {
            name: _numbers_of(dataset, self._columns[name])
            for name, dataset in self.data.datasets.items()
        }


def _numbers_of(dataset: Dataset, columns: dict[str, Column]) -> tuple[list[str], Floats]:
    """Return the columns of numbers of a dataset, and its features by other names; 300 at most."""
    found = {
        column.name: column.values.astype(np.float64)
        for column in columns.values()
        if column.kind == "number" and group_values(column) is None
    }
    X = dataset.X
    if X is not None and X.shape[0] * X.shape[1] <= _MOST_CELLS:
        dense = np.asarray(X.toarray() if isinstance(X, sp.csr_array) else X, dtype=np.float64)
        for at, feature in enumerate(feature_names(dataset)):
            if feature not in found:
                found[feature] = dense[:, at]
    names = list(found)[:_MOST_NUMBERS]
    if not names:
        return [], np.zeros((len(dataset), 0))
    return names, np.column_stack([found[name] for name in names])


def _joined(parts: list[pd.DataFrame], dataset: str, tests: int) -> pd.DataFrame:
    parts = [part for part in parts if len(part)]
    out = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()
    out["dataset"] = dataset
    out.attrs["tests"] = tests
    return out


def _with_q(parts: list[pd.DataFrame], tests: int) -> pd.DataFrame:
    there = [part for part in parts if len(part)]
    columns = ["group", "thing", "dataset", "inside", "outside", "effect", "p"]
    if not there:
        return pd.DataFrame(columns=[*columns, "q"])
    for part in there:
        part.attrs.clear()
    out = pd.concat([part[columns] for part in there], ignore_index=True)
    out["q"] = corrected(out["p"].to_numpy(np.float64), tests)
    return out


def plain_text(value: object) -> str:
    """Return a label as text, 3 for 3.0."""
    whole = isinstance(value, float) and value.is_integer()
    return str(int(value)) if whole and isinstance(value, float) else str(value)
