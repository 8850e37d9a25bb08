"""Z-curve order of points."""

from __future__ import annotations

import numpy as np
import pytest

from hetviz.core.graph.z_order import z_order


@pytest.mark.parametrize("axes", [1, 2, 3, 8])
def test_z_order_is_a_permutation_of_close_rows(axes: int) -> None:
    Y = np.random.default_rng(axes).random((2_000, axes))
    order = z_order(Y)
    np.testing.assert_array_equal(np.sort(order), np.arange(2_000))
    steps = [np.median(np.abs(np.diff(Z, axis=0)).max(axis=1)) for Z in (Y, Y[order])]
    assert steps[1] < 0.6 * steps[0]


def test_z_order_of_quadrants() -> None:
    Y = np.array([[0.9, 0.9], [0.1, 0.9], [0.9, 0.1], [0.1, 0.1]])
    assert z_order(Y).tolist() == [3, 2, 1, 0]


def test_z_order_of_equal_and_no_points() -> None:
    assert z_order(np.full((3, 2), 7.0)).tolist() == [0, 1, 2]
    assert z_order(np.empty((0, 2))).tolist() == []
