"""Kronecker ridge against the plain system, walks, the best inner products, and the stack."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import expit

from hetviz.core.prediction.link_ridge import (
    KroneckerRidge,
    ScoreScale,
    ScoreStack,
    Spectrum,
    _BestPairs,
    best_products,
    has_exclusive_rows,
    largest,
    profile_kernel,
    thin_factor,
    walk_matrix,
    walk_scores,
)

RNG = np.random.default_rng(0)
Y = sp.csr_array((RNG.random((7, 5)) < 0.3).astype(float))


def kernel(n: int) -> np.ndarray:
    X = RNG.normal(size=(n, 3))
    return np.exp(-0.5 * ((X[:, None] - X[None]) ** 2).sum(axis=2))


def test_two_sided_ridge_equals_one_regression_after_the_other() -> None:
    K, L, ridge = kernel(7), kernel(5), 0.7
    scores = KroneckerRidge.of(Y, Spectrum.of_kernel(K), Spectrum.of_kernel(L)).two_sided_scores(
        ridge
    )
    rows = K @ np.linalg.solve(K + ridge * np.eye(7), Y.toarray())
    expected = np.linalg.solve(L + ridge * np.eye(5), rows.T).T @ L
    np.testing.assert_allclose(scores.rows(np.arange(7)), expected, atol=1e-8)
    i, j = np.array([0, 3]), np.array([4, 1])
    np.testing.assert_allclose(scores.pairs(i, j), expected[i, j], atol=1e-8)


def test_kronecker_ridge_equals_the_full_system() -> None:
    K, L, ridge = kernel(7), kernel(5), 0.7
    solved = KroneckerRidge.of(Y, Spectrum.of_kernel(K), Spectrum.of_kernel(L))
    scores, dual = solved.scores(ridge), solved.weights(ridge)
    whole = np.kron(K, L)
    weights = np.linalg.solve(whole + ridge * np.eye(35), Y.toarray().ravel())
    np.testing.assert_allclose(dual.rows(np.arange(7)).ravel(), weights, atol=1e-9)
    np.testing.assert_allclose(scores.rows(np.arange(7)).ravel(), whole @ weights, atol=1e-9)
    i, j = np.array([0, 6, 3]), np.array([4, 0, 2])
    np.testing.assert_allclose(scores.pairs(i, j), scores.rows(i)[[0, 1, 2], j])


def test_spectrum_of_factor_equals_spectrum_of_kernel() -> None:
    F = RNG.normal(size=(9, 4))
    result = Spectrum.of_factor(F)
    np.testing.assert_allclose(result.features @ result.features.T, F @ F.T, atol=1e-9)
    X = sp.csr_array(RNG.random((30, 12)) * (RNG.random((30, 12)) < 0.4))
    thin = thin_factor(X, 11)
    U, s, _ = np.linalg.svd(X.toarray(), full_matrices=False)
    near = (U[:, :11] * s[:11] ** 2) @ U[:, :11].T
    np.testing.assert_allclose(thin @ thin.T, near, atol=1e-3)


def test_profile_kernel_of_links() -> None:
    profiles = sp.csr_array(np.array([[1.0, 1, 0], [1, 1, 0], [0, 0, 1]]))
    K = profile_kernel(profiles)
    assert K[0, 1] == pytest.approx(1.0)
    assert K[0, 2] == pytest.approx(np.exp(-3 / (5 / 3)))


def test_walks_sum_powers_of_the_scaled_graph() -> None:
    W = sp.csr_array(np.array([[0.0, 1, 1, 0], [1, 0, 0, 0], [1, 0, 0, 1], [0, 0, 1, 0]]))
    T = walk_matrix(W)
    plain = sum(0.5**k * np.linalg.matrix_power(T.toarray(), k) for k in (1, 2, 3))
    result = walk_scores(T, np.array([3, 1]), slice(0, 3), 3, 0.5)
    np.testing.assert_allclose(result, plain[[3, 1]][:, :3], atol=1e-12)


def test_best_products_equal_the_full_table(monkeypatch: pytest.MonkeyPatch) -> None:
    A, B = RNG.normal(size=(40, 3)), RNG.normal(size=(30, 3))
    monkeypatch.setattr("hetviz.core.prediction.link_ridge._BLOCK_ENTRIES", 100)
    i, j = best_products(A, B, np.arange(5, 40), 12)
    S = A[5:] @ B.T
    assert sorted(np.sort(S, axis=None)[-12:]) == pytest.approx(sorted((A @ B.T)[i, j]))


def test_best_products_exclude_known_pairs() -> None:
    A, B = RNG.normal(size=(20, 3)), RNG.normal(size=(15, 3))
    S = A @ B.T
    is_known = np.sort(np.argsort(-S, axis=None)[:7])
    i, j = best_products(A, B, np.arange(20), 5, is_known)
    assert sorted(i * 15 + j) == sorted(np.argsort(-S, axis=None)[7:12])


def test_best_products_by_cells_have_high_recall(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(8)
    centres = rng.normal(size=(30, 12))
    A = centres[rng.integers(0, 30, 900)] + 0.2 * rng.normal(size=(900, 12))
    B = centres[rng.integers(0, 30, 800)] + 0.2 * rng.normal(size=(800, 12))
    exact = set(np.argsort(-(A @ B.T), axis=None)[:300].tolist())
    looked_at = []
    take = _BestPairs.add

    def counted(self: _BestPairs, rows: np.ndarray, columns: np.ndarray, S: np.ndarray) -> None:
        looked_at.append(S.size)
        take(self, rows, columns, S)

    monkeypatch.setattr("hetviz.core.prediction.link_ridge._MAX_PAIRS_EXACT", 30_000)
    monkeypatch.setattr("hetviz.core.prediction.link_ridge._BestPairs.add", counted)
    i, j = best_products(A, B, np.arange(900), 300)
    assert sum(looked_at) < 45_000
    assert len(exact & set((i * 800 + j).tolist())) > 270
    again = best_products(A, B, np.arange(900), 300)
    np.testing.assert_array_equal(again, (i, j))


def test_thin_factor_of_large_matrices() -> None:
    rng = np.random.default_rng(5)
    base = rng.random((1_300, 6)) @ rng.random((6, 1_200))
    X = sp.csr_array(base * (rng.random((1_300, 1_200)) < 0.3))
    F = thin_factor(X, 5)
    values = np.linalg.svd(X.toarray(), compute_uv=False)
    result = np.sqrt(np.linalg.eigvalsh(F.T @ F))[::-1]
    assert result[0] == pytest.approx(values[0], rel=1e-6)
    # the others are hardly larger than those that follow them
    np.testing.assert_allclose(result, values[:5], rtol=0.1)
    np.testing.assert_array_equal(F, thin_factor(X, 5))


def test_stack_weights_informative_scores() -> None:
    rng = np.random.default_rng(1)
    y = (rng.random(4_000) < 0.2).astype(float)
    X = np.column_stack([y + rng.normal(size=4_000), rng.normal(size=4_000), -y])
    counts = np.where(y > 0, 1.0, 10.0)
    stack = ScoreStack.fit(("good", "noise", "against"), X, y, counts)
    assert stack.weights[0] > 0.8
    assert stack.weights[1] < 0.1
    assert stack.weights[2] == 0.0
    p = stack.probability(dict(zip(stack.names, X.T, strict=True)))
    assert np.average(p, weights=counts) == pytest.approx(np.average(y, weights=counts), rel=1e-3)
    free = ScoreStack.fit(("good", "noise", "against"), X, y, counts, free=("against",))
    assert free.weights[2] < -1.0


def test_score_stack_with_unknown_links_gives_probabilities_of_all_links() -> None:
    rng = np.random.default_rng(4)
    x = rng.normal(size=20_000)
    is_link = rng.random(len(x)) < expit(2 * x - 1)
    is_known = is_link & (rng.random(len(x)) < 0.4)
    arguments = (("score",), x[:, None], is_known.astype(float), np.ones(len(x)))
    top = x > 1.5
    for share, expected in ((0.4, is_link[top].mean()), (1.0, is_known[top].mean())):
        p = ScoreStack.fit(*arguments, labelled_share=share).probability({"score": x})
        assert p[top].mean() == pytest.approx(expected, abs=0.04 if share < 1 else 0.2)
    stack = ScoreStack.fit(*arguments, labelled_share=0.4)
    assert stack.weights[0] == pytest.approx(2.0, abs=0.2)
    assert stack.intercept == pytest.approx(-1.0, abs=0.15)


def test_score_scale_is_scale_invariant() -> None:
    scores = RNG.random(1_000)
    np.testing.assert_allclose(
        ScoreScale.of(scores)(scores), ScoreScale.of(7 * scores + 3)(7 * scores + 3)
    )


def test_exclusive_rows_need_significance() -> None:
    n = 40
    assert has_exclusive_rows(sp.csr_array(np.eye(n)))
    assert not has_exclusive_rows(sp.csr_array(np.eye(n)[:, :5]))
    twice = np.eye(n)
    twice[3, 4] = 1
    assert not has_exclusive_rows(sp.csr_array(twice))


@pytest.mark.parametrize("count", [1, 7, 40, 200])
def test_largest_equals_stable_sort(count: int) -> None:
    rng = np.random.default_rng(3)
    values = rng.integers(0, 9, 120).astype(float)
    values[rng.integers(0, 120, 10)] = -np.inf
    expected = np.argsort(-values, kind="stable")[:count]
    np.testing.assert_array_equal(largest(values, count), expected)
