"""Heterogeneous spectral mapping (HeMap) of two datasets with paired rows.

    min  l(B_T, T) + l(B_S, S) + beta/2 (|T - B_S P_T|^2 + |S - B_T P_S|^2)
    l(B, X) = theta |X - B P|^2 + (1 - theta) |C - B P_C|^2

over B with orthonormal columns, where C are cluster indicators. The matrix of the equivalent
eigenproblem is F F' with a thin F, so no n x n matrix is formed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import svd

from hetviz._types import Floats
from hetviz.core.arrays import slices
from hetviz.core.spectral.eigen import axis_signs, largest_dense
from hetviz.core.spectral.stiefel import retract

_MAX_SWEEPS = 500


@dataclass(frozen=True, eq=False)
class HemapSolution:
    """A fitted heterogeneous mapping.

    `P_T`, `P_S` (k, m_t), (k, m_s): T is about B_T P_T and S about B_S P_S.
    `bound`: Lower bound of the objective of solutions with B_T'B_T = B_S'B_S = I.
    """

    values: Floats
    B_T: Floats
    B_S: Floats
    P_T: Floats
    P_S: Floats
    history: list[float]
    bound: float


def hemap(
    T: Floats,
    S: Floats,
    n_components: int,
    *,
    C_T: Floats | None = None,
    C_S: Floats | None = None,
    beta: float = 1.0,
    theta: float = 0.5,
    constraint: str = "joint",
) -> HemapSolution:
    """Map a target and a source with as many rows onto common axes.

    `T`, `S` (n, m_t), (n, m_s): Row i of both belong together. Centre and scale them to equal size
        first.
    `n_components`: Number of axes; at most the rank of the problem are returned.
    `C_T`, `C_S` (n, c_t), (n, c_s): Cluster indicators. Without them the map is linear, as for
        theta = 1.
    `beta`: Weight of the similarity of the two maps; 0 leaves them unrelated, 2 theta makes them
        equal if the clusters are.
    `theta`: Weight of the features relative to the clusters, 0 to 1.
    `constraint` {"joint", "block"}: ``"joint"`` is the problem solved in the thesis, B_T'B_T +
        B_S'B_S = I; ``"block"`` the one it states, B_T'B_T = B_S'B_S = I, solved from there by
        monotone alternating updates.

    Equations 5.4 to 5.15. O(n r^2) time for r = m_t + m_s + c_t + c_s, and O(n r) memory.
    """
    n = len(T)
    empty = np.zeros((n, 0))
    C_T = empty if C_T is None else C_T
    C_S = empty if C_S is None else C_S
    if not (C_T.size or C_S.size):
        theta = 1.0
    values, B = _left_singular(T, S, C_T, C_S, beta, theta, n_components)
    k = len(values)
    B_T, B_S = B[:n], B[n:]
    constant = (theta + beta / 2) * float((T**2).sum() + (S**2).sum())
    constant += (1 - theta) * float((C_T**2).sum() + (C_S**2).sum())
    bound = constant - 2 * float(values.sum()) / (beta + 2 * theta)

    def loadings() -> tuple[Floats, Floats]:
        total = beta + 2 * theta
        P_T = (2 * theta * B_T.T @ T + beta * B_S.T @ T) / total
        return P_T, (2 * theta * B_S.T @ S + beta * B_T.T @ S) / total

    def objective(P_T: Floats, P_S: Floats) -> float:
        within = _error(T, B_T, P_T) + _error(S, B_S, P_S)
        between = _error(T, B_S, P_T) + _error(S, B_T, P_S)
        clusters = _error(C_T, B_T, B_T.T @ C_T) + _error(C_S, B_S, B_S.T @ C_S)
        return theta * within + (1 - theta) * clusters + beta / 2 * between

    P_T, P_S = loadings()
    if constraint == "joint":
        return HemapSolution(values, B_T, B_S, P_T, P_S, [objective(P_T, P_S)], bound)
    B_T, B_S = retract(B_T), retract(B_S)
    P_T, P_S = loadings()
    history = [objective(P_T, P_S)]
    for _ in range(_MAX_SWEEPS):
        pull_T = theta * T @ P_T.T + beta / 2 * S @ P_S.T + (1 - theta) * C_T @ (C_T.T @ B_T)
        pull_S = theta * S @ P_S.T + beta / 2 * T @ P_T.T + (1 - theta) * C_S @ (C_S.T @ B_S)
        B_T, B_S = retract(pull_T), retract(pull_S)
        P_T, P_S = loadings()
        history.append(objective(P_T, P_S))
        if history[-2] - history[-1] <= 1e-12 * abs(history[-1]):
            break
    # The axes are defined up to a rotation; sort them by what they explain.
    _, rotation = np.linalg.eigh(P_T @ P_T.T + P_S @ P_S.T)
    rotation = rotation[:, ::-1] * axis_signs(np.vstack([B_T, B_S]) @ rotation[:, ::-1])
    B_T, B_S = B_T @ rotation, B_S @ rotation
    P_T, P_S = loadings()
    return HemapSolution(values[:k], B_T, B_S, P_T, P_S, history, bound)


def thin_factor(
    T: Floats, S: Floats, C_T: Floats, C_S: Floats, beta: float, theta: float
) -> Floats:
    """Return F (2n, r) with F F' the matrix of equations 5.8 and 5.15."""
    own, other, clusters = _factors(beta, theta)
    return np.block(
        [
            [own * T, other * S, clusters * C_T, np.zeros_like(C_S)],
            [other * T, own * S, np.zeros_like(C_T), clusters * C_S],
        ]
    )


def _left_singular(
    T: Floats, S: Floats, C_T: Floats, C_S: Floats, beta: float, theta: float, k: int
) -> tuple[Floats, Floats]:
    """Return the k leading eigenvalues of F F' and its eigenvectors, signs fixed."""
    parts = slices([X.shape[1] for X in (T, S, C_T, C_S)])
    r = parts[-1].stop
    if r > 2 * len(T):
        U, singular, _ = svd(thin_factor(T, S, C_T, C_S, beta, theta), full_matrices=False)
        values, B = singular**2, U
    else:
        own, other, clusters = _factors(beta, theta)
        # F stacks these columns for the target above those for the source; it is not formed.
        above = ((own, T), (other, S), (clusters, C_T), (0.0, C_S))
        below = ((other, T), (own, S), (0.0, C_T), (clusters, C_S))
        gram = np.empty((r, r))
        for i, p in enumerate(parts):
            for j, q in enumerate(parts[: i + 1]):
                factor = above[i][0] * above[j][0] + below[i][0] * below[j][0]
                gram[p, q] = factor * (above[i][1].T @ above[j][1]) if factor else 0.0
                gram[q, p] = gram[p, q].T
        values, V = largest_dense(gram, k)
        # Axes beyond the rank are dropped below; here they only have to be finite.
        V = V / np.sqrt(np.maximum(values, 1e-12 * max(float(values[0]), 1e-300)))
        B = np.vstack(
            [
                sum(factor * (X @ V[p]) for (factor, X), p in zip(half, parts, strict=True))
                for half in (above, below)
            ]
        )
    k = min(k, int((values > 1e-12 * max(float(values[0]), 1e-300)).sum()))
    values, B = values[:k], B[:, :k]
    return values, B * axis_signs(B)


def _factors(beta: float, theta: float) -> tuple[float, float, float]:
    """Return the factors of a dataset in its own rows, in the other's, and of its clusters."""
    clusters = np.sqrt((1 - theta) * (beta + 2 * theta))
    return float(np.sqrt(2.0) * theta), float(beta / np.sqrt(2.0)), float(clusters)


def _error(X: Floats, B: Floats, P: Floats) -> float:
    """|X - B P|^2, without a matrix of the size of X."""
    crossed = float(((X.T @ B) * P.T).sum())
    return float(np.vdot(X, X)) - 2 * crossed + float(((B.T @ B) * (P @ P.T)).sum())
