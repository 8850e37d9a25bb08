"""Weights of sources from what is said of pairs: how well each source alone agrees with it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hetviz._types import Bools, Floats, Ints, Sparse
from hetviz.core.spectral.coca import coca
from hetviz.core.spectral.sources import Source


def learned_weights(
    sources: Sequence[Source],
    graphs: Sequence[Sparse],
    pairs: tuple[Ints, Ints],
    signs: Floats,
    n_components: int,
    *,
    similarity: str = "cosine",
) -> tuple[Floats, Floats]:
    """Weigh sources by how well each alone agrees with what is said of some pairs.

    Parameters
    ----------
    sources, graphs
        As in `coca`; the two kinds are weighed apart.
    pairs : two arrays of shape (m,)
        Rows of each pair, every pair once.
    signs : ndarray of shape (m,)
        1 for together, -1 for apart.
    n_components : int
        Principal components taken of each source.
    similarity : {"cosine", "raw"}
        Of the components of a pair: the cosine, or the inner product as in the thesis, which
        depends on the scale of the source.

    Returns
    -------
    source_weights, graph_weights : ndarray
        Each non-negative and of sum 1.

    Notes
    -----
    min |sum_k w_k E_k - C|^2 over the simplex (equations 4.18 and 4.19), E_k the similarity of the
    pairs in source k; in a graph it is 1 for joined and -1 for other pairs. Pairs that say
    together and pairs that say apart have the same total weight. O(m p) per component.
    """
    i, j = pairs
    balance = np.zeros(len(signs))
    for sign in (1.0, -1.0):
        if (signs == sign).any():
            balance[signs == sign] = 1.0 / np.count_nonzero(signs == sign)
    seen = []
    for source in sources:
        if not source.r:
            seen.append(np.zeros(len(signs)))
            continue
        Y = np.nan_to_num(coca([source], [], min(n_components, source.r)).scores)
        if similarity == "cosine":
            length = np.linalg.norm(Y, axis=1, keepdims=True)
            Y = Y / np.where(length > 0, length, 1.0)
        seen.append((Y[i] * Y[j]).sum(axis=1))
    joined = [np.where(np.asarray(G[i, j]).ravel() != 0, 1.0, -1.0) for G in graphs]
    return _qp(seen, balance, signs), _qp(joined, balance, signs)


def _qp(E: Sequence[Floats], balance: Floats, signs: Floats) -> Floats:
    if not E:
        return np.zeros(0)
    stacked = np.array(E)
    return simplex_qp((stacked * balance) @ stacked.T, (stacked * balance) @ signs)


def simplex_qp(K: Floats, v: Floats) -> Floats:
    """Minimise w'Kw - 2v'w over w >= 0, sum(w) = 1.

    Parameters
    ----------
    K : ndarray of shape (p, p)
        Symmetric positive semi-definite.
    v : ndarray of shape (p,)

    Returns
    -------
    ndarray of shape (p,)
        The minimiser. Where there are several the most even one, to 1e-10 of K: sources that are
        equal get equal weights.

    Notes
    -----
    Primal active set from the even weights; each step solves the problem on the current support,
    O(p^3), and the objective never rises.
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
        # walk towards the target until the first weight reaches 0, and fix it there
        falling = np.flatnonzero(target < 0)
        steps = w[falling] / (w[falling] - target[falling])
        leaving = falling[steps.argmin()]
        w = np.maximum(w + steps.min() * (target - w), 0.0)
        w[leaving] = 0.0
        free[leaving] = False
    return np.asarray(w / w.sum())


def _on_support(K: Floats, v: Floats, free: Bools) -> Floats:
    """Minimise with the sum fixed at 1 and nothing outside the support."""
    inside = np.flatnonzero(free)
    m = len(inside)
    system = np.zeros((m + 1, m + 1))
    system[:m, :m] = K[np.ix_(inside, inside)]
    system[:m, m] = system[m, :m] = 1.0
    out = np.zeros(len(v))
    out[inside] = np.linalg.solve(system, np.append(v[inside], 1.0))[:m]
    return out
