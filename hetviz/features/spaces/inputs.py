"""What places of items are computed from, where they are not free: features, or likeness."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.linalg import eigh

from hetviz._types import Floats, Ints, Matrix
from hetviz.core.spectral.blocks import as_dense
from hetviz.data import Dataset
from hetviz.data.model.dataset import features_of
from hetviz.features.meaning import feature_names
from hetviz.features.spaces.basis import Basis
from hetviz.features.spaces.similarity import EVERY_PAIR, Similarity

_LANDMARKS = 1_000


class Inputs(Protocol):
    """What the places of a dataset are computed from."""

    def of(self, rows: Dataset) -> Floats:
        """Return the inputs of rows, fitted or new: shape (n_rows, d)."""

    def names(self, fitted: Dataset) -> list[str]:
        """Return what each of the d inputs is called: a feature, or a fitted item."""


def inputs_of(
    dataset: Dataset, kind: str, like: Similarity | None, random_state: int = 0
) -> Inputs | None:
    """Return what the places of a dataset are computed from; None where they have to be free.

    Parameters
    ----------
    dataset : Dataset
    kind : {"features", "similarities"}
        A dataset without features has similarities.
    like : Similarity or None
    random_state : int
        Seeds the choice of items to compare with, where there are many.
    """
    if kind == "features" and dataset.X is not None:
        return UnitFeatures.fit(dataset)
    return None if like is None else LikenessToFitted.fit(like, random_state)


@dataclass(frozen=True, eq=False)
class UnitFeatures:
    """Features, centred and of mean squared length 1.

    Attributes
    ----------
    centre : ndarray of shape (d,)
    size : float
        Root mean squared length of the centred features.
    """

    centre: Floats
    size: float

    @classmethod
    def fit(cls, dataset: Dataset) -> UnitFeatures:
        X = as_dense(features_of(dataset))
        centre = X.mean(axis=0)
        return cls(centre, float(np.sqrt(((X - centre) ** 2).sum() / len(X))) or 1.0)

    def of(self, rows: Dataset) -> Floats:
        return (as_dense(features_of(rows)) - self.centre) / self.size

    def names(self, fitted: Dataset) -> list[str]:
        return feature_names(fitted)


@dataclass(frozen=True, eq=False)
class LikenessToFitted:
    """Likeness with all fitted items (the empirical kernel map), or with some of very many.

    Attributes
    ----------
    like : Similarity
    columns : ndarray of shape (d,)
        Fitted items to compare with: 1,000 above 3,000.
    """

    like: Similarity
    columns: Ints

    @classmethod
    def fit(cls, like: Similarity, random_state: int) -> LikenessToFitted:
        n = len(like.dataset)
        columns = np.arange(n)
        if n > EVERY_PAIR:
            rng = np.random.default_rng(random_state)
            columns = np.sort(rng.choice(n, _LANDMARKS, replace=False))
        return cls(like, columns)

    def of(self, rows: Dataset) -> Floats:
        return self.like.to_fitted(rows)[:, self.columns]

    def names(self, fitted: Dataset) -> list[str]:
        return [str(fitted.titles[row]) for row in self.columns]


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
        return cls(basis, centre, axes, _along(axes, centre, X))

    def of(self, rows: Dataset) -> Floats:
        return _along(self.axes, self.centre, self.basis.matrix_of(rows))


def _along(axes: Floats, centre: Floats, X: Matrix) -> Floats:
    """Return rows along axes from a centre, without centring sparse ones."""
    return np.asarray(X @ axes - centre @ axes, dtype=np.float64)
