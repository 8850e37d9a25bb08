"""Scores judged on hidden links, and the settings and weights that find most of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, logit
from sklearn.metrics import average_precision_score

from hetviz._types import Bools, Floats, Ints, Sparse
from hetviz.core.prediction.link_ridge import ScoreScale, ScoreStack
from hetviz.data import HeteroData
from hetviz.runs.predict.link_fitting import (
    FittedScores,
    LinkProblem,
    data_with_links,
    fit_quietly,
    fit_scores,
    model_scores,
    ridge_name,
)
from hetviz.runs.predict.link_settings import (
    ALL,
    AXES_CHOSEN,
    LINKS_OF_SOURCE,
    LINKS_OF_TARGET,
    MIXED,
    SETTINGS,
)


@dataclass(frozen=True, eq=False)
class _SampledPairs:
    """Sampled pairs with hidden links; `counts` is how many candidates each represents."""

    i: Ints
    j: Ints
    is_link: Bools
    counts: Floats


@dataclass(frozen=True, eq=False)
class _HiddenTest:
    """Pairs with hidden links, and the scores of a fit that did not see these."""

    pairs: _SampledPairs
    scores: Mapping[str, Floats]
    is_cold: Bools
    scales: Mapping[str, ScoreScale]

    def take(self, mask: Bools) -> _HiddenTest:
        """Return the test on some of its pairs."""
        return _HiddenTest(
            _SampledPairs(*(part[mask] for part in vars(self.pairs).values())),
            {name: S[mask] for name, S in self.scores.items()},
            self.is_cold[mask],
            self.scales,
        )

    def average_precision(self, scores: Floats) -> float:
        """Return how well scores of the pairs find the hidden links."""
        return _average_precision(self.pairs, scores)


def choose_axes(
    data: HeteroData,
    key: str,
    source: str,
    target: str,
    params: Mapping[str, object] | None = None,
    random_state: int = 0,
) -> int:
    """Return the number of axes of a method that finds most hidden links: 2, 5, 10 or 20.

    `key`: key of a method with its own scores, such as "kbmf2k", "pmvge" or "mkpe". `params`:
    parameters of the method, except its axes.

    Uses average precision on a hidden fifth of the links; the fewest of equals. Costs four fits.
    """
    problem = LinkProblem(data, source, target, random_state, SETTINGS)
    if problem.n_links < SETTINGS.min_links:
        return SETTINGS.axes[0]
    return best_axes(problem, key, dict(params or {}))


def with_chosen_axes(
    data: HeteroData,
    key: str,
    source: str,
    target: str,
    params: Mapping[str, object],
    random_state: int,
) -> dict[str, object]:
    """Return parameters of a method with the best number of axes, unless they give one."""
    if key not in AXES_CHOSEN or "n_components" in params:
        return dict(params)
    axes = choose_axes(data, key, source, target, params, random_state)
    return {**params, "n_components": axes}


def best_axes(problem: LinkProblem, key: str, params: Mapping[str, object]) -> int:
    """Return the number of axes with which a method finds most hidden links."""
    i, j, pairs = _hide_links(problem, problem.random_state)
    remaining = data_with_links(problem, problem.without(i, j))
    precision_by_axes: dict[int, float] = {}
    for axes in problem.settings.axes:
        model = fit_quietly(remaining, key, {**params, "n_components": axes}, problem.random_state)
        if model is None:
            continue
        rows, at = np.unique(pairs.i, return_inverse=True)
        S = model_scores(problem.data, model, problem.source, problem.target, rows)
        precision_by_axes[axes] = _average_precision(pairs, S[at, pairs.j])
    return (
        max(precision_by_axes, key=lambda axes: (precision_by_axes[axes], -axes))
        if precision_by_axes
        else problem.settings.axes[0]
    )


def _hide_links(problem: LinkProblem, seed: int) -> tuple[Ints, Ints, _SampledPairs]:
    """Sample links to hide, and pairs to judge: these and pairs without a link."""
    rng = np.random.default_rng((seed, 17))
    i, j = problem.links()
    hidden = np.sort(
        rng.permutation(len(i))[: max(1, round(problem.settings.hidden_share * len(i)))]
    )
    return i[hidden], j[hidden], _judged_pairs(problem, i[hidden], j[hidden], rng)


def _judged_pairs(
    problem: LinkProblem, i: Ints, j: Ints, rng: np.random.Generator, rows: Ints | None = None
) -> _SampledPairs:
    (n, m), settings = problem.shape, problem.settings
    if rows is None:
        rows = np.arange(n)
        if n > settings.max_judged_rows:
            rows = np.sort(rng.choice(n, settings.max_judged_rows, replace=False))
    if problem.within:
        i, j = np.concatenate([i, j]), np.concatenate([j, i])
    in_rows = np.isin(i, rows)
    i, j = i[in_rows], j[in_rows]
    if len(i) > settings.max_judged_links:
        sampled_links = np.sort(rng.permutation(len(i))[: settings.max_judged_links])
        i, j = i[sampled_links], j[sampled_links]
    size = len(rows) * m
    count = min(size, settings.max_judged_pairs + len(i))
    sampled = (
        rng.choice(size, count, replace=False)
        if size < 50_000_000
        else np.unique(rng.integers(0, size, count))
    )
    p, q = rows[sampled // m], sampled % m
    is_unknown = np.asarray(problem.Y[p, q]).ravel() == 0
    if problem.within:
        is_unknown &= p != q
    candidates = size - (problem.Y[rows].nnz if len(rows) < n else problem.Y.nnz)
    p, q = p[is_unknown], q[is_unknown]
    weight = max(1.0, candidates / max(len(p), 1))
    return _SampledPairs(
        np.concatenate([i, p]),
        np.concatenate([j, q]),
        np.arange(len(i) + len(p)) < len(i),
        np.concatenate([np.ones(len(i)), np.full(len(p), weight)]),
    )


def judge_on_hidden_links(
    problem: LinkProblem, axes_of: Mapping[str, int], seed: int
) -> _HiddenTest:
    """Fit without a share of the links, and score these."""
    i, j, pairs = _hide_links(problem, seed)
    return _test_on(problem, problem.without(i, j), pairs, axes_of)


def judge_on_hidden_items(
    problem: LinkProblem, axes_of: Mapping[str, int], seed: int
) -> _HiddenTest | None:
    """Hide all links of a tenth of the linked items of each dataset."""
    rng = np.random.default_rng((seed, 23))
    i, j = problem.links()
    is_hidden = np.zeros(len(i), dtype=bool)
    rows = np.empty(0, np.int64)
    for ends in (i, j):
        linked = np.unique(ends)
        sampled = rng.permutation(linked)[: max(1, len(linked) // 10)]
        is_hidden |= np.isin(ends, sampled)
        if ends is i:
            rows = sampled
    if is_hidden.all() or (~is_hidden).sum() < problem.settings.min_links:
        return None
    # Other rows are needed for the hidden columns, at least as many as hidden rows.
    other_rows = rng.permutation(problem.shape[0])[
        : max(len(rows), min(problem.settings.max_judged_rows, problem.shape[0]))
    ]
    judged = np.unique(np.concatenate([rows, other_rows]))
    pairs = _judged_pairs(problem, i[is_hidden], j[is_hidden], rng, judged)
    return _test_on(problem, problem.without(i[is_hidden], j[is_hidden]), pairs, axes_of)


def _test_on(
    problem: LinkProblem, Y: Sparse, pairs: _SampledPairs, axes_of: Mapping[str, int]
) -> _HiddenTest:
    fit = fit_scores(problem, Y, axes_of)
    scores = fit.scores_of_pairs(pairs.i, pairs.j)
    not_link = ~pairs.is_link
    scales = {name: ScoreScale.of(S[not_link]) for name, S in scores.items()}
    cold = fit.is_cold(pairs.i, pairs.j)
    allowed = np.ones(len(cold), dtype=bool)
    if problem.once[0]:
        allowed &= fit.degrees[0][pairs.i] == 0
    if problem.once[1]:
        allowed &= fit.degrees[1][pairs.j] == 0
    # Items that may have one link and have it are no candidates.
    test = _HiddenTest(pairs, scores, cold, scales)
    return test.take(allowed) if any(problem.once) else test


def add_scales(fit: FittedScores) -> FittedScores:
    """Return fitted scores with their scales, from a sample of pairs."""
    rng = np.random.default_rng(fit.problem.random_state)
    no_rows = np.empty(0, np.int64)
    pairs = _judged_pairs(fit.problem, no_rows, no_rows, rng)
    scores = fit.scores_of_pairs(pairs.i, pairs.j)
    return replace(fit, scales={name: ScoreScale.of(S) for name, S in scores.items()})


def best_ridges(fit: FittedScores, tests: Sequence[_HiddenTest]) -> dict[str, float]:
    """Return the strength of each ridge that finds most hidden links; 1 without hidden links."""
    chosen = {}
    for name in fit.ridges:
        precision = {
            ridge: float(
                np.mean([t.average_precision(t.scores[ridge_name(name, ridge)]) for t in tests])
            )
            for ridge in fit.ridges[name]
            if tests
        }
        chosen[name] = max(precision, key=lambda ridge: precision[ridge]) if precision else 1.0
    return chosen


def keep_chosen_ridges(test: _HiddenTest, fit: FittedScores) -> _HiddenTest:
    """Keep the chosen ridges under their plain names, and scale all scores."""
    plain = {
        ridge_name(name, ridge): (name, ridge)
        for name, by_ridge in fit.ridges.items()
        for ridge in by_ridge
    }
    scores: dict[str, Floats] = {}
    for key, S in test.scores.items():
        name, ridge = plain.get(key, (key, None))
        if ridge is None or fit.chosen[name] == ridge:
            scores[name] = test.scales[key](S)
    return replace(test, scores=scores)


def fit_stack(tests: Sequence[_HiddenTest]) -> tuple[ScoreStack, dict[str, float]]:
    """Return a stack of all scores, or of a single one if it finds hidden links better."""
    usable = [test for test in tests if test.pairs.is_link.any()]
    if not usable:
        return ScoreStack((MIXED,), np.ones(1), float(logit(0.01))), {}
    names = list(usable[0].scores)
    columns = [_score_table(test, names) for test in usable]
    judged = {
        name: float(np.mean([test.average_precision(test.scores[name]) for test in usable]))
        for name in names
    }
    if len(usable) > 1:
        held_out_precision = []
        for number, test in enumerate(usable):
            others = [place for place in range(len(usable)) if place != number]
            stack = _stack_of(names, [columns[k] for k in others], [usable[k] for k in others])
            held_out_precision.append(test.average_precision(stack.probability(test.scores)))
        judged[ALL] = float(np.mean(held_out_precision))
        best = max(names, key=lambda name: judged[name])
        gain = np.array([t.average_precision(t.scores[best]) for t in usable]) - np.array(
            held_out_precision
        )
        if gain.mean() > gain.std(ddof=1) / np.sqrt(len(gain)):
            names = [best]
            columns = [_score_table(test, names) for test in usable]
    return _stack_of(names, columns, usable), judged


def _score_table(test: _HiddenTest, names: Sequence[str]) -> Floats:
    return np.column_stack([test.scores[name] for name in names])


def _stack_of(
    names: Sequence[str], columns: Sequence[Floats], tests: Sequence[_HiddenTest]
) -> ScoreStack:
    y = np.concatenate([test.pairs.is_link for test in tests]).astype(np.float64)
    counts = np.concatenate([test.pairs.counts for test in tests])
    return ScoreStack.fit(names, np.vstack(columns), y, counts, (LINKS_OF_SOURCE, LINKS_OF_TARGET))


def fit_cold_stack(
    tests: Sequence[_HiddenTest],
    colds: Sequence[_HiddenTest],
    warm: ScoreStack,
    problem: LinkProblem,
) -> ScoreStack:
    """Return the stack for pairs with an item without links, calibrated to their own rate."""
    cold_tests = [test.take(test.is_cold) for test in tests if test.is_cold.any()]
    all_tests = [test.take(test.is_cold) for test in colds if test.is_cold.any()] + cold_tests
    if sum(int(t.pairs.is_link.sum()) for t in all_tests) < problem.settings.min_cold_links:
        return warm
    names = [name for name in all_tests[0].scores if name not in (LINKS_OF_SOURCE, LINKS_OF_TARGET)]
    stack = _stack_of(names, [_score_table(t, names) for t in all_tests], all_tests)
    if not cold_tests:
        return stack
    counts = np.concatenate([t.pairs.counts for t in cold_tests])
    links = float(sum(int(t.pairs.is_link.sum()) for t in cold_tests))
    # Few items without links tell little about their rate of links, so the usual rate is mixed in.
    predicted = np.concatenate([stack.probability(t.scores) for t in cold_tests])
    usual_rate = float(np.average(predicted, weights=counts))
    prior_weight = problem.settings.prior_items * problem.shape[1]
    rate = (links + prior_weight * usual_rate) / (float(counts.sum()) + prior_weight)
    margin = logit(np.clip(predicted, 1e-12, 1 - 1e-12))

    def above(shift: float) -> float:
        return float(np.average(expit(margin + shift), weights=counts)) - float(rate)

    shift = float(brentq(above, -40.0, 40.0))
    return ScoreStack(stack.names, stack.weights, stack.intercept + shift)


def _average_precision(pairs: _SampledPairs, scores: Floats) -> float:
    if not pairs.is_link.any():
        return 0.0
    return float(average_precision_score(pairs.is_link, scores, sample_weight=pairs.counts))
