"""Similarity scores from 0 to 1 between items of a dataset, and for new items."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from hetviz._types import Floats, Ints, Matrix, is_sparse
from hetviz.core.arrays import as_dense
from hetviz.core.graph.distances import cross_squared_distances
from hetviz.core.kernels.kernels import median_bandwidth
from hetviz.data import Dataset
from hetviz.data.model.dataset import features_of
from hetviz.errors import ParameterError
from hetviz.features.spaces.affinities import dataset_neighbors
from hetviz.params import value_for

KINDS = {
    "auto": "by the kernel, the distances or the features of the dataset",
    "kernel": "by the kernel",
    "cosine": "by the angle between features, 0 for opposite ones",
    "rbf": "by the distance between features",
    "none": "no similarity, only links count",
}
MAX_ITEMS_ALL_PAIRS = 3_000
"""Largest number of items for which all pairs are scored."""
_N_NEAR, _N_FAR = 30, 30
_SAME_TOLERANCE = 1e-9
_BLOCK_ENTRIES = 4_000_000


@dataclass(frozen=True, eq=False)
class ItemSimilarity:
    """Similarity scores between the items of a dataset, see `similarity_of`."""

    dataset: Dataset
    kind: str
    width: float = 1.0

    def to_fitted(self, rows: Dataset) -> Floats:
        """Return scores of rows with all fitted items, shape (n_rows, n).

        The kernel value of a new row with itself is unknown. It is set to the median of the fitted
        values, or to the Cauchy-Schwarz lower bound if that is larger, or if the row equals a
        fitted item. Methods that are linear in the rows need this common scale.
        """
        if self.kind == "kernel":
            return self._normed(np.asarray(rows.kernel, dtype=np.float64), rows is self.dataset)
        if self.kind == "cosine":
            cosines = _unit(features_of(rows)) @ _unit(features_of(self.dataset)).T
            return np.clip(as_dense(cosines), 0.0, 1.0)
        if self.kind == "distance":
            squared = np.asarray(rows.distance, dtype=np.float64) ** 2
        else:
            squared = cross_squared_distances(features_of(rows), features_of(self.dataset))
        return np.asarray(np.exp(-0.5 * squared / self.width**2), dtype=np.float64)

    def with_twins(self, rows: Dataset) -> tuple[Floats, Ints]:
        """Return scores of new rows, (n_new, n), and the fitted item equal to each, else -1.

        The kernel value of a new row with itself is its lower bound, so that its nearest item has
        score 1. Lower scores would place the row far from all items.
        """
        S = self._by_least(rows) if self.kind == "kernel" else self.to_fitted(rows)
        return S, self._twins(S)

    def _twins(self, S: Floats) -> Ints:
        nearest = S.argmax(axis=1)
        same = (
            np.abs(S - self.to_fitted(self.dataset)[nearest]).max(axis=1, initial=0)
            < _SAME_TOLERANCE
        )
        return np.where(same, nearest, -1)

    def _by_least(self, rows: Dataset) -> Floats:
        K = np.asarray(rows.kernel, dtype=np.float64)
        return _scaled(K, self._least(K), self._sizes())

    def _sizes(self) -> Floats:
        K = np.asarray(self.dataset.kernel, dtype=np.float64)
        return np.asarray(np.maximum(K.diagonal(), 0.0))

    def _least(self, K: Floats) -> Floats:
        """Return lower bounds of the squared lengths of new rows by their kernel."""
        sizes = np.broadcast_to(self._sizes(), K.shape)
        return np.asarray(_ratio(K**2, sizes).max(axis=1, initial=0))

    def pairs(
        self, random_state: int = 0, max_items: int = MAX_ITEMS_ALL_PAIRS
    ) -> tuple[Ints, Ints, Floats, Floats]:
        """Return scored pairs within the dataset: i, j, score, and the pairs that each represents.

        All n^2 pairs up to `max_items` items. Above, the 30 nearest items of each item, and 30
        random ones that represent all others.
        """
        n = len(self.dataset)
        if n <= max_items:
            S = self.to_fitted(self.dataset)
            i, j = (part.ravel() for part in np.indices(S.shape))
            return i, j, S.ravel(), np.ones(S.size)
        rng = np.random.default_rng(random_state)
        neighbors = dataset_neighbors(self.dataset, _N_NEAR, random_state=random_state)
        near = np.empty((n, 0), np.int64) if neighbors is None else neighbors.index.astype(np.int64)
        far = rng.integers(0, n, size=(n, _N_FAR))
        repeated = (far[:, :, None] == near[:, None, :]).any(axis=2)
        columns = np.hstack([near, far])
        n_far = n - near.shape[1]
        drawn = np.maximum((~repeated).sum(axis=1), 1)
        share = np.hstack(
            [np.ones(near.shape), np.where(repeated, 0.0, (n_far / drawn)[:, None])]
        ).ravel()
        i, j = np.repeat(np.arange(n), columns.shape[1]), columns.ravel()
        mask = share > 0
        i, j, share = i[mask], j[mask], share[mask]
        return i, j, self._of_pairs(i, j), share

    def of_row(self, row: int) -> Floats:
        """Return scores of one item with all items, shape (n,)."""
        X = self.dataset.X
        if self.kind == "rbf" and X is not None and not is_sparse(X):
            # Without the copies of rows that any list of pairs needs.
            difference = X - X[row]
            squared = np.einsum("ij,ij->i", difference, difference, dtype=np.float64)
            return np.asarray(np.exp(-0.5 * squared / self.width**2))
        n = len(self.dataset)
        return self._of_pairs(np.full(n, row), np.arange(n))

    def of_random_pairs(self, n_pairs: int) -> Floats:
        """Return sorted scores of random pairs of different items, of all if there are few."""
        n = len(self.dataset)
        if n * (n - 1) // 2 <= n_pairs:
            i, j = np.triu_indices(n, 1)
        else:
            rng = np.random.default_rng(0)
            i = rng.integers(0, n, n_pairs)
            j = (i + rng.integers(1, n, n_pairs)) % n
        return np.sort(self._of_pairs(i, j))

    def _of_pairs(self, i: Ints, j: Ints) -> Floats:
        if self.kind == "kernel":
            K = np.asarray(self.dataset.kernel)
            size = np.maximum(K.diagonal(), 0.0)
            return np.clip(_ratio(K[i, j], np.sqrt(size[i] * size[j])), 0.0, 1.0)
        if self.kind == "distance":
            squared = np.asarray(self.dataset.distance)[i, j] ** 2
            return np.asarray(np.exp(-0.5 * squared / self.width**2), dtype=np.float64)
        X = features_of(self.dataset)
        X = _unit(X) if self.kind == "cosine" else X
        out = np.empty(len(i))
        step = max(1, _BLOCK_ENTRIES // max(X.shape[1], 1))
        for start in range(0, len(i), step):
            part = slice(start, start + step)
            left, right = X[i[part]], X[j[part]]
            if self.kind == "cosine":
                product = left.multiply(right) if is_sparse(left) else left * right
                out[part] = np.clip(np.asarray(product.sum(axis=1)).ravel(), 0.0, 1.0)
            else:
                difference = left - right
                squares = (
                    difference.multiply(difference)
                    if is_sparse(difference)
                    else difference * difference
                )
                squared = np.asarray(squares.sum(axis=1), dtype=np.float64).ravel()
                out[part] = np.exp(-0.5 * squared / self.width**2)
        return out

    def _normed(self, K: Floats, is_fitted: bool) -> Floats:
        """Return the kernel divided by the lengths in feature space."""
        sizes = self._sizes()
        if is_fitted:
            return _scaled(K, sizes, sizes)
        min_sizes = self._least(K)
        is_new = self._twins(_scaled(K, min_sizes, sizes)) < 0
        typical = float(np.median(sizes)) if len(sizes) else 0.0
        return _scaled(K, np.where(is_new, np.maximum(min_sizes, typical), min_sizes), sizes)


def similarity_of(
    dataset: Dataset, kind: str = "auto", random_state: int = 0
) -> ItemSimilarity | None:
    """Select the similarity score of a dataset.

    `kind`: See `KINDS`. "auto" takes the kernel, else the distances, else the features by "rbf".
        The width of "rbf" is half the median distance, so that a pair at the median scores
        exp(-2). A kernel is divided by its diagonal.
    """
    if kind == "none" or (kind == "auto" and dataset.is_featureless):
        return None
    if kind in ("auto", "kernel") and dataset.kernel is not None:
        return ItemSimilarity(dataset, "kernel")
    if kind in ("auto", "rbf") and dataset.distance is not None:
        D = np.asarray(dataset.distance, dtype=np.float64)
        pair_distances = D[np.triu_indices(len(D), 1)]
        median = (
            float(np.median(pair_distances[pair_distances > 0])) if pair_distances.any() else 1.0
        )
        return ItemSimilarity(dataset, "distance", median / 2)
    if kind in ("auto", "rbf", "cosine") and dataset.X is not None:
        width = 1.0 if kind == "cosine" else median_bandwidth(dataset.X, random_state) / 2
        return ItemSimilarity(dataset, "cosine" if kind == "cosine" else "rbf", width)
    message = {"kernel": "a kernel", "cosine": "features"}.get(kind, "features or distances")
    raise ParameterError(
        f"within = {kind!r} needs {message}, but dataset {dataset.name!r} has none. "
        "Use 'auto', or name another kind for this dataset."
    )


def similarities(
    datasets: Iterable[Dataset], kind: str | Mapping[str, str] = "auto", random_state: int = 0
) -> dict[str, ItemSimilarity]:
    """Return the similarity of each dataset by name, see `similarity_of`, without empty ones."""
    similarity_by_name = {
        dataset.name: similarity_of(dataset, value_for(kind, dataset.name, "auto"), random_state)
        for dataset in datasets
    }
    return {name: like for name, like in similarity_by_name.items() if like is not None}


def _scaled(K: Floats, mine: Floats, sizes: Floats) -> Floats:
    return np.clip(_ratio(K, np.sqrt(np.multiply.outer(mine, sizes))), 0.0, 1.0)


def _unit(X: Matrix) -> Matrix:
    if is_sparse(X):
        length = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
        return X.multiply(_ratio(np.ones(len(length)), length)[:, None]).tocsr()
    dense = np.asarray(X, dtype=np.float64)
    return _ratio(dense, np.linalg.norm(dense, axis=1)[:, None])


def _ratio(over: Floats, under: Floats) -> Floats:
    return np.asarray(over / np.where(under > 0, under, np.inf), dtype=np.float64)
