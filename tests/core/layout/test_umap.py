"""The graph and the layout of UMAP, against umap-learn and by properties."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from hetviz.core.graph.distances import FeatureSpace
from hetviz.core.graph.neighbors import Neighbors, nearest_neighbors
from hetviz.core.layout.umap import UmapLayout, fit_curve, fuzzy_graph, fuzzy_union, spread_out
from hetviz.core.measures.neighborhoods import measure_preservation
from hetviz.core.spectral.start import spectral_start
from hetviz.errors import Cancelled


def blobs(n: int = 150) -> Any:
    rng = np.random.default_rng(0)
    return rng.normal(size=(n, 5)) + 8.0 * rng.normal(size=(3, 5))[np.arange(n) % 3]


X = blobs()
FOUND = nearest_neighbors(FeatureSpace(X), 9)
GRAPH = fuzzy_graph(FOUND)
START = spread_out(spectral_start(GRAPH, 2, np.random.default_rng(0)), np.random.default_rng(0))


@pytest.mark.filterwarnings("ignore")
def test_graph_and_curve_equal_umap_learn(monkeypatch: pytest.MonkeyPatch) -> None:
    umap = pytest.importorskip("umap.umap_")
    for name in ("smooth_knn_dist", "compute_membership_strengths"):
        # To compile them takes longer than they do as plain Python.
        monkeypatch.setattr(umap, name, getattr(umap, name).py_func)
    n = len(X)
    index = np.hstack([np.arange(n)[:, None], FOUND.index]).astype(np.int32)
    distance = np.hstack([np.zeros((n, 1)), np.sqrt(FOUND.squared)]).astype(np.float32)
    theirs, _, _ = umap.fuzzy_simplicial_set(
        X, 10, np.random.RandomState(0), "euclidean", knn_indices=index, knn_dists=distance
    )
    assert abs(GRAPH - theirs).max() < 1e-4
    for min_dist in (0.0, 0.1, 0.8):
        np.testing.assert_allclose(
            fit_curve(min_dist), umap.find_ab_params(1.0, min_dist), rtol=1e-4
        )


def test_memberships_of_nearest_and_sums() -> None:
    k = FOUND.index.shape[1]
    rows = fuzzy_graph(Neighbors(FOUND.index, FOUND.squared))
    assert abs(rows - rows.T).max() == 0.0
    assert rows.max() == pytest.approx(1.0)
    nearest = np.asarray(rows[np.arange(len(X)), FOUND.index[:, 0]]).ravel()
    np.testing.assert_allclose(nearest, 1.0)
    assert (np.asarray(rows.sum(axis=1)).ravel() >= np.log2(k + 1) - 1e-3).all()


def test_equal_items_have_full_membership() -> None:
    index = np.array([[1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2]])
    squared = np.array([[0.0, 0.0, 4.0], [0.0, 0.0, 4.0], [0.0, 0.0, 4.0], [4.0, 4.0, 4.0]])
    graph = fuzzy_graph(Neighbors(index, squared)).toarray()
    np.testing.assert_allclose(graph[:3, :3], 1 - np.eye(3))


def test_union_of_memberships() -> None:
    a, b = (sp.csr_array(np.array([[0.0, value]])) for value in (0.5, 0.25))
    assert fuzzy_union(a, b)[0, 1] == pytest.approx(0.625)


def test_layout_preserves_neighbors_and_is_deterministic() -> None:
    layouts = [UmapLayout(GRAPH, START, n_epochs=200, random_state=3) for _ in range(2)]
    for layout in layouts:
        layout.run()
    np.testing.assert_array_equal(layouts[0].positions, layouts[1].positions)
    assert measure_preservation(FeatureSpace(X), layouts[0].positions).trustworthiness > 0.9
    other = UmapLayout(GRAPH, START, n_epochs=200, random_state=4)
    other.run()
    assert (other.positions != layouts[0].positions).any()


def test_apart_pairs_are_separated() -> None:
    left, right = np.array([0, 3, 6]), np.array([30, 33, 36])
    none = np.zeros(0, np.int64)
    plain = UmapLayout(GRAPH, START, n_epochs=100)
    same = UmapLayout(GRAPH, START, n_epochs=100, apart=(none, none, np.zeros(0)))
    parted = UmapLayout(GRAPH, START, n_epochs=100, apart=(left, right, np.ones(3)))
    for layout in (plain, same, parted):
        layout.run()
    np.testing.assert_array_equal(plain.positions, same.positions)
    assert parted.share_far_enough() == 1.0
    near = np.linalg.norm(plain.positions[left] - plain.positions[right], axis=1)
    assert near.max() < plain.reach()
    assert np.ptp(parted.positions) < 2 * np.ptp(plain.positions)


def test_layouts_are_reported_and_cancel_keeps_the_last() -> None:
    frames: list[Any] = []

    def progress(fraction: float, message: str = "", **figures: Any) -> None:
        frames.append(figures["layout"]())
        if len(frames) == 3:
            raise Cancelled

    layout = UmapLayout(GRAPH, START, n_epochs=200)
    with pytest.raises(Cancelled):
        layout.run(progress)
    assert 0 < layout.n_iter < 200
    np.testing.assert_array_equal(frames[-1], layout.positions)
    assert (frames[0] != frames[1]).any()


def test_equal_start_positions_stay_finite() -> None:
    layout = UmapLayout(GRAPH, np.zeros((150, 2)), n_epochs=20)
    layout.run()
    assert np.isfinite(layout.positions).all()
    assert np.isfinite(spread_out(np.zeros((5, 2)), np.random.default_rng(0))).all()
