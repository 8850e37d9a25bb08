"""Compiled inner loop of products with links."""

from __future__ import annotations

from hetviz._types import Array, Floats
from hetviz.core.compiled import compiled


@compiled
def add_linked_rows(
    indptr: Array, indices: Array, weight: Floats, X: Array, centre: Floats, out: Floats
) -> None:
    """out[i] += sum_j weight[i, j] (X[j] - centre), for CSR weights of shape (len(out), len(X)).

    X may have any float type; sums are in float64, in the order of the links.
    """
    d = X.shape[1]
    for i in range(len(indptr) - 1):
        for e in range(indptr[i], indptr[i + 1]):
            j, w = indices[e], weight[e]
            for c in range(d):
                out[i, c] += w * (X[j, c] - centre[c])
