"""The paper's own constraint: only the first dataset is fixed, the others follow it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.linalg import eigh

from hetviz.core.graph.laplacian import SignedGraph
from hetviz.core.spectral.blocks import Block
from hetviz.core.spectral.eigen import Solution, finish, kept, leading, slices
from hetviz.errors import UnboundedProblemError


def solve_anchored(
    blocks: Sequence[Block],
    graph: SignedGraph,
    n_components: int,
    nu: float,
    keep: float | None,
    names: Sequence[str],
    random_state: int,
) -> Solution:
    """Constrain the first dataset only; the others minimise given it (Schur complement)."""
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
    # mu = 1 - lambda with lambda from (Schur + Gamma) a = lambda B a
    G = B - schur - first.ridge * np.eye(first.r)
    v0 = np.random.default_rng(random_state).standard_normal(first.r)
    mu, P = leading((G + G.T) / 2, B, min(n_components, first.r), v0)
    mu, P = kept(mu, P, keep)
    return finish(blocks, mu, np.vstack([P, H @ P]))


def _unbounded(
    blocks: Sequence[Block], graph: SignedGraph, names: Sequence[str], lowest: float
) -> str:
    rows = slices([block.n for block in blocks])
    repelled = [
        name
        for name, part in zip(names[1:], rows[1:], strict=True)
        if graph.negative_degrees[part].any()
    ]
    return (
        f"The anchor variant has no minimum here: negative links on {', '.join(repelled)} outweigh "
        f"the positive ones (lowest eigenvalue {lowest:.3g}), so these rows can be pushed away "
        "without end. Use variant='block', weaken the negative links (nu or their weights), or "
        "add positive ones."
    )
