"""Joint axes: one space of all items, from features and links."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import scipy.sparse as sp

from hetviz._types import Floats, Ints, Sparse, is_sparse
from hetviz.core.graph.affinities import neighbors_needed, perplexity_weights
from hetviz.core.graph.laplacian import dataset_components
from hetviz.core.graph.neighbors import nearest_columns
from hetviz.core.spectral.joint_axes import new_axes
from hetviz.core.spectral.principal_scores import (
    MAX_DIRECT_SIZE,
    kernel_principal_scores,
    principal_scores,
)
from hetviz.data import Dataset, HeteroData
from hetviz.data.model.out_of_sample import NewRows
from hetviz.features.spaces.affinities import description_of, own_affinities, squared_to_fitted
from hetviz.features.spaces.result_cache import RESULTS, digest
from hetviz.params import value_for
from hetviz.progress import Progress

MAX_FEATURES = 32
"""Number of leading axes of the features of each dataset."""
_NEW_ROW_PERPLEXITY = 5.0
_MAX_HOPS = 3
_GAP = 0.15
_KERNEL_PASSES = 200
_MAX_QUICK_OPERATIONS = 300_000_000


def symmetric_affinities(
    dataset: Dataset, perplexity: float, kind: str, random_state: int, progress: Progress
) -> Sparse | None:
    """Return the symmetric affinities of a dataset, (P + P') / 2, for a perplexity."""
    P = own_affinities(dataset, perplexity, kind, random_state, progress)
    return None if P is None else sp.csr_array((P + P.T) * 0.5)


def leading_features(
    data: HeteroData, kinds: str | Mapping[str, str] = "auto", random_state: int = 0
) -> list[Floats | None]:
    """Return the leading principal components of every dataset, centred and unscaled."""
    return [
        leading_components(dataset, str(value_for(kinds, name, "auto")), random_state)
        for name, dataset in data.datasets.items()
    ]


def leading_components(
    dataset: Dataset, kind: str, random_state: int = 0, max_axes: int = MAX_FEATURES
) -> Floats | None:
    """Return the leading principal components of one dataset, see `leading_features`."""
    word = description_of(dataset, kind)
    if word is None:
        return None
    matrix = getattr(dataset, word)

    def compute() -> Floats:
        if word == "X":
            return principal_scores(matrix, max_axes, random_state)
        K = np.asarray(matrix, dtype=np.float64)
        return kernel_principal_scores(
            -0.5 * K**2 if word == "distance" else K, max_axes, random_state
        )

    components = RESULTS.get_or_compute(
        None, (digest(matrix), word, "leading", max_axes, random_state), compute
    )
    return components if components.shape[1] else None


def quick_sketch(data: HeteroData, random_state: int = 0) -> Floats:
    """Return a quick first sketch of a map.

    Returns (n_rows, 2): The two leading principal components of the largest described dataset of
        each connected component. Other items are at the weighted mean of their linked items, over
        at most three steps, or at their own components without such links, or NaN. Connected
        components are placed side by side, scaled to the size of the largest.
    """
    own_places = np.full((data.n_rows, 2), np.nan)
    described: dict[str, int] = {}
    features = leading_features(data, random_state=random_state)
    for (name, span), components in zip(data.offsets.items(), features, strict=True):
        if components is not None:
            first_two = np.zeros((len(components), 2))
            first_two[:, : min(2, components.shape[1])] = components[:, :2]
            size = float(np.sqrt((first_two**2).sum(axis=1).mean()))
            own_places[span] = first_two / size if size > 0 else first_two
            described[name] = len(components)
    Y = np.full((data.n_rows, 2), np.nan)
    W = data.adjacency("+")
    sizes = [len(dataset) for dataset in data.datasets.values()]
    parts = dataset_components(W, sizes)
    part_of = dict(zip(data.datasets, parts.tolist(), strict=True))
    for part in set(parts.tolist()):
        candidates = [name for name in described if part_of[name] == part]
        if candidates:
            first = data.offsets[max(candidates, key=lambda name: described[name])]
            Y[first] = own_places[first]
    for _ in range(_MAX_HOPS):
        is_placed = ~np.isnan(Y[:, 0])
        weight = W @ is_placed.astype(np.float64)
        reached = ~is_placed & (weight > 0)
        if not reached.any():
            break
        Y[reached] = (W @ np.where(is_placed[:, None], Y, 0.0))[reached] / weight[reached, None]
    Y = np.where(np.isnan(Y), own_places, Y)
    if parts.any():
        _place_side_by_side(Y, np.repeat(parts, sizes))
    return Y


def _place_side_by_side(Y: Floats, owner: Ints) -> None:
    """Place smaller parts beside the largest one, scaled to its size, in place."""
    is_placed = ~np.isnan(Y[:, 0])
    counts = np.bincount(owner[is_placed], minlength=int(owner.max()) + 1)
    at = level = width = 0.0
    for part in np.argsort(-counts, kind="stable"):
        rows = np.flatnonzero((owner == part) & is_placed)
        if not len(rows):
            continue
        low, high = Y[rows].min(axis=0), Y[rows].max(axis=0)
        side = float((high - low).max())
        if not width:
            width, (at, level) = side or 1.0, (low + high) / 2
            continue
        at += width * (1 + _GAP)
        Y[rows] = (Y[rows] - (low + high) / 2) * (width / side if side > 0 else 1.0)
        Y[rows] += at, level


def is_sketch_quick(data: HeteroData) -> bool:
    """Return whether `quick_sketch` is possible and takes less than a second."""
    n_operations = 0
    has_description = False
    for dataset in data.datasets.values():
        word = description_of(dataset, "auto")
        if word is None:
            continue
        has_description = True
        matrix = getattr(dataset, word)
        n_rows, n_columns = matrix.shape
        size = matrix.nnz if is_sparse(matrix) else n_rows * n_columns
        squared = word == "X" and n_columns <= MAX_DIRECT_SIZE
        n_operations += size * (n_columns if squared else _KERNEL_PASSES)
    return has_description and n_operations <= _MAX_QUICK_OPERATIONS


def axes_of_new(
    rows: NewRows, fitted: Mapping[str, Dataset], axes: Mapping[str, Floats], kind: str
) -> tuple[Floats, Floats | None]:
    """Return joint axes of new rows, and their squared distances to fitted rows."""
    name, m = rows.dataset.name, len(rows.dataset)
    similar = sp.csr_array((m, len(fitted[name])))
    squared = squared_to_fitted(fitted[name], rows.dataset, kind)
    if squared is not None and squared.shape[1] > 1:
        k, perplexity = neighbors_needed(squared.shape[1] + 1, _NEW_ROW_PERPLEXITY)
        index = nearest_columns(squared, k)
        weights = perplexity_weights(np.take_along_axis(squared, index, axis=1), perplexity)
        weights[np.take_along_axis(squared, index, axis=1).min(axis=1) == 0] = 0.0
        row_index = np.repeat(np.arange(m), k)
        similar = similar + sp.csr_array(
            (weights.ravel(), (row_index, index.ravel())), shape=similar.shape
        )
        # Rows equal to a fitted row represent the same item.
        similar = similar + sp.csr_array((squared == 0).astype(np.float64))
    names = list(axes)
    starts = dict(zip(names, np.cumsum([0, *(len(axes[other]) for other in names)]), strict=False))
    Z = np.vstack([axes[other] for other in names])
    together = rows.weight > 0
    columns = rows.to_row[together] + np.array(
        [starts[str(other)] for other in rows.to[together]], dtype=np.int64
    )
    linked = sp.csr_array((rows.weight[together], (rows.row[together], columns)), shape=(m, len(Z)))
    similar_all = sp.csr_array(
        (similar.data, similar.indices + starts[name], similar.indptr), shape=(m, len(Z))
    )
    return new_axes(Z, similar_all, linked), squared
