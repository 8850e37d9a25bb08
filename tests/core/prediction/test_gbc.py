"""Gradient boosting consensus: loss terms, weights and the objectives of LightGBM."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from hetviz.core.prediction import boosting as trees
from hetviz.core.prediction import gbc
from hetviz.core.prediction.boosting import LEARNERS, LINEAR, TREES, TreeSettings, make_booster
from hetviz.core.prediction.gbc import (
    LAM0,
    LAM1,
    GbcSettings,
    GbcSource,
    MarginAxes,
    choose_settings,
    fit_gbc,
    prior_of,
    probabilities,
    source_disagreement,
)
from hetviz.progress import ignore_progress
from tests.gradcheck import gradient_error

FAST = GbcSettings(n_rounds=12, lam0=1.0, lam1=0.0)
ALONE = replace(FAST, lam0=0.0, weights="equal")


def make_problem(
    n: int = 160, task: str = "classes", classes: int = 2, missing: float = 0.0, seed: int = 0
) -> tuple[list[GbcSource], np.ndarray, np.ndarray]:
    """Return two sources, labels of half the rows, and all labels."""
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(n, 3))
    score = Z[:, 0] + 0.3 * rng.normal(size=n)
    if task == gbc.NUMBER:
        whole = score[:, None]
    else:
        code = np.searchsorted(np.quantile(score, np.linspace(0, 1, classes + 1)[1:-1]), score)
        codes = np.array([1]) if classes == 2 else np.arange(classes)
        whole = np.where(code[:, None] == codes, 1.0, -1.0)
    sources = []
    for width in (4, 6):
        rows = np.flatnonzero(rng.random(n) >= missing)
        X = (Z @ rng.normal(size=(3, width)) + 0.2 * rng.normal(size=(n, width)))[rows]
        sources.append(GbcSource(X, rows))
    Y = whole.copy()
    Y[rng.random(n) < 0.5] = np.nan
    return sources, Y, whole


def ring(n: int) -> Any:
    """Return a graph that joins each row with the next."""
    i = np.arange(n)
    A = sp.csr_array((np.ones(n), (i, (i + 1) % n)), shape=(n, n))
    return sp.csr_array(A + A.T)


@pytest.mark.parametrize(
    ("losses", "weights"),
    [
        ([1.0, 2.0], [0.6180339887498949, 0.3819660112501051]),
        ([5.0, 10.0], [0.6180339887498949, 0.3819660112501051]),
        ([3.0, 3.0, 3.0], [1 / 3, 1 / 3, 1 / 3]),
        ([0.0, 1.0, 2.0], [1.0, 0.0, 0.0]),
        ([0.0, 1.0, 0.0], [0.5, 0.0, 0.5]),
        ([0.7], [1.0]),
        ([1.0, 1.0, 2.0], [np.sqrt(2) - 1, np.sqrt(2) - 1, 3 - 2 * np.sqrt(2)]),
        ([np.nan, np.nan], [0.5, 0.5]),
        ([2.0, np.nan], [2 / 3, 1 / 3]),
    ],
)
def test_weights_of_losses(losses: list[float], weights: list[float]) -> None:
    np.testing.assert_allclose(gbc.loss_weights(np.array(losses)), weights, atol=1e-10)


def test_a_source_with_less_loss_weighs_more() -> None:
    losses = np.array([0.4, 0.1, 0.9, 0.2])
    assert np.argsort(-gbc.loss_weights(losses)).tolist() == np.argsort(losses).tolist()


@pytest.mark.parametrize("task", [gbc.NUMBER, gbc.CLASSES])
@pytest.mark.parametrize("how", ["soft", "paper"])
def test_target_loss_slopes_are_derivatives(task: str, how: str) -> None:
    rng = np.random.default_rng(1)
    f, t = rng.normal(size=(2, 7, 3)) * 2
    y = rng.normal(size=f.shape) if task == gbc.NUMBER else np.sign(rng.normal(size=f.shape))
    g, h = gbc.label_slopes(task, f, y)
    assert gradient_error(lambda x: float(gbc.label_loss(task, x, y).sum()), g, f) < 1e-8
    assert gradient_error(lambda x: float(gbc.label_slopes(task, x, y)[0].sum()), h, f) < 1e-8
    result = gbc.TargetLoss(task, f, t, how)
    value: Callable[..., float] = lambda a, b: float(gbc.TargetLoss(task, a, b, how).value.sum())  # noqa: E731
    assert gradient_error(lambda x: value(x, t), result.slope, f) < 1e-8
    assert gradient_error(lambda x: value(f, x), result.target_slope, t) < 1e-8
    slope: Callable[..., float] = lambda a: float(gbc.TargetLoss(task, a, t, how).slope.sum())  # noqa: E731
    assert gradient_error(slope, result.curvature, f) < 1e-8


def test_soft_consensus_has_its_minimum_at_agreement() -> None:
    f = np.array([[1.0], [-2.0]])
    np.testing.assert_allclose(gbc.TargetLoss(gbc.CLASSES, f, f, "soft").slope, 0.0, atol=1e-15)
    np.testing.assert_allclose(gbc.TargetLoss(gbc.CLASSES, f, f, "soft").value, 0.0, atol=1e-15)
    paper = gbc.TargetLoss(gbc.CLASSES, np.ones((1, 1)), np.ones((1, 1)), "paper")
    np.testing.assert_allclose(paper.slope, -0.2689414213699951)


def test_consensus_slope_is_exact_for_numbers_although_the_mean_moves_too() -> None:
    rng = np.random.default_rng(2)
    w = np.array([0.5, 0.3, 0.2])
    rows = [np.arange(8), np.arange(2, 8), np.array([0, 3, 7])]
    f = [rng.normal(size=(len(here), 1)) for here in rows]

    def value(first: np.ndarray) -> float:
        margins = [first, f[1], f[2]]
        E = gbc.consensus(margins, rows, w, 8)
        return sum(
            float(a * ((m - E[r]) ** 2).sum()) for a, m, r in zip(w, margins, rows, strict=True)
        )

    E = gbc.consensus(f, rows, w, 8)
    slope = w[0] * gbc.TargetLoss(gbc.NUMBER, f[0], E[rows[0]]).slope
    assert gradient_error(value, slope, f[0]) < 1e-9
    assert np.isnan(gbc.consensus(f, rows, w, 9)[8]).all()


@pytest.mark.parametrize("task", [gbc.NUMBER, gbc.CLASSES])
@pytest.mark.parametrize("how", ["soft", "paper"])
def test_exact_connectivity_is_the_derivative_and_the_papers_leaves_the_neighbours(
    task: str, how: str
) -> None:
    rng = np.random.default_rng(3)
    f = rng.normal(size=(9, 2))
    means = [gbc.within_source(A, np.arange(9)) for A in (ring(9), ring(9)[:, ::-1])]
    S, joined = gbc.neighbour_mean(means, np.array([0.7, 0.3]))
    assert joined.all()
    np.testing.assert_allclose(np.asarray(S.sum(axis=1)), 1.0)
    active = np.arange(9) % 3 > 0

    def value(x: np.ndarray) -> float:
        return gbc.connectivity(task, x, S, active, how)[0]

    _, exact, _ = gbc.connectivity(task, f, S, active, how, "exact")
    _, paper, _ = gbc.connectivity(task, f, S, active, how, "paper")
    assert gradient_error(value, exact, f) < 1e-7
    assert gradient_error(value, paper, f) > 1e-2
    assert not paper[~active].any()


def test_row_without_neighbors_has_no_connectivity_loss() -> None:
    A = sp.csr_array(([1.0, 1.0], ([0, 1], [1, 0])), shape=(4, 4))
    S, joined = gbc.neighbour_mean([gbc.within_source(A, np.array([0, 1, 3]))], np.ones(1))
    assert joined.tolist() == [True, True, False]
    assert S.toarray().tolist() == [[0, 1, 0], [1, 0, 0], [0, 0, 0]]


def test_graph_of_similar_rows_has_less_loss() -> None:
    f = np.repeat([[0.0], [4.0]], 4, axis=0)
    same, other = np.arange(8).reshape(-1, 2).T, np.array([np.arange(4), np.arange(4, 8)])
    graphs = [
        sp.csr_array((np.ones(8), (np.r_[a, b], np.r_[b, a])), shape=(8, 8))
        for a, b in (same, other)
    ]
    graphs.append(sp.csr_array((8, 8)))
    losses = gbc.graph_losses(gbc.CLASSES, [f], [np.arange(8)], np.ones(1), graphs, 8)
    assert losses[0] == 0.0 < losses[1]
    assert np.isnan(losses[2])


@pytest.mark.parametrize(
    ("task", "classes", "objective"),
    [
        (gbc.CLASSES, 2, {"objective": "binary"}),
        (gbc.CLASSES, 4, {"objective": "multiclassova", "num_class": 4}),
        (gbc.NUMBER, 0, {"objective": "regression"}),
    ],
)
def test_single_source_equals_lightgbm(task: str, classes: int, objective: dict[str, Any]) -> None:
    import lightgbm

    sources, _, Y = make_problem(task=task, classes=classes)
    X = sources[0].X
    ours = fit_gbc([sources[0]], [], Y, task, replace(ALONE, n_rounds=40))
    y = Y[:, 0] if task == gbc.NUMBER else Y.argmax(axis=1) if classes > 2 else (Y[:, 0] + 1) / 2
    t = TreeSettings()
    theirs = lightgbm.train(
        objective
        | {
            "learning_rate": t.learning_rate,
            "num_leaves": t.n_leaves,
            "min_data_in_leaf": t.min_leaf,
            "max_bin": t.n_bins,
            "deterministic": True,
            "force_row_wise": True,
            "num_threads": 1,
            "verbosity": -1,
        },
        lightgbm.Dataset(X, y),
        40,
    )
    raw = theirs.predict(X, raw_score=True).reshape(len(X), -1)
    # the file format of its trees keeps single precision for a regression's start
    np.testing.assert_allclose(ours.joint, raw, atol=1e-12 if task == gbc.CLASSES else 1e-6)
    np.testing.assert_allclose(ours.prior, prior_of(task, Y))


def test_sparse_and_dense_features_give_the_same() -> None:
    sources, Y, _ = make_problem()
    thin = [replace(s, X=np.where(s.X > 0.5, s.X, 0.0)) for s in sources]
    sparse = [replace(s, X=sp.csr_array(s.X)) for s in thin]
    first, second = (fit_gbc(each, [], Y, gbc.CLASSES, FAST) for each in (thin, sparse))
    np.testing.assert_array_equal(first.joint, second.joint)


def test_missing_cells_carry_information() -> None:
    _, Y, whole = make_problem()
    reported = whole[:, 0] > 0
    X = np.where(reported, 1.0, np.nan)[:, None] * np.ones((1, 2))
    fitted = fit_gbc([GbcSource(X, np.arange(len(Y)))], [], Y, gbc.CLASSES, ALONE)
    assert ((fitted.joint[:, 0] > 0) == reported).all()


@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize(("task", "classes"), [("number", 0), ("classes", 2), ("classes", 3)])
def test_new_rows_with_equal_features_get_equal_margins(
    missing: float, task: str, classes: int
) -> None:
    sources, Y, _ = make_problem(task=task, classes=classes, missing=missing)
    fitted = fit_gbc(sources, [ring(len(Y))], Y, task, replace(FAST, lam1=0.1))
    margins = [fitted.margin(i, source.X) for i, source in enumerate(sources)]
    rows = [source.rows for source in sources]
    np.testing.assert_allclose(fitted.fuse(margins, rows, len(Y)), fitted.joint, atol=1e-13)
    lost = np.setdiff1d(np.arange(len(Y)), np.concatenate(rows))
    assert len(lost) > 0 or missing == 0.0
    np.testing.assert_array_equal(fitted.joint[lost], np.tile(fitted.prior, (len(lost), 1)))
    again = fit_gbc(sources, [ring(len(Y))], Y, task, replace(FAST, lam1=0.1))
    np.testing.assert_array_equal(again.joint, fitted.joint)
    np.testing.assert_array_equal(again.weights, fitted.weights)


def test_the_objective_falls_for_numbers_with_fixed_weights() -> None:
    sources, Y, _ = make_problem(task=gbc.NUMBER)
    settings = GbcSettings(n_rounds=30, lam0=1.0, lam1=0.0, weights="equal", alone=0)
    assert (np.diff(fit_gbc(sources, [], Y, gbc.NUMBER, settings).history) < 0).all()


def test_the_order_of_sources_does_not_matter_without_coupling() -> None:
    sources, Y, _ = make_problem(missing=0.2)
    settings = replace(FAST, lam0=0.0)
    first, two = (fit_gbc(each, [], Y, gbc.CLASSES, settings) for each in (sources, sources[::-1]))
    np.testing.assert_allclose(first.joint, two.joint, atol=1e-13)
    np.testing.assert_allclose(first.weights, two.weights[:, ::-1], atol=1e-13)


def test_a_source_given_twice_shares_its_weight() -> None:
    sources, Y, _ = make_problem()
    settings = replace(FAST, lam0=0.0)
    alone = fit_gbc([sources[0]], [], Y, gbc.CLASSES, settings)
    twice = fit_gbc([sources[0]] * 2, [], Y, gbc.CLASSES, settings)
    np.testing.assert_allclose(twice.weights, 0.5)
    np.testing.assert_allclose(twice.joint, alone.joint, atol=1e-13)
    three = fit_gbc([*sources, sources[0]], [], Y, gbc.CLASSES, settings)
    np.testing.assert_allclose(three.weights[:, 0], three.weights[:, 2])


def test_uncoupled_source_ignores_labels_of_other_rows() -> None:
    sources, Y, _ = make_problem(missing=0.3)
    elsewhere = np.setdiff1d(np.arange(len(Y)), sources[0].rows)
    fewer = Y.copy()
    fewer[elsewhere] = np.nan
    margins = [fit_gbc(sources, [], each, gbc.CLASSES, ALONE).margins[0] for each in (Y, fewer)]
    # the prior is that of all labels, so only the trees are compared
    trees_of = [
        m - prior_of(gbc.CLASSES, each) for m, each in zip(margins, (Y, fewer), strict=True)
    ]
    assert np.corrcoef(trees_of[0].ravel(), trees_of[1].ravel())[0, 1] > 0.99


def test_consensus_trains_a_source_without_labels() -> None:
    sources, Y, whole = make_problem(n=300)
    apart, near = (
        fit_gbc(sources, [], Y, gbc.CLASSES, replace(FAST, lam0=lam, n_rounds=40))
        for lam in (0.0, 3.0)
    )
    hidden = np.isnan(Y[:, 0])

    def gap(fitted: Any) -> float:
        return float(np.abs(fitted.margins[0] - fitted.margins[1])[hidden].mean())

    assert gap(near) < 0.8 * gap(apart)
    rows = np.flatnonzero(hidden)
    blind = [sources[0], GbcSource(sources[1].X[rows], rows)]
    taught = fit_gbc(blind, [], Y, gbc.CLASSES, replace(FAST, n_rounds=40))
    right = (taught.margins[1] > 0) == (whole[rows] > 0)
    assert right.mean() > 0.75
    assert taught.weights[-1][1] == pytest.approx(1 / 3)


def test_sources_learn_alone_before_they_are_coupled() -> None:
    sources, Y, _ = make_problem(missing=0.2)
    settings = replace(FAST, weights="equal", alone=4)
    seen: list[list[np.ndarray]] = []
    for lam0 in (0.0, 1.0):
        mine: list[np.ndarray] = []
        fit_gbc(
            sources,
            [],
            Y,
            gbc.CLASSES,
            replace(settings, lam0=lam0),
            watch=lambda _, E, mine=mine: bool(mine.append(E)),  # type: ignore[func-returns-value]
        )
        seen.append(mine)
    same = [np.array_equal(a, b) for a, b in zip(*seen, strict=True)]
    assert same == [True] * 4 + [False] * 8
    assert [replace(settings, n_rounds=n).n_alone for n in (1, 4, 100)] == [0, 2, 4]


def test_consensus_weights_sum_to_one() -> None:
    rows = [np.array([0, 1, 2]), np.array([1, 3]), np.array([2, 3])]
    total = np.zeros(5)
    voices = gbc.consensus_weights(rows, np.array([0.7, 0.0, 0.0]), 5)
    for here, voice in zip(rows, voices, strict=True):
        total[here] += voice
    np.testing.assert_allclose(total, [1, 1, 1, 1, 0])
    np.testing.assert_allclose(voices[1], [0.0, 0.5])


def test_sharpness_only_affects_classes() -> None:
    sure = []
    for task in (gbc.CLASSES, gbc.NUMBER):
        sources, Y, _ = make_problem(n=300, task=task)
        hidden = np.isnan(Y[:, 0])
        settings = replace(FAST, n_rounds=30)
        fits = [
            fit_gbc(sources, [], Y, task, replace(settings, sharpness=s)).joint[hidden]
            for s in (1.0, 2.0)
        ]
        sure.append([float(np.abs(joint).mean()) for joint in fits])
    assert sure[0][1] > 1.1 * sure[0][0]
    assert sure[1][1] == sure[1][0]


def test_consensus_beats_the_vote_where_sources_lack_rows() -> None:
    errors = np.zeros((3, 2))
    for seed in range(len(errors)):
        rng = np.random.default_rng(seed)
        code = rng.integers(0, 3, 400)
        sources = []
        for _ in range(4):
            rows = np.flatnonzero(rng.random(400) > 0.3)
            X = rng.normal(size=(3, 5))[code[rows]] + rng.normal(size=(len(rows), 5))
            sources.append(GbcSource(X, rows))
        Y = np.where(code[:, None] == np.arange(3), 1.0, -1.0)
        hidden = rng.random(400) > 0.15
        Y[hidden] = np.nan
        for place, lam0 in enumerate((0.3, 0.0)):
            settings = GbcSettings(n_rounds=40, lam0=lam0, lam1=0.0)
            joint = fit_gbc(sources, [], Y, gbc.CLASSES, settings).joint[hidden]
            errors[seed, place] = (joint.argmax(axis=1) != code[hidden]).mean()
    assert errors[:, 0].mean() < 0.95 * errors[:, 1].mean(), errors


def test_links_propagate_labels() -> None:
    rng = np.random.default_rng(0)
    n = 200
    side = np.arange(n) < n // 2
    i = np.r_[np.arange(99), np.arange(100, 199)]
    A = sp.csr_array((np.ones(198), (i, i + 1)), shape=(n, n))
    X = rng.normal(size=(n, 2)) + side[:, None] * 0.7
    Y = np.full((n, 1), np.nan)
    Y[::10, 0] = np.where(side[::10], 1.0, -1.0)
    source = GbcSource(X, np.arange(n))
    settings = GbcSettings(n_rounds=60, lam0=0.0, lam1=0.3, weights="equal")
    for how in ("paper", "exact"):
        linked = fit_gbc(
            [source], [sp.csr_array(A + A.T)], Y, gbc.CLASSES, replace(settings, connectivity=how)
        )
        plain = fit_gbc([source], [], Y, gbc.CLASSES, settings)
        S = gbc.within_source(sp.csr_array(A + A.T), np.arange(n))
        rough = [float(((f.joint - S @ f.joint) ** 2).mean()) for f in (linked, plain)]
        assert rough[0] < 0.8 * rough[1]


@pytest.mark.parametrize("weights", ["holdout", "training"])
def test_a_source_of_noise_loses_weight(weights: str) -> None:
    sources, Y, _ = make_problem(n=300)
    noise = GbcSource(np.random.default_rng(9).normal(size=(300, 5)), np.arange(300))
    fitted = fit_gbc([*sources, noise], [], Y, gbc.CLASSES, replace(FAST, weights=weights))
    assert fitted.weights[-1].argmin() == 2
    np.testing.assert_allclose(fitted.weights.sum(axis=1), 1.0)


def test_cross_validation_chooses_from_its_grids_and_stops_early() -> None:
    sources, Y, _ = make_problem(n=120)
    settings = choose_settings(
        sources, [ring(120)], Y, gbc.CLASSES, FAST, ["lam0", "lam1"], ignore_progress
    )
    assert settings.lam0 in LAM0
    assert settings.lam1 in LAM1
    assert settings.n_rounds == FAST.n_rounds
    # labels that nothing tells: more rounds soon do harm
    coin = np.where(np.random.default_rng(4).random(Y.shape) < 0.5, 1.0, -1.0)
    early = choose_settings(sources, [], coin, gbc.CLASSES, ALONE, ["early"], ignore_progress)
    assert early.n_rounds < 50
    retained = choose_settings(
        sources, [], Y, gbc.CLASSES, replace(FAST, lam1=0.7), ["lam1"], ignore_progress
    )
    assert retained.lam1 == 0.7


@pytest.mark.parametrize("links", [False, True])
def test_folds_share_only_uncoupled_rounds(links: bool) -> None:
    sources, Y, _ = make_problem(n=100, classes=3)
    graphs = [ring(100)] if links else []
    is_known = np.flatnonzero(np.isfinite(Y).all(axis=1))
    hidden = is_known[::3]
    how = GbcSettings(n_rounds=14, alone=6)
    fold = gbc._Fold(sources, graphs, Y, gbc.CLASSES, how, hidden, ignore_progress, None)
    seen = Y.copy()
    seen[hidden] = np.nan
    for lam0, lam1 in ((0.0, 0.0), (1.0, 0.0), (0.0, 0.3), (0.3, 0.1), (0.0, 0.0)):
        tried, losses = replace(how, lam0=lam0, lam1=lam1), list[float]()

        def watch(_: int, E: np.ndarray, losses: list[float] = losses) -> bool:
            losses.append(float(gbc.label_loss(gbc.CLASSES, E[hidden], Y[hidden]).mean()))
            return False

        fit_gbc(sources, graphs, seen, gbc.CLASSES, tried, ignore_progress, watch)
        np.testing.assert_allclose(fold.curve(tried), losses, rtol=1e-12)


def test_one_linear_step_is_ridge_regression() -> None:
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(60, 5)) * [1, 2, 3, 4, 5], rng.normal(size=(60, 2))
    X[3, 2] = np.nan
    learn = np.arange(45)
    model = make_booster(X, learn, 2, TreeSettings(learning_rate=1.0, learner=LINEAR))
    model.step(-y[learn], np.ones((45, 2)))
    Z = (X - np.nanmean(X, axis=0)) / np.nanstd(X, axis=0)
    Z[3, 2] = 0.0
    alpha = float((np.linalg.svd(Z[learn], compute_uv=False) ** 2).mean())
    B = np.linalg.solve(Z[learn].T @ Z[learn] + alpha * np.eye(5), Z[learn].T)
    expected = y[learn].mean(axis=0) + Z @ B @ (y[learn] - y[learn].mean(axis=0))
    np.testing.assert_allclose(model.scores, expected, atol=1e-12)
    np.testing.assert_allclose(model.predict(X), model.scores, atol=1e-12)


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("sparse", [False, True])
def test_learners_predict_their_training_rows(learner: str, sparse: bool) -> None:
    sources, Y, whole = make_problem(n=300, classes=3)
    if sparse:
        sources = [GbcSource(sp.csr_array(np.maximum(s.X, 0.0)), s.rows) for s in sources]
    how = replace(FAST, learner=learner, line_search=True)
    fitted = fit_gbc(sources, [ring(300)], Y, gbc.CLASSES, how)
    hidden = np.isnan(Y[:, 0])
    right = fitted.joint.argmax(axis=1) == whole.argmax(axis=1)
    guess = np.bincount(whole.argmax(axis=1)).max() / 300
    assert right[hidden].mean() > guess + 0.2
    np.testing.assert_allclose(fitted.margin(0, sources[0].X), fitted.margins[0], atol=1e-12)
    again = fit_gbc(sources, [ring(300)], Y, gbc.CLASSES, how)
    np.testing.assert_array_equal(again.joint, fitted.joint)


def test_auto_learner_is_chosen_by_held_out_labels() -> None:
    rng = np.random.default_rng(5)
    X, Z = rng.normal(size=(500, 8)), rng.normal(size=(500, 4))
    crossed = np.sign(Z[:, 0] * Z[:, 1])
    # each source tells one of two labels, and the other source knows nothing of it
    for y, place, best in ((X @ np.ones(8), 0, {LINEAR}), (crossed, 1, {TREES, "forest"})):
        Y = y[:, None] / y.std()
        Y[250:] = np.nan
        sources = [GbcSource(X, np.arange(500)), GbcSource(Z, np.arange(500))]
        how = replace(FAST, learner="auto")
        state = gbc._Training.start(sources, [], Y, gbc.NUMBER, how, ignore_progress)
        assert state.learners[place] in best
        assert state.held_out is not None
        assert state.held_out[-1].argmin() == place


@pytest.mark.parametrize("task", ["classes", gbc.NUMBER])
def test_line_search_minimises_the_objective(task: str) -> None:
    sources, Y, _ = make_problem(task=task)
    how = replace(FAST, line_search=True, alone=0, weights="equal")
    state = gbc._Training.start(sources, [], Y, task, how, ignore_progress)
    state.round(0)
    state.E = state._consensus()
    rough = np.random.default_rng(0).uniform(0.0, 0.1, state.f[0].shape)
    change = -state._slopes(0)[0] * rough
    at, length = state.f[0], state._length(0, change)

    def value(times: float) -> float:
        state.f[0] = at + times * change / how.trees.learning_rate
        result = state._value(0)
        state.f[0] = at
        return result

    assert value(length) <= min(value(times) for times in np.linspace(0, 20, 401)) + 1e-4


def test_plain_trees_replace_missing_lightgbm(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import builtins

    real = builtins.__import__

    def broken(name: str, *others: Any) -> Any:
        if name == "lightgbm":
            raise OSError("libgomp.so.1: cannot open shared object file")
        return real(name, *others)

    monkeypatch.setattr(builtins, "__import__", broken)
    sources, Y, whole = make_problem(n=200)
    fitted = fit_gbc(sources, [], Y, gbc.CLASSES, replace(FAST, n_rounds=30))
    hidden = np.isnan(Y[:, 0])
    assert ((fitted.joint > 0) == (whole > 0))[hidden].mean() > 0.75
    margins = [fitted.margin(i, source.X) for i, source in enumerate(sources)]
    np.testing.assert_allclose(margins[0], fitted.margins[0])
    monkeypatch.setattr(trees, "_MAX_PLAIN_TREE_CELLS", 10)
    with pytest.raises(trees.HetvizError, match="libgomp1"):
        make_booster(sources[0].X, np.arange(5), 1, TreeSettings())


def test_probabilities_sum_to_one_and_spread_needs_two_sources() -> None:
    rng = np.random.default_rng(0)
    for k in (1, 3):
        p = probabilities(rng.normal(size=(6, k)) * 5)
        assert p.shape == (6, max(k, 2))
        np.testing.assert_allclose(p.sum(axis=1), 1.0)
    f = [np.array([[1.0], [3.0]]), np.array([[3.0]])]
    rows = [np.array([0, 1]), np.array([0])]
    joint = np.array([[2.0], [3.0]])
    result = source_disagreement(gbc.NUMBER, joint, f, rows, np.array([0.5, 0.5]))
    assert result[0] == pytest.approx(1.0)
    assert np.isnan(result[1])


@pytest.mark.parametrize("k", [1, 2, 5])
def test_margin_axes_have_given_width(k: int) -> None:
    rng = np.random.default_rng(0)
    margins, rows = [rng.normal(size=(7, 1)), rng.normal(size=(4, 1))], [np.arange(7), np.arange(4)]
    joint = gbc.consensus(margins, rows, np.array([0.6, 0.4]), 7)
    Y = MarginAxes.fit(joint, margins, rows, k)(joint, margins, rows)
    assert Y.shape == (7, k)
    np.testing.assert_allclose(np.abs(Y[:, 0]), np.abs(joint[:, 0]))
    assert (np.ptp(Y, axis=0) > 0).sum() == min(k, 2)
