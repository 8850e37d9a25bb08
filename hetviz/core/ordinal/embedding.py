"""Partial order embedding: the smallest map that satisfies comparisons, with an optimality bound.

    min_{M_p >= 0}  sum_p tr M_p + sum_c b_c [margin + d_ij - d_kl]_+,
    d_ij = sum_p (phi_pi - phi_pj)' M_p (phi_pi - phi_pj)

for features Phi_p of every view p. With Phi_p Phi_p' = K_p this is multiple-kernel partial order
embedding (MKPOE; McFee and Lanckriet 2011, algorithm 4); with the identity as features it is
generalised non-metric multidimensional scaling (GNMDS; Agarwal et al. 2007). Its dual bounds the
optimum from below:

    max_{0 <= a <= b}  margin sum_c a_c   subject to   Phi_p' L(a) Phi_p <= I for all p.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.optimize import minimize
from scipy.sparse.linalg import ArpackError

from hetviz._types import Floats, Ints, Matrix, Sparse
from hetviz.core.arrays import as_dense
from hetviz.core.spectral.eigen import (
    axis_signs,
    largest_dense,
    largest_iterated,
    seeded_start,
    symmetric_operator,
)

_DENSE_ENTRIES = 16
"""Up to this many pairs per listed pair, distances of all pairs are cheaper than of listed ones."""
_DENSE_ROWS = 3_000


class Hinge:
    """Weighted hinge losses of comparisons between n objects.

    `pairs` (m, 4): Rows i, j, k, l require d(i, j) + margin <= d(k, l).
    """

    def __init__(self, n: int, pairs: Ints, weight: Floats, margin: float = 1.0) -> None:
        self.n, self.margin = n, margin
        self.weight = np.asarray(weight, dtype=np.float64)
        ends = np.sort(np.asarray(pairs, dtype=np.int64).reshape(-1, 2), axis=1)
        flat, number = np.unique(ends @ [n, 1], return_inverse=True)
        self._near, self._far = number.reshape(-1, 2).T.copy()
        self._i, self._j = flat // n, flat % n
        self._dense = n <= _DENSE_ROWS and n * n <= _DENSE_ENTRIES * len(flat)
        self._flat, self._mirrored = flat, self._j * n + self._i
        if not self._dense:
            self._order = self._sparse(np.arange(1.0, 2 * len(flat) + n + 1))

    def __len__(self) -> int:
        return len(self.weight)

    def short(self, G: Floats) -> Floats:
        """Return t = margin + d(i, j) - d(k, l) of each comparison: its violation if above 0."""
        return self.short_of(self.squared(G))

    def squared(self, G: Floats) -> Floats:
        """Return squared distances of the compared pairs: shape (p,)."""
        if not self._dense:
            difference = G[self._i] - G[self._j]
            return np.asarray(np.einsum("ij,ij->i", difference, difference))
        G = G - G.mean(axis=0)
        size = np.einsum("ij,ij->i", G, G)
        d = size[self._i] + size[self._j] - 2.0 * (G @ G.T).ravel()[self._flat]
        return np.asarray(np.maximum(d, 0.0))

    def short_of(self, squared: Floats) -> Floats:
        """Return t given the squared distances of the pairs."""
        return np.asarray(self.margin + squared[self._near] - squared[self._far])

    def loss(self, t: Floats) -> float:
        """Return sum_c b_c max(0, t_c)."""
        return float(self.weight @ np.maximum(t, 0.0))

    def laplacian(self, a: Floats) -> Matrix:
        """Return L(a), shape (n, n): an array, or csr for few pairs."""
        p = len(self._flat)
        w = np.bincount(self._far, a, p) - np.bincount(self._near, a, p)
        w[self._i == self._j] = 0.0
        degree = np.bincount(self._i, w, self.n) + np.bincount(self._j, w, self.n)
        if not self._dense:
            values = np.concatenate([-w, -w, degree])
            L = self._order
            return sp.csr_array(
                (values[L.data.astype(np.int64) - 1], L.indices, L.indptr), shape=L.shape
            )
        out = np.zeros((self.n, self.n))
        flat = out.ravel()
        flat[self._flat] = -w
        flat[self._mirrored] = -w
        flat[:: self.n + 1] = degree
        return out

    def smooth(self, t: Floats, q0: Floats, g: float) -> tuple[float, Floats]:
        """Return sum_c b_c phi(t_c) of the smoothed hinge, and its slopes q in [0, 1].

        phi(t) = max_q q t - (g / 2) (q - q0)^2: at the optimal q0 it has the hinge's own minimum.
        """
        q = np.clip(q0 + t / g, 0.0, 1.0)
        return float(self.weight @ (q * t - (g / 2) * (q - q0) ** 2)), q

    def _sparse(self, values: Floats) -> Sparse:
        diagonal = np.arange(self.n)
        row = np.concatenate([self._i, self._j, diagonal])
        column = np.concatenate([self._j, self._i, diagonal])
        # A pair of an object with itself has no effect and must not overlap with the diagonal.
        differs = np.concatenate([np.tile(self._i != self._j, 2), np.ones(self.n, dtype=bool)])
        entries = (values[differs], (row[differs], column[differs]))
        return sp.coo_array(entries, shape=(self.n, self.n)).tocsr()


START_AXES = 10
NEW_AXES = 3
MAX_PASSES = 30
_INNER_ITERATIONS = 60
_MAX_LOCAL_PASSES, _LOCAL_TOL = 15, 1e-4
_MIN_RELATIVE_AXIS = 1e-5
_SMOOTHING_FACTOR = 0.7
_MIN_SMOOTHING = 0.2
_MAX_DIRECT_SIZE = 600
_SLACK = 1e-6

ViewFeatures = Floats | None
"""Features (n, r) of a view; None for the identity."""


@dataclass(frozen=True, eq=False)
class OrderEmbedding:
    """A partial order embedding.

    `parts` (list of ndarray of shape (r_p, k_p)): A_p with M_p = A_p A_p'; view p has positions
        Phi_p A_p, axes sorted by falling variance.
    """

    parts: list[Floats]
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


def critical_beta(views: Sequence[ViewFeatures], hinge: Hinge) -> float:
    """Return the largest beta whose optimum has all objects in one point; inf if every beta has."""
    total = float(hinge.weight.sum())
    if total <= 0:
        return float("inf")
    L = hinge.laplacian(hinge.weight / total)
    top = max((float(_leading(Phi, L, 1)[0].max(initial=0.0)) for Phi in views), default=0.0)
    return 1.0 / top if top > 0 else float("inf")


def embed_order(
    views: Sequence[ViewFeatures],
    hinge: Hinge,
    *,
    tol: float = 1e-3,
    max_passes: int = MAX_PASSES,
    report: Callable[[int, float, list[Floats]], object] = lambda step, gap, parts: None,
    beat: Callable[[], object] = lambda: None,
) -> OrderEmbedding:
    """Solve the convex problem up to a relative gap.

    M_p = A_p A_p' with few axes. Each pass takes a proximal step on the multipliers of the
    comparisons (which smooths the hinge without moving its minimum), solved by L-BFGS, and adds the
    leading eigenvectors of Phi_p' L Phi_p as new axes, without which the factored problem could
    stop at a saddle point. A pass costs up to 60 evaluations, see `Hinge`, and an
    eigendecomposition of r_p x r_p.
    """
    beta = float(hinge.weight.sum())
    critical = critical_beta(views, hinge)
    empty = [np.zeros((_width(Phi, hinge.n), 0)) for Phi in views]
    if beta <= critical:
        objective = beta * hinge.margin
        return OrderEmbedding(
            empty, hinge.weight, objective, objective, critical, 0, 0, [objective], True
        )
    parts = _first_axes(views, hinge)
    q = np.zeros(len(hinge))
    g, evaluations, history = 1.0, 0, []
    objective, bound, best = beta * hinge.margin, 0.0, (empty, q)
    for step in range(1, max_passes + 1):
        parts, q, n_made = _inner_solve(views, hinge, parts, q, g, beat)
        evaluations += n_made
        value = _objective(views, hinge, parts)
        parts, new_axes, top = _replace_axes(views, hinge, parts, q)
        bound = max(bound, hinge.margin * float(hinge.weight @ q) / max(1.0, top))
        if value < objective:
            objective, best = value, (parts, q)
        history.append(objective)
        gap = (objective - bound) / objective
        report(step, gap, best[0])
        if gap <= tol:
            break
        parts = [np.hstack(both) for both in zip(parts, new_axes, strict=True)]
        # Multipliers far below their bounds need long steps at first.
        if step == 1:
            g = max(1.0, beta * hinge.margin / objective)
            min_g = _MIN_SMOOTHING * g
        else:
            g = max(_SMOOTHING_FACTOR * g, min_g)
    parts, q = best
    return OrderEmbedding(
        [canonical_axes(Phi, A) for Phi, A in zip(views, parts, strict=True)],
        hinge.weight * q,
        objective,
        bound,
        critical,
        step,
        evaluations,
        history,
        (objective - bound) / objective <= tol,
    )


def embed_on_axes(
    Phi: ViewFeatures,
    hinge: Hinge,
    start: Floats,
    *,
    multipliers: Floats | None = None,
    report: Callable[[int, Floats], object] = lambda step, A: None,
    beat: Callable[[], object] = lambda: None,
) -> tuple[Floats, float]:
    """Find a local optimum of the same problem with a fixed number of axes, from a start."""
    best, objective = start, _objective([Phi], hinge, [start])
    q = np.zeros(len(hinge))
    if multipliers is not None:
        q = np.clip(multipliers / np.maximum(hinge.weight, 1e-300), 0.0, 1.0)
    parts, g = [start], 1.0
    for step in range(1, _MAX_LOCAL_PASSES + 1):
        parts, q, _ = _inner_solve([Phi], hinge, parts, q, g, beat)
        value = _objective([Phi], hinge, parts)
        decrease = objective - value
        if value < objective:
            best, objective = parts[0], value
        report(step, best)
        if step > 2 and decrease <= _LOCAL_TOL * objective:
            break
        g *= _SMOOTHING_FACTOR
    return best, objective


def canonical_axes(Phi: ViewFeatures, A: Floats, k: int | None = None) -> Floats:
    """Rotate the axes of Phi A to uncorrelated ones, widest first, with fixed signs."""
    if A.shape[1]:
        G = _apply(Phi, A)
        _, _, turn = np.linalg.svd(G - G.mean(axis=0), full_matrices=False)
        A = A @ turn.T
        G = G @ turn.T
        A = A * axis_signs(G)
    if k is None:
        return A
    A = A[:, :k]
    return np.hstack([A, np.zeros((len(A), k - A.shape[1]))])


def _inner_solve(
    views: Sequence[ViewFeatures],
    hinge: Hinge,
    parts: list[Floats],
    q0: Floats,
    g: float,
    beat: Callable[[], object],
) -> tuple[list[Floats], Floats, int]:
    shapes = [A.shape for A in parts]
    cuts = np.cumsum([rows * columns for rows, columns in shapes])[:-1]

    def unpack(x: Floats) -> list[Floats]:
        return [part.reshape(shape) for part, shape in zip(np.split(x, cuts), shapes, strict=True)]

    def value(x: Floats) -> tuple[float, Floats]:
        blocks = unpack(x)
        G = np.hstack([_apply(Phi, A) for Phi, A in zip(views, blocks, strict=True)])
        smooth, q = hinge.smooth(hinge.short(G), q0, g)
        pull = np.split(
            hinge.laplacian(hinge.weight * q) @ G,
            np.cumsum([columns for _, columns in shapes])[:-1],
            axis=1,
        )
        gradient = [
            2.0 * (A - _apply_transposed(Phi, P))
            for Phi, A, P in zip(views, blocks, pull, strict=True)
        ]
        return float(x @ x) + smooth, np.concatenate([part.ravel() for part in gradient])

    def step(xk: Floats) -> None:
        beat()

    x0 = np.concatenate([A.ravel() for A in parts])
    if not len(x0):
        return parts, q0, 0
    result = minimize(
        value,
        x0,
        jac=True,
        method="L-BFGS-B",
        callback=step,
        options={"maxiter": _INNER_ITERATIONS, "maxcor": 10, "ftol": 1e-12, "gtol": 1e-9},
    )
    parts = unpack(result.x)
    G = np.hstack([_apply(Phi, A) for Phi, A in zip(views, parts, strict=True)])
    _, q = hinge.smooth(hinge.short(G), q0, g)
    return parts, q, int(result.nfev)


def _objective(views: Sequence[ViewFeatures], hinge: Hinge, parts: list[Floats]) -> float:
    G = np.hstack([_apply(Phi, A) for Phi, A in zip(views, parts, strict=True)])
    return sum(float((A**2).sum()) for A in parts) + hinge.loss(hinge.short(G))


def _first_axes(views: Sequence[ViewFeatures], hinge: Hinge) -> list[Floats]:
    """Return start axes, because no axes is a saddle point of the factored problem."""
    L = hinge.laplacian(hinge.weight)
    axes = []
    for Phi in views:
        values, V = _leading(Phi, L, START_AXES)
        is_descent = values > 1.0
        axes.append(0.1 * V[:, is_descent] * np.sqrt(values[is_descent] - 1.0))
    return axes


def _replace_axes(
    views: Sequence[ViewFeatures], hinge: Hinge, parts: list[Floats], q: Floats
) -> tuple[list[Floats], list[Floats], float]:
    """Return the parts without empty axes, new descent axes, and the largest slope."""
    L = hinge.laplacian(hinge.weight * q)
    size = max((float(np.linalg.norm(A)) for A in parts), default=0.0) or 1.0
    reduced, new_axes, top = [], [], 0.0
    for Phi, A in zip(views, parts, strict=True):
        values, V = _leading(Phi, L, NEW_AXES)
        top = max(top, float(values.max(initial=0.0)))
        is_descent = values > 1.0 + _SLACK
        new_axes.append(1e-3 * size * V[:, is_descent])
        U, s, _ = np.linalg.svd(A, full_matrices=False)
        is_used = s > _MIN_RELATIVE_AXIS * size
        reduced.append(U[:, is_used] * s[is_used])
    return reduced, new_axes, top


def _leading(Phi: ViewFeatures, L: Matrix, k: int) -> tuple[Floats, Floats]:
    """Return the k largest eigenvalues of Phi' L Phi, falling, and their vectors."""
    r = _width(Phi, L.shape[0])
    k = min(k, r)
    if k == 0:
        return np.zeros(0), np.zeros((r, 0))
    if r > _MAX_DIRECT_SIZE:
        operator = symmetric_operator(r, lambda x: _apply_transposed(Phi, L @ _apply(Phi, x)))
        try:
            return largest_iterated(operator, k, seeded_start(r, 0), tol=1e-6)
        except ArpackError:
            pass
    dense = as_dense(L)
    return largest_dense(_apply_transposed(Phi, _apply_transposed(Phi, dense).T), k)


def _width(Phi: ViewFeatures, n: int) -> int:
    return n if Phi is None else Phi.shape[1]


def _apply(Phi: ViewFeatures, A: Floats) -> Floats:
    return A if Phi is None else Phi @ A


def _apply_transposed(Phi: ViewFeatures, G: Floats) -> Floats:
    return G if Phi is None else Phi.T @ G
