"""The joint axes of some data: one space of all items, from features and links of every kind."""

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
from hetviz.features.spaces.result_cache import cached_result, digest
from hetviz.params import value_for
from hetviz.progress import Progress

MAX_FEATURES = 32
"""Leading axes of each dataset's own features that take part."""
_NEW_ROW_PERPLEXITY = 5.0
_MAX_HOPS = 3
_GAP = 0.15
_KERNEL_PASSES = 200
_MAX_QUICK_OPERATIONS = 300_000_000


def symmetric_affinities(
    dataset: Dataset, perplexity: float, kind: str, random_state: int, progress: Progress
) -> Sparse | None:
    """Return near items of a dataset, symmetric: (P + P') / 2 of a perplexity."""
    P = own_affinities(dataset, perplexity, kind, random_state, progress)
    return None if P is None else sp.csr_array((P + P.T) * 0.5)


def leading_features(
    data: HeteroData, kinds: str | Mapping[str, str] = "auto", random_state: int = 0
) -> list[Floats | None]:
    """Return the leading principal components of every dataset, unscaled and centred.

    Parameters
    ----------
    data : HeteroData
    kinds : str or mapping of str to str
        What to use of each dataset, see `hetviz.features.spaces.affinities.KINDS`.
    random_state : int

    Returns
    -------
    list of ndarray of shape (n_d, at most 32), or None
        None where nothing describes the items, or all are described alike.
    """
    return [
        leading_components(dataset, str(value_for(kinds, name, "auto")), random_state)
        for name, dataset in data.datasets.items()
    ]


def leading_components(dataset: Dataset, kind: str, random_state: int = 0) -> Floats | None:
    """Return the leading principal components of one dataset, see `leading_features`."""
    word = description_of(dataset, kind)
    if word is None:
        return None
    matrix = getattr(dataset, word)

    def compute() -> Floats:
        if word == "X":
            return principal_scores(matrix, MAX_FEATURES, random_state)
        K = np.asarray(matrix, dtype=np.float64)
        return kernel_principal_scores(
            -0.5 * K**2 if word == "distance" else K, MAX_FEATURES, random_state
        )

    found = cached_result((digest(matrix), word, "leading", MAX_FEATURES, random_state), compute)
    return found if found.shape[1] else None


def quick_sketch(data: HeteroData, random_state: int = 0) -> Floats:
    """Return places to look at while a map is made: of one dataset, and of the others by links.

    Returns
    -------
    ndarray of shape (n_rows, 2)
        The two leading principal components of the dataset with the most items that something
        describes, of those that links join; each other item in the weighted mean of those it is
        linked with, over at most three links; by its own two components where no links lead there,
        and NaN without any.
        Datasets that nothing joins lie side by side, each as large as the largest.

    Notes
    -----
    O(n p) for the components, which a joint map needs anyway and finds again, and O(links).
    """
    own = np.full((data.n_rows, 2), np.nan)
    described: dict[str, int] = {}
    features = leading_features(data, random_state=random_state)
    for (name, span), found in zip(data.offsets.items(), features, strict=True):
        if found is not None:
            two = np.zeros((len(found), 2))
            two[:, : min(2, found.shape[1])] = found[:, :2]
            size = float(np.sqrt((two**2).sum(axis=1).mean()))
            own[span] = two / size if size > 0 else two
            described[name] = len(found)
    Y = np.full((data.n_rows, 2), np.nan)
    W = data.adjacency("+")
    sizes = [len(dataset) for dataset in data.datasets.values()]
    parts = dataset_components(W, sizes)
    part_of = dict(zip(data.datasets, parts.tolist(), strict=True))
    for part in set(parts.tolist()):
        there = [name for name in described if part_of[name] == part]
        if there:
            first = data.offsets[max(there, key=lambda name: described[name])]
            Y[first] = own[first]
    for _ in range(_MAX_HOPS):
        known = ~np.isnan(Y[:, 0])
        weight = W @ known.astype(np.float64)
        reached = ~known & (weight > 0)
        if not reached.any():
            break
        Y[reached] = (W @ np.where(known[:, None], Y, 0.0))[reached] / weight[reached, None]
    Y = np.where(np.isnan(Y), own, Y)
    if parts.any():
        _place_side_by_side(Y, np.repeat(parts, sizes))
    return Y


def _place_side_by_side(Y: Floats, owner: Ints) -> None:
    """Put places of the smaller owners beside those of the largest, each as large as these are."""
    there = ~np.isnan(Y[:, 0])
    counts = np.bincount(owner[there], minlength=int(owner.max()) + 1)
    at = level = width = 0.0
    for one in np.argsort(-counts, kind="stable"):
        rows = np.flatnonzero((owner == one) & there)
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
    """Whether anything is described, and `quick_sketch` takes a fraction of a second at most.

    By counting the multiplications of `hetviz.core.spectral.principal_scores`, without a look at a clock.
    """
    work = 0
    described = False
    for dataset in data.datasets.values():
        word = description_of(dataset, "auto")
        if word is None:
            continue
        described = True
        matrix = getattr(dataset, word)
        n_rows, n_columns = matrix.shape
        size = matrix.nnz if is_sparse(matrix) else n_rows * n_columns
        squared = word == "X" and n_columns <= MAX_DIRECT_SIZE
        work += size * (n_columns if squared else _KERNEL_PASSES)
    return described and work <= _MAX_QUICK_OPERATIONS


def axes_of_new(
    rows: NewRows,
    fitted: Mapping[str, Dataset],
    axes: Mapping[str, Floats],
    kind: str,
) -> tuple[Floats, Floats | None]:
    """Return joint axes of new rows of a dataset, and their squared distances to fitted rows.

    Parameters
    ----------
    rows : NewRows
    fitted : mapping of str to Dataset
    axes : mapping of str to array of shape (n, k)
        Of the fitted items.
    kind : str
        What makes rows alike, see `hetviz.features.spaces.affinities.KINDS`.

    Returns
    -------
    Z : ndarray of shape (m, k)
        The mean direction of the few fitted rows most like each and of those linked with it, one
        vote each; 0 where there is neither. Links that say apart are not used.
    squared : ndarray of shape (m, n), or None
        By what describes the rows; None where nothing does.
    """
    name, m = rows.dataset.name, len(rows.dataset)
    near = sp.csr_array((m, len(fitted[name])))
    squared = squared_to_fitted(fitted[name], rows.dataset, kind)
    if squared is not None and squared.shape[1] > 1:
        k, perplexity = neighbors_needed(squared.shape[1] + 1, _NEW_ROW_PERPLEXITY)
        index = nearest_columns(squared, k)
        weights = perplexity_weights(np.take_along_axis(squared, index, axis=1), perplexity)
        weights[np.take_along_axis(squared, index, axis=1).min(axis=1) == 0] = 0.0
        own = np.repeat(np.arange(m), k)
        near = near + sp.csr_array((weights.ravel(), (own, index.ravel())), shape=near.shape)
        # rows that describe the same thing as a fitted one are that thing
        near = near + sp.csr_array((squared == 0).astype(np.float64))
    names = list(axes)
    starts = dict(zip(names, np.cumsum([0, *(len(axes[other]) for other in names)]), strict=False))
    Z = np.vstack([axes[other] for other in names])
    together = rows.weight > 0
    columns = rows.to_row[together] + np.array(
        [starts[str(other)] for other in rows.to[together]], dtype=np.int64
    )
    linked = sp.csr_array((rows.weight[together], (rows.row[together], columns)), shape=(m, len(Z)))
    wide = sp.csr_array((near.data, near.indices + starts[name], near.indptr), shape=(m, len(Z)))
    return new_axes(Z, wide, linked), squared
