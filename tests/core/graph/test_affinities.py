"""The joint distribution over items of several datasets."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from hetviz.core.graph.affinities import (
    blend_with_links,
    conditional_affinities,
    link_affinities,
    neighbors_needed,
    perplexity_weights,
    symmetric_affinities,
)
from hetviz.core.graph.distances import FeatureSpace, cross_squared_distances
from hetviz.core.graph.joint import Balance, JointDistribution, JointGraph, joint_affinities
from hetviz.core.graph.neighbors import approximate_neighbors, nearest_neighbors

RNG = np.random.default_rng(0)


def conditional(X: Any, perplexity: float = 5.0) -> Any:
    k, allowed = neighbors_needed(len(X), perplexity)
    return conditional_affinities(nearest_neighbors(FeatureSpace(X), k), allowed)


def two_sided(W: Any) -> Any:
    """The symmetric matrix over both datasets of a block of links between them."""
    zero = [sp.csr_array((size, size)) for size in W.shape]
    return sp.csr_array(sp.block_array([[zero[0], W], [W.T, zero[1]]]))


def joint(
    sizes: tuple[int, int],
    W: Any,
    balance: Balance,
    features: bool = True,
    weights: tuple[float, ...] = (),
) -> JointDistribution:
    rng = np.random.default_rng(1)
    parts = [conditional(rng.normal(size=(n, 3))) if features else None for n in sizes]
    positive = two_sided(W)
    result = joint_affinities(
        JointGraph(sizes, parts, positive, sp.csr_array(positive.shape), (), weights), balance
    )
    assert result is not None
    return result


def full(shape: tuple[int, int]) -> Any:
    return sp.csr_array(np.ones(shape))


def test_perplexity_weights_have_given_perplexity() -> None:
    squared = RNG.random((50, 40)) * 10.0 ** RNG.integers(-8, 8, (50, 1))
    P = perplexity_weights(squared, 12.0)
    np.testing.assert_allclose(P.sum(axis=1), 1.0, rtol=1e-12)
    entropy = -(P * np.log(np.maximum(P, 1e-300))).sum(axis=1)
    np.testing.assert_allclose(np.exp(entropy), 12.0, rtol=1e-8)


def test_perplexity_weights_of_equal_distances() -> None:
    np.testing.assert_allclose(perplexity_weights(np.full((1, 6), 3.0), 2.0), 1 / 6)
    ties = perplexity_weights(np.array([[0.0, 0.0, 0.0, 0.0, 5.0, 9.0]]), 2.0)
    np.testing.assert_allclose(ties, [[0.25, 0.25, 0.25, 0.25, 0.0, 0.0]], atol=1e-12)


def test_affinities_equal_those_of_opentsne() -> None:
    affinity = pytest.importorskip("openTSNE.affinity")
    X = np.random.default_rng(2).normal(size=(200, 5))
    k, allowed = neighbors_needed(200, 15.0)
    result = nearest_neighbors(FeatureSpace(X), k)
    ours = symmetric_affinities(conditional_affinities(result, allowed))
    # Its own search for neighbours would compile for half a minute.
    theirs = affinity.joint_probabilities_nn(result.index, np.sqrt(result.squared), [15.0])
    assert abs(ours - theirs).max() < 1e-8 * ours.max()


def test_nearest_neighbors_equal_brute_force() -> None:
    X = RNG.normal(size=(60, 4))
    D = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    np.fill_diagonal(D, np.inf)
    heard: list[float] = []
    result = nearest_neighbors(FeatureSpace(X), 7, heard.append)
    np.testing.assert_array_equal(result.index, np.argsort(D, axis=1)[:, :7])
    np.testing.assert_allclose(result.squared, np.sort(D, axis=1)[:, :7], atol=1e-12)
    assert heard[-1] == 1.0


def test_approximate_neighbors_exclude_the_row_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    X = np.vstack([RNG.normal(size=(50, 3)), np.zeros((4, 3))])

    class Search:
        """Stands for pynndescent, which takes a minute to compile."""

        def __init__(self, X: Any, n_neighbors: int, **_: Any) -> None:
            D = np.linalg.norm(X[:, None] - X[None], axis=2)
            index = np.argsort(D, axis=1, kind="stable")[:, :n_neighbors]
            self.neighbor_graph = index, np.take_along_axis(D, index, axis=1)

    monkeypatch.setitem(sys.modules, "pynndescent", SimpleNamespace(NNDescent=Search))
    result = approximate_neighbors(X, 3)
    assert (result.index != np.arange(54)[:, None]).all()
    exact = nearest_neighbors(FeatureSpace(X), 3)
    np.testing.assert_allclose(result.squared, exact.squared, atol=1e-12)
    assert (result.squared[50:] == 0).all()


@pytest.mark.parametrize("sparse", [False, True])
def test_distances_of_equal_rows_are_exactly_zero(sparse: bool) -> None:
    B = 1e3 + RNG.normal(size=(30, 8))
    A = np.vstack([B[4], B[7] + 1e-3, RNG.normal(size=8)])
    form = sp.csr_array if sparse else np.asarray
    D = cross_squared_distances(form(A), form(B))
    assert D[0, 4] == 0.0
    expected = ((A[:, None] - B[None]) ** 2).sum(axis=2)
    np.testing.assert_allclose(D, expected, rtol=1e-6)


@pytest.mark.parametrize("normalization", ["unnorm", "norm", "pmi"])
def test_link_affinities_do_not_depend_on_the_unit(normalization: str) -> None:
    W = np.where(RNG.random((12, 9)) < 0.3, RNG.random((12, 9)), 0.0)
    W[3] = 0.0
    W = sp.csr_array(W)
    R = link_affinities(W, normalization)
    assert R.sum() == pytest.approx(1.0)
    assert not R[[3]].sum()
    np.testing.assert_allclose(link_affinities(7 * W, normalization).toarray(), R.toarray())


def test_pmi_and_norm_of_a_regular_graph_change_nothing() -> None:
    W = sp.csr_array(np.kron(np.eye(4), np.ones((2, 3))))
    plain = link_affinities(W).toarray()
    for normalization in ("norm", "pmi"):
        np.testing.assert_allclose(link_affinities(W, normalization).toarray(), plain, atol=1e-17)
    assert link_affinities(sp.csr_array((3, 2))) is None


def test_adaptive_weights_are_those_of_the_paper() -> None:
    paper = Balance(1.0, printed=True)
    beta = joint((250, 85), full((250, 85)), paper).beta
    total = 250**2 + 85**2 + 250 * 85
    assert beta[0, 0] == pytest.approx(250**2 / total)
    assert beta[0, 1] == pytest.approx(250 * 85 / total)
    # golden values of 1,000 images and 613 tags without features
    links = sp.csr_array((np.ones(1000), (np.arange(1000), np.arange(1000) % 613)))
    parts = [conditional(RNG.normal(size=(1000, 2))), None]
    W = two_sided(links)
    result = joint_affinities(JointGraph((1000, 613), parts, W, sp.csr_array(W.shape)), paper)
    assert result is not None
    assert result.beta == pytest.approx({(0, 0): 0.6199628, (0, 1): 0.3800372}, abs=1e-7)


def test_joint_equal_weights_and_factors() -> None:
    equal = joint((40, 20), full((40, 20)), Balance(0.0))
    assert set(np.round(list(equal.beta.values()), 12)) == {round(1 / 3, 12)}
    linked = joint((40, 20), full((40, 20)), Balance(0.0, links=4.0))
    assert linked.beta[0, 1] == pytest.approx(4 / 6)
    weighted = joint((40, 20), full((40, 20)), Balance(0.0), weights=(9.0, 1.0))
    assert weighted.beta == pytest.approx({(0, 0): 9 / 13, (0, 1): 3 / 13, (1, 1): 1 / 13})
    without = joint((40, 20), full((40, 20)), Balance(0.0), weights=(1.0, 0.0))
    assert set(without.beta) == {(0, 0)}


def test_joint_few_or_weak_links_count_less_unless_printed() -> None:
    first = sp.csr_array((np.ones(1), ([0], [0])), shape=(40, 20))
    default = joint((40, 20), first, Balance(0.0)).beta[0, 1]
    assert default == pytest.approx(0.05 / 2.05)
    printed = joint((40, 20), first, Balance(0.0, printed=True)).beta[0, 1]
    assert printed == pytest.approx(1 / 3)
    half = joint((40, 20), 0.5 * full((40, 20)), Balance(0.0)).beta[0, 1]
    assert half == pytest.approx(0.5 / 2.5)


def test_joint_is_a_symmetric_distribution_whose_blocks_sum_to_their_weights() -> None:
    W = sp.csr_array((RNG.random((40, 20)) < 0.1).astype(float))
    result = joint((40, 20), W, Balance(0.5))
    assert result.P.sum() == pytest.approx(1.0)
    assert abs(result.P - result.P.T).max() < 1e-18
    assert not result.P.diagonal().any()
    assert result.P[:40][:, :40].sum() == pytest.approx(result.beta[0, 0])
    assert 2 * result.P[:40][:, 40:].sum() == pytest.approx(result.beta[0, 1])


def test_joint_featureless_dataset_has_a_block_only_with_links() -> None:
    W = sp.csr_array(np.eye(6, 5))
    assert set(joint((6, 5), W, Balance(1.0), features=False).beta) == {(0, 1)}
    positive = two_sided(W).tolil()
    positive[0, 1] = positive[1, 0] = 1.0
    result = joint_affinities(
        JointGraph((6, 5), (None, None), positive.tocsr(), sp.csr_array((11, 11))),
        Balance(0.0),
    )
    assert result is not None
    assert result.beta[0, 0] == pytest.approx((2 / 6) / (2 / 6 + 1))
    assert result.P[0, 1] == pytest.approx(result.beta[0, 0] / 2)


def test_links_within_a_dataset_take_half_of_their_rows() -> None:
    P = conditional(np.random.default_rng(4).normal(size=(30, 3)))
    W = sp.csr_array((np.ones(2), ([2, 9], [9, 2])), shape=(30, 30))
    guided = blend_with_links(P, W)
    np.testing.assert_allclose(guided.sum(axis=1), 1.0)
    untouched = np.setdiff1d(np.arange(30), [2, 9])
    np.testing.assert_array_equal(guided[untouched].toarray(), P[untouched].toarray())
    assert guided[2, 9] == pytest.approx(0.5 + 0.5 * P[2, 9])


def test_joint_apart_pairs_have_no_affinity() -> None:
    X = np.random.default_rng(5).normal(size=(20, 2))
    P = conditional(X)
    i, j = (int(end[0]) for end in P.nonzero())
    apart = sp.csr_array((np.ones(2), ([i, j], [j, i])), shape=(20, 20))
    result = joint_affinities(JointGraph((20,), (P,), sp.csr_array((20, 20)), apart), Balance(1.0))
    assert result is not None
    assert result.P[i, j] == result.P[j, i] == 0.0
    assert result.P.sum() == pytest.approx(1.0)


def test_joint_without_neighbors_and_links_is_none() -> None:
    zero = sp.csr_array((5, 5))
    assert joint_affinities(JointGraph((5,), (None,), zero, zero), Balance(1.0)) is None
