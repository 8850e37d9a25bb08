"""What places rows by their features alone, wherever their block is worked on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from hetviz._types import Array, Floats
from hetviz.algorithms.base import BaseEmbedder
from hetviz.core.graph.distances import cross_squared_distances
from hetviz.core.layout.placement import median_places
from hetviz.core.spectral.blocks import LinearMap
from hetviz.data import Dataset

_ROWS = 16_384
_ENTRIES = 8_000_000


@dataclass(frozen=True)
class LinearPlacer:
    """Fitted linear maps; tables that no link reaches have no place.

    Attributes
    ----------
    maps : mapping of str to LinearMap
    scale : mapping of str to ndarray of shape (k,)
        Factor of each axis; NaN where there is no place.
    """

    maps: Mapping[str, LinearMap]
    scale: Mapping[str, Floats]

    def place(self, table: str, X: Array) -> Floats:
        """Return places (n, k) of rows (n, d)."""
        fitted, scale = self.maps[table], self.scale[table]
        Y = np.empty((len(X), len(scale)))
        for start in range(0, len(X), _ROWS):
            Y[start : start + _ROWS] = fitted(X[start : start + _ROWS].astype(np.float64)) * scale
        return Y


@dataclass(frozen=True)
class LandmarkPlacer:
    """Rows lie at the weighted median of the landmarks of their table that are most like them.

    Attributes
    ----------
    features : mapping of str to ndarray of shape (m, d)
    places : mapping of str to ndarray of shape (m, k)
    """

    features: Mapping[str, Floats]
    places: Mapping[str, Floats]

    def place(self, table: str, X: Array) -> Floats:
        """Return places (n, k) of rows (n, d)."""
        L, Y = self.features[table], self.places[table]
        out = np.empty((len(X), Y.shape[1]))
        step = max(1, _ENTRIES // max(len(L), 1))
        for start in range(0, len(X), step):
            piece = X[start : start + step].astype(np.float64)
            squared = cross_squared_distances(piece, L)
            out[start : start + step] = median_places(squared, Y, between=True)
        return out


@dataclass(frozen=True, eq=False)
class ModelPlacer:
    """A method fitted to landmarks, which places new rows in its own way."""

    model: BaseEmbedder

    def place(self, table: str, X: Array) -> Floats:
        """Return places (n, k) of rows (n, d)."""
        found = []
        step = max(1, min(_ROWS, _ENTRIES // 10_000))
        for start in range(0, len(X), step):
            piece = X[start : start + step].astype(np.float64)
            ids = [f"\x00{row}" for row in range(start, start + len(piece))]
            new = Dataset(table, ids, piece)
            found.append(np.asarray(self.model.transform(new).coordinates[table]))
        return np.vstack(found)
