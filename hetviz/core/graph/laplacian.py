"""Degrees, Laplacians and connected components of a signed weight matrix."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from hetviz._types import Bools, Floats, Ints, Sparse


@dataclass(frozen=True)
class SignedGraph:
    """A symmetric signed weight matrix, split into attraction and repulsion."""

    positive: Sparse
    negative: Sparse

    @classmethod
    def split(cls, W: Sparse, *, symmetric: bool = False) -> SignedGraph:
        """Split W by sign, symmetrised as (W + W') / 2 unless `symmetric`, without diagonal."""
        W = sp.csr_array(W).astype(np.float64, copy=False)
        if symmetric and (W.data > 0).all() and not W.diagonal().any():
            return cls(W, sp.csr_array(W.shape))
        entries = W.tocoo() if symmetric else ((W + W.T) / 2).tocoo()
        off_diagonal = entries.coords[0] != entries.coords[1]
        rows, columns = (ends[off_diagonal] for ends in entries.coords)
        values = entries.data[off_diagonal]

        def part(mask: Bools, sign: float) -> Sparse:
            entries = (sign * values[mask], (rows[mask], columns[mask]))
            return sp.csr_array(entries, shape=W.shape)

        return cls(part(values > 0, 1.0), part(values < 0, -1.0))

    @property
    def absolute(self) -> Sparse:
        """|W| = W+ + W-: csr_array of shape (n, n)."""
        return self.positive + self.negative if self.negative.nnz else self.positive

    @cached_property
    def positive_degrees(self) -> Floats:
        """D+, the row sums of W+: shape (n,)."""
        return np.asarray(self.positive.sum(axis=1), dtype=np.float64).ravel()

    @cached_property
    def negative_degrees(self) -> Floats:
        """D-, the row sums of W-: shape (n,)."""
        return np.asarray(self.negative.sum(axis=1), dtype=np.float64).ravel()

    @cached_property
    def absolute_degrees(self) -> Floats:
        """|D| = D+ + D-: shape (n,)."""
        return self.positive_degrees + self.negative_degrees

    def positive_laplacian(self) -> Sparse:
        """L+ = D+ - W+, positive semi-definite: csr_array of shape (n, n)."""
        return sp.csr_array(sp.diags_array(self.positive_degrees) - self.positive)

    def negative_laplacian(self) -> Sparse:
        """L- = D- - W-, positive semi-definite: csr_array of shape (n, n)."""
        return sp.csr_array(sp.diags_array(self.negative_degrees) - self.negative)

    def restrict(self, rows: Ints) -> SignedGraph:
        """Return the graph induced on `rows`."""
        n = self.positive.shape[0]
        if len(rows) == n and (rows == np.arange(n)).all():
            return self
        return SignedGraph(self.positive[rows][:, rows], self.negative[rows][:, rows])


def dataset_components(W: Sparse, sizes: Sequence[int]) -> Ints:
    """Return the connected components of datasets linked by guidance."""
    owner = np.repeat(np.arange(len(sizes)), sizes)
    entries = sp.coo_array(W)
    present = entries.data != 0
    pairs = (owner[entries.coords[0][present]], owner[entries.coords[1][present]])
    shape = (len(sizes), len(sizes))
    graph = sp.csr_array((np.ones(len(pairs[0])), pairs), shape=shape)
    return np.asarray(connected_components(graph, directed=False)[1], dtype=np.int64)


def row_components(W: Sparse) -> Ints:
    """Return the component number of each row of the graph W: shape (n,)."""
    return np.asarray(connected_components(W, directed=False)[1], dtype=np.int64)
