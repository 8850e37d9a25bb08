"""Gradient boosting consensus (GBC): one booster per source, trained on labels and consensus.

    min  sum_i w_i [ sum_T l(f_i, y) + lam0 sum_U l(f_i, E) + lam1 sum_U l(f_i, S_i f_i) ]

f_i are the margins of source i, T its labelled and U its unlabelled rows, E the weighted mean of
the sources that contain a row, S_i the mean over a row's neighbours in source i.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.optimize import brentq, minimize_scalar
from scipy.special import expit

from hetviz._types import Bools, Floats, Ints, Matrix, Sparse
from hetviz.core.prediction.boosting import LEARNERS, TREES, Booster, TreeSettings, make_booster
from hetviz.core.spectral.eigen import axis_signs
from hetviz.progress import Progress, ProgressPart, ignore_progress

NUMBER, CLASSES = "number", "classes"
AUTO = "auto"
_CLIP = 1e-6


@dataclass(frozen=True, eq=False)
class TargetLoss:
    """The loss of margins f against a target t, by row and column, with lazy derivatives.

    `method` {"soft", "paper"}: For classes. ``"soft"`` is the divergence of sigmoid(f) from
        sigmoid(t), with its minimum at f = t. ``"paper"`` uses t as the label of the logistic
        loss, which pushes f beyond t.
    """

    task: str
    f: Floats
    t: Floats
    method: str = "soft"

    @property
    def value(self) -> Floats:
        f, t = self.f, self.t
        if self.task == NUMBER:
            return np.asarray((f - t) ** 2)
        if self.method == "paper":
            return np.logaddexp(0.0, -f * t)
        return np.asarray(np.logaddexp(0.0, f) - np.logaddexp(0.0, t) + self._q * (t - f))

    @property
    def slope(self) -> Floats:
        """Derivative by f."""
        if self.task == NUMBER:
            return 2.0 * (self.f - self.t)
        return -self.t * self._wrong if self.method == "paper" else self._p - self._q

    @property
    def curvature(self) -> Floats:
        """Second derivative by f."""
        if self.task == NUMBER:
            return np.full_like(self.f, 2.0)
        if self.method == "paper":
            return self.t**2 * self._wrong * (1.0 - self._wrong)
        return self._p * (1.0 - self._p)

    @property
    def target_slope(self) -> Floats:
        """Derivative by t."""
        if self.task == NUMBER:
            return 2.0 * (self.t - self.f)
        if self.method == "paper":
            return -self.f * self._wrong
        return self._q * (1.0 - self._q) * (self.t - self.f)

    @property
    def target_curvature(self) -> Floats:
        """Second derivative by t; for "soft" only its non-negative part."""
        if self.task == NUMBER:
            return np.full_like(self.f, 2.0)
        if self.method == "paper":
            return self.f**2 * self._wrong * (1.0 - self._wrong)
        return self._q * (1.0 - self._q)

    @cached_property
    def _p(self) -> Floats:
        return np.asarray(expit(self.f))

    @cached_property
    def _q(self) -> Floats:
        return np.asarray(expit(self.t))

    @cached_property
    def _wrong(self) -> Floats:
        return np.asarray(expit(-self.f * self.t))


def prior_of(task: str, Y: Floats) -> Floats:
    """Return the constant that fits known labels best: their mean, or the log-odds."""
    mean = np.nanmean(Y, axis=0)
    if task == NUMBER:
        return np.asarray(mean)
    p = np.clip((mean + 1.0) / 2.0, _CLIP, 1.0 - _CLIP)
    return np.asarray(np.log(p / (1.0 - p)))


def label_loss(task: str, f: Floats, y: Floats) -> Floats:
    """Return (f - y)^2 for numbers, log(1 + exp(-y f)) with y = 1 or -1 for classes."""
    return (f - y) ** 2 if task == NUMBER else np.logaddexp(0.0, -y * f)


def label_slopes(task: str, f: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Return the first and second derivative of `label_loss` by f."""
    if task == NUMBER:
        return 2.0 * (f - y), np.full_like(f, 2.0)
    wrong = expit(-y * f)
    return -y * wrong, wrong * (1.0 - wrong)


def consensus_weights(rows: Sequence[Ints], weights: Floats, n: int) -> list[Floats]:
    """Return the weight of each source in the consensus of its rows, of sum 1 over sources."""
    weight, count = np.zeros(n), np.zeros(n)
    for source_rows, w in zip(rows, weights, strict=True):
        weight[source_rows] += w
        count[source_rows] += 1
    # A row that only sources of weight 0 contain gets their plain mean.
    return [
        np.where(
            weight[source_rows] > 0,
            w / np.where(weight[source_rows] > 0, weight[source_rows], 1.0),
            1 / count[source_rows],
        )
        for source_rows, w in zip(rows, weights, strict=True)
    ]


def consensus(margins: Sequence[Floats], rows: Sequence[Ints], weights: Floats, n: int) -> Floats:
    """Return E (n, K): the weighted mean over the sources that contain each row, else NaN."""
    E = np.full((n, margins[0].shape[1]), np.nan)
    for source_rows in rows:
        E[source_rows] = 0.0
    for f, source_rows, share in zip(
        margins, rows, consensus_weights(rows, weights, n), strict=True
    ):
        E[source_rows] += share[:, None] * f
    return E


def within_source(A: Sparse, rows: Ints) -> Sparse:
    """Return the mean over neighbours as a matrix (n_i, n_i); rows without neighbours are 0."""
    inner = sp.csr_array(sp.csr_array(A)[rows][:, rows])
    degree = np.asarray(inner.sum(axis=1)).ravel()
    return sp.csr_array(
        sp.diags_array(1.0 / np.where(degree > 0, degree, 1.0)) @ inner, shape=inner.shape
    )


def neighbour_mean(means: Sequence[Sparse], weights: Floats) -> tuple[Sparse, Bools]:
    """Combine the graphs of one source."""
    has = [np.diff(P.indptr) > 0 for P in means]
    share = sum(w * present for w, present in zip(weights, has, strict=True))
    inverse = 1.0 / np.where(share > 0, share, 1.0)
    S = sum(w * P for w, P in zip(weights, means, strict=True))
    return sp.csr_array(sp.diags_array(inverse) @ S), np.asarray(share) > 0


def connectivity(
    task: str, f: Floats, S: Sparse, active: Bools, method: str = "soft", gradient: str = "paper"
) -> tuple[float, Floats, Floats]:
    """Return value, slope and curvature of the loss of rows against their neighbours' mean.

    `f` (n_i, K); `S` csr (n_i, n_i)
    `active` bool (n_i,): Rows with this loss.
    `gradient` {"paper", "exact"}: The paper treats the neighbours as fixed; ``"exact"`` includes
        their derivatives.
    """
    term = TargetLoss(task, f, S @ f, method)
    is_active = active[:, None].astype(np.float64)
    slope, curvature = is_active * term.slope, is_active * term.curvature
    if gradient == "exact":
        slope = slope + S.T @ (is_active * term.target_slope)
        curvature = curvature + S.multiply(S).T @ (is_active * term.target_curvature)
    return float((is_active * term.value).sum()), np.asarray(slope), np.asarray(curvature)


def loss_weights(losses: Floats) -> Floats:
    """Return weights exp(-loss / z) of sum 1, with z such that they sum to one.

    `losses` (p,): 0 or more. NaN (no held-out labels) gets half the mean weight of the others.

    Equations 3.10 and 3.11, with z read as the constant that makes the sum one: equal losses give
    equal weights, and the scale of the losses does not matter.
    """
    losses = np.asarray(losses, dtype=np.float64)
    is_known = np.isfinite(losses)
    if not is_known.any():
        return np.full(len(losses), 1.0 / max(len(losses), 1))
    weights = np.zeros(len(losses))
    weights[is_known] = _positive_shares(losses[is_known])
    weights[~is_known] = 0.5 * weights[is_known].mean()
    return np.asarray(weights / weights.sum())


def _positive_shares(losses: Floats) -> Floats:
    smallest = float(losses.min())
    if smallest <= 0:
        best = (losses <= 0).astype(np.float64)
        return np.asarray(best / best.sum())
    if len(losses) == 1:
        return np.ones(1)
    ratio = losses / smallest
    t = brentq(lambda t: np.exp(-ratio * t).sum() - 1.0, 0.0, np.log(len(losses)), xtol=1e-14)
    out = np.exp(-ratio * t)
    return np.asarray(out / out.sum())


def graph_losses(
    task: str,
    margins: Sequence[Floats],
    rows: Sequence[Ints],
    weights: Floats,
    graphs: Sequence[Sparse],
    n: int,
) -> Floats:
    """Return the mean difference between predictions of connected rows, for each graph.

    The mean over edges with both ends in a source, with sources weighted; for classes the
    symmetric divergence of the two probabilities. NaN for a graph without such an edge.
    """
    out = np.full(len(graphs), np.nan)
    positions = []
    for source_rows in rows:
        position = np.full(n, -1)
        position[source_rows] = np.arange(len(source_rows))
        positions.append(position)
    for number, A in enumerate(graphs):
        a, b = (end.astype(np.int64) for end in sp.triu(A, 1).coords)
        total, mass = 0.0, 0.0
        for f, position, w in zip(margins, positions, weights, strict=True):
            i, j = position[a], position[b]
            both_present = (i >= 0) & (j >= 0)
            if both_present.any():
                left, right = f[i[both_present]], f[j[both_present]]
                divergence = (
                    TargetLoss(task, left, right).value + TargetLoss(task, right, left).value
                )
                total += w * float(divergence.sum()) / 2.0
                mass += w * int(both_present.sum())
        if mass > 0:
            out[number] = total / mass
    return out


_FOLDS = 3
# Weighting sources takes few rounds with longer steps: 10 of these correspond to 25.
_ROUNDS = 10
_STEP_FACTOR = 2.5


@dataclass(frozen=True, eq=False)
class GbcSource:
    """Features of one source."""

    X: Matrix
    rows: Ints


def held_out_losses(
    sources: Sequence[GbcSource],
    Y: Floats,
    task: str,
    n_rounds: int,
    trees: TreeSettings,
    progress: Progress,
) -> Floats:
    """Return the mean loss of each source alone on held-out labels, by round.

    Returns (rounds, p): At most 25 rounds, since weights hardly change after; NaN for a source
        with too few labels.
    """
    steps = min(max(round(n_rounds / _STEP_FACTOR), 1), _ROUNDS)
    longer = replace(trees, learning_rate=min(_STEP_FACTOR * trees.learning_rate, 1.0))
    labelled = np.flatnonzero(np.isfinite(Y).all(axis=1))
    fold_of = np.full(len(Y), -1)
    fold_of[labelled] = folds_of(Y, labelled, _FOLDS, trees.random_state)
    total, count = np.zeros((steps, len(sources))), np.zeros(len(sources))
    for number in range(_FOLDS):
        learned = labelled[fold_of[labelled] != number]
        if not len(learned):
            continue
        prior = prior_of(task, Y[learned])
        for i, source in enumerate(sources):
            progress((number * len(sources) + i) / (_FOLDS * len(sources)), "Weighing")
            fold = fold_of[source.rows]
            learn, is_held_out = np.flatnonzero((fold >= 0) & (fold != number)), fold == number
            if not len(learn) or not is_held_out.any():
                continue
            used = np.concatenate([learn, np.flatnonzero(is_held_out)])
            y, m = Y[source.rows[used]], len(learn)
            booster = make_booster(source.X[used], np.arange(m), Y.shape[1], longer)
            for step in range(steps):
                booster.step(*label_slopes(task, prior + booster.scores[:m], y[:m]))
                losses = label_loss(task, prior + booster.scores[m:], y[m:])
                total[step, i] += float(losses.mean(axis=1).sum())
            count[i] += len(used) - m
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.where(count > 0, total / count, np.nan)
    # One row for each round of the usual step length.
    length = min(n_rounds, round(_ROUNDS * _STEP_FACTOR))
    return mean[np.minimum((np.arange(length) / _STEP_FACTOR).astype(np.int64), steps - 1)]


def folds_of(Y: Floats, labelled: Ints, n_folds: int, random_state: int) -> Ints:
    """Return a fold for each known row, stratified by class."""
    rng = np.random.default_rng(random_state)
    mixed = rng.permutation(len(labelled))
    _, group = np.unique(np.sign(Y[labelled]), axis=0, return_inverse=True)
    if len(np.unique(Y[labelled])) > 2:
        group = np.zeros(len(labelled), dtype=np.int64)
    order = mixed[np.argsort(group.ravel()[mixed], kind="stable")]
    fold = np.empty(len(labelled), dtype=np.int64)
    fold[order] = np.arange(len(labelled)) % n_folds
    return fold


@dataclass(frozen=True)
class GbcSettings:
    """Settings of `fit_gbc`.

    `lam0`, `lam1`: Weight of the consensus between sources, and of the similarity of linked rows.
    `consensus` {"soft", "paper"}: See `hetviz.core.prediction.gbc.TargetLoss`.
    `sharpness`: For classes, with "soft": the target of sources is prior + sharpness (E - prior).
        The mean log-odds E are too small where some sources are uncertain; independent ones would
        add up.
    `connectivity` {"paper", "exact"}: See `hetviz.core.prediction.gbc.connectivity`.
    `weights` {"holdout", "training", "equal"}: Weights of sources: by their loss on held-out
        labels, by their loss on training labels (the thesis), or equal. Graphs are weighted by how
        similar the predictions of connected rows are.
    `normalize`: Multiply both lambdas by the ratio of labelled to unlabelled rows if it is below
        1. Otherwise the unlabelled rows dominate every leaf, and learning stalls.
    `alone`: Rounds, at most half of all, in which each source learns from labels only. Consensus
        and links are informative only after that, and trees of the labelled rows take half the
        time.
    `learner` {"trees", "forest", "linear", "auto"}: See
        `hetviz.core.prediction.boosting.TreeSettings`; "auto" takes for each source the one with
        the smallest loss on held-out labels.
    `line_search`: Choose the step length that minimises the objective (the thesis), up to 20 times
        the full step.
    """

    n_rounds: int = 100
    lam0: float = 0.3
    lam1: float = 0.1
    consensus: str = "soft"
    connectivity: str = "paper"
    weights: str = "holdout"
    normalize: bool = True
    sharpness: float = 2.0
    alone: int = 50
    trees: TreeSettings = field(default_factory=TreeSettings)
    learner: str = TREES
    line_search: bool = False

    @property
    def n_alone(self) -> int:
        """Number of rounds before sources are coupled."""
        return min(self.alone, self.n_rounds // 2)


@dataclass(frozen=True, eq=False)
class GbcModel:
    """A fitted consensus."""

    prior: Floats
    boosters: list[list[Booster]]
    margins: list[Floats]
    weights: Floats
    graph_weights: Floats
    history: list[float]
    joint: Floats
    learners: list[str] = field(default_factory=list)

    def margin(self, source: int, X: Matrix) -> Floats:
        """Return the margins (n_new, K) of new rows by one source."""
        f = np.tile(self.prior, (X.shape[0], 1))
        for booster in self.boosters[source]:
            f = f + booster.predict(X)
        return f

    def fuse(self, margins: Sequence[Floats], rows: Sequence[Ints], n: int) -> Floats:
        """Return the consensus (n, K) of margins by source; the prior for rows without any."""
        E = consensus(margins, rows, self.weights[-1], n)
        return np.where(np.isnan(E), self.prior, E)


OnRound = Callable[[int, Floats], bool]


def fit_gbc(
    sources: Sequence[GbcSource],
    graphs: Sequence[Sparse],
    Y: Floats,
    task: str,
    settings: GbcSettings,
    progress: Progress = ignore_progress,
    watch: OnRound | None = None,
) -> GbcModel:
    """Fit one booster per source in rounds, each trained on labels and the consensus.

    `Y` (n, K): Numbers, or 1 and -1 for each class (one column for two classes); NaN if unknown.

    Each source first learns from labels only, then also from the newest margins of the others and
    from links. Rows without any loss term are only predicted. Cost: O(sum n_i d_i K) and one
    sparse product per round.
    """
    state = _Training.start(sources, graphs, Y, task, settings, progress)
    history: list[float] = []
    weights, graph_weights = [], []
    for number in range(settings.n_rounds):
        progress(0.2 + 0.8 * number / settings.n_rounds, f"Round {number + 1}")
        state.round(number)
        history.append(state.objective())
        state.weigh(number)
        weights.append(state.w)
        graph_weights.append(state.v)
        if watch is not None and watch(number, state.filled()):
            break
    return GbcModel(
        state.prior,
        state.boosters,
        state.f,
        np.array(weights),
        np.array(graph_weights),
        history,
        state.filled(),
        state.learners,
    )


@dataclass(eq=False)
class _Training:
    sources: Sequence[GbcSource]
    graphs: Sequence[Any]
    Y: Floats
    task: str
    settings: GbcSettings
    prior: Floats
    labelled: list[Bools]
    consenting: list[Bools]
    joined: list[Bools]
    linked: list[Bools]
    means: list[list[Sparse]]
    boosters: list[list[Booster]]
    learn: list[Ints]
    base: list[Floats]
    f: list[Floats]
    w: Floats
    v: Floats
    held_out: Floats | None
    learners: list[str]
    E: Floats | None = None

    @classmethod
    def start(
        cls,
        sources: Sequence[GbcSource],
        graphs: Sequence[Sparse],
        Y: Floats,
        task: str,
        settings: GbcSettings,
        progress: Progress,
    ) -> _Training:
        n = len(Y)
        p, q = len(sources), len(graphs)
        prior = prior_of(task, Y)
        is_known = np.asarray(np.isfinite(Y).all(axis=1))
        count = np.bincount(np.concatenate([s.rows for s in sources]), minlength=n)
        labelled = [is_known[s.rows] for s in sources]
        # A row in one source only has no consensus.
        consenting = [~is_known[s.rows] & (count[s.rows] > 1) for s in sources]
        means = [[within_source(A, s.rows) for A in graphs] for s in sources]
        linked = [
            np.asarray(sum((np.diff(P.indptr) for P in source_means), np.zeros(len(t)))) > 0
            for source_means, t in zip(means, labelled, strict=True)
        ]
        joined = [has_link & ~t for has_link, t in zip(linked, labelled, strict=True)]
        f = [np.tile(prior, (len(s.rows), 1)) for s in sources]
        held_out, learners = _choose_learners(
            sources, Y, task, settings, ProgressPart(progress, 0.0, 0.2)
        )
        w, v = np.full(p, 1.0 / p), np.full(q, 1.0 / max(q, 1))
        return cls(
            sources,
            graphs,
            Y,
            task,
            settings,
            prior,
            labelled,
            consenting,
            joined,
            linked,
            means,
            [[] for _ in sources],
            [np.flatnonzero(t) for t in labelled],
            f,
            f,
            w,
            v,
            held_out,
            learners,
        )

    @cached_property
    def coupled(self) -> list[Ints]:
        """Rows of each source with a loss from labels, consensus or links."""
        coupled, settings = [], self.settings
        for t, u, s, has_link in zip(
            self.labelled, self.consenting, self.joined, self.linked, strict=True
        ):
            is_coupled = t | (u & (settings.lam0 > 0)) | (s & (settings.lam1 > 0))
            if settings.lam1 > 0 and settings.connectivity == "exact":
                is_coupled |= has_link
            coupled.append(np.flatnonzero(is_coupled))
        return coupled

    def branch(self, settings: GbcSettings) -> _Training:
        """Return a copy that continues from here with other couplings.

        Requires coupled rows: without them both would share and extend the same boosters.
        """
        return replace(
            self,
            settings=settings,
            boosters=[list(own_boosters) for own_boosters in self.boosters],
            learn=list(self.learn),
            base=list(self.base),
            f=list(self.f),
            E=None,
        )

    @property
    def is_coupled(self) -> bool:
        """Whether any row has a loss from consensus or links."""
        return any(
            len(rows) > int(t.sum()) for rows, t in zip(self.coupled, self.labelled, strict=True)
        )

    def round(self, number: int) -> None:
        """Take one boosting step in every source."""
        starts_coupling = number == self.settings.n_alone and self.is_coupled
        if starts_coupling or number == 0:
            self._grow(self.coupled if starts_coupling else self.learn)
        is_coupled = number >= self.settings.n_alone and self.is_coupled
        self.E, shares = None, list[Floats]()
        if is_coupled:
            rows = [source.rows for source in self.sources]
            self.E, shares = self._consensus(), consensus_weights(rows, self.w, len(self.Y))
        for i, learn in enumerate(self.learn):
            if not len(learn):
                continue
            slope, curvature = self._slopes(i)
            booster = self.boosters[i][-1]
            line = partial(self._length, i) if self.settings.line_search else None
            booster.step(slope[learn], curvature[learn], line)
            before, self.f[i] = self.f[i], self.base[i] + booster.scores
            if self.E is not None:
                self.E[self.sources[i].rows] += shares[i][:, None] * (self.f[i] - before)

    def _length(self, i: int, change: Floats) -> float:
        """Return the step length, relative to a step, that minimises the objective of source i."""
        margins, full_step = self.f[i], change / self.settings.trees.learning_rate

        def value(length: float) -> float:
            self.f[i] = margins + length * full_step
            return self._value(i)

        result = minimize_scalar(value, bounds=(0.0, _MAX_STEP_LENGTH), method="bounded")
        self.f[i] = margins
        return float(result.x)

    def _grow(self, learn: list[Ints]) -> None:
        """Continue from the current margins with new boosters of other rows."""
        self.learn, self.base = learn, list(self.f)
        for number, rows in enumerate(learn):
            if len(rows):
                trees = replace(self.settings.trees, learner=self.learners[number])
                X = self.sources[number].X
                self.boosters[number].append(make_booster(X, rows, self.Y.shape[1], trees))

    def objective(self) -> float:
        return sum(float(w) * self._value(i) for i, w in enumerate(self.w))

    def weigh(self, number: int) -> None:
        """Set the weights of sources and graphs for the next round."""
        weighting = self.settings.weights
        if weighting == "equal":
            return
        if weighting == "training":
            self.w = loss_weights(np.array([self._label_loss(i) for i in range(len(self.f))]))
        elif self.held_out is not None:
            self.w = loss_weights(self.held_out[min(number, len(self.held_out) - 1)])
        if len(self.graphs) > 1:
            rows = [source.rows for source in self.sources]
            losses = graph_losses(self.task, self.f, rows, self.w, self.graphs, len(self.Y))
            self.v = loss_weights(losses)

    def filled(self) -> Floats:
        """Return the consensus, with the prior for rows that no source contains."""
        E = self._consensus()
        return np.where(np.isnan(E), self.prior, E)

    def _consensus(self) -> Floats:
        rows = [source.rows for source in self.sources]
        return consensus(self.f, rows, self.w, len(self.Y))

    def _label_loss(self, i: int) -> float:
        t = self.labelled[i]
        y = self.Y[self.sources[i].rows[t]]
        return float(label_loss(self.task, self.f[i][t], y).mean()) if t.any() else np.nan

    def _value(self, i: int) -> float:
        """Return the contribution of source i to the objective, without its weight."""
        t = self.labelled[i]
        y = self.Y[self.sources[i].rows[t]]
        value = float(label_loss(self.task, self.f[i][t], y).sum())
        lam0, to_others = self._to_others(i)
        if to_others is not None:
            value += lam0 * float(to_others.value.sum())
        lam1, to_neighbors = self._to_neighbours(i)
        return value if to_neighbors is None else value + lam1 * to_neighbors[0]

    def _slopes(self, i: int) -> tuple[Floats, Floats]:
        """Return slope and curvature of the contribution of source i, (n_i, K)."""
        f, t, u = self.f[i], self.labelled[i], self.consenting[i]
        slope, curvature = np.zeros_like(f), np.zeros_like(f)
        slope[t], curvature[t] = label_slopes(self.task, f[t], self.Y[self.sources[i].rows[t]])
        lam0, to_others = self._to_others(i)
        if to_others is not None:
            slope[u] += lam0 * to_others.slope
            curvature[u] += lam0 * to_others.curvature
        lam1, to_neighbors = self._to_neighbours(i)
        if to_neighbors is not None:
            slope, curvature = slope + lam1 * to_neighbors[1], curvature + lam1 * to_neighbors[2]
        return slope, curvature

    def _to_others(self, i: int) -> tuple[float, TargetLoss | None]:
        u = self.consenting[i]
        lam0 = self._scaled(self.settings.lam0, i, u)
        if self.E is None or lam0 <= 0:
            return 0.0, None
        aim = self._aim(self.E[self.sources[i].rows[u]])
        return lam0, TargetLoss(self.task, self.f[i][u], aim, self.settings.consensus)

    def _to_neighbours(self, i: int) -> tuple[float, tuple[float, Floats, Floats] | None]:
        lam1 = self._scaled(self.settings.lam1, i, self.joined[i])
        if self.E is None or lam1 <= 0:
            return 0.0, None
        S, has_link = neighbour_mean(self.means[i], self.v)
        settings = self.settings
        return lam1, connectivity(
            self.task,
            self.f[i],
            S,
            self.joined[i] & has_link,
            settings.consensus,
            settings.connectivity,
        )

    def _aim(self, E: Floats) -> Floats:
        """Return the target of sources for a consensus."""
        if self.task == NUMBER or self.settings.consensus == "paper":
            return E
        return np.asarray(self.prior + self.settings.sharpness * (E - self.prior))

    def _scaled(self, lam: float, i: int, active: Bools) -> float:
        """Return lambda, times the ratio of labelled to unlabelled rows if it is below 1."""
        if not active.any():
            return 0.0
        if not self.settings.normalize:
            return lam
        # A source without labels can only learn from the others.
        return lam * min(int(self.labelled[i].sum()) / int(active.sum()) or 1.0, 1.0)


def _choose_learners(
    sources: Sequence[GbcSource], Y: Floats, task: str, settings: GbcSettings, progress: Progress
) -> tuple[Floats | None, list[str]]:
    """Return held-out losses if they weight sources, and the base learner of each source."""
    p, requested = len(sources), settings.learner
    needs_weights = settings.weights == "holdout" and p > 1
    if requested != AUTO and not needs_weights:
        return None, [requested] * p
    kinds = LEARNERS if requested == AUTO else (requested,)
    losses = []
    for number, kind in enumerate(kinds):
        part = ProgressPart(progress, number / len(kinds), (number + 1) / len(kinds))
        trees = replace(settings.trees, learner=kind)
        losses.append(held_out_losses(sources, Y, task, settings.n_rounds, trees, part))
    final_losses = np.where(
        np.isfinite(last_losses := np.array([by_round[-1] for by_round in losses])),
        last_losses,
        np.inf,
    )
    best = final_losses.argmin(axis=0)
    held_out = np.column_stack([losses[kind][:, i] for i, kind in enumerate(best.tolist())])
    return held_out if needs_weights else None, [kinds[kind] for kind in best.tolist()]


LAM0 = (0.0, 0.1, 0.3, 1.0)
LAM1 = (0.0, 0.03, 0.1, 0.3)
MAX_ROUNDS = 200
_MAX_STEP_LENGTH = 20.0
_EARLY_FOLDS = 5
_PATIENCE = 20


def choose_settings(
    sources: Sequence[GbcSource],
    graphs: Sequence[Sparse],
    Y: Floats,
    task: str,
    settings: GbcSettings,
    open_: Sequence[str],
    progress: Progress,
) -> GbcSettings:
    """Return the settings with the open ones chosen on held-out labels.

    `open_` (sequence of {"lam0", "lam1", "learner", "n_rounds", "early"}): For "learner" trees are
        chosen if they are better than the learner of the settings by more than one standard error
        over the folds. "n_rounds" is chosen by cross-validation, "early" by 20 % of the labels:
        training stops after 20 rounds without improvement, at the earliest after 20 coupled
        rounds.

    By the loss of the consensus on the labels of three folds: first the base learner, with the
    couplings of the settings, then lam0 without links, then lam1, then rounds. Up to 11 fits for
    each fold, which share the uncoupled rounds.
    """
    labelled = np.flatnonzero(np.isfinite(Y).all(axis=1))
    early = "early" in open_
    n_folds = _EARLY_FOLDS if early else _FOLDS
    n_folds = min(n_folds, len(labelled))
    fold = folds_of(Y, labelled, n_folds, settings.trees.random_state)
    needs_curve = early or "n_rounds" in open_
    if needs_curve:
        settings = replace(settings, n_rounds=MAX_ROUNDS)
    grids = {"lam0": LAM0, "lam1": LAM1 if graphs else ()}
    grids = {name: values for name, values in grids.items() if name in open_ and values}
    starts = [settings]
    if "learner" in open_ and settings.learner != TREES:
        starts.append(replace(settings, learner=TREES))
    hidden = [labelled[fold == number] for number in (range(1) if early else range(n_folds))]
    count = len(starts) * len(hidden)
    parts = [ProgressPart(progress, 0.4 * k / count, 0.4 * (k + 1) / count) for k in range(count)]
    all_folds = [
        [
            _Fold(sources, graphs, Y, task, start, out, parts.pop(0), _PATIENCE if early else None)
            for out in hidden
        ]
        for start in starts
    ]
    steps, n_done = len(starts) + sum(map(len, grids.values())) + needs_curve, 0

    def judge(folds: Sequence[_Fold], tried: GbcSettings) -> list[Floats]:
        nonlocal n_done
        progress(0.4 + 0.6 * n_done / steps, "Choosing settings by held-out labels")
        n_done += 1
        curves = [fold.curve(tried) for fold in folds]
        return [curve[: min(map(len, curves))] for curve in curves]

    def loss(folds: Sequence[_Fold], tried: GbcSettings) -> Floats:
        curves = np.array(judge(folds, tried))
        return curves[:, int(curves.mean(axis=0).argmin()) if needs_curve else -1]

    folds = all_folds[0]
    if len(starts) > 1:
        # The best learner for a source alone need not be the best one with links.
        gain = np.subtract(
            *(loss(*pair) for pair in zip(all_folds[::-1], starts[::-1], strict=True))
        )
        if gain.mean() <= gain.std() / np.sqrt(max(len(gain) - 1, 1)):
            folds, settings = all_folds[1], starts[1]
    if "lam1" in grids:
        settings = replace(settings, lam1=0.0)
    for name, values in grids.items():
        losses = [loss(folds, _with(settings, name, value)).mean() for value in values]
        settings = _with(settings, name, values[int(np.argmin(losses))])
    if needs_curve:
        settings = replace(
            settings, n_rounds=int(np.mean(judge(folds, settings), axis=0).argmin()) + 1
        )
    return settings


def _with(settings: GbcSettings, name: str, value: float) -> GbcSettings:
    return replace(settings, lam0=value) if name == "lam0" else replace(settings, lam1=value)


class _Fold:
    """Training with some labels hidden, up to the rounds that all couplings share."""

    def __init__(
        self,
        sources: Sequence[GbcSource],
        graphs: Sequence[Sparse],
        Y: Floats,
        task: str,
        settings: GbcSettings,
        hidden: Ints,
        progress: Progress,
        patience: int | None,
    ) -> None:
        self._Y, self._hidden, self._patience = Y, hidden, patience
        training_labels = Y.copy()
        training_labels[hidden] = np.nan
        self._state = _Training.start(sources, graphs, training_labels, task, settings, progress)
        self._losses = [self._round(self._state, number) for number in range(settings.n_alone)]
        self._curves: dict[tuple[float, float] | None, Floats] = {}

    def _round(self, state: _Training, number: int) -> float:
        state.round(number)
        state.weigh(number)
        E = state.filled()[self._hidden]
        return float(label_loss(state.task, E, self._Y[self._hidden]).mean())

    def curve(self, settings: GbcSettings) -> Floats:
        """Return the loss of the consensus on the hidden labels, by round."""
        state = self._state.branch(settings)
        # Without coupling, branches would extend shared boosters, so this runs only once.
        pair = (settings.lam0, settings.lam1) if state.is_coupled else None
        if pair not in self._curves:
            self._curves[pair] = self._remaining_curve(state)
        return self._curves[pair]

    def _remaining_curve(self, state: _Training) -> Floats:
        losses, settings = list(self._losses), state.settings
        for number in range(settings.n_alone, settings.n_rounds):
            losses.append(self._round(state, number))
            late = len(losses) > settings.n_alone + (self._patience or 0)
            if self._patience and late and len(losses) - int(np.argmin(losses)) > self._patience:
                break
        return np.array(losses)


def probabilities(margin: Floats) -> Floats:
    """Return the probability of each class, (n, C), from margins (n, K).

    One column is the margin of the second of two classes. For more classes, each against the
    rest, the probabilities are divided by their sum.
    """
    p = expit(margin)
    if p.shape[1] == 1:
        return np.hstack([1.0 - p, p])
    return np.asarray(p / np.maximum(p.sum(axis=1, keepdims=True), 1e-300))


def source_disagreement(
    task: str, joint: Floats, margins: Sequence[Floats], rows: Sequence[Ints], weights: Floats
) -> Floats:
    """Return the disagreement of sources on each row, (n,): a weighted standard deviation.

    The deviation of their numbers, or of their probabilities of the class that the consensus
    predicts. NaN for rows in fewer than two sources.
    """
    n = len(joint)
    best = None if task == NUMBER else probabilities(joint).argmax(axis=1)
    mass, first, second = np.zeros(n), np.zeros(n), np.zeros(n)
    count = np.zeros(n)
    for f, source_rows, w in zip(margins, rows, weights, strict=True):
        value = f[:, 0] if best is None else probabilities(f)[np.arange(len(f)), best[source_rows]]
        mass[source_rows] += w
        first[source_rows] += w * value
        second[source_rows] += w * value**2
        count[source_rows] += 1
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = first / mass
        out = np.sqrt(np.maximum(second / mass - mean**2, 0.0))
    return np.where(count > 1, out, np.nan)


@dataclass(frozen=True, eq=False)
class MarginAxes:
    """Axes for a map of margins: of the consensus, then of the differences between sources.

    `centre`, `turn` (K,), (K, a): Mean and principal axes of the consensus.
    `apart` (p K, b): Principal axes of the sources' differences from it; a + b is at most the
        number of axes.
    """

    centre: Floats
    turn: Floats
    apart: Floats
    n_components: int

    @classmethod
    def fit(
        cls, joint: Floats, margins: Sequence[Floats], rows: Sequence[Ints], n_components: int
    ) -> MarginAxes:
        """Fit the principal components of the consensus, then of the differences."""
        centre = joint.mean(axis=0) if joint.shape[1] > 1 else np.zeros(1)
        turn = _principal(joint - centre, n_components)
        apart = _principal(_differences(joint, margins, rows), n_components - turn.shape[1])
        return cls(centre, turn, apart, n_components)

    def __call__(self, joint: Floats, margins: Sequence[Floats], rows: Sequence[Ints]) -> Floats:
        """Return positions (n, n_components); missing axes are 0."""
        out = np.zeros((len(joint), self.n_components))
        a, b = self.turn.shape[1], self.apart.shape[1]
        out[:, :a] = (joint - self.centre) @ self.turn
        if b:
            out[:, a : a + b] = _differences(joint, margins, rows) @ self.apart
        return out


def _differences(joint: Floats, margins: Sequence[Floats], rows: Sequence[Ints]) -> Floats:
    """Return f_i - E by source (n, p K), 0 for rows that a source lacks."""
    parts = []
    for f, source_rows in zip(margins, rows, strict=True):
        part = np.zeros_like(joint)
        part[source_rows] = f - joint[source_rows]
        parts.append(part)
    return np.hstack(parts)


def _principal(X: Floats, count: int) -> Floats:
    if count <= 0:
        return np.zeros((X.shape[1], 0))
    values, axes = np.linalg.eigh(X.T @ X)
    order = np.argsort(-values, kind="stable")[:count]
    axes = axes[:, order[values[order] > 1e-12 * max(float(values.max()), 1e-300)]]
    return axes * axis_signs(axes) if axes.shape[1] else axes
