"""Multi-view graph embedding: gradients, exact cases, sampled pairs against all pairs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from hetviz.core.prediction import pmvge
from hetviz.core.prediction.pmvge import Net, Objective, make_link_block, train
from hetviz.core.spectral.stiefel import random_frame
from hetviz.errors import Cancelled, ParameterError
from tests.gradcheck import gradient_error


def links(n: int, m: int, seed: int = 0, density: float = 0.4) -> Any:
    rng = np.random.default_rng(seed)
    return rng.random((n, m)) * (rng.random((n, m)) < density)


def objective(similarity: str = "distance", hidden: int = 4, **options: Any) -> Objective:
    rng = np.random.default_rng(0)
    nets = [
        Net(rng.normal(size=(7, 3)), 7, hidden, 2),
        Net(None, 5, hidden, 2),
        Net(sp.csr_array(links(6, 4)), 6, hidden, 2),
    ]
    blocks = [make_link_block(0, 1, links(7, 5)), make_link_block(0, 0, links(7, 7), 0.3)]
    blocks += [make_link_block(1, 2, links(5, 6), 2.0)]
    return Objective(nets, blocks, similarity, **options)


def point(model: Objective, seed: int = 1) -> Any:
    flat = model.start(np.random.default_rng(seed))
    return flat + 0.1 * np.random.default_rng(seed).normal(size=flat.shape)


@pytest.mark.parametrize(
    ("similarity", "hidden", "piece"),
    [
        ("inner", 0, 2_000_000),
        ("inner", 4, 2_000_000),
        ("distance", 0, 2_000_000),
        ("distance", 4, 2_000_000),
        ("inner", 4, 10),
        ("distance", 0, 10),
    ],
)
def test_gradients(
    similarity: str, hidden: int, piece: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pmvge, "_BLOCK_ENTRIES", piece)
    model = objective(similarity, hidden)
    flat = point(model)
    assert gradient_error(lambda at: model.exact(at)[0], model.exact(flat)[1], flat) < 1e-8
    edges = [np.arange(block.P.nnz) for block in model.blocks]

    def drawn(at: Any) -> Any:
        return model.drawn(at, np.random.default_rng(3), 20, edges)

    assert gradient_error(lambda at: drawn(at)[0], drawn(flat)[1], flat) < 1e-8


@pytest.mark.parametrize("similarity", ["inner", "distance"])
def test_sampled_loss_is_unbiased(similarity: str) -> None:
    model = objective(similarity, decay=0.0)
    # pairs (i, i) are drawn too but do not count: leave the block within out of the comparison
    model.blocks = [model.blocks[0], model.blocks[2]]
    flat = point(model)[: model._cuts[-1]]
    flat = np.concatenate([flat, np.zeros(2)])
    edges = [np.arange(block.P.nnz) for block in model.blocks]
    loss, gradient = model.drawn(flat, np.random.default_rng(0), 100_000, edges)
    assert loss == pytest.approx(model.exact(flat)[0], rel=0.01)
    np.testing.assert_allclose(gradient, model.exact(flat)[1], atol=0.02)


def test_loss_of_zero_weights() -> None:
    model = Objective(
        [Net(None, 4, 0, 2), Net(None, 3, 0, 2)], [make_link_block(0, 1, links(4, 3))]
    )
    assert model.exact(np.zeros(7 * 2 + 4 + 1))[0] == pytest.approx(6.0 * np.log(2.0))


def test_full_rank_reaches_optimal_logits() -> None:
    W = links(4, 3, density=1.0) + 0.1
    nets = [Net(None, 4, 0, 4), Net(None, 3, 0, 4)]
    model = Objective(nets, [make_link_block(0, 1, W)], "inner", decay=0.0)
    result = train(model, np.random.default_rng(0), 3000)
    Y, Z = model.outputs(result.flat)
    block = model.blocks[0]
    best = np.log(block.P.toarray() / (5.0 * np.multiply.outer(block.u, block.v)))
    np.testing.assert_allclose(model.logits(Y, Z, float(result.flat[-1])), best, atol=2e-3)


def test_negative_pairs_exclude_the_item_itself() -> None:
    block = make_link_block(0, 0, links(6, 6))
    M = np.multiply.outer(block.u, block.v)
    np.fill_diagonal(M, 0.0)
    assert M.sum() == pytest.approx(1.0)
    assert block.P.diagonal().sum() == 0.0
    assert abs(block.P - block.P.T).max() == 0.0


def test_distance_without_bias_has_a_loss_bound() -> None:
    model = objective("distance", bias=False, decay=0.0, negatives=0)
    assert model.exact(point(model))[0] >= np.log(2.0) * (1.0 + 0.3 + 2.0)


@pytest.mark.parametrize("similarity", ["inner", "distance"])
def test_loss_is_invariant_to_rotation_and_shift(similarity: str) -> None:
    model = objective(similarity, 4, decay=0.0)
    flat = point(model)
    turn = random_frame(2, 2, np.random.default_rng(5))
    moved = flat.copy()
    weights, _ = model.split(moved)
    shift = 3.0 if similarity == "distance" else 0.0
    for net, part in zip(model.nets, weights, strict=True):
        parts = net.split(part)
        parts[2][:] = parts[2] @ turn
        parts[3][:] = parts[3] @ turn + shift
    assert model.exact(moved)[0] == pytest.approx(model.exact(flat)[0], rel=1e-12)


def test_the_scale_of_links_does_not_matter() -> None:
    first, two = make_link_block(0, 1, links(7, 5)), make_link_block(0, 1, 9.0 * links(7, 5))
    np.testing.assert_allclose(first.P.toarray(), two.P.toarray(), rtol=1e-14)
    np.testing.assert_allclose(np.outer(first.u, first.v), np.outer(two.u, two.v), rtol=1e-13)


def test_outputs_follow_the_order_of_items() -> None:
    rng = np.random.default_rng(2)
    X, W, order = rng.normal(size=(8, 3)), links(8, 5), rng.permutation(8)
    outputs = []
    for rows in (np.arange(8), order):
        model = Objective(
            [Net(X[rows], 8, 4, 2), Net(None, 5, 4, 2)], [make_link_block(0, 1, W[rows])]
        )
        outputs.append(model.outputs(train(model, np.random.default_rng(0), 5).flat)[0])
    np.testing.assert_allclose(outputs[1], outputs[0][order], atol=1e-6)


@pytest.mark.parametrize("exact", [True, False])
def test_training_lowers_the_loss_and_finds_planted_groups(exact: bool) -> None:
    group, mine = np.arange(40) % 4, np.arange(20) % 4
    W = (group[:, None] == mine[None]).astype(float)
    X = np.eye(4)[group] + 0.1 * np.random.default_rng(0).normal(size=(40, 4))
    model = Objective([Net(X, 40, 8, 2), Net(None, 20, 8, 2)], [make_link_block(0, 1, W)])
    result = train(model, np.random.default_rng(0), 100 if exact else 20, exact=exact)
    Y, Z = model.outputs(result.flat)
    D = ((Y[:, None] - Z[None]) ** 2).sum(axis=2)
    assert D[W > 0].mean() < 0.5 * D[W == 0].mean()
    assert result.history[-1] < result.history[0]
    if exact:
        assert (np.diff(result.history) <= 1e-12).all()


@pytest.mark.parametrize("exact", [True, False])
def test_cancel_returns_partial_result(exact: bool) -> None:
    heard: list[str] = []

    def stop(fraction: float, message: str = "", **figures: Any) -> None:
        heard.append(message)
        if len(heard) == 2:
            raise Cancelled

    with pytest.raises(Cancelled) as caught:
        train(objective(), np.random.default_rng(0), 50, exact=exact, progress=stop)
    assert caught.value.partial.reason.startswith("stopped")


def test_invalid_links_raise() -> None:
    for W in (np.zeros((2, 2)), np.array([[1.0, -1.0]])):
        with pytest.raises(ParameterError, match="0 or more, not all 0"):
            make_link_block(0, 1, W)


@pytest.mark.parametrize("hidden", [0, 5])
def test_reach_equals_the_derivative(hidden: int) -> None:
    rng = np.random.default_rng(4)
    axes = rng.normal(size=(4, 3))
    features = rng.normal(size=(20, 4))
    net = Net(features @ axes, 20, hidden, 2)
    flat = net.start(rng)
    h = 1e-6
    moved = [
        (net.forward(flat, (features + h * step) @ axes)[0] - net.forward(flat, net.X)[0]) / h
        for step in np.eye(4)
    ]
    expected = [np.sqrt((first**2).sum(axis=1).mean()) for first in moved]
    np.testing.assert_allclose(net.reach(flat, axes), expected, rtol=1e-5)


def test_random_positions_explain_nothing() -> None:
    rng = np.random.default_rng(5)
    W = sp.csr_array((rng.random((30, 20)) < 0.2).astype(float))
    model = Objective([Net(None, 30, 0, 2), Net(None, 20, 0, 2)], [make_link_block(0, 1, W, 2.0)])
    flat = np.zeros(sum(net.size for net in model.nets) + 1)
    flat[-1] = -np.log(model.negatives)
    ((loss, share),) = model.explained(flat, rng)
    assert share == pytest.approx(0.0, abs=1e-12)
    assert loss == pytest.approx(model.exact(flat)[0])
    # Of any places it is the loss itself, but for what was drawn.
    flat = model.start(rng)
    whole = model.exact(flat)[0] - 0.5 * model.decay * float(flat @ flat)
    assert model.explained(flat, rng)[0][0] == pytest.approx(whole, rel=0.02)
