"""Kernels and their feature maps."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from scipy.linalg import eigh
from scipy.spatial.distance import cdist, pdist

from hetviz.core.graph.laplacian import SignedGraph
from hetviz.core.kernels.kernels import (
    RbfKernel,
    center_kernel,
    kernel_map,
    landmark_map,
    median_bandwidth,
    symmetric_kernel,
)
from hetviz.core.spectral.guided import guided_projection
from hetviz.errors import DataError, DataWarning, ParameterError


@pytest.fixture(name="X")
def rows():
    return np.random.default_rng(0).normal(size=(40, 5)) + 3.0


def guidance(n, seed=0):
    rng = np.random.default_rng(seed)
    W = sp.csr_array((rng.random(4 * n), rng.integers(0, n, (2, 4 * n))), shape=(n, n))
    return (W + W.T).tocsr()


def linear_kernel(X, Y):
    return X @ Y.T


def test_kernel_values(X):
    K = RbfKernel(2.0)(X[:7], X)
    assert_allclose(K, np.exp(-(cdist(X[:7], X) ** 2) / 8.0), atol=1e-12)
    assert_allclose(RbfKernel(2.0).diagonal(X), RbfKernel(2.0)(X, X).diagonal(), atol=1e-12)


def test_median_bandwidth(X):
    assert median_bandwidth(X) == np.median(pdist(X))
    mostly_equal = np.vstack([np.zeros((30, 2)), [[3.0, 4.0]]])
    assert median_bandwidth(mostly_equal) == 5.0
    assert median_bandwidth(np.ones((5, 2))) == 1.0
    large = np.random.default_rng(1).normal(size=(3000, 2))
    assert median_bandwidth(large) == median_bandwidth(large)
    assert median_bandwidth(large) == pytest.approx(np.median(pdist(large)), rel=0.05)


@pytest.mark.parametrize("bandwidth", [0.0, -1.0, float("nan")])
def test_bandwidth_must_be_positive(bandwidth):
    with pytest.raises(ParameterError, match="bandwidth"):
        RbfKernel(bandwidth)


@pytest.mark.parametrize("kernel", [RbfKernel(3.0), linear_kernel])
def test_map_reproduces_the_kernel(X, kernel):
    K = kernel(X, X)
    fitted = kernel_map(K)
    Phi = fitted(K[:, fitted.landmarks])
    assert_allclose(Phi @ Phi.T, K, atol=1e-7)
    new = X[:4] + 0.1
    inside = fitted(kernel(new, X)[:, fitted.landmarks]) @ Phi.T
    assert_allclose(inside, kernel(new, X), atol=1e-2 if fitted.rank == 40 else 1e-7)
    assert fitted.rank == np.linalg.matrix_rank(K, tol=1e-9 * np.trace(K))


def test_centring_the_map_is_centring_the_kernel(X):
    weights = np.random.default_rng(2).random(40)
    K = RbfKernel(3.0)(X, X)
    Phi = (fitted := kernel_map(K))(K[:, fitted.landmarks])
    c = np.average(Phi, axis=0, weights=weights)
    K_c = center_kernel(K, weights)
    assert_allclose((Phi - c) @ (Phi - c).T, K_c, atol=1e-9)
    assert_allclose(weights @ K_c, 0.0, atol=1e-12)
    new = X[:3] + 0.5
    K_new = RbfKernel(3.0)(new, X)
    Phi_new = fitted(K_new[:, fitted.landmarks])
    assert_allclose(center_kernel(K, weights, K_new), (Phi_new - c) @ (Phi - c).T, atol=1e-6)
    mean = np.average(X, axis=0, weights=weights)
    assert_allclose(
        center_kernel(X @ X.T, weights, new @ X.T),
        (new - mean) @ (X - mean).T,
        atol=1e-10,
    )


def test_linear_kernel_equals_linear_features(X):
    W = guidance(40)
    K = X @ X.T
    fitted = kernel_map(K)
    by_kernel = guided_projection([fitted(K[:, fitted.landmarks])], W, nominal=[5])
    by_features = guided_projection([X], W)
    assert_allclose(by_kernel.mu, by_features.mu, atol=1e-10)
    for axis in range(2):
        a, b = by_kernel.embeddings[0][:, axis], by_features.embeddings[0][:, axis]
        assert_allclose(a * np.sign(a @ b), b, atol=1e-8)


def test_rkhs_penalty_equals_the_dual_problem(X):
    W = guidance(40)
    K = RbfKernel(3.0)(X, X)
    fitted = kernel_map(K)
    result = guided_projection(
        [fitted(K[:, fitted.landmarks])], W, gamma=0.7, absolute=True, n_components=3
    )
    graph = SignedGraph.split(W)
    K_c = center_kernel(K, graph.absolute_degrees)
    B = K_c * graph.absolute_degrees @ K_c + 0.7 * K_c
    # K_c is singular along one direction, which a tiny shift keeps out of the way
    mu = eigh(K_c @ graph.positive @ K_c, B + 1e-12 * np.eye(40), eigvals_only=True)
    assert_allclose(result.mu[0], mu[::-1][:3], atol=1e-9)


def test_paper_penalty_has_the_kernel_itself_as_features(X):
    W = guidance(40)
    K = RbfKernel(3.0)(X, X)
    graph = SignedGraph.split(W)
    w = graph.absolute_degrees
    fitted = kernel_map(K, penalty="paper", weights=w)
    result = guided_projection([fitted(K[:, fitted.landmarks])], W, gamma=0.7, absolute=True)
    K_c = center_kernel(K, w)
    mu, A = eigh(K_c @ graph.positive @ K_c, K_c * w @ K_c + 0.7 * np.eye(40))
    assert_allclose(result.mu[0], mu[::-1][:2], atol=1e-10)
    expected = K_c @ A[:, -1]
    Y = result.embeddings[0][:, 0]
    assert_allclose(Y * np.sign(Y @ expected), expected, atol=1e-9)


def test_unknown_penalty(X):
    with pytest.raises(ParameterError, match="penalty = 'both'"):
        kernel_map(np.eye(3), penalty="both")


def test_map_of_an_indefinite_kernel_drops_its_negative_part():
    rng = np.random.default_rng(3)
    Q = np.linalg.qr(rng.normal(size=(12, 12)))[0]
    values = np.r_[np.linspace(1, 3, 10), -0.5, -0.1]
    K = Q * values @ Q.T
    with pytest.warns(DataWarning, match=r"drawings: .* not positive semi-definite"):
        fitted = kernel_map((K + K.T) / 2, where="drawings")
    Phi = fitted(K[:, fitted.landmarks])
    assert_allclose(Phi @ Phi.T, Q[:, :10] * values[:10] @ Q[:, :10].T, atol=1e-10)


def test_map_of_a_zero_kernel_is_empty():
    assert kernel_map(np.zeros((4, 4))).rank == 0


def test_landmark_map_approaches_the_kernel(X):
    kernel = RbfKernel(6.0)
    K = kernel(X, X)
    errors = []
    for m in (3, 12, 40):
        fitted = landmark_map(kernel, X, m, random_state=0)
        assert len(fitted.landmarks) <= m
        Phi = fitted(kernel(X, X[fitted.landmarks]))
        errors.append(np.abs(Phi @ Phi.T - K).max())
    assert errors[0] > errors[1] > errors[2]
    assert errors[2] < 1e-4
    repeated = np.repeat(X[:4], 10, axis=0)
    assert landmark_map(kernel, repeated, 20).rank == 4


@pytest.mark.parametrize(
    ("K", "code"),
    [
        (np.ones((2, 3)), "kernel-shape"),
        (np.array([[1.0, np.nan], [0.0, 1.0]]), "not-finite"),
        (np.array([[1.0, 0.5], [0.4, 1.0]]), "kernel-asymmetric"),
    ],
)
def test_kernel_matrix_is_checked(K, code):
    with pytest.raises(DataError, match="drawings") as caught:
        symmetric_kernel(K, "drawings")
    assert caught.value.problems[0].code == code


def test_kernel_matrix_is_made_symmetric():
    K = symmetric_kernel([[1.0, 0.5], [0.5 + 1e-9, 1.0]])
    assert (K == K.T).all()
