"""What the statements that a map breaks would cost: what stands against each of them."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import pandas as pd

from hetviz._types import Bools, Floats, Ints, Json
from hetviz.core.graph.neighbors import nearest_columns
from hetviz.core.measures.satisfaction import NEAR_SHARE, distance_percentiles
from hetviz.core.threads import one_thread
from hetviz.data import Embedding, HeteroData
from hetviz.errors import ParameterError
from hetviz.features.spaces.affinities import space_of
from hetviz.metrics.conflicts.conflicts import Said
from hetviz.metrics.fit.nearest import close_distances
from hetviz.metrics.fit.rows import coordinates_of

COLUMNS = (
    "key", "form", "kept", "rank", "of", "row", "to", "price", "neighbours", "opposed_by",
    "sentence",
)  # fmt: skip
_MOST_NAMED = 5


@one_thread()
def price(
    data: HeteroData,
    embedding: Embedding,
    *,
    near: float = NEAR_SHARE,
    most: int = 500,
    k: int = 10,
    keys: Collection[str] | None = None,
    random_state: int = 0,
) -> pd.DataFrame:
    """Say of each statement that a map breaks what keeping it would break.

    Parameters
    ----------
    data : HeteroData
    embedding : Embedding
        Rows are matched by dataset and id.
    near : float
        A pair is near if it is among this share of the closest pairs of its two datasets.
    most : int
        How many statements to look at, the worst first.
    k : int
        Neighbours in the data that moving an item may lose.
    keys : collection of str, optional
        Only these statements, as far as the map breaks them; all when absent.
    random_state : int
        Seeds the pairs that stand for all where there are many.

    Returns
    -------
    DataFrame
        One row per broken statement (links that say together of pairs that are not near, apart of
        pairs that are, and comparisons that do not hold), the worst first:

        key, form
            As in `hetviz.statements`.
        kept
            Together: share of pairs that are farther. Apart: share that are closer. Comparison:
            length of its far pair as a share of both.
        rank, of
            How many of how many pairs are closer; -1 for comparisons.
        row, to
            Together, and the near pair of a comparison: the global row that would be moved to the
            place of the other, the end that costs less. Apart: the row that less holds there.
        price
            Kept statements that this move would break; apart: kept statements that hold the row
            near the other.
        neighbours
            Of the row's `k` nearest in the data, how many would no longer be near it; NaN without
            features. Apart: how many of them lie near the other.
        opposed_by
            Keys of up to five of these statements, the heaviest first.
        sentence
            All this in words.

    Raises
    ------
    hetviz.errors.ParameterError
        For a share, number or seed out of range.

    Notes
    -----
    One item is moved and all others stay, so this is the first cost, not that of a new map.
    """
    if not 0 < near < 1:
        raise ParameterError(f"price: near = {near!r}; a share between 0 and 1.")
    for name, value in (("most", most), ("k", k)):
        if isinstance(value, bool) or value < 1:
            raise ParameterError(f"price: {name} = {value!r}; a whole number from 1.")
    scene = _Scene(data, embedding, near, k, random_state)
    broken = scene.broken()
    if keys is not None:
        broken = broken[np.isin(scene.said.keys[broken], list(keys))]
    broken = broken[:most]
    table = pd.DataFrame([scene.row(at) for at in broken.tolist()], columns=list(COLUMNS))
    return table.astype({"rank": np.int64, "of": np.int64}) if len(table) else table


class _Scene:
    """A map with what was said of it."""

    def __init__(
        self, data: HeteroData, embedding: Embedding, near: float, k: int, seed: int
    ) -> None:
        self.data, self.near, self.k = data, near, k
        self.said = Said(data)
        self.places = coordinates_of(data, embedding)
        self.Y = np.vstack(list(self.places.values()))
        self.names = np.repeat(
            np.arange(len(data.datasets)), [len(part) for part in data.datasets.values()]
        )
        self.reach = close_distances(data, embedding, near, seed)
        self.F, self.of = self._percentiles(seed)
        n = len(self.said.keys)
        # the statements of each row
        named = self.said.rows.ravel()
        at = np.repeat(np.arange(n), 4)[named >= 0]
        named = named[named >= 0]
        order = np.argsort(named, kind="stable")
        self._of_row = at[order]
        self._starts = np.searchsorted(named[order], np.arange(data.n_rows + 1))
        self.ok = self.holds(np.arange(n), -1, -1)
        self._neighbours: dict[int, Ints] = {}

    def _percentiles(self, seed: int) -> tuple[Floats, Ints]:
        """Return, of each link, the share of pairs that are closer, and of how many."""
        F, of = np.full(self.said.n_links, np.nan), np.full(self.said.n_links, -1, dtype=np.int64)
        start = 0
        blocks: dict[tuple[str, str], list[tuple[Ints, Ints, Ints]]] = {}
        order = list(self.data.datasets)
        for group in self.data.links:
            here = np.arange(start, start + len(group))
            start += len(group)
            forward = order.index(group.source) <= order.index(group.target)
            names = (group.source, group.target) if forward else (group.target, group.source)
            ends = (group.i, group.j) if forward else (group.j, group.i)
            blocks.setdefault(names, []).append((here, *ends))
        for (source, target), groups in blocks.items():
            here, i, j = (np.concatenate(side) for side in zip(*groups, strict=True))
            if source == target:
                i, j = np.minimum(i, j), np.maximum(i, j)
            other = None if source == target else self.places[target]
            found = distance_percentiles(self.places[source], i, j, other, random_state=seed)
            F[here], of[here] = found.values, found.candidates
        return F, of

    def statements_of(self, row: int) -> Ints:
        return np.unique(self._of_row[self._starts[row] : self._starts[row + 1]])

    def holds(self, which: Ints, moved: int, to: int) -> Bools:
        """Say whether statements hold once row `moved` lies at row `to`; False if not placed."""
        rows = self.said.rows[which]
        at = np.where(rows == moved, to, rows)
        first = np.sqrt(((self.Y[at[:, 0]] - self.Y[at[:, 1]]) ** 2).sum(axis=1))
        second = np.sqrt(((self.Y[at[:, 2]] - self.Y[at[:, 3]]) ** 2).sum(axis=1))
        reach = self.reach[self.names[rows[:, 0]], self.names[rows[:, 1]]]
        is_near = first <= reach
        weight = self.said.weight[which]
        linked = np.isfinite(first) & ((weight == 0) | (is_near == (weight > 0)))
        return np.asarray(np.where(which < self.said.n_links, linked, first < second))

    def broken(self) -> Ints:
        """Return the placed statements that do not hold, the worst first."""
        rows = self.said.rows
        lengths = self.Y[np.where(rows < 0, rows[:, :1], rows)]
        placed = np.isfinite(lengths).all(axis=(1, 2))
        wrong = np.flatnonzero(placed & ~self.ok)
        return wrong[np.argsort([self.kept(at) for at in wrong.tolist()], kind="stable")]

    def kept(self, at: int) -> float:
        if at < self.said.n_links:
            return float(1 - self.F[at] if self.said.weight[at] > 0 else self.F[at])
        a, b, c, d = self.Y[self.said.rows[at]]
        closer, farther = np.linalg.norm(a - b), np.linalg.norm(c - d)
        return float(farther / (closer + farther)) if closer + farther else 0.5

    def row(self, at: int) -> tuple[Json, ...]:
        said = self.said
        p, q = said.rows[at, :2].tolist()
        is_link = at < said.n_links
        apart = is_link and said.weight[at] < 0
        weigh = self.holding if apart else self.moving
        ways = [(*weigh(at, row, to), row, to) for row, to in ((p, q), (q, p))]
        against, lost, row, to = min(ways, key=lambda way: (len(way[0]), np.nan_to_num(way[1])))
        heaviest = against[np.argsort(-np.abs(said.weight[against]), kind="stable")]
        rank, of = (round(self.F[at] * self.of[at]), self.of[at]) if is_link else (-1, -1)
        return (
            str(said.keys[at]),
            "link" if is_link else "comparison",
            self.kept(at),
            rank,
            of,
            row,
            to,
            len(against),
            lost,
            [str(key) for key in said.keys[heaviest[:_MOST_NAMED]]],
            self.sentence(row, to, len(against), lost, bool(apart)),
        )

    def moving(self, at: int, row: int, to: int) -> tuple[Ints, float]:
        """Return the kept statements and the number of neighbours that a move would lose."""
        others = self.statements_of(row)
        others = others[(others != at) & self.ok[others]]
        lost = others[~self.holds(others, row, to)]
        near = self.neighbours(row)
        if near is None:
            return lost, float("nan")
        return lost, float((self.is_near(row, row, near) & ~self.is_near(row, to, near)).sum())

    def holding(self, at: int, row: int, to: int) -> tuple[Ints, float]:
        """Return what holds a row near another: kept links to what lies near there."""
        others = self.statements_of(row)
        others = others[(others != at) & (others < self.said.n_links) & self.ok[others]]
        others = others[self.said.weight[others] > 0]
        ends = self.said.rows[others, :2]
        far = np.where(ends[:, 0] == row, ends[:, 1], ends[:, 0])
        holds = others[self.is_near(to, to, far)]
        near = self.neighbours(row)
        lost = float("nan")
        if near is not None:
            lost = float(self.is_near(to, to, near[near != to]).sum())
        return holds, lost

    def is_near(self, of: int, place: int, rows: Ints) -> Bools:
        """Say which rows are near row `of`, if it lay at row `place`."""
        length = np.sqrt(((self.Y[rows] - self.Y[place]) ** 2).sum(axis=1))
        return np.asarray(length <= self.reach[self.names[of], self.names[rows]])

    def neighbours(self, row: int) -> Ints | None:
        """Return the nearest rows in the data, of the same dataset; None without features."""
        if row not in self._neighbours:
            name = list(self.data.datasets)[self.names[row]]
            start = self.data.offsets[name].start
            space = space_of(self.data[name])
            found = np.empty(0, dtype=np.int64)
            n = len(self.data[name])
            if space is not None and n > 1:
                others = np.delete(np.arange(n), row - start)
                D = space.between(np.array([row - start]), others)
                found = others[nearest_columns(D, min(self.k, n - 1))[0]] + start
            self._neighbours[row] = found
        return self._neighbours[row] if len(self._neighbours[row]) else None

    def sentence(self, row: int, to: int, against: int, lost: float, apart: bool) -> str:
        a, b = self.said.name(row), self.said.name(to)
        parts = [f"{against:,} statement{'' if against == 1 else 's'}"] if against else []
        if apart:
            parts += [f"{lost:.0f} of its nearest in the data"] if lost > 0 else []
            if not parts:
                return f"Nothing that was said holds {a} near {b}."
            verb = "holds" if against + np.nan_to_num(lost) == 1 else "hold"
            return f"{' and '.join(parts)} {verb} {a} near {b}."
        parts = [f"break {part}" for part in parts]
        parts += [f"part it from {lost:.0f} of its nearest in the data"] if lost > 0 else []
        does = " and ".join(parts) or "break nothing else that was said"
        return f"Moving {a} to {b} would {does}."
