"""Tests of the solvers that spectral methods share."""

from __future__ import annotations

import numpy as np
from numpy.testing import assert_allclose

from hetviz.core.spectral.eigen import (
    axis_signs,
    largest_dense,
    largest_iterated,
    seeded_start,
    symmetric_operator,
)


def test_dense_and_iterated_solvers_agree() -> None:
    rng = np.random.default_rng(0)
    A = rng.normal(size=(40, 40))
    A = A + A.T
    values, V = largest_dense(A, 3)
    assert_allclose(values, np.linalg.eigvalsh(A)[::-1][:3])
    operator = symmetric_operator(40, lambda x: A @ x)
    iterated, U = largest_iterated(operator, 3, seeded_start(40, 0))
    assert_allclose(iterated, values)
    assert_allclose(U * axis_signs(U), V * axis_signs(V), atol=1e-8)


def test_largest_entry_of_each_axis_gets_positive() -> None:
    V = np.array([[1.0, -3.0, 0.0], [-2.0, 2.0, 0.0]])
    assert_allclose(axis_signs(V), [-1.0, -1.0, 1.0])
