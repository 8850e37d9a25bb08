"""What neighbour maps share: which items have a place, and where new ones go."""

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
from hetviz.features.relations.link_scores import connected_datasets
from hetviz.features.spaces.affinities import squared_to_fitted


@dataclass(frozen=True, eq=False)
class PlacedRows:
    """The items that a graph of neighbours and links reaches.

    Attributes
    ----------
    mask : ndarray of shape (n_rows,)
        Whether each global row has a place.
    graph : csr_array of shape (n_placed, n_placed)
        The graph of those that have.
    components : mapping of str to int
        Component of the graph of datasets that each dataset belongs to.
    offsets : mapping of str to slice
        Global rows of each dataset.
    """

    mask: Bools
    graph: Sparse
    components: Mapping[str, int]
    offsets: Mapping[str, slice]

    @classmethod
    def by(cls, graph: Sparse, data: HeteroData) -> PlacedRows:
        """Find out, and warn of items without a place and of datasets that nothing joins."""
        mask = np.asarray(graph.sum(axis=1)).ravel() > 0
        missing = {name: int((~mask[rows]).sum()) for name, rows in data.offsets.items()}
        words = ", ".join(f"{count:,} of {name}" for name, count in missing.items() if count)
        if words:
            _warn(f"{words} have neither features to compare nor a link: left off the map.")
        components = connected_datasets(data, graph)
        if len({components[name] for name, rows in data.offsets.items() if mask[rows].any()}) > 1:
            _warn(
                "No links join all datasets: those of different parts share the picture, but "
                "their places have nothing to do with each other."
            )
        return cls(mask, _select(graph, mask), components, data.offsets)

    def among(self, graph: Sparse) -> Sparse:
        """Return the part of a graph over all rows that is about placed ones."""
        return _select(graph, self.mask)

    def whole(self, Y: Floats) -> Floats:
        """Return places of all rows, (n_rows, k), of those that have one; NaN for the others."""
        out = np.full((len(self.mask), Y.shape[1]), np.nan)
        out[self.mask] = Y
        return out

    def by_dataset(self, Y: Floats) -> dict[str, Floats]:
        """Return the same, dataset by dataset."""
        stacked = self.whole(Y)
        return {name: stacked[rows] for name, rows in self.offsets.items()}

    def earlier(self, places: Mapping[str, Floats], k: int) -> Floats | None:
        """Return places of those of the items that have one here; None where that is no start.

        Parameters
        ----------
        places : mapping of str to array of shape (n, k)
            On an earlier map, of every row; NaN for rows that it lacks.
        k : int
            Axes wanted.
        """
        stacked = np.vstack(list(places.values()))[self.mask]
        known = np.isfinite(stacked).all(axis=1)
        return stacked if stacked.shape[1] == k and known.any() else None

    def numbers(self, groups: Sequence[tuple[Ints, Ints]]) -> list[tuple[Ints, Ints]]:
        """Return groups of global rows as placed rows, without those that have no place."""
        number = np.cumsum(self.mask) - 1
        return [(number[a[self.mask[a]]], number[b[self.mask[b]]]) for a, b in groups]

    def pairs(self, W: Sparse) -> tuple[Ints, Ints, Floats]:
        """Return the entries of a symmetric matrix over all rows once each, as placed rows."""
        entries = sp.triu(W).tocoo()
        left, right = entries.coords
        kept = self.mask[left] & self.mask[right]
        number = np.cumsum(self.mask) - 1
        return number[left[kept]], number[right[kept]], entries.data[kept]


def place_new(
    rows: NewRows,
    fitted: Mapping[str, Dataset],
    Y: Mapping[str, Floats],
    kind: str,
    own: float,
    linked: Mapping[str, float],
) -> Floats:
    """Place new rows of a dataset between those like them and those linked with them.

    Parameters
    ----------
    rows : NewRows
    fitted : mapping of str to Dataset
    Y : mapping of str to array of shape (n, k)
        Where fitted rows lie.
    kind : str
        What makes rows alike, see `hetviz.features.spaces.affinities.KINDS`.
    own : float
        How much those like them count; 0 where features do not.
    linked : mapping of str to float
        How much links with a dataset count; 0 as much as likeness does.

    Returns
    -------
    ndarray of shape (n_new, k)
        The weighted mean of the weighted median of those alike, as in
        `hetviz.core.layout.placement.median_places`, and the weighted mean of the linked in each
        dataset; NaN for rows with neither. Links that say apart are not used.
    """
    n, k = len(rows.dataset), next(iter(Y.values())).shape[1]
    total, mass = np.zeros((n, k)), np.zeros(n)
    squared = None
    if own > 0:
        squared = squared_to_fitted(fitted[rows.dataset.name], rows.dataset, kind)
    if squared is not None:
        like = median_places(squared, Y[rows.dataset.name])
        there = np.isfinite(like).all(axis=1)
        total[there] += own * like[there]
        mass[there] += own
    for name, places in Y.items():
        ends = np.flatnonzero((rows.to == name) & (rows.weight > 0))
        ends = ends[np.isfinite(places[rows.to_row[ends]]).all(axis=1)]
        pull = sp.csr_array(
            (rows.weight[ends], (rows.row[ends], rows.to_row[ends])), shape=(n, len(places))
        )
        degree: Floats = np.asarray(pull.sum(axis=1)).ravel()
        reached = degree > 0
        share = linked[name] or own or 1.0
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
