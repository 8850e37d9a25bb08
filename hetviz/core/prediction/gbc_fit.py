"""Gradient boosting consensus: one booster a source, which learn from labels and each other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hetviz._types import Bools, Floats, Ints
from hetviz.core.prediction import gbc
from hetviz.core.prediction.boosting import Boosted, TreeSettings, boosted
from hetviz.core.prediction.gbc_held_out import GbcSource, held_out_losses
from hetviz.progress import Part, Progress, silent


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
    """

    prior: Floats
    boosters: list[list[Boosted]]
    margins: list[Floats]
    weights: Floats
    graph_weights: Floats
    history: list[float]
    joint: Floats

    def margin(self, source: int, X: Any) -> Floats:
        """Return the margins (n_new, K) of other rows by one source."""
        f = np.tile(self.prior, (X.shape[0], 1))
        for booster in self.boosters[source]:
            f = f + booster.predict(X)
        return f

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
    coupled: list[Ints]
    means: list[list[Any]]
    boosters: list[list[Boosted]]
    learn: list[Ints]
    base: list[Floats]
    f: list[Floats]
    w: Floats
    v: Floats
    held: Floats | None
    E: Floats | None = None

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
        n = len(Y)
        p, q = len(sources), len(graphs)
        prior = gbc.prior_of(task, Y)
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
        coupled = []
        for t, u, s, has in zip(labelled, consenting, joined, linked, strict=True):
            on = t | (u & (settings.lam0 > 0)) | (s & (settings.lam1 > 0))
            if settings.lam1 > 0 and settings.connectivity == "exact":
                on |= has
            coupled.append(np.flatnonzero(on))
        f = [np.tile(prior, (len(s.rows), 1)) for s in sources]
        held = None
        if settings.weights == "holdout" and p > 1:
            held = held_out_losses(
                sources, Y, task, settings.n_rounds, settings.trees, Part(progress, 0.0, 0.2)
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
            coupled,
            means,
            [[] for _ in sources],
            [np.flatnonzero(t) for t in labelled],
            f,
            f,
            w,
            v,
            held,
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
        self.E, voices = None, []
        if together:
            rows = [source.rows for source in self.sources]
            self.E, voices = self._consensus(), gbc.voices(rows, self.w, len(self.Y))
        for i, learn in enumerate(self.learn):
            if not len(learn):
                continue
            slope, curvature = self._slopes(i)
            booster = self.boosters[i][-1]
            booster.step(slope[learn], curvature[learn])
            before, self.f[i] = self.f[i], self.base[i] + booster.scores
            if self.E is not None:
                self.E[self.sources[i].rows] += voices[i][:, None] * (self.f[i] - before)

    def _grow(self, learn: list[Ints]) -> None:
        """Go on from the margins reached, with new trees of other rows."""
        self.learn, self.base = learn, list(self.f)
        for source, rows, mine in zip(self.sources, learn, self.boosters, strict=True):
            if len(rows):
                mine.append(boosted(source.X, rows, self.Y.shape[1], self.settings.trees))

    def objective(self) -> float:
        """Return the objective as it stands."""
        return sum(float(w) * self._value(i) for i, w in enumerate(self.w))

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

    def _value(self, i: int) -> float:
        """Return what source i adds to the objective, without its weight."""
        t = self.labelled[i]
        y = self.Y[self.sources[i].rows[t]]
        value = float(gbc.label_loss(self.task, self.f[i][t], y).sum())
        lam0, found = self._to_others(i)
        if found is not None:
            value += lam0 * float(found.value.sum())
        lam1, linked = self._to_neighbours(i)
        return value if linked is None else value + lam1 * linked[0]

    def _slopes(self, i: int) -> tuple[Floats, Floats]:
        """Return slope and curvature of that, (n_i, K)."""
        f, t, u = self.f[i], self.labelled[i], self.consenting[i]
        slope, curvature = np.zeros_like(f), np.zeros_like(f)
        slope[t], curvature[t] = gbc.label_slopes(self.task, f[t], self.Y[self.sources[i].rows[t]])
        lam0, found = self._to_others(i)
        if found is not None:
            slope[u] += lam0 * found.slope
            curvature[u] += lam0 * found.curvature
        lam1, linked = self._to_neighbours(i)
        if linked is not None:
            slope, curvature = slope + lam1 * linked[1], curvature + lam1 * linked[2]
        return slope, curvature

    def _to_others(self, i: int) -> tuple[float, gbc.Pull | None]:
        u = self.consenting[i]
        lam0 = self._scaled(self.settings.lam0, i, u)
        if self.E is None or lam0 <= 0:
            return 0.0, None
        aim = self._aim(self.E[self.sources[i].rows[u]])
        return lam0, gbc.Pull(self.task, self.f[i][u], aim, self.settings.consensus)

    def _to_neighbours(self, i: int) -> tuple[float, tuple[float, Floats, Floats] | None]:
        lam1 = self._scaled(self.settings.lam1, i, self.joined[i])
        if self.E is None or lam1 <= 0:
            return 0.0, None
        S, has = gbc.neighbour_mean(self.means[i], self.v)
        how = self.settings
        return lam1, gbc.connectivity(
            self.task, self.f[i], S, self.joined[i] & has, how.consensus, how.connectivity
        )

    def _aim(self, E: Floats) -> Floats:
        """Return what sources are pulled to, from their consensus."""
        if self.task == gbc.NUMBER or self.settings.consensus == "paper":
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
