"""Contradictions between links: exact small cases, and against brute force."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hetviz.core.ordinal.must_cannot import find_contradictions

nx = pytest.importorskip("networkx")


def chains_of(
    ends: list[list[int]], apart: list[int], n: int, **more: object
) -> list[tuple[int, ...]]:
    mask = np.isin(np.arange(len(ends)), apart)
    count, chains = find_contradictions(np.array(ends).reshape(-1, 2), mask, n, **more)  # type: ignore[arg-type]
    assert count >= len(chains)
    return [(chain.apart, *chain.together) for chain in chains]


def test_shortest_chain_is_ordered() -> None:
    ends = [[0, 1], [1, 2], [2, 3], [3, 0], [0, 2]]
    assert chains_of(ends, [4], 4) in ([(4, 0, 1)], [(4, 3, 2)])
    assert chains_of([*ends[:3], [3, 0]], [3], 4) == [(3, 0, 1, 2)]


def test_no_chain_without_contradiction() -> None:
    assert chains_of([[0, 1], [2, 3], [1, 2]], [2], 4) == []
    assert chains_of([], [], 3) == []


def test_self_and_direct_contradictions_come_first() -> None:
    ends = [[0, 1], [1, 2], [0, 2], [1, 0], [2, 2]]
    assert chains_of(ends, [2, 3, 4], 3) == [(4,), (3, 0), (2, 0, 1)]


def test_only_contradictions_of_new_links() -> None:
    ends = [[0, 1], [0, 1], [2, 3], [3, 0], [1, 2]]
    new = np.array([False, False, False, True, False])
    # 0 and 1 were opposed before; 1 and 2 are joined by the new link
    assert chains_of(ends, [1, 4], 4, new=new) == [(4, 0, 3, 2)]
    again = np.array([False, False, False, False, True])
    assert chains_of(ends, [1, 4], 4, new=again) == [(4, 0, 3, 2)]


def test_repeated_link_is_reported_by_its_new_row() -> None:
    ends = [[0, 1], [0, 1], [0, 1]]
    new = np.array([False, False, True])
    assert chains_of(ends, [0], 2, new=new) == [(0, 2)]


def test_weak_links_contradict_only_below_required_distance() -> None:
    ends = np.array([[0, 1], [1, 2], [0, 2]])
    mask = np.array([False, False, True])
    for weights, wrong in (
        ([1.0, 1.0, 1.0], True),
        ([1.0, 1.0, 0.1], True),
        ([0.5, 0.5, 1.0], False),
        ([0.6, 0.5, 1.0], True),
        ([0.6, 0.5, 0.9], False),
        ([1.0, 0.5, 0.4], False),
    ):
        count, chains = find_contradictions(ends, mask, 3, np.array(weights))
        assert (count, len(chains)) == (int(wrong), int(wrong)), weights


def test_tightest_chain_is_reported() -> None:
    ends = np.array([[0, 3], [0, 1], [1, 2], [2, 3], [0, 3]])
    mask = np.array([False, False, False, False, True])
    strength = np.array([0.05, 1.0, 1.0, 1.0, 0.9])
    _, (chain,) = find_contradictions(ends, mask, 4, strength)
    assert (chain.apart, chain.together) == (4, (1, 2, 3))
    # said again more strongly, the pair itself is enough
    again = np.vstack([ends, [[3, 0]]])
    result = find_contradictions(again, np.append(mask, False), 4, np.append(strength, 1.0))
    assert (result[1][0].apart, result[1][0].together) == (4, (5,))
    # what a new link brings about was not there before
    new = np.array([False, True, False, False, False])
    assert find_contradictions(ends, mask, 4, strength, new=new)[0] == 1
    assert find_contradictions(ends, mask, 4, np.ones(5), new=new)[0] == 0


PAIRS = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6), st.booleans()), max_size=14)


@given(PAIRS)
def test_contradictions_equal_brute_force(rows: list[tuple[int, int, bool]]) -> None:
    graph = nx.Graph()
    graph.add_nodes_from(range(7))
    graph.add_edges_from((a, b) for a, b, apart in rows if not apart)
    wrong = {
        tuple(sorted((a, b))): nx.shortest_path_length(graph, a, b)
        for a, b, apart in rows
        if apart and nx.has_path(graph, a, b)
    }
    ends = np.array([row[:2] for row in rows], dtype=np.int64).reshape(-1, 2)
    mask = np.array([row[2] for row in rows], dtype=bool)
    count, chains = find_contradictions(ends, mask, 7)
    assert count == len(wrong)
    assert {
        tuple(sorted(ends[chain.apart].tolist())): len(chain.together) for chain in chains
    } == wrong
    for chain in chains:
        assert not mask[list(chain.together)].any()
        walk = nx.Graph(ends[list(chain.together)].tolist())
        assert not chain.together or nx.has_path(walk, *ends[chain.apart].tolist())
