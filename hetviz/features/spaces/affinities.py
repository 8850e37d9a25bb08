"""Nearest neighbours and affinities within a dataset, cached between fits."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Any

import numpy as np

from hetviz._types import Floats, Matrix, Sparse
from hetviz.core.device import current_device
from hetviz.core.graph.affinities import MIN_ROWS, conditional_affinities, neighbors_needed
from hetviz.core.graph.distances import (
    DistanceSpace,
    FeatureSpace,
    KernelSpace,
    Space,
    cross_squared_distances,
)
from hetviz.core.graph.neighbors import (
    Neighbors,
    feature_neighbors,
    nearest_neighbors,
    report_recall,
)
from hetviz.data import Dataset
from hetviz.data.model.dataset import features_of
from hetviz.errors import ParameterError
from hetviz.features.spaces.result_cache import RESULTS, digest

KINDS = {
    "auto": "features, kernel or distances, whichever the dataset has",
    "linear": "the features",
    "precomputed": "the given kernel or distances",
    "featureless": "no features, items are placed by their links only",
}
# Recall of the neighbours of cached affinities, by content.
_RECALL: dict[Hashable, float] = {}
_SPACES: Mapping[str, Callable[[Any], Space]] = {
    "X": FeatureSpace,
    "distance": DistanceSpace,
    "kernel": KernelSpace,
}


def description_of(dataset: Dataset, kind: str = "auto") -> str | None:
    """Return the attribute of a dataset that is compared: "X", "distance", "kernel", or None."""
    available = [word for word in _SPACES if getattr(dataset, word) is not None]
    if kind == "featureless" or (kind == "auto" and not available):
        return None
    allowed = {"auto": available, "linear": ["X"], "precomputed": ["distance", "kernel"]}[kind]
    for word in allowed:
        if word in available:
            return word
    message = "features" if kind == "linear" else "a kernel or distances"
    raise ParameterError(
        f"features = {kind!r} needs {message}, but dataset {dataset.name!r} has none. "
        "Use 'auto', or name another kind for this dataset."
    )


def space_of(dataset: Dataset, kind: str = "auto") -> Space | None:
    """Return the distances among the rows of a dataset."""
    word = description_of(dataset, kind)
    if word is None:
        return None
    matrix = getattr(dataset, word)
    if word != "X" and matrix.shape != (len(dataset), len(dataset)):
        return None
    return _SPACES[word](matrix)


def dataset_neighbors(
    dataset: Dataset,
    k: int,
    kind: str = "auto",
    random_state: int = 0,
    progress: Callable[[float], object] = lambda share: None,
) -> Neighbors | None:
    """Find the k nearest items of each item of a dataset.

    The result is cached by content and so survives changes of links.
    """
    word = description_of(dataset, kind)
    if word is None:
        return None
    matrix = getattr(dataset, word)

    def search() -> Neighbors:
        if word == "X":
            return feature_neighbors(matrix, k, random_state, progress)
        return nearest_neighbors(_SPACES[word](matrix), k, progress)

    content = _content(matrix)
    neighbors = RESULTS.get_or_compute(None, (content, word, k, random_state), search)
    if neighbors.recall < 1.0:
        _RECALL[content] = neighbors.recall
    report_recall(dataset.name, neighbors.recall, len(dataset))
    low, high = float(neighbors.squared.min()), float(neighbors.squared.max())
    return None if high - low <= 1e-9 * high else neighbors


def own_affinities(
    dataset: Dataset,
    perplexity: float,
    kind: str = "auto",
    random_state: int = 0,
    progress: Callable[[float], object] = lambda share: None,
) -> Sparse | None:
    """Return p_{j|i} of a perplexity among the items of a dataset."""
    n = len(dataset)
    word = description_of(dataset, kind)
    if n < MIN_ROWS or word is None:
        return None

    def compute() -> Sparse | None:
        k, allowed = neighbors_needed(n, perplexity)
        affinities = dataset_neighbors(dataset, k, kind, random_state, progress)
        return None if affinities is None else conditional_affinities(affinities, allowed)

    content = _content(getattr(dataset, word))
    affinities = RESULTS.get_or_compute(
        None, (content, word, "affinities", perplexity, random_state), compute
    )
    report_recall(dataset.name, _RECALL.get(content, 1.0), n)
    return affinities


def _content(matrix: Matrix) -> Hashable:
    """Return the cache key of neighbours; only a search on a GPU is exact."""
    device = current_device()
    return digest(matrix), None if device is None else device.kind


def squared_to_fitted(fitted: Dataset, new: Dataset, kind: str = "auto") -> Floats | None:
    """Return squared distances of new to fitted items, (n_new, n), up to a constant per row."""
    word = description_of(fitted, kind)
    if word is None:
        return None
    if word == "X":
        return cross_squared_distances(features_of(new), features_of(fitted))
    matrix = np.asarray(getattr(new, word), dtype=np.float64)
    if word == "distance":
        return matrix**2
    # |x - x_j|^2 = k(x, x) - 2 k(x, x_j) + k(x_j, x_j), and k(x, x) is the same for all j
    return np.asarray(fitted.kernel, dtype=np.float64).diagonal()[None, :] - 2.0 * matrix
