"""Comparisons as a graph over pairs of objects: contradictions, implications, and a partial order.

"a and b are closer than c and d" is an edge from the pair (a, b) to the pair (c, d). A set of
comparisons is consistent exactly if this graph has no cycle.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from types import MappingProxyType

import numpy as np
import rustworkx as rx
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from hetviz._types import Bools, Floats, Ints, Rng
from hetviz.errors import ParameterError

RETAINED, IMPOSSIBLE, REPEATED, CONTRADICTED, CIRCULAR, IMPLIED = range(6)
STAGES: Mapping[int, str] = MappingProxyType(
    {
        RETAINED: "kept",
        IMPOSSIBLE: "impossible: a pair cannot be closer than itself, or than an item to itself",
        REPEATED: "repeats an earlier row, which gets its weight",
        CONTRADICTED: "another row states the opposite",
        CIRCULAR: "closes a cycle of comparisons that contradict each other",
        IMPLIED: "follows from other rows",
    }
)
"""Fates of a row, and their meaning on screen."""
CONTRADICTIONS = ("prune", "majority", "keep")
STEPS = ("process", "contradictions", "none")
MAX_LEVELS = 64
"""Maximum number of distinct weights in the search for implied statements."""


@dataclass(frozen=True, eq=False)
class OrderConflict:
    """A minimal set of contradicting statements: without any one of them the others are consistent.

    `rows`: One entry per statement: the rows that make it. To resolve the conflict, all rows of
        one entry must be removed or reversed.
    """

    rows: tuple[tuple[int, ...], ...]

    def __len__(self) -> int:
        return len(self.rows)


@dataclass(frozen=True, eq=False)
class PartialOrder:
    """A consistent subset of comparisons, and the fate of every row."""

    pairs: Ints
    weight: Floats
    row: Ints
    fate: NDArray[np.int8]
    conflicts: tuple[OrderConflict, ...]
    n_conflicts: int
    reduced: bool

    @property
    def counts(self) -> dict[str, int]:
        """Return the number of rows with each fate, by name."""
        names = ("kept", "impossible", "repeated", "contradicted", "circular", "implied")
        counts = np.bincount(self.fate, minlength=len(names))
        return {word: int(count) for word, count in zip(names, counts, strict=True)}


def partial_order(
    pairs: Ints,
    weight: Floats | None = None,
    *,
    contradictions: str = "prune",
    steps: str = "process",
    multiplicity: str = "sum",
    reduce: bool = True,
    max_conflicts: int = 100,
    n_restarts: int = 3,
    random_state: int = 0,
) -> PartialOrder:
    """Find a consistent subset of comparisons.

    `pairs` (m, 4): Row i, j, k, l says d(i, j) < d(k, l). The order of the ends of a pair does not
        matter.
    `weight` (m,): Above 0; 1 by default.
    `contradictions` {"prune", "majority", "keep"}: Of two opposite statements "prune" removes
        both; "majority" retains the heavier one with the difference of the weights, and none if
        they are equal; "keep" retains both.
    `steps` {"process", "contradictions", "none"}: "process" takes all steps. "contradictions"
        retains cycles of three and more statements, and implied ones. "none" only removes
        impossible rows and merges repeated ones.
    `multiplicity` {"sum", "set"}: Weight of a statement made by several rows: their sum, or 1.
    `reduce`: Remove statements implied by others of at least the same weight. A statement with
        more weight than the weakest of those stays, because no other one would carry its weight.
    `n_restarts`: Number of random orders in the search for the largest acyclic set; the best
        counts.

    Raises ParameterError: For an unknown option.

    Without cycles O(m log m), and a reduction for each of at most 64 distinct weights. The result
    has at least half of the weight of the statements, and no statement removed for a cycle could be
    added to it (McFee and Lanckriet 2011, algorithm 1, after Berger and Shor; adding statements
    back, and weights in the reduction, are extensions).
    """
    _check_option("contradictions", contradictions, CONTRADICTIONS)
    _check_option("steps", steps, STEPS)
    _check_option("multiplicity", multiplicity, ("sum", "set"))
    pairs = np.asarray(pairs, dtype=np.int64).reshape(-1, 4)
    m = len(pairs)
    weights = np.ones(m) if weight is None else np.asarray(weight, dtype=np.float64)
    near, far, ends = vertices(pairs)
    fate = np.full(m, RETAINED, dtype=np.int8)
    fate[(near == far) | (ends[far, 0] == ends[far, 1])] = IMPOSSIBLE
    statements = _StatementGraph.of(near, far, weights, fate, multiplicity)
    opposite = statements.opposite()
    conflicts: list[OrderConflict] = []
    clash = np.flatnonzero((opposite >= 0) & (np.arange(len(opposite)) < opposite))
    if steps != "none":
        conflicts += [statements.conflict([e, int(opposite[e])]) for e in clash[:max_conflicts]]
        statements.settle(opposite, contradictions)
    if steps == "process":
        rng = np.random.default_rng(random_state)
        remaining = np.flatnonzero(statements.retained)
        edges = np.column_stack([statements.near, statements.far])[remaining]
        in_acyclic = maximal_acyclic(edges, statements.weight[remaining], n_restarts, rng)
        circular = remaining[~in_acyclic]
        statements.drop(circular, CIRCULAR)
        n_left = max_conflicts - len(conflicts)
        for cycle in shortest_cycles(edges, np.flatnonzero(~in_acyclic)[:n_left]):
            conflicts.append(statements.conflict(remaining[cycle].tolist()))
    n_conflicts = int((statements.fate == CIRCULAR).sum()) + (len(clash) if steps != "none" else 0)
    reduced = statements.reduce() if reduce and steps == "process" else False
    retained = np.flatnonzero(statements.retained)
    fate = statements.fate_of_rows(fate)
    left, right = ends[statements.near[retained]], ends[statements.far[retained]]
    return PartialOrder(
        np.hstack([left, right]),
        statements.weight[retained],
        statements.first[retained],
        fate,
        tuple(_smallest_first(conflicts)),
        n_conflicts,
        reduced,
    )


@dataclass(eq=False)
class _StatementGraph:
    """Distinct statements, each with the rows that make it."""

    near: Ints
    far: Ints
    weight: Floats
    first: Ints
    fate: NDArray[np.int8]
    of_row: Ints
    rows: Ints

    @classmethod
    def of(
        cls, near: Ints, far: Ints, weights: Floats, fate: NDArray[np.int8], multiplicity: str
    ) -> _StatementGraph:
        rows = np.flatnonzero(fate == RETAINED)
        both = np.column_stack([near[rows], far[rows]])
        edges, first, of_row = np.unique(both, axis=0, return_index=True, return_inverse=True)
        of_row = of_row.reshape(-1)
        weight = np.ones(len(edges))
        if multiplicity == "sum":
            weight = np.bincount(of_row, weights[rows], len(edges)).astype(np.float64)
        return cls(
            edges[:, 0],
            edges[:, 1],
            weight,
            rows[first],
            np.full(len(edges), RETAINED, dtype=np.int8),
            of_row,
            rows,
        )

    @property
    def retained(self) -> Bools:
        return np.asarray(self.fate == RETAINED)

    def drop(self, which: Ints, fate: int) -> None:
        self.fate[which] = fate

    def opposite(self) -> Ints:
        """Return the opposite of each statement, -1 if there is none."""
        if not len(self.near):
            return np.zeros(0, dtype=np.int64)
        width = int(max(self.near.max(), self.far.max())) + 1
        forward, backward = self.near * width + self.far, self.far * width + self.near
        place = np.minimum(np.searchsorted(forward, backward), len(forward) - 1)
        return np.where(forward[place] == backward, place, -1)

    def settle(self, opposite: Ints, contradictions: str) -> None:
        contradicted = np.flatnonzero(opposite >= 0)
        if contradictions == "keep" or not len(contradicted):
            return
        net = self.weight[contradicted] - self.weight[opposite[contradicted]]
        removed = contradicted if contradictions == "prune" else contradicted[net <= 0]
        if contradictions == "majority":
            self.weight[contradicted] = np.where(net > 0, net, self.weight[contradicted])
        self.drop(removed, CONTRADICTED)

    def reduce(self) -> bool:
        retained = np.flatnonzero(self.retained)
        if len(retained) == 0:
            return False
        level = _levels(self.weight[retained])
        for min_level in np.unique(level):
            # In an acyclic graph, a path may have edges that are implied by others of equal weight.
            heavy = retained[level >= min_level]
            implied = _implied(self.near[heavy], self.far[heavy])
            self.drop(heavy[implied & (level[level >= min_level] == min_level)], IMPLIED)
        return True

    def conflict(self, statements: list[int]) -> OrderConflict:
        return OrderConflict(
            tuple(tuple(self.rows[self.of_row == statement].tolist()) for statement in statements)
        )

    def fate_of_rows(self, fate: NDArray[np.int8]) -> NDArray[np.int8]:
        fate = fate.copy()
        fate[self.rows] = self.fate[self.of_row]
        is_repeated = (fate[self.rows] == RETAINED) & (self.rows != self.first[self.of_row])
        fate[self.rows[is_repeated]] = REPEATED
        return fate


def vertices(pairs: Ints) -> tuple[Ints, Ints, Ints]:
    """Return the numbers of the near and the far pair of each row, and the ends of each pair."""
    ends = np.sort(pairs.reshape(-1, 2), axis=1)
    ends[ends[:, 0] == ends[:, 1]] = -1
    distinct, number = np.unique(ends, axis=0, return_inverse=True)
    number = number.reshape(-1, 2)
    self_pairs = np.flatnonzero(distinct[:, 0] < 0)
    if len(self_pairs):
        all_pairs = pairs.reshape(-1, 2)
        distinct[self_pairs] = all_pairs[all_pairs[:, 0] == all_pairs[:, 1]][0]
    return number[:, 0], number[:, 1], distinct


def _levels(weight: Floats) -> Ints:
    """Return weights as ranks, binned if there are very many; equal weights have one rank.

    Within a bin a lighter statement may imply a heavier one.
    """
    distinct, rank = np.unique(np.round(weight / weight.max(), 12), return_inverse=True)
    steps = max(len(distinct), 1)
    if steps > MAX_LEVELS:
        rank = rank * MAX_LEVELS // steps
    return np.asarray(rank, dtype=np.int64).reshape(-1)


def _implied(near: Ints, far: Ints) -> Bools:
    """Return which edges of an acyclic graph are implied by a longer path."""
    vertices, ends = np.unique(np.concatenate([near, far]), return_inverse=True)
    edges = list(zip(*ends.reshape(2, -1).tolist(), strict=True))
    graph = rx.PyDiGraph()
    graph.add_nodes_from(range(len(vertices)))
    graph.add_edges_from_no_data(edges)
    smaller, place = rx.transitive_reduction(graph)
    remain = set(smaller.edge_list())
    return np.array([(place[u], place[v]) not in remain for u, v in edges], dtype=bool)


def _smallest_first(conflicts: list[OrderConflict]) -> list[OrderConflict]:
    distinct = {frozenset(conflict.rows): conflict for conflict in conflicts}
    return sorted(distinct.values(), key=len)


def _check_option(name: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        words = ", ".join(repr(word) for word in allowed)
        raise ParameterError(f"{name} = {value!r} must be one of {words}.")


def cycles_through(pairs: Ints, which: Ints) -> list[tuple[tuple[int, ...], ...]]:
    """Find a shortest cycle through each of some comparisons."""
    near, far, ends = vertices(np.asarray(pairs, dtype=np.int64).reshape(-1, 4))
    possible = np.flatnonzero((near != far) & (ends[far, 0] != ends[far, 1]))
    both = np.column_stack([near[possible], far[possible]])
    edges, of_row = np.unique(both, axis=0, return_inverse=True)
    of_row = of_row.reshape(-1)
    edges_asked = of_row[np.isin(possible, which)]
    edges_asked = edges_asked[on_cycle(edges)[edges_asked]]
    cycles: dict[frozenset[int], tuple[tuple[int, ...], ...]] = {}
    for cycle in shortest_cycles(edges, np.unique(edges_asked)):
        rows = tuple(tuple(possible[of_row == edge].tolist()) for edge in cycle)
        cycles.setdefault(frozenset(cycle.tolist()), rows)
    return list(cycles.values())


# A maximal acyclic subgraph, and short cycles through the other edges.


def maximal_acyclic(edges: Ints, weight: Floats, n_restarts: int, rng: Rng) -> Bools:
    """Return a maximal acyclic set of edges.

    Edges between strongly connected components are on no cycle. Within each component every vertex
    in turn retains its edges of the heavier direction (Berger and Shor 1990). Then all edges that
    agree with an order of the result are added back, and then, heaviest first, those that close no
    cycle.
    """
    in_acyclic = np.ones(len(edges), dtype=bool)
    if not len(edges):
        return in_acyclic
    u, v, n = _renumbered(edges)
    part = _strong_components(u, v, n)
    inside = part[u] == part[v]
    for label in np.unique(part[u[inside]]):
        at = np.flatnonzero(inside & (part[u] == label))
        a, b, size = _renumbered(np.column_stack([u[at], v[at]]))
        best = max(
            (_try_order(a, b, weight[at], size, rng) for _ in range(max(n_restarts, 1))),
            key=lambda chosen: float(weight[at][chosen].sum()),
        )
        in_acyclic[at] = best
    return in_acyclic


def on_cycle(edges: Ints) -> Bools:
    """Return whether each edge lies on a cycle, shape (e,)."""
    if not len(edges):
        return np.zeros(0, dtype=bool)
    u, v, n = _renumbered(edges)
    part = _strong_components(u, v, n)
    return np.asarray(part[u] == part[v])


def shortest_cycles(edges: Ints, which: Ints) -> Iterator[Ints]:
    """Find, for each given edge, a shortest cycle through it."""
    if not len(which):
        return
    u, v, n = _renumbered(edges)
    graph = _graph(n, u, v)
    number = {(a, b): e for e, (a, b) in enumerate(zip(u.tolist(), v.tolist(), strict=True))}
    for edge in which.tolist():
        start, end = int(v[edge]), int(u[edge])
        paths = rx.digraph_dijkstra_shortest_paths(graph, start, target=end, default_weight=1.0)
        path = list(paths[end])
        yield np.array([edge, *(number[step] for step in pairwise(path))])


def _try_order(u: Ints, v: Ints, weight: Floats, n: int, rng: Rng) -> Bools:
    chosen = _berger_shor(u, v, weight, rng.permutation(n))
    graph = _graph(n, u[chosen], v[chosen])
    place = np.empty(n, dtype=np.int64)
    place[np.array(rx.topological_sort(graph), dtype=np.int64)] = np.arange(n)
    chosen = np.asarray(place[u] < place[v])
    graph = _graph(n, u[chosen], v[chosen])
    for edge in np.flatnonzero(~chosen)[np.argsort(-weight[~chosen], kind="stable")].tolist():
        start, end = int(u[edge]), int(v[edge])
        if not rx.has_path(graph, end, start):
            graph.add_edge(start, end, None)
            chosen[edge] = True
    return chosen


def _berger_shor(u: Ints, v: Ints, weight: Floats, order: Ints) -> Bools:
    n = len(order)
    outgoing, incoming = _by_vertex(u, n), _by_vertex(v, n)
    alive = np.ones(len(u), dtype=bool)
    chosen = np.zeros(len(u), dtype=bool)
    for vertex in order.tolist():
        leaving = outgoing[vertex][alive[outgoing[vertex]]]
        arriving = incoming[vertex][alive[incoming[vertex]]]
        heavier = arriving if weight[arriving].sum() > weight[leaving].sum() else leaving
        chosen[heavier] = True
        alive[leaving] = False
        alive[arriving] = False
    return chosen


def _by_vertex(end: Ints, n: int) -> list[Ints]:
    order = np.argsort(end, kind="stable")
    return np.split(order, np.cumsum(np.bincount(end, minlength=n))[:-1])


def _strong_components(u: Ints, v: Ints, n: int) -> Ints:
    graph = sp.csr_array((np.ones(len(u)), (u, v)), shape=(n, n))
    _, label = connected_components(graph, directed=True, connection="strong")
    return np.asarray(label, dtype=np.int64)


def _renumbered(edges: Ints) -> tuple[Ints, Ints, int]:
    vertices, number = np.unique(edges, return_inverse=True)
    number = number.reshape(-1, 2)
    return number[:, 0], number[:, 1], len(vertices)


def _graph(n: int, u: Ints, v: Ints) -> rx.PyDiGraph[int, None]:
    graph: rx.PyDiGraph[int, None] = rx.PyDiGraph()
    graph.add_nodes_from(range(n))
    graph.add_edges_from_no_data(list(zip(u.tolist(), v.tolist(), strict=True)))
    return graph
