"""The comparison graph, against networkx and small exact cases."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hetviz.core.ordinal import partial_order as order
from hetviz.core.ordinal.partial_order import maximal_acyclic, partial_order, shortest_cycles
from hetviz.errors import ParameterError

nx = pytest.importorskip("networkx")


def rows_of(result: order.PartialOrder, fate: int) -> np.ndarray:
    return np.flatnonzero(result.fate == fate)


def random_pairs(seed, n_objects, m):
    return np.random.default_rng(seed).integers(0, n_objects, (m, 4))


def edges_of(pairs):
    return {((min(i, j), max(i, j)), (min(k, q), max(k, q))) for i, j, k, q in pairs.tolist()}


def test_chain_keeps_links_and_drops_shortcut() -> None:
    result = partial_order([[0, 1, 0, 2], [0, 2, 0, 3], [0, 1, 0, 3]])
    assert result.pairs.tolist() == [[0, 1, 0, 2], [0, 2, 0, 3]]
    assert rows_of(result, order.IMPLIED).tolist() == [2]
    assert result.reduced
    whole = partial_order([[0, 1, 0, 2], [0, 2, 0, 3], [0, 1, 0, 3]], reduce=False)
    assert whole.counts["kept"] == 3
    uneven = partial_order([[0, 1, 0, 2], [0, 2, 0, 3], [0, 1, 0, 3]], [1, 1, 2])
    assert uneven.counts["kept"] == 3
    lighter = partial_order([[0, 1, 0, 2], [0, 2, 0, 3], [0, 1, 0, 3]], [2, 3, 2])
    assert rows_of(lighter, order.IMPLIED).tolist() == [2]


@pytest.mark.parametrize(
    ("policy", "pairs", "weight"),
    [
        ("prune", [[0, 1, 0, 3]], [1.0]),
        ("majority", [[0, 1, 0, 2], [0, 1, 0, 3]], [2.0, 1.0]),
    ],
)
def test_opposite_statements(policy: str, pairs: list, weight: list) -> None:
    rows = [[0, 1, 0, 2], [0, 2, 0, 1], [0, 1, 0, 3]]
    result = partial_order(rows, [3, 1, 1], contradictions=policy)
    assert result.pairs.tolist() == pairs
    assert result.weight.tolist() == weight
    assert result.conflicts[0].rows == ((0,), (1,))
    assert result.n_conflicts == 1
    tie = partial_order(rows, contradictions=policy)
    assert tie.pairs.tolist() == [[0, 1, 0, 3]]
    retained = partial_order(rows, contradictions="keep", steps="contradictions")
    assert retained.counts["kept"] == 3
    circle = partial_order(rows, [3, 1, 1], contradictions="keep")
    assert rows_of(circle, order.CIRCULAR).tolist() == [1]


def test_cycle_of_three_keeps_two() -> None:
    result = partial_order([[0, 1, 0, 2], [0, 2, 0, 3], [3, 0, 1, 0], [0, 1, 2, 0]])
    assert result.counts["circular"] == 1 or rows_of(result, order.CIRCULAR).tolist() == [0, 3]
    assert sorted(row for rows in result.conflicts[0].rows for row in rows) == [0, 1, 2, 3]
    assert len(result.conflicts[0]) == 3


def test_impossible_and_repeated_rows() -> None:
    result = partial_order([[0, 1, 1, 0], [0, 3, 2, 2], [0, 0, 0, 3], [1, 1, 3, 0]], [1, 1, 2, 3])
    assert rows_of(result, order.IMPOSSIBLE).tolist() == [0, 1]
    assert rows_of(result, order.REPEATED).tolist() == [3]
    assert result.weight.tolist() == [5.0]
    near = result.pairs[0, :2]
    assert near[0] == near[1]
    first = partial_order([[0, 0, 0, 3], [1, 1, 3, 0]], [2, 3], multiplicity="set")
    assert first.weight.tolist() == [1.0]


def test_no_rows_and_unknown_options() -> None:
    assert partial_order(np.zeros((0, 4))).counts == dict.fromkeys(
        ("kept", "impossible", "repeated", "contradicted", "circular", "implied"), 0
    )
    with pytest.raises(ParameterError, match="'prune', 'majority', 'keep'"):
        partial_order([[0, 1, 0, 2]], contradictions="vote")


@given(seed=st.integers(0, 10_000), n=st.integers(3, 8), m=st.integers(1, 60))
def test_result_is_acyclic_maximal_and_reduced(seed: int, n: int, m: int) -> None:
    pairs = random_pairs(seed, n, m)
    result = partial_order(pairs, contradictions="majority", multiplicity="set")
    graph = nx.DiGraph(edges_of(result.pairs))
    assert nx.is_directed_acyclic_graph(graph)
    assert set(nx.transitive_reduction(graph).edges) == set(graph.edges)
    assert len(result.fate) == m
    assert sum(result.counts.values()) == m
    closure = nx.transitive_closure(graph)
    zero = {(i, i) for i in range(n)}

    def pair(a, b):
        return "zero" if a == b else (min(a, b), max(a, b))

    closure = nx.relabel_nodes(closure, dict.fromkeys(zero & set(closure), "zero"))
    for i, j, k, q in pairs[rows_of(result, order.IMPLIED)].tolist():
        assert closure.has_edge(pair(i, j), pair(k, q))
    for i, j, k, q in pairs[rows_of(result, order.CIRCULAR)].tolist():
        assert closure.has_edge(pair(k, q), pair(i, j))


@given(seed=st.integers(0, 10_000), n=st.integers(3, 6), m=st.integers(1, 60))
def test_implied_statements_respect_weights(seed: int, n: int, m: int) -> None:
    pairs = random_pairs(seed, n, m)
    weight = np.random.default_rng(seed).integers(1, 4, m).astype(float)
    whole = partial_order(pairs, weight, reduce=False)
    result = partial_order(pairs, weight)
    left = {tuple(pair): w for pair, w in zip(result.pairs.tolist(), result.weight, strict=True)}

    def ends(i: int, j: int, k: int, q: int) -> tuple[tuple[int, int], tuple[int, int]]:
        return (i, j) if i != j else (-1, -1), (k, q) if k != q else (-1, -1)

    for expected, w in zip(whole.pairs.tolist(), whole.weight, strict=True):
        others = [ends(*first) for first, v in left.items() if v >= w and list(first) != expected]
        start, end = ends(*expected)
        heavy = nx.DiGraph([*others, (end, end)])
        implied = start in heavy and nx.has_path(heavy, start, end)
        assert (tuple(expected) in left) != implied


@given(seed=st.integers(0, 10_000), n=st.integers(3, 8), m=st.integers(1, 60))
def test_result_is_idempotent_and_symmetric(seed: int, n: int, m: int) -> None:
    pairs = random_pairs(seed, n, m)
    once = partial_order(pairs, multiplicity="set")
    twice = partial_order(once.pairs)
    np.testing.assert_array_equal(once.pairs, twice.pairs)
    assert twice.counts["kept"] == len(once.pairs)
    turned = partial_order(pairs[:, [1, 0, 3, 2]], multiplicity="set")
    np.testing.assert_array_equal(once.pairs, turned.pairs)
    np.testing.assert_array_equal(once.fate, turned.fate)


@given(seed=st.integers(0, 10_000), n=st.integers(2, 12), e=st.integers(1, 60))
def test_result_has_half_of_the_weight(seed: int, n: int, e: int) -> None:
    rng = np.random.default_rng(seed)
    edges = np.unique(rng.integers(0, n, (e, 2)), axis=0)
    edges = edges[edges[:, 0] != edges[:, 1]]
    weight = rng.random(len(edges)) + 0.1
    retained = maximal_acyclic(edges, weight, 2, rng)
    graph = nx.DiGraph(edges[retained].tolist())
    assert nx.is_directed_acyclic_graph(graph)
    assert weight[retained].sum() >= weight.sum() / 2
    for u, v in edges[~retained].tolist():
        assert nx.has_path(graph, v, u)
    whole = nx.DiGraph(edges.tolist())
    for cycle, edge in zip(
        shortest_cycles(edges, np.flatnonzero(~retained)), edges[~retained].tolist(), strict=True
    ):
        steps = edges[cycle].tolist()
        assert steps[0] == edge
        assert all(a[1] == b[0] for a, b in zip(steps, [*steps[1:], steps[0]], strict=True))
        assert len(steps) == 1 + nx.shortest_path_length(whole, edge[1], edge[0])
