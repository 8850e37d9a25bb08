"""Quadratic programs on the simplex, exactly: the weights of sources."""

from __future__ import annotations

import numpy as np

from hetviz._types import Bools, Floats


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
