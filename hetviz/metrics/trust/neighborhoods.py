"""Neighbours of query rows in the data and on a map."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from hetviz._types import Floats, Ints
from hetviz.core.graph.distances import CrossSpace, Space
from hetviz.core.graph.neighbors import MAX_TREE_AXES, nearest_columns, nearest_places
from hetviz.core.measures.neighborhoods import NearRows, choose_near_rows, count_mistaken_neighbors
from hetviz.data import Embedding, HeteroData
from hetviz.errors import ParameterError
from hetviz.features.spaces.affinities import space_of
from hetviz.metrics.fit.rows import coordinates_of

NEAR = 0.05
"""Share of a dataset that counts as close to an item."""
_MIN_ROWS = 4


class Neighborhoods:
    """Neighbours in the data and on a map, computed on demand."""

    def __init__(
        self,
        data: HeteroData,
        embedding: Embedding,
        k: int,
        random_state: int,
        rows: Iterable[int] | None,
    ) -> None:
        value: Any = k
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
            raise ParameterError(f"trust: k = {k!r} must be a whole number of 1 or more.")
        self.data, self.k = data, int(k)
        self.places = coordinates_of(data, embedding)
        self.spaces = {name: space_of(dataset) for name, dataset in data.datasets.items()}
        self.placed = {
            name: np.flatnonzero(np.isfinite(Y).all(axis=1)) for name, Y in self.places.items()
        }
        is_query = np.ones(data.n_rows, dtype=bool)
        if rows is not None:
            is_query[:] = False
            is_query[np.asarray(list(rows), dtype=np.int64)] = True
        self.query_rows = {
            name: placed_rows[is_query[data.offsets[name]][placed_rows]]
            for name, placed_rows in self.placed.items()
        }
        self._rng = np.random.default_rng(random_state)
        self._n_asked = max(map(len, self.query_rows.values()))
        self._horizons: dict[tuple[str, bool], NearRows] = {}
        self._map_radius_cache: dict[tuple[str, str], Floats] = {}
        self._data_radius_cache: dict[str, Floats] = {}

    @property
    def standard_error(self) -> float:
        """Largest standard error of the share of rows that count as close."""
        return max((seen.standard_error for seen in self._horizons.values()), default=0.0)

    def sampled_rows(self, name: str, same: bool) -> NearRows:
        """Return the candidate rows of a dataset. `same`: for queries of the same dataset."""
        if (name, same) not in self._horizons:
            self._horizons[name, same] = choose_near_rows(
                self.placed[name], self._n_asked, NEAR, self.k, self._rng, same
            )
        return self._horizons[name, same]

    def linked_rows(self, able: Ints) -> Ints:
        """Return a sample of the linked rows of a dataset."""
        return choose_near_rows(able, self._n_asked, NEAR, self.k, self._rng, False).candidates

    def nearest_on_map(self, source: str, target: str, rows: Ints) -> Ints:
        """Return the k nearest rows of another dataset on the map, shape (q, k)."""
        candidates = self.placed[target]
        seen = self.sampled_rows(target, False)
        if seen.sampled and self.places[target].shape[1] > MAX_TREE_AXES:
            candidates = seen.candidates
        A, B = self.places[source][rows], self.places[target][candidates]
        return np.asarray(candidates[nearest_places(A, B, min(self.k, len(candidates)))])

    def own_dataset_errors(self) -> tuple[Floats, Floats, Floats]:
        """Return the numbers of false and missing neighbours in the own dataset, and k."""
        shape = (3, self.data.n_rows)
        false, missing, of = np.full(shape, np.nan)
        for name, place in self.data.offsets.items():
            space, rows = self.spaces[name], self.query_rows[name]
            if space is None or len(self.placed[name]) < _MIN_ROWS or not len(rows):
                continue
            seen = self.sampled_rows(name, True)
            k = min(self.k, (len(seen.candidates) - 1) // 2)
            Y = self.places[name]
            counts = count_mistaken_neighbors(space, CrossSpace(Y, Y), rows, seen, k)
            at = rows + place.start
            false[at], missing[at], of[at] = counts[0], counts[1], float(k)
            self._cached_radius(name)[rows] = counts[2]
        return false, missing, of

    def data_radius(self, name: str, rows: Ints) -> Floats:
        """Return the distance within which rows are close in the data, for each given row."""
        radius = self._cached_radius(name)
        missing = np.unique(rows[np.isnan(radius[rows])])
        space = self.spaces[name]
        if len(missing) and space is not None:
            seen = self.sampled_rows(name, True)
            radius[missing] = seen.limits(space, missing, True)
        # Tolerance for rounding: compared distances may be summed in another order.
        return np.asarray(radius[rows] * (1.0 + 1e-9))

    def _cached_radius(self, name: str) -> Floats:
        empty = np.full(len(self.data[name]), np.nan)
        return self._data_radius_cache.setdefault(name, empty)

    def map_radius(self, source: str, target: str) -> Floats:
        """Return the distance within which rows of `target` are close on the map, by query."""
        if (source, target) not in self._map_radius_cache:
            rows, is_same_dataset = self.query_rows[source], source == target
            radius = np.full(len(self.data[source]), np.nan)
            if len(rows) and len(self.placed[target]) > is_same_dataset:
                seen = self.sampled_rows(target, is_same_dataset)
                radius[rows] = seen.limits(
                    self.map_distances(source, target), rows, is_same_dataset
                )
            self._map_radius_cache[source, target] = radius
        return self._map_radius_cache[source, target]

    def map_distances(self, source: str, target: str) -> Space:
        """Return the distances on the map from one dataset to another."""
        return CrossSpace(self.places[source], self.places[target])

    def nearest_in_own_dataset(self, row: int) -> Ints:
        """Return the k nearest rows on the map in the dataset of a global row."""
        for name, place in self.data.offsets.items():
            if place.start <= row < place.stop and row - place.start in self.placed[name]:
                others = self.placed[name][self.placed[name] != row - place.start]
                Y = self.places[name]
                D = CrossSpace(Y, Y).between(np.array([row - place.start]), others)
                if k := min(self.k, len(others)):
                    return np.asarray(others[nearest_columns(D, k)[0]] + place.start)
        return np.zeros(0, dtype=np.int64)
