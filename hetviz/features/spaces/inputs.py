"""What places of items are computed from, where they are not free: features, or likeness."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.linalg import eigh, svd

from hetviz._types import Floats, Ints, Matrix
from hetviz.core.spectral.blocks import as_dense
from hetviz.data import Dataset
from hetviz.data.model.dataset import features_of
from hetviz.features.interpretation import feature_names
from hetviz.features.spaces.basis import Basis
from hetviz.features.spaces.similarity import MAX_ITEMS_ALL_PAIRS, ItemSimilarity

_N_LANDMARKS = 1_000
AUTO_VARIANCE_SHARE = 0.95
"""Share of the variance of features that is kept where these are more than the items."""


class PlaceInputs(Protocol):
    """What the places of a dataset are computed from."""

    def of(self, rows: Dataset) -> Floats:
        """Return the inputs of rows, fitted or new: shape (n_rows, d)."""

    def names(self, fitted: Dataset) -> list[str]:
        """Return what places come from in the end: p features, or fitted items."""

    def of_names(self, frame: Floats) -> Floats:
        """Turn how inputs move an item, (d, r), into how features or fitted items do, (p, r)."""


def make_inputs(
    dataset: Dataset,
    kind: str,
    like: ItemSimilarity | None,
    random_state: int = 0,
    *,
    share: float | str | None = None,
    least: int = 1,
) -> PlaceInputs | None:
    """Return what the places of a dataset are computed from; None where they have to be free.

    Parameters
    ----------
    dataset : Dataset
    kind : {"features", "similarities"}
        A dataset without features has similarities.
    like : Similarity or None
    random_state : int
        Seeds the choice of items to compare with, where there are many.
    share, least
        Of features, see `UnitFeatures.fit`.
    """
    if kind == "features" and dataset.X is not None:
        return UnitFeatures.fit(dataset, share, least)
    return None if like is None else SimilarityToFitted.fit(like, random_state)


@dataclass(frozen=True, eq=False)
class UnitFeatures:
    """Features, centred and of mean squared length 1, or their leading directions.

    Attributes
    ----------
    centre : ndarray of shape (p,)
    size : float
        Root mean squared length of the centred features.
    axes : ndarray of shape (p, d), or None
        Orthonormal directions that are kept, by falling variance; None for all, d = p.
    """

    centre: Floats
    size: float
    axes: Floats | None = None

    @classmethod
    def fit(
        cls, dataset: Dataset, share: float | str | None = None, least: int = 1
    ) -> UnitFeatures:
        """Find centre, size and directions.

        Parameters
        ----------
        dataset : Dataset
            n items of p features.
        share : float, "auto" or None
            As many leading directions are kept as hold this share of the variance. ``"auto"`` is
            `AUTO_VARIANCE_SHARE` where there are at least as many features as items, and all otherwise. A
            map that is linear in all of more features than items also follows directions along
            which no fitted item varies, and so puts new items anywhere.
        least : int
            Keep at least so many, where there are.

        Notes
        -----
        O(n p min(n, p)) where directions are left out.
        """
        X = as_dense(features_of(dataset))
        n, p = X.shape
        centre = X.mean(axis=0)
        X = X - centre
        size = float(np.sqrt((X**2).sum() / n)) or 1.0
        if isinstance(share, str):
            share = AUTO_VARIANCE_SHARE if p >= n else None
        most = min(n, p)
        if share is None or least > most:
            return cls(centre, size)
        _, s, Vt = svd(X, full_matrices=False)
        held = np.cumsum(s**2)
        enough = int(np.searchsorted(held, share * held[-1] * (1.0 - 1e-12))) + 1
        V = Vt[: min(max(enough, least), most)].T
        top = V[np.abs(V).argmax(axis=0), np.arange(V.shape[1])]
        return cls(centre, size, np.ascontiguousarray(V * np.where(top < 0, -1.0, 1.0)))

    def of(self, rows: Dataset) -> Floats:
        X = (as_dense(features_of(rows)) - self.centre) / self.size
        return X if self.axes is None else np.asarray(X @ self.axes)

    def names(self, fitted: Dataset) -> list[str]:
        return feature_names(fitted)

    def of_names(self, frame: Floats) -> Floats:
        return frame if self.axes is None else np.asarray(self.axes @ frame)


@dataclass(frozen=True, eq=False)
class SimilarityToFitted:
    """Likeness with all fitted items (the empirical kernel map), or with some of very many.

    Attributes
    ----------
    like : Similarity
    columns : ndarray of shape (d,)
        Fitted items to compare with: 1,000 above 3,000.
    """

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
    """Features, centred, along at most so many principal axes, of mean variance 1.

    Attributes
    ----------
    basis : Basis
    centre : ndarray of shape (p,)
    axes : ndarray of shape (p, d)
    features : ndarray of shape (n, d)
        Of the fitted rows.
    """

    basis: Basis
    centre: Floats
    axes: Floats
    features: Floats

    @classmethod
    def fit(cls, basis: Basis, most: int) -> LeadingFeatures:
        """Find the axes; O(n p^2), and O(p^3) where there are more features than `most`."""
        X = basis.matrix
        n, p = X.shape
        centre = np.asarray(X.mean(axis=0), dtype=np.float64).ravel()
        C = as_dense(X.T @ X) / n
        C -= np.multiply.outer(centre, centre)
        axes = eigh(C, subset_by_index=[p - most, p - 1])[1] if p > most else np.eye(p)
        spread = float(np.einsum("ij,ij->", axes, C @ axes)) / axes.shape[1]
        axes = axes / (np.sqrt(spread) if spread > 0 else 1.0)
        return cls(basis, centre, axes, _project(axes, centre, X))

    def of(self, rows: Dataset) -> Floats:
        return _project(self.axes, self.centre, self.basis.matrix_of(rows))


def _project(axes: Floats, centre: Floats, X: Matrix) -> Floats:
    """Return rows along axes from a centre, without centring sparse ones."""
    return np.asarray(X @ axes - centre @ axes, dtype=np.float64)
