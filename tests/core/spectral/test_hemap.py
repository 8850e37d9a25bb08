"""HeMap's eigenproblem, the selection of sources, and the bridge between outputs."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from hetviz.core.prediction.transfer import bridge, quantile_bins, select_sources
from hetviz.core.spectral.hemap import hemap, thin_factor


def problem(seed=0, n=40, widths=(5, 4), clusters=(3, 4)):
    rng = np.random.default_rng(seed)
    T, S = (rng.normal(size=(n, m)) for m in widths)
    T, S = (X - X.mean(axis=0) for X in (T, S))
    C = [np.eye(c)[rng.integers(0, c, n)] for c in clusters]
    return T, S, C[0], C[1]


def printed(T, S, C_T, C_S, beta, theta):
    """Return the matrix of equations 5.14 and 5.15."""
    TT, SS = T @ T.T, S @ S.T
    more = (1 - theta) * (beta + 2 * theta)
    first = 2 * theta**2 * TT + beta**2 / 2 * SS + more * C_T @ C_T.T
    last = 2 * theta**2 * SS + beta**2 / 2 * TT + more * C_S @ C_S.T
    crossed = beta * theta * (TT + SS)
    return np.block([[first, crossed], [crossed, last]])


def objective(T, S, C_T, C_S, B_T, B_S, P_T, P_S, beta, theta):
    def miss(X, B, P):
        return ((X - B @ P) ** 2).sum()

    clusters = miss(C_T, B_T, B_T.T @ C_T) + miss(C_S, B_S, B_S.T @ C_S)
    own_part = miss(T, B_T, P_T) + miss(S, B_S, P_S)
    return (
        theta * own_part
        + (1 - theta) * clusters
        + beta / 2 * (miss(T, B_S, P_T) + miss(S, B_T, P_S))
    )


@pytest.mark.parametrize(("beta", "theta"), [(1.0, 0.5), (0.3, 0.8), (2.0, 1.0), (0.0, 0.5)])
def test_thin_factor_squares_to_the_printed_matrix(beta, theta):
    T, S, C_T, C_S = problem()
    A = printed(T, S, C_T, C_S, beta, theta)
    F = thin_factor(T, S, C_T, C_S, beta, theta)
    assert_allclose(F @ F.T, A, atol=1e-12)
    values = np.linalg.eigvalsh(A)[::-1]
    assert values[-1] > -1e-10 * values[0]
    assert (values > 1e-10 * values[0]).sum() <= 5 + 4 + 3 + 4
    result = hemap(T, S, 3, C_T=C_T, C_S=C_S, beta=beta, theta=theta)
    assert_allclose(result.values, values[:3], rtol=1e-10)
    B = np.vstack([result.B_T, result.B_S])
    assert_allclose(A @ B, B * result.values, atol=1e-9)
    assert_allclose(B.T @ B, np.eye(3), atol=1e-10)


def test_two_rows_each():
    T = np.array([[1.0], [-1.0]])
    result = hemap(T, 2 * T, 1)
    assert_allclose(result.values, [(25 + np.sqrt(481)) / 2])
    assert_allclose(result.B_T[:, 0], [0.3839386, -0.3839386], atol=1e-7)
    assert_allclose(result.B_S[:, 0], [0.5937939, -0.5937939], atol=1e-7)


def test_more_features_than_rows():
    T, S, C_T, C_S = problem(n=10, widths=(30, 25))
    A = printed(T, S, C_T, C_S, 1.0, 0.5)
    result = hemap(T, S, 4, C_T=C_T, C_S=C_S)
    assert_allclose(result.values, np.linalg.eigvalsh(A)[::-1][:4], rtol=1e-10)


def test_objective_of_equal_blocks_is_a_constant_less_the_trace():
    """Equation 5.16, whose constant lacks the clusters as printed."""
    T, S, C_T, C_S = problem()
    rng = np.random.default_rng(1)
    beta, theta = 0.7, 0.4
    B_T, B_S = (np.linalg.qr(rng.normal(size=(40, 2)))[0] for _ in range(2))
    P_T = (2 * theta * B_T.T @ T + beta * B_S.T @ T) / (beta + 2 * theta)
    P_S = (2 * theta * B_S.T @ S + beta * B_T.T @ S) / (beta + 2 * theta)
    B = np.vstack([B_T, B_S])
    trace = np.trace(B.T @ printed(T, S, C_T, C_S, beta, theta) @ B) / (beta + 2 * theta)
    constant = (theta + beta / 2) * ((T**2).sum() + (S**2).sum())
    constant += (1 - theta) * ((C_T**2).sum() + (C_S**2).sum())
    whole = objective(T, S, C_T, C_S, B_T, B_S, P_T, P_S, beta, theta)
    assert_allclose(whole, constant - trace, rtol=1e-12)


@pytest.mark.parametrize("theta", [0.5, 1.0])
def test_block_constraint_is_kept_monotone_and_bounded(theta):
    T, S, C_T, C_S = problem(n=100)
    clusters = {} if theta == 1.0 else {"C_T": C_T, "C_S": C_S}
    result = hemap(T, S, 2, theta=theta, constraint="block", **clusters)
    history = np.array(result.history)
    assert (np.diff(history) <= 1e-9 * history[0]).all()
    assert result.bound <= history[-1] < history[0]
    for B in (result.B_T, result.B_S):
        assert_allclose(B.T @ B, np.eye(2), atol=1e-10)
    none = np.zeros((100, 0))
    last = objective(
        T,
        S,
        clusters.get("C_T", none),
        clusters.get("C_S", none),
        result.B_T,
        result.B_S,
        result.P_T,
        result.P_S,
        1.0,
        theta,
    )
    assert_allclose(last, history[-1], rtol=1e-10)
    rng = np.random.default_rng(0)
    B = [np.linalg.qr(rng.normal(size=(100, 2)))[0] for _ in range(2)]
    P_T = (2 * theta * B[0].T + B[1].T) @ T / (1 + 2 * theta)
    P_S = (2 * theta * B[1].T + B[0].T) @ S / (1 + 2 * theta)
    chance = objective(
        T, S, clusters.get("C_T", none), clusters.get("C_S", none), *B, P_T, P_S, 1.0, theta
    )
    assert history[-1] < chance


def test_beta_moves_maps_from_unrelated_to_equal():
    T, S, C_T, _ = problem()
    for theta in (0.5, 1.0):
        C = {} if theta == 1.0 else {"C_T": C_T, "C_S": C_T}
        equal = hemap(T, S, 2, beta=2 * theta, theta=theta, **C)
        assert_allclose(equal.B_T, equal.B_S, atol=1e-10)
        apart = hemap(T, S, 2, beta=0.0, theta=theta)
        energy = [(B**2).sum(axis=0) for B in (apart.B_T, apart.B_S)]
        assert_allclose(np.minimum(*energy), 0.0, atol=1e-12)


def test_without_weight_on_clusters_it_is_the_linear_map():
    T, S, C_T, C_S = problem()
    linear, weightless = hemap(T, S, 2), hemap(T, S, 2, C_T=C_T, C_S=C_S, theta=1.0)
    assert_allclose(weightless.values, linear.values)
    assert_allclose(weightless.B_T, linear.B_T, atol=1e-10)


def test_order_of_rows_matters_for_each_alone_and_not_for_both():
    T, S, *_ = problem()
    order = np.random.default_rng(2).permutation(40)
    before = hemap(T, S, 2)
    both = hemap(T[order], S[order], 2)
    assert_allclose(both.B_T, before.B_T[order], atol=1e-10)
    first = hemap(T, S[order], 2)
    assert np.abs(first.values - before.values).max() > 0.01 * before.values[0]


@pytest.mark.parametrize("constraint", ["joint", "block"])
def test_swapping_target_and_source_swaps_their_maps(constraint):
    T, S, C_T, C_S = problem()
    before = hemap(T, S, 2, C_T=C_T, C_S=C_S, constraint=constraint)
    after = hemap(S, T, 2, C_T=C_S, C_S=C_T, constraint=constraint)
    assert_allclose(after.B_T, before.B_S, atol=1e-6)
    assert_allclose(after.B_S, before.B_T, atol=1e-6)


# What may be transferred ------------------------------------------------------------------------


def test_select_sources_takes_equal_clouds():
    B = np.random.default_rng(0).normal(size=(200, 2))
    result = select_sources(B, B.copy())
    assert result.decision == "accept"
    assert result.rows.tolist() == list(range(200))
    assert result.divergence == pytest.approx(0.0, abs=1e-12)
    assert result.printed == pytest.approx(0.0, abs=1e-12)


def test_select_sources_rejects_distant_clouds():
    rng = np.random.default_rng(1)
    result = select_sources(rng.normal(size=(150, 2)), 50.0 + rng.normal(size=(120, 2)))
    assert result.decision == "too_risky"
    assert result.fraction == 0.0
    assert result.rows.size == 0
    assert result.divergence > 10 * result.chance


def test_select_sources_takes_only_the_mixed_part():
    rng = np.random.default_rng(2)
    target = rng.normal(size=(200, 2))
    near, far = rng.normal(size=(40, 2)), 30.0 + rng.normal(size=(160, 2))
    result = select_sources(np.r_[target, target[:40] - 30.0], np.r_[target[:40] - 30.0, near, far])
    assert set(result.rows.tolist()) <= set(range(80))
    assert result.decision == "caution"
    assert 0.1 <= result.fraction < 0.3


def test_selection_does_not_depend_on_units_and_keeps_its_seed():
    rng = np.random.default_rng(3)
    T, S = rng.normal(size=(100, 2)), rng.normal(size=(90, 2)) + np.array([1.0, 0.0])
    before, again, scaled = (
        select_sources(a, b, 5) for a, b in ((T, S), (T, S), (1e3 * T, 1e3 * S))
    )
    assert before.rows.tolist() == again.rows.tolist() == scaled.rows.tolist()
    assert before.chance == again.chance
    assert before.divergence >= 0.0


@pytest.mark.parametrize("rounding", [1e-16, 1e-14, 1e-11])
def test_selection_does_not_depend_on_rounding_where_no_direction_leads(rounding):
    rng = np.random.default_rng(6)
    X = rng.normal(size=(240, 3))
    both = np.linalg.qr(X - X.mean(axis=0))[0]
    plain = select_sources(both[:120], both[120:])
    moved = both * (1 + rounding * rng.normal(size=both.shape))
    result = select_sources(moved[:120], moved[120:])
    assert result.decision == plain.decision
    assert result.rows.tolist() == plain.rows.tolist()
    assert result.target_leaf.tolist() == plain.target_leaf.tolist()


def test_select_sources_of_equal_rows():
    result = select_sources(np.zeros((30, 1)), np.zeros((60, 1)))
    assert result.decision == "accept"
    assert len(result.rows) == 60


def test_bridge_between_classes():
    result = bridge(np.array([[0.9, 0.1], [0.2, 0.8]]), np.array([0, 0, 1]), np.eye(3))
    assert_allclose(result, [[0.45, 0.45, 0.1], [0.1, 0.1, 0.8]])
    rng = np.random.default_rng(4)
    p_v, outputs = rng.dirichlet(np.ones(4), 7), rng.dirichlet(np.ones(3), 20)
    # class 3 has no source row, so it says what all of them say
    v = rng.integers(0, 3, 20)
    assert_allclose(bridge(p_v, v, outputs).sum(axis=1), 1.0)
    sure = bridge(np.eye(4), v, outputs)
    assert_allclose(sure[3], outputs.mean(axis=0))
    assert_allclose(sure[1], outputs[v == 1].mean(axis=0))


def test_bridge_between_values():
    values = np.random.default_rng(5).normal(size=1000)
    bins = quantile_bins(values)
    assert np.bincount(bins).tolist() == [100] * 10
    assert (np.diff(bins[np.argsort(values)]) >= 0).all()
    outputs = (3.0 * values + 1.0)[:, None]
    result = bridge(np.eye(10), bins, outputs)
    assert (np.diff(result[:, 0]) > 0).all()
    assert quantile_bins(np.ones(5)).tolist() == [1] * 5
