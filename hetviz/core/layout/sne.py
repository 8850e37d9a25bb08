"""Stochastic neighbour embedding: minimise KL(P || Q) over a layout, with pairs kept apart.

q_ij = (1 + |y_i - y_j|^2)^-1 / Z,      gradient_i = 4 sum_j (p_ij - q_ij) (y_i - y_j) q_ij Z
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from hetviz._types import Array, Floats, Ints, Real, Sparse
from hetviz.errors import HetvizError
from hetviz.progress import Progress, silent

EXACT_ROWS = 8_000
"""Up to this many points all pairs repel each other exactly, once the layout has spread; above,
through a grid."""
ONE_THREAD_ROWS = 3_000
"""Up to this many points a second thread gains less than it disturbs."""
SMALL_EXTENT = 40.0
"""A smaller layout of more than 3,000 points is quicker through the grid, and ends as low."""
BLOCK = 25
"""Iterations between two recalculations of how far apart is far enough."""
_LOSS_EVERY = 50
_CHUNKS_PER_THREAD = 4


@dataclass(frozen=True)
class Phase:
    """Some iterations under the same settings.

    Attributes
    ----------
    n_iter : int
    exaggeration : float
        P is multiplied by it, so that groups form before they spread.
    momentum : float
    learning_rate : float or None
        Of the gradient without its factor 4; None is n / exaggeration.
    gains : bool
        Adapt the rate of each coordinate by whether its gradient keeps its sign.
    longest_step : float
    """

    n_iter: int
    exaggeration: float = 1.0
    momentum: float = 0.8
    learning_rate: float | None = None
    gains: bool = True
    longest_step: float = 5.0


QUICK = (Phase(50, 12.0, 0.9), Phase(50, 1.0, 0.8), Phase(300, 1.0, 0.95))
"""A layout from the start; groups that let go of each other slowly end lower than at once."""
USUAL = (Phase(250, 12.0, 0.8), Phase(500, 1.0, 0.8))
"""The schedule of common t-SNE programs, for comparison."""
REFIT = (Phase(100, 1.0, 0.8),)
"""From an earlier layout, which moves only where it must."""
PRINTED = (
    Phase(400, 1.0, 0.5, 4.0 * 100.0, gains=False, longest_step=1e30),
    Phase(100, 1.0, 0.5, 4.0 * 10.0, gains=False, longest_step=1e30),
)
"""As printed in the paper: 500 steps, rate 100 and then 10, momentum 0.5."""


@dataclass(frozen=True)
class Apart:
    """Pairs that are pushed apart while they are near.

    Each adds strength * share * max(0, log(1 + m^2) - log(1 + d^2)) to the objective, where m is
    half the root mean square distance from the centre: bounded, and nothing beyond m. The shares
    go with the weights; together they are at most 1, and few pairs get 10 / n each at most.

    Attributes
    ----------
    left, right : ndarray of shape (c,)
    weight : ndarray of shape (c,)
        Above 0.
    strength : float
    """

    left: Ints
    right: Ints
    weight: Floats
    strength: float = 0.3

    def shares(self, n: int) -> Floats:
        """Return the share of each pair among n points: shape (c,)."""
        if not self.weight.size:
            return self.weight
        return self.weight * min(1.0 / float(self.weight.sum()), 10.0 / n)


NO_PAIRS = Apart(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))
BESIDE = 1.0
"""At so small a distance items lie beside each other: that of a neighbour, in any layout of many
points, as q_ij is 1 / (2 Z) there."""


@dataclass(frozen=True)
class Loose:
    """Pairs whose pull ends where they lie beside each other.

    Of the affinity of such a pair a part counts for 2 p log(1 + max(d, `BESIDE`)^2) in the
    objective instead of 2 p log(1 + d^2). Pairs of much affinity would meet in one point otherwise,
    for no q_ij is greater than 1 / Z.

    Attributes
    ----------
    left, right : ndarray of shape (c,)
    part : ndarray of shape (c,)
        p, at most p_ij.
    """

    left: Ints
    right: Ints
    part: Floats


NO_LOOSE = Loose(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))


class Layout:
    """A layout on its way, with all that an iteration needs.

    Parameters
    ----------
    P : csr_array of shape (n, n)
        Symmetric, non-negative, of sum 1, with an empty diagonal.
    Y : ndarray of shape (n, 1) or (n, 2)
        Where the points start.
    apart : Apart, optional
    loose : Loose, optional
    exact : bool, optional
        Whether all pairs repel each other exactly; by default up to 8,000 points, of which more
        than 3,000 begin with the grid.
    mass : ndarray of shape (n,), optional
        Above 0, of mean 1: q_ij is m_i m_j times as large, so that a point of many affinities may
        have many near it. All the same by default.
    double : bool
        Double precision, with exact forces only: for comparisons.
    threads : int, optional
        By default 1 up to 3,000 points and what there is above. The result does not depend on it.

    Notes
    -----
    An iteration costs O(n^2) with exact forces, and O(n + nnz(P) + nodes log nodes) through the
    grid; memory is O(nnz(P) + nodes).
    """

    # whether a kernel makes several iterations in one call
    _fused = True

    def __init__(
        self,
        P: Sparse,
        Y: Floats,
        *,
        apart: Apart = NO_PAIRS,
        loose: Loose = NO_LOOSE,
        exact: bool | None = None,
        mass: Floats | None = None,
        double: bool = False,
        threads: int | None = None,
    ) -> None:
        from hetviz.core.compiled import Team, available_threads
        from hetviz.core.layout import sne_loops

        n, self.n_components = Y.shape
        self.n = n
        self.n_iter = 0
        self.apart = apart
        self.history: list[float] = []
        self._kernels: Any = sne_loops
        self._real: Any = np.float64 if double else np.float32
        self._exact = (n <= EXACT_ROWS if exact is None else exact) or double
        self._begins_small = exact is None and not double and ONE_THREAD_ROWS < n <= EXACT_ROWS
        if threads is None:
            threads = 1 if n <= ONE_THREAD_ROWS else available_threads()
        self._team = Team(threads)
        real = self._real
        P = sp.csr_array(P)
        self._p = np.asarray(P.data, dtype=np.float64)
        present = self._p[self._p > 0]
        self._entropy = float(present @ np.log(present))
        self._graph = (
            P.indptr.astype(np.int64),
            P.indices.astype(np.uint32),
            P.data.astype(real),
        )
        count = _CHUNKS_PER_THREAD * threads if threads > 1 else 1
        self._rows = _cut(np.arange(n + 1), count)
        self._chunks = _cut(P.indptr, count)
        self._x = np.ascontiguousarray(Y[:, 0], dtype=real)
        self._y = np.zeros(n, real) if Y.shape[1] == 1 else np.ascontiguousarray(Y[:, 1], real)
        self._points = (self._x, self._y, real(1))
        self._weighted = mass is not None
        self._mass = np.ones(n, real) if mass is None else np.asarray(mass, dtype=real)
        # what log(m_i m_j) takes off the divergence
        self._known = 0.0 if mass is None else float(2.0 * P.sum(axis=1) @ np.log(mass))
        self._pull, self._push = np.zeros((2, n), real), np.zeros((3, n), real)
        self._velocity, self._gain = np.zeros((2, n), real), np.ones((2, n), real)
        ends = ((apart.left, loose.left), (apart.right, loose.right))
        self._pairs = tuple(np.concatenate(both).astype(np.int64) for both in ends)
        self._n_apart = apart.weight.size
        force = np.concatenate([apart.strength * apart.shares(n), 2.0 * loose.part])
        self._force = force.astype(real)
        self._within = np.full(len(force), BESIDE**2, real)
        self._grid: Any = None
        self._z = 1.0
        if self._begins_small or not self._exact:
            from hetviz.core.layout.sne_loops import GridRepulsion

            self._grid = GridRepulsion(self._team)

    @property
    def positions(self) -> Floats:
        """The layout as it is, shape (n, k)."""
        both = np.column_stack([self._x, self._y]).astype(np.float64)
        return both[:, : self.n_components]

    def run(
        self,
        phases: Sequence[Phase],
        progress: Progress = silent,
        layout: Callable[[Floats], object] | None = None,
    ) -> None:
        """Go through the phases, reporting several times a second.

        Parameters
        ----------
        phases : sequence of Phase
        progress : callable
            Gets a partial layout as ``layout=``. What it raises stops the run,
            and the layout stays as far as it got.
        layout : callable, optional
            Turns the layout (n, k) into the one to report.
        """
        whole = sum(phase.n_iter for phase in phases)
        made = 0
        for phase in phases:
            left = phase.n_iter
            while left:
                steps = min(self._block(), left, BLOCK - self.n_iter % BLOCK)
                self._advance(steps, phase)
                left -= steps
                made += steps
                if self.n_iter % _LOSS_EVERY == 0 or made == whole:
                    self.history.append(self._finite(self.kl()))
                progress(
                    made / whole,
                    f"Iteration {made:,} of {whole:,}",
                    layout=lambda: self.positions if layout is None else layout(self.positions),
                )

    def strengthen(self, factor: float) -> None:
        """Multiply the force that keeps pairs apart."""
        many = np.where(np.arange(len(self._force)) < self._n_apart, factor, 1.0)
        self._force = (self._force * many).astype(self._real)

    def far_enough(self) -> float:
        """Return the share of the pairs to be kept apart that are beyond m; 1 without pairs."""
        if not self.apart.weight.size:
            return 1.0
        Y = self.positions
        d = ((Y[self.apart.left] - Y[self.apart.right]) ** 2).sum(axis=1)
        # one that lies on the limit is kept there by its own force
        return float((d >= 0.98 * self.reach()).mean())

    def reach(self) -> float:
        """Return m^2, a quarter of the mean squared distance from the centre."""
        Y = self.positions
        return float(((Y - Y.mean(axis=0)) ** 2).sum(axis=1).mean() / 4.0)

    def kl(self, exact: bool = False) -> float:
        """Return KL(P || Q), with Z as the last iteration had it unless `exact`."""
        z = self._exact_z() if exact else self._z
        return float(
            self._entropy + self._cross_entropy() + self._p.sum() * np.log(z) - self._known
        )

    def gradient(self, exaggeration: float = 1.0) -> Floats:
        """Return the gradient of the objective at the layout as it is, shape (n, k)."""
        self._within[: self._n_apart] = self.reach()
        pull, push, z = self._all_forces()
        both = 4.0 * (exaggeration * pull - push / z).T
        return np.asarray(both[:, : self.n_components], dtype=np.float64)

    def _all_forces(self) -> tuple[Array, Array, float]:
        """Return what pulls, pairs kept apart among it, what pushes, both (k, n), and Z."""
        self._forces()
        self._keep_apart(self._force)
        return self._pull, self._push[:-1], float(self._kernels.total(self._push[-1]))

    def _exact_z(self) -> float:
        push = np.zeros_like(self._push)
        self._repel(push)
        return float(self._kernels.total(push[-1]))

    def _finite(self, kl: float) -> float:
        if not np.isfinite(kl):
            raise HetvizError(
                "The layout flew apart, as its steps were too long. Use less exaggeration, or the "
                "standard optimiser if you asked for the paper's."
            )
        return kl

    def _block(self) -> int:
        """Return how many iterations pass between two reports."""
        return BLOCK if self.n <= EXACT_ROWS else max(1, BLOCK * EXACT_ROWS // (2 * self.n))

    def _advance(self, steps: int, phase: Phase) -> None:
        real = self._real
        speed = phase.learning_rate
        if speed is None:
            speed = self.n / phase.exaggeration
        gains = (0.8, 0.01, 0.2) if phase.gains else (1.0, 0.0, 0.0)
        rate = np.array([phase.exaggeration, 0.0, speed, phase.momentum, 1.0, *gains], dtype=real)
        if self.n_iter % BLOCK == 0:
            self._within[: self._n_apart] = self.reach()
            if self._begins_small:
                self._exact = self._extent() > SMALL_EXTENT
        # groups form first, pairs are parted and let lie beside each other then
        force = self._force if phase.exaggeration == 1.0 else self._force[:0]
        self._iterate(steps, force, rate, real(phase.longest_step))
        self.n_iter += steps

    def _extent(self) -> float:
        return float(max(np.ptp(self._x), np.ptp(self._y)))

    def _iterate(self, steps: int, force: Array, rate: Array, longest: Real) -> None:
        """Make some iterations; `rate` is that of `hetviz.core.layout.sne_loops.step`."""
        state = (self._pull, self._push, self._velocity, self._gain, rate, longest)
        if self._fused and self._exact and self._team.threads == 1 and not self._weighted:
            self._z = self._kernels.exact_steps(
                steps, *self._points, *self._graph, *self._pairs, force, self._within, *state
            )
        else:
            for _ in range(steps):
                self._forces()
                self._keep_apart(force)
                self._z = self._kernels.total(self._push[-1])
                rate[1] = 1.0 / self._z
                self._step(*state)

    def _step(self, *state: object) -> None:
        self._kernels.step(self._x, self._y, *state)

    def _cross_entropy(self) -> float:
        graph = self._graph
        return float(self._kernels.cross_entropy(self._x, self._y, graph[0], graph[1], self._p))

    def _forces(self) -> None:
        each, kernels = self._team.each, self._kernels
        if self._exact and not self._weighted:
            each(self._rows, kernels.forces, *self._points, *self._graph, self._pull, self._push)
            return
        if self._exact:
            self._repel(self._push)
        else:
            self._grid(self._x, self._y, self._mass, self._push)
        each(self._chunks, kernels.attraction, *self._points, *self._graph, self._pull)

    def _repel(self, push: Array) -> None:
        if self._weighted:
            kernel = self._kernels.weighted_repulsion
            self._team.each(self._rows, kernel, *self._points, self._mass, push)
        else:
            self._team.each(self._rows, self._kernels.repulsion, *self._points, push)

    def _keep_apart(self, force: Array) -> None:
        self._kernels.push_apart(*self._points, *self._pairs, force, self._within, self._pull)


class WideLayout(Layout):
    """A layout on any number of axes, its forces exact: O(n^2 k) per iteration.

    Parameters
    ----------
    P : csr_array of shape (n, n)
    Y : ndarray of shape (n, k)
    apart, loose, mass, double, threads
        As `Layout`.
    """

    _fused = False

    def __init__(
        self,
        P: Sparse,
        Y: Floats,
        *,
        apart: Apart = NO_PAIRS,
        loose: Loose = NO_LOOSE,
        mass: Floats | None = None,
        double: bool = False,
        threads: int | None = None,
    ) -> None:
        super().__init__(
            P,
            Y[:, :2],
            apart=apart,
            loose=loose,
            exact=True,
            mass=mass,
            double=double,
            threads=threads,
        )
        real = self._real
        n, k = Y.shape
        self.n_components = k
        self._Y = np.ascontiguousarray(Y.T, dtype=real)
        self._pull, self._push = np.zeros((k, n), real), np.zeros((k + 1, n), real)
        self._velocity, self._gain = np.zeros((k, n), real), np.ones((k, n), real)

    @property
    def positions(self) -> Floats:
        """The layout as it is, shape (n, k)."""
        return np.ascontiguousarray(self._Y.T, dtype=np.float64)

    def _step(self, *state: object) -> None:
        self._kernels.wide_step(self._Y, *state)

    def _cross_entropy(self) -> float:
        graph = self._graph
        return float(self._kernels.wide_cross_entropy(self._Y, graph[0], graph[1], self._p))

    def _forces(self) -> None:
        self._repel(self._push)
        kernel, one = self._kernels.wide_attraction, self._real(1)
        self._team.each(self._chunks, kernel, self._Y, one, *self._graph, self._pull)

    def _repel(self, push: Array) -> None:
        kernel, one = self._kernels.wide_repulsion, self._real(1)
        self._team.each(self._rows, kernel, self._Y, one, self._mass, push)

    def _keep_apart(self, force: Array) -> None:
        one = self._real(1)
        self._kernels.wide_push_apart(self._Y, one, *self._pairs, force, self._within, self._pull)


def _cut(ends: Array, count: int) -> list[tuple[int, int]]:
    """Cut rows into about equal shares of work, `ends` being the work before each row."""
    at = np.searchsorted(ends, np.linspace(0, ends[-1], count + 1))
    cuts = np.unique([0, *at[1:-1], len(ends) - 1])
    return [(int(a), int(b)) for a, b in pairwise(cuts)]
