"""Error of rows of a map that are placed like new ones."""

from __future__ import annotations

import numpy as np

from hetviz.core.layout.out_of_sample import placement_error


def test_placement_error_of_a_map_equal_to_the_features() -> None:
    X = np.random.default_rng(0).uniform(size=(2_000, 2))
    near = placement_error([X], [X.copy()])
    assert near.n == 500
    assert 0 < near.median < near.most < 0.06
    # Of nothing but chance the error is about the distance of two rows.
    chance = placement_error([X], [np.random.default_rng(1).normal(size=(2_000, 2))])
    assert 0.5 < chance.median < 1.1
    assert abs(
        chance.median - placement_error([X], [error_of_random_map(1)], random_state=5).median
    ) < (4 * chance.standard_error)


def error_of_random_map(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(2_000, 2))


def test_placement_error_of_duplicates_and_without_features() -> None:
    X = np.repeat(np.arange(10.0)[:, None], 3, axis=0)
    assert placement_error([X], [np.hstack([X, -X])]).median == 0.0
    lost = placement_error([None], [np.zeros((5, 2))])
    assert lost.n == 0 and np.isnan(lost.median)
    assert lost.to_dict() == {"median": None, "most": None, "standard_error": None, "n": 0}
    assert placement_error([X], [np.full((30, 2), np.nan)]).n == 0
