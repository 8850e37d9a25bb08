"""Cache, by content, of results that depend on one dataset."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import TypeVar, cast

import numpy as np

from hetviz._types import Matrix, is_sparse

T = TypeVar("T")

_MAX_BYTES = 400e6


def cached_result(key: Hashable, make: Callable[[], T]) -> T:
    """Return the cached result of `make` for a key; least recently used results are dropped."""
    return _CACHE.get(key, make)


def digest(matrix: Matrix) -> bytes:
    """Return a hash of the content of a dense or sparse matrix."""
    sha = hashlib.sha256(str(matrix.shape).encode())
    arrays = (matrix.indptr, matrix.indices, matrix.data) if is_sparse(matrix) else (matrix,)
    for array in arrays:
        sha.update(np.ascontiguousarray(array).data)
    return sha.digest()


class _ResultCache:
    """Least-recently-used cache with a limit in bytes."""

    def __init__(self, limit: float) -> None:
        self._limit = limit
        self._lock = threading.Lock()
        self._results: OrderedDict[Hashable, object] = OrderedDict()

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        with self._lock:
            if key in self._results:
                self._results.move_to_end(key)
                return cast("T", self._results[key])
        value = make()
        with self._lock:
            self._results[key] = value
            while (
                len(self._results) > 1 and sum(map(_n_bytes, self._results.values())) > self._limit
            ):
                self._results.popitem(last=False)
        return value


def _n_bytes(value: object) -> int:
    """Return the bytes of an array, a sparse matrix, or an object with arrays."""
    if value is None:
        return 0
    if isinstance(value, np.ndarray):
        return int(value.nbytes)
    if is_sparse(value):
        return int(value.data.nbytes + value.indices.nbytes)
    return sum(_n_bytes(part) for part in vars(value).values() if hasattr(part, "nbytes"))


_CACHE = _ResultCache(_MAX_BYTES)
