"""Shared parts of neighbour maps: placed rows, and out-of-sample placement."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from hetviz._types import Bools, Floats, Ints, Sparse
from hetviz.core.layout.placement import median_places
from hetviz.data import Dataset, HeteroData
from hetviz.data.model.out_of_sample import NewRows
from hetviz.errors import DataWarning
from hetviz.features.relations.pairing import connected_datasets
from hetviz.features.spaces.affinities import squared_to_fitted


@dataclass(frozen=True, eq=False)
class PlacedRows:
    """Rows that a graph of neighbours and links reaches."""

    mask: Bools
    graph: Sparse
    components: Mapping[str, int]
    offsets: Mapping[str, slice]

    @classmethod
    def by(cls, graph: Sparse, data: HeteroData, connections: Sparse | None = None) -> PlacedRows:
        """Find the placed rows; warn about unplaced items and unconnected datasets.

        `connections` is the graph that connects datasets, if not all edges of `graph` do.
        """
        mask = np.asarray(graph.sum(axis=1)).ravel() > 0
        missing = {name: int((~mask[rows]).sum()) for name, rows in data.offsets.items()}
        words = ", ".join(f"{count:,} of {name}" for name, count in missing.items() if count)
        if words:
            _warn(f"{words} have no features and no links, so they are left off the map.")
        components = connected_datasets(data, graph if connections is None else connections)
        if len({components[name] for name, rows in data.offsets.items() if mask[rows].any()}) > 1:
            _warn(
                "Links do not connect all datasets. Unconnected parts share the picture, but their "
                "positions cannot be compared."
            )
        return cls(mask, _select(graph, mask), components, data.offsets)

    def among(self, graph: Sparse) -> Sparse:
        """Return the part of a graph of all rows that belongs to placed rows."""
        return _select(graph, self.mask)

    def whole(self, Y: Floats) -> Floats:
        """Return coordinates of all rows, (n_rows, k), NaN for unplaced ones."""
        out = np.full((len(self.mask), Y.shape[1]), np.nan)
        out[self.mask] = Y
        return out

    def by_dataset(self, Y: Floats) -> dict[str, Floats]:
        """Return coordinates of all rows by dataset, NaN for unplaced ones."""
        stacked = self.whole(Y)
        return {name: stacked[rows] for name, rows in self.offsets.items()}

    def earlier(self, places: Mapping[str, Floats], k: int) -> Floats | None:
        """Return the coordinates of placed rows on a previous map, or None if it is unusable."""
        stacked = np.vstack(list(places.values()))[self.mask]
        is_known = np.isfinite(stacked).all(axis=1)
        return stacked if stacked.shape[1] == k and is_known.any() else None

    def numbers(self, groups: Sequence[tuple[Ints, Ints]]) -> list[tuple[Ints, Ints]]:
        """Return groups of global rows as numbers of placed rows, without unplaced ones."""
        number = np.cumsum(self.mask) - 1
        return [(number[a[self.mask[a]]], number[b[self.mask[b]]]) for a, b in groups]

    def pairs(self, W: Sparse) -> tuple[Ints, Ints, Floats]:
        """Return the distinct entries of a symmetric matrix of all rows, for placed rows."""
        entries = sp.triu(W).tocoo()
        left, right = entries.coords
        mask = self.mask[left] & self.mask[right]
        number = np.cumsum(self.mask) - 1
        return number[left[mask]], number[right[mask]], entries.data[mask]


def place_new(
    rows: NewRows,
    fitted: Mapping[str, Dataset],
    Y: Mapping[str, Floats],
    kind: str,
    own_weight: float,
    linked: Mapping[str, float],
) -> Floats:
    """Place new rows between similar fitted rows and linked ones.

    Returns (n_new, k): Weighted mean of the weighted median of similar rows, see
        `hetviz.core.layout.placement.median_places`, and of the weighted mean of linked rows in
        each dataset; NaN for rows with neither. Negative links are not used.
    """
    n, k = len(rows.dataset), next(iter(Y.values())).shape[1]
    total, mass = np.zeros((n, k)), np.zeros(n)
    squared = None
    if own_weight > 0:
        squared = squared_to_fitted(fitted[rows.dataset.name], rows.dataset, kind)
    if squared is not None:
        similar_places = median_places(squared, Y[rows.dataset.name])
        has_similar = np.isfinite(similar_places).all(axis=1)
        total[has_similar] += own_weight * similar_places[has_similar]
        mass[has_similar] += own_weight
    for name, places in Y.items():
        ends = np.flatnonzero((rows.to == name) & (rows.weight > 0))
        ends = ends[np.isfinite(places[rows.to_row[ends]]).all(axis=1)]
        pull = sp.csr_array(
            (rows.weight[ends], (rows.row[ends], rows.to_row[ends])), shape=(n, len(places))
        )
        degree: Floats = np.asarray(pull.sum(axis=1)).ravel()
        reached = degree > 0
        share = linked[name] or own_weight or 1.0
        pulled = (pull @ np.nan_to_num(places))[reached]
        total[reached] += share * pulled / degree[reached, None]
        mass[reached] += share
    with np.errstate(invalid="ignore"):
        return np.asarray(total / np.where(mass > 0, mass, np.nan)[:, None])


def _select(graph: Sparse, mask: Bools) -> Sparse:
    rows = np.flatnonzero(mask)
    return sp.csr_array(graph if mask.all() else graph[rows][:, rows])


def _warn(message: str) -> None:
    warnings.warn(message, DataWarning, stacklevel=4)
