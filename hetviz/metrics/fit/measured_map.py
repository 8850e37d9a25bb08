"""A map with the data it is measured by, and cached intermediate results."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from hetviz._types import Bools, Floats, Ints
from hetviz.core.graph.neighbors import nearest_places
from hetviz.data import Embedding, HeteroData
from hetviz.metrics.fit.guidance import BlockScore, block_scores_of_parts
from hetviz.metrics.fit.rows import coordinates_of, has_same_rows

MeasureValues = dict[str, tuple[float, float]]
"""Value and standard error by measure. The error of exact values is 0."""

MAX_EXACT_QUERIES = 20_000
"""Maximum number of items that are all queries. Above it, a sample is used."""
N_SAMPLED_QUERIES = 5_000
_MAX_EXACT_AXES = 4
_N_QUERIES_MANY_AXES = 1_000


class MeasuredMap:
    """A map, its data, and held-out data."""

    def __init__(
        self,
        data: HeteroData,
        embedding: Embedding,
        held_out: HeteroData | None = None,
        random_state: int = 0,
        beat: Callable[[], None] = lambda: None,
    ) -> None:
        self.data, self.embedding, self.held_out = data, embedding, held_out
        self.random_state, self.beat = random_state, beat
        self.errors: dict[str, float] = {}
        """Standard error of each measure over its links, comparisons or items."""
        self._nearest_cache: dict[tuple[str, str], tuple[Ints, Ints]] = {}

    @cached_property
    def places(self) -> dict[str, Floats]:
        """Places of the rows of the data, {dataset: (n_i, k)}. NaN without a place."""
        return coordinates_of(self.data, self.embedding)

    @cached_property
    def held_out_places(self) -> dict[str, Floats]:
        """Places of the rows of the held-out data. The same object if the rows are the same."""
        if self.held_out is None:
            return {}
        if has_same_rows(self.data, self.held_out):
            return self.places
        return coordinates_of(self.held_out, self.embedding)

    @cached_property
    def stacked(self) -> Floats:
        """All places, shape (n_rows, k)."""
        return np.vstack(list(self.places.values()))

    @cached_property
    def placed(self) -> Bools:
        """Mask of rows with a place, shape (n_rows,)."""
        return np.asarray(np.isfinite(self.stacked).all(axis=1), dtype=bool)

    @cached_property
    def blocks(self) -> tuple[list[BlockScore], list[BlockScore]]:
        """Scores of given and held-out links, ranked among all pairs of their datasets."""
        held_out = self.held_out
        if held_out is None:
            (given_blocks,) = block_scores_of_parts(
                self.places, [self.data.links], self.random_state, self.beat
            )
            return given_blocks, []
        if self.held_out_places is self.places:
            given_blocks, held_out_blocks = block_scores_of_parts(
                self.places, [self.data.links, held_out.links], self.random_state, self.beat
            )
            return given_blocks, held_out_blocks
        seed, beat = self.random_state, self.beat
        (given_blocks,) = block_scores_of_parts(self.places, [self.data.links], seed, beat)
        (held_out_blocks,) = block_scores_of_parts(
            self.held_out_places, [held_out.links], seed, beat
        )
        return given_blocks, held_out_blocks

    @cached_property
    def cross_links(self) -> dict[tuple[str, str], sp.csr_array]:
        """Positive links between datasets in both directions, {(s, t): (n_s, n_t)}."""
        return cross_dataset_links(self.data)

    def nearest(self, source: str, target: str, k: int) -> tuple[Ints, Ints]:
        cached = self._nearest_cache.get((source, target))
        if cached is None or cached[1].shape[1] < k:
            cached = self._nearest_cache[source, target] = self._find_nearest(source, target, k)
        return cached[0], cached[1][:, :k]

    def nearest_within(self, source: str, target: str, k: int) -> tuple[Ints, Ints]:
        """Return the k nearest rows of their own dataset, for the queries of `nearest`."""
        queries, A = self._queries(source, target), self.places[source]
        placed = np.flatnonzero(np.isfinite(A).all(axis=1))
        n_neighbors = min(k, len(placed) - 1)
        if not len(queries) or n_neighbors < 1:
            return queries, np.zeros((len(queries), 0), dtype=np.int64)
        index = placed[nearest_places(A[queries], A[placed], n_neighbors + 1)]
        is_query = index == queries[:, None]
        # With many rows at one place, a row need not be among its own nearest.
        is_query[~is_query.any(axis=1), -1] = True
        return queries, index[~is_query].reshape(len(queries), n_neighbors)

    def _queries(self, source: str, target: str) -> Ints:
        """Return the placed rows with a link to a placed row, or a sample of them."""
        A, B = self.places[source], self.places[target]
        reachable = np.zeros(len(B))
        reachable[np.isfinite(B).all(axis=1)] = 1.0
        linked = np.asarray(self.cross_links[source, target] @ reachable) > 0
        queries = np.flatnonzero(np.isfinite(A).all(axis=1) & linked)
        has_few_axes = A.shape[1] <= _MAX_EXACT_AXES
        if len(queries) > MAX_EXACT_QUERIES or (
            not has_few_axes and len(queries) > 2 * _N_QUERIES_MANY_AXES
        ):
            rng = np.random.default_rng(self.random_state)
            size = N_SAMPLED_QUERIES if has_few_axes else _N_QUERIES_MANY_AXES
            queries = np.sort(rng.choice(queries, size, replace=False))
        return queries

    def _find_nearest(self, source: str, target: str, k: int) -> tuple[Ints, Ints]:
        queries = self._queries(source, target)
        A, B = self.places[source], self.places[target]
        placed = np.flatnonzero(np.isfinite(B).all(axis=1))
        if not len(queries):
            return queries, np.zeros((0, min(k, len(placed))), dtype=np.int64)
        return queries, placed[nearest_places(A[queries], B[placed], min(k, len(placed)))]

    def n_queries(self, source: str, target: str) -> int:
        """Return how many rows of `source` could be queries of `nearest`."""
        target_placed = np.asarray(np.isfinite(self.places[target]).all(axis=1), dtype=np.float64)
        source_placed = np.isfinite(self.places[source]).all(axis=1)
        return int(
            (
                source_placed & (np.asarray(self.cross_links[source, target] @ target_placed) > 0)
            ).sum()
        )


def cross_dataset_links(data: HeteroData) -> dict[tuple[str, str], sp.csr_array]:
    """Return the positive links between different datasets in both directions."""
    pairs_by_datasets: dict[tuple[str, str], list[tuple[Ints, Ints]]] = {}
    for links in data.links:
        positive = links.weight > 0
        if links.within or not positive.any():
            continue
        i, j = links.i[positive], links.j[positive]
        pairs_by_datasets.setdefault((links.source, links.target), []).append((i, j))
        pairs_by_datasets.setdefault((links.target, links.source), []).append((j, i))
    links_by_pair = {}
    for (source, target), pairs in pairs_by_datasets.items():
        rows, columns = (np.concatenate([pair[end] for pair in pairs]) for end in (0, 1))
        shape = (len(data[source]), len(data[target]))
        W = sp.coo_array((np.ones(len(rows)), (rows, columns)), shape=shape).tocsr()
        W.sum_duplicates()
        W.data[:] = 1.0
        links_by_pair[source, target] = W
    return links_by_pair
