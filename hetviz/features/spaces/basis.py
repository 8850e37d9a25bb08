"""Basis of a dataset: given features, features of a kernel, or none."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from hetviz._types import Array, Floats, Matrix
from hetviz.core.kernels.kernels import (
    MAX_EXACT_ROWS,
    KernelMap,
    RbfKernel,
    center_kernel,
    kernel_map,
    landmark_map,
    median_bandwidth,
    symmetric_kernel,
)
from hetviz.data import Dataset
from hetviz.data.model.dataset import features_of
from hetviz.errors import ParameterError
from hetviz.params import value_for

OfNew = Callable[[Dataset], Matrix | None]

N_LANDMARKS = 1_000

KINDS = {
    "auto": "features, kernel or distances, whichever the dataset has",
    "linear": "the features",
    "rbf": "a Gaussian kernel of features or distances, in which only close items count",
    "precomputed": "the given kernel or distances",
    "featureless": "no features, items are placed by their links only",
}


@dataclass(frozen=True)
class Basis:
    """Features of one dataset that can be computed for new rows."""

    kind: str
    features: Matrix | int
    nominal: int | None
    _new: OfNew | None

    @property
    def matrix(self) -> Matrix:
        """The features; raises for featureless datasets."""
        if isinstance(self.features, int):
            raise ParameterError("A dataset without features cannot be used here.")
        return self.features

    def of_new(self, rows: Dataset) -> Matrix | None:
        """Return the features of new rows, shape (n_new, r); None if featureless."""
        return None if self._new is None else self._new(rows)

    def matrix_of(self, rows: Dataset) -> Matrix:
        """Return the features of new rows; raise if featureless."""
        matrix = self.of_new(rows)
        if matrix is None:
            raise _missing_error(rows, self.kind, "features")
        return matrix


def chosen_kind(
    dataset: Dataset, features: str | Mapping[str, str] = "auto", kernel: str | None = None
) -> str:
    """Return the kind of basis: `features` of the dataset, else `kernel` if it is possible."""
    kind = str(value_for(features, dataset.name, "auto"))
    if kind != "auto" or kernel is None:
        return kind
    available: dict[str, Matrix | None] = {
        "linear": dataset.X,
        "rbf": dataset.X if dataset.X is not None else dataset.distance,
        "precomputed": dataset.kernel if dataset.kernel is not None else dataset.distance,
    }
    return "auto" if available[kernel] is None else kernel


def fit_basis(
    dataset: Dataset,
    kind: str = "auto",
    random_state: int = 0,
    *,
    penalty: str = "rkhs",
    weights: Floats | None = None,
) -> Basis:
    """Select and compute the features of a dataset.

    `kind` {"auto", "linear", "rbf", "precomputed", "featureless"}: See `KINDS`. The width of the
        Gaussian is the median distance. Precomputed distances become inner products by double
        centring (classical scaling).

    A kernel of n rows costs O(n^3 / 3) time and O(n^2) memory. Above 5,000 rows, 1,000 landmarks
    are used at a cost of O(n).
    """
    if kind == "auto":
        kind = _default_kind(dataset)
    if kind == "featureless":
        return Basis(kind, len(dataset), None, None)
    if kind == "linear":
        if dataset.X is None:
            raise _missing_error(dataset, kind, "features")
        return Basis(kind, dataset.X, None, AsGiven())
    if kind == "rbf":
        return _gaussian(dataset, random_state, penalty, weights)
    return _precomputed(dataset, penalty, weights)


def _default_kind(dataset: Dataset) -> str:
    if dataset.X is not None:
        return "linear"
    return "featureless" if dataset.is_featureless else "precomputed"


def _gaussian(dataset: Dataset, random_state: int, penalty: str, weights: Floats | None) -> Basis:
    if dataset.X is None:
        if dataset.distance is None:
            raise _missing_error(dataset, "rbf", "features or distances")
        return _from_distances(dataset, penalty, weights)
    X = dataset.X
    kernel = RbfKernel(median_bandwidth(X, random_state))
    if len(dataset) > MAX_EXACT_ROWS:
        fitted = landmark_map(kernel, X, N_LANDMARKS, random_state)
    else:
        where = f"dataset {dataset.name!r}"
        fitted = kernel_map(kernel(X, X), penalty=penalty, weights=weights, where=where)
    of_new = _Gaussian(fitted, kernel, X[fitted.landmarks])
    return Basis("rbf", of_new(dataset), len(dataset), of_new)


def _from_distances(dataset: Dataset, penalty: str, weights: Floats | None) -> Basis:
    D = _distances(dataset)
    pair_distances = D[np.triu_indices(len(D), 1)]
    width = (
        float(np.median(pair_distances[pair_distances > 0])) if (pair_distances > 0).any() else 1.0
    )
    where = f"dataset {dataset.name!r}, distance"
    K = symmetric_kernel(_gaussian_of(D, width))
    fitted = kernel_map(K, penalty=penalty, weights=weights, where=where)
    return _mapped("rbf", fitted, _gaussian_of(D, width), _GaussianOfDistances(fitted, width))


def _precomputed(dataset: Dataset, penalty: str, weights: Floats | None) -> Basis:
    where = f"dataset {dataset.name!r}, kernel"
    if dataset.kernel is not None:
        K = symmetric_kernel(dataset.kernel, where)
        fitted = kernel_map(K, penalty=penalty, weights=weights, where=where)
        return _mapped("precomputed", fitted, K, _KernelAsGiven(fitted))
    if dataset.distance is None:
        raise _missing_error(dataset, "precomputed", "a kernel or distances")
    half = -0.5 * _distances(dataset) ** 2
    K = symmetric_kernel(center_kernel(half), f"dataset {dataset.name!r}, distance")
    where = f"dataset {dataset.name!r}, distance"
    fitted = kernel_map(K, penalty=penalty, weights=weights, where=where)
    return _mapped("precomputed", fitted, K, _Scaled(fitted, half))


def _mapped(kind: str, fitted: KernelMap, K: Array, of_new: OfNew) -> Basis:
    return Basis(kind, fitted(K[:, fitted.landmarks]), len(K), of_new)


# Features of new rows: classes instead of closures, so that fitted models can be saved.


@dataclass(frozen=True, eq=False)
class AsGiven:
    """Given features of new rows."""

    def __call__(self, rows: Dataset) -> Matrix | None:
        return rows.X


@dataclass(frozen=True, eq=False)
class _Gaussian:
    """Gaussian kernel of the features with those of fitted landmarks."""

    fitted: KernelMap
    kernel: RbfKernel
    landmarks: Matrix

    def __call__(self, rows: Dataset) -> Floats:
        return self.fitted(self.kernel(features_of(rows), self.landmarks))


@dataclass(frozen=True, eq=False)
class _GaussianOfDistances:
    """Gaussian kernel of the given distances."""

    fitted: KernelMap
    width: float

    def __call__(self, rows: Dataset) -> Floats:
        K = _gaussian_of(_distances(rows), self.width)
        return self.fitted(K[:, self.fitted.landmarks])


@dataclass(frozen=True, eq=False)
class _KernelAsGiven:
    """Given kernel of the rows."""

    fitted: KernelMap

    def __call__(self, rows: Dataset) -> Floats:
        return self.fitted(np.asarray(rows.kernel)[:, self.fitted.landmarks])


@dataclass(frozen=True, eq=False)
class _Scaled:
    """Inner products by classical scaling of the given distances."""

    fitted: KernelMap
    half: Floats

    def __call__(self, rows: Dataset) -> Floats:
        K = center_kernel(self.half, None, -0.5 * _distances(rows) ** 2)
        return self.fitted(K[:, self.fitted.landmarks])


def _gaussian_of(distances: Array, width: float) -> Floats:
    return np.asarray(np.exp(-0.5 * (distances / width) ** 2), dtype=np.float64)


def _distances(dataset: Dataset) -> Floats:
    return np.asarray(dataset.distance, dtype=np.float64)


def _missing_error(dataset: Dataset, kind: str, needed: str) -> ParameterError:
    return ParameterError(
        f"features = {kind!r} needs {needed}, but dataset {dataset.name!r} has none. "
        "Use 'auto', or name another kind for this dataset."
    )
