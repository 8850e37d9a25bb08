"""Measures on arrays, against brute force and scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.spatial.distance import cdist, squareform
from sklearn.manifold import trustworthiness
from sklearn.metrics import roc_auc_score

from hetviz.core.graph.distances import DistanceSpace, FeatureSpace, KernelSpace
from hetviz.core.layout.procrustes import align
from hetviz.core.measures import satisfaction
from hetviz.core.measures.neighborhoods import measure_preservation
from hetviz.core.measures.satisfaction import (
    distance_percentiles,
    link_auc,
    satisfaction_area,
    satisfaction_curve,
)
from hetviz.core.ordinal.comparisons import comparison_accuracy, comparison_outcomes


def brute_percentiles(guided, candidates):
    guided, candidates = np.asarray(guided), np.asarray(candidates).ravel()
    less = (candidates[None] < guided[:, None]).mean(axis=1)
    return less + 0.5 * (candidates[None] == guided[:, None]).mean(axis=1)


def grid_points(seed, n, k=2):
    # whole numbers, so that ties are exact and frequent
    return np.random.default_rng(seed).integers(0, 5, (n, k)).astype(float)


@given(seed=st.integers(0, 10_000), n=st.integers(2, 30), m=st.integers(1, 25), k=st.integers(1, 4))
def test_percentiles_between_datasets_equal_brute_force(seed, n, m, k):
    A, B = grid_points(seed, n, k), grid_points(seed + 1, m, k)
    rng = np.random.default_rng(seed)
    i, j = rng.integers(0, n, 20), rng.integers(0, m, 20)
    result = distance_percentiles(A, i, j, B)
    D = cdist(A, B, "sqeuclidean")
    assert result.candidates == n * m
    assert result.standard_error == 0.0
    assert_allclose(result.values, brute_percentiles(D[i, j], D), atol=1e-12)


@pytest.mark.parametrize("chunk", [2_000_000, 37])
@pytest.mark.parametrize("seed", range(4))
def test_percentiles_within_a_dataset_count_each_pair_once(seed, chunk, monkeypatch):
    monkeypatch.setattr(satisfaction, "_BLOCK_PAIRS", chunk)
    Y = grid_points(seed, 25)
    i, j = np.triu_indices(25, k=1)
    result = distance_percentiles(Y, i, j)
    D = cdist(Y, Y, "sqeuclidean")
    assert result.candidates == 300
    assert_allclose(result.values, brute_percentiles(D[i, j], D[i, j]), atol=1e-12)
    assert_allclose(satisfaction_area(result.values), 0.5)


def test_percentiles_ignore_rows_without_position():
    A, B = grid_points(0, 12), grid_points(1, 9)
    A[3] = np.nan
    result = distance_percentiles(A, [3, 4], [0, 0], B)
    D = cdist(np.delete(A, 3, axis=0), B, "sqeuclidean")
    assert result.candidates == 99
    assert np.isnan(result.values[0])
    assert_allclose(result.values[1], brute_percentiles([D[3, 0]], D)[0])
    assert satisfaction_area(result.values) == pytest.approx(1 - result.values[1])


def test_percentiles_without_candidates():
    nowhere = np.full((3, 2), np.nan)
    result = distance_percentiles(nowhere, [0], [1])
    assert result.candidates == 0
    assert np.isnan(satisfaction_area(result.values))
    assert np.isnan(satisfaction_curve(result.values)[1]).all()
    assert np.isnan(link_auc(result.values, 0))
    assert np.isnan(satisfaction_area(np.zeros(0)))


@pytest.mark.parametrize("within", [False, True])
def test_sampled_percentiles_are_within_their_error(within):
    rng = np.random.default_rng(2)
    A, B = rng.normal(size=(300, 2)), rng.normal(size=(200, 2))
    i, j = rng.integers(0, 200, 50), rng.integers(0, 200, 50)
    j = np.where(i == j, (j + 1) % 200, j)
    other = None if within else B
    exact = distance_percentiles(A, i, j, other)
    sampled = distance_percentiles(A, i, j, other, max_pairs=1000, n_samples=40_000)
    assert sampled.standard_error == pytest.approx(0.0025)
    assert 0 < np.abs(sampled.values - exact.values).max() < 4 * sampled.standard_error
    again = distance_percentiles(A, i, j, other, max_pairs=1000, n_samples=40_000)
    assert (again.values == sampled.values).all()


@given(seed=st.integers(0, 10_000))
def test_area_and_auc_of_links(seed):
    A, B = grid_points(seed, 15), grid_points(seed + 1, 12)
    linked = np.random.default_rng(seed).random((15, 12)) < 0.2
    linked[0, 0], linked[1, 1] = True, False
    F = distance_percentiles(A, *np.nonzero(linked), B)
    D = cdist(A, B, "sqeuclidean")
    auc = roc_auc_score(linked.ravel(), -D.ravel())
    assert_allclose(link_auc(F.values, F.candidates), auc, atol=1e-12)
    pi = linked.mean()
    assert_allclose(satisfaction_area(F.values), pi / 2 + (1 - pi) * auc, atol=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("sign", [1, -1])
def test_satisfaction_curve_equals_shares_and_area(sign, weighted):
    rng = np.random.default_rng(3)
    F = np.r_[rng.beta(1, 4, 400), np.nan]
    w = np.r_[rng.uniform(0.1, 1.0, 400), 5.0] if weighted else None
    f, y = satisfaction_curve(F, sign, w)
    assert (f[0], f[-1]) == (0.0, 1.0)
    assert (y[0], y[-1]) == ((0.0, 1.0) if sign > 0 else (1.0, 0.0))
    assert (np.diff(y) * sign >= -1e-12).all()
    at = 300
    inside = np.average(F[:-1] <= f[at], weights=None if w is None else w[:-1])
    assert_allclose(y[at], inside if sign > 0 else 1 - inside, atol=1e-12)
    assert_allclose(np.trapezoid(y, f), satisfaction_area(F, sign, w), atol=1e-3)


@pytest.mark.parametrize("k", [1, 5, 10])
def test_trustworthiness_and_continuity_equal_scikit_learn(k):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(120, 6))
    Y = X[:, :2] + 0.3 * rng.normal(size=(120, 2))
    result = measure_preservation(FeatureSpace(X), Y, n_neighbors=k)
    assert_allclose(result.trustworthiness, trustworthiness(X, Y, n_neighbors=k), atol=1e-12)
    assert_allclose(result.continuity, trustworthiness(Y, X, n_neighbors=k), atol=1e-12)
    assert result.trustworthiness_error == result.continuity_error == 0.0
    assert result.n_queries == 120


def test_preservation_is_the_same_for_all_spaces():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(80, 4)) * (rng.random((80, 4)) < 0.7)
    Y = rng.normal(size=(80, 2))
    by_features = measure_preservation(FeatureSpace(X), Y)
    for rows in (
        FeatureSpace(sp.csr_array(X)),
        DistanceSpace(cdist(X, X)),
        KernelSpace(X @ X.T),
    ):
        assert measure_preservation(rows, Y).trustworthiness == pytest.approx(
            by_features.trustworthiness
        )


def test_preservation_ignores_rows_without_position():
    rng = np.random.default_rng(6)
    X, Y = rng.normal(size=(60, 4)), rng.normal(size=(60, 2))
    Y[[5, 9]] = np.nan
    retained = np.isfinite(Y[:, 0])
    result = measure_preservation(FeatureSpace(X), Y)
    assert_allclose(
        result.trustworthiness, trustworthiness(X[retained], Y[retained], n_neighbors=10)
    )


def test_sampled_preservation_is_close_to_exact():
    rng = np.random.default_rng(7)
    X = rng.normal(size=(900, 5))
    rows = FeatureSpace(X)
    exact = measure_preservation(rows, X[:, :2])
    sampled = measure_preservation(rows, X[:, :2], max_rows=500, n_queries=300, random_state=1)
    assert sampled.n_queries == 300
    for name in ("trustworthiness", "continuity"):
        error = getattr(sampled, f"{name}_error")
        assert 0 < error < 0.02
        assert abs(getattr(sampled, name) - getattr(exact, name)) < 4 * error


def test_preservation_of_perfect_and_tiny_maps():
    X = np.random.default_rng(8).normal(size=(50, 2))
    result = measure_preservation(FeatureSpace(X), 3 * X @ [[0, 1], [-1, 0]])
    assert (result.trustworthiness, result.continuity) == (1.0, 1.0)
    assert np.isnan(measure_preservation(FeatureSpace(X[:3]), X[:3]).trustworthiness)
    assert measure_preservation(FeatureSpace(X[:6]), X[:6]).n_neighbors == 2


def test_comparison_accuracy_and_curve():
    Y = np.array([[0.0], [1.0], [3.0], [-1.0], [np.nan]])
    triples = [[0, 1, 2], [0, 2, 1], [0, 1, 3], [0, 1, 4]]
    assert_allclose(comparison_outcomes(Y, triples), [1.0, 0.0, 0.5, np.nan])
    assert comparison_accuracy(Y, triples) == 0.5
    assert comparison_accuracy(Y, triples, np.array([2.0, 0.0, 0.0, 9.0])) == 1.0
    assert_allclose(comparison_outcomes(Y, [[0, 1, 1, 2], [1, 2, 0, 1]]), [1.0, 0.0])
    assert np.isnan(comparison_accuracy(Y, np.zeros((0, 3), dtype=int)))


@given(
    seed=st.integers(0, 10_000),
    k=st.integers(1, 4),
    factor=st.floats(1e-3, 1e3),
    flip=st.booleans(),
)
def test_align_recovers_a_similarity_transform(seed, k, factor, flip):
    rng = np.random.default_rng(seed)
    Y = rng.normal(size=(20, k))
    Q = np.linalg.qr(rng.normal(size=(k, k)))[0]
    if flip:
        Q[:, 0] *= -1
    moved = factor * Y @ Q + rng.normal(size=k)
    moved[3] = np.nan
    result = align(moved, Y)
    assert_allclose(np.delete(result(moved), 3, axis=0), np.delete(Y, 3, axis=0), atol=1e-9)
    assert np.isnan(result(moved)[3]).all()
    assert result.residual < 1e-12


def test_align_never_increases_the_residual():
    rng = np.random.default_rng(9)
    Y, reference = rng.normal(size=(30, 2)), rng.normal(size=(30, 2))
    result = align(Y, reference, scale=False)
    assert result.scale == 1.0
    assert_allclose(
        squareform(cdist(result(Y), result(Y)), checks=False),
        squareform(cdist(Y, Y), checks=False),
        atol=1e-12,
    )
    centred = reference - reference.mean(0)
    left = ((align(Y, reference)(Y) - reference) ** 2).sum()
    assert_allclose(left / (centred**2).sum(), align(Y, reference).residual, atol=1e-12)
    assert left <= (centred**2).sum()


def test_align_without_shared_rows_or_extent():
    Y = np.array([[1.0, 2.0], [3.0, 4.0]])
    assert_allclose(align(Y, np.full((2, 2), np.nan))(Y), Y)
    point = np.array([[1.0, 2.0], [1.0, 2.0]])
    assert_allclose(align(point, Y)(point), [[2.0, 3.0], [2.0, 3.0]])
