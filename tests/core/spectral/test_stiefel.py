"""Orthonormal frames, and the check of gradients itself."""

from __future__ import annotations

import numpy as np
import pytest

from hetviz.core.spectral.stiefel import random_frame, retract, steepest_descent
from tests.gradcheck import gradient_error

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("how", ["polar", "qr"])
def test_retraction_is_orthonormal_and_preserves_frames(how: str) -> None:
    Q = random_frame(9, 4, RNG)
    np.testing.assert_allclose(retract(Q, how), Q, atol=1e-14)
    far = retract(Q + 1e6 * RNG.normal(size=Q.shape), how)
    np.testing.assert_allclose(far.T @ far, np.eye(4), atol=1e-13)


def test_polar_is_closer_than_gram_schmidt() -> None:
    M = RNG.normal(size=(9, 4))
    polar, qr = (np.linalg.norm(M - retract(M, how)) for how in ("polar", "qr"))
    assert polar < qr
    R = retract(M, "qr").T @ M
    np.testing.assert_allclose(np.tril(R, -1), 0.0, atol=1e-12)
    assert (R.diagonal() > 0).all()


def test_steepest_descent_is_tangent_and_falls_at_its_rate() -> None:
    A = RNG.normal(size=(7, 3))
    Q = random_frame(7, 3, RNG)

    def objective(frame: np.ndarray) -> float:
        return float(np.sum(A * frame) + np.sum((frame**2) @ [1.0, 2.0, 3.0]))

    Z, nu = steepest_descent(Q, A + 2.0 * Q * np.array([1.0, 2.0, 3.0]))
    np.testing.assert_allclose(Q.T @ Z, -(Z.T @ Q), atol=1e-12)
    step = 1e-6
    rate = (objective(retract(Q + step * Z)) - objective(retract(Q - step * Z))) / (2 * step)
    assert nu > 0
    assert rate == pytest.approx(-nu, rel=1e-6)


def test_one_by_one_frame_does_not_move() -> None:
    Z, nu = steepest_descent(np.ones((1, 1)), np.array([[3.0]]))
    assert nu == 0
    assert Z == 0


def test_gradient_check_detects_errors() -> None:
    x = RNG.normal(size=(3, 2))
    right = np.cos(x)
    assert gradient_error(lambda y: float(np.sin(y).sum()), right, x) < 1e-10
    wrong = right.copy()
    wrong[1, 1] += 0.01
    assert gradient_error(lambda y: float(np.sin(y).sum()), wrong, x) > 0.005
    assert gradient_error(lambda y: 0.0, np.zeros(2), np.ones(2)) == 0.0
