"""The symmetric-definite eigenproblem of all spectral methods.

    maximise  p' Z' S Z p   subject to   p' (Z' T Z + Gamma) p = 1,      p = [a_1; ...; a_m]

Z is block-diagonal with one centred basis per dataset, S and T are sparse and symmetric, and
Gamma holds one ridge per dataset. Canonical correlations, locality-preserving projections,
cross-domain matching and guided projection differ only in S, T and the bases.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from scipy.linalg import LinAlgError, blas, cholesky, eigh, lapack, solve_triangular
from scipy.sparse.linalg import ArpackError, LinearOperator, cg, eigsh

from hetviz._types import Floats, Sparse
from hetviz.core.arrays import slices
from hetviz.core.spectral.blocks import LinearMap, ProjectionBlock
from hetviz.errors import NotApplicableError, ParameterError

DENSE_LIMIT = 4_000
"""Up to this total number of coordinates the two matrices are formed."""
MIN_AGREEMENT = 1e-9
_MAX_DIRECT_SIZE = 400


def largest_dense(A: Floats, k: int, B: Floats | None = None) -> tuple[Floats, Floats]:
    """Return the k largest eigenvalues of A V = B V diag(mu), falling, and V; B is I if None."""
    r = len(A)
    return _falling(*eigh(A, B, subset_by_index=[max(r - k, 0), r - 1]))


def largest_iterated(
    operator: LinearOperator | Sparse, k: int, v0: Floats, **options: Any
) -> tuple[Floats, Floats]:
    """Return the k largest eigenvalues of a symmetric operator, falling, and their vectors."""
    return _falling(*eigsh(operator, k=k, which="LA", v0=v0, **options))


def _falling(values: Floats, V: Floats) -> tuple[Floats, Floats]:
    order = np.argsort(-values, kind="stable")
    return values[order], V[:, order]


def symmetric_operator(n: int, product: Callable[[Floats], Floats]) -> LinearOperator:
    """Return the operator of a product with vectors of shape (n,)."""
    return LinearOperator((n, n), matvec=lambda x: product(x.ravel()), dtype=np.float64)


def seeded_start(n: int, random_state: int) -> Floats:
    """Return the start vector of an iterative solver."""
    return np.random.default_rng(random_state).standard_normal(n)


def axis_signs(V: Floats) -> Floats:
    """Return signs that make the entry of largest size of each column positive."""
    return np.where(V[np.abs(V).argmax(axis=0), np.arange(V.shape[1])] < 0, -1.0, 1.0)


@dataclass(frozen=True)
class SpectralSolution:
    """Axes of the joint space, best agreement first."""

    mu: Floats
    maps: tuple[LinearMap, ...]
    embeddings: tuple[Floats, ...]


def solve(
    blocks: Sequence[ProjectionBlock],
    S: Sparse,
    mass: Floats,
    n_components: int,
    *,
    coupling: Sparse | None = None,
    deflate: Sparse | None = None,
    ridge_in_objective: bool = False,
    keep: float | None = MIN_AGREEMENT,
    path: str = "auto",
    random_state: int = 0,
) -> SpectralSolution:
    """Find the leading axes of the pencil (Z'SZ, Z'TZ + Gamma), T = diag(mass) + coupling.

    `deflate` sparse array (n, c): Row vectors u (in row space, for featureless rows) that are
        trivial solutions, such as the constant one; they are moved to the end of the spectrum.
    `ridge_in_objective`: Maximise p'(Z'SZ + Gamma)p instead: the form without the ridge in the
        minimised Laplacian.
    `keep`: Axes with mu <= keep * max(mu_1, 1) show no agreement and are dropped. None keeps all.

    Each axis is flipped so that its largest absolute coefficient is positive. Axes with equal mu
    are defined only up to a rotation among them. With r coordinates in total: dense O(n r^2 + r^3)
    time and O(r^2) memory; operator O(nnz(Z) + nnz(S) + sum r_v^2) per iteration.
    """
    if path not in ("auto", "dense", "operator"):
        raise ParameterError(f"path = {path!r} must be 'auto', 'dense' or 'operator'.")
    if n_components < 1:
        raise ParameterError(f"n_components = {n_components} must be 1 or more.")
    problem = _Pencil(blocks, S, mass, coupling, deflate, ridge_in_objective)
    k = min(n_components, problem.r)
    dense = problem.r <= DENSE_LIMIT if path == "auto" else path == "dense"
    v0 = seeded_start(problem.r, random_state)
    try:
        # The iterative solver cannot return all axes, so very small problems are always formed.
        mu, P = _dense(problem, k, v0) if dense or k >= problem.r else _iterate(problem, k, v0)
    except LinAlgError as error:
        raise NotApplicableError(
            "This eigenproblem",
            ["Its constraint is not positive definite. Use a gamma above 0, such as 0.1."],
        ) from error
    except ArpackError as error:
        raise NotApplicableError(
            "This eigenproblem",
            ["Its leading axes are too similar to separate. Use a larger gamma or fewer axes."],
        ) from error
    return finish(blocks, *keep_agreeing_axes(mu, P, keep))


def keep_agreeing_axes(mu: Floats, P: Floats, keep: float | None) -> tuple[Floats, Floats]:
    """Drop the axes without agreement: mu <= keep * max(mu_1, 1)."""
    if keep is None:
        return mu, P
    agreeing = np.flatnonzero(mu > keep * max(float(mu.max(initial=0.0)), 1.0))
    return mu[agreeing], P[:, agreeing]


def finish(blocks: Sequence[ProjectionBlock], mu: Floats, P: Floats) -> SpectralSolution:
    """Fix the signs of stacked coordinates P (r, k) and turn them into maps and embeddings."""
    pieces = [P[part] for part in slices([block.r for block in blocks])]
    maps = [block.finish(piece) for block, piece in zip(blocks, pieces, strict=True)]
    sign = axis_signs(np.nan_to_num(np.vstack([fitted.coefficients for fitted in maps])))
    maps = [LinearMap(m.coefficients * sign, m.centre, m.ridge) for m in maps]
    embeddings = []
    for block, piece, fitted in zip(blocks, pieces, maps, strict=True):
        Y = block.dot(piece) * sign
        unplaced = np.asarray(np.isnan(fitted.coefficients).any(axis=1))
        if unplaced.any():
            Y = np.where(unplaced[:, None], np.nan, Y)
        embeddings.append(Y)
    return SpectralSolution(mu, tuple(maps), tuple(embeddings))


class _Pencil:
    """The two matrices of the problem, formed or as products."""

    def __init__(
        self,
        blocks: Sequence[ProjectionBlock],
        S: Sparse,
        mass: Floats,
        coupling: Sparse | None,
        deflate: Sparse | None,
        ridge_in_objective: bool,
    ) -> None:
        self.blocks = list(blocks)
        self.rows = slices([block.n for block in blocks])
        self.columns = slices([block.r for block in blocks])
        self.r = self.columns[-1].stop
        self.S, self.mass = sp.csr_array(S), mass
        self.coupling = None if coupling is None or not coupling.nnz else sp.csr_array(coupling)
        self.ridge_in_objective = ridge_in_objective
        # G - 2 h h' / (u'h), with h = S u, moves the trivial solution u from mu = 1 to mu = -1.
        self.H = None if deflate is None else self._deflation(deflate)

    def _deflation(self, U: Sparse) -> Floats:
        H = np.asarray((self.S @ U).toarray())
        size = np.asarray(U.multiply(H).sum(axis=0)).ravel()
        used = size > 0
        return self.tdot(H[:, used] * np.sqrt(2.0 / size[used]))

    def dot(self, P: Floats) -> Floats:
        parts = zip(self.blocks, self.columns, strict=True)
        return np.concatenate([block.dot(P[columns]) for block, columns in parts])

    def tdot(self, Y: Floats) -> Floats:
        parts = zip(self.blocks, self.rows, strict=True)
        return np.concatenate([block.tdot(Y[rows]) for block, rows in parts])

    def objective(self, P: Floats) -> Floats:
        """(Z'SZ [+ Gamma]) P: (r, k) to (r, k)."""
        G = self.tdot(self.S @ self.dot(P))
        if self.H is not None:
            G -= self.H @ (self.H.T @ P)
        if self.ridge_in_objective:
            for block, columns in zip(self.blocks, self.columns, strict=True):
                G[columns] += block.ridge * P[columns]
        return G

    def form(self, S: Sparse) -> Floats:
        """Z'SZ as a dense (r, r) array."""
        G = np.zeros((self.r, self.r))
        for u, left in enumerate(self.blocks):
            across = S[self.rows[u]]
            for v, right in enumerate(self.blocks):
                # The narrower block of a pair is spread over the links, the expensive step.
                if (right.r, v) > (left.r, u):
                    continue
                part = across[:, self.rows[v]]
                if not part.nnz:
                    continue
                G[self.columns[u], self.columns[v]] = left.cross(part, right)
                if u != v:
                    G[self.columns[v], self.columns[u]] = G[self.columns[u], self.columns[v]].T
        return (G + G.T) / 2

    def constraint_blocks(self) -> list[Floats]:
        """Z_v' diag(mass) Z_v + gamma_v I per dataset: (r, r), or (r,) when diagonal."""
        grams = []
        for block, rows in zip(self.blocks, self.rows, strict=True):
            gram = block.gram(self.mass[rows])
            ridge = block.ridge if gram.ndim == 1 else block.ridge * np.eye(block.r)
            grams.append(gram + ridge)
        return grams


def _dense(problem: _Pencil, k: int, v0: Floats) -> tuple[Floats, Floats]:
    G = problem.form(problem.S)
    if problem.H is not None:
        G -= problem.H @ problem.H.T
    B = np.zeros_like(G) if problem.coupling is None else problem.form(problem.coupling)
    for block, columns, gram in zip(
        problem.blocks, problem.columns, problem.constraint_blocks(), strict=True
    ):
        B[columns, columns] += np.diag(gram) if gram.ndim == 1 else gram
        if problem.ridge_in_objective:
            G[columns, columns] += block.ridge * np.eye(block.r)
    return leading_eigenvectors(G, B, k, v0)


def leading_eigenvectors(G: Floats, B: Floats, k: int, v0: Floats) -> tuple[Floats, Floats]:
    """Return the k largest mu (falling) and P with G P = B P diag(mu), P'BP = I."""
    r = len(G)
    if r <= _MAX_DIRECT_SIZE or 10 * k > r:
        return largest_dense(G, k, B)
    L = cholesky(B, lower=True)
    C, _ = lapack.dsygst(G, L, lower=1)
    whitened = symmetric_operator(r, lambda q: blas.dsymv(1.0, C, q, lower=1))
    try:
        mu, Q = largest_iterated(whitened, k, v0)
    except ArpackError:
        return largest_dense(G, k, B)
    return mu, solve_triangular(L, Q, lower=True, trans="T")


def _iterate(problem: _Pencil, k: int, v0: Floats) -> tuple[Floats, Floats]:
    """Whiten with the Cholesky factors of the diagonal blocks, then iterate on products."""
    factors = [
        np.sqrt(gram) if gram.ndim == 1 else cholesky(gram) for gram in problem.constraint_blocks()
    ]

    def whiten(P: Floats, trans: Literal["N", "T"]) -> Floats:
        out = np.empty_like(P)
        for R, columns in zip(factors, problem.columns, strict=True):
            if R.ndim == 1:
                out[columns] = P[columns] / R[:, None]
            else:
                out[columns] = solve_triangular(R, P[columns], trans=trans)
        return out

    def operator(product: Callable[[Floats], Floats]) -> LinearOperator:
        return symmetric_operator(problem.r, product)

    def objective(q: Floats) -> Floats:
        return whiten(problem.objective(whiten(q.reshape(-1, 1), "N")), "T").ravel()

    coupling = problem.coupling
    if coupling is None:
        mu, Q = largest_iterated(operator(objective), k, v0)
    else:

        def constraint(q: Floats) -> Floats:
            Y = coupling @ problem.dot(whiten(q.reshape(-1, 1), "N"))
            return q.ravel() + whiten(problem.tdot(Y), "T").ravel()

        M = operator(constraint)

        def inverse(q: Floats) -> Floats:
            return np.asarray(cg(M, q, rtol=1e-13, atol=0.0, maxiter=2_000)[0])

        mu, Q = largest_iterated(operator(objective), k, v0, M=M, Minv=operator(inverse))
    return mu, whiten(Q, "N")
