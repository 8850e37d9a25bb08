"""Cost of fixing statements that a map does not satisfy."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import pandas as pd

from hetviz._text import count
from hetviz._types import Bools, Floats, Ints, Json
from hetviz.core.graph.neighbors import nearest_columns
from hetviz.core.measures.satisfaction import distance_percentiles
from hetviz.core.threads import one_thread
from hetviz.data import Embedding, HeteroData
from hetviz.errors import ParameterError
from hetviz.features.spaces.affinities import space_of
from hetviz.metrics.conflicts.conflicts import StatementArrays
from hetviz.metrics.fit.guidance import linkable_pairs_of
from hetviz.metrics.fit.nearest import close_distances
from hetviz.metrics.fit.rows import coordinates_of

COLUMNS = (
    "key", "form", "kept", "rank", "of", "row", "to", "price", "neighbours", "opposed_by",
    "sentence",
)  # fmt: skip
_MAX_OPPOSING_KEYS = 5


@one_thread()
def price(
    data: HeteroData,
    embedding: Embedding,
    *,
    near: float | None = None,
    most: int = 500,
    k: int = 10,
    keys: Collection[str] | None = None,
    random_state: int = 0,
) -> pd.DataFrame:
    """Return the cost of fixing each statement that a map does not satisfy.

    Parameters
    ----------
    data : HeteroData
    embedding : Embedding
        Rows are matched by dataset and id.
    near : float, optional
        A pair is close if it is among this share of the closest pairs of its two datasets, of
        items with links. Default: as for ``links_kept`` of `hetviz.evaluate`.
    most : int
        Maximum number of statements, the worst first.
    k : int
        Number of neighbours in the data to check.
    keys : collection of str, optional
        Only these statements. All by default.
    random_state : int
        Seed for sampling pairs of large data.

    Returns
    -------
    DataFrame
        One row per unsatisfied statement (positive links that are not close, negative links that
        are close, comparisons that do not hold), the worst first:

        key, form
            As in `hetviz.statements`.
        kept
            Positive links: share of pairs that are farther. Negative links: share of pairs that
            are closer. Comparisons: length of the far pair as a share of both.
        rank, of
            Number of closer pairs, and of all pairs. -1 for comparisons.
        row, to
            Positive links and comparisons: the global row to move to the place of the other row,
            chosen for the lower cost. Negative links: the row with fewer reasons to be there.
        price
            Satisfied statements that the move would break. Negative links: satisfied statements
            that keep the row close to the other.
        neighbours
            How many of the `k` nearest rows in the data would no longer be close. NaN without
            features. Negative links: how many of them are close to the other row.
        opposed_by
            Keys of up to five of these statements, by weight.
        sentence
            Summary in words.

    Raises
    ------
    hetviz.errors.ParameterError
        If a share, number or seed is out of range.

    Notes
    -----
    Only one item moves, so this is the direct cost, not the cost on a new map.
    """
    if near is not None and not 0 < near < 1:
        raise ParameterError(f"price: near = {near!r} must be between 0 and 1.")
    for name, value in (("most", most), ("k", k)):
        if isinstance(value, bool) or value < 1:
            raise ParameterError(f"price: {name} = {value!r} must be a whole number from 1.")
    statement_map = _StatementMap(data, embedding, near, k, random_state)
    unsatisfied = statement_map.unsatisfied()
    if keys is not None:
        unsatisfied = unsatisfied[np.isin(statement_map.arrays.keys[unsatisfied], list(keys))]
    unsatisfied = unsatisfied[:most]
    table = pd.DataFrame(
        [statement_map.price_row(at) for at in unsatisfied.tolist()], columns=list(COLUMNS)
    )
    return table.astype({"rank": np.int64, "of": np.int64}) if len(table) else table


class _StatementMap:
    """A map with the statements about its items."""

    def __init__(
        self, data: HeteroData, embedding: Embedding, close_share: float | None, k: int, seed: int
    ) -> None:
        self.data, self.k = data, k
        self.arrays = StatementArrays(data)
        self.places = coordinates_of(data, embedding)
        self.Y = np.vstack(list(self.places.values()))
        self.dataset_of = np.repeat(
            np.arange(len(data.datasets)), [len(part) for part in data.datasets.values()]
        )
        self.close_distance = close_distances(data, embedding, close_share, seed)
        self.F, self.n_candidates = self._percentiles(seed)
        n = len(self.arrays.keys)
        # Statements grouped by row.
        row_of = self.arrays.rows.ravel()
        statement_of = np.repeat(np.arange(n), 4)[row_of >= 0]
        row_of = row_of[row_of >= 0]
        order = np.argsort(row_of, kind="stable")
        self._of_row = statement_of[order]
        self._starts = np.searchsorted(row_of[order], np.arange(data.n_rows + 1))
        self.is_satisfied = self.are_satisfied(np.arange(n), -1, -1)
        self._neighbours: dict[int, Ints] = {}

    def _percentiles(self, seed: int) -> tuple[Floats, Ints]:
        """Return the share of closer pairs and the number of pairs for each link."""
        F, n_candidates = (
            np.full(self.arrays.n_links, np.nan),
            np.full(self.arrays.n_links, -1, dtype=np.int64),
        )
        start = 0
        blocks: dict[tuple[str, str], list[tuple[Ints, Ints, Ints]]] = {}
        order = list(self.data.datasets)
        for group in self.data.links:
            indices = np.arange(start, start + len(group))
            start += len(group)
            forward = order.index(group.source) <= order.index(group.target)
            names = (group.source, group.target) if forward else (group.target, group.source)
            ends = (group.i, group.j) if forward else (group.j, group.i)
            blocks.setdefault(names, []).append((indices, *ends))
        linkable = linkable_pairs_of(self.data)
        for (source, target), groups in blocks.items():
            indices, i, j = (np.concatenate(side) for side in zip(*groups, strict=True))
            if source == target:
                i, j = np.minimum(i, j), np.maximum(i, j)
            other = None if source == target else self.places[target]
            masks = linkable[source, target].masks
            percentiles = distance_percentiles(
                self.places[source], i, j, other, candidates=masks, random_state=seed
            )
            F[indices], n_candidates[indices] = percentiles.values, percentiles.candidates
        return F, n_candidates

    def statements_of(self, row: int) -> Ints:
        return np.unique(self._of_row[self._starts[row] : self._starts[row + 1]])

    def are_satisfied(self, statements: Ints, moved_row: int, target: int) -> Bools:
        """Return which statements hold if a row moves to the place of row `target`."""
        rows = self.arrays.rows[statements]
        rows_after_move = np.where(rows == moved_row, target, rows)
        near_length = np.sqrt(
            ((self.Y[rows_after_move[:, 0]] - self.Y[rows_after_move[:, 1]]) ** 2).sum(axis=1)
        )
        far_length = np.sqrt(
            ((self.Y[rows_after_move[:, 2]] - self.Y[rows_after_move[:, 3]]) ** 2).sum(axis=1)
        )
        limit = self.close_distance[self.dataset_of[rows[:, 0]], self.dataset_of[rows[:, 1]]]
        is_close = near_length <= limit
        weight = self.arrays.weight[statements]
        is_link_satisfied = np.isfinite(near_length) & ((weight == 0) | (is_close == (weight > 0)))
        return np.asarray(
            np.where(statements < self.arrays.n_links, is_link_satisfied, near_length < far_length)
        )

    def unsatisfied(self) -> Ints:
        """Return the placed statements that are not satisfied, the worst first."""
        rows = self.arrays.rows
        coordinates = self.Y[np.where(rows < 0, rows[:, :1], rows)]
        placed = np.isfinite(coordinates).all(axis=(1, 2))
        statements = np.flatnonzero(placed & ~self.is_satisfied)
        return statements[
            np.argsort([self.closeness(at) for at in statements.tolist()], kind="stable")
        ]

    def closeness(self, at: int) -> float:
        if at < self.arrays.n_links:
            return float(1 - self.F[at] if self.arrays.weight[at] > 0 else self.F[at])
        a, b, c, d = self.Y[self.arrays.rows[at]]
        closer, farther = np.linalg.norm(a - b), np.linalg.norm(c - d)
        return float(farther / (closer + farther)) if closer + farther else 0.5

    def price_row(self, at: int) -> tuple[Json, ...]:
        arrays = self.arrays
        p, q = arrays.rows[at, :2].tolist()
        is_link = at < arrays.n_links
        apart = is_link and arrays.weight[at] < 0
        cost = self.cost_of_separating if apart else self.cost_of_moving
        options = [(*cost(at, row, to), row, to) for row, to in ((p, q), (q, p))]
        opposing, n_lost, row, to = min(
            options, key=lambda way: (len(way[0]), np.nan_to_num(way[1]))
        )
        by_weight = opposing[np.argsort(-np.abs(arrays.weight[opposing]), kind="stable")]
        rank, of = (
            (round(self.F[at] * self.n_candidates[at]), self.n_candidates[at])
            if is_link
            else (-1, -1)
        )
        return (
            str(arrays.keys[at]),
            "link" if is_link else "comparison",
            self.closeness(at),
            rank,
            of,
            row,
            to,
            len(opposing),
            n_lost,
            [str(key) for key in arrays.keys[by_weight[:_MAX_OPPOSING_KEYS]]],
            self.sentence(row, to, len(opposing), n_lost, bool(apart)),
        )

    def cost_of_moving(self, at: int, row: int, to: int) -> tuple[Ints, float]:
        """Return the satisfied statements and the number of neighbours that a move would lose."""
        others = self.statements_of(row)
        others = others[(others != at) & self.is_satisfied[others]]
        broken = others[~self.are_satisfied(others, row, to)]
        neighbors = self.neighbours(row)
        if neighbors is None:
            return broken, float("nan")
        return broken, float(
            (self.are_close(row, row, neighbors) & ~self.are_close(row, to, neighbors)).sum()
        )

    def cost_of_separating(self, at: int, row: int, to: int) -> tuple[Ints, float]:
        """Return the satisfied links and the number of neighbours that keep a row close."""
        others = self.statements_of(row)
        others = others[(others != at) & (others < self.arrays.n_links) & self.is_satisfied[others]]
        others = others[self.arrays.weight[others] > 0]
        ends = self.arrays.rows[others, :2]
        other_ends = np.where(ends[:, 0] == row, ends[:, 1], ends[:, 0])
        holding = others[self.are_close(to, to, other_ends)]
        neighbors = self.neighbours(row)
        n_close = float("nan")
        if neighbors is not None:
            n_close = float(self.are_close(to, to, neighbors[neighbors != to]).sum())
        return holding, n_close

    def are_close(self, row: int, place: int, rows: Ints) -> Bools:
        """Return which rows would be close to row `row` at the place of row `place`."""
        length = np.sqrt(((self.Y[rows] - self.Y[place]) ** 2).sum(axis=1))
        return np.asarray(
            length <= self.close_distance[self.dataset_of[row], self.dataset_of[rows]]
        )

    def neighbours(self, row: int) -> Ints | None:
        """Return the nearest rows of the same dataset in the data. None without features."""
        if row not in self._neighbours:
            name = list(self.data.datasets)[self.dataset_of[row]]
            start = self.data.offsets[name].start
            space = space_of(self.data[name])
            nearest = np.empty(0, dtype=np.int64)
            n = len(self.data[name])
            if space is not None and n > 1:
                others = np.delete(np.arange(n), row - start)
                D = space.between(np.array([row - start]), others)
                nearest = others[nearest_columns(D, min(self.k, n - 1))[0]] + start
            self._neighbours[row] = nearest
        return self._neighbours[row] if len(self._neighbours[row]) else None

    def sentence(self, row: int, to: int, n_opposing: int, n_lost: float, apart: bool) -> str:
        a, b = self.arrays.quoted_title_of(row), self.arrays.quoted_title_of(to)
        n_similar = 0 if np.isnan(n_lost) else round(n_lost)
        similar = [count(n_similar, "similar item")] if n_similar else []
        if apart:
            parts = ([count(n_opposing, "other statement")] if n_opposing else []) + similar
            if not parts:
                return f"No other statement keeps {a} close to {b}."
            verb = "keeps" if n_opposing + n_similar == 1 else "keep"
            return f"{' and '.join(parts)} {verb} {a} close to {b}."
        parts = [f"undo {count(n_opposing, 'other statement')}"] if n_opposing else []
        parts += [f"move it away from {text}" for text in similar]
        effects = " and ".join(parts) or "undo nothing else"
        return f"Moving {a} to {b} would {effects}."
