"""Collective component analysis (CoCA): one map of rows with several sources of features.

    max u'(X + M)u,   X_jj = w_j X_j'X_j,   X_jh = alpha X_j'X_h,   M_jj = X_j' (sum_t v_t M_t) X_j

for sources X_j of features and M_t of relations among the same rows; the map is the mean of the
X_j u_j. In the difference form, which the thesis considers equivalent, X_jj = (w_j - 2 alpha (p -
1)) X_j'X_j and X_jh = 2 alpha X_j'X_h. Without any source of features the map consists of the
leading eigenvectors of sum_t v_t M_t.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.linalg import eigvalsh

from hetviz._types import Bools, Floats, Ints, Sparse
from hetviz.core.arrays import slices
from hetviz.core.spectral.blocks import LinearMap
from hetviz.core.spectral.eigen import (
    axis_signs,
    largest_dense,
    largest_iterated,
    seeded_start,
    symmetric_operator,
)
from hetviz.core.spectral.sources import FeatureSource, feature_factors
from hetviz.core.spectral.stiefel import retract
from hetviz.errors import DataWarning, NotApplicableError

DENSE_LIMIT = 4_000
"""Up to this total number of coordinates the matrix is formed."""
_DENSE_ENTRIES = 2e7
_MAX_SWEEPS = 500
_SMALL_ROWS = 500


@dataclass(frozen=True, eq=False)
class CocaSolution:
    """A fitted collective component analysis.

    `values` (k,): Eigenvalues, falling; under the block constraint u'(X + M)u of each axis.
    `bound`: Upper bound of the objective under the block constraint; NaN for the other
        constraints.
    """

    values: Floats
    directions: tuple[Floats, ...]
    scores: Floats
    history: list[float]
    bound: float


def coca(
    sources: Sequence[FeatureSource],
    graphs: Sequence[Sparse],
    n_components: int,
    *,
    alpha: float = 1.0,
    source_weights: Floats | None = None,
    graph_weights: Floats | None = None,
    agreement: str = "product",
    weights_in: str = "all",
    constraint: str = "joint",
    output: str = "mean",
    random_state: int = 0,
) -> CocaSolution:
    """Find the axes on which all sources vary and agree.

    `sources`: Sources of the same n rows.
    `graphs` (sequence of csr_array of shape (n, n)): Symmetric relations, see `relation`.
    `n_components`: Number of axes; fewer are returned if fewer have a positive value.
    `alpha`: Weight of agreement between sources, relative to their own variance.
    `source_weights`, `graph_weights`: Non-negative, of sum 1; equal by default.
    `agreement` {"product", "difference"}: ``"product"`` adds alpha sum_(j != h) u_j'X_j'X_h u_h
        (equation 4.8); ``"difference"`` subtracts alpha sum_(j, h) |X_j u_j - X_h u_h|^2 (equation
        4.3). The thesis derives the first from the second (lemma 1), but the squares also subtract
        2 alpha (p - 1) |X_j u_j|^2 from each source's own variance. For alpha >= 1 / (2 p (p - 1))
        with equal weights, only directions on which sources agree have a positive value.
    `weights_in` {"all", "diagonal"}: ``"all"`` also weights agreement, that of sqrt(p w_j) X_j u_j.
        ``"diagonal"`` is the thesis, where weights do not affect agreement. With equal weights both
        are the same.
    `constraint` {"joint", "rescaled", "block"}: ``"joint"``: |u| = 1, as solved in the thesis;
        ``"rescaled"`` then scales every u_j to length 1; ``"block"``: |u_j| = 1 exactly (U_j'U_j =
        I), by monotone block updates.
    `output` {"mean", "smoothed"}: The mean of X_j u_j over the sources that have the row, or (I +
        sum_t v_t M_t) times it.
    `random_state`: Seed of the iterative solver.

    Raises DataWarning: If fewer than `n_components` axes have a positive value.

    Raises NotApplicableError: If no axis has a positive value, or there are too many features for
        the block constraint.

    O(n r^2 + r^3) for r coordinates in total; above 4,000 only products are computed.
    """
    w = _equal_weights(len(sources)) if source_weights is None else source_weights
    # In the thesis a source of weight 0 still has to agree; here it is not used.
    used = [
        source.r > 0 and (weights_in == "diagonal" or weight > 0)
        for source, weight in zip(sources, w, strict=True)
    ]
    active = [source for source, is_used in zip(sources, used, strict=True) if is_used]
    n = (sources[0].present.size if sources else graphs[0].shape[0]) if sources or graphs else 0
    v = _equal_weights(len(graphs)) if graph_weights is None else graph_weights
    M = sum((x * G for x, G in zip(v, graphs, strict=True)), sp.csr_array((n, n)))
    if not active:
        values, scores = _relation_axes(M, n_components, random_state)
        empty_maps = tuple(np.zeros((source.r, len(values))) for source in sources)
        return _check_axes(CocaSolution(values, empty_maps, scores, [], float("nan")), n_components)
    C = _coefficients(np.asarray(w)[used], alpha, weights_in, agreement)
    problem = _JointMatrix(active, C, M)
    values, pieces, history, bound = _solve_problem(problem, n_components, constraint, random_state)
    pieces = _fix_signs([s.coefficients(U) for s, U in zip(active, pieces, strict=True)], pieces)
    scores = _mean_scores(active, pieces)
    if output == "smoothed":
        scores = _smoothed(scores, M)
    remaining = iter(pieces)
    directions = tuple(
        next(remaining) if is_used else np.zeros((source.r, len(values)))
        for source, is_used in zip(sources, used, strict=True)
    )
    return _check_axes(CocaSolution(values, directions, scores, history, bound), n_components)


def _solve_problem(
    problem: _JointMatrix, n_components: int, constraint: str, random_state: int
) -> tuple[Floats, list[Floats], list[float], float]:
    """Return values, directions by source, the objective of each sweep, and its bound."""
    k = min(n_components, problem.r)
    history: list[float] = []
    bound = float("nan")
    if constraint == "block":
        values, U, history, bound = _blockwise(problem, k)
    else:
        values, U = problem.leading(k, random_state)
        is_positive = values > 1e-12 * max(float(np.abs(values).max(initial=0.0)), 1e-300)
        values, U = values[is_positive], U[:, is_positive]
    pieces = [U[part] for part in problem.parts]
    return (
        values,
        [_unit(U) for U in pieces] if constraint == "rescaled" else pieces,
        history,
        bound,
    )


@dataclass(frozen=True)
class SummedSource:
    """Sums over the rows of one source of features."""

    count: int
    centre: Floats
    gram: Floats
    related: Floats | None = None


def coca_by_sums(
    sources: Sequence[SummedSource],
    shared: Mapping[tuple[int, int], Floats],
    n_components: int,
    *,
    scale: str = "block",
    alpha: float = 1.0,
    source_weights: Floats | None = None,
    agreement: str = "product",
    weights_in: str = "all",
    constraint: str = "joint",
    random_state: int = 0,
) -> tuple[Floats, list[LinearMap | None]]:
    """Find the axes of `coca` from sums, for rows that do not fit into memory."""
    w = _equal_weights(len(sources)) if source_weights is None else source_weights
    factor = []
    for source in sources:
        variance = np.maximum(np.diagonal(source.gram) / source.count, 0.0)
        factor.append(feature_factors(variance, variance + source.centre**2, scale))
    used = [
        j
        for j, weight in enumerate(w)
        if factor[j].any() and (weights_in == "diagonal" or weight > 0)
    ]
    if not used:
        raise _no_axis_error()
    C = _coefficients(np.asarray(w)[used], alpha, weights_in, agreement)
    parts = slices([len(factor[j]) for j in used])
    A = np.zeros((parts[-1].stop, parts[-1].stop))
    for a, j in enumerate(used):
        for b, h in enumerate(used[: a + 1]):
            if a == b:
                products = C[a, a] * sources[j].gram
                if sources[j].related is not None:
                    products = products + sources[j].related
            elif (h, j) in shared:
                products = C[a, b] * shared[h, j].T
            else:
                continue
            A[parts[a], parts[b]] = factor[j][:, None] * products * factor[h]
            A[parts[b], parts[a]] = A[parts[a], parts[b]].T
    problem = _SummedMatrix((A + A.T) / 2, parts)
    values, pieces, _, _ = _solve_problem(problem, n_components, constraint, random_state)
    _check_axes(CocaSolution(values, (), np.zeros((0, 0)), [], float("nan")), n_components)
    maps: list[LinearMap | None] = [None] * len(sources)
    for j, U in zip(used, _fix_signs(pieces, pieces), strict=True):
        wide = np.hstack([U, np.zeros((len(U), n_components - U.shape[1]))])
        maps[j] = LinearMap(factor[j][:, None] * wide, sources[j].centre, 0.0)
    return values, maps


def relation(A: Sparse, scaling: str = "sym") -> Sparse:
    """Return a symmetric relation of non-negative edges.

    `scaling` {"sym", "none"}: ``"sym"`` divides entry ij by the square roots of the degrees of i
        and j, which bounds the eigenvalues by 1; ``"none"`` is the thesis.
    """
    A = sp.csr_array(A).astype(np.float64, copy=False)
    A = sp.csr_array((A + A.T) / 2)
    if scaling == "none":
        return A
    degrees = np.asarray(A.sum(axis=1)).ravel()
    root = np.where(degrees > 0, 1.0 / np.sqrt(np.where(degrees > 0, degrees, 1.0)), 0.0)
    return sp.csr_array(sp.diags_array(root) @ A @ sp.diags_array(root))


def _equal_weights(count: int) -> Floats:
    return np.full(count, 1.0 / max(count, 1))


def _coefficients(w: Floats, alpha: float, weights_in: str, agreement: str) -> Floats:
    """Return c_jh, the factor of X_j'X_h, for weights of any sum."""
    p = len(w)
    w = w / w.sum() if w.any() else _equal_weights(p)
    root = np.sqrt(p * w) if weights_in == "all" else np.ones(p)
    C = alpha * np.outer(root, root)
    diagonal = w
    if agreement == "difference":
        diagonal = w - 2.0 * (p - 1) * np.diag(C)
        C *= 2.0
    np.fill_diagonal(C, diagonal)
    return C


class _JointMatrix:
    """The matrix X + M of all sources, formed or as products."""

    def __init__(self, sources: Sequence[FeatureSource], C: Floats, M: Sparse) -> None:
        self.sources, self.C, self.M = sources, C, M
        self.parts = slices([source.r for source in sources])
        self.r = self.parts[-1].stop

    @property
    def formable(self) -> bool:
        n = self.M.shape[0]
        fits = all(s.dense is not None or n * s.r <= _DENSE_ENTRIES for s in self.sources)
        return fits and self.r <= DENSE_LIMIT

    def form(self) -> Floats:
        X = [s.dot(np.eye(s.r)) if s.dense is None else s.dense for s in self.sources]
        A = np.zeros((self.r, self.r))
        for j, left in enumerate(self.parts):
            for h, right in enumerate(self.parts[: j + 1]):
                A[left, right] = self.C[j, h] * (X[j].T @ X[h])
                A[right, left] = A[left, right].T
            if self.M.nnz:
                A[left, left] += X[j].T @ (self.M @ X[j])
        return (A + A.T) / 2

    def product(self, u: Floats) -> Floats:
        Y = [s.dot(u[part, None]) for s, part in zip(self.sources, self.parts, strict=True)]
        products = []
        for j, source in enumerate(self.sources):
            total = sum(self.C[j, h] * Y[h] for h in range(len(Y)))
            products.append(source.tdot(total + self.M @ Y[j]))
        return np.concatenate(products).ravel()

    def leading(self, k: int, random_state: int) -> tuple[Floats, Floats]:
        if self.formable:
            return largest_dense(self.form(), k)
        A = symmetric_operator(self.r, self.product)
        return largest_iterated(A, min(k, self.r - 1), seeded_start(self.r, random_state))


class _SummedMatrix(_JointMatrix):
    """The matrix X + M of all sources, formed from sums."""

    def __init__(self, A: Floats, parts: Sequence[slice]) -> None:
        self.parts, self.r, self._A = list(parts), int(A.shape[0]), A

    @property
    def formable(self) -> bool:
        return bool(self.r <= DENSE_LIMIT)

    def form(self) -> Floats:
        return self._A

    def product(self, u: Floats) -> Floats:
        return np.asarray(self._A @ u)


def _blockwise(problem: _JointMatrix, k: int) -> tuple[Floats, Floats, list[float], float]:
    """Maximise tr U'(X + M)U with U_j'U_j = I (U_j U_j' = I if r_j < k), block by block."""
    if not problem.formable:
        raise NotApplicableError(
            "The block constraint",
            [f"It allows at most {DENSE_LIMIT:,} features in total. Use constraint='joint'."],
        )
    A = problem.form()
    values, U = largest_dense(A, k)
    bound = len(problem.parts) * float(values[::-1].sum())
    U = U.copy()
    # Adding s_j to a diagonal block changes the objective by a constant and makes it convex.
    shifts = [max(0.0, -float(eigvalsh(A[part, part])[0])) for part in problem.parts]
    for part in problem.parts:
        U[part] = retract(U[part])
    history = [float((U * (A @ U)).sum())]
    for _ in range(_MAX_SWEEPS):
        for part, shift in zip(problem.parts, shifts, strict=True):
            U[part] = retract(A[part] @ U + shift * U[part])
        history.append(float((U * (A @ U)).sum()))
        if history[-1] - history[-2] <= 1e-12 * abs(history[-1]):
            break
    # U is defined up to a rotation; take the one with uncorrelated axes.
    inner, rotation = np.linalg.eigh((U.T @ A @ U + (U.T @ A @ U).T) / 2)
    return inner[::-1], U @ rotation[:, ::-1], history, bound


def _unit(U: Floats) -> Floats:
    length = np.linalg.norm(U, axis=0)
    return np.asarray(U / np.where(length > 0, length, 1.0))


def _fix_signs(by_feature: Sequence[Floats], pieces: Sequence[Floats]) -> list[Floats]:
    """Return directions with a positive largest coefficient of a feature on each axis."""
    sign = axis_signs(np.vstack(list(by_feature)))
    return [U * sign for U in pieces]


def _mean_scores(sources: Sequence[FeatureSource], pieces: Sequence[Floats]) -> Floats:
    count = np.sum([source.present for source in sources], axis=0).astype(np.float64)
    total = np.sum([s.dot(U) for s, U in zip(sources, pieces, strict=True)], axis=0)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(count[:, None] > 0, total / count[:, None], np.nan))


def _smoothed(scores: Floats, M: Sparse) -> Floats:
    spread = M @ np.nan_to_num(scores)
    has_relations = np.asarray(abs(M).sum(axis=1)).ravel() > 0
    is_undescribed = np.isnan(scores).any(axis=1) & ~has_relations
    return np.where(is_undescribed[:, None], np.nan, np.nan_to_num(scores) + spread)


def _relation_axes(M: Sparse, k: int, random_state: int) -> tuple[Floats, Floats]:
    """Return the leading eigenvectors of H M H, with H the centring, of unit length."""
    n = M.shape[0]
    has_relations = np.asarray(abs(M).sum(axis=1)).ravel() > 0
    if n <= _SMALL_ROWS:
        A = M.toarray()
        A = A - A.mean(axis=0) - A.mean(axis=1)[:, None] + A.mean()
        values, Y = largest_dense((A + A.T) / 2, k)
    else:

        def product(y: Floats) -> Floats:
            y = M @ (y - y.mean())
            return np.asarray(y - y.mean())

        v0 = seeded_start(n, random_state)
        values, Y = largest_iterated(symmetric_operator(n, product), k, v0)
    is_positive = values > 1e-12 * max(float(np.abs(values).max(initial=0.0)), 1e-300)
    values, Y = values[is_positive], Y[:, is_positive]
    return values, np.where(has_relations[:, None], Y * axis_signs(Y), np.nan)


def _no_axis_error() -> NotApplicableError:
    reason = "No source distinguishes the items, so there is no axis."
    return NotApplicableError("Collective component analysis", [reason])


def _check_axes(fitted: CocaSolution, n_requested: int) -> CocaSolution:
    n_axes = len(fitted.values)
    if not n_axes:
        raise _no_axis_error()
    if n_axes < n_requested:
        warnings.warn(
            f"The sources support only {n_axes} of {n_requested} axes.", DataWarning, stacklevel=3
        )
    return fitted


# Weights of sources from linked pairs: how well each source alone agrees with them.


def learned_weights(
    sources: Sequence[FeatureSource],
    graphs: Sequence[Sparse],
    pairs: tuple[Ints, Ints],
    signs: Floats,
    n_components: int,
) -> tuple[Floats, Floats]:
    """Weight sources by how well each alone agrees with linked pairs.

    min |sum_k w_k E_k - C|^2 over the simplex (equations 4.18 and 4.19), E_k the similarity of the
    pairs in source k; in a graph it is 1 for connected and -1 for other pairs. Together and apart
    pairs have the same total weight. O(m p) per component.
    """
    i, j = pairs
    balance = np.zeros(len(signs))
    for sign in (1.0, -1.0):
        if (signs == sign).any():
            balance[signs == sign] = 1.0 / np.count_nonzero(signs == sign)
    similarities = []
    for source in sources:
        if not source.r:
            similarities.append(np.zeros(len(signs)))
            continue
        Y = np.nan_to_num(coca([source], [], min(n_components, source.r)).scores)
        length = np.linalg.norm(Y, axis=1, keepdims=True)
        Y = Y / np.where(length > 0, length, 1.0)
        similarities.append((Y[i] * Y[j]).sum(axis=1))
    connected = [np.where(np.asarray(G[i, j]).ravel() != 0, 1.0, -1.0) for G in graphs]
    return _fit_weights(similarities, balance, signs), _fit_weights(connected, balance, signs)


def _fit_weights(E: Sequence[Floats], balance: Floats, signs: Floats) -> Floats:
    if not E:
        return np.zeros(0)
    stacked = np.array(E)
    return simplex_qp((stacked * balance) @ stacked.T, (stacked * balance) @ signs)


def simplex_qp(K: Floats, v: Floats) -> Floats:
    """Minimise w'Kw - 2v'w over w >= 0, sum(w) = 1.

    Returns (p,): The minimiser; of several the most even one, up to 1e-10 of K: equal sources get
        equal weights.

    Primal active set method from equal weights; each step solves the problem on the current
    support, O(p^3), and the objective never rises.
    """
    p = len(v)
    size = max(float(np.trace(K)) / p, float(np.abs(v).max(initial=0.0)), 1e-300)
    K, v = K / size + 1e-10 * np.eye(p), v / size
    w = np.full(p, 1.0 / p)
    free = np.ones(p, dtype=bool)
    for _ in range(100 * (p + 1)):
        target = _on_support(K, v, free)
        if (target >= 0).all():
            w = target
            gradient = K @ w - v
            level = float(gradient[free].mean())
            gain = np.where(free, 0.0, level - gradient)
            entering = int(gain.argmax())
            if gain[entering] <= 1e-12:
                break
            free[entering] = True
            continue
        # Move towards the target until the first weight reaches 0, and fix it there.
        falling = np.flatnonzero(target < 0)
        steps = w[falling] / (w[falling] - target[falling])
        leaving = falling[steps.argmin()]
        w = np.maximum(w + steps.min() * (target - w), 0.0)
        w[leaving] = 0.0
        free[leaving] = False
    return np.asarray(w / w.sum())


def _on_support(K: Floats, v: Floats, free: Bools) -> Floats:
    """Minimise over weights of sum 1 that are 0 outside the support."""
    inside = np.flatnonzero(free)
    m = len(inside)
    system = np.zeros((m + 1, m + 1))
    system[:m, :m] = K[np.ix_(inside, inside)]
    system[:m, m] = system[m, :m] = 1.0
    weights = np.zeros(len(v))
    weights[inside] = np.linalg.solve(system, np.append(v[inside], 1.0))[:m]
    return weights
