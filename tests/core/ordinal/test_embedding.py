"""Partial order embedding: small exact answers, certificates, laws, and a conic solver."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import eigh
from scipy.optimize import linprog

from hetviz.core.ordinal.embedding import (
    Hinge,
    canonical_axes,
    critical_beta,
    embed_on_axes,
    embed_order,
)
from hetviz.core.ordinal.fixed_rank import weigh_columns

cp = pytest.importorskip("cvxpy")

N, M = 14, 60


def factor(K):
    values, U = np.linalg.eigh(K)
    retained = values > 1e-9 * values[-1]
    return U[:, retained] * np.sqrt(values[retained])


def toy(seed=0, n=N, m=M):
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(n, 2))
    X = np.hstack([Z, rng.normal(size=(n, 2))])
    D = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    kernels = [np.exp(-D / np.median(D)), X @ X.T]
    C = rng.integers(0, n, (m, 4))
    C = C[(C[:, 0] != C[:, 1]) & (C[:, 2] != C[:, 3])]
    d = ((Z[C[:, 0]] - Z[C[:, 1]]) ** 2).sum(1), ((Z[C[:, 2]] - Z[C[:, 3]]) ** 2).sum(1)
    C = np.where((d[0] > d[1])[:, None], C[:, [2, 3, 0, 1]], C)
    return kernels, C


def hinge(n, C, beta, margin=1.0):
    return Hinge(n, np.asarray(C), np.full(len(C), beta / len(C)), margin)


KERNELS, C = toy()
VIEWS = [factor(K) for K in KERNELS]


def optimum(views, beta, C=C, tol=1e-7):
    return embed_order(views, hinge(len(views[0]), C, beta), tol=tol, max_passes=80).objective


@pytest.mark.parametrize(
    ("n", "C", "value"), [(3, [(0, 1, 0, 2)], 1 / np.sqrt(3)), (4, [(0, 1, 2, 3)], 0.5)]
)
def test_exact_answers_without_features(n: int, C: list, value: float) -> None:
    result = embed_order([None], hinge(n, C, 10.0), tol=1e-9)
    assert result.objective == pytest.approx(value, abs=1e-7)
    assert result.critical_beta == pytest.approx(value, abs=1e-9)
    assert np.abs(result.parts[0].sum(axis=0)).max() < 1e-12
    nothing = embed_order([None], hinge(n, C, 0.999 * value))
    assert nothing.objective == pytest.approx(0.999 * value)
    assert nothing.parts[0].shape[1] == 0
    assert nothing.gap == 0.0
    doubled = embed_order([None], hinge(n, C, 20.0, margin=2.0), tol=1e-9)
    assert doubled.objective == pytest.approx(2 * value, abs=1e-6)


def conic(kernels, C, beta, diagonal=False):
    """The same problem as stated in the paper, over W, by Clarabel."""
    n = len(kernels[0])
    distance, size = 0, 0
    E = np.eye(n)
    for K in kernels:
        if diagonal:
            w = cp.Variable(n, nonneg=True)
            size = size + cp.sum(cp.multiply(np.diag(K), w))
            squares = np.array([(K[i] - K[j]) ** 2 for i, j, _, _ in C])
            other = np.array([(K[k] - K[q]) ** 2 for _, _, k, q in C])
            distance = distance + (squares - other) @ w
            continue
        Phi = factor(K)
        S = cp.Variable((Phi.shape[1],) * 2, PSD=True)
        size = size + cp.trace(S)
        rows = []
        for i, j, k, q in C:
            a, b = Phi.T @ (E[i] - E[j]), Phi.T @ (E[k] - E[q])
            rows.append(cp.trace((np.outer(a, a) - np.outer(b, b)) @ S))
        distance = distance + cp.hstack(rows)
    problem = cp.Problem(cp.Minimize(size + beta / len(C) * cp.sum(cp.pos(1 + distance))))
    return problem.solve(solver=cp.CLARABEL)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("beta", [1.0, 10.0, 100.0])
def test_objective_equals_conic_solver(beta: float) -> None:
    assert optimum(VIEWS, beta) == pytest.approx(conic(KERNELS, C, beta), rel=1e-5)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("beta", [1.0, 10.0, 100.0])
def test_diagonal_objective_equals_linear_program(beta: float) -> None:
    B = np.hstack([K / np.sqrt(np.diag(K)) for K in KERNELS])
    result = weigh_columns(B, hinge(N, C, beta), tol=1e-6, max_passes=200)
    i, j, k, q = C.T
    Z = (B[k] - B[q]) ** 2 - (B[i] - B[j]) ** 2
    m, r = Z.shape
    exact = linprog(
        np.concatenate([np.ones(r), np.full(m, beta / m)]),
        A_ub=np.hstack([-Z, -np.eye(m)]),
        b_ub=-np.ones(m),
    ).fun
    assert result.objective == pytest.approx(exact, rel=1e-5)
    assert result.objective == pytest.approx(conic(KERNELS, C, beta, diagonal=True), rel=1e-5)
    assert result.bound <= exact + 1e-9
    assert result.objective >= optimum(VIEWS, beta) - 1e-6


def test_dual_certificate_holds() -> None:
    h = hinge(N, C, 10.0)
    result = embed_order(VIEWS, h, tol=1e-6, max_passes=80)
    assert result.converged
    assert 0 <= result.gap <= 1e-6
    assert result.objective == pytest.approx(result.history[-1])
    assert all(np.diff(result.history) <= 0)
    L = h.laplacian(result.multipliers)
    L = L if isinstance(L, np.ndarray) else L.toarray()
    for Phi, A in zip(VIEWS, result.parts, strict=True):
        S = np.eye(Phi.shape[1]) - Phi.T @ L @ Phi
        assert eigh(S, eigvals_only=True)[0] >= -1e-3
        assert np.linalg.norm(S @ A) <= 1e-2
    G = np.hstack([Phi @ A for Phi, A in zip(VIEWS, result.parts, strict=True)])
    t = h.short(G)
    assert result.multipliers[t < -1e-3].max(initial=0.0) < 1e-7
    assert_allclose(result.multipliers[t > 1e-3], h.weight[t > 1e-3], atol=1e-6)


def test_scale_centring_duplicates_and_order_of_kernels() -> None:
    s, beta = 3.0, 10.0
    first = VIEWS[:1]
    assert optimum([np.sqrt(s) * first[0]], beta) == pytest.approx(
        optimum(first, s * beta) / s, 1e-5
    )
    H = np.eye(N) - 1 / N
    centred = factor(H @ KERNELS[0] @ H)
    assert optimum([centred], beta) == pytest.approx(optimum(first, beta), rel=1e-5)
    assert optimum([first[0], first[0]], beta) == pytest.approx(optimum(first, beta), rel=1e-5)
    both = optimum(VIEWS, beta)
    assert optimum(VIEWS[::-1], beta) == pytest.approx(both, rel=1e-5)
    assert both <= min(optimum([Phi], beta) for Phi in VIEWS) + 1e-6


def test_the_optimum_is_concave_and_rises_with_beta() -> None:
    betas = np.array([1.0, 4.0, 7.0, 10.0])
    values = np.array([optimum(VIEWS, beta) for beta in betas])
    assert (np.diff(values) > -1e-6).all()
    assert (np.diff(values, 2) < 1e-5).all()
    assert (values <= betas + 1e-9).all()


def test_beta_below_critical_gives_one_point() -> None:
    critical = critical_beta(VIEWS, hinge(N, C, 1.0))
    assert optimum(VIEWS, 0.999 * critical) == pytest.approx(0.999 * critical)
    assert optimum(VIEWS, 1.1 * critical) < 1.1 * critical
    assert critical_beta(VIEWS, hinge(N, [(0, 1, 1, 0)], 1.0)) == np.inf
    same = weigh_columns(np.ones((N, 3)), hinge(N, C, 10.0))
    assert same.critical_beta == np.inf
    assert not same.weights.any()


def test_listed_pairs_equal_all_pairs() -> None:
    rng = np.random.default_rng(1)
    n = 60
    small = np.vstack([rng.integers(0, n, (40, 4)), [[3, 3, 4, 5], [1, 2, 1, 2]]])
    many = np.vstack([small, rng.integers(0, n, (2_000, 4))])
    weight = np.zeros(len(many))
    weight[: len(small)] = rng.random(len(small))
    G, a = rng.normal(size=(n, 3)), rng.random(len(small))
    listed, dense = Hinge(n, small, weight[: len(small)]), Hinge(n, many, weight)
    assert not isinstance(listed.laplacian(a), np.ndarray)
    assert_allclose(listed.short(G), dense.short(G)[: len(small)])
    padded = np.concatenate([a, np.zeros(2_000)])
    assert_allclose(listed.laplacian(a).toarray(), dense.laplacian(padded), atol=1e-12)
    i, j, k, q = small.T
    pull = a @ (((G[k] - G[q]) ** 2).sum(1) - ((G[i] - G[j]) ** 2).sum(1))
    assert np.trace(G.T @ (listed.laplacian(a) @ G)) == pytest.approx(pull)


def test_fixed_rank_improves_the_convex_optimum() -> None:
    h, Phi = hinge(N, C, 30.0), VIEWS[0]
    result = embed_order([Phi], h)
    start = canonical_axes(Phi, result.parts[0], 2)
    before = float((start**2).sum()) + h.loss(h.short(Phi @ start))
    flat, objective = embed_on_axes(Phi, h, start, multipliers=result.multipliers)
    assert flat.shape == start.shape
    assert result.bound <= objective < before
    assert objective == pytest.approx(float((flat**2).sum()) + h.loss(h.short(Phi @ flat)))


def test_canonical_axes_preserve_distances() -> None:
    rng = np.random.default_rng(2)
    Phi, A = rng.normal(size=(20, 5)), rng.normal(size=(5, 3))
    turned = canonical_axes(Phi, A)
    G, H = Phi @ A, Phi @ turned
    assert_allclose(G @ G.T, H @ H.T, atol=1e-9)
    covariance = np.cov(H.T)
    assert_allclose(covariance, np.diag(np.diag(covariance)), atol=1e-9)
    assert (np.diff(np.diag(covariance)) < 0).all()
    assert canonical_axes(Phi, A, 5).shape == (5, 5)
    assert not canonical_axes(Phi, A[:, :0], 2).any()
