"""Interpolated places of new items."""

from __future__ import annotations

import numpy as np

from hetviz.core.layout.placement import _weighted_medians, median_places


def test_interpolated_median_moves_with_weights() -> None:
    values = np.array([[3.0, 1.0, 2.0]])
    for weights, at, between in (
        ([1.0, 1.0, 1.0], 2.0, 2.0),
        ([2.0, 1.0, 1.0], 2.0, 7 / 3),
        ([1.0, 9.0, 1.0], 1.0, 1.2),
        ([1.0, 0.0, 0.0], 3.0, 3.0),
    ):
        options = np.array([weights])
        np.testing.assert_allclose(_weighted_medians(values, options, False), [at])
        np.testing.assert_allclose(_weighted_medians(values, options, True), [between])


def test_interpolated_medians_do_not_lie_on_lines() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    new = rng.normal(size=(400, 2))
    squared = ((new[:, None] - X) ** 2).sum(axis=2)
    at, between = median_places(squared, X), median_places(squared, X, between=True)
    assert len(np.unique(at[:, 0])) <= 60
    assert len(np.unique(between[:, 0].round(9))) > 390
    # Where features are places, it lies nearer to where it belongs.
    off = [np.median(np.linalg.norm(Y - new, axis=1)) for Y in (at, between)]
    assert off[1] < off[0]
