"""Blending of several predictions, with weights fitted to held-out items."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp
from scipy.optimize import minimize, nnls
from scipy.special import logsumexp, softmax

from hetviz._types import Bools, Floats, Ints, Sparse

_MIN_PROBABILITY = 1e-4


def row_shares(A: Sparse) -> Sparse:
    """Scale rows to sum 1; rows of zeros do not change."""
    total = np.asarray(A.sum(axis=1)).ravel()
    return sp.csr_array(sp.diags_array(1.0 / np.where(total > 0, total, 1.0)) @ A)


def propagate(
    steps: Sequence[tuple[Sparse, Sparse | None]],
    start: Floats,
    is_fixed: Bools,
    stay: float = 0.9,
    rounds: int = 30,
) -> Floats:
    """Propagate outputs over graphs, with those of known items fixed.

    The truncated sum of a random walk with restarts (Zhou et al. 2004 with rows of sum 1): O(rounds
    links K). Items without a neighbour in any graph keep their initial outputs.
    """
    reach = np.zeros(len(start))
    for A, _ in steps:
        reach += np.asarray(A.sum(axis=1)).ravel() > 0
    F = start.copy()
    for _ in range(rounds):
        incoming = np.zeros_like(F)
        for A, B in steps:
            incoming += A @ F if B is None else A @ (B @ F)
        has_neighbors = reach > 0
        F[has_neighbors] = (1 - stay) * start[has_neighbors] + stay * incoming[
            has_neighbors
        ] / reach[has_neighbors][:, None]
        F[is_fixed] = start[is_fixed]
    return F


def pool_probabilities(outputs: Sequence[Floats], weights: Floats) -> Floats:
    """Return the normalised product of probabilities (n, K), each to the power of its weight."""
    total = np.tensordot(weights, np.stack([_logarithm(P) for P in outputs]), 1)
    return np.asarray(softmax(total, axis=1))


def pool_weights(
    outputs: Sequence[Floats], y: Ints, prior_weights: Floats, prior: float = 1.0
) -> Floats:
    """Return non-negative weights for which `pool_probabilities` fits classes best.

    The posterior mode of a logistic regression on log probabilities, under normal priors on each
    of M weights, with precision prior M: convex, by L-BFGS-B. Because the sum is free, this also
    calibrates the probabilities. O(n K M) per step.
    """
    A = np.stack([_logarithm(P) for P in outputs])
    count = len(outputs)
    rows = np.arange(len(y))
    if not len(rows):
        return prior_weights
    label_terms = A[:, rows, y].sum(axis=1)

    def loss(w: Floats) -> tuple[float, Floats]:
        Z = np.tensordot(w, A, 1)
        P = softmax(Z, axis=1)
        deviation = w - prior_weights
        value = float(logsumexp(Z, axis=1).sum()) - float(w @ label_terms)
        slope = np.einsum("mnk,nk->m", A, P) - label_terms
        return value + 0.5 * prior * count * float(
            deviation @ deviation
        ), slope + prior * count * deviation

    result = minimize(
        loss, prior_weights, jac=True, method="L-BFGS-B", bounds=[(0.0, None)] * count
    )
    return np.asarray(result.x)


def share_factors(P: Floats, shares: Floats, power: float) -> Floats:
    """Return factors (K,) of classes that bring their mean probability closer to their shares.

    `power`: From 0 (no change) to 1 (class mass normalisation of Zhu, Ghahramani and Lafferty
        2003).
    """
    return np.asarray((shares / np.maximum(P.mean(axis=0), _MIN_PROBABILITY)) ** power)


def scale_classes(P: Floats, factors: Floats) -> Floats:
    """Return probabilities (n, K) times factors (K,), normalised."""
    scaled = P * factors
    return np.asarray(scaled / scaled.sum(axis=1, keepdims=True))


def _logarithm(P: Floats) -> Floats:
    return np.asarray(np.log(np.maximum(P, _MIN_PROBABILITY)))


def walk_features(
    steps: Sequence[tuple[Sparse, Sparse | None]],
    start: Floats,
    restart: float = 0.2,
    rounds: int = 8,
) -> Floats:
    """Return the mean of rows over the ends of random walks that may end at each step.

    Personalised PageRank times `start`, as in Gasteiger, Bojchevski and Guennemann 2019 (APPNP):
    O(rounds links p). Items without a neighbour in any graph keep their row.
    """
    reach = np.zeros(len(start))
    for A, _ in steps:
        reach += np.asarray(A.sum(axis=1)).ravel() > 0
    share = 1.0 / np.maximum(reach, 1.0)[:, None]
    is_isolated = reach == 0
    out = restart * start
    walking = start
    for step in range(1, rounds + 1):
        incoming = np.zeros_like(start)
        for A, B in steps:
            incoming += A @ walking if B is None else A @ (B @ walking)
        walking = (1.0 - restart) * share * incoming
        out = out + (restart if step < rounds else 1.0) * walking
    out[is_isolated] = start[is_isolated]
    return np.asarray(out)


def link_axes(
    steps: Sequence[tuple[Sparse, Sparse | None]], width: int, random_state: int, rounds: int = 20
) -> Floats:
    """Return leading eigenvectors (n, width) of the normalised and regularised graph of links.

    Items linked to the same items of another dataset are linked, with less weight the more links
    these have. The mean degree is added to each degree (Amini et al. 2013), so that leading axes
    are not those of tiny components. Each column is scaled by the root of n times its eigenvalue;
    negative eigenvalues and items without links give zeros. By subspace iteration: O(rounds (links
    + n width) width).
    """
    n = steps[0][0].shape[0]
    width = min(width, n)
    halves: list[tuple[Sparse, Sparse | None]] = []
    degree = np.zeros(n)
    for A, B in steps:
        S = sp.csr_array((np.ones(A.nnz), A.indices, A.indptr), shape=A.shape)
        if B is None:
            halves.append((S, None))
            degree += np.asarray(S.sum(axis=1)).ravel()
        else:
            columns = np.maximum(np.asarray(S.sum(axis=0)).ravel(), 1.0)
            S = sp.csr_array(S @ sp.diags_array(columns**-0.5))
            halves.append((S, sp.csr_array(S.T)))
            degree += np.asarray(S @ (S.T @ np.ones(n)))
    scale = (np.maximum(degree + degree.mean(), 1e-300) ** -0.5)[:, None]

    def walk(V: Floats) -> Floats:
        scaled = scale * V
        total = np.zeros_like(V)
        for S, back in halves:
            total += S @ scaled if back is None else S @ (back @ scaled)
        return np.asarray(scale * total)

    V = np.linalg.qr(np.random.default_rng((random_state, 23)).normal(size=(n, width)))[0]
    for _ in range(rounds):
        V = np.linalg.qr(V + walk(V))[0]
    values, turn = np.linalg.eigh(V.T @ walk(V))
    return np.asarray((V @ turn) * np.sqrt(n * np.maximum(values, 0.0)))


def mean_weights(outputs: Sequence[Floats], y: Floats) -> Floats:
    """Return non-negative weights of sum 1 for which the mean of several predictions fits best."""
    X = np.column_stack(outputs)
    # A row with a very large weight fixes the sum at 1.
    scale = 1e3 * max(float(np.abs(X).max()), 1e-12)
    w, _ = nnls(np.vstack([X, np.full(X.shape[1], scale)]), np.append(y, scale))
    total = float(w.sum())
    return np.asarray(w / total) if total > 0 else np.full(X.shape[1], 1.0 / X.shape[1])


def reliability(P: Floats, y: Ints, bins: int = 8) -> list[list[float]]:
    """Return the accuracy of the likeliest class, by its probability."""
    confidence = P.max(axis=1)
    is_right = P.argmax(axis=1) == y
    order = np.argsort(confidence, kind="stable")
    parts = [part for part in np.array_split(order, min(bins, max(1, len(y) // 5))) if len(part)]
    return [[float(confidence[p].mean()), float(is_right[p].mean()), float(len(p))] for p in parts]
