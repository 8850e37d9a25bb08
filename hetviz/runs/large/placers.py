"""Placers of rows by features, which run in any worker."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import numpy as np

from hetviz._types import Array, Floats
from hetviz.algorithms.base import BaseEmbedder
from hetviz.core.graph.affinities import neighbors_needed
from hetviz.core.graph.distances import cross_squared_distances
from hetviz.core.graph.neighbors import NeighborCells, cross_neighbors_by_cells
from hetviz.core.layout.placement import PERPLEXITY, median_places, medians_of
from hetviz.core.spectral.blocks import LinearMap
from hetviz.data import Dataset
from hetviz.io.formats import npy

_BLOCK_ROWS = 16_384
_MAX_ENTRIES = 8_000_000


@dataclass(frozen=True)
class LinearPlacer:
    """Fitted linear maps; tables without links have no place."""

    maps: Mapping[str, LinearMap]
    scale: Mapping[str, Floats]  # Shape (k,). Factor of each axis; NaN without a place.

    def place(self, table: str, X: Array) -> Floats:
        """Return places (n, k) of rows (n, d)."""
        fitted, scale = self.maps[table], self.scale[table]
        Y = np.empty((len(X), len(scale)))
        for start in range(0, len(X), _BLOCK_ROWS):
            Y[start : start + _BLOCK_ROWS] = (
                fitted(X[start : start + _BLOCK_ROWS].astype(np.float64)) * scale
            )
        return Y


@dataclass(frozen=True)
class LandmarkPlacer:
    """Placement at the weighted median of the most similar landmarks of the table."""

    features: Mapping[str, Floats]  # Shape (m, d).
    places: Mapping[str, Floats]  # Shape (m, k).

    def place(self, table: str, X: Array) -> Floats:
        """Return places (n, k) of rows (n, d)."""
        L, Y = self.features[table], self.places[table]
        places = np.empty((len(X), Y.shape[1]))
        step = max(1, _MAX_ENTRIES // max(len(L), 1))
        for start in range(0, len(X), step):
            piece = X[start : start + step].astype(np.float64)
            squared = cross_squared_distances(piece, L)
            places[start : start + step] = median_places(squared, Y, between=True)
        return places


@dataclass(frozen=True)
class RefinedPlacer:
    """Placement at the weighted median of the most similar refined rows of the table."""

    folder: str
    tables: tuple[str, ...]

    def place(self, table: str, X: Array) -> Floats:
        """Return places (n, k) of rows (n, d)."""
        read = partial(self._read, self.tables.index(table))
        features, places, ends = read("features"), read("places"), read("ends")
        # The rows of a cell are contiguous.
        members = [np.arange(a, b) for a, b in pairwise(ends.tolist())]
        cells = NeighborCells(np.array(read("centres")), members)
        k, perplexity = neighbors_needed(len(features) + 1, PERPLEXITY)
        out = np.empty((len(X), places.shape[1]))
        for start in range(0, len(X), _BLOCK_ROWS):
            piece = X[start : start + _BLOCK_ROWS].astype(np.float64)
            neighbors = cross_neighbors_by_cells(piece, features, k, cells)
            at = places[neighbors.index]
            out[start : start + _BLOCK_ROWS] = medians_of(
                neighbors.squared, at, perplexity, between=True
            )
        return out

    def _read(self, t: int, name: str) -> Array:
        return npy.load(f"{self.folder}/by-{t}-{name}.npy", mapped=True)


@dataclass(frozen=True, eq=False)
class ModelPlacer:
    """A method fitted to landmarks that places new rows itself."""

    model: BaseEmbedder

    def place(self, table: str, X: Array) -> Floats:
        """Return places (n, k) of rows (n, d)."""
        parts = []
        step = max(1, min(_BLOCK_ROWS, _MAX_ENTRIES // 10_000))
        for start in range(0, len(X), step):
            piece = X[start : start + step].astype(np.float64)
            ids = [f"\x00{row}" for row in range(start, start + len(piece))]
            new = Dataset(table, ids, piece)
            parts.append(np.asarray(self.model.transform(new).coordinates[table]))
        return np.vstack(parts)
