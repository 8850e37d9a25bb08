"""Co-occurrence data embedding: gradients, exact cases, invariances of the positions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hetviz.core.prediction import code
from hetviz.core.prediction.code import MODELS, fit_code, make_cooccurrence_block, objective
from hetviz.core.spectral.stiefel import random_frame
from hetviz.errors import Cancelled, DataError, ParameterError
from tests.gradcheck import gradient_error


def counts(n: int = 7, m: int = 5, seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    P = rng.random((n, m)) * (rng.random((n, m)) < 0.7)
    P[0, 0] = 1.0
    return P


def plain(P: Any, A: Any, B: Any, model: str, within: bool = False) -> float:
    """The definition, with all pairs."""
    P = P / P.sum()
    px, py = P.sum(axis=1), P.sum(axis=0)
    L = -((A[:, None] - B[None]) ** 2).sum(axis=2)
    with np.errstate(divide="ignore"):
        if model == "MM":
            L = L + np.log(px)[:, None] + np.log(py)[None]
        if model == "CM":
            L = L + np.log(py)[None]
        if model == "MC":
            L = L + np.log(px)[:, None]
    if within:
        np.fill_diagonal(L, -np.inf)
    axis = {"U": None, "M": None, "C": 1}[model[0]]
    if model[1] == "C":
        axis = 0
    E = np.exp(L)
    with np.errstate(divide="ignore"):
        log_p = np.log(E) - np.log(E.sum(axis=axis, keepdims=True))
    seen = P > 0
    return float((P[seen] * log_p[seen]).sum())


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("piece", [2_000_000, 12])
def test_likelihood_equals_its_definition(
    model: str, piece: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(code, "_BLOCK_ENTRIES", piece)
    rng = np.random.default_rng(1)
    A, B = rng.normal(size=(7, 2)), rng.normal(size=(5, 2))
    P = counts()
    P[3] = 0.0
    block = make_cooccurrence_block(0, 1, 3.0 * P, model)
    assert block.value(A, B)[0] == pytest.approx(plain(P, A, B, model), rel=1e-12)
    W = np.triu(counts(6, 6), 1)
    W = W + W.T
    A = rng.normal(size=(6, 2))
    value = make_cooccurrence_block(0, 0, W, model).value(A, A)[0]
    assert value == pytest.approx(plain(W, A, A, model, within=True), rel=1e-12)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("piece", [2_000_000, 12])
def test_gradients(model: str, piece: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(code, "_BLOCK_ENTRIES", piece)
    rng = np.random.default_rng(2)
    places = [rng.normal(size=(7, 2)), rng.normal(size=(5, 2))]
    blocks = [
        make_cooccurrence_block(0, 1, counts(), model),
        make_cooccurrence_block(0, 0, counts(7, 7), model, 0.1),
        make_cooccurrence_block(1, 1, counts(5, 5), model, 0.3),
    ]
    _, gradients = objective(blocks, places)
    for d in (0, 1):

        def at(Y: Any, d: int = d) -> float:
            moved = list(places)
            moved[d] = Y
            return objective(blocks, moved)[0]

        assert gradient_error(at, gradients[d], places[d]) < 1e-9
    np.testing.assert_allclose(sum(part.sum(axis=0) for part in gradients), 0.0, atol=1e-14)


@pytest.mark.parametrize("model", MODELS)
def test_likelihood_is_invariant_to_rotation_and_shift(model: str) -> None:
    rng = np.random.default_rng(3)
    A, B = rng.normal(size=(7, 2)), rng.normal(size=(5, 2))
    turn = random_frame(2, 2, rng)
    block = make_cooccurrence_block(0, 1, counts(), model)
    first = block.value(A, B)[0]
    assert block.value(A @ turn + 4.0, B @ turn + 4.0)[0] == pytest.approx(first, rel=1e-12)
    assert make_cooccurrence_block(0, 1, 7.0 * counts(), model).value(A, B)[0] == pytest.approx(
        first, rel=1e-13
    )


def test_two_by_two_table() -> None:
    block = make_cooccurrence_block(0, 1, [[0.4, 0.1], [0.1, 0.4]], "UU")
    result = fit_code([2, 2], [block], 1, np.random.default_rng(0))
    A, B = result.places
    D = (A - B.T) ** 2
    assert result.values[0] == pytest.approx(-1.1935496041, abs=1e-9)
    assert D[0, 1] - D[0, 0] == pytest.approx(np.log(4.0), abs=1e-3)


def test_fit_recovers_a_true_model() -> None:
    rng = np.random.default_rng(4)
    A, B = 0.7 * rng.normal(size=(8, 2)), 0.7 * rng.normal(size=(6, 2))
    P = np.exp(-((A[:, None] - B[None]) ** 2).sum(axis=2))
    P /= P.sum()
    result = fit_code([8, 6], [make_cooccurrence_block(0, 1, P, "UU")], 2, np.random.default_rng(0))
    maximum = float((P * np.log(P)).sum())
    assert result.values[0] <= maximum + 1e-12
    assert result.values[0] == pytest.approx(maximum, abs=1e-5)


def test_independent_items_coincide() -> None:
    px, py = np.array([0.5, 0.3, 0.2]), np.array([0.6, 0.4])
    block = make_cooccurrence_block(0, 1, np.outer(px, py), "MM")
    result = fit_code([3, 2], [block], 2, np.random.default_rng(0))
    expected = float(px @ np.log(px) + py @ np.log(py))
    assert result.values[0] == pytest.approx(expected, abs=1e-6)
    D = ((result.places[0][:, None] - result.places[1][None]) ** 2).sum(axis=2)
    assert np.ptp(D) < 0.02


def test_conditional_model_is_bounded_by_entropy() -> None:
    P = counts()
    P = P / P.sum()
    result = fit_code(
        [7, 5], [make_cooccurrence_block(0, 1, P, "CM")], 2, np.random.default_rng(0), n_init=2
    )
    px = P.sum(axis=1, keepdims=True)
    seen = P > 0
    assert result.values[0] <= float((P * np.log(np.where(seen, P / px, 1.0))).sum()) + 1e-12


def test_fit_returns_the_best_start() -> None:
    blocks = [make_cooccurrence_block(0, 1, counts(20, 15))]
    result = fit_code([20, 15], blocks, 2, np.random.default_rng(0), n_init=4)
    assert len(result.finals) == 4
    assert result.history[-1] == pytest.approx(min(result.finals))
    assert (np.diff(result.history) <= 1e-12).all()


def test_cancel_returns_partial_result() -> None:
    def stop(fraction: float, message: str = "", **figures: Any) -> None:
        if "iteration 4" in message:
            raise Cancelled

    with pytest.raises(Cancelled) as caught:
        fit_code(
            [7, 5],
            [make_cooccurrence_block(0, 1, counts())],
            2,
            np.random.default_rng(0),
            progress=stop,
        )
    assert len(caught.value.partial.history) == 5


def test_invalid_input_raises() -> None:
    with pytest.raises(DataError, match="cannot be negative"):
        make_cooccurrence_block(0, 1, [[1.0, -1.0]])
    with pytest.raises(ParameterError, match="all 0"):
        make_cooccurrence_block(0, 1, np.zeros((2, 2)))
    with pytest.raises(ParameterError, match="one of MM"):
        make_cooccurrence_block(0, 1, np.ones((2, 2)), "XX")
