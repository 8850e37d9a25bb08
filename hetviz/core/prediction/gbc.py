"""Gradient boosting consensus: one booster a source, which learn from labels and each other.

    min  sum_i w_i [ sum_T l(f_i, y) + lam0 sum_U l(f_i, E) + lam1 sum_U l(f_i, S_i f_i) ]

f_i are the margins of source i, T its labelled and U its unlabelled rows, E the weighted mean of
the sources that record a row, S_i the mean over a row's neighbours that source i records.
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
from hetviz.core.prediction.boosting import LEARNERS, TREES, Boosted, TreeSettings, boosted
from hetviz.progress import Progress, ProgressPart, ignore_progress

NUMBER, CLASSES = "number", "classes"
AUTO = "auto"
_CLIP = 1e-6


@dataclass(frozen=True, eq=False)
class Pull:
    """The term that pulls margins f to a target t, by row and column; derivatives as asked for.

    Attributes
    ----------
    task : {"number", "classes"}
    f, t : ndarray of shape (n, K)
    how : {"soft", "paper"}
        For classes. ``"soft"`` is the divergence of sigmoid(f) from sigmoid(t), which is least at
        f = t. ``"paper"`` inserts t as the label of the logistic loss, which pushes f beyond t.
    """

    task: str
    f: Floats
    t: Floats
    how: str = "soft"

    @property
    def value(self) -> Floats:
        """The term itself."""
        f, t = self.f, self.t
        if self.task == NUMBER:
            return np.asarray((f - t) ** 2)
        if self.how == "paper":
            return np.logaddexp(0.0, -f * t)
        return np.asarray(np.logaddexp(0.0, f) - np.logaddexp(0.0, t) + self._q * (t - f))

    @property
    def slope(self) -> Floats:
        """By f."""
        if self.task == NUMBER:
            return 2.0 * (self.f - self.t)
        return -self.t * self._wrong if self.how == "paper" else self._p - self._q

    @property
    def curvature(self) -> Floats:
        """By f, twice."""
        if self.task == NUMBER:
            return np.full_like(self.f, 2.0)
        if self.how == "paper":
            return self.t**2 * self._wrong * (1.0 - self._wrong)
        return self._p * (1.0 - self._p)

    @property
    def target_slope(self) -> Floats:
        """By t."""
        if self.task == NUMBER:
            return 2.0 * (self.t - self.f)
        if self.how == "paper":
            return -self.f * self._wrong
        return self._q * (1.0 - self._q) * (self.t - self.f)

    @property
    def target_curvature(self) -> Floats:
        """By t, twice; for "soft" what is surely not negative of it."""
        if self.task == NUMBER:
            return np.full_like(self.f, 2.0)
        if self.how == "paper":
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
    """Return the constant that fits known labels best: their mean, or the logarithm of the odds."""
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


def voices(rows: Sequence[Ints], weights: Floats, n: int) -> list[Floats]:
    """Return what part of the consensus each source has in its rows: of sum 1 over sources."""
    weight, count = np.zeros(n), np.zeros(n)
    for here, w in zip(rows, weights, strict=True):
        weight[here] += w
        count[here] += 1
    # a row that only sources of weight 0 record still has their plain mean
    return [
        np.where(
            weight[here] > 0, w / np.where(weight[here] > 0, weight[here], 1.0), 1 / count[here]
        )
        for here, w in zip(rows, weights, strict=True)
    ]


def consensus(margins: Sequence[Floats], rows: Sequence[Ints], weights: Floats, n: int) -> Floats:
    """Return E (n, K): the weighted mean over the sources that record each row, else NaN."""
    E = np.full((n, margins[0].shape[1]), np.nan)
    for here in rows:
        E[here] = 0.0
    for f, here, voice in zip(margins, rows, voices(rows, weights, n), strict=True):
        E[here] += voice[:, None] * f
    return E


def within_source(A: Sparse, rows: Ints) -> Sparse:
    """Return the mean over neighbours as a matrix (n_i, n_i); rows without neighbours are 0."""
    inner = sp.csr_array(sp.csr_array(A)[rows][:, rows])
    degree = np.asarray(inner.sum(axis=1)).ravel()
    return sp.csr_array(
        sp.diags_array(1.0 / np.where(degree > 0, degree, 1.0)) @ inner, shape=inner.shape
    )


def neighbour_mean(means: Sequence[Sparse], weights: Floats) -> tuple[Sparse, Bools]:
    """Combine the graphs of one source.

    Parameters
    ----------
    means : sequence of csr_array of shape (n_i, n_i)
        From `within_source`, one for each graph.
    weights : ndarray of shape (q,)

    Returns
    -------
    S : csr_array of shape (n_i, n_i)
        Rows of sum 1, over the graphs in which a row has a neighbour; else rows of 0.
    joined : ndarray of bool, shape (n_i,)
        Which rows have a neighbour.
    """
    has = [np.diff(P.indptr) > 0 for P in means]
    share = sum(w * present for w, present in zip(weights, has, strict=True))
    inverse = 1.0 / np.where(share > 0, share, 1.0)
    S = sum(w * P for w, P in zip(weights, means, strict=True))
    return sp.csr_array(sp.diags_array(inverse) @ S), np.asarray(share) > 0


def connectivity(
    task: str, f: Floats, S: Sparse, active: Bools, how: str = "soft", gradient: str = "paper"
) -> tuple[float, Floats, Floats]:
    """Return value, slope and curvature of the pull of rows to their neighbours' mean.

    Parameters
    ----------
    task, how
        See `Pull`.
    f : ndarray of shape (n_i, K)
    S : csr_array of shape (n_i, n_i)
    active : ndarray of bool, shape (n_i,)
        Rows that are pulled.
    gradient : {"paper", "exact"}
        The paper takes the neighbours as fixed; ``"exact"`` counts that they are pulled too.
    """
    found = Pull(task, f, S @ f, how)
    on = active[:, None].astype(np.float64)
    slope, curvature = on * found.slope, on * found.curvature
    if gradient == "exact":
        slope = slope + S.T @ (on * found.target_slope)
        curvature = curvature + S.multiply(S).T @ (on * found.target_curvature)
    return float((on * found.value).sum()), np.asarray(slope), np.asarray(curvature)


def shares(losses: Floats) -> Floats:
    """Turn losses into weights of sum 1: exp(-loss / z), with z such that they sum to one.

    Parameters
    ----------
    losses : ndarray of shape (p,)
        0 or more. NaN (nothing to judge by) counts half the mean weight of the others.

    Notes
    -----
    Equations 3.10 and 3.11, with z read as the constant that makes the sum one: equal losses give
    equal weights, and the scale of the losses does not matter.
    """
    losses = np.asarray(losses, dtype=np.float64)
    known = np.isfinite(losses)
    if not known.any():
        return np.full(len(losses), 1.0 / max(len(losses), 1))
    out = np.zeros(len(losses))
    out[known] = _shares(losses[known])
    out[~known] = 0.5 * out[known].mean()
    return np.asarray(out / out.sum())


def _shares(losses: Floats) -> Floats:
    least = float(losses.min())
    if least <= 0:
        best = (losses <= 0).astype(np.float64)
        return np.asarray(best / best.sum())
    if len(losses) == 1:
        return np.ones(1)
    ratio = losses / least
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
    """Return how far predictions of joined rows differ, by graph: the mean over its edges.

    Notes
    -----
    Over edges with both ends in a source, each source by its weight; for classes the divergence of
    the two probabilities, both ways. NaN for a graph without such an edge.
    """
    out = np.full(len(graphs), np.nan)
    at = []
    for here in rows:
        place = np.full(n, -1)
        place[here] = np.arange(len(here))
        at.append(place)
    for number, A in enumerate(graphs):
        a, b = (end.astype(np.int64) for end in sp.triu(A, 1).coords)
        total, mass = 0.0, 0.0
        for f, place, w in zip(margins, at, weights, strict=True):
            i, j = place[a], place[b]
            both = (i >= 0) & (j >= 0)
            if both.any():
                left, right = f[i[both]], f[j[both]]
                apart = Pull(task, left, right).value + Pull(task, right, left).value
                total += w * float(apart.sum()) / 2.0
                mass += w * int(both.sum())
        if mass > 0:
            out[number] = total / mass
    return out


_FOLDS = 3
# To judge sources, few rounds of longer steps do: 10 of these go as far as 25.
_ROUNDS = 10
_LONGER = 2.5


@dataclass(frozen=True, eq=False)
class GbcSource:
    """What one source records.

    Attributes
    ----------
    X : ndarray or csr of shape (n_i, d)
        NaN where a cell is missing.
    rows : ndarray of int, shape (n_i,)
        The row of the whole that each row describes, each at most once.
    """

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
    """Return the mean loss of each source alone on labels that it did not see, by round.

    Returns
    -------
    ndarray of shape (rounds, p)
        Of `n_rounds`, at most 25 since weights hardly change after; NaN where a source records too
        few labels to judge by.
    """
    steps = min(max(round(n_rounds / _LONGER), 1), _ROUNDS)
    longer = replace(trees, learning_rate=min(_LONGER * trees.learning_rate, 1.0))
    known = np.flatnonzero(np.isfinite(Y).all(axis=1))
    fold_of = np.full(len(Y), -1)
    fold_of[known] = folds_of(Y, known, _FOLDS, trees.random_state)
    total, count = np.zeros((steps, len(sources))), np.zeros(len(sources))
    for number in range(_FOLDS):
        learned = known[fold_of[known] != number]
        if not len(learned):
            continue
        prior = prior_of(task, Y[learned])
        for i, source in enumerate(sources):
            progress((number * len(sources) + i) / (_FOLDS * len(sources)), "Weighing")
            fold = fold_of[source.rows]
            learn, out = np.flatnonzero((fold >= 0) & (fold != number)), fold == number
            if not len(learn) or not out.any():
                continue
            used = np.concatenate([learn, np.flatnonzero(out)])
            y, m = Y[source.rows[used]], len(learn)
            booster = boosted(source.X[used], np.arange(m), Y.shape[1], longer)
            for step in range(steps):
                booster.step(*label_slopes(task, prior + booster.scores[:m], y[:m]))
                losses = label_loss(task, prior + booster.scores[m:], y[m:])
                total[step, i] += float(losses.mean(axis=1).sum())
            count[i] += len(used) - m
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.where(count > 0, total / count, np.nan)
    # one row for each round of the usual length
    length = min(n_rounds, round(_ROUNDS * _LONGER))
    return mean[np.minimum((np.arange(length) / _LONGER).astype(np.int64), steps - 1)]


def folds_of(Y: Floats, known: Ints, n_folds: int, random_state: int) -> Ints:
    """Return a fold for each known row, classes spread evenly over the folds."""
    rng = np.random.default_rng(random_state)
    mixed = rng.permutation(len(known))
    _, group = np.unique(np.sign(Y[known]), axis=0, return_inverse=True)
    if len(np.unique(Y[known])) > 2:
        group = np.zeros(len(known), dtype=np.int64)
    order = mixed[np.argsort(group.ravel()[mixed], kind="stable")]
    fold = np.empty(len(known), dtype=np.int64)
    fold[order] = np.arange(len(known)) % n_folds
    return fold


@dataclass(frozen=True)
class GbcSettings:
    """How `fit_gbc` learns.

    Attributes
    ----------
    n_rounds : int
    lam0, lam1 : float
        Weight of consensus between sources, and of likeness of linked rows.
    consensus : {"soft", "paper"}
        See `hetviz.core.prediction.gbc.Pull`.
    sharpness : float
        For classes, with "soft": sources are pulled to prior + sharpness (E - prior). The mean E of
        log-odds is as timid as the sources that cannot tell a row; independent ones would add up.
    connectivity : {"paper", "exact"}
        See `hetviz.core.prediction.gbc.connectivity`.
    weights : {"holdout", "training", "equal"}
        Of sources: by their loss on labels held out from them, on the labels that they learned
        from (the thesis), or all alike. Graphs are weighed by how alike joined predictions are.
    normalize : bool
        Multiply both lambdas by the number of labelled by that of unlabelled rows where these are
        more: else they outvote the labels in every leaf, and learning stalls.
    alone : int
        Rounds, at most half of all, in which each source learns from labels alone. Others and links
        tell something only after that, and trees of the labelled rows take half the time.
    trees : TreeSettings
    learner : {"trees", "forest", "linear", "auto"}
        See `hetviz.core.prediction.boosting.TreeSettings`; "auto" takes for each source the one
        with the least loss on labels held out from it.
    line_search : bool
        Go along each step as far as lowers the objective most (the thesis), before the learning
        rate, at most 20 times as far.
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
        """Rounds before the first that couples."""
        return min(self.alone, self.n_rounds // 2)


@dataclass(frozen=True, eq=False)
class Gbc:
    """A fitted consensus.

    Attributes
    ----------
    prior : ndarray of shape (K,)
        Margin of a row that no source records.
    boosters : list of list of Boosted
        Of each source: what labels alone taught it, then what it learned beside the others.
    margins : list of ndarray of shape (n_i, K)
        Of each source.
    weights, graph_weights : ndarray of shape (rounds, p), (rounds, q)
        After each round.
    history : list of float
        Objective after each round, with the weights of that round; of the labels alone at first.
    joint : ndarray of shape (n, K)
        The consensus; the prior where no source records a row.
    learners : list of str
        What each source grew.
    """

    prior: Floats
    boosters: list[list[Boosted]]
    margins: list[Floats]
    weights: Floats
    graph_weights: Floats
    history: list[float]
    joint: Floats
    learners: list[str] = field(default_factory=list)

    def margin(self, source: int, X: Matrix) -> Floats:
        """Return the margins (n_new, K) of other rows by one source."""
        f = np.tile(self.prior, (X.shape[0], 1))
        for booster in self.boosters[source]:
            f = f + booster.predict(X)
        return f

    def fuse(self, margins: Sequence[Floats], rows: Sequence[Ints], n: int) -> Floats:
        """Return the consensus (n, K) of margins by source; the prior where there is none."""
        E = consensus(margins, rows, self.weights[-1], n)
        return np.where(np.isnan(E), self.prior, E)


Watch = Callable[[int, Floats], bool]


def fit_gbc(
    sources: Sequence[GbcSource],
    graphs: Sequence[Sparse],
    Y: Floats,
    task: str,
    settings: GbcSettings,
    progress: Progress = ignore_progress,
    watch: Watch | None = None,
) -> Gbc:
    """Fit one booster for each source, round by round, each in sight of what the others say.

    Parameters
    ----------
    sources : sequence of GbcSource
        At least one.
    graphs : sequence of csr_array of shape (n, n)
        Symmetric, weights above 0.
    Y : ndarray of shape (n, K)
        Numbers, or 1 and -1 for each class (one column for two classes); NaN where unknown.
    task : {"number", "classes"}
    settings : GbcSettings
    progress : callable
    watch : callable, optional
        Told round and consensus (n, K) after each round; True stops.

    Notes
    -----
    Each source first learns from labels alone; then sources in turn see the newest margins of the
    others, and links. Rows that nothing pulls are predicted, not learned
    from. Cost: O(sum n_i d_i K) and one sparse product for each round.
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
    return Gbc(
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
    """Where training stands."""

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
    boosters: list[list[Boosted]]
    learn: list[Ints]
    base: list[Floats]
    f: list[Floats]
    w: Floats
    v: Floats
    held: Floats | None
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
        known = np.asarray(np.isfinite(Y).all(axis=1))
        count = np.bincount(np.concatenate([s.rows for s in sources]), minlength=n)
        labelled = [known[s.rows] for s in sources]
        # what one source alone records has nobody to agree with
        consenting = [~known[s.rows] & (count[s.rows] > 1) for s in sources]
        means = [[within_source(A, s.rows) for A in graphs] for s in sources]
        linked = [
            np.asarray(sum((np.diff(P.indptr) for P in each), np.zeros(len(t)))) > 0
            for each, t in zip(means, labelled, strict=True)
        ]
        joined = [has & ~t for has, t in zip(linked, labelled, strict=True)]
        f = [np.tile(prior, (len(s.rows), 1)) for s in sources]
        held, learners = _learners(sources, Y, task, settings, ProgressPart(progress, 0.0, 0.2))
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
            held,
            learners,
        )

    @cached_property
    def coupled(self) -> list[Ints]:
        """Rows of each source that labels, other sources or links pull."""
        out, how = [], self.settings
        for t, u, s, has in zip(
            self.labelled, self.consenting, self.joined, self.linked, strict=True
        ):
            on = t | (u & (how.lam0 > 0)) | (s & (how.lam1 > 0))
            if how.lam1 > 0 and how.connectivity == "exact":
                on |= has
            out.append(np.flatnonzero(on))
        return out

    def branch(self, settings: GbcSettings) -> _Training:
        """Return training that goes on from here under other couplings, and leaves this alone.

        If rows are coupled under them: without, the trees of both would be the same ones.
        """
        return replace(
            self,
            settings=settings,
            boosters=[list(mine) for mine in self.boosters],
            learn=list(self.learn),
            base=list(self.base),
            f=list(self.f),
            E=None,
        )

    @property
    def is_coupled(self) -> bool:
        """Whether any row is pulled to others, or to what it is linked with."""
        return any(
            len(rows) > int(t.sum()) for rows, t in zip(self.coupled, self.labelled, strict=True)
        )

    def round(self, number: int) -> None:
        """Give every source one step of trees."""
        begins = number == self.settings.n_alone and self.is_coupled
        if begins or number == 0:
            self._grow(self.coupled if begins else self.learn)
        together = number >= self.settings.n_alone and self.is_coupled
        self.E, heard = None, list[Floats]()
        if together:
            rows = [source.rows for source in self.sources]
            self.E, heard = self._consensus(), voices(rows, self.w, len(self.Y))
        for i, learn in enumerate(self.learn):
            if not len(learn):
                continue
            slope, curvature = self._slopes(i)
            booster = self.boosters[i][-1]
            line = partial(self._length, i) if self.settings.line_search else None
            booster.step(slope[learn], curvature[learn], line)
            before, self.f[i] = self.f[i], self.base[i] + booster.scores
            if self.E is not None:
                self.E[self.sources[i].rows] += heard[i][:, None] * (self.f[i] - before)

    def _length(self, i: int, change: Floats) -> float:
        """Return how many times as far as a step goes the objective of source i is least."""
        at, whole = self.f[i], change / self.settings.trees.learning_rate

        def value(length: float) -> float:
            self.f[i] = at + length * whole
            return self._value(i)

        found = minimize_scalar(value, bounds=(0.0, _LONGEST), method="bounded")
        self.f[i] = at
        return float(found.x)

    def _grow(self, learn: list[Ints]) -> None:
        """Go on from the margins reached, with new trees of other rows."""
        self.learn, self.base = learn, list(self.f)
        for number, rows in enumerate(learn):
            if len(rows):
                trees = replace(self.settings.trees, learner=self.learners[number])
                X = self.sources[number].X
                self.boosters[number].append(boosted(X, rows, self.Y.shape[1], trees))

    def objective(self) -> float:
        """Return the objective as it stands."""
        return sum(float(w) * self._value(i) for i, w in enumerate(self.w))

    def weigh(self, number: int) -> None:
        """Set the weights of sources and graphs for the next round."""
        how = self.settings.weights
        if how == "equal":
            return
        if how == "training":
            self.w = shares(np.array([self._label_loss(i) for i in range(len(self.f))]))
        elif self.held is not None:
            self.w = shares(self.held[min(number, len(self.held) - 1)])
        if len(self.graphs) > 1:
            rows = [source.rows for source in self.sources]
            apart = graph_losses(self.task, self.f, rows, self.w, self.graphs, len(self.Y))
            self.v = shares(apart)

    def filled(self) -> Floats:
        """Return the consensus, the prior where no source records a row."""
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
        """Return what source i adds to the objective, without its weight."""
        t = self.labelled[i]
        y = self.Y[self.sources[i].rows[t]]
        value = float(label_loss(self.task, self.f[i][t], y).sum())
        lam0, found = self._to_others(i)
        if found is not None:
            value += lam0 * float(found.value.sum())
        lam1, linked = self._to_neighbours(i)
        return value if linked is None else value + lam1 * linked[0]

    def _slopes(self, i: int) -> tuple[Floats, Floats]:
        """Return slope and curvature of that, (n_i, K)."""
        f, t, u = self.f[i], self.labelled[i], self.consenting[i]
        slope, curvature = np.zeros_like(f), np.zeros_like(f)
        slope[t], curvature[t] = label_slopes(self.task, f[t], self.Y[self.sources[i].rows[t]])
        lam0, found = self._to_others(i)
        if found is not None:
            slope[u] += lam0 * found.slope
            curvature[u] += lam0 * found.curvature
        lam1, linked = self._to_neighbours(i)
        if linked is not None:
            slope, curvature = slope + lam1 * linked[1], curvature + lam1 * linked[2]
        return slope, curvature

    def _to_others(self, i: int) -> tuple[float, Pull | None]:
        u = self.consenting[i]
        lam0 = self._scaled(self.settings.lam0, i, u)
        if self.E is None or lam0 <= 0:
            return 0.0, None
        aim = self._aim(self.E[self.sources[i].rows[u]])
        return lam0, Pull(self.task, self.f[i][u], aim, self.settings.consensus)

    def _to_neighbours(self, i: int) -> tuple[float, tuple[float, Floats, Floats] | None]:
        lam1 = self._scaled(self.settings.lam1, i, self.joined[i])
        if self.E is None or lam1 <= 0:
            return 0.0, None
        S, has = neighbour_mean(self.means[i], self.v)
        how = self.settings
        return lam1, connectivity(
            self.task, self.f[i], S, self.joined[i] & has, how.consensus, how.connectivity
        )

    def _aim(self, E: Floats) -> Floats:
        """Return what sources are pulled to, from their consensus."""
        if self.task == NUMBER or self.settings.consensus == "paper":
            return E
        return np.asarray(self.prior + self.settings.sharpness * (E - self.prior))

    def _scaled(self, lam: float, i: int, active: Bools) -> float:
        """Return lambda, times labelled by unlabelled rows where there are more of the latter."""
        if not active.any():
            return 0.0
        if not self.settings.normalize:
            return lam
        # a source without labels of its own has only the others to learn from
        return lam * min(int(self.labelled[i].sum()) / int(active.sum()) or 1.0, 1.0)


def _learners(
    sources: Sequence[GbcSource],
    Y: Floats,
    task: str,
    settings: GbcSettings,
    progress: Progress,
) -> tuple[Floats | None, list[str]]:
    """Return losses on held-out labels where they weigh sources, and what each source grows."""
    p, asked = len(sources), settings.learner
    weighed = settings.weights == "holdout" and p > 1
    if asked != AUTO and not weighed:
        return None, [asked] * p
    kinds = LEARNERS if asked == AUTO else (asked,)
    losses = []
    for number, kind in enumerate(kinds):
        part = ProgressPart(progress, number / len(kinds), (number + 1) / len(kinds))
        trees = replace(settings.trees, learner=kind)
        losses.append(held_out_losses(sources, Y, task, settings.n_rounds, trees, part))
    last = np.where(np.isfinite(found := np.array([one[-1] for one in losses])), found, np.inf)
    best = last.argmin(axis=0)
    held = np.column_stack([losses[kind][:, i] for i, kind in enumerate(best.tolist())])
    return held if weighed else None, [kinds[kind] for kind in best.tolist()]


LAM0 = (0.0, 0.1, 0.3, 1.0)
LAM1 = (0.0, 0.03, 0.1, 0.3)
MOST_ROUNDS = 200
_LONGEST = 20.0
_EARLY_SHARE = 5
_PATIENCE = 20


def chosen(
    sources: Sequence[GbcSource],
    graphs: Sequence[Sparse],
    Y: Floats,
    task: str,
    settings: GbcSettings,
    open_: Sequence[str],
    progress: Progress,
) -> GbcSettings:
    """Return the settings with what is open filled in.

    Parameters
    ----------
    sources, graphs, Y, task
        As in `hetviz.core.prediction.gbc.fit_gbc`.
    settings : GbcSettings
        Values of what is not open; `n_rounds` counts as 100 while it is.
    open_ : sequence of {"lam0", "lam1", "learner", "n_rounds", "early"}
        "learner" is chosen between trees and the settings' own, if these are better by more than
        one standard error over the folds. "n_rounds" is chosen by
        cross-validation, "early" by one fifth of the labels: training stops when 20 rounds did not
        help them, once sources have heard each other for as many.
    progress : callable

    Notes
    -----
    Three folds, the loss of the consensus on their labels; first what sources learn with, under the
    couplings of the settings, then lam0 without links, then lam1, then rounds: up to 11 fits for
    each fold, which have the rounds before the first that couples in common.
    """
    known = np.flatnonzero(np.isfinite(Y).all(axis=1))
    early = "early" in open_
    n_folds = _EARLY_SHARE if early else _FOLDS
    n_folds = min(n_folds, len(known))
    fold = folds_of(Y, known, n_folds, settings.trees.random_state)
    curve_wanted = early or "n_rounds" in open_
    if curve_wanted:
        settings = replace(settings, n_rounds=MOST_ROUNDS)
    grids = {"lam0": LAM0, "lam1": LAM1 if graphs else ()}
    grids = {name: values for name, values in grids.items() if name in open_ and values}
    starts = [settings]
    if "learner" in open_ and settings.learner != TREES:
        starts.append(replace(settings, learner=TREES))
    hidden = [known[fold == number] for number in (range(1) if early else range(n_folds))]
    count = len(starts) * len(hidden)
    parts = [ProgressPart(progress, 0.4 * k / count, 0.4 * (k + 1) / count) for k in range(count)]
    begun = [
        [
            _Fold(sources, graphs, Y, task, start, out, parts.pop(0), _PATIENCE if early else None)
            for out in hidden
        ]
        for start in starts
    ]
    steps, done = len(starts) + sum(map(len, grids.values())) + curve_wanted, 0

    def judge(folds: Sequence[_Fold], tried: GbcSettings) -> list[Floats]:
        nonlocal done
        progress(0.4 + 0.6 * done / steps, "Judged by labels held out")
        done += 1
        curves = [one.curve(tried) for one in folds]
        return [curve[: min(map(len, curves))] for curve in curves]

    def loss(folds: Sequence[_Fold], tried: GbcSettings) -> Floats:
        curves = np.array(judge(folds, tried))
        return curves[:, int(curves.mean(axis=0).argmin()) if curve_wanted else -1]

    folds = begun[0]
    if len(starts) > 1:
        # what a source learns best with alone need not be what it learns best with beside links
        gain = np.subtract(*(loss(*pair) for pair in zip(begun[::-1], starts[::-1], strict=True)))
        if gain.mean() <= gain.std() / np.sqrt(max(len(gain) - 1, 1)):
            folds, settings = begun[1], starts[1]
    if "lam1" in grids:
        settings = replace(settings, lam1=0.0)
    for name, values in grids.items():
        losses = [loss(folds, _with(settings, name, value)).mean() for value in values]
        settings = _with(settings, name, values[int(np.argmin(losses))])
    if curve_wanted:
        settings = replace(
            settings, n_rounds=int(np.mean(judge(folds, settings), axis=0).argmin()) + 1
        )
    return settings


def _with(settings: GbcSettings, name: str, value: float) -> GbcSettings:
    return replace(settings, lam0=value) if name == "lam0" else replace(settings, lam1=value)


class _Fold:
    """Training with some labels hidden, gone as far as all couplings have in common."""

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
        seen = Y.copy()
        seen[hidden] = np.nan
        self._state = _Training.start(sources, graphs, seen, task, settings, progress)
        self._losses = [self._round(self._state, at) for at in range(settings.n_alone)]
        self._told: dict[tuple[float, float] | None, Floats] = {}

    def _round(self, state: _Training, number: int) -> float:
        state.round(number)
        state.weigh(number)
        E = state.filled()[self._hidden]
        return float(label_loss(state.task, E, self._Y[self._hidden]).mean())

    def curve(self, settings: GbcSettings) -> Floats:
        """Return the loss of the consensus on the hidden labels, by round."""
        state = self._state.branch(settings)
        # where nothing couples, trees that branches share go on growing: that is done once
        pair = (settings.lam0, settings.lam1) if state.is_coupled else None
        if pair not in self._told:
            self._told[pair] = self._rest(state)
        return self._told[pair]

    def _rest(self, state: _Training) -> Floats:
        losses, settings = list(self._losses), state.settings
        for number in range(settings.n_alone, settings.n_rounds):
            losses.append(self._round(state, number))
            late = len(losses) > settings.n_alone + (self._patience or 0)
            if self._patience and late and len(losses) - int(np.argmin(losses)) > self._patience:
                break
        return np.array(losses)


def probabilities(margin: Floats) -> Floats:
    """Return the probability of each class, (n, C), from margins (n, K).

    Notes
    -----
    One column is the margin of the second of two classes. Of more, each against the rest, the
    probabilities are divided by their sum.
    """
    p = expit(margin)
    if p.shape[1] == 1:
        return np.hstack([1.0 - p, p])
    return np.asarray(p / np.maximum(p.sum(axis=1, keepdims=True), 1e-300))


def spread(
    task: str, joint: Floats, margins: Sequence[Floats], rows: Sequence[Ints], weights: Floats
) -> Floats:
    """Return how far sources differ on each row, (n,): a weighted standard deviation.

    Notes
    -----
    Of their numbers, or of their probabilities of the class that the consensus names. NaN where
    fewer than two sources record the row.
    """
    n = len(joint)
    best = None if task == NUMBER else probabilities(joint).argmax(axis=1)
    mass, first, second = np.zeros(n), np.zeros(n), np.zeros(n)
    count = np.zeros(n)
    for f, here, w in zip(margins, rows, weights, strict=True):
        value = f[:, 0] if best is None else probabilities(f)[np.arange(len(f)), best[here]]
        mass[here] += w
        first[here] += w * value
        second[here] += w * value**2
        count[here] += 1
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = first / mass
        out = np.sqrt(np.maximum(second / mass - mean**2, 0.0))
    return np.where(count > 1, out, np.nan)


@dataclass(frozen=True, eq=False)
class MarginAxes:
    """Axes of a picture of margins: of the consensus, then of what sources disagree on.

    Attributes
    ----------
    centre, turn : ndarray of shape (K,), (K, a)
        Of the consensus.
    apart : ndarray of shape (p K, b)
        Directions of the sources' differences from it; a + b is at most the number of axes.
    n_components : int
    """

    centre: Floats
    turn: Floats
    apart: Floats
    n_components: int

    @classmethod
    def fit(
        cls, joint: Floats, margins: Sequence[Floats], rows: Sequence[Ints], n_components: int
    ) -> MarginAxes:
        """Take the principal components of the consensus, then of the differences."""
        centre = joint.mean(axis=0) if joint.shape[1] > 1 else np.zeros(1)
        turn = _principal(joint - centre, n_components)
        apart = _principal(_differences(joint, margins, rows), n_components - turn.shape[1])
        return cls(centre, turn, apart, n_components)

    def __call__(self, joint: Floats, margins: Sequence[Floats], rows: Sequence[Ints]) -> Floats:
        """Return places of shape (n, n_components); axes beyond what there is are 0."""
        out = np.zeros((len(joint), self.n_components))
        a, b = self.turn.shape[1], self.apart.shape[1]
        out[:, :a] = (joint - self.centre) @ self.turn
        if b:
            out[:, a : a + b] = _differences(joint, margins, rows) @ self.apart
        return out


def _differences(joint: Floats, margins: Sequence[Floats], rows: Sequence[Ints]) -> Floats:
    """Return f_i - E by source (n, p K), 0 where a source does not record a row."""
    parts = []
    for f, here in zip(margins, rows, strict=True):
        part = np.zeros_like(joint)
        part[here] = f - joint[here]
        parts.append(part)
    return np.hstack(parts)


def _principal(X: Floats, count: int) -> Floats:
    if count <= 0:
        return np.zeros((X.shape[1], 0))
    values, axes = np.linalg.eigh(X.T @ X)
    order = np.argsort(-values, kind="stable")[:count]
    axes = axes[:, order[values[order] > 1e-12 * max(float(values.max()), 1e-300)]]
    if not axes.shape[1]:
        return axes
    top = axes[np.abs(axes).argmax(axis=0), np.arange(axes.shape[1])]
    return np.asarray(axes * np.where(top < 0, -1.0, 1.0))
