"""An order in which what is near in space is near in memory."""

from __future__ import annotations

import numpy as np
import pytest

from hetviz.core.graph.z_order import z_order


@pytest.mark.parametrize("axes", [1, 2, 3, 8])
def test_every_row_comes_once_and_near_ones_after_each_other(axes: int) -> None:
    Y = np.random.default_rng(axes).random((2_000, axes))
    order = z_order(Y)
    np.testing.assert_array_equal(np.sort(order), np.arange(2_000))
    steps = [np.median(np.abs(np.diff(Z, axis=0)).max(axis=1)) for Z in (Y, Y[order])]
    assert steps[1] < 0.6 * steps[0]


def test_quarters_of_a_square_come_one_after_another() -> None:
    Y = np.array([[0.9, 0.9], [0.1, 0.9], [0.9, 0.1], [0.1, 0.1]])
    assert z_order(Y).tolist() == [3, 2, 1, 0]


def test_one_place_and_none() -> None:
    assert z_order(np.full((3, 2), 7.0)).tolist() == [0, 1, 2]
    assert z_order(np.empty((0, 2))).tolist() == []
