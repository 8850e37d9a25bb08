"""Joint axes: one space for the items of several datasets, from their features and their links.

    A = near items of each dataset, and all links;     S = (D + tau)^-1/2 A (D + tau)^-1/2
    S off the datasets' means = U diag(l) U';          Z = [unit((D + tau)^-1/2 U l^4), unit(H)]
    H = a sum_r (1 - a)^r T^r X,                       T the random walk over links alone

What an item is linked with describes it, and so do its own features: neighbours in Z are
neighbours across datasets, of items without features too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.linalg import eigh
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

from hetviz._types import Bools, Floats, Sparse
from hetviz.core.graph.joint import JointGraph
from hetviz.core.graph.laplacian import slices

N_AXES = 32
POWER = 4.0
REGULARIZATION = 0.3
CARRIED = 0.4
STEPS = 6
APART = 1.0
"""Weight of a link that says apart beside one that says together; judged by dislikes held out."""
_DENSE_ROWS = 200
_TOLERANCE = 1e-3


@dataclass(frozen=True, eq=False)
class JointAxes:
    """All items of a joint graph in one space.

    Attributes
    ----------
    Z : ndarray of shape (n, k)
        Row i describes item i: of length 1 where both its parts are known, 0 where nothing is.
    values : ndarray of shape (r,)
        Eigenvalues of the spectral part, falling: the first r columns of Z. The others are
        carried features.
    """

    Z: Floats
    values: Floats

    @property
    def known(self) -> Bools:
        """Whether anything is known of each item: shape (n,)."""
        return np.asarray((self.Z != 0).any(axis=1))


def joint_axes(
    graph: JointGraph,
    features: Sequence[Floats | None],
    n_axes: int = N_AXES,
    random_state: int = 0,
) -> JointAxes:
    """Place the items of several datasets in one space.

    Parameters
    ----------
    graph : JointGraph
        Its own blocks are symmetric; its links count by their strengths.
    features : sequence of ndarray of shape (n_d, k_d), or None
        Of each dataset, centred: few columns, such as leading principal components.
    n_axes : int
        Spectral axes wanted.
    random_state : int
        Seeds the start vector of the eigensolver.

    Notes
    -----
    The eigensolver takes O(nnz) for each step and O(n k) memory; carried features O(nnz k).
    """
    Z, values = spectral_axes(link_graph(graph), graph.sizes, n_axes, random_state)
    H = carried_features(graph, features)
    return JointAxes(np.hstack([Z, H]) / np.sqrt(2.0), values)


def link_graph(graph: JointGraph) -> Sparse:
    """Return A, near items and links in one matrix: csr_array of shape (n, n), symmetric.

    An item with many links is known by these, one with few by what it is like. Links that say
    apart count below 0.
    """
    A = graph.near()
    for link in graph.pairs():
        W = sp.csr_array(link.W.maximum(0.0) + APART * link.W.minimum(0.0))
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
    """Return slow modes of the walk on A, each of mean 0 within every part.

    Parameters
    ----------
    A : csr_array of shape (n, n)
        Symmetric.
    sizes : sequence of int
        Rows of each part, such as a dataset: no part gets an axis to itself.
    n_axes : int
        Fewer come back of very few rows.
    random_state : int
    power : float
        Each mode counts by this power of its eigenvalue.
    unit_rows : bool
        Scale each row to length 1.

    Returns
    -------
    Z : ndarray of shape (n, n_axes)
        Rows of items that nothing reaches are 0. Each column's largest entry is positive before
        rows are scaled.
    values : ndarray of shape (n_axes,)
        Falling, none below 0.
    """
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
    largest = Z[np.abs(Z).argmax(axis=0), np.arange(Z.shape[1])]
    Z = Z * np.where(largest < 0, -1.0, 1.0)
    return (unit(Z) if unit_rows else Z), values


def carried_features(
    graph: JointGraph, features: Sequence[Floats | None], share: float = CARRIED
) -> Floats:
    """Return the features of all items, each dataset's in columns of their own, carried over links.

    Parameters
    ----------
    graph : JointGraph
        Its own blocks do not count.
    features : sequence of ndarray of shape (n_d, k_d), or None
    share : float
        How much an item's own features count; the rest comes from what it is linked with. A block
        of links between many items and few counts by the fourth root of the ratio of the items it
        touches, and hubs count less.

    Returns
    -------
    ndarray of shape (n, sum k_d)
        Unit rows, 0 where nothing is known.
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
    for _ in range(STEPS):
        H = (1.0 - share) * (T @ H) + share * X
    return unit(H)


def damped(W: Sparse) -> Sparse:
    """Return D^-1/2 W D'^-1/2: hubs damped, spectral norm 1, however many links and how strong."""
    scale = [sp.diags_array(_power(degrees(W, axis), -0.5)) for axis in (1, 0)]
    return sp.csr_array(scale[0] @ W @ scale[1])


def new_axes(Z: Floats, near: Sparse, linked: Sparse) -> Floats:
    """Return joint axes of new rows: one vote for what is like them, one for what they link to.

    Parameters
    ----------
    Z : ndarray of shape (n, k)
        Of the fitted items.
    near, linked : csr_array of shape (m, n)
        Weights of each new row with fitted ones, not below 0.
    """
    parts = [unit(np.asarray(M @ Z)) for M in (near, linked)]
    return unit(parts[0] + parts[1])


def degrees(W: Sparse, axis: int) -> Floats:
    """Return the sums of |W| over an axis."""
    return np.asarray(abs(W).sum(axis=axis), dtype=np.float64).ravel()


def unit(Z: Floats) -> Floats:
    """Return rows of length 1; rows of 0 stay."""
    length = np.linalg.norm(Z, axis=1, keepdims=True)
    return np.where(length > 1e-12, Z / np.maximum(length, 1e-12), 0.0)


def _power(values: Floats, power: float) -> Floats:
    return np.where(values > 0, np.maximum(values, 1e-300) ** power, 0.0)


def _leading(S: Sparse, means: Floats, k: int, random_state: int) -> tuple[Floats, Floats]:
    """Return the k largest eigenvalues of S projected off some directions, falling."""

    def off(X: Floats) -> Floats:
        return X - means @ (means.T @ X)

    n = S.shape[0]
    v0 = off(np.random.default_rng(random_state).standard_normal(n))
    if n > _DENSE_ROWS and k < n - 1:
        operator = LinearOperator((n, n), matvec=lambda x: off(S @ off(x.ravel())), dtype=float)
        try:
            values, U = eigsh(operator, k=k, which="LA", v0=v0, tol=_TOLERANCE)
        except ArpackError:
            values, U = _by_iteration(S, off, k, random_state)
    else:
        dense = off(off(S.toarray()).T)
        values, U = eigh((dense + dense.T) / 2, subset_by_index=[n - k, n - 1])
    order = np.argsort(-values, kind="stable")
    return values[order], U[:, order]


def _by_iteration(
    S: Sparse, off: Callable[[Floats], Floats], k: int, random_state: int
) -> tuple[Floats, Floats]:
    """Return the same by subspace iteration, which always ends."""
    U = np.random.default_rng(random_state).standard_normal((S.shape[0], k))
    for _ in range(100):
        U, _ = np.linalg.qr(off(0.5 * (U + S @ U)))
    values, V = eigh(U.T @ off(S @ U))
    return values, U @ V
