"""Pairs of rows of a target and a source dataset, by links, by labels, or at random."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hetviz._types import Ints, Rng, Sparse
from hetviz.core.graph.laplacian import dataset_components
from hetviz.data import HeteroData, Labels
from hetviz.data.model.views import identity_links


@dataclass(frozen=True, eq=False)
class Pairing:
    """Pairs of rows of two datasets; a row may be in several pairs, or in none."""

    how: str
    target: Ints
    source: Ints


def linked_pairs(data: HeteroData, target: str, source: str) -> Pairing:
    """Return one pair for each positive link, and for each common id of two views."""
    rows: list[tuple[Ints, Ints]] = []
    for group in [*data.links, *identity_links(data)]:
        positive = group.weight > 0
        if (group.source, group.target) == (target, source):
            rows.append((group.i[positive], group.j[positive]))
        elif (group.source, group.target) == (source, target):
            rows.append((group.j[positive], group.i[positive]))
    pairs = np.array([np.concatenate(end) for end in zip(*rows, strict=True)], dtype=np.int64)
    distinct = np.unique(pairs.reshape(2, -1), axis=1)
    return Pairing("links", distinct[0], distinct[1])


def labelled_pairs(data: HeteroData, target: str, source: str, rng: Rng) -> Pairing:
    """Return random pairs within common classes; each row of such a class is in a pair.

    The first two label columns with a common class are used. Rows of the smaller side are drawn
    repeatedly.
    """
    shared = shared_labels(data, target, source)
    ends: tuple[list[Ints], list[Ints]] = ([], [])
    if shared is not None:
        first, second = shared
        for value in first.classes:
            class_rows = (
                np.flatnonzero(first.values == value),
                np.flatnonzero(second.values == value),
            )
            if len(class_rows[0]) and len(class_rows[1]):
                for end, rows in zip(
                    ends, _equalised(class_rows[0], class_rows[1], rng), strict=True
                ):
                    end.append(rows)
    empty = np.zeros(0, dtype=np.int64)
    return Pairing("labels", *(np.concatenate([empty, *end]) for end in ends))


def random_pairs(data: HeteroData, target: str, source: str, rng: Rng) -> Pairing:
    """Return random pairs of all rows; rows of the smaller side are drawn repeatedly."""
    rows = (np.arange(len(data[target])), np.arange(len(data[source])))
    return Pairing("random", *_equalised(rows[0], rows[1], rng))


def shared_labels(data: HeteroData, target: str, source: str) -> tuple[Labels, Labels] | None:
    """Return the first label columns of two datasets with a common class, or None."""
    for first in data.labels:
        for second in data.labels:
            both = (first.dataset, second.dataset) == (target, source)
            if both and set(first.classes) & set(second.classes):
                return first, second
    return None


def _equalised(first: Ints, second: Ints, rng: Rng) -> tuple[Ints, Ints]:
    """Return two lists of rows in random order, the shorter one filled by repeated rows."""
    m = max(len(first), len(second))
    drawn = [np.r_[rows, rng.choice(rows, m - len(rows))] for rows in (first, second)]
    return rng.permutation(drawn[0]), rng.permutation(drawn[1])


def connected_datasets(data: HeteroData, W: Sparse) -> dict[str, int]:
    """Return the connected component of each dataset in the graph W, (n_rows, n_rows)."""
    label = dataset_components(W, [len(dataset) for dataset in data.datasets.values()])
    return dict(zip(data.datasets, label.tolist(), strict=True))
