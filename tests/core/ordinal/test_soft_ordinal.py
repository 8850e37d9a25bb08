"""Soft ordinal embedding: gradient, recovery of a plane, and starts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import approx_fprime

from hetviz.core.ordinal.comparisons import comparison_accuracy
from hetviz.core.ordinal.soft_ordinal import embed_soft_ordinal, soft_ordinal_loss


def make_comparisons(n: int, m: int, seed: int = 0) -> tuple[Any, Any]:
    """Places, and pairs of pairs of which the first is the closer one."""
    rng = np.random.default_rng(seed)
    Y, pairs = rng.normal(size=(n, 2)), rng.integers(0, n, (m, 4))
    near, far = (np.linalg.norm(Y[pairs[:, k]] - Y[pairs[:, k + 1]], axis=1) for k in (0, 2))
    return Y, np.where((near > far)[:, None], pairs[:, [2, 3, 0, 1]], pairs)


@pytest.mark.parametrize("penalty", [0.0, 0.1])
def test_gradient_agrees_with_finite_differences(penalty: float) -> None:
    rng = np.random.default_rng(1)
    _, pairs = make_comparisons(8, 60)
    pairs[:2] = [[0, 1, 0, 2], [3, 3, 4, 5]]
    weight = rng.random(60)
    weight /= weight.sum()
    Y = rng.normal(size=(8, 2))
    value, gradient = soft_ordinal_loss(Y, pairs, weight, penalty)
    near, far = (np.linalg.norm(Y[pairs[:, k]] - Y[pairs[:, k + 1]], axis=1) for k in (0, 2))
    hinge = float(weight @ np.maximum(1.0 + near - far, 0.0) ** 2)
    assert value == pytest.approx(hinge + penalty / 60 * (Y**2).sum())
    numeric = approx_fprime(
        Y.ravel(), lambda flat: soft_ordinal_loss(flat.reshape(8, 2), pairs, weight, penalty)[0]
    )
    assert_allclose(gradient.ravel(), numeric, atol=1e-6)


def test_recovers_unseen_comparisons_of_a_plane() -> None:
    _, pairs = make_comparisons(30, 3_000)
    train, held_out = pairs[:1_500], pairs[1_500:]
    rng = np.random.default_rng(0)
    Y, history = embed_soft_ordinal(30, train, np.ones(1_500), 2, rng)
    assert comparison_accuracy(Y, held_out) > 0.95
    assert history == sorted(history, reverse=True)
    assert_allclose(Y.mean(axis=0), 0.0, atol=1e-9)
    assert Y.var(axis=0)[0] > Y.var(axis=0)[1]


def test_same_seed_gives_same_map() -> None:
    _, pairs = make_comparisons(12, 200)
    maps = [
        embed_soft_ordinal(12, pairs, np.ones(200), 2, np.random.default_rng(3), n_starts=2)[0]
        for _ in range(2)
    ]
    np.testing.assert_array_equal(maps[0], maps[1])


def test_more_starts_find_a_minimum_at_least_as_low() -> None:
    _, pairs = make_comparisons(25, 300, seed=2)
    lowest = [
        embed_soft_ordinal(25, pairs, np.ones(300), 2, np.random.default_rng(0), n_starts=n)[1][-1]
        for n in (1, 8)
    ]
    assert lowest[1] < lowest[0]
