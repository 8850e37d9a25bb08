"""Partial order embedding with a weight per column: the linear programme of the diagonal variant.

    min_{v >= 0}  sum_a v_a + sum_c b_c [margin + d_ij - d_kl]_+,   d_ij = sum_a v_a (B_ia - B_ja)^2

Columns are kernel values with a landmark (McFee and Lanckriet 2011, section 4.4) or features of
an object (Schultz and Joachims 2004), scaled so that each costs 1. With Z'a = colsum(B * L(a) B)
the dual is max margin sum_c a_c for 0 <= a <= b and Z'a <= 1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from hetviz._types import Floats, Ints
from hetviz.core.ordinal.embedding import Hinge

MAX_PASSES = 60
_NEW_COLUMNS = 100
_INNER = 60
_SHRINK, _LEAST = 0.7, 0.2


@dataclass(frozen=True, eq=False)
class Weighted:
    """A solution of the problem above.

    Attributes
    ----------
    weights : ndarray of shape (r,)
        v, most of them 0.
    multipliers : ndarray of shape (m,)
    objective, bound, critical_beta : float
    n_passes, n_evaluations : int
    history : list of float
    converged : bool
    """

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
        """(objective - bound) / objective: 0 is proven optimal."""
        return (self.objective - self.bound) / self.objective if self.objective > 0 else 0.0


def weigh_columns(
    B: Floats,
    hinge: Hinge,
    *,
    tol: float = 3e-3,
    max_passes: int = MAX_PASSES,
    report: Callable[[int, float, Floats], object] = lambda step, gap, v: None,
    beat: Callable[[], object] = lambda: None,
) -> Weighted:
    """Solve the problem above to a relative gap.

    Parameters
    ----------
    B : ndarray of shape (n, r)
        Columns of cost 1.
    hinge : Hinge
        Its weights are b_c = beta w_c / sum w.
    tol, max_passes
        Relative gap to stop at, and the most passes.
    report : callable
        Gets the pass, the gap and the weights, after each pass.
    beat : callable
        Called several times during a pass.

    Notes
    -----
    Proximal steps on the multipliers, L-BFGS with bounds within, on the columns in use only; a
    pass over all columns adds those that would lower the objective. O(n^2 r) a pass, and
    O(n^2 s) for an evaluation with s columns in use.
    """
    beta = float(hinge.weight.sum())
    v, q = np.zeros(B.shape[1]), np.zeros(len(hinge))
    slope = _slopes(B, hinge, hinge.weight)
    critical = critical_of_columns(B, hinge)
    objective, bound = beta * hinge.margin, 0.0
    if beta <= critical:
        return Weighted(v, hinge.weight, objective, objective, critical, 0, 0, [objective], True)
    g, least, evaluations, history, best = 1.0, 0.0, 0, [], (v, q)
    for step in range(1, max_passes + 1):
        used = _in_use(v, slope)
        v, q, made = _inner(B, hinge, v, q, g, used, beat)
        evaluations += made
        value = float(v.sum()) + hinge.loss(_short(B, hinge, v))
        slope = _slopes(B, hinge, hinge.weight * q)
        below = hinge.margin * float(hinge.weight @ q) / max(1.0, float(slope.max()))
        bound = max(bound, below)
        if value < objective:
            objective, best = value, (v, q)
        history.append(objective)
        gap = (objective - bound) / objective
        report(step, gap, best[0])
        if gap <= tol:
            break
        if step == 1:
            g = max(1.0, beta * hinge.margin / objective)
            least = _LEAST * g
        else:
            g = max(_SHRINK * g, least)
    v, q = best
    return Weighted(
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


def critical_of_columns(B: Floats, hinge: Hinge) -> float:
    """Return the largest beta for which no weight at all is optimal; inf when every is."""
    total = float(hinge.weight.sum())
    top = float(_slopes(B, hinge, hinge.weight).max(initial=0.0))
    return total / top if top > 0 else float("inf")


def _in_use(v: Floats, slope: Floats) -> Ints:
    """Return columns with a weight, and those whose weight would lower the objective most."""
    steep = np.argsort(-slope, kind="stable")[:_NEW_COLUMNS]
    return np.union1d(np.flatnonzero(v > 0), steep[slope[steep] > 1.0])


def _inner(
    B: Floats,
    hinge: Hinge,
    v: Floats,
    q0: Floats,
    g: float,
    used: Ints,
    beat: Callable[[], object],
) -> tuple[Floats, Floats, int]:
    C = np.ascontiguousarray(B[:, used])

    def value(x: Floats) -> tuple[float, Floats]:
        smooth, q = hinge.smooth(_short(C, hinge, x), q0, g)
        return float(x.sum()) + smooth, 1.0 - _slopes(C, hinge, hinge.weight * q)

    def step(xk: Floats) -> None:
        beat()

    found = minimize(
        value,
        v[used],
        jac=True,
        method="L-BFGS-B",
        callback=step,
        bounds=[(0.0, None)] * len(used),
        options={"maxiter": _INNER, "maxcor": 10, "ftol": 1e-12, "gtol": 1e-9},
    )
    out = np.zeros_like(v)
    out[used] = found.x
    _, q = hinge.smooth(_short(C, hinge, found.x), q0, g)
    return out, q, int(found.nfev)


def _short(B: Floats, hinge: Hinge, v: Floats) -> Floats:
    used = np.flatnonzero(v > 0)
    return hinge.short(B[:, used] * np.sqrt(v[used]))


def _slopes(B: Floats, hinge: Hinge, a: Floats) -> Floats:
    """Return Z'a: how much the hinge falls for a weight on each column."""
    return np.asarray(np.einsum("ij,ij->j", B, hinge.laplacian(a) @ B))
