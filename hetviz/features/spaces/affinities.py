"""Who is near whom within a dataset, as probabilities; remembered from one fit to the next."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, TypeVar, cast

import numpy as np

from hetviz._types import Floats, Sparse, is_sparse
from hetviz.core.graph.affinities import LEAST_ROWS, conditional_affinities, neighbors_needed
from hetviz.core.graph.neighbors import (
    Neighbors,
    Rows,
    approximate_neighbors,
    cross_squared_distances,
    euclidean_rows,
    kernel_rows,
    nearest_neighbors,
)
from hetviz.data import Dataset
from hetviz.errors import ParameterError

KINDS = {
    "auto": "as the dataset comes: its features, its kernel or distances, or none",
    "linear": "the features themselves",
    "precomputed": "the kernel or the distances that came with the dataset",
    "featureless": "no features: items are placed by their links alone",
}
EXACT_ROWS = 60_000
"""Features of more rows than this are searched approximately."""

_REMEMBERED_BYTES = 400e6


def dataset_neighbors(
    dataset: Dataset,
    k: int,
    kind: str = "auto",
    random_state: int = 0,
    progress: Callable[[float], object] = lambda share: None,
) -> Neighbors | None:
    """Find the k nearest items of each item of a dataset.

    Parameters
    ----------
    dataset : Dataset
    k : int
        Less than the number of items.
    kind : str
        What to compare, see `KINDS`.
    random_state : int
        Seeds the approximate search above 60,000 rows of features.
    progress : callable
        Gets the share done.

    Returns
    -------
    Neighbors, or None
        None where there is nothing to compare: no features, or features by which every item is
        as far from all others, such as one column per item.

    Raises
    ------
    hetviz.errors.ParameterError
        If the dataset lacks what `kind` needs.

    Notes
    -----
    The result is remembered by content, so that a fit after a change of links does not pay for
    it again.
    """
    word = used(dataset, kind)
    if word is None:
        return None
    matrix = getattr(dataset, word)
    n = len(dataset)

    def search() -> Neighbors:
        if word == "X" and n > EXACT_ROWS:
            return approximate_neighbors(matrix, k, random_state)
        return nearest_neighbors(_squared(word, matrix), n, k, progress)

    found = _store.get((_digest(matrix), word, k, random_state), search)
    low, high = float(found.squared.min()), float(found.squared.max())
    return None if high - low <= 1e-9 * high else found


def own_affinities(
    dataset: Dataset,
    perplexity: float,
    kind: str = "auto",
    random_state: int = 0,
    progress: Callable[[float], object] = lambda share: None,
) -> Sparse | None:
    """Return p_{j|i} of a perplexity among the items of a dataset.

    Parameters
    ----------
    dataset, kind, random_state, progress
        See `dataset_neighbors`.
    perplexity : float
        Lowered to a third of the other items in small datasets.

    Returns
    -------
    csr_array of shape (n, n) with rows of sum 1, or None
        None where there is nothing to compare, and for fewer than 4 items.
    """
    n = len(dataset)
    word = used(dataset, kind)
    if n < LEAST_ROWS or word is None:
        return None

    def compute() -> Sparse | None:
        k, allowed = neighbors_needed(n, perplexity)
        found = dataset_neighbors(dataset, k, kind, random_state, progress)
        return None if found is None else conditional_affinities(found, allowed)

    key = (_digest(getattr(dataset, word)), word, "affinities", perplexity, random_state)
    return _store.get(key, compute)


def squared_to_fitted(fitted: Dataset, new: Dataset, kind: str = "auto") -> Floats | None:
    """Return squared distances of new items to fitted ones, (n_new, n), up to a constant per row.

    Equal rows of features have a distance of exactly 0. None where there is nothing to compare.
    """
    word = used(fitted, kind)
    if word is None:
        return None
    if word == "X":
        return cross_squared_distances(new.X, fitted.X)
    matrix = np.asarray(getattr(new, word), dtype=np.float64)
    if word == "distance":
        return matrix**2
    # |x - x_j|^2 = k(x, x) - 2 k(x, x_j) + k(x_j, x_j), and k(x, x) is the same for all j
    return np.asarray(fitted.kernel, dtype=np.float64).diagonal()[None, :] - 2.0 * matrix


def used(dataset: Dataset, kind: str) -> str | None:
    """Return which attribute of a dataset is compared: "X", "kernel", "distance", or None.

    Raises
    ------
    hetviz.errors.ParameterError
        If the dataset lacks what `kind` needs.
    """
    there = [word for word in ("X", "distance", "kernel") if getattr(dataset, word) is not None]
    if kind == "featureless" or (kind == "auto" and not there):
        return None
    allowed = {"auto": there, "linear": ["X"], "precomputed": ["distance", "kernel"]}[kind]
    for word in allowed:
        if word in there:
            return word
    what = "features" if kind == "linear" else "a kernel or distances"
    raise ParameterError(
        f"features = {kind!r} needs {what}; dataset {dataset.name!r} has none. "
        "Use 'auto', or name another kind for this dataset."
    )


def _squared(word: str, matrix: Any) -> Rows:
    if word == "X":
        return euclidean_rows(matrix)
    if word == "kernel":
        return kernel_rows(matrix)
    return lambda queries: np.asarray(matrix[queries], dtype=np.float64) ** 2


def _digest(matrix: Any) -> bytes:
    digest = hashlib.sha256(str(matrix.shape).encode())
    arrays = (matrix.indptr, matrix.indices, matrix.data) if is_sparse(matrix) else (matrix,)
    for array in arrays:
        digest.update(np.ascontiguousarray(array).data)
    return digest.digest()


Found = TypeVar("Found", bound=Neighbors | Sparse | None)


class _Store:
    """Results by key, the least used forgotten first."""

    def __init__(self, limit: float) -> None:
        self._limit = limit
        self._lock = threading.Lock()
        self._kept: OrderedDict[Hashable, Neighbors | Sparse | None] = OrderedDict()

    def get(self, key: Hashable, make: Callable[[], Found]) -> Found:
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return cast("Found", self._kept[key])
        value = make()
        with self._lock:
            self._kept[key] = value
            while len(self._kept) > 1 and sum(map(_size, self._kept.values())) > self._limit:
                self._kept.popitem(last=False)
        return value


def _size(value: Neighbors | Sparse | None) -> int:
    if isinstance(value, Neighbors):
        return int(value.index.nbytes + value.squared.nbytes)
    return 0 if value is None else int(value.data.nbytes + value.indices.nbytes)


_store = _Store(_REMEMBERED_BYTES)
