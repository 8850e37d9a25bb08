"""Graphs of other libraries: nodes with facts, and edges by kind.

A graph is recognised by its methods, so no library is imported.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pandas as pd

from hetviz._text import count
from hetviz._types import Texts
from hetviz.errors import DataWarning

Foreign: TypeAlias = Any
"""A table, matrix or graph of a library that is not imported."""
Facts: TypeAlias = Mapping[str, Any]


class Graph(NamedTuple):
    """Nodes and edges with their attributes."""

    nodes: list[tuple[Any, Facts]]
    edges: Iterable[tuple[Any, Any, Facts]]


def _of_networkx(graph: Foreign) -> Graph:
    return Graph([*graph.nodes(data=True)], graph.edges(data=True))


def _of_igraph(graph: Foreign) -> Graph:
    names: Sequence[Any] = range(graph.vcount())
    key = None
    if "name" in graph.vs.attributes() and len(set(graph.vs["name"])) == len(names):
        names, key = graph.vs["name"], "name"
    nodes: list[tuple[Any, Facts]] = [
        (name, {word: value for word, value in node.attributes().items() if word != key})
        for name, node in zip(names, graph.vs, strict=True)
    ]
    edges = ((names[edge.source], names[edge.target], edge.attributes()) for edge in graph.es)
    return Graph(nodes, edges)


_KINDS: tuple[tuple[tuple[str, ...], Callable[[Any], Graph]], ...] = (
    (("is_directed", "number_of_edges", "nodes", "edges"), _of_networkx),
    (("is_directed", "ecount", "vcount", "get_edgelist"), _of_igraph),
)
"""Methods that a graph of a library has, and its reader."""


def _reader(frame: object) -> Callable[[Foreign], Graph] | None:
    for methods, read in _KINDS:
        if all(callable(getattr(frame, name, None)) for name in methods):
            return read
    return None


def is_graph(frame: object) -> bool:
    """Whether an object is a graph of networkx or igraph, or similar."""
    return _reader(frame) is not None


def graph_of(frame: object) -> Graph:
    """Return the nodes and edges of a graph."""
    read = _reader(frame)
    assert read is not None  # noqa: S101
    return read(frame)


def edges_of_graph(graph: Graph) -> list[tuple[str, pd.DataFrame]]:
    """Return the edges by kind, without those of a node with itself."""
    edges_by_kind: dict[str, list[tuple[object, object, object]]] = {}
    loops = 0
    for a, b, facts in graph.edges:
        if a == b:
            loops += 1
            continue
        edge = (a, b, facts.get("weight", 1.0))
        edges_by_kind.setdefault(str(facts.get("kind", "edge")), []).append(edge)
    if loops:
        message = f"graph: {count(loops, 'edge')} of a node with itself left out."
        warnings.warn(message, DataWarning, stacklevel=2)
    out = []
    for kind, rows in edges_by_kind.items():
        weight = pd.Series([row[2] for row in rows])
        known = pd.to_numeric(weight, errors="coerce").dropna()
        within = bool((known.abs() <= 1).all() and (known != 0).all())
        frame = pd.DataFrame({"source": objects(rows, 0), "target": objects(rows, 1)})
        out.append((kind, frame.assign(**{"weight" if within else "score": weight})))
    return out


def objects(rows: Sequence[tuple[object, ...]], place: int) -> Texts:
    """Return one part of each row, as an array that keeps tuples whole."""
    out = np.empty(len(rows), dtype=object)
    for at, row in enumerate(rows):
        out[at] = row[place]
    return out
