"""Joint axes of the items of several datasets, from their features and their links.

    A = neighbours within datasets, and all links;     S = (D + tau)^-1/2 A (D + tau)^-1/2
    S projected off dataset means = U diag(l) U';      Z = [unit((D + tau)^-1/2 U l^4), unit(H)]
    H = a sum_r (1 - a)^r T^r X,                       T the random walk over links only

Both its links and its features describe an item, so neighbours in Z are neighbours across
datasets, also for items without features.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import ArpackError

from hetviz._types import Bools, Floats, Sparse
from hetviz.core.arrays import slices
from hetviz.core.graph.joint import JointGraph
from hetviz.core.spectral.eigen import (
    axis_signs,
    largest_dense,
    largest_iterated,
    seeded_start,
    symmetric_operator,
)

N_AXES = 32
POWER = 4.0
REGULARIZATION = 0.3
OWN_FEATURE_SHARE = 0.4
PROPAGATION_STEPS = 6
NEGATIVE_WEIGHT = 1.0
"""Weight of negative links relative to positive ones, tuned on held-out dislikes."""
_DENSE_ROWS = 200
_TOLERANCE = 1e-3


@dataclass(frozen=True, eq=False)
class JointAxes:
    """Coordinates of all items of a joint graph in one space.

    `Z` (n, k): Row i describes item i: of length 1 if both parts are known, 0 if none is.
    """

    Z: Floats
    values: Floats

    @property
    def known(self) -> Bools:
        """Whether an item has features or links: shape (n,)."""
        return np.asarray((self.Z != 0).any(axis=1))


def joint_axes(
    graph: JointGraph,
    features: Sequence[Floats | None],
    n_axes: int = N_AXES,
    random_state: int = 0,
) -> JointAxes:
    """Return joint axes of the items of several datasets."""
    Z, values = spectral_axes(link_graph(graph), graph.sizes, n_axes, random_state)
    H = propagated_features(graph, features)
    return JointAxes(np.hstack([Z, H]) / np.sqrt(2.0), values)


def link_graph(graph: JointGraph) -> Sparse:
    """Return A, the sum of neighbours and links: csr_array of shape (n, n), symmetric.

    Links dominate for items with many of them, neighbours for the others. Negative links have
    negative entries.
    """
    A = graph.near()
    for link in graph.pairs():
        W = sp.csr_array(link.W.maximum(0.0) + NEGATIVE_WEIGHT * link.W.minimum(0.0))
        A = A + graph.lifted(link, W)
    return sp.csr_array(A)


def spectral_axes(
    A: Sparse,
    sizes: Sequence[int],
    n_axes: int = N_AXES,
    random_state: int = 0,
    *,
    power: float = POWER,
    unit_rows: bool = True,
) -> tuple[Floats, Floats]:
    """Return slow modes of the random walk on A, each of mean 0 within every dataset."""
    n = A.shape[0]
    d = degrees(A, 1)
    if not d.any():
        return np.zeros((n, 0)), np.zeros(0)
    tau = REGULARIZATION * float(np.median(d[d > 0]))
    scale = np.where(d > 0, _power(d + tau, -0.5), 0.0)
    S = sp.csr_array(sp.diags_array(scale) @ A @ sp.diags_array(scale))
    means = np.zeros((n, len(sizes)))
    for e, rows in enumerate(slices(sizes)):
        means[rows, e] = np.sqrt(d[rows])
    means = means[:, means.any(axis=0)]
    means /= np.linalg.norm(means, axis=0)
    k = max(1, min(n_axes, n - means.shape[1] - 2))
    values, U = _leading(S, means, k, random_state)
    values = np.clip(values, 0.0, None)
    Z = scale[:, None] * U * values**power
    Z = Z * axis_signs(Z)
    return (unit(Z) if unit_rows else Z), values


def propagated_features(
    graph: JointGraph, features: Sequence[Floats | None], share: float = OWN_FEATURE_SHARE
) -> Floats:
    """Return the features of all items, propagated over links, in separate columns per dataset.

    `share`: Weight of an item's own features; the rest comes from linked items. A block of links
        between many items and few is weighted by the fourth root of the ratio of linked items, and
        hubs are damped.
    """
    widths = [0 if F is None else F.shape[1] for F in features]
    rows, columns = graph.rows, slices(widths)
    X = np.zeros((sum(graph.sizes), sum(widths)))
    for d, F in enumerate(features):
        if F is not None and graph.weights[d] > 0:
            size = float(np.sqrt((F**2).sum() / max(len(F), 1)))
            X[rows[d], columns[d]] = F * (graph.weights[d] / size if size > 0 else 0.0)
    links = graph.pairs()
    if not links or not X.shape[1]:
        return unit(X)
    n = sum(graph.sizes)
    A = sp.csr_array((n, n))
    for link in links:
        W = sp.csr_array(link.W.maximum(0.0))
        touched = [int(np.count_nonzero(degrees(W, axis))) for axis in (0, 1)]
        unequal = 1.0 if link.source == link.target else max(touched) / max(min(touched), 1)
        W = sp.csr_array(W + W.T) if link.source == link.target else W
        A = A + graph.lifted(link, damped(W) * (link.strength * unequal**0.25), twice=False)
    T = sp.csr_array(sp.diags_array(_power(degrees(A, 1), -1.0)) @ A)
    H = X
    for _ in range(PROPAGATION_STEPS):
        H = (1.0 - share) * (T @ H) + share * X
    return unit(H)


def damped(W: Sparse) -> Sparse:
    """Return D^-1/2 W D'^-1/2, which damps hubs and has spectral norm 1."""
    scale = [sp.diags_array(_power(degrees(W, axis), -0.5)) for axis in (1, 0)]
    return sp.csr_array(scale[0] @ W @ scale[1])


def new_axes(Z: Floats, near: Sparse, linked: Sparse) -> Floats:
    """Return joint axes of new rows, with equal weight for similar and for linked items."""
    parts = [unit(np.asarray(M @ Z)) for M in (near, linked)]
    return unit(parts[0] + parts[1])


def degrees(W: Sparse, axis: int) -> Floats:
    """Return the sums of |W| over an axis."""
    return np.asarray(abs(W).sum(axis=axis), dtype=np.float64).ravel()


def unit(Z: Floats) -> Floats:
    """Scale rows to length 1; rows of 0 do not change."""
    length = np.linalg.norm(Z, axis=1, keepdims=True)
    return np.where(length > 1e-12, Z / np.maximum(length, 1e-12), 0.0)


def _power(values: Floats, power: float) -> Floats:
    return np.where(values > 0, np.maximum(values, 1e-300) ** power, 0.0)


def _leading(S: Sparse, means: Floats, k: int, random_state: int) -> tuple[Floats, Floats]:
    """Return the k largest eigenvalues of S projected off some directions, falling."""

    def project(X: Floats) -> Floats:
        return X - means @ (means.T @ X)

    n = S.shape[0]
    if n <= _DENSE_ROWS or k >= n - 1:
        dense = project(project(S.toarray()).T)
        return largest_dense((dense + dense.T) / 2, k)
    v0 = project(seeded_start(n, random_state))
    operator = symmetric_operator(n, lambda x: project(S @ project(x)))
    try:
        return largest_iterated(operator, k, v0, tol=_TOLERANCE)
    except ArpackError:
        return _by_iteration(S, project, k, random_state)


def _by_iteration(
    S: Sparse, project: Callable[[Floats], Floats], k: int, random_state: int
) -> tuple[Floats, Floats]:
    """Return the same by subspace iteration, which always terminates."""
    U = np.random.default_rng(random_state).standard_normal((S.shape[0], k))
    for _ in range(100):
        U, _ = np.linalg.qr(project(0.5 * (U + S @ U)))
    values, V = largest_dense(U.T @ project(S @ U), k)
    return values, U @ V
