"""Comparisons of several datasets as problems of their own: one for each entity, or one for all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hetviz._types import Floats, Ints
from hetviz.core.ordinal.partial_order import PartialOrder, partial_order
from hetviz.data import HeteroData
from hetviz.data.model.out_of_sample import NewRows
from hetviz.features.relations.compared import View, scaled_view, view_of
from hetviz.features.spaces.basis import fit_basis
from hetviz.features.spaces.projection import Projection, guidance_of, project
from hetviz.params import value_for

JOINED = "all datasets, joined by their links"
JOINED_AXES = 30


@dataclass(frozen=True, eq=False)
class Problem:
    """Comparisons among the objects of some datasets, and the views of these objects.

    Attributes
    ----------
    name : str
        The entity, or `JOINED`.
    numbers : mapping of str to ndarray of shape (n,)
        Object that each row shows, by dataset.
    views : tuple of View
    rows : ndarray of shape (m,)
        Rows of ``data.comparisons`` that belong here.
    pairs : ndarray of shape (m, 4)
        The same as objects.
    weight : ndarray of shape (m,)
    """

    name: str
    numbers: Mapping[str, Ints]
    views: tuple[View, ...]
    rows: Ints
    pairs: Ints
    weight: Floats

    def ordered(self, **options: Any) -> PartialOrder:
        """Return the partial order of its comparisons, see `partial_order`."""
        return partial_order(self.pairs, self.weight, **options)

    def described(self) -> Ints:
        """Return the objects that some view has, in order."""
        return np.unique(np.concatenate([view.at for view in self.views]))

    def known(self) -> Problem:
        """Return the problem with the comparisons of described objects only."""
        kept = np.isin(self.pairs, self.described()).all(axis=1)
        return replace(self, rows=self.rows[kept], pairs=self.pairs[kept], weight=self.weight[kept])


def by_entity(
    data: HeteroData,
    features: str | Mapping[str, str] = "auto",
    weights: float | Mapping[str, float] = 1.0,
    random_state: int = 0,
) -> list[Problem]:
    """Return one problem for each entity that has comparisons and a view.

    Parameters
    ----------
    data : HeteroData
        With comparisons.
    features : str or mapping of str to str
        Kind of each view, see `hetviz.features.relations.compared.VIEW_KINDS`.
    weights : float or mapping of str to float
        Factor of the kernel of each view; 0 leaves it out.
    random_state : int

    Returns
    -------
    list of Problem
        A comparison belongs to the entity of all four of its ends; those of different entities
        belong nowhere.
    """
    found = []
    for entity, rows in entity_rows(data).items():
        numbers = {name: data.object_of[data.offsets[name]] for name in data.views(entity)}
        views = tuple(
            view_of(
                data[name],
                value_for(features, name, "auto"),
                weight,
                at,
                random_state,
            )
            for name, at in numbers.items()
            if not data[name].is_featureless
            and (weight := weights.get(name, 1.0) if isinstance(weights, Mapping) else 1.0) > 0
        )
        if views and len(rows):
            found.append(_problem(data, entity, numbers, views, rows, data.object_of))
    return found


@dataclass(frozen=True, eq=False)
class _OfProjection:
    """Places of new rows on the axes of a guided projection."""

    projection: Projection

    def __call__(self, rows: NewRows) -> Any:
        return self.projection.place({rows.dataset.name: rows})[rows.dataset.name]


def joined(data: HeteroData, random_state: int = 0) -> Problem:
    """Return one problem of all datasets, by features that their links make comparable.

    Every row is an object, described by its place on up to 30 axes of a guided projection, wider
    where linked rows agree more; rows that no link or feature places are not described.

    Raises
    ------
    hetviz.errors.NotApplicableError
        When the links leave no axis.
    """
    bases = {name: fit_basis(dataset) for name, dataset in data.datasets.items()}
    projection = project(
        bases,
        guidance_of(data),
        title="Joining the datasets by their links",
        n_components=JOINED_AXES,
        gamma=0.1,
        spread=1.0,
        random_state=random_state,
    )
    numbers = {name: np.arange(rows.start, rows.stop) for name, rows in data.offsets.items()}
    places = np.vstack(list(projection.coordinates.values()))
    placed = np.flatnonzero(np.isfinite(places).all(axis=1))

    labels = [f"axis {axis + 1}" for axis in range(places.shape[1])]
    view = scaled_view(JOINED, "linear", places[placed], placed, labels, _OfProjection(projection))
    everything = np.arange(0 if data.comparisons is None else len(data.comparisons))
    own = np.arange(data.n_rows)
    return _problem(data, JOINED, numbers, (view,), everything, own)


def all_compared(data: HeteroData) -> tuple[Ints, Ints, Floats]:
    """Return the objects in any comparison, whatever they are, and the comparisons among these.

    Returns
    -------
    objects : ndarray of shape (n,)
        Numbers of objects (``data.object_of``), in order.
    pairs : ndarray of shape (m, 4)
        Places in `objects`.
    weight : ndarray of shape (m,)
    """
    if data.comparisons is None:
        return np.zeros(0, np.int64), np.zeros((0, 4), np.int64), np.zeros(0)
    pairs = data.object_of[data.comparisons.pairs]
    objects, local = np.unique(pairs, return_inverse=True)
    return objects, local.reshape(-1, 4), data.comparisons.weight


def spread_over(data: HeteroData, objects: Ints, Y: Floats) -> dict[str, Floats]:
    """Return places of objects as places of all rows, by dataset; NaN for other objects."""
    out = np.full((data.n_objects, Y.shape[1]), np.nan)
    out[objects] = Y
    return {name: out[data.object_of[rows]] for name, rows in data.offsets.items()}


def entity_rows(data: HeteroData) -> dict[str, Ints]:
    """Return the rows of ``data.comparisons`` whose ends all belong to one entity, by entity."""
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
    views: tuple[View, ...],
    rows: Ints,
    object_of: Ints,
) -> Problem:
    compared = data.comparisons
    if compared is None:
        return Problem(name, numbers, views, rows, np.zeros((0, 4), np.int64), np.zeros(0))
    pairs = object_of[compared.pairs[rows]]
    return Problem(name, numbers, views, rows, pairs, compared.weight[rows]).known()
