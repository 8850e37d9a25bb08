"""The largest part of a directed graph without a cycle, and short cycles through what is left."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import rustworkx as rx
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from hetviz._types import Bools, Floats, Ints


def maximal_acyclic(
    edges: Ints, weight: Floats, n_restarts: int, rng: np.random.Generator
) -> Bools:
    """Choose edges without a cycle, to which no other edge can be added.

    Parameters
    ----------
    edges : ndarray of shape (e, 2)
        Edges u -> v, each once.
    weight : ndarray of shape (e,)
        Above 0.
    n_restarts : int
        Random orders of the vertices; the heaviest result is kept.
    rng : numpy.random.Generator

    Returns
    -------
    ndarray of bool, shape (e,)
        Edges chosen: at least half of the weight.

    Notes
    -----
    Edges between strongly connected components are on no cycle. Within each component: every
    vertex in turn keeps its edges of the heavier direction (Berger and Shor 1990); then all edges
    that agree with an order of the result come back; then, the heaviest first, those that still
    close no cycle.
    """
    kept = np.ones(len(edges), dtype=bool)
    if not len(edges):
        return kept
    u, v, n = _renumbered(edges)
    part = _strong_components(u, v, n)
    inside = part[u] == part[v]
    for label in np.unique(part[u[inside]]):
        at = np.flatnonzero(inside & (part[u] == label))
        a, b, size = _renumbered(np.column_stack([u[at], v[at]]))
        best = max(
            (_one_try(a, b, weight[at], size, rng) for _ in range(max(n_restarts, 1))),
            key=lambda chosen: float(weight[at][chosen].sum()),
        )
        kept[at] = best
    return kept


def on_cycle(edges: Ints) -> Bools:
    """Say of each edge whether it lies on a cycle, shape (e,)."""
    if not len(edges):
        return np.zeros(0, dtype=bool)
    u, v, n = _renumbered(edges)
    part = _strong_components(u, v, n)
    return np.asarray(part[u] == part[v])


def shortest_cycles(edges: Ints, which: Ints) -> Iterator[Ints]:
    """Find, for each given edge, a shortest cycle through it.

    Parameters
    ----------
    edges : ndarray of shape (e, 2)
    which : ndarray of int
        Edges that lie on a cycle.

    Yields
    ------
    ndarray of int
        Edges of the cycle in order, the given one first.
    """
    if not len(which):
        return
    u, v, n = _renumbered(edges)
    graph = _graph(n, u, v)
    number = {(a, b): e for e, (a, b) in enumerate(zip(u.tolist(), v.tolist(), strict=True))}
    for edge in which.tolist():
        start, end = int(v[edge]), int(u[edge])
        found = rx.digraph_dijkstra_shortest_paths(graph, start, target=end, default_weight=1.0)
        way = list(found[end])
        yield np.array([edge, *(number[step] for step in pairwise(way))])


def _one_try(u: Ints, v: Ints, weight: Floats, n: int, rng: np.random.Generator) -> Bools:
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
