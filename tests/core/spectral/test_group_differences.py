"""Telling groups apart: weights of descriptions, the check of held-out members, whitening."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from hetviz.core.spectral.group_axes import learn_groups
from hetviz.core.spectral.group_differences import (
    LENGTH,
    group_differences,
    needed_difference,
    whiten,
)

N = 400


def venues(seed: int = 0, strength: float = 6.0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Axes that know two areas, features that also know two venues of the first, and the venue."""
    rng = np.random.default_rng(seed)
    area, venue = np.minimum(np.arange(N) % 4, 1), np.arange(N) // 4 % 2
    Z = np.column_stack([10.0 * (2 * area - 1), rng.normal(size=(N, 3))])
    Z /= np.linalg.norm(Z, axis=1, keepdims=True)
    F = np.hstack([Z, 0.05 * rng.normal(size=(N, 5))])
    F[:, -1] += 0.05 * strength * (venue - 0.5)
    return Z, F, np.where(area == 0, venue, -1)


def named(venue: np.ndarray) -> list[np.ndarray]:
    return [np.flatnonzero(venue == v)[:12] for v in (0, 1)]


def test_features_tell_venues_apart_that_axes_do_not() -> None:
    Z, F, venue = venues()
    groups = named(venue)
    rng = np.random.default_rng(0)
    result = group_differences([Z * LENGTH, whiten(F, 0.1)], groups, rng)
    assert result.weight[1] > 0.9
    assert result.weight.sum() == pytest.approx(1.0)
    assert (result.auc > needed_difference(12)).all()
    assert_allclose(result.probability.sum(axis=1), 1.0)
    others = np.setdiff1d(np.flatnonzero(venue >= 0), np.concatenate(groups))
    right = result.probability[others].argmax(axis=1) == venue[others]
    assert right.mean() > 0.9


def test_groups_that_only_share_an_area_are_refused() -> None:
    Z, F, venue = venues()
    groups = named(venue)
    blind = learn_groups(Z, [slice(0, N)], groups)
    taught = learn_groups(Z, [slice(0, N)], groups, describe=lambda rows: [whiten(F[rows], 0.1)])
    assert all(group.auc >= group.needed for group in (*blind, *taught))
    assert not any(group.learned or group.confidence for group in blind)
    assert all(group.learned for group in taught)
    for v, group in enumerate(taught):
        followers = np.setdiff1d(np.flatnonzero(group.membership > 0.5), np.concatenate(groups))
        assert len(followers) > 10
        assert (venue[followers] == v).mean() > 0.9


def test_one_group_has_no_other_to_be_told_from() -> None:
    Z, _, venue = venues()
    (group,) = learn_groups(Z, [slice(0, N)], named(venue)[:1])
    assert (group.apart, group.needed_apart) == (1.0, 0.0)


def test_whitened_rows_have_one_length_and_unknown_ones_stay() -> None:
    X = np.random.default_rng(0).normal(size=(200, 3)) * [100.0, 1.0, 1.0]
    X[7] = 0.0
    W = whiten(X, 0.0)
    assert_allclose(W[7], 0.0)
    assert_allclose(np.linalg.norm(np.delete(W, 7, axis=0), axis=1), LENGTH)
    assert W.var(axis=0).max() < 1.3 * W.var(axis=0).min()


@pytest.mark.parametrize(("n", "needed"), [(3, 0.95), (9, 0.8), (36, 0.65), (1_000, 0.65)])
def test_needed_difference_falls_with_members(n: int, needed: float) -> None:
    assert needed_difference(n) == pytest.approx(needed)
