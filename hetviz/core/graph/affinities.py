"""From neighbours and links to one joint distribution over all pairs of items.

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

from hetviz._types import Floats, Sparse
from hetviz.core.graph.neighbors import Neighbors
from hetviz.core.spectral.eigen import slices

LEAST_ROWS = 4
"""Datasets with fewer rows have no neighbourhoods."""
NORMALIZATIONS = ("unnorm", "norm", "pmi")
_STEPS = 64


def neighbors_needed(n: int, perplexity: float) -> tuple[int, float]:
    """Return how many neighbours a perplexity takes among n rows, and the perplexity they allow."""
    perplexity = max(min(perplexity, (n - 1) / 3), 1.0)
    return min(n - 1, int(np.ceil(3 * perplexity))), perplexity


def perplexity_weights(squared: Floats, perplexity: float) -> Floats:
    """Return Gaussian weights of the given perplexity over each row of squared distances.

    Parameters
    ----------
    squared : ndarray of shape (n, k)
        Squared distances of item i to its k neighbours.
    perplexity : float
        exp of the entropy of each row of weights, at most k.

    Returns
    -------
    ndarray of shape (n, k)
        p_{j|i}, of sum 1 in each row, by up to 64 steps of bisection. O(n k).
    """
    from hetviz.core.layout.sne_loops import calibrate

    out = np.empty_like(squared, dtype=np.float64)
    squared = np.ascontiguousarray(squared, dtype=np.float64)
    calibrate(0, len(squared), squared, float(np.log(perplexity)), _STEPS, out)
    return out


def conditional_affinities(found: Neighbors, perplexity: float) -> Sparse:
    """Return p_{j|i} over the neighbours found, csr of shape (n, n) with rows of sum 1."""
    n, k = found.index.shape
    weights = perplexity_weights(found.squared, perplexity)
    indptr = np.arange(0, n * k + 1, k)
    P = sp.csr_array((weights.ravel(), found.index.ravel(), indptr), shape=(n, n))
    P.sort_indices()
    return P


def with_guidance(P: Sparse | None, W: Sparse) -> Sparse:
    """Blend p_{j|i} with links within the dataset.

    Parameters
    ----------
    P : csr_array of shape (n, n) or None
        Rows of sum 1; None for items without features.
    W : csr_array of shape (n, n)
        Symmetric link weights in [0, 1].

    Returns
    -------
    csr_array of shape (n, n)
        A row that links touch gets half of its weight (less for links weaker than 1) from them,
        in proportion; other rows stay.
    """
    degree = np.asarray(W.sum(axis=1)).ravel()
    strongest = W.max(axis=1).toarray().ravel() if W.nnz else np.zeros(W.shape[0])
    with np.errstate(divide="ignore", invalid="ignore"):
        over = np.where(degree > 0, 1.0 / degree, 0.0)
    if P is None:
        return (sp.diags_array(over) @ W).tocsr()
    share = 0.5 * strongest
    return (sp.diags_array(1.0 - share) @ P + sp.diags_array(share * over) @ W).tocsr()


def symmetric_affinities(P: Sparse) -> Sparse | None:
    """Return (P + P') scaled to a sum of 1; None where nothing is left."""
    both = sp.csr_array(P + P.T)
    total = both.sum()
    return sp.csr_array(both / total) if total > 0 else None


def link_affinities(W: Sparse, normalization: str = "unnorm") -> Sparse | None:
    """Return R of a block of links: weights, normalised and then scaled to a sum of 1.

    Parameters
    ----------
    W : csr_array of shape (n_d, n_e)
        Non-negative weights.
    normalization : {"unnorm", "norm", "pmi"}
        w, w / sqrt(r c), or w / (r c), with the sums r and c of the row and the column.

    Returns
    -------
    csr_array of shape (n_d, n_e), or None without a link
    """
    W = sp.csr_array(W).astype(np.float64, copy=False)
    power = {"unnorm": 0.0, "norm": -0.5, "pmi": -1.0}[normalization]
    sides = []
    for axis in (1, 0):
        degree = np.asarray(W.sum(axis=axis)).ravel()
        scale = np.zeros_like(degree)
        np.power(degree, power, out=scale, where=degree > 0)
        sides.append(sp.diags_array(scale))
    R = (sides[0] @ W @ sides[1]).tocsr()
    total = R.sum()
    return sp.csr_array(R / total) if total > 0 else None


@dataclass(frozen=True)
class Balance:
    """How much each block counts.

    Attributes
    ----------
    exponent : float
        0 gives all blocks the same weight, 1 a weight by the number of their pairs (the paper's
        adaptive weights: n_d^2 and n_d n_e).
    datasets : sequence of float
        Factor of each dataset's own neighbourhoods; links between two count by the geometric mean.
    links : float
        Factor of links between datasets besides.
    printed : bool
        As in the paper: a block of links counts in full however few items they touch, and
        however weak they are.
    """

    exponent: float
    datasets: Sequence[float]
    links: float = 1.0
    printed: bool = False


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
    conditional: Sequence[Sparse | None],
    positive: Sparse,
    negative: Sparse,
    sizes: Sequence[int],
    balance: Balance,
    normalization: str = "unnorm",
) -> Joint | None:
    """Assemble the joint distribution of several datasets.

    Parameters
    ----------
    conditional : sequence of csr_array of shape (n_d, n_d), or None
        p_{j|i} of each dataset.
    positive, negative : csr_array of shape (n, n)
        W+ and W-, symmetric and non-negative, over the rows of all datasets. A pair in W- gets no
        weight at all; what pushes it apart is another matter.
    sizes : sequence of int
        Rows of each dataset.
    balance : Balance
    normalization : str
        See `link_affinities`.

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
    parts = slices(sizes)
    apart = sp.csr_array(negative > 0)
    raw: dict[tuple[int, int], float] = {}
    within: dict[int, Sparse] = {}
    across: dict[tuple[int, int], Sparse] = {}
    for d, rows in enumerate(parts):
        own = _within(conditional[d], positive[rows][:, rows], apart[rows][:, rows])
        if own is not None and balance.datasets[d] > 0:
            within[d] = own
            raw[d, d] = balance.datasets[d] * _reach(own, d, d, sizes, balance)
        for e in range(d + 1, len(parts)):
            W = positive[rows][:, parts[e]]
            R = link_affinities(W, normalization)
            factor = balance.links * float(np.sqrt(balance.datasets[d] * balance.datasets[e]))
            if R is None or factor == 0:
                continue
            across[d, e] = R
            strength = 1.0 if balance.printed else float(W.max())
            raw[d, e] = factor * strength * _reach(W, d, e, sizes, balance)
    total = sum(raw.values())
    if total == 0:
        return None
    beta = {pair: value / total for pair, value in raw.items()}
    blocks: list[list[sp.sparray | None]] = [[None] * len(parts) for _ in parts]
    for d, size in enumerate(sizes):
        blocks[d][d] = within[d] * beta[d, d] if d in within else sp.csr_array((size, size))
    for (d, e), R in across.items():
        half = R * (beta[d, e] / 2)
        blocks[d][e], blocks[e][d] = half, half.T
    P = sp.csr_array(sp.block_array(blocks, format="csr"))
    P.sort_indices()
    return Joint(P, beta, within, across)


def _within(P: Sparse | None, W: Sparse, apart: Sparse) -> Sparse | None:
    if P is None and not W.nnz:
        return None
    guided = P if P is not None and not W.nnz else with_guidance(P, W)
    if apart.nnz:
        guided = sp.csr_array(guided - guided.multiply(apart))
        guided.eliminate_zeros()
    return symmetric_affinities(guided)


def _reach(W: Sparse, d: int, e: int, sizes: Sequence[int], balance: Balance) -> float:
    """Return n_d n_e to the exponent, times the share of rows that the block touches."""
    pairs = float(sizes[d]) * float(sizes[e])
    if balance.printed:
        return float(pairs**balance.exponent)
    touched = [np.unique(W.nonzero()[axis]).size / sizes[k] for axis, k in ((0, d), (1, e))]
    return float(pairs**balance.exponent * max(touched))
