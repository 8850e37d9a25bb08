"""Partial order embedding on few axes, optimised from the convex optimum."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize

from hetviz._types import Floats, Ints, Rng
from hetviz.core.ordinal.comparisons import comparison_outcomes
from hetviz.core.ordinal.embedding import (
    Hinge,
    ViewFeatures,
    canonical_axes,
    critical_beta,
    embed_on_axes,
    embed_order,
)

OnPass = Callable[[int, float, list[Floats]], object]


@dataclass(frozen=True, eq=False)
class FixedRankEmbedding:
    """A map of k axes and the convex optimum from which it starts."""

    parts: list[Floats]
    sizes: Floats
    optimal: list[Floats]
    objective: float
    bound: float
    critical_beta: float
    flat_objective: float
    gap: float
    rank: int
    n_passes: int
    history: list[float]
    converged: bool

    def figures(
        self, share_satisfied: Callable[[list[Floats]], float]
    ) -> dict[str, float | int | None]:
        """Return figures of the optimum and of the map, JSON-ready."""
        return {
            "objective": self.objective,
            "bound": self.bound,
            "gap": self.gap,
            "critical_beta": self.critical_beta if np.isfinite(self.critical_beta) else None,
            "axes_of_the_optimum": self.rank,
            "objective_on_these_axes": self.flat_objective,
            "kept_by_the_optimum": share_satisfied(self.optimal),
            "kept_on_these_axes": share_satisfied(self.parts),
        }


def critical_beta_for(
    views: Sequence[ViewFeatures], hinge: Hinge, *, diagonal: bool = False
) -> float:
    """Return the largest beta whose optimum has all objects in one point; inf if every beta has."""
    if not diagonal:
        return critical_beta(views, hinge)
    return critical_beta_of_columns(_stacked(views, hinge.n), hinge)


def embed_fixed_rank(
    views: Sequence[ViewFeatures],
    hinge: Hinge,
    k: int,
    *,
    diagonal: bool = False,
    tol: float = 3e-3,
    max_passes: int | None = None,
    report: OnPass = lambda step, gap, parts: None,
    beat: Callable[[], object] = lambda: None,
) -> FixedRankEmbedding:
    """Solve the convex problem, then optimise its k leading axes.

    The k leading axes of the optimum alone satisfy far fewer comparisons than all of its axes.
    Views that the optimum does not use stay unused. The problem on k axes is not convex, so its
    result depends on this start.
    """
    widths = [hinge.n if Phi is None else Phi.shape[1] for Phi in views]
    cuts = np.cumsum(widths)[:-1]
    Phi = views[0] if len(views) == 1 else _stacked(views, hinge.n)

    def split(A: Floats) -> list[Floats]:
        return np.split(A, cuts)

    solution: Any
    limit = {} if max_passes is None else {"max_passes": max_passes}
    if diagonal:
        solution = weigh_columns(
            _stacked(views, hinge.n),
            hinge,
            tol=tol,
            **limit,
            beat=beat,
            report=lambda step, gap, v: report(
                step, gap, split(canonical_axes(Phi, _column_axes(v), k))
            ),
        )
        A = _column_axes(solution.weights)
    else:
        solution = embed_order(
            views,
            hinge,
            tol=tol,
            **limit,
            beat=beat,
            report=lambda step, gap, parts: report(
                step, gap, split(canonical_axes(Phi, _block_diagonal(parts), k))
            ),
        )
        A = _block_diagonal(solution.parts)
    sizes = np.array([float((part**2).sum()) for part in split(A)])
    start = canonical_axes(Phi, A, k)
    objective = float((start**2).sum()) + hinge.loss(hinge.short(_places(Phi, start)))
    flat = start
    if A.shape[1] > k:
        idle = (A == 0).all(axis=1) if diagonal else np.repeat(sizes == 0, widths)
        used = np.flatnonzero(~idle)

        def all_rows(improved: Floats) -> Floats:
            out = np.zeros_like(start)
            out[slice(None) if Phi is None else used] = improved
            return canonical_axes(Phi, out, k)

        improved, objective = embed_on_axes(
            Phi if Phi is None else Phi[:, used],
            hinge,
            start if Phi is None else start[used],
            multipliers=solution.multipliers,
            beat=beat,
            report=lambda step, improved: report(
                solution.n_passes + step, solution.gap, split(all_rows(improved))
            ),
        )
        flat = all_rows(improved)
    return FixedRankEmbedding(
        split(flat),
        sizes,
        split(canonical_axes(Phi, A)),
        solution.objective,
        solution.bound,
        solution.critical_beta,
        objective,
        solution.gap,
        A.shape[1],
        solution.n_passes,
        solution.history,
        solution.converged,
    )


def _stacked(views: Sequence[ViewFeatures], n: int) -> Floats:
    return np.hstack([np.eye(n) if Phi is None else Phi for Phi in views])


def _column_axes(v: Floats) -> Floats:
    """Return column weights as a map, (r, used): one axis per used column."""
    used = np.flatnonzero(v > 0)
    A = np.zeros((len(v), len(used)))
    A[used, np.arange(len(used))] = np.sqrt(v[used])
    return A


def _block_diagonal(parts: list[Floats]) -> Floats:
    """Return the axes of all views as a block diagonal map of all features."""
    A = np.zeros((sum(map(len, parts)), sum(part.shape[1] for part in parts)))
    row = column = 0
    for part in parts:
        A[row : row + len(part), column : column + part.shape[1]] = part
        row, column = row + len(part), column + part.shape[1]
    return A


def _places(Phi: ViewFeatures, A: Floats) -> Floats:
    return A if Phi is None else np.asarray(Phi @ A)


BETAS = (3.0, 10.0, 30.0, 100.0, 300.0)
"""Multiples of the critical beta to try."""
DEFAULT_FACTOR = 30.0
FOLDS = 3
_TOL = 1e-2


@dataclass(frozen=True)
class BetaChoice:
    """Result of the choice of beta.

    `factor`: The multiple of the critical beta that satisfies most held-out comparisons, if it
        beats the default one by more than one standard error of the difference; else the default.
    """

    factor: float
    accuracy: dict[float, float]


def choose_beta(
    views: Sequence[ViewFeatures],
    pairs: Ints,
    weight: Floats,
    critical: float,
    k: int,
    *,
    diagonal: bool,
    rng: Rng,
    margin: float = 1.0,
    tick: Callable[[float], object] = lambda share: None,
) -> BetaChoice:
    """Choose beta by three-fold cross-validation over comparisons, on maps of k axes."""
    fold = rng.permutation(len(pairs)) % FOLDS
    satisfied = np.zeros((len(BETAS), len(pairs)))
    n = len(views[0]) if views[0] is not None else int(pairs.max()) + 1
    for number in range(FOLDS):
        train, test = fold != number, fold == number
        for b, factor in enumerate(BETAS):
            tick((number * len(BETAS) + b) / (FOLDS * len(BETAS)))
            share = weight[train] / max(float(weight[train].sum()), 1e-300)
            hinge = Hinge(n, pairs[train], factor * critical * share, margin)
            flat = embed_fixed_rank(views, hinge, k, diagonal=diagonal, tol=_TOL)
            Y = np.zeros((n, k))
            for Phi, A in zip(views, flat.parts, strict=True):
                Y += A if Phi is None else Phi @ A
            satisfied[b, test] = comparison_outcomes(Y, pairs[test])
    satisfied = np.nan_to_num(satisfied, nan=0.5)
    share = weight / max(float(weight.sum()), 1e-300)
    mean = satisfied @ share
    best, default = int(mean.argmax()), BETAS.index(DEFAULT_FACTOR)
    gain = satisfied[best] - satisfied[default]
    error = float(np.sqrt(share**2 @ (gain - share @ gain) ** 2))
    choice = best if mean[best] - mean[default] > error else default
    return BetaChoice(BETAS[choice], dict(zip(BETAS, mean.tolist(), strict=True)))


# Partial order embedding with a weight per column: the linear program of the diagonal variant.
#
#     min_{v >= 0}  sum_a v_a + sum_c b_c [margin + d_ij - d_kl]_+,
#     d_ij = sum_a v_a (B_ia - B_ja)^2
#
# Columns are kernel values with a landmark (McFee and Lanckriet 2011, section 4.4) or features of
# an object (Schultz and Joachims 2004), scaled so that each costs 1. With Z'a = colsum(B * L(a) B)
# the dual is max margin sum_c a_c for 0 <= a <= b and Z'a <= 1.


MAX_PASSES = 60
_NEW_COLUMNS = 100
_INNER_ITERATIONS = 60
_SMOOTHING_FACTOR, _MIN_SMOOTHING = 0.7, 0.2


@dataclass(frozen=True, eq=False)
class ColumnWeights:
    """Column weights with bounds on the optimum."""

    weights: Floats
    multipliers: Floats
    objective: float
    bound: float
    critical_beta: float
    n_passes: int
    n_evaluations: int
    history: list[float]
    converged: bool

    @property
    def gap(self) -> float:
        """(objective - bound) / objective: 0 is provably optimal."""
        return (self.objective - self.bound) / self.objective if self.objective > 0 else 0.0


def weigh_columns(
    B: Floats,
    hinge: Hinge,
    *,
    tol: float = 3e-3,
    max_passes: int = MAX_PASSES,
    report: Callable[[int, float, Floats], object] = lambda step, gap, v: None,
    beat: Callable[[], object] = lambda: None,
) -> ColumnWeights:
    """Solve the linear program up to a relative gap.

    Proximal steps on the multipliers, solved by L-BFGS with bounds on the used columns; a pass over
    all columns adds those that would lower the objective. O(n^2 r) per pass, and O(n^2 s) for an
    evaluation with s used columns.
    """
    beta = float(hinge.weight.sum())
    v, q = np.zeros(B.shape[1]), np.zeros(len(hinge))
    slope = _slopes(B, hinge, hinge.weight)
    critical = critical_beta_of_columns(B, hinge)
    objective, bound = beta * hinge.margin, 0.0
    if beta <= critical:
        return ColumnWeights(
            v, hinge.weight, objective, objective, critical, 0, 0, [objective], True
        )
    g, min_g, evaluations, history, best = 1.0, 0.0, 0, [], (v, q)
    for step in range(1, max_passes + 1):
        used = _columns_to_use(v, slope)
        v, q, n_made = _inner_solve(B, hinge, v, q, g, used, beat)
        evaluations += n_made
        value = float(v.sum()) + hinge.loss(_violations(B, hinge, v))
        slope = _slopes(B, hinge, hinge.weight * q)
        lower_bound = hinge.margin * float(hinge.weight @ q) / max(1.0, float(slope.max()))
        bound = max(bound, lower_bound)
        if value < objective:
            objective, best = value, (v, q)
        history.append(objective)
        gap = (objective - bound) / objective
        report(step, gap, best[0])
        if gap <= tol:
            break
        if step == 1:
            g = max(1.0, beta * hinge.margin / objective)
            min_g = _MIN_SMOOTHING * g
        else:
            g = max(_SMOOTHING_FACTOR * g, min_g)
    v, q = best
    return ColumnWeights(
        v,
        hinge.weight * q,
        objective,
        bound,
        critical,
        step,
        evaluations,
        history,
        (objective - bound) / objective <= tol,
    )


def critical_beta_of_columns(B: Floats, hinge: Hinge) -> float:
    """Return the largest beta whose optimum has no weights; inf if every beta has."""
    total = float(hinge.weight.sum())
    top = float(_slopes(B, hinge, hinge.weight).max(initial=0.0))
    return total / top if top > 0 else float("inf")


def _columns_to_use(v: Floats, slope: Floats) -> Ints:
    """Return columns with a weight, and those that would lower the objective most."""
    steep = np.argsort(-slope, kind="stable")[:_NEW_COLUMNS]
    return np.union1d(np.flatnonzero(v > 0), steep[slope[steep] > 1.0])


def _inner_solve(
    B: Floats, hinge: Hinge, v: Floats, q0: Floats, g: float, used: Ints, beat: Callable[[], object]
) -> tuple[Floats, Floats, int]:
    C = np.ascontiguousarray(B[:, used])

    def value(x: Floats) -> tuple[float, Floats]:
        smooth, q = hinge.smooth(_violations(C, hinge, x), q0, g)
        return float(x.sum()) + smooth, 1.0 - _slopes(C, hinge, hinge.weight * q)

    def step(xk: Floats) -> None:
        beat()

    result = minimize(
        value,
        v[used],
        jac=True,
        method="L-BFGS-B",
        callback=step,
        bounds=[(0.0, None)] * len(used),
        options={"maxiter": _INNER_ITERATIONS, "maxcor": 10, "ftol": 1e-12, "gtol": 1e-9},
    )
    weights = np.zeros_like(v)
    weights[used] = result.x
    _, q = hinge.smooth(_violations(C, hinge, result.x), q0, g)
    return weights, q, int(result.nfev)


def _violations(B: Floats, hinge: Hinge, v: Floats) -> Floats:
    used = np.flatnonzero(v > 0)
    return hinge.short(B[:, used] * np.sqrt(v[used]))


def _slopes(B: Floats, hinge: Hinge, a: Floats) -> Floats:
    """Return Z'a: the decrease of the hinge per weight of each column."""
    return np.asarray(np.einsum("ij,ij->j", B, hinge.laplacian(a) @ B))
