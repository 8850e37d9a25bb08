"""Cache, by content, of results that depend on one dataset."""

from __future__ import annotations

import hashlib

import numpy as np

from hetviz._types import Matrix, is_sparse
from hetviz.memo import Memo

_MAX_BYTES = 400e6


def digest(matrix: Matrix) -> bytes:
    """Return a hash of the content of a dense or sparse matrix."""
    sha = hashlib.sha256(str(matrix.shape).encode())
    arrays = (matrix.indptr, matrix.indices, matrix.data) if is_sparse(matrix) else (matrix,)
    for array in arrays:
        sha.update(np.ascontiguousarray(array).data)
    return sha.digest()


def _n_bytes(value: object) -> int:
    """Return the bytes of an array, a sparse matrix, or an object with arrays."""
    if value is None:
        return 0
    if isinstance(value, np.ndarray):
        return int(value.nbytes)
    if is_sparse(value):
        return int(value.data.nbytes + value.indices.nbytes)
    return sum(_n_bytes(part) for part in vars(value).values() if hasattr(part, "nbytes"))


RESULTS = Memo(max_size=_MAX_BYTES, size_of=_n_bytes)
