"""Small helpers for dense, sparse and stacked arrays."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Protocol

import numpy as np

from hetviz._types import Array, Floats


class _Sparse(Protocol):
    def toarray(self) -> Array: ...


def as_dense(X: Array | _Sparse) -> Floats:
    """Return a dense or sparse matrix as a dense array of floats."""
    return np.asarray(X if isinstance(X, np.ndarray) else X.toarray(), dtype=np.float64)


def slices(sizes: Sequence[int]) -> list[slice]:
    """Return the slice of each part of a stacked array."""
    ends = np.cumsum([0, *sizes])
    return [slice(int(a), int(b)) for a, b in pairwise(ends)]
