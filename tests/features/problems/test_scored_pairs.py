"""Scores of likeness and links as blocks over the rows that have any."""

from __future__ import annotations

import numpy as np

from hetviz.data import Dataset, HeteroData, Links
from hetviz.features.problems.link_scores import ScoredPairs, link_scores, scored_pairs
from hetviz.features.relations.pairing import connected_datasets
from hetviz.features.spaces.similarity import similarities

X = np.random.default_rng(0).normal(size=(5, 2))
DATA = HeteroData(
    [
        Dataset("a", [f"a{k}" for k in range(5)], X),
        Dataset("b", [f"b{k}" for k in range(6)]),
        Dataset("c", ["c0", "c1"]),
    ],
    [Links("b", "a", [4, 1], [0, 3]), Links("b", "b", [5], [1])],
)


def known(weight: float) -> ScoredPairs:
    like = similarities(DATA.datasets.values())
    return scored_pairs(DATA, like, {"a": weight}, link_scores(DATA, 0.9))


def test_scored_pairs_rows() -> None:
    rows = {name: mask.tolist() for name, mask in known(1.0).rows.items()}
    assert rows == {"a": [0, 1, 2, 3, 4], "b": [1, 4, 5]}
    assert known(0.0).rows["a"].tolist() == [0, 3]


def test_scored_pairs_blocks() -> None:
    likeness, across, within = known(0.5).blocks()
    assert (likeness.d, likeness.e, likeness.shape) == (0, 0, (5, 5))
    assert np.isclose(likeness.c.sum() + 0.5 * 5 / 25, 0.5)
    assert (across.d, across.e, across.shape) == (0, 1, (5, 3))
    # of a 15 pair table two are known: a0 - b4, which is row 1 of those there, and a3 - b1
    assert across.i is not None and across.j is not None
    assert sorted(zip(across.i.tolist(), across.j.tolist(), strict=True)) == [(0, 1), (3, 0)]
    assert (within.d, within.e, within.shape) == (1, 1, (3, 3))
    # every pair is listed: b1 - b4, b1 - b5, b4 - b5
    assert within.s.tolist() == [0.0, 0.9, 0.0]
    assert within.c.tolist() == [0.0, 1.0, 0.0]
    assert [block.d for block in known(0.0).blocks()] == [0, 1]


def test_scored_pairs_n_linked() -> None:
    assert known(1.0).n_linked("a", "b") == known(1.0).n_linked("b", "a") == 2
    assert known(1.0).n_linked("b", "b") == 1
    assert known(1.0).n_linked("a", "c") == 0


def test_connected_datasets() -> None:
    parts = connected_datasets(DATA, DATA.adjacency())
    assert list(parts) == ["a", "b", "c"]
    assert parts["a"] == parts["b"] != parts["c"]
