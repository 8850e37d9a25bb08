"""Distances between aligned maps."""

from __future__ import annotations

import numpy as np
import pytest

from hetviz.core.layout.spread import (
    aligned_distances,
    extent,
    mean_distances,
    moved_clearly,
    random_distance,
    stands_out,
)


def test_aligned_distances_ignores_rotation_scale_and_shift() -> None:
    rng = np.random.default_rng(0)
    Y = rng.standard_normal((50, 2))
    turn = np.array([[0.6, -0.8], [0.8, 0.6]])
    moved = 3.0 * Y @ turn + 5.0
    assert aligned_distances(moved, Y) == pytest.approx(np.zeros(50), abs=1e-12)


def test_aligned_distances_finds_the_moved_row_only() -> None:
    rng = np.random.default_rng(0)
    Y = rng.standard_normal((50, 2))
    moved = Y.copy()
    moved[7] += 4.0
    distance = aligned_distances(moved, Y)
    assert distance[7] == pytest.approx(4.0 * np.sqrt(2.0))
    assert np.delete(distance, 7) == pytest.approx(np.zeros(49), abs=1e-12)


def test_mean_distances_counts_the_maps_with_a_position() -> None:
    Y = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0], [1.0, 2.0], [0.5, 1.0]])
    maps = np.stack([Y, Y, Y])
    maps[0, 4] = np.nan
    maps[:, 3] = np.nan
    share, error, count = mean_distances(maps, Y)
    assert count.tolist() == [3, 3, 3, 0, 2]
    assert np.isnan(share).tolist() == [False, False, False, True, False]
    assert np.isnan(error).tolist() == [False, False, False, True, False]


def test_mean_distances_has_the_standard_error_of_the_mean() -> None:
    Y = np.random.default_rng(0).random((400, 2))
    maps = np.stack([Y, Y, Y, Y])
    for at, step in enumerate((0.1, 0.2, 0.1, 0.4)):
        maps[at, 5, 0] += step
    share, error, _ = mean_distances(maps, Y)
    steps = np.array([0.1, 0.2, 0.1, 0.4]) / extent(Y)
    assert share[5] == pytest.approx(steps.mean(), rel=1e-6)
    assert error[5] == pytest.approx(steps.std(ddof=1) / 2, rel=1e-6)


def test_extent_and_random_distance_of_a_unit_square() -> None:
    Y = np.random.default_rng(0).random((2_000, 2))
    assert extent(Y) == pytest.approx(1.0, abs=0.01)
    # The mean distance of two random points of a unit square is 0.5214.
    assert random_distance(Y, np.random.default_rng(0)) == pytest.approx(0.5214, abs=0.01)
    assert extent(np.full((3, 2), np.nan)) == 1.0


def test_stands_out_is_above_the_outer_fence():
    # Quartiles 2 and 4: the fence is at 10.
    distances = np.array([1.0, 2.0, 3.0, 4.0, 10.0, np.nan])
    assert not stands_out(distances).any()
    distances[4] = 10.1
    assert np.flatnonzero(stands_out(distances)).tolist() == [4]
    # All that moved, if most did not.
    moved = np.r_[np.zeros(80), np.full(15, 0.3)]
    assert stands_out(moved).tolist() == (moved > 0).tolist()
    assert not stands_out(np.full(5, 0.4)).any()
    assert not stands_out(np.full(3, np.nan)).any()


def test_clear_moves_are_far_or_beyond_their_spread() -> None:
    moved = np.r_[np.linspace(0.01, 0.03, 95), 0.2, 0.2, 0.05, 0.5, np.nan]
    spreads = np.r_[np.full(95, 0.05), 0.3, 0.5, 0.02, 0.3, 0.1]
    # Far and half its spread; far but uncertain; near but certain; both; on one map only.
    assert moved_clearly(moved, spreads)[95:].tolist() == [True, False, True, True, False]
    assert not moved_clearly(moved, spreads)[:95].any()
    assert not moved_clearly(moved, np.full(100, np.nan)).any()
