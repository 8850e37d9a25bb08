"""Baseline of link prediction: links of items with similar features."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from hetviz._types import Floats, Ints, Sparse
from hetviz.data import HeteroData
from hetviz.features.spaces.affinities import own_affinities

PERPLEXITY = 5.0


class NearestProfiles:
    """Scores of pairs by the links of items with similar features.

    With A (n, m) the positive weights of known links, and P (n, n), Q (m, m) the normalised
    affinities of each item to its neighbours by features (perplexity 5, see
    `hetviz.features.spaces.affinities.own_affinities`), the scores are :math:`(P A + A Q^T) / 2`:
    the links of the most similar items, on both sides. A side without features is left out.
    Weighted nearest profiles are a common baseline of link prediction (Yamanishi et al. 2008).
    """

    def __init__(self, data: HeteroData, source: str, target: str) -> None:
        shape = len(data[source]), len(data[target])
        self._A = _together_links(data, source, target, shape)
        self._P = own_affinities(data[source], PERPLEXITY)
        self._Q = self._P if source == target else own_affinities(data[target], PERPLEXITY)
        self._shape = shape

    @property
    def applies(self) -> bool:
        """Whether there are links, and features on at least one side."""
        return bool(self._A.nnz) and not (self._P is None and self._Q is None)

    def scores(self, rows: Ints) -> Floats:
        """Return the scores of rows of source with all rows of target, shape (rows, m)."""
        sides: list[Any] = []
        if self._P is not None:
            sides.append(self._P[rows] @ self._A)
        if self._Q is not None:
            sides.append(self._A[rows] @ self._Q.T)
        if not sides:
            return np.zeros((len(rows), self._shape[1]))
        return np.asarray(sum(sides[1:], sides[0]).toarray() / len(sides), dtype=np.float64)


def _together_links(data: HeteroData, source: str, target: str, shape: tuple[int, int]) -> Sparse:
    A = sp.csr_array(shape)
    for links in data.links:
        together = links.weight > 0
        ends = (links.i[together], links.j[together])
        for pair, names in (
            (ends, (links.source, links.target)),
            (ends[::-1], (links.target, links.source)),
        ):
            if names == (source, target):
                A = A + sp.csr_array((links.weight[together], pair), shape=shape)
    return sp.csr_array(A)
