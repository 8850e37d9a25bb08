"""Which links are somebody's word, and how loudly they are heard."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from hetviz.core.layout.guidance_boost import (
    guidance_affinities,
    move_linked_together,
    move_similar_along,
)
from hetviz.data import Dataset, HeteroData, Links
from hetviz.features.relations.user_links import (
    items_set_apart,
    table_links,
    user_link_weights,
)


def test_user_link_weights_use_strongest_weight() -> None:
    a, b = Dataset("a", ["x", "y", "z"]), Dataset("b", ["u", "v"])
    data = HeteroData(
        [a, b],
        [
            Links("a", "b", [0, 1, 2], [0, 0, 1], [0.5, -1.0, 1.0], kind="said"),
            Links("b", "a", [0], [0], [0.8], kind="accepted"),
            Links("a", "b", [1], [1]),
        ],
    )
    W = user_link_weights(data).toarray()
    expected = np.zeros((5, 5))
    expected[0, 3] = expected[3, 0] = 0.8
    expected[2, 4] = expected[4, 2] = 1.0
    np.testing.assert_array_equal(W, expected)
    assert user_link_weights(HeteroData([a])).nnz == 0


def test_opposite_user_links_of_a_pair_cancel() -> None:
    items = Dataset("a", ["x", "y", "z"])
    ends = [0, 0, 0, 1, 1], [1, 1, 1, 2, 2]
    data = HeteroData([items], [Links("a", "a", *ends, [1.0, -1.0, 0.5, -1.0, 1.0], kind="said")])
    assert user_link_weights(data).toarray()[0, 1] == 0.5
    assert user_link_weights(data).nnz == 2
    assert items_set_apart(data, [np.array([1])])[0].size == 0
    apart = data.edit().add(Links("a", "a", [1], [2], -0.5, kind="said"))
    assert items_set_apart(apart, [np.array([1])])[0].tolist() == [2]


def test_boost_of_several_user_links() -> None:
    P = sp.csr_array(np.array([[0, 0.2, 0, 0], [0.2, 0, 0.1, 0], [0, 0.1, 0, 0.2], [0, 0, 0.2, 0]]))
    W = np.zeros((4, 4))
    W[0, 3] = W[3, 0] = 1.0
    W[0, 2] = W[2, 0] = 0.5
    S = guidance_affinities(P, sp.csr_array(W), 2.0).toarray()
    assert S[0, 3] == S[3, 0] == 2.0 * min(0.2 / 2, 0.2)
    assert S[0, 2] == S[2, 0] == 2.0 * 0.5 * min(0.2 / 2, 0.3)


def test_refit_moves_item_with_fewer_links() -> None:
    # 0 has two near it, 1 none; 2 and 3 are near each other; 4 and 5 lie beside 0.
    Y = np.array([[0.0, 0], [1.0, 0], [0.5, 1.0], [0.52, 1.0], [0.01, 0], [0, 0.01]])
    P = np.zeros((6, 6))
    P[0, 4] = P[4, 0] = P[0, 5] = P[5, 0] = P[2, 3] = P[3, 2] = P[1, 2] = P[2, 1] = 1.0
    S = np.zeros((6, 6))
    S[0, 1] = S[1, 0] = S[2, 3] = S[3, 2] = 1.0
    moved = move_linked_together(sp.csr_array(S), sp.csr_array(P), Y)
    np.testing.assert_allclose(moved[1], [0.01, 0.0])
    np.testing.assert_array_equal(np.delete(moved, 1, axis=0), np.delete(Y, 1, axis=0))
    assert move_linked_together(sp.csr_array((6, 6)), sp.csr_array(P), Y) is Y


def test_refit_keeps_two_hubs() -> None:
    # "hub" and "star" are linked with nine each, far from each other; "leaf" with one.
    names = ["hub", "star", "leaf"]
    left, right = Dataset("a", names), Dataset("b", [f"b{k}" for k in range(19)])
    links = Links("a", "b", [0] * 9 + [1] * 9 + [2], np.arange(19))
    spread = [Links("b", "a", [18], [2]), Links("a", "a", [0], [1], kind="said")]
    others = Dataset("c", [f"c{k}" for k in range(9)])
    small = Links("c", "b", np.arange(9), np.arange(9))
    data = HeteroData([left, right, others], [links, *spread, small])
    bonds = table_links(data)
    # What was said is no bond, and what is linked twice is linked once.
    assert bonds.links[0, 1] == 0
    assert bonds.links[2, 21] == bonds.links[21, 2] == 1
    assert bonds.share[:3].tolist() == [1.0, 1.0, 1 / 9]
    share = np.array([8.0, 16.0, 1.0])
    P = sp.csr_array(np.full((3, 3), 0.1) - 0.1 * np.eye(3))
    W = sp.csr_array(np.ones((3, 3)) - np.eye(3))
    plain, held_out = (
        guidance_affinities(P, W).toarray(),
        guidance_affinities(P, W, bonds=share).toarray(),
    )
    assert held_out[0, 1] == held_out[1, 0] == plain[0, 1] / 2
    assert held_out[0, 2] == plain[0, 2]
    # Somebody who means it can say so louder.
    assert guidance_affinities(P, W, 2.0, share)[0, 1] == 2 * plain[0, 1]
    Y = np.array([[0.0, 0], [1.0, 0], [0.5, 1.0]])
    S, none = sp.csr_array(np.diag([1.0, 0], 1) + np.diag([1.0, 0], -1)), sp.csr_array((3, 3))
    assert move_linked_together(S, P, Y, none, share) is Y
    assert move_linked_together(S, P, Y, none, share, strength=4.0) is not Y
    # Said with a third as well, each hears twice as much.
    share = 2 * share
    moved = move_linked_together(sp.csr_array(W), P, Y, none, share)
    assert (moved[:2] == Y[:2]).all()
    assert np.linalg.norm(moved[2] - Y[:2], axis=1).min() < 0.02


def test_refit_keeps_item_with_more_close_links() -> None:
    # 0, a hub, has two links near it and no affinity, 3 much affinity and one link, leading far.
    Y = np.array([[0.0, 0], [0.01, 0], [0, 0.01], [1.0, 0], [1.0, 0.01]])
    P = np.zeros((5, 5))
    P[3, 4] = P[4, 3] = 5.0
    S, L = np.zeros((5, 5)), np.zeros((5, 5))
    S[0, 3] = S[3, 0] = 1.0
    for i, j in ((0, 1), (0, 2), (3, 1)):
        L[i, j] = L[j, i] = 1.0
    S, P, L = sp.csr_array(S), sp.csr_array(P), sp.csr_array(L)
    assert (move_linked_together(S, P, Y)[3] == Y[3]).all()
    share = np.array([3.0, 1.0, 1.0, 1.0, 1.0])
    moved = move_linked_together(S, P, Y, L, share)
    assert (moved[0] == Y[0]).all()
    # Where no hub is spoken of, nearness decides.
    assert (move_linked_together(S, P, Y, L, np.ones(5))[3] == Y[3]).all()
    assert np.linalg.norm(moved[3] - Y[0]) < 0.02


def test_refit_moves_group_to_best_connected_item() -> None:
    Y = np.array([[0.0, 0], [1.0, 0], [0, 1.0], [1.0, 0.02], [1.0, 0.04], [0, 1.02]])
    P = np.zeros((6, 6))
    for i, j in ((1, 3), (1, 4), (2, 5)):
        P[i, j] = P[j, i] = 1.0
    # Said of 0 and 2, and of 2 and 1: 0 goes where 2 goes.
    S = np.zeros((6, 6))
    for i, j in ((0, 2), (2, 1)):
        S[i, j] = S[j, i] = 1.0
    moved = move_linked_together(sp.csr_array(S), sp.csr_array(P), Y)
    assert np.linalg.norm(moved[[0, 2]] - Y[1], axis=1).max() < 0.02
    np.testing.assert_array_equal(moved[[1, 3, 4, 5]], Y[[1, 3, 4, 5]])


def test_refit_moves_followers() -> None:
    # 0 and 1 are named and lie at the right; 2 and 3 are like them and each other, 4 is like them
    # too, but more like 5 beside it.
    Y = np.array([[9.0, 0], [9.0, 0.1], [0, 0], [0, 5.0], [4.0, 4.0], [4.0, 4.1]])
    P = np.zeros((6, 6))
    for i, j, weight in ((2, 0, 1), (2, 3, 2), (3, 1, 1), (4, 0, 1), (4, 5, 3)):
        P[i, j] = P[j, i] = weight
    groups = [(np.array([0, 1]), np.array([2, 3, 4])), (np.array([5]), np.array([], dtype=int))]
    moved = move_similar_along(sp.csr_array(P), Y, groups)
    assert np.linalg.norm(moved[[2, 3]] - [9.0, 0.05], axis=1).max() < 0.2
    assert (moved[2] != moved[3]).any()
    np.testing.assert_array_equal(moved[[0, 1, 4, 5]], Y[[0, 1, 4, 5]])
