"""Edge weights of a joint graph's blocks: neighbour probabilities and links."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from hetviz._types import Floats, Sparse
from hetviz.core.graph.neighbors import Neighbors

MIN_ROWS = 4
"""Minimum number of rows of a dataset with neighbourhoods."""
_MAX_STEPS = 64


def neighbors_needed(n: int, perplexity: float) -> tuple[int, float]:
    """Return the neighbours needed for a perplexity among n rows, and the possible perplexity."""
    perplexity = max(min(perplexity, (n - 1) / 3), 1.0)
    return min(n - 1, int(np.ceil(3 * perplexity))), perplexity


def perplexity_weights(squared: Floats, perplexity: float) -> Floats:
    """Return Gaussian weights of the given perplexity over each row of squared distances."""
    from hetviz.core.graph.affinity_loops import calibrate

    out = np.empty_like(squared, dtype=np.float64)
    squared = np.ascontiguousarray(squared, dtype=np.float64)
    calibrate(0, len(squared), squared, float(np.log(perplexity)), _MAX_STEPS, out)
    return out


def conditional_affinities(neighbors: Neighbors, perplexity: float) -> Sparse:
    """Return p_{j|i} for the given neighbours: csr_array of shape (n, n) with rows of sum 1."""
    n, k = neighbors.index.shape
    weights = perplexity_weights(neighbors.squared, perplexity)
    indptr = np.arange(0, n * k + 1, k)
    P = sp.csr_array((weights.ravel(), neighbors.index.flatten(), indptr), shape=(n, n))
    P.sort_indices()
    return P


def blend_with_links(P: Sparse | None, W: Sparse) -> Sparse:
    """Blend p_{j|i} with links within the dataset."""
    degree = np.asarray(W.sum(axis=1)).ravel()
    strongest = W.max(axis=1).toarray().ravel() if W.nnz else np.zeros(W.shape[0])
    with np.errstate(divide="ignore", invalid="ignore"):
        inverse_degree = np.where(degree > 0, 1.0 / degree, 0.0)
    if P is None:
        return (sp.diags_array(inverse_degree) @ W).tocsr()
    share = 0.5 * strongest
    return (sp.diags_array(1.0 - share) @ P + sp.diags_array(share * inverse_degree) @ W).tocsr()


def symmetric_affinities(P: Sparse) -> Sparse | None:
    """Return (P + P') scaled to a sum of 1; None if P is all 0."""
    symmetric = sp.csr_array(P + P.T)
    total = symmetric.sum()
    return sp.csr_array(symmetric / total) if total > 0 else None


def link_affinities(W: Sparse, normalization: str = "unnorm") -> Sparse | None:
    """Return R of a block of links: normalised weights, scaled to a sum of 1.

    `normalization` {"unnorm", "norm", "pmi"}: w, w / sqrt(r c), or w / (r c), with the sums r and
        c of the row and the column.
    """
    W = sp.csr_array(W).astype(np.float64, copy=False)
    power = {"unnorm": 0.0, "norm": -0.5, "pmi": -1.0}[normalization]
    sides = []
    for axis in (1, 0):
        degree = np.asarray(W.sum(axis=axis)).ravel()
        scale = np.zeros_like(degree)
        np.power(degree, power, out=scale, where=degree > 0)
        sides.append(scale)
    R = W.copy()
    R.sum_duplicates()
    # Products with diagonal matrices would use 64-bit indices.
    R.data = np.repeat(sides[0], np.diff(R.indptr)) * R.data * sides[1][R.indices]
    total = R.sum()
    return sp.csr_array(R / total) if total > 0 else None
