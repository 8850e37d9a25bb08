"""Weights of predictions, labels spread along links, and how sure to be."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from hetviz.core.prediction.blend import (
    best_power,
    mean_weights,
    mixture_weights,
    propagate,
    reliability,
    row_shares,
    sharpened,
)

RNG = np.random.default_rng(0)


def test_labels_spread_along_links_and_known_ones_stay() -> None:
    A = sp.csr_array(
        np.array([[0, 1, 0, 0, 0], [1, 0, 1, 0, 0], [0, 1, 0, 0, 0], [0, 0, 0, 0, 0], [0] * 5])
    ).astype(float)
    known = np.array([True, False, False, True, False])
    start = np.array([[1.0, 0], [0.5, 0.5], [0.5, 0.5], [0, 1], [0.5, 0.5]])
    F = propagate([(row_shares(A), None)], start, known)
    np.testing.assert_array_equal(F[known], start[known])
    assert F[1, 0] > F[2, 0] > 0.7
    np.testing.assert_array_equal(F[4], start[4])
    np.testing.assert_allclose(F.sum(axis=1), 1.0)


def test_labels_go_by_way_of_other_items() -> None:
    B = sp.csr_array(np.array([[1.0, 0], [1, 0], [0, 1]]))
    known = np.array([True, False, False])
    start = np.array([[1.0, 0], [0.5, 0.5], [0.5, 0.5]])
    F = propagate([(row_shares(B), row_shares(sp.csr_array(B.T)))], start, known)
    assert F[1, 0] > 0.8
    assert F[2, 0] == pytest.approx(0.5)


def test_the_model_that_fits_gets_the_weight() -> None:
    y = RNG.integers(0, 3, 400)
    good = sharpened(np.eye(3)[y] + 0.5 * RNG.random((400, 3)), 2.0)
    bad = sharpened(RNG.random((400, 3)), 1.0)
    w = mixture_weights([bad, good], y)
    assert w.sum() == pytest.approx(1.0)
    assert w[1] > 0.9
    few = mixture_weights([bad[:2], good[:2]], y[:2])
    assert 0.3 < few[0] < 0.5
    x = RNG.normal(size=300)
    v = mean_weights([x + RNG.normal(size=300), 0.3 * RNG.normal(size=300)], x)
    assert v.sum() == pytest.approx(1.0)
    assert (v >= 0).all()
    np.testing.assert_allclose(mean_weights([x, -x], x), [1.0, 0.0], atol=1e-6)


def test_probabilities_become_as_sure_as_they_are_right() -> None:
    y = RNG.integers(0, 2, 4_000)
    p = np.clip(0.5 + 0.3 * (2 * y - 1) * (RNG.random(4_000) < 0.75) * 1.5, 0.02, 0.98)
    p = np.where(RNG.random(4_000) < 0.25, 1 - p, p)
    P = np.column_stack([1 - p, p])
    Q = sharpened(P, best_power(P, y))

    def gap(R: np.ndarray) -> float:
        return float(np.mean([abs(row[0] - row[1]) for row in reliability(R, y)]))

    assert gap(Q) < gap(P)
    assert sum(row[2] for row in reliability(Q, y)) == 4_000
