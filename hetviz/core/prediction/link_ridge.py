"""Link prediction by Kronecker ridge regression, random walks, and a stack of such scores.

The building blocks of a link predictor on plain arrays. `hetviz.runs.predict.link_predictor`
handles datasets and the hidden links for model selection.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.linalg import solve_triangular
from scipy.optimize import minimize
from scipy.special import expit

from hetviz._types import Bools, Floats, Ints, Matrix, Reals, Sparse, is_sparse
from hetviz.core.arrays import as_dense
from hetviz.core.graph.neighbors import NeighborCells

MAX_EXACT_ROWS = 800
"""Kernels of up to this many items are decomposed exactly; larger ones by a low-rank factor."""
_MAX_GRAM_SIZE = 1_000
_BLOCK_ENTRIES = 4_000_000
_MIN_RELATIVE_VALUE = 1e-10
_OVERSAMPLING, _N_POWERS, _MANY_ROWS = 16, 2, 10_000
_MAX_PAIRS_EXACT, _CELL_PAIR_SHARE = 10_000_000, 0.02
_MIN_SPREAD = 0.1
_GATHERED_ENTRIES = 100_000  # Blocks that fit the cache.
_MAX_ENTRIES_PER_PAIR = 30  # A whole product of matrices is faster up to here.


@dataclass(frozen=True, eq=False)
class Spectrum:
    """The leading part of a kernel: K is approximately U diag(values) U'."""

    values: Floats
    U: Floats

    @property
    def features(self) -> Floats:
        """Rows whose inner products are the kernel: shape (n, r)."""
        return np.asarray(self.U * np.sqrt(self.values))

    @classmethod
    def of_kernel(cls, K: Floats) -> Spectrum:
        """Decompose a symmetric kernel without its negative part. O(n^3)."""
        return cls._without_null(*np.linalg.eigh(K))

    @classmethod
    def of_factor(cls, F: Floats) -> Spectrum:
        """Decompose F F' for a factor (n, r): O(n r^2)."""
        values, V = np.linalg.eigh(F.T @ F)
        is_positive = values > _MIN_RELATIVE_VALUE * max(float(values[-1]), 1e-300)
        return cls(values[is_positive], (F @ V[:, is_positive]) / np.sqrt(values[is_positive]))

    @classmethod
    def _without_null(cls, values: Floats, U: Floats) -> Spectrum:
        is_positive = values > _MIN_RELATIVE_VALUE * max(float(values[-1]), 1e-300)
        return cls(values[is_positive], U[:, is_positive])


def rank_for(n: int) -> int:
    """Return the rank of the similarity of n items, which falls with n."""
    return 256 if n <= 4_000 else 128 if n <= _MANY_ROWS else 48


def unit_rows(X: Matrix) -> Matrix:
    """Scale rows to length 1; rows of zeros do not change."""
    if is_sparse(X):
        length = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
        return sp.csr_array(sp.diags_array(1.0 / np.where(length > 0, length, 1.0)) @ X)
    dense = np.asarray(X, dtype=np.float64)
    length = np.linalg.norm(dense, axis=1)
    return np.asarray(dense / np.where(length > 0, length, 1.0)[:, None])


def thin_factor(X: Sparse, rank: int, random_state: int = 0) -> Floats:
    """Return F (n, r) with F F' close to X X', from the leading singular vectors of sparse X."""
    min_size = min(X.shape)
    rank = min(rank, min_size - 1)
    if rank < 1 or not X.nnz:
        return np.asarray(X.sum(axis=1), dtype=np.float64).reshape(-1, 1)
    if min_size <= _MAX_GRAM_SIZE:
        is_tall = X.shape[1] <= X.shape[0]
        values, V = np.linalg.eigh(as_dense(X.T @ X if is_tall else X @ X.T))
        values, V = np.maximum(values[-rank:], 0.0), V[:, -rank:]
        return np.asarray(X @ V if is_tall else V * np.sqrt(values), dtype=np.float64)
    return _leading(X, rank, random_state)


def _leading(X: Sparse, rank: int, random_state: int) -> Floats:
    """Return U diag(s) of the approximate leading singular vectors, by random projection.

    Halko, Martinsson and Tropp 2011, algorithm 4.4, with oversampling and power iterations.
    O(nnz r + (n + p) r^2).
    """
    rng = np.random.default_rng(random_state)
    T = sp.csr_array(X.T)
    Q = X @ rng.standard_normal((X.shape[1], min(rank + _OVERSAMPLING, *X.shape)))
    for _ in range(_N_POWERS if max(X.shape) <= _MANY_ROWS else 1):
        Q = X @ _orthonormal(T @ _orthonormal(Q))
    Q = _orthonormal(Q, times=2)
    B = T @ Q
    values, V = np.linalg.eigh(B.T @ B)
    U = Q @ V[:, -rank:]
    return np.asarray(U * np.sqrt(np.maximum(values[-rank:], 0.0)))


def _orthonormal(Q: Floats, times: int = 1) -> Floats:
    """Return orthonormal columns with the same span; repeat to reduce rounding errors."""
    for _ in range(times):
        G = Q.T @ Q
        G[np.diag_indices_from(G)] += 1e-14 * max(float(np.trace(G)), 1e-300)
        Q = Q @ solve_triangular(np.linalg.cholesky(G), np.eye(len(G)), lower=True).T
    return np.asarray(Q)


def profile_kernel(profiles: Sparse) -> Floats:
    """Return the Gaussian interaction-profile kernel of rows, shape (n, n).

    exp(-g |y_i - y_j|^2), with g the inverse of the mean squared length, as in van Laarhoven,
    Nabuurs and Marchiori, Gaussian interaction profile kernels for predicting drug-target
    interaction, 2011. O(n^2) memory.
    """
    size = np.asarray(profiles.multiply(profiles).sum(axis=1), dtype=np.float64).ravel()
    mean = float(size.mean()) if len(size) else 0.0
    if mean <= 0:
        return np.ones((len(size), len(size)))
    products = (profiles @ profiles.T).toarray()
    squared = np.maximum(size[:, None] + size[None, :] - 2.0 * products, 0.0)
    return np.asarray(np.exp(-squared / mean))


@dataclass(frozen=True, eq=False)
class LowRankScores:
    """Scores of all pairs as inner products of rows of two factors, (n, r) and (m, r)."""

    left: Floats
    right: Floats

    def rows(self, rows: Ints) -> Floats:
        return np.asarray(self.left[rows] @ self.right.T)

    def pairs(self, i: Ints, j: Ints) -> Floats:
        """Return the scores of pairs, shape (p,)."""
        if len(self.left) * len(self.right) <= _MAX_ENTRIES_PER_PAIR * len(i):
            return np.asarray((self.left @ self.right.T)[i, j])
        scores = np.empty(len(i))
        step = max(1, _GATHERED_ENTRIES // max(self.left.shape[1], 1))
        for start in range(0, len(i), step):
            part = slice(start, start + step)
            np.einsum("pr,pr->p", self.left[i[part]], self.right[j[part]], out=scores[part])
        return scores


def best_products(
    left: Floats, right: Floats, rows: Ints, count: int, without: Ints | None = None
) -> tuple[Ints, Ints]:
    """Return the `count` pairs of rows with the largest inner products.

    In blocks, in single precision: O(len(rows) m r) time, memory for a block and for the result.
    Above 10 million pairs the rows of both sides are grouped into cells, and only pairs of cells
    whose mean rows have the largest products are searched, 2 % of all pairs or 10 million, so a
    few of the best may be missed.
    """
    best = _BestPairs(count, len(right), np.empty(0, np.int64) if without is None else without)
    B = np.ascontiguousarray(right.T, dtype=np.float32)
    if len(rows) * len(right) > _MAX_PAIRS_EXACT:
        for part, columns in _promising_blocks(left, right, rows):
            best.add(part, columns, left[part].astype(np.float32) @ B[:, columns])
    else:
        everything = np.arange(len(right))
        step = max(1, _BLOCK_ENTRIES // max(len(right), 1))
        for start in range(0, len(rows), step):
            part = rows[start : start + step]
            best.add(part, everything, left[part].astype(np.float32) @ B)
    return best.pairs // best.m, best.pairs % best.m


class _BestPairs:
    """The pairs with the largest scores over successive blocks."""

    def __init__(self, count: int, m: int, without: Ints) -> None:
        self.count, self.m, self._without = count, m, without
        self.pairs = np.empty(0, np.int64)
        self._scores = np.empty(0, np.float32)
        self._threshold = np.float32(-np.inf)

    def add(self, rows: Ints, columns: Ints, S: Reals) -> None:
        """Add a block of scores, shape (rows, columns)."""
        i, j = np.nonzero(self._threshold < S)
        pairs, scores = rows[i] * self.m + columns[j], S[i, j]
        is_new = ~is_among(pairs, self._without)
        self._scores = np.concatenate([self._scores, scores[is_new]])
        self.pairs = np.concatenate([self.pairs, pairs[is_new]])
        if len(self._scores) > self.count:
            best = np.argpartition(-self._scores, self.count - 1)[: self.count]
            self._scores, self.pairs = self._scores[best], self.pairs[best]
            self._threshold = self._scores.min()


def largest(values: Reals, count: int) -> Ints:
    """Return the positions of the largest values, largest first, equal ones in order."""
    places = np.arange(len(values))
    if len(values) > count > 0:
        threshold = np.partition(values, len(values) - count)[len(values) - count]
        places = np.flatnonzero(values >= threshold)
    order = np.argsort(-values[places], kind="stable")[:count]
    return np.asarray(places[order], dtype=np.int64)


def is_among(numbers: Ints, ordered: Ints) -> Bools:
    """Return which numbers occur in a sorted array; faster than a hash for few numbers."""
    if not len(ordered):
        return np.zeros(len(numbers), dtype=bool)
    positions = np.minimum(np.searchsorted(ordered, numbers), len(ordered) - 1)
    return np.asarray(ordered[positions] == numbers)


def _promising_blocks(left: Floats, right: Floats, rows: Ints) -> Iterator[tuple[Ints, Ints]]:
    """Yield rows and columns of the blocks whose mean rows have the largest products."""
    row_cells, column_cells = (
        NeighborCells.around_sample(left[rows]),
        NeighborCells.around_sample(right),
    )
    sizes = np.multiply.outer(
        [len(m) for m in row_cells.members], [len(m) for m in column_cells.members]
    )
    order = np.argsort(-(row_cells.centres @ column_cells.centres.T), axis=None, kind="stable")
    max_pairs = max(_MAX_PAIRS_EXACT, int(_CELL_PAIR_SHARE * len(rows) * len(right)))
    searched = order[: int(np.searchsorted(np.cumsum(sizes.ravel()[order]), max_pairs)) + 1]
    chosen = np.zeros(sizes.size, dtype=bool)
    chosen[searched] = True
    for cell, is_chosen in enumerate(chosen.reshape(sizes.shape)):
        if len(row_cells.members[cell]) and is_chosen.any():
            yield rows[row_cells.members[cell]], column_cells.rows(np.flatnonzero(is_chosen))


@dataclass(frozen=True, eq=False)
class KroneckerRidge:
    r"""Kernel ridge regression of all pairs at once with the product of two kernels.

    With K_a = U L U' and K_b = V M V' the fitted values are
    :math:`F = K_a \tilde{A} K_b = U (C \circ S / (S + ridge)) V'` where C = U'Y V and
    S = outer(L, M): two eigenproblems instead of a system of n m unknowns (Pahikkala et al.; van
    Laarhoven et al. 2011 as RLS-Kron). O(nnz r), and O((n + m) r^2) for each ridge.
    """

    a: Spectrum
    b: Spectrum
    C: Floats

    @classmethod
    def of(cls, Y: Sparse, a: Spectrum, b: Spectrum) -> KroneckerRidge:
        """Return the regression of known links."""
        return cls(a, b, np.asarray(a.U.T @ (Y @ b.U)))

    def scores(self, ridge: float) -> LowRankScores:
        """Return the fitted values F for a ridge above 0."""
        S = np.multiply.outer(self.a.values, self.b.values)
        return LowRankScores(self.a.U @ (self.C * (S / (S + ridge))), self.b.U)

    def two_sided_scores(self, ridge: float) -> LowRankScores:
        r"""Return :math:`K_a (K_a + ridge)^{-1} Y (K_b + ridge)^{-1} K_b`.

        Ridge regression first over the rows, then over the columns, which predicts items without
        links better than the ridge over pairs (Stock et al. 2018, two-step kernel ridge).
        """
        shares = [values / (values + ridge) for values in (self.a.values, self.b.values)]
        return LowRankScores((self.a.U * shares[0]) @ self.C, self.b.U * shares[1])

    def weights(self, ridge: float) -> LowRankScores:
        r"""Return the dual coefficients :math:`\tilde{A}` within the span of the spectra."""
        S = np.multiply.outer(self.a.values, self.b.values)
        return LowRankScores(self.a.U @ (self.C / (S + ridge)), self.b.U)


def walk_matrix(W: Sparse) -> Sparse:
    """Return D^(-1/2) W D^(-1/2) of a symmetric graph; items without links have zero rows."""
    degree = np.asarray(abs(W).sum(axis=1)).ravel()
    scale = sp.diags_array(1.0 / np.sqrt(np.where(degree > 0, degree, 1.0)))
    return sp.csr_array(scale @ W @ scale)


def walk_scores(T: Sparse, rows: Ints, columns: slice, steps: int = 5, stay: float = 0.6) -> Floats:
    """Return scores of random walks from rows of a graph to columns, shape (rows, columns).

    The truncated sum of ``stay**k T**k``, a personalised PageRank symmetric in both ends.
    O(len(rows) nnz steps).
    """
    start = sp.csr_array(
        (np.ones(len(rows)), (np.arange(len(rows)), rows)), shape=(len(rows), T.shape[0])
    )
    at = np.ascontiguousarray(start.T.toarray())
    total = np.zeros((columns.stop - columns.start, len(rows)))
    for step in range(1, steps):
        at = T @ at
        total += stay**step * at[columns]
    total += stay**steps * (T[columns] @ at)
    return np.ascontiguousarray(total.T)


@dataclass(frozen=True)
class ScoreScale:
    """A scale that makes scores of one kind comparable for any number of training links.

    `middle`, `size`: Median of the scores of random pairs, and the distance of the mean of the top
        1 % from it.
    """

    middle: float
    size: float

    @classmethod
    def of(cls, scores: Floats) -> ScoreScale:
        """Return the scale of the scores of random pairs."""
        if not len(scores):
            return cls(0.0, 1.0)
        middle = float(np.median(scores))
        count = max(1, len(scores) // 100)
        top = np.partition(scores, len(scores) - count)[len(scores) - count :]
        size = float(top.mean()) - middle
        return cls(middle, size if size > 1e-12 else 1.0)

    def __call__(self, scores: Floats) -> Floats:
        """Return arcsinh of 10 times the scaled scores: linear at 0, logarithmic far above."""
        return np.asarray(np.arcsinh(10.0 * (scores - self.middle) / self.size))


@dataclass(frozen=True, eq=False)
class ScoreStack:
    """Probabilities of links by logistic regression on scores of several kinds."""

    names: tuple[str, ...]
    weights: Floats
    intercept: float

    def probability(self, scores: Mapping[str, Floats]) -> Floats:
        """Return probabilities of pairs from their scaled scores, any shape."""
        total: Floats | float = self.intercept
        for name, weight in zip(self.names, self.weights, strict=True):
            total = total + weight * scores[name]
        return np.asarray(expit(total), dtype=np.float64)

    @classmethod
    def fit(
        cls,
        names: Sequence[str],
        X: Floats,
        y: Floats,
        counts: Floats,
        free: Sequence[str] = (),
        strength: float = 1.0,
        labelled_share: float = 1.0,
    ) -> ScoreStack:
        """Fit to pairs.

        `X` (p, k): Scaled scores.
        `y` (p,): 1 for links, else 0.
        `counts` (p,): Number of pairs that each one represents.
        `free`: Columns whose weights may be negative; the others have non-negative weights, for
            which few links are enough.
        `strength`: Precision of the zero-mean prior of the weights of columns of unit spread.
        `labelled_share`: Share of the links among these pairs that have `y` 1; the others have 0.

        A pair with `y` 1 has probability c expit(z), with c the labelled share and expit(z) the
        probability of a link (Elkan and Noto 2008, learning from positive and unlabelled data).
        Maximum a posteriori by L-BFGS-B; O(p k) per step.
        """
        spread = X.std(axis=0)
        spread = np.maximum(spread, _MIN_SPREAD)
        Z = X / spread
        log_missing = np.log(max(1.0 - labelled_share, 1e-12))

        def loss(parameters: Floats) -> tuple[float, Floats]:
            w = parameters[:-1]
            z = Z @ w + parameters[-1]
            p = expit(z)
            # 1 - c p is (1 + (1 - c) exp(z)) / (1 + exp(z)); as a logarithm it does not overflow.
            log_unknown = np.logaddexp(0.0, z + log_missing)
            loss_unknown = np.logaddexp(0.0, z) - log_unknown
            value = counts @ np.where(y > 0, np.logaddexp(0.0, -z), loss_unknown)
            slope = counts * np.where(y > 0, p - 1.0, labelled_share * p * np.exp(-log_unknown))
            gradient = np.append(Z.T @ slope + strength * w, slope.sum())
            return float(value + 0.5 * strength * w @ w), gradient

        start = np.append(
            np.zeros(X.shape[1]), np.log((counts @ y + 0.5) / (counts @ (1 - y) + 0.5))
        )
        bounds = [(None if name in free else 0.0, None) for name in names] + [(None, None)]
        result = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds)
        return cls(tuple(names), result.x[:-1] / spread, float(result.x[-1]))


def has_exclusive_rows(Y: Sparse) -> bool:
    """Return whether rows have at most one link each, more than expected by chance.

    k random links among n rows all fall on different rows with probability exp(-k^2 / 2n),
    approximately; below 1 % the rule is accepted.
    """
    degrees = np.diff(Y.indptr)
    count = int(degrees.sum())
    if not count or int(degrees.max()) > 1:
        return False
    return bool(count**2 / (2.0 * Y.shape[0]) > np.log(100.0))
