"""The joint graph of several datasets: who is near whom within each, and what links say.

Every method that draws neighbours and links in one picture takes it from here. As one joint
distribution over all pairs of items it is

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
from hetviz.core.graph.affinities import link_affinities, symmetric_affinities, with_guidance
from hetviz.core.graph.laplacian import slices


@dataclass(frozen=True, eq=False)
class LinkBlock:
    """Links of one kind between two datasets, or within one.

    Attributes
    ----------
    source, target : int
        Positions of the datasets; equal within one.
    W : csr_array of shape (n_source, n_target)
        Signed weights; within a dataset each pair once or twice.
    kind : str
        What sort of link it is.
    strength : float
        Factor of its weights.
    """

    source: int
    target: int
    W: Sparse
    kind: str = ""
    strength: float = 1.0


@dataclass(frozen=True, eq=False)
class JointGraph:
    """Items of several datasets, their rows stacked.

    Attributes
    ----------
    sizes : tuple of int
        Rows of each dataset.
    own : tuple of csr_array of shape (n_d, n_d), or None
        How near the items of each dataset are to each other, none below 0 and not necessarily
        symmetric; None where nothing tells them apart.
    positive, negative : csr_array of shape (n, n)
        W+ and W-, symmetric and non-negative: what links say is together, and apart.
    links : tuple of LinkBlock
        The same links kind by kind, for methods that weigh kinds.
    weights : tuple of float
        How much each dataset counts; 1 where none is given.
    """

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
        """Rows of each dataset among all."""
        return slices(self.sizes)

    def pairs(self) -> list[LinkBlock]:
        """Return one block for each pair of datasets, all kinds in one, weights by strength.

        The strength of each is then its largest weight, at most 1.
        """
        found: dict[tuple[int, int], Sparse] = {}
        for link in self.links:
            W = sp.csr_array(link.W * link.strength)
            at = (link.source, link.target)
            found[at] = sp.csr_array(found[at] + W) if at in found else W
        out = []
        for (d, e), W in found.items():
            W.eliminate_zeros()
            if W.nnz:
                out.append(LinkBlock(d, e, W, "", min(1.0, float(abs(W).max()))))
        return out

    def lifted(self, link: LinkBlock, W: Sparse, *, twice: bool = True) -> Sparse:
        """Return a block as part of the whole matrix, symmetric: csr_array of shape (n, n).

        Within a dataset a pair given once is counted on both sides, unless not `twice`.
        """
        rows, n = self.rows, sum(self.sizes)
        part = sp.coo_array(W)
        i, j = part.coords
        i, j = i + rows[link.source].start, j + rows[link.target].start
        if link.source == link.target and not twice:
            return sp.csr_array((part.data, (i, j)), shape=(n, n))
        both = (np.r_[part.data, part.data], (np.r_[i, j], np.r_[j, i]))
        return sp.csr_array(both, shape=(n, n))

    def near(self) -> Sparse:
        """Return the own blocks of all datasets, each times its weight: csr_array (n, n)."""
        blocks = [
            sp.csr_array((size, size)) if own is None else own * weight
            for own, size, weight in zip(self.own, self.sizes, self.weights, strict=True)
        ]
        return sp.csr_array(sp.block_diag(blocks, format="csr"))


@dataclass(frozen=True)
class Balance:
    """How much each block counts.

    Attributes
    ----------
    exponent : float
        0 gives all blocks the same weight, 1 a weight by the number of their pairs (the paper's
        adaptive weights: n_d^2 and n_d n_e).
    links : float
        Factor of links between datasets besides.
    printed : bool
        As in the paper: a block of links counts in full however few items they touch, and
        however weak they are.
    """

    exponent: float
    links: float = 1.0
    printed: bool = False


UNEVEN = 5.0
"""How many times as large the largest dataset may be before large ones have more say."""


def balance_exponent(asked: float | str, sizes: Sequence[int]) -> float:
    """Return the exponent of a balance; "auto" is 1 for sizes more than 5 times apart, else 0.5."""
    if not isinstance(asked, str):
        return float(asked)
    return 1.0 if max(sizes) > UNEVEN * min(sizes) else 0.5


@dataclass(frozen=True, eq=False)
class Joint:
    """The joint distribution and how it came about.

    Attributes
    ----------
    P : csr_array of shape (n, n)
        Symmetric, of sum 1.
    beta : mapping of (d, e) to float
        Weight of each block that exists, d <= e; they sum to 1.
    within : mapping of int to csr_array
        P_d of each dataset that has one.
    across : mapping of (d, e) to csr_array
        R_de of each pair of datasets with links.
    """

    P: Sparse
    beta: Mapping[tuple[int, int], float]
    within: Mapping[int, Any]
    across: Mapping[tuple[int, int], Any]

    def masses(self) -> dict[tuple[int, int], float]:
        """Return, by (d, e), the mean share of a row of d in the block of d and e, if it has any.

        Half of the block for each side, over the rows that it touches there.
        """
        found = {}
        for (d, e), share in self.beta.items():
            if d == e:
                found[d, d] = share / self.within[d].shape[0]
                continue
            for axis, pair in ((0, (d, e)), (1, (e, d))):
                touched = np.unique(self.across[d, e].nonzero()[axis]).size
                found[pair] = 0.5 * share / touched
        return found


def joint_affinities(
    graph: JointGraph, balance: Balance, normalization: str = "unnorm"
) -> Joint | None:
    """Make one distribution over all pairs of items of a joint graph.

    Parameters
    ----------
    graph : JointGraph
        Its own blocks hold p_{j|i}. A pair in W- gets no weight at all; what pushes it apart is
        another matter.
    balance : Balance
    normalization : str
        See `hetviz.core.graph.affinities.link_affinities`.

    Returns
    -------
    Joint, or None
        None when there is neither a neighbourhood nor a link.

    Notes
    -----
    A block of links counts for n_d n_e as in the paper, times the larger share of linked items of
    its two datasets (so that a first link does not pull as hard as a full table), times its
    strongest weight (so that a kind of links that is turned down counts less). O(links + n k).
    """
    sizes, parts = graph.sizes, graph.rows
    positive, apart = graph.positive, sp.csr_array(graph.negative > 0)
    raw: dict[tuple[int, int], float] = {}
    within: dict[int, Any] = {}
    across: dict[tuple[int, int], Any] = {}
    for d, rows in enumerate(parts):
        own = _within(graph.own[d], positive[rows][:, rows], apart[rows][:, rows])
        if own is not None and graph.weights[d] > 0:
            within[d] = own
            raw[d, d] = graph.weights[d] * _reach(own, d, d, sizes, balance)
        for e in range(d + 1, len(parts)):
            W = positive[rows][:, parts[e]]
            R = link_affinities(W, normalization)
            factor = balance.links * float(np.sqrt(graph.weights[d] * graph.weights[e]))
            if R is None or factor == 0:
                continue
            across[d, e] = R
            strength = 1.0 if balance.printed else float(W.max())
            raw[d, e] = factor * strength * _reach(W, d, e, sizes, balance)
    total = sum(raw.values())
    if total == 0:
        return None
    beta = {pair: value / total for pair, value in raw.items()}
    blocks: list[list[Any]] = [[None] * len(parts) for _ in parts]
    for d, size in enumerate(sizes):
        blocks[d][d] = within[d] * beta[d, d] if d in within else sp.csr_array((size, size))
    for (d, e), R in across.items():
        blocks[d][e] = R * (beta[d, e] / 2)
        # Blocks of one format are put together without a list of all their entries.
        blocks[e][d] = blocks[d][e].T.tocsr()
    P = sp.csr_array(sp.block_array(blocks, format="csr"))
    P.sort_indices()
    return Joint(P, beta, within, across)


def part_of_links(graph: JointGraph, joint: Joint) -> Sparse:
    """Return the part of the joint distribution that is due to links: csr_array (n, n).

    All between datasets, and within one what blending with links put in.
    """
    parts, apart = graph.rows, sp.csr_array(graph.negative > 0)
    blocks: list[list[Any]] = [[None] * len(parts) for _ in parts]
    for d, rows in enumerate(parts):
        size = graph.sizes[d]
        blocks[d][d] = sp.csr_array((size, size))
        W = graph.positive[rows][:, rows]
        if d in joint.within and W.nnz:
            here = apart[rows][:, rows]
            whole = _unscaled(graph.own[d], W, here)
            own = graph.own[d]
            links = whole if own is None else sp.csr_array(whole - _own_share(own, W, here))
            scale = joint.beta[d, d] / (2.0 * whole.sum())
            blocks[d][d] = sp.csr_array((links + links.T) * scale)
        for e in range(d + 1, len(parts)):
            if (d, e) in joint.across:
                blocks[d][e] = joint.across[d, e] * (joint.beta[d, e] / 2)
                blocks[e][d] = blocks[d][e].T
    return sp.csr_array(sp.block_array(blocks, format="csr"))


def _own_share(P: Sparse, W: Sparse, apart: Sparse) -> Sparse:
    """Return what is left of an own block beside links."""
    strongest = W.max(axis=1).toarray().ravel()
    kept = sp.csr_array(sp.diags_array(1.0 - 0.5 * strongest) @ P)
    return sp.csr_array(kept - kept.multiply(apart))


def _unscaled(P: Sparse | None, W: Sparse, apart: Sparse) -> Sparse:
    guided = P if P is not None and not W.nnz else with_guidance(P, W)
    if apart.nnz:
        guided = sp.csr_array(guided - guided.multiply(apart))
        guided.eliminate_zeros()
    return guided


def _within(P: Sparse | None, W: Sparse, apart: Sparse) -> Sparse | None:
    if P is None and not W.nnz:
        return None
    return symmetric_affinities(_unscaled(P, W, apart))


def _reach(W: Sparse, d: int, e: int, sizes: Sequence[int], balance: Balance) -> float:
    """Return n_d n_e to the exponent, times the share of rows that the block touches."""
    pairs = float(sizes[d]) * float(sizes[e])
    if balance.printed:
        return float(pairs**balance.exponent)
    touched = [np.unique(W.nonzero()[axis]).size / sizes[k] for axis, k in ((0, d), (1, e))]
    return float(pairs**balance.exponent * max(touched))
