"""The views of compared objects: features of equal size, few enough for the objects compared."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp

from hetviz._types import Floats, Ints, Matrix, Texts, is_sparse
from hetviz.data import Dataset
from hetviz.data.model.out_of_sample import NewRows
from hetviz.features.spaces.basis import KINDS, Basis, fit_basis

VIEW_KINDS = {
    "auto": "as the dataset comes: its features, its kernel or distances, or none",
    "linear": KINDS["linear"],
    "cosine": "the features, each item scaled to length 1: right for vectors of texts",
    "rbf": KINDS["rbf"],
    "precomputed": KINDS["precomputed"],
}
LARGEST_VALUES = 20
_RANK = 1e-9


@dataclass(frozen=True, eq=False)
class View:
    """Features of one dataset, centred and scaled to a mean squared length of 1 (times a weight).

    Attributes
    ----------
    name : str
    kind : str
    raw : array or csr of shape (n, r)
    mean : ndarray of shape (r,)
    scale : float
    at : ndarray of shape (n,)
        Which object each row shows.
    labels : sequence of str
        Names of the features, or of the rows where a kernel is used.
    of_new : callable
        Raw features of new rows.
    """

    name: str
    kind: str
    raw: Matrix
    mean: Floats
    scale: float
    at: Ints
    labels: Texts
    of_new: Callable[[NewRows], Any]

    @property
    def is_kernel(self) -> bool:
        """Whether its columns are kernel values with landmarks rather than features."""
        return self.kind in ("rbf", "precomputed")

    def places(self, raw: Any, B: Floats) -> Floats:
        """Return features of rows times B, (n, k)."""
        return np.asarray(self.scale * (raw @ B - self.mean @ B))


@dataclass(frozen=True, eq=False)
class Part:
    """What a solver sees of a view: the features of the objects compared, by another basis.

    Attributes
    ----------
    features : ndarray of shape (n_objects, s)
        Of the objects compared; 0, the mean, for those that the view lacks.
    back : callable
        Turns a map A of these features, (s, k), into one of the view's own, (r, k). Of use while
        fitting only, so no saved model has it.
    dual : ndarray of shape (n_objects, s) or None
        Of a kernel: column weights on the objects that give each feature.
    diagonal : ndarray of shape (n_objects,)
        Squared length of each object.
    """

    features: Floats
    back: Callable[[Floats], Floats] = field(metadata={"saved": False})
    dual: Floats | None
    diagonal: Floats


def view_of(dataset: Dataset, kind: str, weight: float, at: Ints, random_state: int = 0) -> View:
    """Return a dataset as a view.

    Parameters
    ----------
    dataset : Dataset
        With features, kernel or distances.
    kind : str
        One of `VIEW_KINDS`.
    weight : float
        Factor of its kernel, above 0.
    at : ndarray of shape (n,)
        Which object each row shows.
    random_state : int
        Of `hetviz.features.spaces.basis.fit_basis`.

    Raises
    ------
    hetviz.errors.ParameterError
        If the dataset lacks what `kind` needs.
    """
    basis = _basis(dataset, kind, random_state)
    names: Sequence[str] = dataset.ids.tolist()
    if basis.kind == "linear":
        names = dataset.feature_names or [f"{c + 1}" for c in range(basis.matrix.shape[1])]
    return scaled_view(
        dataset.name,
        basis.kind,
        basis.features,
        at,
        names,
        OfBasis(basis),
        weight,
    )


def scaled_view(
    name: str,
    kind: str,
    raw: Any,
    at: Ints,
    labels: Sequence[str],
    of_new: Callable[[NewRows], Any],
    weight: float = 1.0,
) -> View:
    """Return features as a view, centred and scaled; see `View`."""
    mean = np.asarray(raw.mean(axis=0), dtype=np.float64).ravel()
    squared = float((raw.multiply(raw) if is_sparse(raw) else raw * raw).sum()) / raw.shape[0]
    spread = squared - float(mean @ mean)
    scale = float(np.sqrt(weight / spread)) if spread > 1e-12 * max(squared, 1e-300) else 0.0
    return View(name, kind, raw, mean, scale, at, np.array(list(labels), dtype=object), of_new)


def part_of(view: View, objects: Ints, *, diagonal: bool = False) -> Part:
    """Return what a solver sees of a view.

    Parameters
    ----------
    view : View
    objects : ndarray of shape (n_objects,)
        Objects compared, in order; at least one.
    diagonal : bool
        Columns of cost 1 with a meaning of their own: features, or kernel values with each of the
        objects over the square root of its own.

    Notes
    -----
    The map of least size lies in the span of the objects compared, so that their inner products
    are all that is needed: O(n^2 r) for n objects compared, however many others there are.
    """
    here = np.minimum(np.searchsorted(objects, view.at), len(objects) - 1)
    rows = np.flatnonzero(objects[here] == view.at)
    present = here[rows]
    if not len(rows):
        empty, width = np.zeros((len(objects), 0)), view.raw.shape[1]
        return Part(empty, lambda A: np.zeros((width, A.shape[1])), empty, np.zeros(len(objects)))
    X = view.raw[rows]
    few = X.shape[1] <= len(rows)
    if few or (diagonal and not view.is_kernel):
        features = np.zeros((len(objects), X.shape[1]))
        dense = X.toarray() if is_sparse(X) else np.asarray(X)
        features[present] = view.scale * (dense - view.mean)
        if not (diagonal and view.is_kernel):
            return Part(features, lambda A: A, None, (features**2).sum(axis=1))
    K = _inner_products(view, X)
    own = np.zeros(len(objects))
    own[present] = np.diag(K)
    if diagonal:
        cost = np.sqrt(np.maximum(np.diag(K), 0.0))
        inverse = np.divide(1.0, cost, out=np.zeros_like(cost), where=cost > 1e-9)
        dual = np.diag(inverse)
        columns = K * inverse
    else:
        values, U = np.linalg.eigh(K)
        kept = values > _RANK * max(float(values[-1]), 0.0)
        columns = U[:, kept] * np.sqrt(values[kept])
        dual = U[:, kept] / np.sqrt(values[kept])
    features = np.zeros((len(objects), columns.shape[1]))
    features[present] = columns
    whole = np.zeros((len(objects), dual.shape[1]))
    whole[present] = dual

    def back(A: Floats) -> Floats:
        alpha = dual @ A
        return np.asarray(view.scale * (X.T @ alpha - np.outer(view.mean, alpha.sum(axis=0))))

    return Part(features, back, whole, own)


def column_weights(view: View, part: Part, A: Floats, objects: Ints) -> Mapping[str, float]:
    """Return how much each feature, or each landmark of a kernel, counts in a map; above 0 only.

    Parameters
    ----------
    view, part
        Of each other.
    A : ndarray of shape (s, k)
        Map of the part's features.
    objects : ndarray of shape (n_objects,)
        As given to `part_of`.

    Returns
    -------
    mapping of str to float
        Squared size of each row of the map; W_ii K_ii for landmark i of a kernel.
    """
    if view.is_kernel:
        dual = part.dual if part.dual is not None else np.linalg.pinv(part.features).T
        weight = ((dual @ A) ** 2).sum(axis=1) * part.diagonal
        row_of = dict(zip(view.at.tolist(), range(len(view.at)), strict=True))
        rows = [row_of.get(number) for number in objects.tolist()]
        pairs = [
            (view.labels[row], w) for row, w in zip(rows, weight, strict=True) if row is not None
        ]
    else:
        pairs = list(zip(view.labels, (part.back(A) ** 2).sum(axis=1), strict=True))
    return {str(label): float(w) for label, w in pairs if label and w > 0}


def largest(weights: Mapping[str, float]) -> dict[str, float]:
    """Return the largest of many weights, the largest first."""
    order = sorted(weights, key=lambda label: -weights[label])
    return {label: weights[label] for label in order[:LARGEST_VALUES]}


def _basis(dataset: Dataset, kind: str, random_state: int) -> Basis:
    if kind != "cosine":
        return fit_basis(dataset, kind, random_state)
    features = fit_basis(dataset, "linear").features
    return Basis("linear", _unit_rows(features), None, _OfLengthOne())


@dataclass(frozen=True, eq=False)
class OfBasis:
    """Raw features of new rows by a basis."""

    basis: Basis

    def __call__(self, rows: NewRows) -> Any:
        return self.basis.of_new(rows.dataset)


@dataclass(frozen=True, eq=False)
class _OfLengthOne:
    """The features, each row scaled to length 1."""

    def __call__(self, rows: Dataset) -> Any:
        return _unit_rows(rows.X)


def _unit_rows(X: Any) -> Any:
    if is_sparse(X):
        size = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
        return sp.csr_array(sp.diags_array(_inverse(size)) @ X)
    size = np.linalg.norm(X, axis=1)
    return X * _inverse(size)[:, None]


def _inverse(size: Floats) -> Floats:
    return np.divide(1.0, size, out=np.zeros_like(size), where=size > 0)


def _inner_products(view: View, X: Any) -> Floats:
    """Return centred and scaled inner products of rows, without centring sparse ones."""
    K = X @ X.T
    K = np.asarray(K.toarray() if is_sparse(K) else K, dtype=np.float64)
    u = np.asarray(X @ view.mean)
    K = K - u[:, None] - u[None, :] + float(view.mean @ view.mean)
    return np.asarray(view.scale**2 * (K + K.T) / 2)
