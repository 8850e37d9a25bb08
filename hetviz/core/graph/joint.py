"""Joint graph of several datasets: neighbours within each dataset, and links.

All methods that map neighbours and links together use it. As one joint distribution over all pairs
of items it is

    P = [ beta_1 P_1          beta_12 / 2 R_12 ]
        [ beta_12 / 2 R_12'   beta_2 P_2       ],      sum P = 1,

for any number of datasets: P_d from the features of dataset d, R_de from the links between d
and e (MR-SNE, equation 2).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from hetviz._types import Sparse
from hetviz.core.arrays import slices
from hetviz.core.graph.affinities import blend_with_links, link_affinities, symmetric_affinities


@dataclass(frozen=True, eq=False)
class LinkBlock:
    """Links of one kind between two datasets, or within one."""

    source: int
    target: int
    W: Sparse
    kind: str = ""
    strength: float = 1.0


@dataclass(frozen=True, eq=False)
class JointGraph:
    """Neighbours and links of the stacked rows of several datasets."""

    sizes: Sequence[int]
    own: Sequence[Sparse | None]
    positive: Sparse
    negative: Sparse
    links: Sequence[LinkBlock] = ()
    weights: Sequence[float] = ()

    def __post_init__(self) -> None:
        if not self.weights:
            object.__setattr__(self, "weights", (1.0,) * len(self.sizes))

    @property
    def rows(self) -> list[slice]:
        """Slice of the stacked rows of each dataset."""
        return slices(self.sizes)

    def pairs(self) -> list[LinkBlock]:
        """Return one block for each pair of datasets: the sum of kinds times their strengths."""
        sums: dict[tuple[int, int], Sparse] = {}
        for link in self.links:
            W = sp.csr_array(link.W * link.strength)
            pair = (link.source, link.target)
            sums[pair] = sp.csr_array(sums[pair] + W) if pair in sums else W
        blocks = []
        for (d, e), W in sums.items():
            W.eliminate_zeros()
            if W.nnz:
                blocks.append(LinkBlock(d, e, W, "", min(1.0, float(abs(W).max()))))
        return blocks

    def lifted(self, link: LinkBlock, W: Sparse, *, twice: bool = True) -> Sparse:
        """Return a block as part of the whole matrix, symmetric: csr_array of shape (n, n)."""
        rows, n = self.rows, sum(self.sizes)
        part = sp.coo_array(W)
        i, j = part.coords
        i, j = i + rows[link.source].start, j + rows[link.target].start
        if link.source == link.target and not twice:
            return sp.csr_array((part.data, (i, j)), shape=(n, n))
        mirrored = (np.r_[part.data, part.data], (np.r_[i, j], np.r_[j, i]))
        return sp.csr_array(mirrored, shape=(n, n))

    def near(self) -> Sparse:
        """Return the neighbour weights of all datasets, times dataset weights: csr_array (n, n)."""
        blocks = [
            sp.csr_array((size, size)) if own is None else own * weight
            for own, size, weight in zip(self.own, self.sizes, self.weights, strict=True)
        ]
        return sp.csr_array(sp.block_diag(blocks, format="csr"))


@dataclass(frozen=True)
class Balance:
    """Weights of the blocks of the joint distribution.

    `exponent`: 0 gives all blocks the same weight, 1 a weight by the number of their pairs (the
        paper's adaptive weights: n_d^2 and n_d n_e).
    `links`: Additional factor of links between datasets.
    `printed`: As in the paper: a block of links counts in full, even for few linked items or weak
        links.
    """

    exponent: float
    links: float = 1.0
    printed: bool = False


MAX_BALANCED_RATIO = 5.0
"""Above this ratio of dataset sizes, "auto" balance gives large datasets more weight."""


def balance_exponent(balance: float | str, sizes: Sequence[int]) -> float:
    """Return the exponent of a balance; "auto" is 1 for a size ratio above 5, else 0.5."""
    if not isinstance(balance, str):
        return float(balance)
    return 1.0 if max(sizes) > MAX_BALANCED_RATIO * min(sizes) else 0.5


@dataclass(frozen=True, eq=False)
class JointDistribution:
    """The joint distribution and its blocks."""

    P: Sparse
    beta: Mapping[tuple[int, int], float]
    within: Mapping[int, Any]
    across: Mapping[tuple[int, int], Any]

    def masses(self) -> dict[tuple[int, int], float]:
        """Return, by (d, e), the mean share of a row of d in the block of d and e."""
        masses = {}
        for (d, e), share in self.beta.items():
            if d == e:
                masses[d, d] = share / self.within[d].shape[0]
                continue
            for axis, pair in ((0, (d, e)), (1, (e, d))):
                touched = np.unique(self.across[d, e].nonzero()[axis]).size
                masses[pair] = 0.5 * share / touched
        return masses


def joint_affinities(
    graph: JointGraph, balance: Balance, normalization: str = "unnorm"
) -> JointDistribution | None:
    """Return one distribution over all pairs of items of a joint graph.

    A block of links counts n_d n_e as in the paper, times the larger share of linked items of its
    two datasets (so that a first link does not pull as hard as a full table), times its largest
    weight (so that a kind of links with reduced strength counts less). O(links + n k).
    """
    sizes, parts = graph.sizes, graph.rows
    positive, apart = graph.positive, sp.csr_array(graph.negative > 0)
    raw: dict[tuple[int, int], float] = {}
    within: dict[int, Any] = {}
    across: dict[tuple[int, int], Any] = {}
    for d, rows in enumerate(parts):
        own = _within_affinities(graph.own[d], positive[rows][:, rows], apart[rows][:, rows])
        if own is not None and graph.weights[d] > 0:
            within[d] = own
            raw[d, d] = graph.weights[d] * _block_weight(own, d, d, sizes, balance)
        for e in range(d + 1, len(parts)):
            W = positive[rows][:, parts[e]]
            R = link_affinities(W, normalization)
            factor = balance.links * float(np.sqrt(graph.weights[d] * graph.weights[e]))
            if R is None or factor == 0:
                continue
            across[d, e] = R
            strength = 1.0 if balance.printed else float(W.max())
            raw[d, e] = factor * strength * _block_weight(W, d, e, sizes, balance)
    total = sum(raw.values())
    if total == 0:
        return None
    beta = {pair: value / total for pair, value in raw.items()}
    blocks: list[list[Any]] = [[None] * len(parts) for _ in parts]
    for d, size in enumerate(sizes):
        blocks[d][d] = within[d] * beta[d, d] if d in within else sp.csr_array((size, size))
    for (d, e), R in across.items():
        blocks[d][e] = R * (beta[d, e] / 2)
        # Blocks of one format are stacked without a list of all their entries.
        blocks[e][d] = blocks[d][e].T.tocsr()
    P = sp.csr_array(sp.block_array(blocks, format="csr"))
    P.sort_indices()
    return JointDistribution(P, beta, within, across)


def joint_link_part(graph: JointGraph, joint: JointDistribution) -> Sparse:
    """Return the part of the joint distribution that comes from links: csr_array (n, n)."""
    parts, apart = graph.rows, sp.csr_array(graph.negative > 0)
    blocks: list[list[Any]] = [[None] * len(parts) for _ in parts]
    for d, rows in enumerate(parts):
        size = graph.sizes[d]
        blocks[d][d] = sp.csr_array((size, size))
        W = graph.positive[rows][:, rows]
        if d in joint.within and W.nnz:
            apart_within = apart[rows][:, rows]
            blended = _blended(graph.own[d], W, apart_within)
            own = graph.own[d]
            links = (
                blended
                if own is None
                else sp.csr_array(blended - _neighbor_share(own, W, apart_within))
            )
            scale = joint.beta[d, d] / (2.0 * blended.sum())
            blocks[d][d] = sp.csr_array((links + links.T) * scale)
        for e in range(d + 1, len(parts)):
            if (d, e) in joint.across:
                blocks[d][e] = joint.across[d, e] * (joint.beta[d, e] / 2)
                blocks[e][d] = blocks[d][e].T
    return sp.csr_array(sp.block_array(blocks, format="csr"))


def _neighbor_share(P: Sparse, W: Sparse, apart: Sparse) -> Sparse:
    """Return the part of a neighbour block that remains after blending with links."""
    strongest = W.max(axis=1).toarray().ravel()
    remaining = sp.csr_array(sp.diags_array(1.0 - 0.5 * strongest) @ P)
    return sp.csr_array(remaining - remaining.multiply(apart))


def _blended(P: Sparse | None, W: Sparse, apart: Sparse) -> Sparse:
    guided = P if P is not None and not W.nnz else blend_with_links(P, W)
    if apart.nnz:
        guided = sp.csr_array(guided - guided.multiply(apart))
        guided.eliminate_zeros()
    return guided


def _within_affinities(P: Sparse | None, W: Sparse, apart: Sparse) -> Sparse | None:
    if P is None and not W.nnz:
        return None
    return symmetric_affinities(_blended(P, W, apart))


def _block_weight(W: Sparse, d: int, e: int, sizes: Sequence[int], balance: Balance) -> float:
    """Return n_d n_e to the power of the exponent, times the share of rows with entries."""
    pairs = float(sizes[d]) * float(sizes[e])
    if balance.printed:
        return float(pairs**balance.exponent)
    touched = [np.unique(W.nonzero()[axis]).size / sizes[k] for axis, k in ((0, d), (1, e))]
    return float(pairs**balance.exponent * max(touched))
