"""Weights of predictions, label propagation along links, and calibration."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from hetviz.core.prediction.blend import (
    link_axes,
    mean_weights,
    pool_probabilities,
    pool_weights,
    propagate,
    reliability,
    row_shares,
    scale_classes,
    share_factors,
    walk_features,
)

RNG = np.random.default_rng(0)


def test_propagate_keeps_known_labels() -> None:
    A = sp.csr_array(
        np.array([[0, 1, 0, 0, 0], [1, 0, 1, 0, 0], [0, 1, 0, 0, 0], [0, 0, 0, 0, 0], [0] * 5])
    ).astype(float)
    is_known = np.array([True, False, False, True, False])
    start = np.array([[1.0, 0], [0.5, 0.5], [0.5, 0.5], [0, 1], [0.5, 0.5]])
    F = propagate([(row_shares(A), None)], start, is_known)
    np.testing.assert_array_equal(F[is_known], start[is_known])
    assert F[1, 0] > F[2, 0] > 0.7
    np.testing.assert_array_equal(F[4], start[4])
    np.testing.assert_allclose(F.sum(axis=1), 1.0)


def test_propagate_via_other_items() -> None:
    B = sp.csr_array(np.array([[1.0, 0], [1, 0], [0, 1]]))
    is_known = np.array([True, False, False])
    start = np.array([[1.0, 0], [0.5, 0.5], [0.5, 0.5]])
    F = propagate([(row_shares(B), row_shares(sp.csr_array(B.T)))], start, is_known)
    assert F[1, 0] > 0.8
    assert F[2, 0] == pytest.approx(0.5)


def test_walk_features_average_linked_rows() -> None:
    A = sp.csr_array(np.array([[0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 0], [0] * 4])).astype(float)
    result = walk_features([(row_shares(A), None)], np.eye(4), restart=0.5, rounds=40)
    exact = 0.5 * np.linalg.inv(np.eye(3) - 0.5 * row_shares(A).toarray()[:3, :3])
    np.testing.assert_allclose(result[:3, :3], exact, atol=1e-9)
    np.testing.assert_array_equal(result[3], np.eye(4)[3])
    np.testing.assert_allclose(result.sum(axis=1), 1.0)


def make_probabilities(surely: float, y: np.ndarray) -> np.ndarray:
    P = RNG.random((len(y), 3)) + surely * np.eye(3)[y]
    return np.asarray(P / P.sum(axis=1, keepdims=True))


def test_pool_weights_prefer_the_fitting_model() -> None:
    y = RNG.integers(0, 3, 400)
    good, bad = make_probabilities(2.0, y), make_probabilities(0.0, y)
    start = np.ones(2)
    w = pool_weights([bad, good], y, start)
    assert w[1] > 2.0 > 0.3 > w[0] >= 0.0
    np.testing.assert_allclose(pool_weights([bad[:0], good[:0]], y[:0], start), start)
    small = pool_weights([bad[:2], good[:2]], y[:2], start)
    np.testing.assert_allclose(small, [1.0, 1.0], atol=0.6)
    np.testing.assert_allclose(
        pool_probabilities([bad, good], np.array([0.0, 1.0])), good, atol=1e-3
    )
    x = RNG.normal(size=300)
    v = mean_weights([x + RNG.normal(size=300), 0.3 * RNG.normal(size=300)], x)
    assert v.sum() == pytest.approx(1.0)
    assert (v >= 0).all()
    np.testing.assert_allclose(mean_weights([x, -x], x), [1.0, 0.0], atol=1e-6)


def test_pool_weights_minimise_the_penalised_likelihood() -> None:
    y = RNG.integers(0, 3, 50)
    parts = [make_probabilities(s, y) for s in (0.3, 0.6, 1.0)]
    start = np.array([1.0, 0.0, 0.5])
    w = pool_weights(parts, y, start, prior=2.0)

    def loss(v: np.ndarray) -> float:
        P = pool_probabilities(parts, v)
        away = v - start
        return float(-np.log(P[np.arange(50), y]).sum() + 0.5 * 2.0 * 3 * away @ away)

    for step in 0.01 * np.vstack([np.eye(3), -np.eye(3)]):
        if (w + step >= 0).all():
            assert loss(w) <= loss(w + step)


def test_pool_weights_calibrate_probabilities() -> None:
    y = RNG.integers(0, 2, 4_000)
    p = np.clip(0.5 + 0.3 * (2 * y - 1) * (RNG.random(4_000) < 0.75) * 1.5, 0.02, 0.98)
    p = np.where(RNG.random(4_000) < 0.25, 1 - p, p)
    P = np.column_stack([1 - p, p])
    Q = pool_probabilities([P], pool_weights([P], y, np.full(1, 2.0)))

    def gap(R: np.ndarray) -> float:
        return float(np.mean([abs(row[0] - row[1]) for row in reliability(R, y)]))

    assert gap(Q) < gap(P)
    assert sum(row[2] for row in reliability(Q, y)) == 4_000


def test_share_factors_move_mean_probabilities_to_shares() -> None:
    P = np.array([[0.8, 0.2], [0.6, 0.4]])
    shares = np.array([0.35, 0.65])
    np.testing.assert_array_equal(share_factors(P, shares, 0.0), [1.0, 1.0])
    np.testing.assert_allclose(share_factors(P, shares, 1.0), [0.35 / 0.7, 0.65 / 0.3])
    np.testing.assert_allclose(share_factors(P, shares, 0.5), np.sqrt([0.5, 0.65 / 0.3]))
    np.testing.assert_allclose(
        scale_classes(P, np.array([0.5, 2.0])), [[0.5, 0.5], [0.3 / 1.1, 0.8 / 1.1]]
    )


def test_link_axes_are_eigenvectors_of_the_regularised_graph() -> None:
    # Two cliques of four and an item without links. Degrees 3 get the mean degree 24/9 added.
    A = sp.csr_array(sp.block_diag([1.0 - np.eye(4), 1.0 - np.eye(4), np.zeros((1, 1))]))
    axes = link_axes([(row_shares(A), None)], 3, 0)
    cliques = sp.block_diag([np.ones((4, 4)), np.ones((4, 4)), np.zeros((1, 1))]).toarray()
    np.testing.assert_allclose(axes @ axes.T, 9 * 3 / (3 + 24 / 9) / 4 * cliques, atol=1e-4)


def test_link_axes_via_other_items() -> None:
    B = sp.csr_array(np.array([[1.0, 0], [1, 0], [0, 1], [0, 1], [0, 0]]))
    steps = [(row_shares(B), row_shares(sp.csr_array(B.T)))]
    axes = link_axes(steps, 2, 0)
    pairs = sp.block_diag([np.ones((2, 2)), np.ones((2, 2)), np.zeros((1, 1))]).toarray()
    np.testing.assert_allclose(axes @ axes.T, 5 / (1 + 4 / 5) / 2 * pairs, atol=1e-3)
    np.testing.assert_array_equal(axes, link_axes(steps, 2, 0))
