"""Exact map of a consistent partial order: levels as distances, shifted until they are Euclidean.

Pairs without a predecessor in the order, and pairs never compared, have Delta = 1; any other pair
has one more than its largest predecessor. With H = I - 11'/n and A = -1/2 H Delta H, the smallest
eigenvalue lambda of A makes A - lambda H positive semi-definite, and its factor has
|x_i - x_j|^2 = Delta_ij - 2 lambda: the order holds with a margin of 1.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import rustworkx as rx
from scipy.linalg import eigh

from hetviz._types import Floats, Ints
from hetviz.core.spectral.eigen import axis_signs
from hetviz.errors import DataError

_MIN_RELATIVE_VALUE = 1e-10


@dataclass(frozen=True, eq=False)
class ConstantShift:
    """A constant-shift embedding."""

    positions: Floats
    shift: float
    levels: int


def order_levels(n: int, pairs: Ints) -> Floats:
    """Return Delta of a consistent partial order, shape (n, n)."""
    ends = np.sort(np.asarray(pairs, dtype=np.int64).reshape(-1, 2), axis=1)
    ends[ends[:, 0] == ends[:, 1]] = 0
    flat, number = np.unique(ends @ [n, 1], return_inverse=True)
    near, far = number.reshape(-1, 2).T
    graph = rx.PyDiGraph()
    graph.add_nodes_from(range(len(flat)))
    graph.add_edges_from_no_data(list(zip(near.tolist(), far.tolist(), strict=True)))
    Delta = np.ones((n, n))
    np.fill_diagonal(Delta, 0.0)
    try:
        generations = rx.topological_generations(graph)
    except rx.DAGHasCycle:
        cycle = rx.digraph_find_cycle(graph)
        text = ", ".join(f"({flat[u] // n}, {flat[u] % n})" for u, _ in cycle)
        raise DataError.of(
            "circular-order",
            "comparisons",
            "these pairs contradict each other: each one is closer than the next, in a cycle",
            text,
            "Remove one of the comparisons. partial_order finds a candidate.",
        ) from None
    zero = np.flatnonzero(flat % (n + 1) == 0) if len(flat) else np.zeros(0, np.int64)
    level = _levels_of_pairs(len(flat), generations, near, far, set(zero.tolist()))
    i, j = flat // n, flat % n
    differs = i != j
    Delta[i[differs], j[differs]] = level[differs]
    Delta[j[differs], i[differs]] = level[differs]
    return Delta


def embed_by_constant_shift(n: int, pairs: Ints) -> ConstantShift:
    """Embed a consistent partial order exactly; see the module docstring.

    O(n^3 + m) time, O(n^2) memory; McFee and Lanckriet 2011, appendix A. The last equation is
    missing in the printed version.
    """
    Delta = order_levels(n, pairs)
    mean = Delta.mean(axis=0)
    A = -0.5 * (Delta - mean[:, None] - mean[None, :] + mean.mean())
    shift = min(float(eigh(A, eigvals_only=True, subset_by_index=[0, 0])[0]), 0.0)
    values, V = eigh(A - shift * (np.eye(n) - 1.0 / n))
    order = np.flatnonzero(values > _MIN_RELATIVE_VALUE * max(float(values[-1]), 1.0))[::-1]
    X = V[:, order] * np.sqrt(values[order])
    X = X * axis_signs(X)
    return ConstantShift(X, shift, int(Delta.max()))


def _levels_of_pairs(
    n: int, generations: Iterable[Iterable[int]], near: Ints, far: Ints, zero: set[int]
) -> Floats:
    """Return the level of each pair: 1, or one more than its highest predecessor."""
    order = np.argsort(near, kind="stable")
    targets = np.split(far[order], np.cumsum(np.bincount(near, minlength=n))[:-1]) if n else []
    level = np.ones(n)
    for generation in generations:
        for vertex in generation:
            own_level = 0.0 if vertex in zero else level[vertex]
            successors = targets[vertex]
            level[successors] = np.maximum(level[successors], own_level + 1.0)
    return level
