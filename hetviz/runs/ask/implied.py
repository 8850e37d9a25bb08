"""What need not be asked: what was said, and what follows from it."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from hetviz._types import Bools, Ints
from hetviz.data import HeteroData, Links

SAID = "said"


class Implied:
    """What the statements of some data settle.

    Rows of one object are the same; so are, for this purpose, items of one dataset that a person
    said belong together (kind "said"), and items that a kind of links pairs one to one. What is
    known of one of them is known of all: if a and b belong together, and b and c do, then so do a
    and c; if b and c do not, a and c do not. Other links, such as pictures tagged with words, say
    nothing about two items that share a third.
    """

    def __init__(self, data: HeteroData) -> None:
        self._objects = data.n_objects
        merged = [np.empty((0, 2), dtype=np.int64)]
        every = [np.empty((0, 2), dtype=np.int64)]
        for links in data.links:
            p = data.object_of[data.offsets[links.source]][links.i]
            q = data.object_of[data.offsets[links.target]][links.j]
            ends = np.column_stack([p, q])
            every.append(ends)
            if _same(links):
                merged.append(ends[links.weight > 0])
        p, q = np.concatenate(merged).T
        n = self._objects
        graph = sp.csr_array((np.ones(len(p)), (p, q)), shape=(n, n))
        _, label = connected_components(graph, directed=False)
        self._group = label.astype(np.int64)[data.object_of]
        of_object = label.astype(np.int64)
        p, q = np.concatenate(every).T
        self._pairs = np.unique(self._code(of_object[p], of_object[q]))
        self._object_of = data.object_of
        self._compared: set[tuple[int, int]] = set()
        if data.comparisons is not None and len(data.comparisons):
            near_a, near_b, far_a, far_b = data.object_of[data.comparisons.pairs].T
            self._compared = _unordered(self._code(near_a, near_b), self._code(far_a, far_b))

    def known(self, a: Ints, b: Ints) -> Bools:
        """Return which pairs of global rows are settled, together or apart."""
        left, right = self._group[a], self._group[b]
        code = self._code(left, right)
        return np.asarray((left == right) | np.isin(code, self._pairs))

    def compared(self, rows: Ints) -> Bools:
        """Return for which rows (m, 3) it was said which of the last two is nearer the first."""
        if not self._compared:
            return np.zeros(len(rows), dtype=bool)
        a, b, c = self._object_of[rows].T
        near, far = self._code(a, b), self._code(a, c)
        low, high = np.minimum(near, far), np.maximum(near, far)
        pairs = zip(low.tolist(), high.tolist(), strict=True)
        return np.array([pair in self._compared for pair in pairs], dtype=bool)

    def _code(self, a: Ints, b: Ints) -> Ints:
        return np.minimum(a, b) * self._objects + np.maximum(a, b)


def _unordered(near: Ints, far: Ints) -> set[tuple[int, int]]:
    low, high = np.minimum(near, far), np.maximum(near, far)
    return set(zip(low.tolist(), high.tolist(), strict=True))


def _same(links: Links) -> bool:
    if links.source == links.target:
        return links.kind == SAID
    together = links.weight > 0
    i, j = links.i[together], links.j[together]
    return len(i) > 1 and len(np.unique(i)) == len(i) and len(np.unique(j)) == len(j)
