"""Column profiles of a dataset for the preview."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
import pandas as pd

from hetviz.data import Dataset
from hetviz.features.columns.types import Column, infer
from hetviz.io.infer.recipe import Profile

MAX_SAMPLE_ROWS = 20_000
"""Maximum number of rows used for a profile, sampled evenly."""
_MAX_VALUES = 8


def profiles_of(dataset: Dataset, columns: Sequence[str], n_bins: int = 12) -> list[Profile]:
    """Return the profiles of columns of a dataset, from at most `MAX_SAMPLE_ROWS` rows."""
    if dataset.table is None:
        return []
    step = max(1, -(-len(dataset) // MAX_SAMPLE_ROWS))
    table = dataset.table.iloc[::step]
    return [
        _profile(infer(name, table[name]), dataset.units.get(name, ""), n_bins) for name in columns
    ]


def _profile(column: Column, unit: str, n_bins: int) -> Profile:
    n = len(column.values)
    if column.values.dtype != object and column.kind in ("number", "date", "constant"):
        numbers = np.asarray(column.values, np.float64)
        numbers = numbers[~np.isnan(numbers)]
        counts, edges = np.histogram(numbers, bins=n_bins) if len(numbers) else ((), ())
        return Profile(
            column.name,
            "whole number" if column.kind == "number" and column.whole else column.kind,
            unit,
            n,
            column.n_missing,
            len(np.unique(numbers)),
            bins=tuple(np.asarray(edges, np.float64).tolist()),
            counts=tuple(np.asarray(counts, np.int64).tolist()),
        )
    texts = [str(value).strip() for value in column.values if not _is_missing(value)]
    uses = Counter(texts)
    top = uses.most_common(_MAX_VALUES)
    return Profile(
        column.name,
        column.kind,
        unit,
        n,
        column.n_missing,
        len(uses),
        counts=tuple(count for _, count in top),
        values=tuple(value for value, _ in top),
    )


def _is_missing(value: object) -> bool:
    return value is None or bool(pd.isna(np.float64(value)) if isinstance(value, float) else False)
