"""A map and what it is judged by, with what several measures need of them taken once."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from hetviz._types import Bools, Floats, Ints
from hetviz.core.measures.ranking import nearest_places
from hetviz.data import Embedding, HeteroData
from hetviz.metrics.fit.guidance import BlockScore, scores_of_parts
from hetviz.metrics.fit.rows import coordinates_of

Values = dict[str, tuple[float, float]]
"""Name of a measure to its value and the standard error of that value, 0 where it is exact."""

EXACT_QUERIES = 20_000
"""Up to this many items each is a query; above it a sample is."""
SAMPLED_QUERIES = 5_000
_FEW_AXES = 4
_FEW_QUERIES = 1_000


class Measured:
    """A map, the data it was made from, and what was held out.

    Parameters
    ----------
    data : HeteroData
    embedding : Embedding
        Rows are matched by dataset and id.
    held_out : HeteroData, optional
    random_state : int
        Seeds what is sampled.
    beat : callable
        Called between the steps of measures that take long, so that these can be cancelled.
    """

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
        """Standard error of each measure over the links, comparisons or items it is a mean of."""
        self._near: dict[tuple[str, str], tuple[Ints, Ints]] = {}

    @cached_property
    def places(self) -> dict[str, Floats]:
        """Places of the rows of the data, {dataset: (n_i, k)}; NaN where a row has none."""
        return coordinates_of(self.data, self.embedding)

    @cached_property
    def places_held(self) -> dict[str, Floats]:
        """Places of the rows of what was held out; the very same where the rows are the same."""
        if self.held_out is None:
            return {}
        if same_rows(self.data, self.held_out):
            return self.places
        return coordinates_of(self.held_out, self.embedding)

    @cached_property
    def stacked(self) -> Floats:
        """All places, shape (n_rows, k)."""
        return np.vstack(list(self.places.values()))

    @cached_property
    def placed(self) -> Bools:
        """Which rows have a place, shape (n_rows,)."""
        return np.asarray(np.isfinite(self.stacked).all(axis=1), dtype=bool)

    @cached_property
    def blocks(self) -> tuple[list[BlockScore], list[BlockScore]]:
        """The links given and held out, each ranked among all pairs of its two datasets."""
        held = self.held_out
        if held is None:
            (given,) = scores_of_parts(self.places, [self.data.links], self.random_state, self.beat)
            return given, []
        if self.places_held is self.places:
            given, kept_back = scores_of_parts(
                self.places, [self.data.links, held.links], self.random_state, self.beat
            )
            return given, kept_back
        seed, beat = self.random_state, self.beat
        (given,) = scores_of_parts(self.places, [self.data.links], seed, beat)
        (kept_back,) = scores_of_parts(self.places_held, [held.links], seed, beat)
        return given, kept_back

    @cached_property
    def cross(self) -> dict[tuple[str, str], sp.csr_array]:
        """Which rows of two datasets are linked (together), {(s, t): (n_s, n_t)}, both ways."""
        return cross_links(self.data)

    def near(self, source: str, target: str, k: int) -> tuple[Ints, Ints]:
        """Return the k nearest rows of one dataset on the map for rows of another.

        Returns
        -------
        queries : array of shape (q,)
            Rows of `source` that have a place and a link to `target`; a sample where they are many.
        index : array of shape (q, min(k, n))
            Rows of `target` that have a place, the nearest first.
        """
        known = self._near.get((source, target))
        if known is None or known[1].shape[1] < k:
            known = self._near[source, target] = self._found(source, target, k)
        return known[0], known[1][:, :k]

    def near_within(self, source: str, target: str, k: int) -> tuple[Ints, Ints]:
        """Return the k nearest rows of their own dataset, for the queries of `near`.

        Returns
        -------
        queries : array of shape (q,)
            As `near`.
        index : array of shape (q, min(k, n - 1))
            Rows of `source` that have a place, without the row asked, the nearest first.
        """
        queries, A = self._asked(source, target), self.places[source]
        there = np.flatnonzero(np.isfinite(A).all(axis=1))
        wanted = min(k, len(there) - 1)
        if not len(queries) or wanted < 1:
            return queries, np.zeros((len(queries), 0), dtype=np.int64)
        index = there[nearest_places(A[queries], A[there], wanted + 1)]
        itself = index == queries[:, None]
        # where many rows lie at one place, a row need not be among its own nearest
        itself[~itself.any(axis=1), -1] = True
        return queries, index[~itself].reshape(len(queries), wanted)

    def _asked(self, source: str, target: str) -> Ints:
        """Return the rows with a place and a link to one with a place; a sample of very many."""
        A, B = self.places[source], self.places[target]
        reachable = np.zeros(len(B))
        reachable[np.isfinite(B).all(axis=1)] = 1.0
        linked = np.asarray(self.cross[source, target] @ reachable) > 0
        queries = np.flatnonzero(np.isfinite(A).all(axis=1) & linked)
        few = A.shape[1] <= _FEW_AXES
        if len(queries) > EXACT_QUERIES or (not few and len(queries) > 2 * _FEW_QUERIES):
            rng = np.random.default_rng(self.random_state)
            size = SAMPLED_QUERIES if few else _FEW_QUERIES
            queries = np.sort(rng.choice(queries, size, replace=False))
        return queries

    def _found(self, source: str, target: str, k: int) -> tuple[Ints, Ints]:
        queries = self._asked(source, target)
        A, B = self.places[source], self.places[target]
        there = np.flatnonzero(np.isfinite(B).all(axis=1))
        if not len(queries):
            return queries, np.zeros((0, min(k, len(there))), dtype=np.int64)
        return queries, there[nearest_places(A[queries], B[there], min(k, len(there)))]

    def n_linked(self, source: str, target: str) -> int:
        """Return how many rows of `source` could be queries of `near`."""
        there = np.asarray(np.isfinite(self.places[target]).all(axis=1), dtype=np.float64)
        here = np.isfinite(self.places[source]).all(axis=1)
        return int((here & (np.asarray(self.cross[source, target] @ there) > 0)).sum())


def cross_links(data: HeteroData) -> dict[tuple[str, str], sp.csr_array]:
    """Return which rows of two different datasets are linked (together), both ways.

    Returns
    -------
    dict of (str, str) to csr_array of shape (n_s, n_t)
        Entries are 1, indices sorted; pairs of datasets without such links are absent.
    """
    parts: dict[tuple[str, str], list[tuple[Ints, Ints]]] = {}
    for links in data.links:
        together = links.weight > 0
        if links.within or not together.any():
            continue
        i, j = links.i[together], links.j[together]
        parts.setdefault((links.source, links.target), []).append((i, j))
        parts.setdefault((links.target, links.source), []).append((j, i))
    found = {}
    for (source, target), pairs in parts.items():
        rows, columns = (np.concatenate([pair[end] for pair in pairs]) for end in (0, 1))
        shape = (len(data[source]), len(data[target]))
        W = sp.coo_array((np.ones(len(rows)), (rows, columns)), shape=shape).tocsr()
        W.sum_duplicates()
        W.data[:] = 1.0
        found[source, target] = W
    return found


def same_rows(data: HeteroData, other: HeteroData) -> bool:
    """Whether two data have the same datasets with the same rows in the same order."""
    return list(data.datasets) == list(other.datasets) and all(
        np.array_equal(data[name].ids, other[name].ids) for name in data.datasets
    )
