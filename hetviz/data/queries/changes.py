"""Share of the data that differs between two versions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from hetviz._types import Bools, Floats, Ints
from hetviz.data.model.comparisons import Comparisons
from hetviz.data.model.dataset import Dataset
from hetviz.data.model.heterodata import HeteroData
from hetviz.data.model.links import kind_key


def share_changed(before: HeteroData, after: HeteroData) -> float:
    """Return the share of items, links and comparisons that are new, gone or different, 0 to 1.

    An item is different if a value of its table is, or without a table one of its features. If
    other columns are used as features, their share of all columns counts for each item.
    """
    old_sets, new_sets = before.datasets, after.datasets
    names = list(dict.fromkeys([*old_sets, *new_sets]))
    rows = {name: _new_rows(old_sets.get(name), new_sets.get(name)) for name in names}
    counts = [_items_changed(old_sets.get(name), new_sets.get(name), rows[name]) for name in names]
    # Unchanged groups of links need no comparison.
    same = {
        id(links)
        for links in before.links
        if any(links is other for other in after.links)
        and old_sets[links.source] is new_sets.get(links.source)
        and old_sets[links.target] is new_sets.get(links.target)
    }
    counts += [(0.0, len(links)) for links in after.links if id(links) in same]
    old_groups = [links for links in before.links if id(links) not in same]
    new_groups = [links for links in after.links if id(links) not in same]
    for kind in dict.fromkeys(map(kind_key, [*old_groups, *new_groups])):
        old_links = [
            _table([rows[links.source][links.i], rows[links.target][links.j]], links.weight)
            for links in old_groups
            if kind_key(links) == kind
        ]
        new_links = [
            _table([links.i, links.j], links.weight)
            for links in new_groups
            if kind_key(links) == kind
        ]
        counts.append(_rows_changed(old_links, new_links))
    all_rows = np.concatenate(
        [
            np.where(at < 0, -1, at + (after.offsets[name].start if name in new_sets else 0))
            for name, at in rows.items()
            if name in old_sets
        ]
    )
    counts.append(_comparisons_changed(before.comparisons, after.comparisons, all_rows))
    n_changed, n_all = np.sum(counts, axis=0)
    return float(n_changed / n_all) if n_all else 0.0


def _new_rows(old: Dataset | None, new: Dataset | None) -> Ints:
    """Return the row of each old item in the new dataset, -1 if it is gone."""
    if old is None:
        return np.empty(0, dtype=np.int64)
    if old is new:
        return np.arange(len(old))
    return np.full(len(old), -1) if new is None else new.find(old.ids)


def _counts(n_old: int, n_new: int, n_same: float) -> tuple[float, int]:
    """Return the number of changes, of which a replacement is one, and of all."""
    n_all = max(n_old, n_new)
    return n_all - n_same, n_all


def _items_changed(old: Dataset | None, new: Dataset | None, rows: Ints) -> tuple[float, int]:
    n_old, n_new = (0 if part is None else len(part) for part in (old, new))
    common = np.flatnonzero(rows >= 0)
    if old is None or new is None or old is new:
        return _counts(n_old, n_new, len(common))
    columns, new_columns = set(old.feature_names or ()), set(new.feature_names or ())
    n_columns = len(columns | new_columns)
    share = len(columns & new_columns) / n_columns if n_columns else 1.0
    same = ~_different_rows(old, new, common, rows[common])
    return _counts(n_old, n_new, min(float(same.sum()), share * len(common)))


def _different_rows(old: Dataset, new: Dataset, rows: Ints, new_rows: Ints) -> Bools:
    """Return which items, given by their rows in both datasets, have other values."""
    different = np.zeros(len(rows), dtype=bool)
    if old.table is not None and new.table is not None:
        for name in old.table.columns.intersection(new.table.columns):
            a = old.table[name].to_numpy(dtype=object)[rows]
            b = new.table[name].to_numpy(dtype=object)[new_rows]
            different |= np.asarray(a != b, dtype=bool) & ~(pd.isna(a) & pd.isna(b))
        return different
    if old.X is None or new.X is None or old.X.shape[1] != new.X.shape[1]:
        return different | (old.X is not new.X)
    cells: Any = old.X[rows] != new.X[new_rows]
    return different | (np.asarray(cells.sum(axis=1)).ravel() > 0)


def _table(ends: Sequence[Ints], weight: Floats) -> pd.DataFrame:
    table = pd.DataFrame(dict(enumerate(ends)))
    return table.assign(weight=weight)


def _rows_changed(old: Sequence[pd.DataFrame], new: Sequence[pd.DataFrame]) -> tuple[float, int]:
    """Return the number of rows of tables that changed; -1 stands for an item that is gone."""
    hashes = [
        np.concatenate(
            [
                np.empty(0, dtype=np.uint64),
                *(pd.util.hash_pandas_object(part, index=False).to_numpy() for part in parts),
            ]
        )
        for parts in (old, new)
    ]
    (rows, n), (new_rows, n_new) = (np.unique(part, return_counts=True) for part in hashes)
    _, at, new_at = np.intersect1d(rows, new_rows, assume_unique=True, return_indices=True)
    n_same = int(np.minimum(n[at], n_new[new_at]).sum())
    return _counts(len(hashes[0]), len(hashes[1]), n_same)


def _comparisons_changed(
    old: Comparisons | None, new: Comparisons | None, rows: Ints
) -> tuple[float, int]:
    tables = [] if old is None else [_table(list(rows[old.objects].T), old.weight)]
    new_tables = [] if new is None else [_table(list(new.objects.T), new.weight)]
    return _rows_changed(tables, new_tables)
