"""Locality preserving projections of one dataset and of several views."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.linalg import block_diag, eigh, subspace_angles
from scipy.sparse.csgraph import laplacian

from hetviz.algorithms.cca import CCA
from hetviz.algorithms.lpp import LPP
from hetviz.algorithms.multiview_lpp import MultiviewLPP
from hetviz.core.graph.neighbors import neighbor_graph
from hetviz.data import Dataset, HeteroData, Links
from hetviz.errors import DataWarning, NotApplicableError

Floats = NDArray[np.float64]


def ids(n: int, letter: str = "r") -> list[str]:
    return [f"{letter}{k}" for k in range(n)]


def centred(X: Floats, D: Floats) -> Floats:
    return np.asarray(X - np.average(X, axis=0, weights=D))


def test_lpp_solves_its_eigenproblem() -> None:
    X = np.random.default_rng(0).normal(size=(60, 5))
    model = LPP(n_components=3, n_neighbors=6, gamma=0.0).fit(
        HeteroData([Dataset("a", ids(60), X)])
    )
    A = neighbor_graph(X, 6).toarray()
    D = A.sum(axis=1)
    Z = centred(X, D)
    lam, P = eigh(Z.T @ (np.diag(D) - A) @ Z, Z.T * D @ Z)
    np.testing.assert_allclose(model.smoothness_[0], 1 - lam[:3], atol=1e-12)
    Y = model.embedding_.coordinates["a"]
    assert subspace_angles(Y, Z @ P[:, :3]).max() < 1e-7
    np.testing.assert_allclose(np.average(Y**2, axis=0, weights=D), 1.0)


def test_without_features_lpp_is_a_laplacian_eigenmap() -> None:
    rng = np.random.default_rng(1)
    i, j = np.arange(29), np.arange(1, 30)
    weight = rng.uniform(0.3, 1.0, 29)
    data = HeteroData([Dataset("chain", ids(30))], [Links("chain", "chain", i, j, weight)])
    model = LPP(gamma=0.0).fit(data)
    W = data.adjacency().toarray()
    L, D = laplacian(W), np.diag(W.sum(axis=1))
    lam, P = eigh(L, D)
    np.testing.assert_allclose(model.smoothness_[0], 1 - lam[1:3], atol=1e-12)
    angle = subspace_angles(model.embedding_.coordinates["chain"], P[:, 1:3]).max()
    assert angle < 1e-7


def test_datasets_are_separate_and_of_equal_size() -> None:
    rng = np.random.default_rng(2)
    parts = [
        Dataset("big", ids(80), 100.0 * rng.normal(size=(80, 4))),
        Dataset("small", ids(20), rng.normal(size=(20, 3))),
    ]
    plain = LPP().fit(HeteroData(parts)).embedding_
    linked = LPP().fit(HeteroData(parts, [Links("big", "small", [0], [0])])).embedding_
    np.testing.assert_array_equal(plain.stacked(), linked.stacked())
    assert plain.components["big"] != plain.components["small"]
    sizes = [Y.std() for Y in plain.coordinates.values()]
    assert max(sizes) < 1.5 * min(sizes)


def test_graph_parameter_defines_neighbours() -> None:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(40, 4))
    data = HeteroData(
        [Dataset("a", ids(40), X)], [Links("a", "a", range(20), range(20, 40)), bad_link()]
    )
    maps = {graph: LPP(graph=graph).fit(data) for graph in ("both", "neighbors", "links")}
    without = LPP().fit(HeteroData(data.datasets))
    np.testing.assert_array_equal(
        maps["neighbors"].embedding_.stacked(), without.embedding_.stacked()
    )
    gaps = {
        graph: np.linalg.norm(Y[:20] - Y[20:]) / np.linalg.norm(Y)
        for graph, model in maps.items()
        for Y in [model.embedding_.stacked()]
    }
    assert gaps["links"] < gaps["both"] < gaps["neighbors"]


def bad_link() -> Links:
    return Links("a", "a", [0], [1], -1.0)


def test_rows_without_information_are_left_off() -> None:
    X = np.random.default_rng(5).normal(size=(30, 3))
    data = HeteroData([Dataset("a", ids(30), X), Dataset("tags", ["x", "y"])])
    with pytest.warns(DataWarning, match="tags"):
        embedding = LPP().fit(data).embedding_
    assert embedding.placed["a"].all()
    assert not embedding.placed["tags"].any()
    with pytest.raises(NotApplicableError, match="features in at least one"):
        LPP().fit(HeteroData([Dataset("tags", ["x", "y"])]))


def two_views(n: int = 60) -> HeteroData:
    rng = np.random.default_rng(4)
    Z = rng.normal(size=(n, 2))
    X, Y = (Z @ rng.normal(size=(2, d)) + 0.3 * rng.normal(size=(n, d)) for d in (5, 4))
    return HeteroData(
        [Dataset("x", ids(n), X, entity="e"), Dataset("y", ids(n)[::-1], Y[::-1], entity="e")]
    )


@pytest.mark.parametrize("pairing", [1.0, 5.0])
def test_two_views_solve_the_joint_problem_of_both_graphs(pairing: float) -> None:
    data = two_views()
    model = MultiviewLPP(n_neighbors=5, gamma=0.0, pairing=pairing, heat=False).fit(data)
    X, Y = (np.asarray(data[name].X) for name in "xy")
    swap = np.eye(60)[::-1]
    S = np.block(
        [
            [neighbor_graph(X, 5, heat=False).toarray(), pairing * swap],
            [pairing * swap, neighbor_graph(Y, 5, heat=False).toarray()],
        ]
    )
    D = S.sum(axis=1)
    Z = block_diag(centred(X, D[:60]), centred(Y, D[60:]))
    mu, P = eigh(Z.T @ S @ Z, Z.T * D @ Z)
    np.testing.assert_allclose(model.agreement_[0], mu[::-1][:2], atol=1e-12)
    expected = Z @ P[:, ::-1][:, :2]
    places = model.embedding_.stacked()
    np.testing.assert_allclose(
        places * np.sign((places * expected).sum(axis=0)), expected, atol=1e-9
    )


def test_large_pair_weight_gives_canonical_correlations() -> None:
    data = two_views()
    rho = CCA(gamma=0.0).fit(data).correlations_
    heavy = MultiviewLPP(gamma=0.0, pairing=1e6).fit(data).agreement_
    light = MultiviewLPP(gamma=0.0).fit(data).agreement_
    np.testing.assert_allclose(heavy, rho, atol=1e-4)
    assert np.abs(light - rho).max() > 0.01


def test_datasets_without_pairs_are_refused() -> None:
    data = HeteroData([Dataset(name, ids(9, name), np.eye(9)) for name in "ab"])
    with pytest.raises(NotApplicableError, match="between items of different datasets"):
        MultiviewLPP().fit(data)
