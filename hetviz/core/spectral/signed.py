"""What negative guidance does: the three signed forms of the guided eigenproblem."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from hetviz._types import Floats
from hetviz.core.graph.laplacian import SignedGraph, row_components
from hetviz.core.spectral.blocks import Block, IdentityBlock
from hetviz.core.spectral.eigen import slices

SIGNED = ("ratio", "similarity", "paper")
NU = {"ratio": 0.3, "similarity": 0.3, "paper": 1.0}
"""Strength of negative guidance in each form when none is given."""


def signed_form(
    blocks: Sequence[Block], graph: SignedGraph, form: str, nu: float
) -> tuple[Any, Floats, Any]:
    """Return (S, mass, coupling) of a signed form for `hetviz.core.spectral.eigen.solve`."""
    positive, negative = graph.positive, graph.negative
    d_pos, d_neg = graph.positive_degrees, graph.negative_degrees
    if not negative.nnz:
        return positive, d_pos, None
    if form == "ratio":
        capped = nu * _cap(blocks, graph)
        S = (positive + capped * graph.negative_laplacian()).tocsr()
        return S, d_pos + capped * d_neg, -capped * negative
    S = positive - nu * negative
    if form == "paper":
        S = S + sp.diags_array(2.0 * nu * d_neg)
    return S.tocsr(), d_pos + nu * d_neg, None


def _cap(blocks: Sequence[Block], graph: SignedGraph) -> float:
    """min(1, tr(Z'D+Z) / tr(Z'L-Z)) with every dataset scaled to unit size."""
    if not graph.negative.nnz:
        return 1.0
    L = graph.negative_laplacian()
    attract = repel = 0.0
    for block, rows in zip(blocks, slices([block.n for block in blocks]), strict=True):
        size = _trace(block, graph.absolute_degrees[rows])
        if size > 0:
            attract += _trace(block, graph.positive_degrees[rows]) / size
            repel += block.norms(L[rows][:, rows]) / size
    return min(1.0, attract / repel) if repel > 0 else 1.0


def _trace(block: Block, mass: Floats) -> float:
    return block.norms(sp.csr_array(sp.diags_array(mass)))


def constant_solutions(blocks: Sequence[Block], graph: SignedGraph) -> Any:
    """Return the indicators of the connected groups of featureless rows, or None.

    Such a group sits at one point for free, with mu = 1; features, being centred, cannot.
    """
    featureless = np.concatenate([np.full(b.n, isinstance(b, IdentityBlock)) for b in blocks])
    if not featureless.any():
        return None
    label = row_components(graph.positive)
    closed = np.ones(label.max() + 1, dtype=bool)
    closed[label[~featureless | (graph.positive_degrees == 0)]] = False
    numbers = np.cumsum(closed) - 1
    rows = np.flatnonzero(closed[label])
    entries = (np.ones(rows.size), (rows, numbers[label[rows]]))
    return sp.csr_array(entries, shape=(label.size, int(closed.sum()))) if rows.size else None
