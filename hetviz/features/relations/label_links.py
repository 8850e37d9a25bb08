"""Links between typical items of the same label."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np
import scipy.sparse as sp

from hetviz._types import Floats, Ints
from hetviz.core.clustering.partition import choose_exemplars
from hetviz.data import Dataset, Embedding, HeteroData, Labels, Links
from hetviz.data.model.meta import make_meta
from hetviz.errors import DataError, ParameterError


def links_from_labels(
    data: HeteroData,
    label: str,
    per_class: int = 5,
    cannot: bool = False,
    *,
    dataset: str | None = None,
    target: str | None = None,
    kind: str | None = None,
) -> Links:
    """Link typical items of the same label.

    Parameters
    ----------
    data : HeteroData
    label : str
        Name of a label column.
    per_class : int
        Number of typical items of each class that are linked with each other.
    cannot : bool
        Also put the most typical items of different classes apart.
    dataset : str, optional
        Dataset of the labels; default: the first with such a column.
    target : str, optional
        Second dataset with such a column, to link items of the same label across datasets.
    kind : str, optional
        Kind of the links; default: ``"same <label>"``.

    Returns
    -------
    Links
        Weight 1 for together and -1 for apart, in a set of their own.

    Raises
    ------
    hetviz.errors.DataError
        If the label is unknown, or no class has two items.
    """
    if isinstance(per_class, bool) or per_class < 1:
        raise ParameterError(f"per_class = {per_class!r} must be a whole number of 1 or more.")
    first = _column(data, label, dataset)
    second = first if target is None else _column(data, label, target)
    within = first.dataset == second.dataset
    members, others = _classes(data, first), _classes(data, second)
    shared = [value for value in members if value in others]
    pairs: list[tuple[Ints, Ints]] = []
    for value in shared:
        ends = (members[value], others[value])
        typical = [typical_rows(data, rows, per_class, None) for rows in ends]
        p, q = (side.ravel() for side in np.meshgrid(*typical, indexing="ij"))
        pairs.append(distinct_pairs(data, p, q))
    n_together = sum(len(p) for p, _ in pairs)
    if not n_together:
        message = "no two items of different objects have the same label"
        raise DataError.of("no-pairs", f"labels {label!r}", message)
    if cannot:
        middle = {value: typical_rows(data, members[value], 1, None)[0] for value in shared}
        across = {value: typical_rows(data, others[value], 1, None)[0] for value in shared}
        apart_pairs = [
            (middle[a], across[b])
            for at, a in enumerate(shared)
            for b in (shared[at + 1 :] if within else shared[:at] + shared[at + 1 :])
        ]
        p, q = np.array(apart_pairs, dtype=np.int64).reshape(-1, 2).T
        pairs.append((p, q))
    p, q = (np.concatenate(side) for side in zip(*pairs, strict=True))
    weight = np.where(np.arange(len(p)) < n_together, 1.0, -1.0)
    return Links(
        first.dataset,
        second.dataset,
        p - data.offsets[first.dataset].start,
        q - data.offsets[second.dataset].start,
        weight,
        kind=f"same {label}" if kind is None else kind,
        meta=make_meta(len(p), set=f"from {label}"),
    )


def _column(data: HeteroData, label: str, dataset: str | None) -> Labels:
    for column in data.labels:
        if column.name == label and dataset in (None, column.dataset):
            return column
    where = "labels" if dataset is None else f"dataset {data[dataset].name!r}"
    names = [c.name for c in data.labels if dataset in (None, c.dataset)]
    hint = f"Available: {', '.join(dict.fromkeys(names)) or 'none'}."
    raise DataError.of("unknown-label", where, "this label does not exist", label, hint)


def _classes(data: HeteroData, column: Labels) -> dict[Hashable, Ints]:
    start = data.offsets[column.dataset].start
    values = column.values
    out: dict[Hashable, Ints] = {}
    for value in column.classes:
        out[value] = start + np.flatnonzero(np.array([v == value for v in values], dtype=bool))
    return out


MAX_CANDIDATES = 2_000
"""Largest number of rows of one dataset; more are thinned evenly."""


def typical_rows(data: HeteroData, rows: Ints, k: int, embedding: Embedding | None) -> Ints:
    """Return `k` typical rows, in proportion to the rows of each dataset."""
    if k >= len(rows):
        return rows
    parts = [
        (data[name], span.start, dataset_rows)
        for name, span in data.offsets.items()
        if len(dataset_rows := rows[(rows >= span.start) & (rows < span.stop)])
    ]
    sizes = np.array([len(dataset_rows) for *_, dataset_rows in parts])
    exact = k * sizes / sizes.sum()
    counts = np.floor(exact).astype(int)
    # Largest remainders, so that the counts add up.
    counts[np.argsort(counts - exact, kind="stable")[: k - counts.sum()]] += 1
    out = [
        _typical_in_dataset(dataset, start, dataset_rows, count, embedding)
        for (dataset, start, dataset_rows), count in zip(parts, counts.tolist(), strict=True)
        if count
    ]
    return np.sort(np.concatenate(out))


def _typical_in_dataset(
    dataset: Dataset, start: int, rows: Ints, k: int, embedding: Embedding | None
) -> Ints:
    if len(rows) > MAX_CANDIDATES:
        rows = rows[np.linspace(0, len(rows) - 1, MAX_CANDIDATES).round().astype(np.int64)]
    X = _descriptions(dataset, rows - start, embedding)
    if X is None:
        return rows[np.linspace(0, len(rows) - 1, k).round().astype(np.int64)]
    return rows[choose_exemplars(X, k)]


def _descriptions(dataset: Dataset, rows: Ints, embedding: Embedding | None) -> Floats | None:
    """Return descriptors of rows of a dataset, (n, d), or None."""
    if embedding is not None and dataset.name in embedding.coordinates:
        Y = np.asarray(embedding.coordinates[dataset.name], dtype=np.float64)[rows]
        if np.isfinite(Y).all():
            return Y
    if dataset.X is not None:
        if isinstance(dataset.X, sp.csr_array):
            return np.asarray(sp.csr_array(dataset.X[rows]).toarray(), dtype=np.float64)
        X = np.asarray(dataset.X[rows], dtype=np.float64)
        spread = X.std(axis=0)
        return np.asarray(X / np.where(spread > 0, spread, 1.0))
    square = dataset.kernel if dataset.kernel is not None else dataset.distance
    if square is None:
        return None
    # Similar items have similar rows of the matrix.
    return np.asarray(square[rows], dtype=np.float64)


def distinct_pairs(data: HeteroData, p: Ints, q: Ints) -> tuple[Ints, Ints]:
    """Return the distinct pairs of different objects, in order."""
    ends = np.sort(np.column_stack([data.object_of[p], data.object_of[q]]), axis=1)
    _, first = np.unique(ends, axis=0, return_index=True)
    selected = np.sort(first)
    selected = selected[ends[selected, 0] != ends[selected, 1]]
    return p[selected], q[selected]
