"""Summaries of columns for the preview and the sheet of a dataset."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from hetviz._types import Floats
from hetviz.data import Dataset
from hetviz.features.columns.types import MISSING, Column, infer
from hetviz.io.infer.parsed import Table
from hetviz.io.infer.recipe import NUMBERS

MAX_SAMPLE_ROWS = 20_000
"""Maximum number of rows of a dataset used for a profile, sampled evenly."""
_N_BINS = 12
_ID_TYPES = ("id", "key of another table")
_MAX_VALUES = 8


@dataclass(frozen=True)
class Profile:
    """A summary of a column with its histogram or most frequent values."""

    name: str
    type: str
    unit: str
    n_rows: int
    n_missing: int
    n_distinct: int
    bins: tuple[float, ...] = ()
    counts: tuple[int, ...] = ()
    values: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()


def column_profiles(raw_cells: pd.DataFrame, table: Table) -> list[Profile]:
    """Return the profile of each column of a table read by a recipe from a raw frame."""
    out = []
    for column in () if table.recipe is None else table.recipe.columns:
        raw = raw_cells[column.name]
        cells = table.frame.get(column.name, raw)
        stripped = cells.str.strip()
        # NA can be an id: Namibia.
        gaps = ("",) if column.type in _ID_TYPES else MISSING
        missing = stripped.str.lower().isin(gaps).to_numpy(dtype=bool)
        missing_words = Counter(text.strip() for text in raw[missing] if text.strip())
        texts = stripped[~missing]
        profile = Profile(
            column.name,
            column.type,
            column.unit,
            len(cells),
            int(missing.sum()),
            int(texts.nunique()),
            examples=tuple(word for word, _ in missing_words.most_common(5)),
        )
        is_numeric = column.type in (*NUMBERS, "date", "place")
        numbers = _numbers_of(infer(column.name, cells, table.decimal)) if is_numeric else None
        out.append(_with_counts(profile, texts.tolist() if numbers is None else numbers, _N_BINS))
    return out


def profiles_of(dataset: Dataset, columns: Sequence[str], n_bins: int = _N_BINS) -> list[Profile]:
    """Return the profiles of columns of a dataset, from at most `MAX_SAMPLE_ROWS` rows."""
    if dataset.table is None:
        return []
    step = max(1, -(-len(dataset) // MAX_SAMPLE_ROWS))
    table = dataset.table.iloc[::step]
    out = []
    for name in columns:
        column = infer(name, table[name])
        values: list[str] | Floats | None = None
        if column.kind in ("number", "date", "constant"):
            values = _numbers_of(column)
        if values is None:
            values = [str(value).strip() for value in column.values if not pd.isna(value)]
        profile = Profile(
            name,
            "whole number" if column.kind == "number" and column.whole else column.kind,
            dataset.units.get(name, ""),
            len(column.values),
            column.n_missing,
            len(set(values)) if isinstance(values, list) else len(np.unique(values)),
        )
        out.append(_with_counts(profile, values, n_bins))
    return out


def _numbers_of(column: Column) -> Floats | None:
    """Return the numbers of a column, None for a column of texts or without any."""
    if column.values.dtype == object:
        return None
    numbers = np.asarray(column.values, np.float64)
    numbers = numbers[~np.isnan(numbers)]
    return numbers if len(numbers) else None


def _with_counts(profile: Profile, values: list[str] | Floats, n_bins: int) -> Profile:
    """Return a profile with the histogram of numbers or the most frequent texts."""
    if isinstance(values, list):
        top = Counter(values).most_common(_MAX_VALUES)
        return replace(profile, values=tuple(v for v, _ in top), counts=tuple(n for _, n in top))
    counts, edges = np.histogram(values, bins=n_bins)
    return replace(profile, bins=tuple(edges.tolist()), counts=tuple(counts.tolist()))
