"""Inputs of parametric maps: features, or similarity to fitted items."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.linalg import eigh, svd

from hetviz._types import Floats, Ints, Matrix
from hetviz.core.arrays import as_dense
from hetviz.core.spectral.blocks import LinearMap
from hetviz.core.spectral.eigen import axis_signs
from hetviz.data import Dataset
from hetviz.data.model.dataset import features_of
from hetviz.features.interpretation import feature_names
from hetviz.features.spaces.basis import Basis
from hetviz.features.spaces.similarity import MAX_ITEMS_ALL_PAIRS, ItemSimilarity

_N_LANDMARKS = 1_000
AUTO_VARIANCE_SHARE = 0.95
"""Retained share of the variance if there are at least as many features as items."""


class PlaceInputs(Protocol):
    """Inputs from which the coordinates of a dataset are computed."""

    def of(self, rows: Dataset) -> Floats:
        """Return the inputs of rows, fitted or new: shape (n_rows, d)."""

    def names(self, fitted: Dataset) -> list[str]:
        """Return the names of the sources of the inputs: p features, or fitted items."""

    def of_names(self, frame: Floats) -> Floats:
        """Convert effects of inputs, (d, r), to effects of features or fitted items, (p, r)."""


def make_inputs(
    dataset: Dataset,
    kind: str,
    like: ItemSimilarity | None,
    random_state: int = 0,
    *,
    share: float | str | None = None,
    min_axes: int = 1,
) -> PlaceInputs | None:
    """Return the inputs of a dataset, or None if its coordinates are free parameters."""
    if kind == "features" and dataset.X is not None:
        return UnitFeatures.fit(dataset, share, min_axes)
    return None if like is None else SimilarityToFitted.fit(like, random_state)


@dataclass(frozen=True, eq=False)
class UnitFeatures:
    """Centred features of mean squared length 1, or their leading directions."""

    centre: Floats
    size: float
    axes: Floats | None = None

    @classmethod
    def fit(
        cls, dataset: Dataset, share: float | str | None = None, min_axes: int = 1
    ) -> UnitFeatures:
        """Find centre, size and directions.

        `share` (float, "auto" or None): Share of the variance of the retained directions.
            ``"auto"`` is `AUTO_VARIANCE_SHARE` if there are at least as many features as items,
            else all directions. Directions without variance of fitted items would put new items at
            arbitrary coordinates.

        O(n p min(n, p)) if directions are left out.
        """
        X = as_dense(features_of(dataset))
        n, p = X.shape
        centre = X.mean(axis=0)
        X = X - centre
        size = float(np.sqrt((X**2).sum() / n)) or 1.0
        if isinstance(share, str):
            share = AUTO_VARIANCE_SHARE if p >= n else None
        max_axes = min(n, p)
        if share is None or min_axes > max_axes:
            return cls(centre, size)
        _, s, Vt = svd(X, full_matrices=False)
        cumulative = np.cumsum(s**2)
        n_axes = int(np.searchsorted(cumulative, share * cumulative[-1] * (1.0 - 1e-12))) + 1
        V = Vt[: min(max(n_axes, min_axes), max_axes)].T
        return cls(centre, size, np.ascontiguousarray(V * axis_signs(V)))

    def of(self, rows: Dataset) -> Floats:
        X = (as_dense(features_of(rows)) - self.centre) / self.size
        return X if self.axes is None else np.asarray(X @ self.axes)

    def names(self, fitted: Dataset) -> list[str]:
        return feature_names(fitted)

    def of_names(self, frame: Floats) -> Floats:
        return frame if self.axes is None else np.asarray(self.axes @ frame)

    def linear_map(self, frame: Floats) -> LinearMap:
        """Return the map of features to places for the effects of inputs, (d, r)."""
        return LinearMap(self.of_names(frame) / self.size, self.centre, 0.0)


@dataclass(frozen=True, eq=False)
class SimilarityToFitted:
    """Similarity to all fitted items (empirical kernel map), or to a sample of them."""

    like: ItemSimilarity
    columns: Ints

    @classmethod
    def fit(cls, like: ItemSimilarity, random_state: int) -> SimilarityToFitted:
        n = len(like.dataset)
        columns = np.arange(n)
        if n > MAX_ITEMS_ALL_PAIRS:
            rng = np.random.default_rng(random_state)
            columns = np.sort(rng.choice(n, _N_LANDMARKS, replace=False))
        return cls(like, columns)

    def of(self, rows: Dataset) -> Floats:
        return self.like.to_fitted(rows)[:, self.columns]

    def names(self, fitted: Dataset) -> list[str]:
        return [str(fitted.titles[row]) for row in self.columns]

    def of_names(self, frame: Floats) -> Floats:
        return frame


@dataclass(frozen=True, eq=False)
class LeadingFeatures:
    """Centred features along leading principal axes, of mean variance 1."""

    basis: Basis
    centre: Floats
    axes: Floats
    features: Floats

    @classmethod
    def fit(cls, basis: Basis, max_axes: int) -> LeadingFeatures:
        """Fit the axes; O(n p^2), and O(p^3) if there are more than `max_axes` features."""
        X = basis.matrix
        n, p = X.shape
        centre = np.asarray(X.mean(axis=0), dtype=np.float64).ravel()
        C = as_dense(X.T @ X) / n
        C -= np.multiply.outer(centre, centre)
        axes = eigh(C, subset_by_index=[p - max_axes, p - 1])[1] if p > max_axes else np.eye(p)
        spread = float(np.einsum("ij,ij->", axes, C @ axes)) / axes.shape[1]
        axes = axes / (np.sqrt(spread) if spread > 0 else 1.0)
        return cls(basis, centre, axes, _project(axes, centre, X))

    def of(self, rows: Dataset) -> Floats:
        return _project(self.axes, self.centre, self.basis.matrix_of(rows))


def _project(axes: Floats, centre: Floats, X: Matrix) -> Floats:
    """Return centred rows along axes, without centring sparse rows."""
    return np.asarray(X @ axes - centre @ axes, dtype=np.float64)
