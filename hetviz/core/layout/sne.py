"""Stochastic neighbour embedding: minimise KL(P || Q) over a layout, with repelling pairs.

q_ij = (1 + |y_i - y_j|^2)^-1 / Z,      gradient_i = 4 sum_j (p_ij - q_ij) (y_i - y_j) q_ij Z
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from hetviz._types import AnyFloat, Array, Floats, Ints, Sparse
from hetviz.core.layout.pins import Pins
from hetviz.errors import HetvizError
from hetviz.progress import Progress, ignore_progress

EXACT_ROWS = 8_000
"""Up to this many points repulsion is exact, once the layout has spread; above, it uses a grid."""
ONE_THREAD_ROWS = 3_000
"""Up to this many points a second thread costs more than it gains."""
SMALL_EXTENT = 40.0
"""For more than 3,000 points a smaller layout is faster with the grid, at the same final loss."""
ITERATIONS_PER_BLOCK = 25
"""Iterations between two updates of the distance that apart pairs should have."""
_LOSS_EVERY = 50
_CHUNKS_PER_THREAD = 4


@dataclass(frozen=True)
class Phase:
    """Iterations with the same settings."""

    n_iter: int
    exaggeration: float = 1.0
    momentum: float = 0.8
    learning_rate: float | None = None
    gains: bool = True
    longest_step: float = 5.0


QUICK_SCHEDULE = (Phase(50, 12.0, 0.9), Phase(50, 1.0, 0.8), Phase(300, 1.0, 0.95))
"""Schedule of a new layout; groups that separate slowly end at a lower loss."""
STANDARD_SCHEDULE = (Phase(250, 12.0, 0.8), Phase(500, 1.0, 0.8))
"""Schedule of common t-SNE programs, for comparison."""
REFIT_SCHEDULE = (Phase(100, 1.0, 0.8),)
"""Schedule that starts from an earlier layout, which moves as little as possible."""
SHORT_SCHEDULE = (Phase(40, 1.0, 0.8),)
"""Schedule of many layouts that start near an earlier one, to see which points do not return."""
PAPER_SCHEDULE = (
    Phase(400, 1.0, 0.5, 4.0 * 100.0, gains=False, longest_step=1e30),
    Phase(100, 1.0, 0.5, 4.0 * 10.0, gains=False, longest_step=1e30),
)
"""Schedule of the paper: 500 steps, rate 100 and then 10, momentum 0.5."""


@dataclass(frozen=True)
class ApartPairs:
    """Pairs that repel each other while they are close.

    Each adds strength * share * max(0, log(1 + m^2) - log(1 + d^2)) to the objective, where m is
    half the root mean square distance from the centre: bounded, and 0 beyond m. The shares are
    proportional to the weights; they sum to at most 1, and to at most 10 / n times total weight.
    """

    left: Ints
    right: Ints
    weight: Floats
    strength: float = 0.3

    def shares(self, n: int) -> Floats:
        """Return the share of each pair, for n points: shape (c,)."""
        if not self.weight.size:
            return self.weight
        return self.weight * min(1.0 / float(self.weight.sum()), 10.0 / n)


NO_APART_PAIRS = ApartPairs(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))
NEIGHBOR_DISTANCE = 1.0
"""Distance of direct neighbours in a layout of many points, where q_ij is 1 / (2 Z)."""


@dataclass(frozen=True)
class CappedPairs:
    """Pairs whose attraction ends at the distance of direct neighbours.

    A part of the affinity of such a pair counts as 2 p log(1 + max(d, d_0)^2) in the objective
    instead of 2 p log(1 + d^2), with d_0 = `NEIGHBOR_DISTANCE`. Otherwise pairs of large affinity
    would collapse to a point, because no q_ij is greater than 1 / Z.
    """

    left: Ints
    right: Ints
    part: Floats


NO_CAPPED_PAIRS = CappedPairs(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))


class SneLayout:
    """Optimisation of a one- or two-dimensional layout.

    `exact`: Whether repulsion is exact; by default up to 8,000 points. Layouts of more than 3,000
        points begin with the grid.
    `pins`: Pulls of points to places or sides, relative to the box around the other points.
    `mass` (n,): Above 0, of mean 1: q_ij is multiplied by m_i m_j, so that a point of many
        affinities may have many close points. By default 1.
    """

    # Whether a kernel runs several iterations in one call.
    _fused = True

    def __init__(
        self,
        P: Sparse,
        Y: Floats,
        *,
        apart: ApartPairs = NO_APART_PAIRS,
        capped: CappedPairs = NO_CAPPED_PAIRS,
        exact: bool | None = None,
        mass: Floats | None = None,
        pins: Pins | None = None,
        double: bool = False,
        threads: int | None = None,
    ) -> None:
        from hetviz.core.compiled import Team, available_threads
        from hetviz.core.layout import sne_loops

        n, self.n_components = Y.shape
        self.n = n
        self.n_iter = 0
        self.apart = apart
        self._pins = pins
        self.history: list[float] = []
        self._kernels: Any = sne_loops
        self._real: Any = np.float64 if double else np.float32
        self._exact = (n <= EXACT_ROWS if exact is None else exact) or double
        self._starts_on_grid = exact is None and not double and ONE_THREAD_ROWS < n <= EXACT_ROWS
        if threads is None:
            threads = 1 if n <= ONE_THREAD_ROWS else available_threads()
        self._team = Team(threads)
        real = self._real
        P = sp.csr_array(P)
        self._p = np.asarray(P.data, dtype=np.float64)
        present = self._p[self._p > 0]
        self._entropy = float(present @ np.log(present))
        self._graph = (P.indptr.astype(np.int64), P.indices.astype(np.uint32), P.data.astype(real))
        count = _CHUNKS_PER_THREAD * threads if threads > 1 else 1
        self._rows = _split_rows(np.arange(n + 1), count)
        self._chunks = _split_rows(P.indptr, count)
        self._x = np.ascontiguousarray(Y[:, 0], dtype=real)
        self._y = np.zeros(n, real) if Y.shape[1] == 1 else np.ascontiguousarray(Y[:, 1], real)
        self._points = (self._x, self._y, real(1))
        self._weighted = mass is not None
        self._mass = np.ones(n, real) if mass is None else np.asarray(mass, dtype=real)
        # The part of the divergence that comes from log(m_i m_j).
        self._mass_term = 0.0 if mass is None else float(2.0 * P.sum(axis=1) @ np.log(mass))
        self._pull, self._push = np.zeros((2, n), real), np.zeros((3, n), real)
        self._velocity, self._gain = np.zeros((2, n), real), np.ones((2, n), real)
        ends = ((apart.left, capped.left), (apart.right, capped.right))
        self._pairs = tuple(np.concatenate(both).astype(np.int64) for both in ends)
        self._n_apart = apart.weight.size
        force = np.concatenate([apart.strength * apart.shares(n), 2.0 * capped.part])
        self._force = force.astype(real)
        self._squared_reach = np.full(len(force), NEIGHBOR_DISTANCE**2, real)
        self._grid: Any = None
        self._z = 1.0
        if self._starts_on_grid or not self._exact:
            from hetviz.core.layout.sne_loops import GridRepulsion

            self._grid = GridRepulsion(self._team)

    @property
    def positions(self) -> Floats:
        """The current positions, shape (n, k)."""
        both = np.column_stack([self._x, self._y]).astype(np.float64)
        return both[:, : self.n_components]

    def run(
        self,
        phases: Sequence[Phase],
        progress: Progress = ignore_progress,
        layout: Callable[[Floats], object] | None = None,
    ) -> None:
        """Run the phases, with several reports a second."""
        total = sum(phase.n_iter for phase in phases)
        done = 0
        for phase in phases:
            remaining = phase.n_iter
            while remaining:
                steps = min(
                    self._report_every(),
                    remaining,
                    ITERATIONS_PER_BLOCK - self.n_iter % ITERATIONS_PER_BLOCK,
                )
                self._advance(steps, phase)
                remaining -= steps
                done += steps
                if self.n_iter % _LOSS_EVERY == 0 or done == total:
                    self.history.append(self._checked(self.kl()))
                progress(
                    done / total,
                    f"Iteration {done:,} of {total:,}",
                    layout=lambda: self.positions if layout is None else layout(self.positions),
                )

    def strengthen_apart(self, factor: float) -> None:
        """Multiply the force between apart pairs."""
        factors = np.where(np.arange(len(self._force)) < self._n_apart, factor, 1.0)
        self._force = (self._force * factors).astype(self._real)

    def share_far_enough(self) -> float:
        """Return the share of apart pairs that are beyond m; 1 without pairs."""
        if not self.apart.weight.size:
            return 1.0
        Y = self.positions
        d = ((Y[self.apart.left] - Y[self.apart.right]) ** 2).sum(axis=1)
        # The force vanishes at the limit, so pairs settle just below it.
        return float((d >= 0.98 * self.reach()).mean())

    def reach(self) -> float:
        """Return m^2, a quarter of the mean squared distance from the centre."""
        Y = self.positions
        return float(((Y - Y.mean(axis=0)) ** 2).sum(axis=1).mean() / 4.0)

    def kl(self, exact: bool = False) -> float:
        """Return KL(P || Q), with Z of the last iteration unless `exact`."""
        z = self._exact_z() if exact else self._z
        return float(
            self._entropy + self._cross_entropy() + self._p.sum() * np.log(z) - self._mass_term
        )

    def gradient(self, exaggeration: float = 1.0) -> Floats:
        """Return the gradient of the objective at the current positions, shape (n, k)."""
        self._squared_reach[: self._n_apart] = self.reach()
        pull, push, z = self._all_forces()
        gradient = 4.0 * (exaggeration * pull - push / z).T
        return np.asarray(gradient[:, : self.n_components], dtype=np.float64)

    def _all_forces(self) -> tuple[Array, Array, float]:
        """Return attraction (less the repulsion of apart pairs) and repulsion, (k, n), and Z."""
        self._forces()
        self._push_pairs_apart(self._force)
        self._pull_to_pins()
        return self._pull, self._push[:-1], float(self._kernels.total(self._push[-1]))

    def _exact_z(self) -> float:
        push = np.zeros_like(self._push)
        self._repel(push)
        return float(self._kernels.total(push[-1]))

    def _checked(self, kl: float) -> float:
        if not np.isfinite(kl):
            raise HetvizError(
                "The layout diverged because its steps were too long. Use less exaggeration, or "
                "the standard optimiser instead of the paper's."
            )
        return kl

    def _report_every(self) -> int:
        """Return the number of iterations between two reports."""
        return (
            ITERATIONS_PER_BLOCK
            if self.n <= EXACT_ROWS
            else max(1, ITERATIONS_PER_BLOCK * EXACT_ROWS // (2 * self.n))
        )

    def _advance(self, steps: int, phase: Phase) -> None:
        real = self._real
        speed = phase.learning_rate
        if speed is None:
            speed = self.n / phase.exaggeration
        gains = (0.8, 0.01, 0.2) if phase.gains else (1.0, 0.0, 0.0)
        rate = np.array([phase.exaggeration, 0.0, speed, phase.momentum, 1.0, *gains], dtype=real)
        if self.n_iter % ITERATIONS_PER_BLOCK == 0:
            self._squared_reach[: self._n_apart] = self.reach()
            if self._starts_on_grid:
                self._exact = self._extent() > SMALL_EXTENT
        # Pair forces act only once groups have formed.
        force = self._force if phase.exaggeration == 1.0 else self._force[:0]
        self._run_steps(steps, force, rate, real(phase.longest_step))
        self.n_iter += steps

    def _extent(self) -> float:
        return float(max(np.ptp(self._x), np.ptp(self._y)))

    def _run_steps(self, steps: int, force: Array, rate: Array, longest: AnyFloat) -> None:
        """Run some iterations; `rate` is that of `hetviz.core.layout.sne_loops.step`."""
        state = (self._pull, self._push, self._velocity, self._gain, rate, longest)
        is_plain = not self._weighted and self._pins is None
        if self._fused and self._exact and self._team.threads == 1 and is_plain:
            self._z = self._kernels.exact_steps(
                steps, *self._points, *self._graph, *self._pairs, force, self._squared_reach, *state
            )
        else:
            for _ in range(steps):
                self._forces()
                self._push_pairs_apart(force)
                self._pull_to_pins()
                self._z = self._kernels.total(self._push[-1])
                rate[1] = 1.0 / self._z
                self._step(*state)
                self._limit_gains()

    def _limit_gains(self) -> None:
        """Limit the gains of pinned points, whose steps would otherwise overshoot the target."""
        if self._pins is not None:
            self._gain[:, self._pins.rows] = np.minimum(
                self._gain[:, self._pins.rows], self._real(self._pins.max_gain)
            )

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

    def _push_pairs_apart(self, force: Array) -> None:
        self._kernels.push_apart(
            *self._points, *self._pairs, force, self._squared_reach, self._pull
        )

    def _pull_to_pins(self) -> None:
        """Add the forces of pins to the attraction."""
        if self._pins is not None:
            Y = self.positions
            # All forces are in units of a quarter.
            force = self._pins.offsets(Y, self._pins.box(Y)) * self._pins.strength / (4.0 * self.n)
            self._add_pull(force.T)

    def _add_pull(self, force: Floats) -> None:
        self._pull[: len(force)] += force.astype(self._real)


class WideSneLayout(SneLayout):
    """A layout on any number of axes with exact forces: O(n^2 k) per iteration."""

    _fused = False

    def __init__(
        self,
        P: Sparse,
        Y: Floats,
        *,
        apart: ApartPairs = NO_APART_PAIRS,
        capped: CappedPairs = NO_CAPPED_PAIRS,
        mass: Floats | None = None,
        pins: Pins | None = None,
        double: bool = False,
        threads: int | None = None,
    ) -> None:
        super().__init__(
            P,
            Y[:, :2],
            apart=apart,
            capped=capped,
            exact=True,
            mass=mass,
            pins=pins,
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
        """The current positions, shape (n, k)."""
        return np.ascontiguousarray(self._Y.T, dtype=np.float64)

    def _step(self, *state: object) -> None:
        self._kernels.wide_step(self._Y, *state)

    def _cross_entropy(self) -> float:
        graph = self._graph
        return float(self._kernels.wide_cross_entropy(self._Y, graph[0], graph[1], self._p))

    def _forces(self) -> None:
        self._repel(self._push)
        kernel, unit = self._kernels.wide_attraction, self._real(1)
        self._team.each(self._chunks, kernel, self._Y, unit, *self._graph, self._pull)

    def _repel(self, push: Array) -> None:
        kernel, unit = self._kernels.wide_repulsion, self._real(1)
        self._team.each(self._rows, kernel, self._Y, unit, self._mass, push)

    def _push_pairs_apart(self, force: Array) -> None:
        unit = self._real(1)
        self._kernels.wide_push_apart(
            self._Y, unit, *self._pairs, force, self._squared_reach, self._pull
        )


def _split_rows(ends: Array, count: int) -> list[tuple[int, int]]:
    """Split rows into about equal shares of work; `ends` is the work before each row."""
    at = np.searchsorted(ends, np.linspace(0, ends[-1], count + 1))
    cuts = np.unique([0, *at[1:-1], len(ends) - 1])
    return [(int(a), int(b)) for a, b in pairwise(cuts)]
