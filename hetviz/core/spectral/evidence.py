"""Whether links can be foretold: some of each kind are hidden, and looked for in the joint axes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from hetviz._types import Floats, Ints, Sparse
from hetviz.core.graph.joint import JointGraph, LinkBlock
from hetviz.core.spectral.joint_axes import N_AXES, joint_axes

HIDDEN = 0.2
LEAST = 20
"""Of fewer links of a kind none is hidden: they tell nothing about the rest."""
_MOST = 2_000
_ENDS = 20


@dataclass(frozen=True)
class Evidence:
    """How well hidden links of one kind were foretold.

    Attributes
    ----------
    auc : float
        Chance that a hidden link scores above a pair made of the ends of two: 0.5 where links are
        by chance, or mere popularity.
    standard_error : float
    n_hidden : int
        0 where there were too few links to hide some.
    """

    auc: float
    standard_error: float
    n_hidden: int


def link_evidence(
    graph: JointGraph,
    features: Sequence[Floats | None],
    n_axes: int = N_AXES,
    random_state: int = 0,
) -> list[Evidence]:
    """Hide a fifth of the links of each kind and look for them in the joint axes of the rest.

    Parameters
    ----------
    graph, features, n_axes
        As in `hetviz.core.spectral.joint_axes.joint_axes`.
    random_state : int
        Of what is hidden.

    Returns
    -------
    list of Evidence
        One for each of ``graph.links``.

    Notes
    -----
    Costs the joint axes once more.
    """
    rng = np.random.default_rng(random_state)
    rest: list[LinkBlock] = []
    hidden: list[tuple[Ints, Ints]] = []
    for link in graph.links:
        left, i, j = _split(link.W, rng)
        rest.append(replace(link, W=left))
        hidden.append((i, j))
    if not any(len(i) for i, _ in hidden):
        return [Evidence(float("nan"), 0.0, 0) for _ in graph.links]
    Z = joint_axes(replace(graph, links=tuple(rest)), features, n_axes, random_state).Z
    rows = graph.rows
    return [
        _judged(Z[rows[link.source]], Z[rows[link.target]], link, i, j, rng)
        for link, (i, j) in zip(graph.links, hidden, strict=True)
    ]


def _split(W: Sparse, rng: np.random.Generator) -> tuple[Sparse, Ints, Ints]:
    """Return a block without the links hidden, and these."""
    entries = sp.coo_array(W)
    i, j = entries.coords
    together = np.flatnonzero(entries.data > 0)
    if len(together) < LEAST:
        none = np.zeros(0, dtype=np.int64)
        return W, none, none
    size = min(round(HIDDEN * len(together)), _MOST)
    chosen = rng.choice(together, size, replace=False)
    kept = np.ones(len(entries.data), dtype=bool)
    kept[chosen] = False
    left = sp.csr_array((entries.data[kept], (i[kept], j[kept])), shape=W.shape)
    return left, i[chosen].astype(np.int64), j[chosen].astype(np.int64)


def _judged(
    A: Floats, B: Floats, link: LinkBlock, i: Ints, j: Ints, rng: np.random.Generator
) -> Evidence:
    """Compare hidden links with pairs of their ends that are not linked."""
    m = len(i)
    if not m:
        return Evidence(float("nan"), 0.0, 0)
    within = link.source == link.target
    left, right = (np.r_[i, j], np.r_[j, i]) if within else (i, j)
    u = np.repeat(left, _ENDS)
    v = right[rng.integers(0, len(right), len(u))]
    linked = sp.csr_array(link.W + link.W.T) if within else link.W
    free = np.asarray(linked[u, v]).ravel() == 0
    if within:
        free &= u != v
    u, v = u[free], v[free]
    if not len(u):
        return Evidence(float("nan"), 0.0, 0)
    others = np.sort(np.einsum("ij,ij->i", A[u], B[v]))
    scores = np.einsum("ij,ij->i", A[i], B[j])
    below = np.searchsorted(others, scores, side="left")
    below = (below + np.searchsorted(others, scores, side="right")) / (2 * len(others))
    return Evidence(float(below.mean()), float(below.std() / np.sqrt(m)), m)
