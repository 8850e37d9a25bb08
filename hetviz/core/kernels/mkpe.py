"""Multiple kernel preserving embedding (MKPE): pair scores as Gaussian kernels of distances.

    minimise  sum over blocks of  lambda / |I| sum over I of (exp(-|e_i - f_j|^2 / sigma^2) - s)^2

over one orthonormal frame Q_d per domain and sigma > 0, with e = Q (coordinates), a multiple of
it, or e = X Q (parametric). Each sweep moves one frame after the other, then log sigma, by
Armijo's rule, so that the loss never rises.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from hetviz._types import Floats, Ints, Rng
from hetviz.core.spectral.stiefel import random_frame, retract, steepest_descent
from hetviz.errors import ParameterError
from hetviz.progress import Progress, ignore_progress, keep_partial

DENSE_SHARE = 0.15
"""Above this share of known scores, loops visit all pairs of a table."""


@dataclass(frozen=True, eq=False)
class Domain:
    """The items of one domain, and the map from a frame to their positions.

    `X` (n, d): If given, e = X Q, with Q of shape (d, r).
    `scale`: Without X, e = scale * Q, with Q of shape (n, r).
    """

    n: int
    X: Floats | None = None
    scale: float = 1.0

    @property
    def size(self) -> int:
        """Number of rows of the frame, the maximum number of axes."""
        return self.n if self.X is None else int(self.X.shape[1])

    def places(self, Q: Floats) -> Floats:
        """Return e, shape (n, r)."""
        return self.scale * Q if self.X is None else np.ascontiguousarray(self.X @ Q)

    def frame_gradient(self, gradient: Floats) -> Floats:
        """Turn a gradient in e, (n, r), into one in Q."""
        return self.scale * gradient if self.X is None else np.asarray(self.X.T @ gradient)


@dataclass(frozen=True, eq=False)
class ScoreBlock:
    """Known scores of pairs of items of two domains, or of one; made by `score_block`."""

    d: int
    e: int
    shape: tuple[int, int]
    s: Floats
    c: Floats
    i: Ints | None
    j: Ints | None
    constant: float

    @property
    def within(self) -> bool:
        """Whether both ends belong to one domain."""
        return self.d == self.e

    def distances(self, E: Floats, F: Floats) -> Floats:
        """Return the squared distance of each pair, shape (m,)."""
        from hetviz.core.kernels import mkpe_loops as kernels

        D = np.empty(len(self.s))
        if self.i is None or self.j is None:
            right = np.ascontiguousarray(F.T)
            left = right if self.within else np.ascontiguousarray(E.T)
            kernels.dense_distances(left, right, self.within, D)
        else:
            kernels.listed_distances(E, F, self.i, self.j, D)
        return D

    def loss(self, D: Floats, inverse: float) -> float:
        """Return the loss of the block; `inverse` is 1 / sigma^2."""
        from hetviz.core.kernels import mkpe_loops as kernels

        return self.constant + float(kernels.misfit(D, self.s, self.c, inverse))

    def gradient(self, E: Floats, F: Floats, inverse: float) -> tuple[Floats, Floats]:
        """Return the gradients in E (n, r) and F (m, r), whose sum counts within a domain."""
        from hetviz.core.kernels import mkpe_loops as kernels

        D = self.distances(E, F)
        T = np.empty_like(D)
        kernels.slopes(D, self.s, self.c, inverse, T)
        T *= -2.0 * inverse
        if self.i is None or self.j is None:
            left, right = np.zeros(E.shape[::-1]), np.zeros(F.shape[::-1])
            ends = np.ascontiguousarray(E.T), np.ascontiguousarray(F.T)
            kernels.dense_pull(*ends, self.within, T, left, right)
            return left.T, right.T
        left, right = np.zeros(E.shape), np.zeros(F.shape)
        kernels.listed_pull(E, F, self.i, self.j, T, left, right)
        return left, right

    def slope_in_eta(self, D: Floats, inverse: float) -> float:
        """Return the derivative in eta = log sigma."""
        from hetviz.core.kernels import mkpe_loops as kernels

        T = np.empty_like(D)
        return 2.0 * inverse * float(kernels.slopes(D, self.s, self.c, inverse, T))


def score_block(
    d: int,
    e: int,
    shape: tuple[int, int],
    i: Ints,
    j: Ints,
    s: Floats,
    weight: float,
    share: Floats | None = None,
) -> ScoreBlock:
    """Return a block of known scores.

    Scores of the same pair are replaced by their mean and a constant, which does not change the
    loss and halves the pairs of a symmetric table.
    """
    share = np.ones(len(s)) if share is None else share
    total = float(share.sum())
    i, j = np.asarray(i, dtype=np.int64), np.asarray(j, dtype=np.int64)
    if not len(s) or total <= 0:
        raise ParameterError("mkpe: a block of scores has no known score.")
    c = share * (weight / total)
    constant = 0.0
    if d == e:
        same = i == j
        constant += float(c[same] @ (1.0 - s[same]) ** 2)
        low, high = np.minimum(i, j), np.maximum(i, j)
        i, j, s, c = low[~same], high[~same], s[~same], c[~same]
    key, place = np.unique(i * shape[1] + j, return_inverse=True)
    sums = np.bincount(place, c, len(key)).astype(np.float64)
    mean = np.bincount(place, c * s, len(key)) / np.where(sums > 0, sums, 1.0)
    constant += float(c @ (s - mean[place]) ** 2)
    pairs = shape[0] * (shape[0] - 1) // 2 if d == e else shape[0] * shape[1]
    if len(key) < DENSE_SHARE * pairs:
        rows, columns = key // shape[1], key % shape[1]
        return ScoreBlock(d, e, shape, mean, sums, rows, columns, constant)
    position = key
    if d == e:
        rows, columns = key // shape[1], key % shape[1]
        position = rows * shape[1] - rows * (rows + 1) // 2 + columns - rows - 1
    full, weights = np.zeros(pairs), np.zeros(pairs)
    full[position], weights[position] = mean, sums
    return ScoreBlock(d, e, shape, full, weights, None, None, constant)


MAX_SWEEPS = 100
STEP_RANGE = (1e-14, 1e12)
MAX_ETA = 20.0
"""log sigma stays within this of 0."""
_PATIENCE = 5


@dataclass
class DescentState:
    """State of a descent."""

    frames: list[Floats]
    eta: float
    losses: Floats = field(default_factory=lambda: np.empty(0))
    trace: list[float] = field(default_factory=list)
    steps: list[float] = field(default_factory=list)

    @property
    def sigma(self) -> float:
        return float(np.exp(self.eta))


class Descent:
    """Alternating descent over the frames of all domains and sigma."""

    def __init__(
        self,
        domains: Sequence[Domain],
        blocks: Sequence[ScoreBlock],
        frames: Sequence[Floats],
        sigma: float,
        retraction: str = "polar",
        step: float = 1.0,
    ) -> None:
        self.domains, self.blocks, self.retraction = list(domains), list(blocks), retraction
        touched = {end for block in blocks for end in (block.d, block.e)}
        if touched != set(range(len(domains))):
            raise ParameterError("mkpe: a domain has no known score.")
        for frame, domain in zip(frames, domains, strict=True):
            if frame.shape[0] != domain.size or frame.shape[1] > domain.size:
                raise ParameterError(f"mkpe: a frame of shape {frame.shape} in {domain.size} axes.")
        eta = float(np.clip(np.log(sigma), -MAX_ETA, MAX_ETA))
        self.state = DescentState([np.array(frame) for frame in frames], eta)
        self.places = [
            domain.places(frame) for domain, frame in zip(self.domains, frames, strict=True)
        ]
        self._distances = [
            block.distances(self.places[block.d], self.places[block.e]) for block in self.blocks
        ]
        self.state.losses = self._losses(eta)
        self.state.trace = [self.loss]
        self.state.steps = [step] * (len(self.domains) + 1)

    @property
    def loss(self) -> float:
        """The current loss."""
        return float(self.state.losses.sum())

    def sweep(self) -> float:
        """Move every frame once, then sigma; return the loss."""
        for d in range(len(self.domains)):
            self.move(d)
        self.move_sigma()
        return self.loss

    def gradient(self, d: int) -> Floats:
        """Return the gradient in frame d, shape (size_d, r)."""
        inverse = np.exp(-2.0 * self.state.eta)
        total = np.zeros_like(self.places[d])
        for block in self.blocks:
            if d in (block.d, block.e):
                left, right = block.gradient(self.places[block.d], self.places[block.e], inverse)
                total += left if block.d == d else 0.0
                total += right if block.e == d else 0.0
        return self.domains[d].frame_gradient(total)

    def slope_in_eta(self) -> float:
        """Return the derivative in log sigma."""
        inverse = float(np.exp(-2.0 * self.state.eta))
        pairs = zip(self.blocks, self._distances, strict=True)
        return sum(block.slope_in_eta(D, inverse) for block, D in pairs)

    def move(self, d: int) -> None:
        """Take a descent step of frame d."""
        state = self.state
        Q = state.frames[d]
        Z, nu = steepest_descent(Q, self.gradient(d))
        inverse = float(np.exp(-2.0 * state.eta))
        touched = [n for n, block in enumerate(self.blocks) if d in (block.d, block.e)]
        other_loss = self.loss - float(state.losses[touched].sum())

        def trial(step: float) -> _Trial:
            frame = retract(Q + step * Z, self.retraction)
            places = list(self.places)
            places[d] = self.domains[d].places(frame)
            by_block = {}
            for n in touched:
                block = self.blocks[n]
                D = block.distances(places[block.d], places[block.e])
                by_block[n] = D, block.loss(D, inverse)
            return _Trial(
                other_loss + sum(loss for _, loss in by_block.values()), frame, places[d], by_block
            )

        best, state.steps[d] = _armijo(trial, self.loss, nu, state.steps[d])
        if best is not None:
            state.frames[d], self.places[d] = best.frame, best.places
            for n, (D, loss) in best.by_block.items():
                self._distances[n], state.losses[n] = D, loss
        state.trace.append(self.loss)

    def move_sigma(self) -> None:
        """Take a descent step of log sigma."""
        state = self.state
        slope = self.slope_in_eta()

        def trial(step: float) -> _Trial:
            eta = float(np.clip(state.eta - step * slope, -MAX_ETA, MAX_ETA))
            losses = self._losses(eta)
            return _Trial(float(losses.sum()), np.array(eta), losses, {})

        best, state.steps[-1] = _armijo(trial, self.loss, slope**2, state.steps[-1])
        if best is not None:
            state.eta, state.losses = float(best.frame), best.places
        state.trace.append(self.loss)

    def _losses(self, eta: float) -> Floats:
        inverse = float(np.exp(-2.0 * eta))
        pairs = zip(self.blocks, self._distances, strict=True)
        return np.array([block.loss(D, inverse) for block, D in pairs])


@dataclass(frozen=True)
class _Trial:
    loss: float
    frame: Floats
    places: Floats
    by_block: dict[int, tuple[Floats, float]]


def _armijo(
    trial: Callable[[float], _Trial], loss: float, nu: float, step: float
) -> tuple[_Trial | None, float]:
    """Double the step while that gains enough, else halve it until it does; None if it never does.

    Manton's rule, with the step limited to 1e-14 to 1e12: on a plateau doubling would not
    terminate, and at rounding level halving would not.
    """
    if not nu > 0:
        return None, step
    best = None
    while 2 * step <= STEP_RANGE[1]:
        longer = trial(2 * step)
        if not loss - longer.loss >= step * nu:
            break
        best, step = longer, 2 * step
    if best is not None:
        return best, step
    while step >= STEP_RANGE[0]:
        best = trial(step)
        if loss - best.loss >= 0.5 * step * nu:
            return best, step
        step /= 2
    return None, 1.0


@dataclass
class MkpeResult:
    """The best of several runs."""

    descent: Descent
    history: list[float]
    reason: str
    finals: list[float]


def fit_mkpe(
    domains: Sequence[Domain],
    blocks: Sequence[ScoreBlock],
    r: int,
    rng: Rng,
    *,
    sigma0: float | None = None,
    n_iter: int | None = None,
    n_init: int = 1,
    tol: float = 1e-5,
    retraction: str = "polar",
    start_at: DescentState | None = None,
    progress: Progress = ignore_progress,
    layout: Callable[[list[Floats]], Floats] | None = None,
) -> MkpeResult:
    """Minimise from several random starts, or from a given one, and return the best result."""
    sweeps = MAX_SWEEPS if n_iter is None else n_iter
    finals: list[float] = []
    best: MkpeResult | None = None
    for start in range(n_init):
        if start_at is None:
            frames = [random_frame(domain.size, r, rng) for domain in domains]
            sigma = sigma0 if sigma0 is not None else spread_at(domains, frames)
        else:
            frames, sigma = start_at.frames, start_at.sigma
        result = MkpeResult(Descent(domains, blocks, frames, sigma, retraction), [], "", finals)
        result.history.append(result.descent.loss)
        n_without_gain = 0
        for sweep in range(sweeps):
            best_so_far = result if best is None or result.history[-1] < best.history[-1] else best
            reason = f"stopped at start {start + 1}, sweep {sweep + 1:,}"
            with keep_partial(partial(_stopped, best_so_far, reason)):
                progress(
                    (start + sweep / sweeps) / n_init,
                    f"Start {start + 1} of {n_init}, sweep {sweep + 1:,}",
                    loss=best_so_far.history[-1],
                    layout=None if layout is None else partial(layout, best_so_far.descent.places),
                )
            result.history.append(result.descent.sweep())
            gain = result.history[-2] - result.history[-1]
            n_without_gain = n_without_gain + 1 if gain <= tol * result.history[-2] else 0
            if n_iter is None and n_without_gain >= _PATIENCE:
                result.reason = f"converged ({_PATIENCE} sweeps gained less than {tol:g} each)"
                break
        result.reason = result.reason or f"maximum of {sweeps:,} sweeps reached"
        finals.append(result.history[-1])
        if best is None or result.history[-1] < best.history[-1]:
            best = result
    if best is None:
        raise ParameterError(f"mkpe: n_init = {n_init} must be 1 or more.")
    return best


def _stopped(result: MkpeResult, reason: str, _: object) -> MkpeResult:
    return replace(result, reason=reason)


def spread_at(domains: Sequence[Domain], frames: Sequence[Floats]) -> float:
    """Return the root mean squared distance between items, averaged over domains."""
    squared = []
    for domain, frame in zip(domains, frames, strict=True):
        E = domain.places(frame)
        squared.append(2.0 * float(((E - E.mean(axis=0)) ** 2).sum()) / max(domain.n, 1))
    return float(np.sqrt(np.mean(squared))) or 1.0


def place_item(
    ends: Sequence[tuple[Floats, Floats, Floats]], inverse: float, starts: Floats
) -> Floats:
    """Return the position of one new item with the smallest loss, with the others fixed."""
    from scipy.optimize import minimize

    F, s, c = (np.concatenate(parts) for parts in zip(*ends, strict=True))

    def loss(e: Floats) -> tuple[float, Floats]:
        difference = e - F
        k = np.exp(-inverse * np.einsum("ij,ij->i", difference, difference))
        residual = k - s
        return float(c @ residual**2), -4.0 * inverse * ((c * k * residual) @ difference)

    results = [minimize(loss, start, jac=True, method="L-BFGS-B") for start in starts]
    return np.asarray(min(results, key=lambda result: float(result.fun)).x)
