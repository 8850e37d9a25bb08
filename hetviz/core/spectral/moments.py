"""Guided projections and principal components from sums over rows and links.

The eigenproblem of `hetviz.core.spectral.eigen` needs only, for datasets u and v,

    n, 1'Dx;   G_v = sum_i d_i (x_i - c_v)(x_i - c_v)';   C_uv = sum_ij w_ij (x_i - c_u)(x_j - c_v)'

each a sum over blocks of rows and of links. Parts are added in a fixed order, so that the result
does not depend on where each was computed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.linalg import LinAlgError
from scipy.sparse.csgraph import connected_components

from hetviz._types import Array, Floats, Ints, Sparse
from hetviz.core.arrays import slices
from hetviz.core.spectral.blocks import (
    LinearMap,
    ProjectionBlock,
    absolute_ridge,
    centred_gram,
    centred_product,
)
from hetviz.core.spectral.eigen import (
    MIN_AGREEMENT,
    SpectralSolution,
    axis_signs,
    finish,
    keep_agreeing_axes,
    largest_dense,
    leading_eigenvectors,
)
from hetviz.core.spectral.guided import (
    NU,
    GuidedSolution,
    check_axes,
    check_guidance,
    check_options,
    combine_components,
)
from hetviz.errors import NotApplicableError, ParameterError

Key = tuple[str | int, ...]
Sums = Mapping[Key, Floats]
"""Arrays to add, by name."""
POSITIVE, NEGATIVE = 1, -1
FAN_IN = 4
"""Number of parts added at a time in a tree of sums."""


def add_sums(parts: Sequence[Sums]) -> dict[Key, Floats]:
    """Add arrays of the same name, in the order of the parts."""
    total: dict[Key, Floats] = {}
    for part in parts:
        for key, value in part.items():
            total[key] = total[key] + value if key in total else value
    return total


def first_moments(X: Array, degrees: Floats, v: int) -> dict[Key, Floats]:
    """Return mass and weighted sum of the rows X (n, d) of dataset v, for degrees (n,)."""
    total = np.zeros(X.shape[1])
    for start in range(0, len(X), 2_048):
        total += degrees[start : start + 2_048] @ X[start : start + 2_048].astype(np.float64)
    return {("mass", v): np.array([degrees.sum()]), ("sum", v): total}


def own_moments(
    X: Array, positive: Floats, negative: Floats, centre: Floats, v: int
) -> dict[Key, Floats]:
    """Return G_v of the rows X (n, d), for the degrees (n,) of positive and negative links."""
    moments: dict[Key, Floats] = {}
    for sign, degrees in ((POSITIVE, positive), (NEGATIVE, negative)):
        if degrees.any():
            moments["gram", sign, v] = centred_gram(X, degrees, centre)
    return moments


def add_linked_sums(W: Sparse, X: Array, centre: Floats, out: Floats) -> None:
    """Add W (X - 1c') to out (m, d): W of shape (m, n), X (n, d)."""
    from hetviz.core.spectral.moments_loops import add_linked_rows

    add_linked_rows(W.indptr, W.indices, W.data, X, centre, out)


def cross_moment(X: Array, centre: Floats, linked: Floats) -> Floats:
    """Return (X - 1c')' linked, for rows X (n, d_u) and sums of `add_linked_sums` (n, d_v)."""
    return centred_product(X, centre, linked)


class SummedBlock(ProjectionBlock):
    """A dataset given by sums only: its map can be solved for, and its rows placed later."""

    def __init__(self, centre: Floats, ridge: float) -> None:
        self.n, self.r = 0, len(centre)
        self.ridge, self._centre = ridge, centre

    def dot(self, P: Floats) -> Floats:
        return np.zeros((0, P.shape[1]))

    def tdot(self, Y: Floats) -> Floats:
        return np.zeros((self.r, Y.shape[1]))

    def spread(self, S: Sparse) -> Floats:
        raise NotImplementedError("the rows are not here")

    def gather(self, rows: Ints, Y: Floats) -> Floats:
        raise NotImplementedError("the rows are not here")

    def gram(self, mass: Floats) -> Floats:
        raise NotImplementedError("the rows are not here")

    def finish(self, Q: Floats) -> LinearMap:
        return LinearMap(Q, self._centre, self.ridge)


def guided_by_sums(
    sums: Sums,
    centres: Sequence[Floats],
    *,
    n_components: int = 2,
    signed: str = "ratio",
    nu: float | None = None,
    variant: str = "block",
    gamma: float = 0.1,
    names: Sequence[str],
    title: str = "Guided projection",
    random_state: int = 0,
) -> GuidedSolution:
    """Fit `hetviz.core.spectral.guided.guided_projection` from sums.

    `sums`: ``("gram", sign, v)``, shape (d_v, d_v), and ``("cross", sign, u, v)`` with u <= v,
        shape (d_u, d_v); zero matrices may be absent. Links within a dataset count in both
        directions.
    """
    check_options(signed, variant, nu)
    if variant == "anchor":
        raise ParameterError(
            "guided-projection: variant = 'anchor' needs all rows in memory. Use 'block' for data "
            "that are read by blocks."
        )
    form = signed if variant == "block" else "paper"
    signs = {int(key[1]) for key in sums if key[0] == "cross"}
    check_guidance(POSITIVE in signs, NEGATIVE in signs, form, title)
    strength = NU[form] if nu is None else nu
    problem = _SummedProblem(sums, centres, gamma)
    component = problem.components()
    fitted: list[tuple[list[int], SpectralSolution | None]] = []
    for number in range(int(component.max()) + 1):
        members = [int(v) for v in np.flatnonzero(component == number)]
        signs_present = problem.signs(members)
        if not (POSITIVE in signs_present or (form != "ratio" and NEGATIVE in signs_present)):
            fitted.append((members, None))
            continue
        G, B = problem.pencil(members, form, strength)
        if variant == "printed":
            G += np.diag(problem.ridges(members))
        k = min(n_components, len(G))
        v0 = np.random.default_rng(random_state).standard_normal(len(G))
        try:
            mu, P = leading_eigenvectors((G + G.T) / 2, (B + B.T) / 2, k, v0)
        except LinAlgError as error:
            raise NotApplicableError(
                "This eigenproblem",
                ["Its constraint is not positive definite. Use a gamma above 0, such as 0.1."],
            ) from error
        blocks = [problem.blocks[v] for v in members]
        fitted.append((members, finish(blocks, *keep_agreeing_axes(mu, P, MIN_AGREEMENT))))
    check_axes(fitted, n_components, names, title)
    return combine_components(problem.blocks, fitted, component)


class _SummedProblem:
    """The two matrices of the eigenproblem, built from sums."""

    def __init__(self, sums: Sums, centres: Sequence[Floats], gamma: float) -> None:
        self._sums, self._sizes = sums, [len(centre) for centre in centres]
        self.blocks = []
        for v, centre in enumerate(centres):
            size = float(np.trace(self.gram(POSITIVE, v)) + np.trace(self.gram(NEGATIVE, v)))
            self.blocks.append(SummedBlock(centre, absolute_ridge(gamma, False, size, len(centre))))

    def gram(self, sign: int, v: int) -> Floats:
        gram = self._sums.get(("gram", sign, v))
        return np.zeros((self._sizes[v], self._sizes[v])) if gram is None else gram

    def cross(self, sign: int, u: int, v: int) -> Floats:
        if u > v:
            return self.cross(sign, v, u).T
        product = self._sums.get(("cross", sign, u, v))
        return np.zeros((self._sizes[u], self._sizes[v])) if product is None else product

    def _pairs(self) -> list[tuple[int, int, int]]:
        return [(int(key[1]), int(key[2]), int(key[3])) for key in self._sums if key[0] == "cross"]

    def components(self) -> Ints:
        """Return the component number of each dataset, connected by links."""
        m = len(self._sizes)
        pairs = np.array([(u, v) for _, u, v in self._pairs()]).reshape(-1, 2)
        graph = sp.csr_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(m, m))
        return np.asarray(connected_components(graph, directed=False)[1], dtype=np.int64)

    def signs(self, members: Sequence[int]) -> set[int]:
        """Return the signs of the links between some datasets."""
        return {sign for sign, u, v in self._pairs() if u in members and v in members}

    def ridges(self, members: Sequence[int]) -> Floats:
        return np.concatenate([np.full(self._sizes[v], self.blocks[v].ridge) for v in members])

    def _cap(self, members: Sequence[int]) -> float:
        """min(1, tr(Z'D+Z) / tr(Z'L-Z)) with every dataset scaled to unit size."""
        attract = repel = 0.0
        for v in members:
            positive, negative = (
                float(np.trace(self.gram(sign, v))) for sign in (POSITIVE, NEGATIVE)
            )
            size = positive + negative
            if size > 0:
                attract += positive / size
                repel += (negative - float(np.trace(self.cross(NEGATIVE, v, v)))) / size
        return min(1.0, attract / repel) if repel > 0 else 1.0

    def pencil(self, members: Sequence[int], form: str, nu: float) -> tuple[Floats, Floats]:
        """Return Z'SZ and Z'TZ + Gamma of some datasets, both of shape (r, r)."""
        parts = slices([self._sizes[v] for v in members])
        G, B = np.zeros((2, parts[-1].stop, parts[-1].stop))
        c = nu * self._cap(members) if form == "ratio" else nu
        for u, rows in zip(members, parts, strict=True):
            for v, columns in zip(members, parts, strict=True):
                apart = c * self.cross(NEGATIVE, u, v)
                G[rows, columns] = self.cross(POSITIVE, u, v) - apart
                if form == "ratio":
                    B[rows, columns] -= apart
            mass = c * self.gram(NEGATIVE, u)
            if form != "similarity":
                G[rows, rows] += mass if form == "ratio" else 2.0 * mass
            B[rows, rows] += self.gram(POSITIVE, u) + mass
        B += np.diag(self.ridges(members))
        return G, B


@dataclass(frozen=True)
class Components:
    """Principal components of one table."""

    map: LinearMap
    explained: Floats


def components_by_sums(
    gram: Floats, centre: Floats, count: float, n_components: int, standardize: bool = False
) -> Components:
    """Return the principal components of a table of `count` rows, scaled to unit size."""
    variance = np.maximum(np.diagonal(gram) / count, 0.0)
    varies = variance > 1e-24 * (centre**2 + variance)
    scale = varies.astype(np.float64)
    if standardize:
        scale = np.where(varies, 1.0 / np.sqrt(np.where(varies, variance, 1.0)), 0.0)
    size = float((scale**2 * variance).sum() * count)
    scale = scale / np.sqrt(size) if size > 0 else scale
    values, A = largest_dense(gram * np.outer(scale, scale), len(gram))
    k = min(n_components, len(values))
    A = A[:, :k]
    A = A * axis_signs(A)
    A = np.hstack([scale[:, None] * A, np.zeros((len(A), n_components - k))])
    total = float(values.sum()) or 1.0
    return Components(LinearMap(A, centre, 0.0), np.maximum(values[:k], 0.0) / total)
