"""Order of points in which neighbours in space are mostly neighbours in memory."""

from __future__ import annotations

import numpy as np

from hetviz._types import Floats, Ints

_BITS, _LONGEST = 10, 62


def z_order(Y: Floats) -> Ints:
    """Return the rows of points (n, k) in the order of a Z-curve through them.

    Morton (1966): the bits of the coordinates are interleaved, ten per axis, fewer above six axes.
    O(n k), and a sort. Code that reads a tree or table of points in this order finds most of it in
    the processor's caches.
    """
    n, k = Y.shape
    if not n:
        return np.zeros(0, dtype=np.int64)
    bits = min(_BITS, _LONGEST // max(k, 1))
    low, high = Y.min(axis=0), Y.max(axis=0)
    size = np.where(high > low, high - low, 1.0)
    cell = ((Y - low) / size * (2**bits - 1)).astype(np.int64)
    code = np.zeros(n, dtype=np.int64)
    for bit in range(bits):
        for axis in range(k):
            code |= ((cell[:, axis] >> bit) & 1) << (bit * k + axis)
    return np.argsort(code, kind="stable")
