"""Scores judged on hidden links, and the settings and weights that find most of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, logit
from sklearn.metrics import average_precision_score

from hetviz._types import Bools, Floats, Ints, Rng
from hetviz.core.prediction.link_ridge import (
    LowRankScores,
    ScoreScale,
    ScoreStack,
    best_products,
    is_among,
)
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
    PLAIN,
    SETTINGS,
)

# Share of the links without which the scores learn that were hidden, so are known.
_LABELLED_SHARE = SETTINGS.hidden_share / (SETTINGS.hidden_share + SETTINGS.missing_per_known)


@dataclass(frozen=True, eq=False)
class _SampledPairs:
    """Sampled pairs with hidden links.

    `counts`: How many candidates each represents.
    `is_random`: Whether a pair without a link was drawn at random, not for its score.
    """

    i: Ints
    j: Ints
    is_link: Bools
    counts: Floats
    is_random: Bools


@dataclass(frozen=True, eq=False)
class _HiddenTest:
    """Pairs with hidden links, and the scores of a fit that did not see these."""

    pairs: _SampledPairs
    scores: Mapping[str, Floats]
    unlinked_side: Ints  # See `FittedScores.unlinked_sides`.
    scales: Mapping[str, ScoreScale]

    def take(self, mask: Bools) -> _HiddenTest:
        """Return the test on some of its pairs."""
        return _HiddenTest(
            _SampledPairs(*(part[mask] for part in vars(self.pairs).values())),
            {name: S[mask] for name, S in self.scores.items()},
            self.unlinked_side[mask],
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
    i, j, rng = _hide_links(problem, problem.random_state)
    pairs = _judged_pairs(problem, i, j, rng)
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


def _hide_links(problem: LinkProblem, seed: int) -> tuple[Ints, Ints, np.random.Generator]:
    """Sample links to hide; return also the generator for the pairs to judge."""
    rng = np.random.default_rng((seed, 17))
    i, j = problem.links()
    hidden = np.sort(
        rng.permutation(len(i))[: max(1, round(problem.settings.hidden_share * len(i)))]
    )
    return i[hidden], j[hidden], rng


def _judged_pairs(
    problem: LinkProblem,
    i: Ints,
    j: Ints,
    rng: Rng,
    rows: Ints | None = None,
    scores: LowRankScores | None = None,
) -> _SampledPairs:
    """Return pairs of rows of source: links (i, j) and pairs without any link.

    The latter are drawn at random. If there are too many to take all, the best by `scores` are
    added, because users see the top of the ranking.
    """
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
    top = np.empty(0, np.int64)
    if scores is not None and len(p) < candidates:
        known = problem.Y[rows].tocoo()
        linked = [rows[known.coords[0]] * m + known.coords[1]]
        if problem.within:
            linked.append(rows * (m + 1))
        a, b = best_products(
            scores.left, scores.right, rows, settings.max_top_pairs, np.unique(np.hstack(linked))
        )
        top = np.sort(a * m + b)
    # The best pairs represent themselves, the others all candidates that are left.
    is_other = ~is_among(p * m + q, top)
    weight = max(1.0, (candidates - len(top)) / max(int(is_other.sum()), 1))
    return _SampledPairs(
        np.concatenate([i, p, top // m]),
        np.concatenate([j, q, top % m]),
        np.arange(len(i) + len(p) + len(top)) < len(i),
        np.concatenate([np.ones(len(i)), weight * is_other, np.ones(len(top))]),
        np.repeat([False, True, False], [len(i), len(p), len(top)]),
    )


def judge_on_hidden_links(
    problem: LinkProblem, axes_of: Mapping[str, int], seed: int
) -> _HiddenTest:
    """Fit without a share of the links, and score these."""
    i, j, rng = _hide_links(problem, seed)
    return _test_without(problem, i, j, rng, None, axes_of)


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
    return _test_without(problem, i[is_hidden], j[is_hidden], rng, judged, axes_of)


def _test_without(
    problem: LinkProblem, i: Ints, j: Ints, rng: Rng, rows: Ints | None, axes_of: Mapping[str, int]
) -> _HiddenTest:
    """Fit without the links (i, j), and score them and pairs without a link."""
    fit = fit_scores(problem, problem.without(i, j), axes_of)
    pairs = _judged_pairs(problem, i, j, rng, rows, fit.ridges.get(PLAIN, fit.ridges[MIXED])[1.0])
    scores = fit.scores_of_pairs(pairs.i, pairs.j)
    scales = {name: ScoreScale.of(S[pairs.is_random]) for name, S in scores.items()}
    allowed = np.ones(len(pairs.i), dtype=bool)
    if problem.once[0]:
        allowed &= fit.degrees[0][pairs.i] == 0
    if problem.once[1]:
        allowed &= fit.degrees[1][pairs.j] == 0
    # Items that may have one link and have it are no candidates.
    test = _HiddenTest(pairs, scores, fit.unlinked_sides(pairs.i, pairs.j), scales)
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
            if tests and len(fit.ridges[name]) > 1
        }
        usual = 1.0 if 1.0 in fit.ridges[name] else next(iter(fit.ridges[name]))
        chosen[name] = max(precision, key=lambda ridge: precision[ridge]) if precision else usual
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
    """Return a stack of all scores, or of a single one if it finds hidden links better.

    It is learned on pairs whose items have other links, if these include enough hidden links,
    because the others have their own stack, see `fit_cold_stack`.
    """
    linked = [test.take(test.unlinked_side == 0) for test in tests]
    if sum(int(test.pairs.is_link.sum()) for test in linked) >= SETTINGS.min_links:
        tests = linked
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
    stack = _stack_of(names, columns, usable)
    # During learning the hidden links were missing as well.
    shift = np.log1p(-_LABELLED_SHARE)
    return replace(stack, intercept=stack.intercept + shift), judged


def _score_table(test: _HiddenTest, names: Sequence[str]) -> Floats:
    return np.column_stack([test.scores[name] for name in names])


def _stack_of(
    names: Sequence[str],
    columns: Sequence[Floats],
    tests: Sequence[_HiddenTest],
    free: Sequence[str] = (LINKS_OF_SOURCE, LINKS_OF_TARGET),
    strength: float = 1.0,
) -> ScoreStack:
    y = np.concatenate([test.pairs.is_link for test in tests]).astype(np.float64)
    counts = np.concatenate([test.pairs.counts for test in tests])
    return ScoreStack.fit(
        names, np.vstack(columns), y, counts, free, strength, labelled_share=_LABELLED_SHARE
    )


def fit_cold_stack(
    tests: Sequence[_HiddenTest],
    colds: Sequence[_HiddenTest],
    warm: ScoreStack,
    problem: LinkProblem,
    side: int,
) -> ScoreStack:
    """Return the stack for pairs whose item of a side has no links, calibrated to their rate.

    `side`: 1 for source, 2 for target, see `FittedScores.unlinked_sides`.
    """
    cold_tests, hidden_items = (
        [part for test in group if len((part := test.take(test.unlinked_side == side)).pairs.i)]
        for group in (tests, colds)
    )
    all_tests = hidden_items + cold_tests
    if sum(int(t.pairs.is_link.sum()) for t in all_tests) < problem.settings.min_cold_links:
        return warm
    # Every item of this side has the same number of links, none.
    same = LINKS_OF_SOURCE if side == 1 else LINKS_OF_TARGET
    names = [name for name in all_tests[0].scores if name != same]
    # All pairs of a hidden item depend on each other, so they count for less than they are.
    columns = [_score_table(t, names) for t in all_tests]
    stack = _stack_of(names, columns, all_tests, (), problem.settings.cold_prior)
    if not cold_tests:
        return stack
    counts = np.concatenate([t.pairs.counts for t in cold_tests])
    links = float(sum(int(t.pairs.is_link.sum()) for t in cold_tests))
    # Few items without links tell little about their rate of links, so the usual rate is mixed in.
    predicted = np.concatenate([stack.probability(t.scores) for t in cold_tests])
    usual_rate = float(np.average(predicted, weights=counts))
    prior_weight = problem.settings.prior_items * problem.shape[1]
    links *= SETTINGS.missing_per_known / SETTINGS.hidden_share
    # Hiding links leaves more items without any, so the same links fall on more pairs.
    share = float(counts.sum()) / sum(float(t.pairs.counts.sum()) for t in tests)
    links *= max(1.0, share / max(problem.unlinked_share(side), 1e-12))
    links = min(links, usual_rate * float(counts.sum()))
    rate = (links + prior_weight * usual_rate) / (float(counts.sum()) + prior_weight)
    margin = logit(np.clip(predicted, 1e-12, 1 - 1e-12))

    def above(shift: float) -> float:
        return float(np.average(expit(margin + shift), weights=counts)) - float(rate)

    shift = float(brentq(above, -40.0, 40.0))
    return replace(stack, intercept=stack.intercept + shift)


def _average_precision(pairs: _SampledPairs, scores: Floats) -> float:
    if not pairs.is_link.any():
        return 0.0
    return float(average_precision_score(pairs.is_link, scores, sample_weight=pairs.counts))
