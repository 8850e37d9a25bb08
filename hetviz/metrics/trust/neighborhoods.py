"""Who is near whom, in the data and on a map, for the rows that are asked for."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from hetviz._types import Floats, Ints
from hetviz.core.graph.distances import CrossSpace, Space
from hetviz.core.graph.neighbors import nearest_columns
from hetviz.core.measures.neighborhoods import NearRows, choose_near_rows, count_mistaken_neighbors
from hetviz.core.measures.ranking import MAX_TREE_AXES, nearest_places
from hetviz.data import Embedding, HeteroData
from hetviz.errors import ParameterError
from hetviz.features.spaces.affinities import space_of
from hetviz.metrics.fit.rows import coordinates_of

NEAR = 0.05
"""Share of a dataset that counts as near to an item."""
_LEAST_ROWS = 4


class Vicinity:
    """Nearness in the data and on a map, found when it is asked for.

    Parameters
    ----------
    data, embedding, k, random_state, rows
        As in `hetviz.metrics.trust.trust.trust`.
    """

    def __init__(
        self,
        data: HeteroData,
        embedding: Embedding,
        k: int,
        random_state: int,
        rows: Iterable[int] | None,
    ) -> None:
        given: Any = k
        if isinstance(given, bool) or not isinstance(given, int | np.integer) or given < 1:
            raise ParameterError(f"trust: k = {k!r}; a whole number from 1.")
        self.data, self.k = data, int(k)
        self.places = coordinates_of(data, embedding)
        self.spaces = {name: space_of(dataset) for name, dataset in data.datasets.items()}
        self.placed = {
            name: np.flatnonzero(np.isfinite(Y).all(axis=1)) for name, Y in self.places.items()
        }
        wanted = np.ones(data.n_rows, dtype=bool)
        if rows is not None:
            wanted[:] = False
            wanted[np.asarray(list(rows), dtype=np.int64)] = True
        self.asked = {
            name: there[wanted[data.offsets[name]][there]] for name, there in self.placed.items()
        }
        self._rng = np.random.default_rng(random_state)
        self._n_asked = max(map(len, self.asked.values()))
        self._horizons: dict[tuple[str, bool], NearRows] = {}
        self._reach_here: dict[tuple[str, str], Floats] = {}
        self._reach_in_data: dict[str, Floats] = {}

    @property
    def standard_error(self) -> float:
        """Of the share of rows that count as near; the largest there was."""
        return max((seen.standard_error for seen in self._horizons.values()), default=0.0)

    def seen(self, name: str, same: bool) -> NearRows:
        """Return the rows of a dataset that are looked at; `same`: from rows of that dataset."""
        if (name, same) not in self._horizons:
            self._horizons[name, same] = choose_near_rows(
                self.placed[name], self._n_asked, NEAR, self.k, self._rng, same
            )
        return self._horizons[name, same]

    def linked_rows(self, able: Ints) -> Ints:
        """Return the linked rows of a dataset that are looked at."""
        return choose_near_rows(able, self._n_asked, NEAR, self.k, self._rng, False).candidates

    def nearest_of(self, source: str, target: str, rows: Ints) -> Ints:
        """Return the k nearest of another dataset on the map for rows of one, shape (q, k)."""
        there = self.placed[target]
        seen = self.candidates(target, False)
        if seen.sampled and self.places[target].shape[1] > MAX_TREE_AXES:
            there = seen.candidates
        A, B = self.places[source][rows], self.places[target][there]
        return np.asarray(there[nearest_places(A, B, min(self.k, len(there)))])

    def within(self) -> tuple[Floats, Floats, Floats]:
        """Return false and missing neighbours in the row's own dataset, and of how many."""
        shape = (3, self.data.n_rows)
        false, missing, of = np.full(shape, np.nan)
        for name, place in self.data.offsets.items():
            space, rows = self.spaces[name], self.asked[name]
            if space is None or len(self.placed[name]) < _LEAST_ROWS or not len(rows):
                continue
            seen = self.candidates(name, True)
            k = min(self.k, (len(seen.candidates) - 1) // 2)
            Y = self.places[name]
            counts = count_mistaken_neighbors(space, CrossSpace(Y, Y), rows, seen, k)
            at = rows + place.start
            false[at], missing[at], of[at] = counts[0], counts[1], float(k)
            self._known_reach(name)[rows] = counts[2]
        return false, missing, of

    def reach_in_data(self, name: str, rows: Ints) -> Floats:
        """Return how far near reaches in the data from rows of a dataset that has features."""
        known = self._known_reach(name)
        lacking = np.unique(rows[np.isnan(known[rows])])
        space = self.spaces[name]
        if len(lacking) and space is not None:
            seen = self.candidates(name, True)
            known[lacking] = seen.limits(space, lacking, True)
        # what is compared with it may come from another sum, whose rounding differs
        return np.asarray(known[rows] * (1.0 + 1e-9))

    def _known_reach(self, name: str) -> Floats:
        nothing = np.full(len(self.data[name]), np.nan)
        return self._reach_in_data.setdefault(name, nothing)

    def reach_here(self, source: str, target: str) -> Floats:
        """Return how far near reaches on the map to rows of `target`, from the rows asked."""
        if (source, target) not in self._reach_here:
            rows, same = self.asked[source], source == target
            found = np.full(len(self.data[source]), np.nan)
            if len(rows) and len(self.placed[target]) > same:
                seen = self.candidates(target, same)
                found[rows] = seen.limits(self.here(source, target), rows, same)
            self._reach_here[source, target] = found
        return self._reach_here[source, target]

    def here(self, source: str, target: str) -> Space:
        """Return the distances on the map from one dataset to another."""
        return CrossSpace(self.places[source], self.places[target])

    def nearest_here(self, row: int) -> Ints:
        """Return the k rows of its own dataset nearest to a global row on the map."""
        for name, place in self.data.offsets.items():
            if place.start <= row < place.stop and row - place.start in self.placed[name]:
                others = self.placed[name][self.placed[name] != row - place.start]
                Y = self.places[name]
                D = CrossSpace(Y, Y).between(np.array([row - place.start]), others)
                k = min(self.k, len(others))
                if k:
                    return np.asarray(others[nearest_columns(D, k)[0]] + place.start)
        return np.zeros(0, dtype=np.int64)
