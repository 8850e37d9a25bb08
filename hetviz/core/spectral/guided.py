"""Guided projection of datasets with different features into one space by signed guidance.

    min  sum_ij w_ij |A_u' x_i - A_v' x_j|^2      over all linked rows i (of u) and j (of v)

Positive guidance pulls rows together; the three `signed` forms differ in the effect of negative
guidance. Each is one call of `hetviz.core.spectral.eigen.solve` per group of datasets that
guidance connects.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.linalg import eigh

from hetviz._types import Bools, Floats, Ints, Matrix, Sparse
from hetviz.core.arrays import slices
from hetviz.core.graph.laplacian import SignedGraph, dataset_components, row_components
from hetviz.core.spectral.blocks import IdentityBlock, LinearMap, ProjectionBlock
from hetviz.core.spectral.eigen import (
    MIN_AGREEMENT,
    SpectralSolution,
    finish,
    keep_agreeing_axes,
    leading_eigenvectors,
    solve,
)
from hetviz.core.spectral.prepare import make_block
from hetviz.errors import (
    DataError,
    DataWarning,
    NotApplicableError,
    ParameterError,
    UnboundedProblemError,
)

VARIANTS = ("block", "anchor", "printed")
SIGNED_FORMS = ("ratio", "similarity", "paper")
NU = {"ratio": 0.3, "similarity": 0.3, "paper": 1.0}
"""Default strength of negative guidance in each form."""


@dataclass(frozen=True)
class GuidedSolution:
    """A fitted guided projection of m datasets on k axes.

    `mu` (m, k): Agreement of each axis for each dataset, at most 1 without negative guidance;
        datasets of one component have equal rows. Axes that a component lacks have 0.
    """

    mu: Floats
    maps: tuple[LinearMap, ...]
    embeddings: tuple[Floats, ...]
    component: Ints
    placed: Bools

    def scaled(self, exponent: float) -> tuple[Floats, ...]:
        """Return the embeddings with axis c multiplied by max(mu_c, 0) ** exponent."""
        factors = axis_scale(self.mu, exponent)
        return tuple(Y * factor for Y, factor in zip(self.embeddings, factors, strict=True))


def axis_scale(mu: Floats, exponent: float) -> Floats:
    """max(mu, 0) ** exponent: 0 keeps axes of unit variance, 1 weights them by agreement."""
    return np.asarray(np.maximum(mu, 0.0) ** exponent)


def guided_projection(
    features: Sequence[Matrix | int],
    W: Sparse,
    *,
    n_components: int = 2,
    signed: str = "ratio",
    nu: float | None = None,
    variant: str = "block",
    gamma: float | Sequence[float] = 0.1,
    absolute: bool = False,
    nominal: Sequence[int | None] | None = None,
    center: bool = True,
    keep: float | None = MIN_AGREEMENT,
    path: str = "auto",
    symmetric: bool = False,
    names: Sequence[str] | None = None,
    title: str = "Guided projection",
    random_state: int = 0,
) -> GuidedSolution:
    """Fit one linear map per dataset so that signed guidance is satisfied.

    `features` (sequence of (ndarray or csr of shape (n_v, d_v), or int)): One per dataset. An
        integer is a number of featureless rows; a kernel is given as the features of its map
        (`hetviz.core.kernels.kernels`), with its number of rows as `nominal`.
    `W` sparse array (n, n): Signed guidance in [-1, 1] over all rows, stacked in the order of
        `features`; symmetrised, with its diagonal ignored.
    `n_components`: Number of axes; fewer are returned (with a DataWarning) if fewer show any
        agreement.
    `signed` {"ratio", "similarity", "paper"}: ``"ratio"``: min p'(Z'L+Z + Gamma)p / p'(Z'D+Z +
        Gamma + nu~ Z'L-Z)p, mu = 1 - lambda. ``"similarity"``: S = W+ - nu W-, mass D+ + nu D-.
        ``"paper"``: S = W+ + nu (2 D- - W-).
    `nu`: Strength of negative guidance; 0.3, and 1 for the paper's form. The ratio caps it: nu~ =
        nu min(1, tr(Z'D+Z) / tr(Z'L-Z)), so that a few negative links keep their own force and
        many never outweigh the positive ones. The traces are those of datasets scaled to unit
        size, so that units of measurement do not matter.
    `variant` {"block", "anchor", "printed"}: ``"block"`` constrains every dataset and has its
        ridge on both sides. ``"anchor"`` constrains only the first dataset of each component
        (others follow as the harmonic extension); ``"printed"`` has the ridge only in the
        constraint. The last two are for reproduction and use the paper's Laplacian, regardless of
        `signed`.
    `gamma`, `absolute`, `nominal`, `center`: See `hetviz.core.spectral.prepare.make_block`;
        `gamma` and `nominal` may be given per dataset.
    `symmetric`: Whether W is known to be symmetric, which saves the time to symmetrise it.

    Raises NotApplicableError: If there is no guidance, only negative guidance with the ratio form,
        or no axis on which linked rows agree.
    Raises UnboundedProblemError: If negative guidance leaves the anchor variant without a minimum.
    Raises DataError, ParameterError: For input that is not finite or has the wrong shape, and for
        unknown options.

    See `hetviz.core.spectral.eigen.solve` for the cost; the anchor variant adds O((sum of the other
    r_v)^3).
    """
    check_options(signed, variant, nu)
    graph = _checked_graph(W, symmetric)
    form = signed if variant == "block" else "paper"
    check_guidance(graph.positive.nnz > 0, graph.negative.nnz > 0, form, title)
    sizes = [X if isinstance(X, int) else X.shape[0] for X in features]
    if sum(sizes) != graph.positive.shape[0]:
        message = f"one row per object is needed, {sum(sizes):,} in all"
        raise DataError.of("shape", "guidance", message, f"{graph.positive.shape[0]:,}")
    names = list(names or [f"dataset {v + 1}" for v in range(len(sizes))])
    gammas = list(gamma) if isinstance(gamma, Sequence) else [gamma] * len(sizes)
    nominals = list(nominal or [None] * len(sizes))
    rows = slices(sizes)
    blocks = [
        make_block(
            None if isinstance(X, int) else X,
            graph.absolute_degrees[rows[v]],
            gammas[v],
            absolute=absolute,
            nominal=nominals[v],
            center=center,
            reduce=variant != "printed",
            where=names[v],
        )
        for v, X in enumerate(features)
    ]
    component = dataset_components(graph.absolute, sizes)
    fitted: list[tuple[list[int], SpectralSolution | None]] = []
    for number in range(int(component.max()) + 1):
        members = [int(v) for v in np.flatnonzero(component == number)]
        inside = graph.restrict(np.concatenate([np.r_[rows[v]] for v in members]))
        if not (inside.positive.nnz or (form != "ratio" and inside.negative.nnz)):
            fitted.append((members, None))
            continue
        problem = [blocks[v] for v in members]
        strength = NU[form] if nu is None else nu
        if variant == "anchor":
            member_names = [names[v] for v in members]
            solution = solve_anchored(
                problem, inside, n_components, strength, keep, member_names, random_state
            )
        else:
            S, mass, coupling = signed_form(problem, inside, form, strength)
            solution = solve(
                problem,
                S,
                mass,
                n_components,
                coupling=coupling,
                deflate=constant_solutions(problem, inside),
                ridge_in_objective=variant == "printed",
                keep=keep,
                path=path,
                random_state=random_state,
            )
        fitted.append((members, solution))
    check_axes(fitted, n_components, names, title)
    return combine_components(blocks, fitted, component)


def combine_components(
    blocks: Sequence[ProjectionBlock],
    fitted: Sequence[tuple[list[int], SpectralSolution | None]],
    component: Ints,
) -> GuidedSolution:
    """Combine the solutions of all components, padded to one number of axes."""
    k = max((len(solution.mu) for _, solution in fitted if solution is not None), default=0)
    mu = np.zeros((len(blocks), k))
    placed = np.zeros(len(blocks), dtype=bool)
    maps: list[LinearMap | None] = [None] * len(blocks)
    embeddings = [np.zeros((block.n, k)) for block in blocks]
    for members, solution in fitted:
        problem = [blocks[v] for v in members]
        if solution is None:
            zeros = np.zeros((sum(block.r for block in problem), k))
            solution = finish(problem, np.zeros(k), zeros)
        else:
            placed[members] = True
        extra = k - len(solution.mu)
        mu[members, : len(solution.mu)] = solution.mu
        for v, projection, Y in zip(members, solution.maps, solution.embeddings, strict=True):
            A = np.hstack([projection.coefficients, _extension(projection.coefficients, extra)])
            maps[v] = LinearMap(A, projection.centre, projection.ridge)
            embeddings[v] = np.hstack([Y, _extension(Y, extra)])
    all_maps = tuple(projection for projection in maps if projection is not None)
    return GuidedSolution(mu, all_maps, tuple(embeddings), component, placed)


def check_axes(
    fitted: Sequence[tuple[list[int], SpectralSolution | None]],
    n_components: int,
    names: Sequence[str],
    title: str,
) -> None:
    """Raise an error if there is no axis, and warn of fewer axes than requested."""
    if not any(len(solution.mu) for _, solution in fitted if solution is not None):
        reasons = [
            "The linked rows do not differ, so there is no axis to place them on.",
            "Link more rows, or rows with different features.",
        ]
        raise NotApplicableError(title, reasons)
    for members, solution in fitted:
        if solution is not None and len(solution.mu) < n_components:
            _warn_few_axes(len(solution.mu), n_components, [names[v] for v in members])


def _extension(Y: Floats, extra: int) -> Floats:
    is_missing = np.isnan(Y).any(axis=1)
    return np.repeat(np.where(is_missing, np.nan, 0.0)[:, None], extra, axis=1)


def _warn_few_axes(n_axes: int, n_requested: int, names: Sequence[str]) -> None:
    warnings.warn(
        f"Only {n_axes} of {n_requested} axes show agreement between the linked rows of "
        f"{', '.join(names)}.",
        DataWarning,
        stacklevel=4,
    )


def check_guidance(positive: bool, negative: bool, form: str, title: str) -> None:
    """Raise an error if there are no links, or only negative links in the ratio form."""
    if not (positive or negative):
        reasons = ["It needs links between rows, but there are none."]
        raise NotApplicableError(title, reasons)
    if form == "ratio" and not positive:
        reasons = [
            "All links push apart, so every direction is equally good.",
            "Add links that pull together, or choose signed='similarity'.",
        ]
        raise NotApplicableError(f"{title} with signed='ratio'", reasons)


def check_options(signed: str, variant: str, nu: float | None) -> None:
    """Raise an error for unknown options."""
    if signed not in SIGNED_FORMS:
        raise ParameterError(f"signed = {signed!r} must be one of {', '.join(SIGNED_FORMS)}.")
    if variant not in VARIANTS:
        raise ParameterError(f"variant = {variant!r} must be one of {', '.join(VARIANTS)}.")
    if nu is not None and not (np.isfinite(nu) and nu >= 0):
        raise ParameterError(f"nu = {nu!r} must be a number of 0 or more.")


def _checked_graph(W: Sparse, symmetric: bool) -> SignedGraph:
    W = sp.csr_array(W).astype(np.float64, copy=False)
    if not np.isfinite(W.data).all():
        at = int(np.flatnonzero(~np.isfinite(W.data))[0])
        i, j = (int(coordinate[at]) for coordinate in W.tocoo().coords)
        raise DataError.of(
            "not-finite",
            f"guidance between rows {i} and {j}",
            "a weight is missing or infinite",
            str(W.data[at]),
            "Give a number from -1 to 1.",
        )
    return SignedGraph.split(W, symmetric=symmetric)


def signed_form(
    blocks: Sequence[ProjectionBlock], graph: SignedGraph, form: str, nu: float
) -> tuple[Sparse, Floats, Sparse | None]:
    """Return (S, mass, coupling) of a signed form for `hetviz.core.spectral.eigen.solve`."""
    positive, negative = graph.positive, graph.negative
    d_pos, d_neg = graph.positive_degrees, graph.negative_degrees
    if not negative.nnz:
        return positive, d_pos, None
    if form == "ratio":
        capped = nu * _negative_cap(blocks, graph)
        S = (positive + capped * graph.negative_laplacian()).tocsr()
        return S, d_pos + capped * d_neg, -capped * negative
    S = positive - nu * negative
    if form == "paper":
        S = S + sp.diags_array(2.0 * nu * d_neg)
    return S.tocsr(), d_pos + nu * d_neg, None


def _negative_cap(blocks: Sequence[ProjectionBlock], graph: SignedGraph) -> float:
    """min(1, tr(Z'D+Z) / tr(Z'L-Z)) with every dataset scaled to unit size."""
    if not graph.negative.nnz:
        return 1.0
    L = graph.negative_laplacian()
    attract = repel = 0.0
    for block, rows in zip(blocks, slices([block.n for block in blocks]), strict=True):
        size = _trace(block, graph.absolute_degrees[rows])
        if size > 0:
            attract += _trace(block, graph.positive_degrees[rows]) / size
            repel += block.norms(L[rows][:, rows]) / size
    return min(1.0, attract / repel) if repel > 0 else 1.0


def _trace(block: ProjectionBlock, mass: Floats) -> float:
    return block.norms(sp.csr_array(sp.diags_array(mass)))


def constant_solutions(blocks: Sequence[ProjectionBlock], graph: SignedGraph) -> Sparse | None:
    """Return the indicators of the connected groups of featureless rows, or None.

    Such a group can lie at one point with mu = 1; centred features cannot.
    """
    featureless = np.concatenate([np.full(b.n, isinstance(b, IdentityBlock)) for b in blocks])
    if not featureless.any():
        return None
    label = row_components(graph.positive)
    closed = np.ones(label.max() + 1, dtype=bool)
    closed[label[~featureless | (graph.positive_degrees == 0)]] = False
    numbers = np.cumsum(closed) - 1
    rows = np.flatnonzero(closed[label])
    entries = (np.ones(rows.size), (rows, numbers[label[rows]]))
    return sp.csr_array(entries, shape=(label.size, int(closed.sum()))) if rows.size else None


def solve_anchored(
    blocks: Sequence[ProjectionBlock],
    graph: SignedGraph,
    n_components: int,
    nu: float,
    keep: float | None,
    names: Sequence[str],
    random_state: int,
) -> SpectralSolution:
    """Solve with a constraint on the first dataset only (Schur complement of the others)."""
    rows = slices([block.n for block in blocks])
    parts = slices([block.r for block in blocks])
    L = (graph.positive_laplacian() - nu * graph.negative_laplacian()).tocsr()
    A = np.block(
        [
            [left.cross(L[ru][:, rv], right) for right, rv in zip(blocks, rows, strict=True)]
            for left, ru in zip(blocks, rows, strict=True)
        ]
    )
    first = blocks[0]
    a, b = parts[0], slice(parts[0].stop, parts[-1].stop)
    H = np.zeros((b.stop - b.start, first.r))
    schur = A[a, a]
    if H.size:
        values, U = eigh((A[b, b] + A[b, b].T) / 2)
        top = float(np.abs(values).max())
        if values[0] < -1e-10 * top:
            raise UnboundedProblemError(_unbounded(blocks, graph, names, float(values[0])))
        used = values > 1e-12 * top
        H = -(U[:, used] / values[used]) @ (U[:, used].T @ A[b, a])
        schur = schur + A[a, b] @ H
    mass = graph.positive_degrees + nu * graph.negative_degrees
    gram = first.gram(mass[rows[0]])
    B = (np.diag(gram) if gram.ndim == 1 else gram) + first.ridge * np.eye(first.r)
    # mu = 1 - lambda, with lambda from (Schur + Gamma) a = lambda B a.
    G = B - schur - first.ridge * np.eye(first.r)
    v0 = np.random.default_rng(random_state).standard_normal(first.r)
    mu, P = leading_eigenvectors((G + G.T) / 2, B, min(n_components, first.r), v0)
    mu, P = keep_agreeing_axes(mu, P, keep)
    return finish(blocks, mu, np.vstack([P, H @ P]))


def _unbounded(
    blocks: Sequence[ProjectionBlock], graph: SignedGraph, names: Sequence[str], lowest: float
) -> str:
    rows = slices([block.n for block in blocks])
    repelled = [
        name
        for name, part in zip(names[1:], rows[1:], strict=True)
        if graph.negative_degrees[part].any()
    ]
    return (
        f"The anchor variant has no minimum: negative links on {', '.join(repelled)} outweigh the "
        f"positive ones (lowest eigenvalue {lowest:.3g}), so these rows would move infinitely far "
        "away. Use variant='block', weaken the negative links (nu or their weights), or add "
        "positive ones."
    )
