"""Kernelised Bayesian matrix factorisation: links as inner products of kernel projections.

Each domain d has a kernel K_d (n_d, n_d), weights A_d ~ N(0, 1 / lambda) with lambda ~ Gamma, and
factors G_d ~ N(K_d A_d, sigma_g^2). A pair of two domains has f ~ N(g'h, 1), of which only the
side of a margin is observed (probit), or y ~ N(g'h, sigma_y^2). Mean-field variational inference
cycles through the domains, and the evidence bound never falls. With two domains this is the
published model; more domains share their factors among all blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from scipy.special import digamma, gammaln, log_ndtr

from hetviz._types import Bools, Floats, Rng
from hetviz.core.kernels.regression import Design
from hetviz.errors import ParameterError
from hetviz.progress import Progress, ignore_progress, keep_partial

_HALF_LOG_2PI = 0.5 * np.log(2.0 * np.pi)


@dataclass(frozen=True, eq=False)
class DomainLinks:
    """Known labels of the pairs of two domains."""

    d: int
    e: int
    Y: Floats


@dataclass(frozen=True)
class Priors:
    """Hyperparameters of the model."""

    shape: float = 1.0
    scale: float = 1.0
    sigma_g: float = 0.1
    sigma_y: float = 1.0
    margin: float = 1.0


@dataclass
class Side:
    """Posterior of one domain."""

    precision_scale: Floats
    A: Floats
    A_variance: Floats
    log_determinants: Floats
    G: Floats
    G_cov: Floats

    def second_moments(self) -> Floats:
        """Return <g g'> of every row, shape (n, r, r)."""
        return self.G_cov + self.G[:, :, None] * self.G[:, None, :]


def truncated_mean(m: Floats, y: Floats, margin: float) -> tuple[Floats, Floats]:
    """Return mean and log normaliser of f ~ N(m, 1) given y f > margin."""
    z = y * m - margin
    log_z = log_ndtr(z)
    rho = np.exp(-0.5 * z**2 - _HALF_LOG_2PI - log_z)
    return m + y * rho, log_z


class Factorisation:
    """Mean-field inference of the model.

    `r`: Number of components; the precisions switch off superfluous ones.
    """

    def __init__(
        self,
        designs: Sequence[Design],
        blocks: Sequence[DomainLinks],
        r: int,
        rng: Rng,
        likelihood: str = "probit",
        priors: Priors | None = None,
    ) -> None:
        self.designs, self.blocks, self.r = list(designs), list(blocks), r
        self.priors = Priors() if priors is None else priors
        self.probit = likelihood == "probit"
        if {end for block in blocks for end in (block.d, block.e)} != set(range(len(designs))):
            raise ParameterError("kbmf2k: a domain has no links.")
        self._known: list[Bools | None] = []
        self._y: list[Floats] = []
        for block in self.blocks:
            is_known = np.isfinite(block.Y)
            self._known.append(None if is_known.all() else is_known)
            self._y.append(np.where(is_known, block.Y, 0.0))
            if self.probit and not np.isin(block.Y[is_known], (-1.0, 1.0)).all():
                raise ParameterError("kbmf2k: labels of the probit are -1, 1, or unknown.")
        self.sides = [self._start(design.n, rng) for design in self.designs]
        self._F = [
            np.where(y != 0, y * (np.abs(rng.standard_normal(y.shape)) + self.priors.margin), 0.0)
            if self.probit
            else y
            for y in self._y
        ]
        self._log_z = [0.0] * len(self.blocks)

    def _start(self, n: int, rng: Rng) -> Side:
        r = self.r
        scale = np.full((n, r), self.priors.scale)
        drawn = rng.standard_normal((2, n, r))
        return Side(scale, drawn[0], np.ones((n, r)), np.zeros(r), drawn[1], np.eye(r)[None])

    def sweep(self) -> float:
        """Update everything once; return the evidence bound."""
        for d in range(len(self.sides)):
            self.update_weights(d)
            self.update_factors(d)
        self.update_scores()
        return self.bound()

    def update_weights(self, d: int) -> None:
        side, design, priors = self.sides[d], self.designs[d], self.priors
        squares = side.A**2 + side.A_variance
        side.precision_scale = 1.0 / (1.0 / priors.scale + 0.5 * squares)
        precision = (priors.shape + 0.5) * side.precision_scale
        for component in range(self.r):
            mean, variance, size = design.regress(
                precision[:, component], side.G[:, component], priors.sigma_g**2
            )
            side.A[:, component], side.A_variance[:, component] = mean, variance
            side.log_determinants[component] = size

    def update_factors(self, d: int) -> None:
        side, design, noise, tau = self.sides[d], self.designs[d], self.priors.sigma_g**2, self._tau
        right = design.times(side.A) / noise
        precision = np.eye(self.r)[None] / noise
        for number, block in enumerate(self.blocks):
            if d not in (block.d, block.e):
                continue
            other = self.sides[block.e if d == block.d else block.d]
            F = self._F[number] if d == block.d else self._F[number].T
            precision = precision + tau * self._masked_sum(number, other, d == block.d)
            right = right + tau * (F @ other.G)
        side.G_cov = np.asarray(np.linalg.inv(precision), dtype=np.float64)
        if len(side.G_cov) == 1:
            side.G = right @ side.G_cov[0]
        else:
            side.G = np.einsum("nij,nj->ni", side.G_cov, right)

    def update_scores(self) -> None:
        """Update the latent scores of the labels; for the Gaussian they are the labels."""
        for number, block in enumerate(self.blocks):
            m = self.sides[block.d].G @ self.sides[block.e].G.T
            y, is_known = self._y[number], self._known[number]
            if not self.probit:
                residual = (y - m) if is_known is None else (y - m)[is_known]
                count = residual.size
                sigma = self.priors.sigma_y
                self._log_z[number] = (
                    -count * (_HALF_LOG_2PI + float(np.log(sigma)))
                    - 0.5 * float((residual**2).sum()) / sigma**2
                )
            elif is_known is None:
                self._F[number], log_z = truncated_mean(m, y, self.priors.margin)
                self._log_z[number] = float(log_z.sum())
            else:
                mean, log_z = truncated_mean(m[is_known], y[is_known], self.priors.margin)
                self._F[number] = np.zeros_like(m)
                self._F[number][is_known] = mean
                self._log_z[number] = float(log_z.sum())

    def bound(self) -> float:
        """Return the evidence lower bound; exact right after `update_scores`."""
        total = sum(self._bound_of_side(d) for d in range(len(self.sides)))
        for number, block in enumerate(self.blocks):
            source, target = self.sides[block.d], self.sides[block.e]
            moments = self._masked_sum(number, target, True)
            first = source.second_moments()
            if len(moments) == 1:
                spread = float((first.sum(axis=0) * moments[0]).sum())
                spread -= float(((source.G.T @ source.G) * (target.G.T @ target.G)).sum())
            else:
                spread = float((first * moments).sum())
                m = source.G @ target.G.T
                spread -= float((m[self._known[number]] ** 2).sum())
            total += self._log_z[number] - 0.5 * self._tau * spread
        return float(total)

    def projections(self, d: int) -> Floats:
        """Return K A, the positions of the rows of a domain: shape (n, r)."""
        return self.designs[d].times(self.sides[d].A)

    def variances(self, d: int, K_new: Floats | None = None) -> Floats:
        """Return the predictive variance of the factors of fitted or new rows: (n, r)."""
        precision = (self.priors.shape + 0.5) * self.sides[d].precision_scale
        noise = self.priors.sigma_g**2
        columns = [self.designs[d].spread(precision[:, c], noise, K_new) for c in range(self.r)]
        return np.column_stack(columns) + noise

    @property
    def _tau(self) -> float:
        return 1.0 if self.probit else self.priors.sigma_y**-2

    def _masked_sum(self, number: int, other: Side, forward: bool) -> Floats:
        """Return the sum of <h h'> over each row's known partners; a single one if complete."""
        is_known = self._known[number]
        moments = other.second_moments()
        if is_known is None:
            return np.asarray(moments.sum(axis=0)[None])
        mask = is_known if forward else is_known.T
        flat = mask.astype(np.float64) @ moments.reshape(len(moments), -1)
        return np.asarray(flat.reshape(-1, self.r, self.r))

    def _bound_of_side(self, d: int) -> float:
        side, design, priors = self.sides[d], self.designs[d], self.priors
        n, r, noise = design.n, self.r, priors.sigma_g**2
        shape, scale = priors.shape + 0.5, side.precision_scale
        mean, log_mean = shape * scale, digamma(shape) + np.log(scale)
        squares = side.A**2 + side.A_variance
        of_precision = (priors.shape - 1) * log_mean - mean / priors.scale
        of_precision += shape + np.log(scale) + gammaln(shape) + (1 - shape) * digamma(shape)
        of_precision -= gammaln(priors.shape) + priors.shape * np.log(priors.scale)
        of_weights = 0.5 * log_mean - _HALF_LOG_2PI - 0.5 * mean * squares
        total = float(of_precision.sum() + of_weights.sum())
        total += 0.5 * float(side.log_determinants.sum()) + n * r * (0.5 + _HALF_LOG_2PI)
        # tr(K'K S) / noise = n - sum of precision times S_ii, as S is the inverse of their sum.
        trace = n * r - float((mean * side.A_variance).sum())
        residual = float(((side.G - design.times(side.A)) ** 2).sum())
        rows = n // len(side.G_cov)
        traces = rows * float(np.trace(side.G_cov, axis1=1, axis2=2).sum())
        total += -n * r * (_HALF_LOG_2PI + 0.5 * float(np.log(noise)))
        total -= 0.5 * ((residual + traces) / noise + trace)
        sizes = rows * float(np.linalg.slogdet(side.G_cov)[1].sum())
        return float(total + 0.5 * sizes + n * r * (0.5 + _HALF_LOG_2PI))


@dataclass
class InferenceResult:
    """A factorisation with the history of its bound and the reason why it stopped."""

    model: Factorisation
    history: list[float] = field(default_factory=list)
    reason: str = ""


def infer(
    model: Factorisation,
    n_iter: int = 200,
    tol: float = 1e-6,
    progress: Progress = ignore_progress,
    layout: Callable[[Factorisation], Floats] | None = None,
) -> InferenceResult:
    """Sweep until the bound gains less than `tol` of itself, or `n_iter` times."""
    result = InferenceResult(model)
    for sweep in range(n_iter):
        with keep_partial(lambda _: result):
            result.reason = f"stopped after {sweep:,} sweeps"
            progress(
                sweep / n_iter,
                f"Sweep {sweep + 1:,} of at most {n_iter:,}",
                layout=None if layout is None else partial(layout, model),
            )
        result.history.append(model.sweep())
        if sweep and result.history[-1] - result.history[-2] <= tol * abs(result.history[-2]):
            result.reason = f"converged (the evidence rose by less than {tol:g} of itself)"
            return result
    result.reason = f"maximum of {n_iter:,} sweeps reached"
    return result


def probability(score: Floats, variance: Floats, margin: float) -> Floats:
    """Return the probability of label 1, given mean and variance of g'h, outside the margin."""
    s = np.sqrt(1.0 + variance)
    up, down = log_ndtr((score - margin) / s), log_ndtr((-score - margin) / s)
    return np.asarray(np.exp(up - np.logaddexp(up, down)))


def product_variance(G: Floats, v: Floats, H: Floats, w: Floats) -> Floats:
    """Return the variance of g'h for rows with means G (n, r), H (m, r) and variances v, w."""
    return np.asarray(G**2 @ w.T + v @ (H**2).T + v @ w.T)
