"""Ordinal embedding problems from comparisons: views, solver input and solution."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from hetviz._types import Floats, Ints, Matrix, Texts, is_sparse
from hetviz.core.ordinal.comparisons import comparison_accuracy
from hetviz.core.ordinal.fixed_rank import FixedRankEmbedding
from hetviz.core.ordinal.partial_order import PartialOrder, partial_order
from hetviz.core.ordinal.polish import move_along, polish_map
from hetviz.data import Dataset, HeteroData
from hetviz.data.model.dataset import features_of
from hetviz.data.model.immutable import Immutable
from hetviz.data.model.out_of_sample import NewRows
from hetviz.features.spaces.basis import KINDS, Basis, fit_basis
from hetviz.features.spaces.projection import Projection, guidance_of, project
from hetviz.params import value_for

VIEW_KINDS = {
    "auto": "as the dataset comes: its features, its kernel or distances, or none",
    "linear": KINDS["linear"],
    "cosine": "features with each item scaled to length 1, for text vectors",
    "rbf": KINDS["rbf"],
    "precomputed": KINDS["precomputed"],
}
MAX_WEIGHTS = 20
_MIN_RELATIVE_EIGENVALUE = 1e-9


@dataclass(frozen=True, eq=False)
class ComparisonView:
    """Features of one dataset, centred and scaled to a mean squared length of 1 times a weight."""

    name: str
    kind: str
    raw: Matrix
    mean: Floats
    scale: float
    at: Ints
    labels: Texts
    of_new: Callable[[NewRows], Matrix | None]

    @property
    def is_kernel(self) -> bool:
        """Whether the columns are kernel values with landmarks, not features."""
        return self.kind in ("rbf", "precomputed")

    def new_raw(self, rows: NewRows) -> Matrix:
        """Return the raw features of new rows; raise if there are none."""
        raw = self.of_new(rows)
        return features_of(rows.dataset) if raw is None else raw

    def places(self, raw: Matrix, B: Floats) -> Floats:
        """Return centred, scaled features of rows times B, (n, k)."""
        return np.asarray(self.scale * (raw @ B - self.mean @ B))


@dataclass(frozen=True, eq=False)
class SolverView(Immutable):
    """Input of the solver for a view: features of the compared objects in another basis.

    `back`: Converts a map A of these features, (s, k), to one of the view's own features, (r, k).
        Not saved, because it is only needed for fitting.
    """

    features: Floats
    back: Callable[[Floats], Floats] = field(metadata={"saved": False})
    dual: Floats | None
    diagonal: Floats


def view_of(
    dataset: Dataset, kind: str, weight: float, at: Ints, random_state: int = 0
) -> ComparisonView:
    """Return a dataset as a view."""
    basis = _basis(dataset, kind, random_state)
    names: Sequence[str] = dataset.ids.tolist()
    if basis.kind == "linear":
        names = dataset.feature_names or [f"{c + 1}" for c in range(basis.matrix.shape[1])]
    return scaled_view(
        dataset.name, basis.kind, basis.matrix, at, names, BasisFeatures(basis), weight
    )


def scaled_view(
    name: str,
    kind: str,
    raw: Matrix,
    at: Ints,
    labels: Sequence[str],
    of_new: Callable[[NewRows], Matrix | None],
    weight: float = 1.0,
) -> ComparisonView:
    """Return features as a view, centred and scaled; see `ComparisonView`."""
    mean = np.asarray(raw.mean(axis=0), dtype=np.float64).ravel()
    mean_squared = float((raw.multiply(raw) if is_sparse(raw) else raw * raw).sum()) / raw.shape[0]
    spread = mean_squared - float(mean @ mean)
    scale = float(np.sqrt(weight / spread)) if spread > 1e-12 * max(mean_squared, 1e-300) else 0.0
    return ComparisonView(
        name, kind, raw, mean, scale, at, np.array(list(labels), dtype=object), of_new
    )


def solver_view(view: ComparisonView, objects: Ints, *, diagonal: bool = False) -> SolverView:
    """Return the solver input of a view.

    The smallest map lies in the span of the n compared objects, so their inner products are
    sufficient: O(n^2 r), independent of the number of other objects.
    """
    position = np.minimum(np.searchsorted(objects, view.at), len(objects) - 1)
    rows = np.flatnonzero(objects[position] == view.at)
    present = position[rows]
    if not len(rows):
        empty, width = np.zeros((len(objects), 0)), view.raw.shape[1]
        return SolverView(
            empty, lambda A: np.zeros((width, A.shape[1])), empty, np.zeros(len(objects))
        )
    X = view.raw[rows]
    is_narrow = X.shape[1] <= len(rows)
    if is_narrow or (diagonal and not view.is_kernel):
        features = np.zeros((len(objects), X.shape[1]))
        dense = X.toarray() if is_sparse(X) else np.asarray(X)
        features[present] = view.scale * (dense - view.mean)
        if not (diagonal and view.is_kernel):
            return SolverView(features, lambda A: A, None, (features**2).sum(axis=1))
    K = _inner_products(view, X)
    squared_lengths = np.zeros(len(objects))
    squared_lengths[present] = np.diag(K)
    if diagonal:
        cost = np.sqrt(np.maximum(np.diag(K), 0.0))
        inverse = np.divide(1.0, cost, out=np.zeros_like(cost), where=cost > 1e-9)
        dual = np.diag(inverse)
        columns = K * inverse
    else:
        values, U = np.linalg.eigh(K)
        positive = values > _MIN_RELATIVE_EIGENVALUE * max(float(values[-1]), 0.0)
        columns = U[:, positive] * np.sqrt(values[positive])
        dual = U[:, positive] / np.sqrt(values[positive])
    features = np.zeros((len(objects), columns.shape[1]))
    features[present] = columns
    full_dual = np.zeros((len(objects), dual.shape[1]))
    full_dual[present] = dual

    def back(A: Floats) -> Floats:
        alpha = dual @ A
        return np.asarray(view.scale * (X.T @ alpha - np.outer(view.mean, alpha.sum(axis=0))))

    return SolverView(features, back, full_dual, squared_lengths)


def column_weights(
    view: ComparisonView, part: SolverView, A: Floats, objects: Ints
) -> Mapping[str, float]:
    """Return the positive weights of features, or landmarks of a kernel, in a map."""
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


def largest_weights(weights: Mapping[str, float]) -> dict[str, float]:
    """Return the largest weights in decreasing order."""
    order = sorted(weights, key=lambda label: -weights[label])
    return {label: weights[label] for label in order[:MAX_WEIGHTS]}


def _basis(dataset: Dataset, kind: str, random_state: int) -> Basis:
    if kind != "cosine":
        return fit_basis(dataset, kind, random_state)
    features = fit_basis(dataset, "linear").matrix
    return Basis("linear", _unit_rows(features), None, _UnitLengthFeatures())


@dataclass(frozen=True, eq=False)
class BasisFeatures:
    """Raw features of new rows in a basis."""

    basis: Basis

    def __call__(self, rows: NewRows) -> Matrix | None:
        return self.basis.of_new(rows.dataset)


@dataclass(frozen=True, eq=False)
class _UnitLengthFeatures:
    """The features, each row scaled to length 1."""

    def __call__(self, rows: Dataset) -> Matrix:
        return _unit_rows(features_of(rows))


def _unit_rows(X: Matrix) -> Matrix:
    if is_sparse(X):
        size = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
        return sp.csr_array(sp.diags_array(_inverse(size)) @ X)
    size = np.linalg.norm(X, axis=1)
    return X * _inverse(size)[:, None]


def _inverse(size: Floats) -> Floats:
    return np.divide(1.0, size, out=np.zeros_like(size), where=size > 0)


def _inner_products(view: ComparisonView, X: Matrix) -> Floats:
    """Return centred and scaled inner products of rows, without centring sparse ones."""
    K = X @ X.T
    K = np.asarray(K.toarray() if is_sparse(K) else K, dtype=np.float64)
    u = np.asarray(X @ view.mean)
    K = K - u[:, None] - u[None, :] + float(view.mean @ view.mean)
    return np.asarray(view.scale**2 * (K + K.T) / 2)


JOINT_NAME = "all datasets, joined by their links"
N_JOINT_AXES = 30


@dataclass(frozen=True, eq=False)
class ComparisonProblem:
    """Comparisons of the objects of some datasets, and the views of these objects."""

    name: str
    numbers: Mapping[str, Ints]
    views: tuple[ComparisonView, ...]
    rows: Ints
    pairs: Ints
    weight: Floats

    def ordered(self, **options: Any) -> PartialOrder:
        return partial_order(self.pairs, self.weight, **options)

    def described(self) -> Ints:
        """Return the sorted objects with a view."""
        return np.unique(np.concatenate([view.at for view in self.views]))

    def restrict_to_described(self) -> ComparisonProblem:
        """Return the problem with the comparisons of described objects only."""
        mask = np.isin(self.pairs, self.described()).all(axis=1)
        return replace(self, rows=self.rows[mask], pairs=self.pairs[mask], weight=self.weight[mask])


def problems_by_entity(
    data: HeteroData,
    features: str | Mapping[str, str] = "auto",
    weights: float | Mapping[str, float] = 1.0,
    random_state: int = 0,
) -> list[ComparisonProblem]:
    """Return one problem for each entity with comparisons and a view."""
    problems = []
    for entity, rows in entity_rows(data).items():
        numbers = {name: data.object_of[data.offsets[name]] for name in data.views(entity)}
        views = tuple(
            view_of(data[name], value_for(features, name, "auto"), weight, at, random_state)
            for name, at in numbers.items()
            if not data[name].is_featureless
            and (weight := weights.get(name, 1.0) if isinstance(weights, Mapping) else 1.0) > 0
        )
        if views and len(rows):
            problems.append(_problem(data, entity, numbers, views, rows, data.object_of))
    return problems


@dataclass(frozen=True, eq=False)
class _ProjectionPlaces:
    """Coordinates of new rows on the axes of a guided projection."""

    projection: Projection

    def __call__(self, rows: NewRows) -> Floats:
        return self.projection.place({rows.dataset.name: rows})[rows.dataset.name]


def joint_problem(data: HeteroData, random_state: int = 0) -> ComparisonProblem:
    """Return one problem of all datasets in the joint space of their links.

    Every row is an object, described by its coordinates on up to 30 axes of a guided projection,
    scaled by the agreement of linked rows. Rows without coordinates are not described.
    """
    bases = {name: fit_basis(dataset) for name, dataset in data.datasets.items()}
    projection = project(
        bases,
        guidance_of(data),
        title="Joining the datasets by their links",
        n_components=N_JOINT_AXES,
        gamma=0.1,
        spread=1.0,
        random_state=random_state,
    )
    numbers = {name: np.arange(rows.start, rows.stop) for name, rows in data.offsets.items()}
    places = np.vstack(list(projection.coordinates.values()))
    placed = np.flatnonzero(np.isfinite(places).all(axis=1))

    labels = [f"axis {axis + 1}" for axis in range(places.shape[1])]
    view = scaled_view(
        JOINT_NAME, "linear", places[placed], placed, labels, _ProjectionPlaces(projection)
    )
    all_comparisons = np.arange(0 if data.comparisons is None else len(data.comparisons))
    all_rows = np.arange(data.n_rows)
    return _problem(data, JOINT_NAME, numbers, (view,), all_comparisons, all_rows)


def compared_objects(data: HeteroData) -> tuple[Ints, Ints, Floats]:
    """Return all compared objects, and the comparisons as positions among them."""
    if data.comparisons is None:
        return np.zeros(0, np.int64), np.zeros((0, 4), np.int64), np.zeros(0)
    pairs = data.object_of[data.comparisons.pairs]
    objects, local = np.unique(pairs, return_inverse=True)
    return objects, local.reshape(-1, 4), data.comparisons.weight


def rows_from_objects(data: HeteroData, objects: Ints, Y: Floats) -> dict[str, Floats]:
    """Return coordinates of all rows by dataset from those of objects; NaN for other objects."""
    out = np.full((data.n_objects, Y.shape[1]), np.nan)
    out[objects] = Y
    return {name: out[data.object_of[rows]] for name, rows in data.offsets.items()}


def entity_rows(data: HeteroData) -> dict[str, Ints]:
    """Return the rows of ``data.comparisons`` within one entity, by entity."""
    if data.comparisons is None:
        return {}
    names = list(data.entities)
    owner = np.concatenate(
        [np.full(len(part), names.index(part.entity)) for part in data.datasets.values()]
    )
    ends = owner[data.comparisons.pairs]
    same = (ends == ends[:, :1]).all(axis=1)
    return {
        entity: np.flatnonzero(same & (ends[:, 0] == number)) for number, entity in enumerate(names)
    }


def _problem(
    data: HeteroData,
    name: str,
    numbers: Mapping[str, Ints],
    views: tuple[ComparisonView, ...],
    rows: Ints,
    object_of: Ints,
) -> ComparisonProblem:
    compared = data.comparisons
    if compared is None:
        return ComparisonProblem(
            name, numbers, views, rows, np.zeros((0, 4), np.int64), np.zeros(0)
        )
    pairs = object_of[compared.pairs[rows]]
    return ComparisonProblem(
        name, numbers, views, rows, pairs, compared.weight[rows]
    ).restrict_to_described()


@dataclass(eq=False)
class ComparisonSolution:
    """Problem with its current solution."""

    problem: ComparisonProblem
    order: PartialOrder | None = None
    objects: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    parts: list[SolverView] = field(default_factory=list)
    maps: list[Floats] = field(default_factory=list)
    flat: FixedRankEmbedding | None = None
    tried: dict[float, float] = field(default_factory=dict)
    before: Floats | None = None
    after: Floats | None = None
    pulls: dict[str, float] = field(default_factory=dict)

    def begin(self, order: PartialOrder, diagonal: bool) -> Ints:
        """Prepare the solver input; return the comparisons as positions in `objects`."""
        self.order = order
        if not len(order.pairs):
            return order.pairs
        self.objects, local = np.unique(order.pairs, return_inverse=True)
        views = self.problem.views
        self.parts = [solver_view(view, self.objects, diagonal=diagonal) for view in views]
        return np.asarray(local.reshape(-1, 4))

    def keep(self, parts: list[Floats]) -> None:
        """Store maps of the solver features as maps of the views' own features."""
        self.maps = [part.back(A) for part, A in zip(self.parts, self._by_view(parts), strict=True)]

    def _by_view(self, parts: list[Floats]) -> list[Floats]:
        stacked = np.vstack(parts)
        return np.split(stacked, np.cumsum([p.features.shape[1] for p in self.parts])[:-1])

    def places(self, k: int) -> dict[str, Floats]:
        """Return coordinates of all rows by dataset; NaN for objects without a view."""
        Y = self._by_features(k)
        described = self.problem.described()
        Y[described] = self._moved(Y[described])
        return {name: Y[at] for name, at in self.problem.numbers.items()}

    def move(self, pull: float) -> None:
        """Adjust the compared objects freely from their coordinates by features."""
        if self.order is None or self.flat is None:
            return
        local = np.searchsorted(self.objects, self.order.pairs)
        self.before = self._by_features(self.maps[0].shape[1])[self.objects]
        self.after = polish_map(self.before, local, self.order.weight, pull)

    def _moved(self, Y: Floats) -> Floats:
        """Move coordinates along with the adjusted objects near them."""
        if self.before is None or self.after is None:
            return Y
        return move_along(Y, self.before, self.after)

    def _by_features(self, k: int) -> Floats:
        problem = self.problem
        size = 1 + max(int(at.max(initial=0)) for at in problem.numbers.values())
        Y = np.full((size, k), np.nan)
        Y[problem.described()] = 0.0
        for view, B in zip(problem.views, self.maps, strict=True):
            Y[view.at] += view.places(view.raw, B)
        return Y

    def of_new(
        self, new: Mapping[str, NewRows], k: int, fitted: Mapping[str, Dataset]
    ) -> dict[str, Floats]:
        """Return coordinates of new rows by all views of the new or fitted rows."""
        coordinates: dict[str, Any] = {}
        is_joint = self.problem.name == JOINT_NAME
        for view, B in zip(self.problem.views, self.maps, strict=True):
            for name, rows in new.items():
                if not is_joint and view.name != name:
                    continue
                Y = view.places(view.new_raw(rows), B)
                for id, place in zip(rows.dataset.ids, Y, strict=True):
                    key = f"{name}\0{id}" if is_joint else id
                    coordinates[key] = coordinates.get(key, 0.0) + place
            if not is_joint:
                ids = list(dict.fromkeys(id for rows in new.values() for id in rows.dataset.ids))
                row = fitted[view.name].find(ids)
                fitted_ids = np.flatnonzero(row >= 0)
                Y = view.places(view.raw[row[fitted_ids]], B)
                for at, place in zip(fitted_ids.tolist(), Y, strict=True):
                    coordinates[ids[at]] = coordinates.get(ids[at], 0.0) + place
        if coordinates:
            moved = self._moved(np.array(list(coordinates.values())))
            coordinates = dict(zip(coordinates, moved, strict=True))
        nowhere = np.full(k, np.nan)
        return {
            name: np.array(
                [
                    coordinates.get(f"{name}\0{id}" if is_joint else id, nowhere)
                    for id in rows.dataset.ids
                ]
            ).reshape(-1, k)
            for name, rows in new.items()
        }

    def figures(self) -> dict[str, object]:
        """Return figures of the optimum, JSON-ready."""
        if self.flat is None:
            return {}
        tried = {"held_out_by_beta": self.tried} if self.tried else {}
        moved = {"held_out_by_pull": self.pulls} if self.pulls else {}
        return {**self.flat.figures(self.share_satisfied), **tried, **moved}

    def weights(self) -> tuple[dict[str, float], dict[str, dict[str, float]]]:
        """Return the share of each view in the optimum, and the weights of its columns."""
        if self.flat is None:
            return {}, {}
        by_view = self._by_view(self.flat.optimal)
        sizes = np.array([float((A**2).sum()) for A in by_view])
        shares = sizes / (sizes.sum() or 1.0)
        names = [view.name for view in self.problem.views]
        columns = {
            view.name: dict(column_weights(view, part, A, self.objects))
            for view, part, A in zip(self.problem.views, self.parts, by_view, strict=True)
        }
        return dict(zip(names, shares.tolist(), strict=True)), columns

    def share_satisfied(self, parts: list[Floats]) -> float:
        """Return the share of the comparisons that hold in a map of the objects."""
        if self.order is None:
            return float("nan")
        features = [part.features for part in self.parts]
        Y = sum(Phi @ A for Phi, A in zip(features, self._by_view(parts), strict=True))
        local = np.searchsorted(self.objects, self.order.pairs)
        return comparison_accuracy(np.asarray(Y), local, self.order.weight)
