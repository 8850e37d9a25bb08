"""Multiple kernel preserving embedding, against its formulas."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hetviz.core.kernels import mkpe_loops as kernels
from hetviz.core.kernels.mkpe import Descent, Domain, fit_mkpe, place_item, score_block
from hetviz.core.spectral.stiefel import random_frame
from hetviz.errors import Cancelled, ParameterError
from tests.gradcheck import gradient_error

SIZES = (11, 8, 6)


def tables(seed: int = 0, missing: float = 0.6) -> dict[tuple[int, int], Any]:
    """Scores of three domains, asymmetric within, with unknown ones."""
    rng = np.random.default_rng(seed)
    out = {}
    for d, n in enumerate(SIZES):
        for e in range(d, 3):
            S = rng.random((n, SIZES[e]))
            S[rng.random(S.shape) < missing] = np.nan
            out[d, e] = S
    return out


WEIGHTS = {(d, e): 0.1 if d == e else 1.0 + d for d in range(3) for e in range(d, 3)}


def blocks_of(result: dict[tuple[int, int], Any]) -> list[Any]:
    blocks = []
    for (d, e), S in result.items():
        i, j = np.nonzero(np.isfinite(S))
        blocks.append(score_block(d, e, S.shape, i, j, S[i, j], WEIGHTS[d, e]))
    return blocks


def plain_loss(result: dict[tuple[int, int], Any], places: list[Any], sigma: float) -> float:
    """The definition."""
    total = 0.0
    for (d, e), S in result.items():
        D = ((places[d][:, None] - places[e][None]) ** 2).sum(axis=2)
        is_known = np.isfinite(S)
        miss = (np.exp(-D / sigma**2) - S)[is_known]
        total += WEIGHTS[d, e] / is_known.sum() * float(miss @ miss)
    return total


def frames_of(sizes: tuple[int, ...], r: int = 2, seed: int = 1) -> list[Any]:
    rng = np.random.default_rng(seed)
    return [random_frame(n, r, rng) for n in sizes]


def test_exp_of_minus() -> None:
    x = np.concatenate([np.linspace(0.0, 39.9, 500), [0.0, 1e-12]])
    result = np.array([kernels.exp_of_minus(value) for value in x])
    np.testing.assert_allclose(result, np.exp(-x), rtol=2e-13)
    assert kernels.exp_of_minus(1e9) == pytest.approx(np.exp(-40.0))


@pytest.mark.parametrize("missing", [0.05, 0.6, 0.97])
def test_loss_equals_its_definition(missing: float) -> None:
    result = tables(missing=missing)
    frames = frames_of(SIZES)
    descent = Descent([Domain(n) for n in SIZES], blocks_of(result), frames, 0.7)
    assert descent.loss == pytest.approx(plain_loss(result, frames, 0.7), rel=1e-12)
    assert any(block.i is None for block in descent.blocks) == (missing < 0.97)


@pytest.mark.parametrize("missing", [0.05, 0.6, 0.97])
@pytest.mark.parametrize("parametric", [False, True])
def test_gradients(missing: float, parametric: bool) -> None:
    rng = np.random.default_rng(2)
    result = tables(missing=missing)
    inputs = [rng.normal(size=(n, 5)) if parametric else None for n in SIZES]
    domains = [Domain(n, X, 1.7) for n, X in zip(SIZES, inputs, strict=True)]
    frames = frames_of(tuple(domain.size for domain in domains), 3)
    descent = Descent(domains, blocks_of(result), frames, 1.3)

    def at(d: int, Q: Any) -> float:
        places = [domain.places(frame) for domain, frame in zip(domains, frames, strict=True)]
        places[d] = domains[d].places(Q)
        return plain_loss(result, places, 1.3)

    for d in range(3):
        assert gradient_error(lambda Q, d=d: at(d, Q), descent.gradient(d), frames[d]) < 1e-9
    places = [domain.places(frame) for domain, frame in zip(domains, frames, strict=True)]
    assert (
        gradient_error(
            lambda eta: plain_loss(result, places, float(np.exp(eta[0]))),
            np.array([descent.slope_in_eta()]),
            np.array([np.log(1.3)]),
        )
        < 1e-9
    )


@pytest.mark.parametrize("retraction", ["polar", "qr"])
def test_the_loss_never_rises_and_frames_stay_orthonormal(retraction: str) -> None:
    descent = Descent(
        [Domain(n) for n in SIZES], blocks_of(tables()), frames_of(SIZES), 1.0, retraction
    )
    for _ in range(60):
        descent.sweep()
    trace = np.array(descent.state.trace)
    assert len(trace) == 1 + 60 * 4
    assert (np.diff(trace) <= 0).all()
    assert trace[-1] < 0.5 * trace[0]
    for frame in descent.state.frames:
        np.testing.assert_allclose(frame.T @ frame, np.eye(2), atol=1e-12)
    inverse = descent.state.sigma**-2
    again = sum(
        block.loss(block.distances(descent.places[block.d], descent.places[block.e]), inverse)
        for block in descent.blocks
    )
    assert again == pytest.approx(descent.loss, rel=1e-12)


def test_loss_is_invariant_to_rotation() -> None:
    result, frames = tables(), frames_of(SIZES, 3)
    turn = random_frame(3, 3, np.random.default_rng(5))
    domains = [Domain(n) for n in SIZES]
    first = Descent(domains, blocks_of(result), frames, 0.9)
    two = Descent(domains, blocks_of(result), [Q @ turn for Q in frames], 0.9)
    assert first.loss == pytest.approx(two.loss, rel=1e-13)


def test_swapped_domains_and_transposed_scores_give_the_same_gradients() -> None:
    result, frames = tables(), frames_of(SIZES)
    order = (2, 1, 0)
    turned = {(order[e], order[d]): S.T for (d, e), S in result.items()}
    swapped = []
    for (d, e), S in turned.items():
        i, j = np.nonzero(np.isfinite(S))
        swapped.append(score_block(d, e, S.shape, i, j, S[i, j], WEIGHTS[order[e], order[d]]))
    first = Descent([Domain(n) for n in SIZES], blocks_of(result), frames, 0.9)
    two = Descent([Domain(SIZES[d]) for d in order], swapped, [frames[d] for d in order], 0.9)
    assert first.loss == pytest.approx(two.loss, rel=1e-13)
    for d in range(3):
        np.testing.assert_allclose(first.gradient(d), two.gradient(order[d]), atol=1e-14)


def test_descent_is_invariant_to_units() -> None:
    rng = np.random.default_rng(3)
    result = tables()
    inputs = [rng.normal(size=(n, 5)) for n in SIZES]
    frames = frames_of((5, 5, 5))
    traces = []
    for factor in (1.0, 8.0):
        domains = [Domain(n, factor * X) for n, X in zip(SIZES, inputs, strict=True)]
        descent = Descent(domains, blocks_of(result), frames, 2.0 * factor)
        for _ in range(20):
            descent.sweep()
        traces.append(descent.state.trace)
    np.testing.assert_allclose(traces[0], traces[1], rtol=1e-12)


def test_identity_inputs_equal_free_positions() -> None:
    result, frames = tables(), frames_of(SIZES)
    traces = []
    for domains in ([Domain(n) for n in SIZES], [Domain(n, np.eye(n)) for n in SIZES]):
        descent = Descent(domains, blocks_of(result), frames, 1.0)
        for _ in range(10):
            descent.sweep()
        traces.append(descent.state.trace)
    assert traces[0] == traces[1]


def test_two_items_reach_their_score_exactly() -> None:
    i, j = (part.ravel() for part in np.indices((2, 2)))
    block = score_block(0, 0, (2, 2), i, j, np.array([1.0, 0.3, 0.3, 1.0]), 1.0)
    descent = Descent([Domain(2)], [block], frames_of((2,), 1), 1.0)
    for _ in range(60):
        descent.sweep()
    assert descent.loss < 1e-25
    D = block.distances(descent.places[0], descent.places[0])
    assert np.exp(-D[0] / descent.state.sigma**2) == pytest.approx(0.3, abs=1e-10)


def test_weights_and_step_scale_inversely() -> None:
    result, frames = tables(), frames_of(SIZES)
    plain = Descent([Domain(n) for n in SIZES], blocks_of(result), frames, 1.0)
    double = []
    for (d, e), S in result.items():
        i, j = np.nonzero(np.isfinite(S))
        double.append(score_block(d, e, S.shape, i, j, S[i, j], 2 * WEIGHTS[d, e]))
    heavy = Descent([Domain(n) for n in SIZES], double, frames, 1.0, step=0.5)
    for _ in range(10):
        plain.sweep()
        heavy.sweep()
    np.testing.assert_allclose(heavy.state.trace, 2 * np.array(plain.state.trace), rtol=1e-9)
    np.testing.assert_allclose(heavy.places[0], plain.places[0], atol=1e-9)


def test_scores_of_one_reach_zero_loss() -> None:
    i, j = (part.ravel() for part in np.indices((6, 6)))
    block = score_block(0, 0, (6, 6), i, j, np.ones(36), 1.0)
    descent = Descent([Domain(6)], [block], frames_of((6,)), 1.0)
    for _ in range(80):
        descent.sweep()
    assert descent.loss < 1e-6 < descent.state.trace[0]
    assert descent.state.sigma > 10.0


def test_repeated_and_mirrored_scores_are_merged() -> None:
    i, j, s = (
        np.array([0, 1, 2, 0, 2]),
        np.array([1, 0, 2, 1, 3]),
        np.array([0.2, 0.6, 0.5, 1.0, 0.1]),
    )
    block = score_block(0, 0, (4, 4), i, j, s, 1.0)
    E = frames_of((4,))[0]
    D = ((E[i] - E[j]) ** 2).sum(axis=1)
    expected = float(((np.exp(-D) - s) ** 2).mean())
    assert block.loss(block.distances(E, E), 1.0) == pytest.approx(expected, rel=1e-13)


def test_fit_returns_the_best_start() -> None:
    domains, blocks = [Domain(n) for n in SIZES], blocks_of(tables())
    result = fit_mkpe(domains, blocks, 2, np.random.default_rng(0), n_init=5)
    assert len(result.finals) == 5
    assert result.history[-1] == min(result.finals) < max(result.finals)
    fixed = fit_mkpe(domains, blocks, 2, np.random.default_rng(0), n_iter=7)
    assert len(fixed.history) == 8
    assert fixed.reason == "maximum of 7 sweeps reached"


def test_cancel_returns_partial_result() -> None:
    def stop(fraction: float, message: str = "", **figures: Any) -> None:
        if fraction > 0.3:
            raise Cancelled

    with pytest.raises(Cancelled) as caught:
        fit_mkpe(
            [Domain(n) for n in SIZES],
            blocks_of(tables()),
            2,
            np.random.default_rng(0),
            n_iter=10,
            progress=stop,
        )
    assert len(caught.value.partial.history) == 5
    assert "stopped" in caught.value.partial.reason


def test_invalid_input_raises() -> None:
    blocks = blocks_of(tables())
    domains = [Domain(n) for n in SIZES]
    with pytest.raises(ParameterError, match="no known score"):
        Descent([*domains, Domain(3)], blocks, frames_of((*SIZES, 3)), 1.0)
    with pytest.raises(ParameterError, match="no known score"):
        score_block(0, 1, (2, 2), np.empty(0, int), np.empty(0, int), np.empty(0), 1.0)


def test_place_item_reaches_its_scores() -> None:
    F = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    truth = np.array([0.4, 0.3])
    s = np.exp(-((F - truth) ** 2).sum(axis=1))
    result = place_item([(F, s, np.ones(3))], 1.0, F)
    np.testing.assert_allclose(result, truth, atol=1e-3)
