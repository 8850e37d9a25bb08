"""Predictability of links: some of each kind are hidden and searched for in the joint axes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from hetviz._types import Floats, Ints, Rng, Sparse
from hetviz.core.graph.joint import JointGraph, LinkBlock
from hetviz.core.spectral.joint_axes import N_AXES, joint_axes

HIDDEN_SHARE = 0.2
MIN_LINKS = 20
"""Minimum number of links of a kind for hiding some of them."""
_MAX_HIDDEN = 2_000
_PAIRS_PER_END = 20


@dataclass(frozen=True)
class LinkEvidence:
    """Prediction quality of hidden links of one kind.

    `auc`: Probability that a hidden link scores above an unlinked pair of the ends of two hidden
        links: 0.5 if links are random, or only reflect popularity.
    """

    auc: float
    standard_error: float
    n_hidden: int


def link_evidence(
    graph: JointGraph,
    features: Sequence[Floats | None],
    n_axes: int = N_AXES,
    random_state: int = 0,
) -> list[LinkEvidence]:
    """Hide 20 % of the links of each kind and search for them in the joint axes of the others."""
    rng = np.random.default_rng(random_state)
    visible: list[LinkBlock] = []
    hidden: list[tuple[Ints, Ints]] = []
    for link in graph.links:
        W, i, j = _hide_links(link.W, rng)
        visible.append(replace(link, W=W))
        hidden.append((i, j))
    if not any(len(i) for i, _ in hidden):
        return [LinkEvidence(float("nan"), 0.0, 0) for _ in graph.links]
    Z = joint_axes(replace(graph, links=tuple(visible)), features, n_axes, random_state).Z
    rows = graph.rows
    return [
        _evidence_of(Z[rows[link.source]], Z[rows[link.target]], link, i, j, rng)
        for link, (i, j) in zip(graph.links, hidden, strict=True)
    ]


def _hide_links(W: Sparse, rng: Rng) -> tuple[Sparse, Ints, Ints]:
    """Return a block without the hidden links, and the rows and columns of the hidden links."""
    entries = sp.coo_array(W)
    i, j = entries.coords
    together = np.flatnonzero(entries.data > 0)
    if len(together) < MIN_LINKS:
        empty = np.zeros(0, dtype=np.int64)
        return W, empty, empty
    size = min(round(HIDDEN_SHARE * len(together)), _MAX_HIDDEN)
    chosen = rng.choice(together, size, replace=False)
    is_visible = np.ones(len(entries.data), dtype=bool)
    is_visible[chosen] = False
    visible = sp.csr_array(
        (entries.data[is_visible], (i[is_visible], j[is_visible])), shape=W.shape
    )
    return visible, i[chosen].astype(np.int64), j[chosen].astype(np.int64)


def _evidence_of(A: Floats, B: Floats, link: LinkBlock, i: Ints, j: Ints, rng: Rng) -> LinkEvidence:
    """Compare the scores of hidden links with those of unlinked pairs of their ends."""
    m = len(i)
    if not m:
        return LinkEvidence(float("nan"), 0.0, 0)
    within = link.source == link.target
    left, right = (np.r_[i, j], np.r_[j, i]) if within else (i, j)
    u = np.repeat(left, _PAIRS_PER_END)
    v = right[rng.integers(0, len(right), len(u))]
    linked = sp.csr_array(link.W + link.W.T) if within else link.W
    is_unlinked = np.asarray(linked[u, v]).ravel() == 0
    if within:
        is_unlinked &= u != v
    u, v = u[is_unlinked], v[is_unlinked]
    if not len(u):
        return LinkEvidence(float("nan"), 0.0, 0)
    other_scores = np.sort(np.einsum("ij,ij->i", A[u], B[v]))
    scores = np.einsum("ij,ij->i", A[i], B[j])
    rank = np.searchsorted(other_scores, scores, side="left")
    rank = (rank + np.searchsorted(other_scores, scores, side="right")) / (2 * len(other_scores))
    return LinkEvidence(float(rank.mean()), float(rank.std() / np.sqrt(m)), m)
