"""Predictions of several kinds weighed into one by what they say of items that they did not see."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp
from scipy.optimize import minimize_scalar, nnls

from hetviz._types import Bools, Floats, Ints, Sparse

_FLOOR = 1e-9


def row_shares(A: Sparse) -> Sparse:
    """Return the matrix with rows of sum 1; rows of zeros stay."""
    total = np.asarray(A.sum(axis=1)).ravel()
    return sp.csr_array(sp.diags_array(1.0 / np.where(total > 0, total, 1.0)) @ A)


def propagate(
    steps: Sequence[tuple[Sparse, Sparse | None]],
    start: Floats,
    known: Bools,
    stay: float = 0.9,
    rounds: int = 30,
) -> Floats:
    """Spread outputs over graphs, those of known items held fast.

    Parameters
    ----------
    steps : sequence of (A, B)
        Shares (n, n) with which each item takes its neighbours; of a pair (n, m), (m, n) those by
        way of other items. All graphs of an item count equally.
    start : ndarray of shape (n, K)
        Outputs to begin with, to which each round returns by 1 - `stay`.
    known : ndarray of bool, shape (n,)
    stay : float
    rounds : int

    Notes
    -----
    The truncated sum of a random walk with restarts (Zhou et al. 2004 with rows of sum 1): O(rounds
    links K). Items that no graph reaches keep what they began with.
    """
    reach = np.zeros(len(start))
    for A, _ in steps:
        reach += np.asarray(A.sum(axis=1)).ravel() > 0
    F = start.copy()
    for _ in range(rounds):
        told = np.zeros_like(F)
        for A, B in steps:
            told += A @ F if B is None else A @ (B @ F)
        reached = reach > 0
        F[reached] = (1 - stay) * start[reached] + stay * told[reached] / reach[reached][:, None]
        F[known] = start[known]
    return F


def mixture_weights(
    outputs: Sequence[Floats], y: Ints, rounds: int = 200, prior: float = 5.0
) -> Floats:
    """Return weights, of sum 1, under which probabilities (n, K) of several kinds fit classes best.

    Notes
    -----
    Expectation maximisation of the posterior of a mixture whose weights are taken for equal as
    surely as `prior` items would say: O(rounds n M).
    """
    P = np.column_stack([np.maximum(part[np.arange(len(y)), y], _FLOOR) for part in outputs])
    w = np.full(P.shape[1], 1.0 / P.shape[1])
    for _ in range(rounds):
        share = P * w
        told = (share / share.sum(axis=1, keepdims=True)).sum(axis=0)
        w = (told + prior / P.shape[1]) / (len(y) + prior)
    return np.asarray(w)


def mean_weights(outputs: Sequence[Floats], y: Floats) -> Floats:
    """Return weights, of sum 1 and none below 0, under which numbers of several kinds fit best."""
    X = np.column_stack(outputs)
    # a row that weighs the sum far above the rest holds it at 1
    scale = 1e3 * max(float(np.abs(X).max()), 1e-12)
    w, _ = nnls(np.vstack([X, np.full(X.shape[1], scale)]), np.append(y, scale))
    total = float(w.sum())
    return np.asarray(w / total) if total > 0 else np.full(X.shape[1], 1.0 / X.shape[1])


def sharpened(P: Floats, power: float) -> Floats:
    """Return probabilities (n, K) to a power, of sum 1 again: above 1 surer, below 1 less sure."""
    Q = np.maximum(P, _FLOOR) ** power
    return np.asarray(Q / Q.sum(axis=1, keepdims=True))


def best_power(P: Floats, y: Ints) -> float:
    """Return the power of `sharpened` under which probabilities fit classes best, 1/4 to 4."""

    def loss(log_power: float) -> float:
        Q = sharpened(P, float(np.exp(log_power)))
        return float(-np.log(Q[np.arange(len(y)), y]).mean())

    limit = float(np.log(4.0))
    found = minimize_scalar(loss, bounds=(-limit, limit), method="bounded")
    return float(np.exp(found.x))


def reliability(P: Floats, y: Ints, bins: int = 8) -> list[list[float]]:
    """Return how often the likeliest class was right, by how sure it was.

    Parameters
    ----------
    P : ndarray of shape (n, K)
        Probabilities of items that the model did not see.
    y : ndarray of int, shape (n,)
    bins : int
        Of equal numbers of items.

    Returns
    -------
    list of [mean probability, share right, items]
    """
    sure = P.max(axis=1)
    right = P.argmax(axis=1) == y
    order = np.argsort(sure, kind="stable")
    parts = [part for part in np.array_split(order, min(bins, max(1, len(y) // 5))) if len(part)]
    return [[float(sure[p].mean()), float(right[p].mean()), float(len(p))] for p in parts]
