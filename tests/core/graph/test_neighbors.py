from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from hetviz.core.graph import neighbors as neighbors_module
from hetviz.core.graph.distances import FeatureSpace, cross_squared_distances
from hetviz.core.graph.neighbors import (
    NeighborCells,
    Neighbors,
    affordable_neighbors,
    collect_recalls,
    cross_neighbors,
    cross_neighbors_by_cells,
    feature_neighbors,
    measure_recall,
    nearest_columns,
    nearest_neighbors,
    neighbor_graph,
    neighbors_by_cells,
)


def brute(X: np.ndarray, k: int, heat: bool) -> np.ndarray:
    D = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    np.fill_diagonal(D, np.inf)
    order = np.argsort(D, axis=1)[:, :k]
    furthest = np.take_along_axis(D, order[:, -1:], axis=1)
    A = np.zeros(D.shape)
    for i, row in enumerate(order):
        A[i, row] = np.exp(-0.5 * D[i, row] / np.median(furthest)) if heat else 1.0
    return np.maximum(A, A.T)


@pytest.mark.parametrize("heat", [True, False])
@pytest.mark.parametrize("sparse", [True, False])
def test_neighbor_graph_equals_brute_force(heat: bool, sparse: bool) -> None:
    X = np.random.default_rng(0).normal(size=(40, 3))
    A = neighbor_graph(sp.csr_array(X) if sparse else X, 5, heat=heat)
    np.testing.assert_allclose(A.toarray(), brute(X, 5, heat), atol=1e-12)
    assert not A.diagonal().any()


def test_neighbor_graph_of_few_and_equal_rows() -> None:
    assert neighbor_graph(np.zeros((1, 2)), 10).nnz == 0
    assert neighbor_graph(np.array([[0.0], [1.0]]), 10).nnz == 2
    X = np.r_[np.zeros((5, 1)), [[1.0]]]
    A = neighbor_graph(X, 3).toarray()
    assert (A[:5, :5].sum(axis=1) >= 3).all()
    assert A[5].sum() == 0.0


def test_approximate_search_uses_the_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    X = np.random.default_rng(0).normal(size=(40, 30))
    calls: list[tuple[int, int]] = []

    def search(rows: np.ndarray, k: int, random_state: int) -> Neighbors:
        calls.append((k, random_state))
        return nearest_neighbors(FeatureSpace(rows), k)

    monkeypatch.setattr("hetviz.core.graph.neighbors.EXACT_ROWS", 39)
    monkeypatch.setattr("hetviz.core.graph.neighbors.approximate_neighbors", search)
    # Rows without groups are compared two by two as long as that takes less.
    A = neighbor_graph(X, 5, random_state=7)
    assert calls == []
    np.testing.assert_allclose(A.toarray(), brute(X, 5, True), atol=1e-12)
    monkeypatch.setattr("hetviz.core.graph.neighbors.DESCENT_ROWS", 39)
    A = neighbor_graph(X, 5, random_state=7)
    assert calls == [(5, 7)]
    np.testing.assert_allclose(A.toarray(), brute(X, 5, True), atol=1e-12)


def test_nearest_columns_of_long_rows_are_exact_and_stable() -> None:
    rng = np.random.default_rng(0)
    D = rng.random((6, 5000))
    D[1] = np.round(D[1], 2)
    D[2] = 1.0
    D[3, :40] = np.inf
    expected = np.argsort(D, axis=1, kind="stable")
    for k in (1, 2, 37, 90):
        np.testing.assert_array_equal(nearest_columns(D, k), expected[:, :k])
    single = D.astype(np.float32)
    np.testing.assert_array_equal(
        nearest_columns(single, 37), np.argsort(single, axis=1, kind="stable")[:, :37]
    )


@pytest.mark.parametrize("sparse", [False, True])
def test_feature_neighbors_search_enough_cells(
    sparse: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hetviz.core.graph.neighbors.EXACT_ROWS", 1_000)
    rng = np.random.default_rng(4)
    X = 9.0 * rng.normal(size=(20, 8))[rng.integers(0, 20, 2_000)] + rng.normal(size=(2_000, 8))
    options = sp.csr_array(X) if sparse else X
    shares: list[float] = []
    result = feature_neighbors(options, 30, 0, shares.append)
    # Told of once a cell, so that it is known that cells were searched; the last one is the end.
    assert len(set(shares)) > 50
    assert shares[-1] == 1.0
    exact = nearest_neighbors(FeatureSpace(X), 30)
    same = [len(np.intersect1d(a, b)) for a, b in zip(result.index, exact.index, strict=True)]
    assert np.mean(same) > 0.95 * 30
    # What is told of a sample is what was found, but for the error of the sample.
    assert abs(result.recall - np.mean(same) / 30) < 0.02
    assert measure_recall(options, exact) == 1.0
    with collect_recalls() as heard:
        again = feature_neighbors(options, 30, 0, name="things")
        feature_neighbors(options[:900], 30, 0, name="few")
    assert heard == {"things": result.recall}
    np.testing.assert_array_equal(result.index, again.index)


@pytest.mark.parametrize("sparse", [False, True])
def test_neighbors_by_cells_have_high_recall(sparse: bool) -> None:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 5))[rng.integers(0, 60, 1_500)] + 0.3 * rng.normal(size=(1_500, 5))
    options = sp.csr_array(X) if sparse else X
    result, exact = neighbors_by_cells(options, 10), nearest_neighbors(FeatureSpace(X), 10)
    same = [len(np.intersect1d(a, b)) for a, b in zip(result.index, exact.index, strict=True)]
    assert np.mean(same) > 9.3
    assert (result.index != np.arange(1_500)[:, None]).all()
    assert (np.diff(result.squared, axis=1) >= 0).all()
    away = ((X[:, None] - X[result.index]) ** 2).sum(axis=2)
    np.testing.assert_allclose(result.squared, away, atol=1e-9)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("hetviz.core.graph.neighbors._MANY_ROWS", 0)
        np.testing.assert_array_equal(neighbors_by_cells(options, 10).index, result.index)
    small = neighbors_by_cells(options[:12], 11)
    assert np.sort(small.index, axis=1).tolist() == [
        [k for k in range(12) if k != i] for i in range(12)
    ]


def test_cells_contain_each_row_once() -> None:
    X = np.random.default_rng(4).normal(size=(400, 3))
    cells = NeighborCells.around_sample(X, 1)
    np.testing.assert_array_equal(cells.rows(np.arange(len(cells))), np.arange(400))
    for centre, rows in zip(cells.centres, cells.members, strict=True):
        np.testing.assert_allclose(centre, X[rows].mean(axis=0) if len(rows) else 0.0, atol=1e-9)


def test_cross_neighbors_by_cells() -> None:
    rng = np.random.default_rng(5)
    centres = rng.normal(size=(40, 4))
    B = centres[rng.integers(0, 40, 900)] + 0.2 * rng.normal(size=(900, 4))
    A = centres[rng.integers(0, 40, 150)] + 0.2 * rng.normal(size=(150, 4))
    A[3] = B[17]
    exact, result = (
        cross_neighbors(A, B, 8),
        cross_neighbors_by_cells(A, B, 8, NeighborCells.around_sample(B)),
    )
    same = [len(np.intersect1d(a, b)) for a, b in zip(result.index, exact.index, strict=True)]
    assert np.mean(same) > 7.6
    assert result.index[3, 0] == 17 and result.squared[3, 0] == 0.0
    # Cells of which all are looked through hide nothing.
    whole = cross_neighbors_by_cells(A, B, 8, NeighborCells.around_sample(B, count=5))
    np.testing.assert_array_equal(whole.index, exact.index)
    every = cross_neighbors_by_cells(A[:2], B[:6], 6, NeighborCells.around_sample(B[:6]))
    assert np.sort(every.index, axis=1).tolist() == [list(range(6))] * 2


def test_affordable_neighbors_are_exact_for_few_rows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    X = np.random.default_rng(6).normal(size=(1_200, 12))
    exact = nearest_neighbors(FeatureSpace(X), 5)
    np.testing.assert_array_equal(affordable_neighbors(X, 5).index, exact.index)
    monkeypatch.setattr("hetviz.core.graph.neighbors.EXACT_ROWS", 1_000)
    # In noise of twelve columns cells tell little: all would be compared to find nearly all.
    monkeypatch.setattr("hetviz.core.graph.neighbors._MAX_PROBES", 10)
    result = affordable_neighbors(X, 5)
    same = [len(np.intersect1d(a, b)) for a, b in zip(result.index, exact.index, strict=True)]
    assert 0.1 < result.recall < 0.9
    assert result.recall == pytest.approx(np.mean(same) / 5, abs=0.06)


def test_many_rows_find_most_of_their_nearest_across_datasets(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(0)
    centres = 4 * rng.normal(size=(40, 6))
    A, B = (centres[rng.integers(0, 40, n)] + rng.normal(size=(n, 6)) for n in (900, 1_100))
    exact = cross_neighbors(A, B, 10)
    monkeypatch.setattr(neighbors_module, "EXACT_ROWS", 500)
    found = cross_neighbors(A, B, 10)
    share = np.mean([np.isin(a, b).mean() for a, b in zip(found.index, exact.index, strict=True)])
    assert exact.recall == 1.0
    assert share > 0.93
    assert found.recall == pytest.approx(share, abs=0.03)
    same = np.sort(found.index, axis=1) == np.sort(exact.index, axis=1)
    assert not same.all()
    # Rows without groups are in all cells, so all pairs are compared.
    even = rng.normal(size=(900, 40))
    among_all = cross_neighbors(even, even[::-1], 10)
    assert among_all.recall == 1.0
    monkeypatch.setattr(neighbors_module, "EXACT_ROWS", 1_000)
    plain = cross_neighbors(even, even[::-1], 10)
    np.testing.assert_array_equal(among_all.index, plain.index)
    np.testing.assert_allclose(among_all.squared, plain.squared, atol=1e-9)


def test_distances_of_many_equal_rows_are_0() -> None:
    group = np.repeat(np.arange(3), 400)
    A = np.random.default_rng(0).normal(size=(3, 5))[group]
    D = cross_squared_distances(A, A[::7])
    np.testing.assert_array_equal(D == 0, group[:, None] == group[None, ::7])
