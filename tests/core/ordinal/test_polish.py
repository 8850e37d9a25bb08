"""Free movement of points by comparisons: the optimum, its limits, and the choice of the pull."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize

from hetviz.core.ordinal.comparisons import comparison_outcomes
from hetviz.core.ordinal.polish import MIN_COMPARISONS, choose_pull, move_along, polish_map


def make_comparisons(n: int = 40, m: int = 400, seed: int = 0) -> tuple[Any, Any]:
    """Places, and comparisons that hold of them."""
    rng = np.random.default_rng(seed)
    Y = rng.normal(size=(n, 2))
    a, b, c = rng.integers(0, n, (3, 3 * m))
    fine = (a != b) & (a != c) & (b != c)
    a, b, c = (part[fine][:m] for part in (a, b, c))
    near = ((Y[a] - Y[b]) ** 2).sum(axis=1) < ((Y[a] - Y[c]) ** 2).sum(axis=1)
    b, c = np.where(near, b, c), np.where(near, c, b)
    return Y, np.column_stack([a, b, a, c])


def test_polish_minimises_the_loss() -> None:
    rng = np.random.default_rng(1)
    _, pairs = make_comparisons(6, 30)
    Y, weight, pull = rng.normal(size=(6, 2)), rng.random(30), 0.3
    size = ((Y - Y.mean(axis=0)) ** 2).sum()

    def loss(flat: Any) -> float:
        X = flat.reshape(6, 2)
        near, far = X[pairs[:, 0]] - X[pairs[:, 1]], X[pairs[:, 2]] - X[pairs[:, 3]]
        mean = 2.0 * size / 6
        lengths = [np.sqrt((part**2).sum(axis=1) + 1e-6 * mean) for part in (near, far)]
        excess = 5.0 * (lengths[0] - lengths[1]) / np.sqrt(mean)
        expected = weight @ np.logaddexp(0.0, excess) / weight.sum()
        return float(expected + pull * ((X - Y) ** 2).sum() / size)

    result = polish_map(Y, pairs, weight, pull)
    without_gradient = minimize(loss, result.ravel(), method="BFGS")
    assert loss(result.ravel()) < loss(Y.ravel())
    assert loss(result.ravel()) == pytest.approx(without_gradient.fun, rel=1e-4)


def test_stronger_pull_moves_less() -> None:
    true, pairs = make_comparisons()
    start = true + np.random.default_rng(2).normal(size=true.shape)
    pairs = pairs[(pairs < 39).all(axis=1)]
    weight = np.ones(len(pairs))
    ways = [polish_map(start, pairs, weight, pull) for pull in (1e6, 1.0, 0.03)]
    moved = [float(np.abs(Y - start).sum()) for Y in ways]
    assert moved[0] < 1e-3 < moved[1] < moved[2]
    retained = [comparison_outcomes(Y, pairs).mean() for Y in (start, *ways[1:])]
    assert retained[0] < retained[1] < retained[2]
    assert_allclose(ways[2][39], start[39])


def test_choose_pull_by_held_out_comparisons() -> None:
    true, pairs = make_comparisons(40, 600)
    start = true + 0.7 * np.random.default_rng(3).normal(size=true.shape)
    weight, rng = np.ones(len(pairs)), np.random.default_rng(0)
    pull, accuracy = choose_pull(lambda reported: start, pairs, weight, rng)
    assert pull is not None
    assert accuracy[f"{pull:g}"] == max(accuracy.values())
    assert accuracy[f"{pull:g}"] > accuracy["none"] + 0.02


def test_choose_pull_of_random_or_few_comparisons_is_none() -> None:
    true, pairs = make_comparisons(40, 600)
    rng = np.random.default_rng(4)
    turned = np.where(rng.random(600)[:, None] < 0.5, pairs[:, [2, 3, 0, 1]], pairs)
    weight = np.ones(600)
    pull, accuracy = choose_pull(lambda reported: true, turned, weight, np.random.default_rng(0))
    assert pull is None
    assert accuracy["none"] == pytest.approx(0.5, abs=0.06)
    small = choose_pull(
        lambda reported: true, pairs[: MIN_COMPARISONS - 1], weight[: MIN_COMPARISONS - 1], rng
    )
    assert small == (None, {})


def test_move_along_nearby_points() -> None:
    rng = np.random.default_rng(5)
    before = rng.normal(size=(20, 2))
    step = np.array([3.0, -1.0])
    after = before + step
    places = rng.normal(size=(7, 2))
    assert_allclose(move_along(places, before, after), places + step)
    after = before + rng.normal(size=before.shape)
    assert_allclose(move_along(before[4:6], before, after), after[4:6])
