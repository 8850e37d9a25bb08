"""Kernelised Bayesian matrix factorisation: its bound, its special cases, a planted problem."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.metrics import roc_auc_score

from hetviz.core.kernels.regression import Design
from hetviz.core.prediction.kbmf2k import (
    DomainLinks,
    Factorisation,
    Priors,
    infer,
    probability,
    product_variance,
    truncated_mean,
)
from hetviz.errors import Cancelled, ParameterError


def kernel(X: Any, Y: Any) -> Any:
    return np.exp(-0.5 * ((X[:, None] - Y[None]) ** 2).sum(axis=2) / X.shape[1])


def planted(n: int = 40, m: int = 30, missing: float = 0.0, seed: int = 0) -> tuple[Any, ...]:
    rng = np.random.default_rng(seed)
    X, Z = rng.normal(size=(n, 3)), rng.normal(size=(m, 3))
    F = X @ rng.normal(size=(3, 3)) @ Z.T
    Y = np.where(F > 0, 1.0, -1.0)
    Y[rng.random(Y.shape) < missing] = np.nan
    return kernel(X, X), kernel(Z, Z), Y, F


@pytest.mark.parametrize("likelihood", ["probit", "gaussian"])
@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("rank", [None, 12])
def test_the_evidence_never_falls(likelihood: str, missing: float, rank: int | None) -> None:
    K, L, Y, F = planted(missing=missing)
    data = Y if likelihood == "probit" else np.where(np.isnan(Y), np.nan, F)
    model = Factorisation(
        [Design(K, 40, rank), Design(L, 30, rank)],
        [DomainLinks(0, 1, data)],
        4,
        np.random.default_rng(0),
        likelihood,
    )
    history = np.array(infer(model, 60, tol=0.0).history)
    assert (np.diff(history) >= -1e-8 * np.abs(history[:-1])).all()
    assert history[-1] > history[0] + 10


def test_regression_equals_textbook_formula() -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(20, 5))
    precision, g = rng.random(20) + 0.5, rng.normal(size=20)
    low = X @ X.T
    for design, K in (
        (Design(kernel(X, X), 20), kernel(X, X)),
        (Design(low, 20, 5), low),
        (Design(None, 20), np.eye(20)),
    ):
        S = np.linalg.inv(np.diag(precision) + K.T @ K / 0.3)
        mean, variance, size = design.regress(precision, g, 0.3)
        np.testing.assert_allclose(mean, S @ K.T @ g / 0.3, atol=1e-9)
        np.testing.assert_allclose(variance, S.diagonal(), atol=1e-10)
        assert size == pytest.approx(np.linalg.slogdet(S)[1], abs=1e-8)
        expected = np.einsum("ij,jk,ik->i", K, S, K)
        np.testing.assert_allclose(design.spread(precision, 0.3, None), expected, atol=1e-8)
        np.testing.assert_allclose(design.times(np.eye(20)), K, atol=1e-10)
    np.testing.assert_allclose(Design(low, 20, 5).of_new(low[:3]), low[:3], atol=1e-10)


def test_truncated_mean() -> None:
    zero, first = np.zeros(1), np.ones(1)
    mean, _ = truncated_mean(zero, first, 0.0)
    assert mean[0] == pytest.approx(0.7978845608)
    mean, log_z = truncated_mean(zero, -first, 1.0)
    assert mean[0] == pytest.approx(-1.5251352761)
    assert log_z[0] == pytest.approx(norm.logcdf(-1.0))
    mean, _ = truncated_mean(np.array([-40.0]), first, 1.0)
    assert mean[0] == pytest.approx(1.02436, abs=1e-5)


def test_full_mask_equals_no_mask() -> None:
    K, L, Y, _ = planted()
    models = [
        Factorisation(
            [Design(K, 40), Design(L, 30)], [DomainLinks(0, 1, Y)], 3, np.random.default_rng(0)
        )
        for _ in range(2)
    ]
    models[1]._known[0] = np.ones(Y.shape, dtype=bool)
    bounds = [[model.sweep() for _ in range(8)] for model in models]
    np.testing.assert_allclose(bounds[0], bounds[1], rtol=1e-10)
    np.testing.assert_allclose(models[0].projections(0), models[1].projections(0), atol=1e-9)


def swap_start(model: Factorisation, other: Factorisation) -> None:
    """Give `other` the start of `model`, its two domains swapped."""
    for d in (0, 1):
        side, mine = other.sides[d], model.sides[1 - d]
        side.A, side.G = mine.A.copy(), mine.G.copy()
    other._F[0] = model._F[0].T.copy()


def test_transposed_labels_and_swapped_domains_give_transposed_scores() -> None:
    K, L, Y, _ = planted(missing=0.2)
    first = Factorisation(
        [Design(K, 40), Design(L, 30)], [DomainLinks(0, 1, Y)], 3, np.random.default_rng(0)
    )
    two = Factorisation(
        [Design(L, 30), Design(K, 40)], [DomainLinks(0, 1, Y.T)], 3, np.random.default_rng(1)
    )
    swap_start(first, two)
    for _ in range(10):
        first.sweep()
        for d in (1, 0):
            two.update_weights(d)
            two.update_factors(d)
        two.update_scores()
    scores = [model.projections(0) @ model.projections(1).T for model in (first, two)]
    np.testing.assert_allclose(scores[0], scores[1].T, atol=1e-8)


def test_scores_follow_the_order_of_rows() -> None:
    K, L, Y, _ = planted(missing=0.2)
    order = np.random.default_rng(4).permutation(40)
    first = Factorisation(
        [Design(K, 40), Design(L, 30)], [DomainLinks(0, 1, Y)], 3, np.random.default_rng(0)
    )
    two = Factorisation(
        [Design(K[np.ix_(order, order)], 40), Design(L, 30)],
        [DomainLinks(0, 1, Y[order])],
        3,
        np.random.default_rng(0),
    )
    two.sides[0].A, two.sides[0].G = first.sides[0].A[order], first.sides[0].G[order]
    two._F[0] = first._F[0][order]
    for _ in range(10):
        first.sweep()
        two.sweep()
    np.testing.assert_allclose(two.projections(0), first.projections(0)[order], atol=1e-8)


@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("rank", [None, 30])
def test_unseen_rows_of_a_planted_problem(missing: float, rank: int | None) -> None:
    K, L, Y, F = planted(80, 50, missing)
    old, new = slice(0, 70), slice(70, 80)
    designs = [Design(K[old, old], 70, rank), Design(L, 50, rank)]
    model = Factorisation(designs, [DomainLinks(0, 1, Y[old])], 5, np.random.default_rng(0))
    infer(model, 200)
    G = designs[0].of_new(K[new, old]) @ model.sides[0].A
    H = model.projections(1)
    assert roc_auc_score((F[new] > 0).ravel(), (G @ H.T).ravel()) > 0.95
    variance = product_variance(G, model.variances(0, K[new, old]), H, model.variances(1))
    p = probability(G @ H.T, variance, 1.0)
    assert (variance > 0).all()
    assert ((p >= 0) & (p <= 1)).all()
    sure = np.abs(p - 0.5) > 0.4
    assert ((p > 0.5) == (F[new] > 0))[sure].mean() > 0.95
    np.testing.assert_allclose(G @ H.T > 0, p > 0.5)


def test_three_domains_share_their_factors() -> None:
    K, L, Y, _ = planted()
    third = DomainLinks(1, 2, np.where(np.random.default_rng(2).random((30, 6)) < 0.5, 1.0, -1.0))
    designs = [Design(K, 40), Design(L, 30), Design(None, 6)]
    model = Factorisation(designs, [DomainLinks(0, 1, Y), third], 3, np.random.default_rng(0))
    history = infer(model, 40, tol=0.0).history
    assert (np.diff(history) >= -1e-8 * np.abs(history[:-1])).all()
    with pytest.raises(ParameterError, match="no links"):
        Factorisation(designs, [third], 3, np.random.default_rng(0))


def test_unknown_labels_do_not_matter() -> None:
    K, L, Y, _ = planted()
    Y[0, 0] = 0.0
    with pytest.raises(ParameterError, match="-1, 1, or unknown"):
        Factorisation(
            [Design(K, 40), Design(L, 30)], [DomainLinks(0, 1, Y)], 2, np.random.default_rng(0)
        )
    Y[0] = np.nan
    model = Factorisation(
        [Design(K, 40), Design(L, 30)], [DomainLinks(0, 1, Y)], 2, np.random.default_rng(0)
    )
    infer(model, 30)
    # a row without labels has the mean that its kernel gives it
    np.testing.assert_allclose(model.sides[0].G[0], model.projections(0)[0], atol=1e-8)


def test_infer_stops_on_convergence_and_cancel() -> None:
    K, L, Y, _ = planted()

    def model() -> Factorisation:
        return Factorisation(
            [Design(K, 40), Design(L, 30)],
            [DomainLinks(0, 1, Y)],
            2,
            np.random.default_rng(0),
            priors=Priors(margin=0.5),
        )

    result = infer(model(), 500, tol=1e-3)
    assert len(result.history) < 500
    assert "the evidence rose" in result.reason

    def stop(fraction: float, message: str = "", **figures: Any) -> None:
        if fraction >= 0.1:
            raise Cancelled

    with pytest.raises(Cancelled) as caught:
        infer(model(), 50, tol=0.0, progress=stop)
    assert len(caught.value.partial.history) == 5
