"""Gradient boosting consensus: one booster a source, which learn from labels and each other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hetviz.core import gbc
from hetviz.core.boosted import Boosted, TreeSettings, boosted
from hetviz.progress import Progress, silent

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]

# Links carry what labels say only once there is something to carry.
_GRAPHS_AFTER = 1.0 / 3.0
_WEIGHT_FOLDS = 3
_WEIGHT_ROUNDS = 25
_CLIP = 1e-6


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

    X: Any
    rows: Ints


@dataclass(frozen=True)
class GbcSettings:
    """How `fit_gbc` learns.

    Attributes
    ----------
    n_rounds : int
    lam0, lam1 : float
        Weight of consensus between sources, and of likeness of linked rows.
    consensus : {"soft", "paper"}
        See `hetviz.core.gbc.pull`.
    connectivity : {"paper", "exact"}
        See `hetviz.core.gbc.connectivity`.
    weights : {"holdout", "training", "equal"}
        Of sources: by their loss on labels held out from them, on the labels that they learned
        from (the thesis), or all alike. Graphs are weighed by how alike joined predictions are.
    normalize : bool
        Multiply both lambdas by the number of labelled by that of unlabelled rows where these are
        more: else they outvote the labels in every leaf, and learning stalls.
    trees : TreeSettings
    """

    n_rounds: int = 100
    lam0: float = 0.1
    lam1: float = 0.1
    consensus: str = "soft"
    connectivity: str = "paper"
    weights: str = "holdout"
    normalize: bool = True
    trees: TreeSettings = field(default_factory=TreeSettings)


@dataclass(frozen=True, eq=False)
class Gbc:
    """A fitted consensus.

    Attributes
    ----------
    prior : ndarray of shape (K,)
        Margin of a row that no source records.
    margins : list of ndarray of shape (n_i, K)
        Of each source.
    weights, graph_weights : ndarray of shape (rounds, p), (rounds, q)
        After each round.
    history : list of float
        Objective after each round, with the weights of that round.
    joint : ndarray of shape (n, K)
        The consensus; the prior where no source records a row.
    """

    prior: Floats
    boosters: list[Boosted | None]
    margins: list[Floats]
    weights: Floats
    graph_weights: Floats
    history: list[float]
    joint: Floats

    def margin(self, source: int, X: Any) -> Floats:
        """Return the margins (n_new, K) of other rows by one source."""
        booster = self.boosters[source]
        here = np.zeros((X.shape[0], len(self.prior)))
        return self.prior + (here if booster is None else booster.predict(X))

    def fuse(self, margins: Sequence[Floats], rows: Sequence[Ints], n: int) -> Floats:
        """Return the consensus (n, K) of margins by source; the prior where there is none."""
        E = gbc.consensus(margins, rows, self.weights[-1], n)
        return np.where(np.isnan(E), self.prior, E)


Watch = Callable[[int, Floats], bool]


def fit_gbc(
    sources: Sequence[GbcSource],
    graphs: Sequence[Any],
    Y: Floats,
    task: str,
    settings: GbcSettings,
    progress: Progress = silent,
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
    Sources in turn see the newest margins of the others. Rows that nothing pulls are predicted,
    not learned from. Cost: O(sum n_i d_i K) and one sparse product for each round.
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
    )


def prior_of(task: str, Y: Floats) -> Floats:
    """Return the constant that fits known labels best: their mean, or the logarithm of the odds."""
    mean = np.nanmean(Y, axis=0)
    if task == gbc.NUMBER:
        return np.asarray(mean)
    p = np.clip((mean + 1.0) / 2.0, _CLIP, 1.0 - _CLIP)
    return np.asarray(np.log(p / (1.0 - p)))


@dataclass(eq=False)
class _Training:
    """Where training stands."""

    sources: Sequence[GbcSource]
    graphs: Sequence[Any]
    Y: Floats
    task: str
    settings: GbcSettings
    prior: Floats
    labelled: list[Mask]
    consenting: list[Mask]
    joined: list[Mask]
    learn: list[Ints]
    means: list[list[Any]]
    boosters: list[Boosted | None]
    f: list[Floats]
    w: Floats
    v: Floats
    held: Floats | None

    @classmethod
    def start(
        cls,
        sources: Sequence[GbcSource],
        graphs: Sequence[Any],
        Y: Floats,
        task: str,
        settings: GbcSettings,
        progress: Progress,
    ) -> _Training:
        n, K = Y.shape
        p, q = len(sources), len(graphs)
        prior = prior_of(task, Y)
        known = np.asarray(np.isfinite(Y).all(axis=1))
        count = np.bincount(np.concatenate([s.rows for s in sources]), minlength=n)
        labelled = [known[s.rows] for s in sources]
        # what one source alone records has nobody to agree with
        consenting = [~known[s.rows] & (count[s.rows] > 1) for s in sources]
        means = [[gbc.within_source(A, s.rows) for A in graphs] for s in sources]
        linked = [
            np.asarray(sum((np.diff(P.indptr) for P in each), np.zeros(len(t)))) > 0
            for each, t in zip(means, labelled, strict=True)
        ]
        joined = [has & ~t for has, t in zip(linked, labelled, strict=True)]
        learn = []
        for t, u, s, has in zip(labelled, consenting, joined, linked, strict=True):
            on = t | (u & (settings.lam0 > 0)) | (s & (settings.lam1 > 0))
            if settings.lam1 > 0 and settings.connectivity == "exact":
                on |= has
            learn.append(np.flatnonzero(on))
        boosters = [
            boosted(s.X, rows, K, settings.trees) if len(rows) else None
            for s, rows in zip(sources, learn, strict=True)
        ]
        f = [np.tile(prior, (len(s.rows), 1)) for s in sources]
        held = None
        if settings.weights == "holdout" and p > 1:
            held = held_out_losses(sources, Y, task, settings, progress)
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
            learn,
            means,
            boosters,
            f,
            w,
            v,
            held,
        )

    def round(self, number: int) -> None:
        """Give every source one step of trees."""
        graphs_too = number >= _GRAPHS_AFTER * self.settings.n_rounds
        for i, booster in enumerate(self.boosters):
            if booster is None:
                continue
            _, slope, curvature = self._terms(i, graphs_too)
            rows = self.learn[i]
            booster.step(slope[rows], curvature[rows])
            self.f[i] = self.prior + booster.scores

    def objective(self) -> float:
        """Return the objective as it stands."""
        return sum(float(w) * self._terms(i, True)[0] for i, w in enumerate(self.w))

    def weigh(self, number: int) -> None:
        """Set the weights of sources and graphs for the next round."""
        how = self.settings.weights
        if how == "equal":
            return
        if how == "training":
            self.w = gbc.shares(np.array([self._label_loss(i) for i in range(len(self.f))]))
        elif self.held is not None:
            self.w = gbc.shares(self.held[min(number, len(self.held) - 1)])
        if len(self.graphs) > 1:
            rows = [source.rows for source in self.sources]
            apart = gbc.graph_losses(self.task, self.f, rows, self.w, self.graphs, len(self.Y))
            self.v = gbc.shares(apart)

    def filled(self) -> Floats:
        """Return the consensus, the prior where no source records a row."""
        E = self._consensus()
        return np.where(np.isnan(E), self.prior, E)

    def _consensus(self) -> Floats:
        rows = [source.rows for source in self.sources]
        return gbc.consensus(self.f, rows, self.w, len(self.Y))

    def _label_loss(self, i: int) -> float:
        t = self.labelled[i]
        y = self.Y[self.sources[i].rows[t]]
        return float(gbc.label_loss(self.task, self.f[i][t], y).mean()) if t.any() else np.nan

    def _terms(self, i: int, graphs_too: bool) -> tuple[float, Floats, Floats]:
        """Return value, slope and curvature of what concerns source i, without its weight."""
        f, rows, t, u = self.f[i], self.sources[i].rows, self.labelled[i], self.consenting[i]
        slope, curvature = np.zeros_like(f), np.zeros_like(f)
        y = self.Y[rows[t]]
        value = float(gbc.label_loss(self.task, f[t], y).sum())
        slope[t], curvature[t] = gbc.label_slopes(self.task, f[t], y)
        lam0 = self._scaled(self.settings.lam0, i, u)
        if lam0 > 0:
            E = self._consensus()[rows[u]]
            found = gbc.pull(self.task, f[u], E, self.settings.consensus)
            value += lam0 * float(found.value.sum())
            slope[u] += lam0 * found.slope
            curvature[u] += lam0 * found.curvature
        lam1 = self._scaled(self.settings.lam1, i, self.joined[i])
        if lam1 > 0 and graphs_too:
            S, has = gbc.neighbour_mean(self.means[i], self.v)
            v, g, h = gbc.connectivity(
                self.task,
                f,
                S,
                self.joined[i] & has,
                self.settings.consensus,
                self.settings.connectivity,
            )
            value, slope, curvature = value + lam1 * v, slope + lam1 * g, curvature + lam1 * h
        return value, slope, curvature

    def _scaled(self, lam: float, i: int, active: Mask) -> float:
        """Return lambda, times labelled by unlabelled rows where there are more of the latter."""
        if not active.any():
            return 0.0
        if not self.settings.normalize:
            return lam
        # a source without labels of its own has only the others to learn from
        return lam * min(int(self.labelled[i].sum()) / int(active.sum()) or 1.0, 1.0)


def held_out_losses(
    sources: Sequence[GbcSource], Y: Floats, task: str, settings: GbcSettings, progress: Progress
) -> Floats:
    """Return the mean loss of each source alone on labels that it did not see, by round.

    Returns
    -------
    ndarray of shape (rounds, p)
        Of at most 25 rounds, since weights hardly change after; NaN where a source records too few
        labels to judge by.
    """
    rounds = min(settings.n_rounds, _WEIGHT_ROUNDS)
    known = np.flatnonzero(np.isfinite(Y).all(axis=1))
    fold = folds_of(Y, known, _WEIGHT_FOLDS, settings.trees.random_state)
    total, count = np.zeros((rounds, len(sources))), np.zeros(len(sources))
    alone = replace(settings, n_rounds=rounds, lam0=0.0, lam1=0.0, weights="equal")
    for number in range(_WEIGHT_FOLDS):
        hidden = np.zeros(len(Y), dtype=bool)
        hidden[known[fold == number]] = True
        seen = np.where(hidden[:, None], np.nan, Y)
        if not np.isfinite(seen).any():
            continue
        for i, source in enumerate(sources):
            progress(0.2 * (number * len(sources) + i) / (_WEIGHT_FOLDS * len(sources)), "Weighing")
            out = hidden[source.rows]
            if not out.any() or not (np.isfinite(seen[source.rows, 0])).any():
                continue
            part = GbcSource(source.X, np.arange(len(source.rows)))
            y, mine = Y[source.rows[out]], seen[source.rows]

            def keep(t: int, E: Floats, i: int = i, out: Mask = out, y: Floats = y) -> bool:
                total[t, i] += float(gbc.label_loss(task, E[out], y).mean(axis=1).sum())
                return False

            fit_gbc([part], [], mine, task, alone, watch=keep)
            count[i] += int(out.sum())
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(count > 0, total / count, np.nan)


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
