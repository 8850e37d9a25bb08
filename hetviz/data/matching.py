"""Items of two datasets that share a key: the same id, or the same value of a column."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hetviz.data.dataset import Dataset
from hetviz.data.heterodata import HeteroData
from hetviz.data.links import Links
from hetviz.errors import DataError, Problem

MOST_PAIRS = 1_000_000


@dataclass(frozen=True, eq=False)
class Match:
    """Pairs of rows that share a key.

    Attributes
    ----------
    source, target : str
    i, j : array of int, shape (m,)
        Rows of `source` and of `target`, pair by pair.
    source_alone, target_alone : array of int
        Rows of each that have no partner, in order; rows without a key are among them.
    """

    source: str
    target: str
    i: NDArray[np.int64]
    j: NDArray[np.int64]
    source_alone: NDArray[np.int64]
    target_alone: NDArray[np.int64]

    def links(self, kind: str) -> Links:
        """Return the pairs as links of weight 1."""
        return Links(self.source, self.target, self.i, self.j, kind=kind, role="relation")


def match_by_key(
    data: HeteroData, source: str, source_column: str, target: str, target_column: str
) -> Match:
    """Pair the items of two datasets whose keys are the same text.

    Parameters
    ----------
    data : HeteroData
    source, target : str
        Two different datasets.
    source_column, target_column : str
        Columns of their tables; empty for the ids. Blanks around a key do not count, and a whole
        number is the same key whether it is written 7 or 7.0.

    Raises
    ------
    hetviz.errors.DataError
        If a dataset or column does not exist, or the keys name more than 1,000,000 pairs.

    Notes
    -----
    Costs O(n log n + pairs).
    """
    if source == target:
        raise DataError(
            Problem("one-dataset", "links by key", "two different datasets are needed", source)
        )
    left = _keys(data[source], source_column)
    right = _keys(data[target], target_column)
    sizes = left.value_counts().to_frame("a").join(right.value_counts().to_frame("b"), how="inner")
    pairs = int((sizes["a"].astype(np.int64) * sizes["b"]).sum())
    if pairs > MOST_PAIRS:
        raise DataError(
            Problem(
                "too-many-pairs",
                f"links {source} - {target} by key",
                f"the keys name {pairs:,} pairs; {MOST_PAIRS:,} are allowed",
                remedy="Choose a column whose values differ more from row to row.",
            )
        )
    joined = pd.merge(
        left.to_frame("key").assign(i=left.index), right.to_frame("key").assign(j=right.index)
    ).sort_values(["i", "j"])
    i, j = joined["i"].to_numpy(np.int64), joined["j"].to_numpy(np.int64)
    return Match(
        source,
        target,
        i,
        j,
        np.setdiff1d(np.arange(len(data[source])), i),
        np.setdiff1d(np.arange(len(data[target])), j),
    )


def _keys(dataset: Dataset, column: str) -> pd.Series:
    """Return the keys that there are, as text, by row."""
    if not column:
        return pd.Series([str(text).strip() for text in dataset.ids], dtype=object)
    if dataset.table is None or column not in dataset.table.columns:
        raise DataError(
            Problem(
                "unknown-column", f"dataset {dataset.name!r}", "there is no such column", column
            )
        )
    keys = pd.Series([_key(value) for value in dataset.table[column]], dtype=object)
    return keys[keys != ""]


def _key(value: Any) -> str:
    if pd.isna(value):
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value).strip()
