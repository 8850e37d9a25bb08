"""Sources of one entity: its views and its links, with rows aligned by id."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from hetviz._types import Bools, Floats, Ints, Matrix, Sparse, is_sparse
from hetviz.data import HeteroData, Labels
from hetviz.features.spaces.basis import Basis, chosen_kind, fit_basis


@dataclass(frozen=True, eq=False)
class EntitySources:
    """Sources of one entity; row o of each source describes object o."""

    entity: str
    n_objects: int
    object_of: Mapping[str, Ints]
    bases: Mapping[str, Basis]
    graphs: Mapping[str, Sparse]

    def aligned(self, name: str) -> tuple[Matrix, Bools]:
        """Return the features of a dataset by object, 0 if absent, and a mask of present ones."""
        X = self.bases[name].matrix
        rows = self.object_of[name]
        present = np.zeros(self.n_objects, dtype=bool)
        present[rows] = True
        if is_sparse(X):
            place = (np.ones(len(rows)), (rows, np.arange(len(rows))))
            return sp.csr_array(place, shape=(self.n_objects, len(rows))) @ X, present
        out = np.zeros((self.n_objects, X.shape[1]))
        out[rows] = X
        return out, present


def entity_sources(
    data: HeteroData, entity: str, features: str | Mapping[str, str] = "auto", random_state: int = 0
) -> EntitySources:
    """Return the sources of an entity."""
    names = data.views(entity)
    numbers = np.concatenate([data.object_of[data.offsets[name]] for name in names])
    objects = np.unique(numbers)
    object_of = {
        name: np.searchsorted(objects, data.object_of[data.offsets[name]]) for name in names
    }
    bases = {}
    for name in names:
        kind = chosen_kind(data[name], features)
        if kind != "featureless" and not data[name].is_featureless:
            bases[name] = fit_basis(data[name], kind, random_state)
    graphs: dict[str, Sparse] = {}
    n = len(objects)
    for group in data.links:
        if group.source not in names or group.target not in names:
            continue
        positive = group.weight > 0
        i, j = (
            object_of[group.source][group.i[positive]],
            object_of[group.target][group.j[positive]],
        )
        distinct = i != j
        entries = (group.weight[positive][distinct], (i[distinct], j[distinct]))
        A = sp.csr_array(entries, shape=(n, n))
        if A.nnz:
            graphs[group.kind] = graphs.get(group.kind, sp.csr_array((n, n))) + A + A.T
    for A in graphs.values():
        A.data = np.minimum(A.data, 1.0)
    return EntitySources(entity, n, object_of, bases, graphs)


def guidance_pairs(data: HeteroData, sources: EntitySources) -> tuple[tuple[Ints, Ints], Floats]:
    """Return the pairs of objects of an entity with guidance."""
    weights: dict[tuple[int, int], float] = {}
    for group in data.links:
        if group.role != "guidance" or not {group.source, group.target} <= set(sources.object_of):
            continue
        i = sources.object_of[group.source][group.i]
        j = sources.object_of[group.target][group.j]
        for a, b, weight in zip(np.minimum(i, j), np.maximum(i, j), group.weight, strict=True):
            if a != b:
                weights[int(a), int(b)] = weights.get((int(a), int(b)), 0.0) + float(weight)
    signed = {pair: np.sign(weight) for pair, weight in weights.items() if weight != 0}
    pairs = np.array(list(signed), dtype=np.int64).reshape(-1, 2)
    return (pairs[:, 0], pairs[:, 1]), np.array(list(signed.values()), dtype=np.float64)


def labelled_pairs(
    labels: Labels, sources: EntitySources, share: float, max_items: int, random_state: int
) -> tuple[tuple[Ints, Ints], Floats]:
    """Return the pairs of a seeded sample of labelled items: together if the labels are equal."""
    labelled_rows = np.flatnonzero(labels.known)
    count = min(max(round(share * len(labelled_rows)), min(len(labelled_rows), 2)), max_items)
    drawn = np.sort(np.random.default_rng(random_state).choice(labelled_rows, count, replace=False))
    _, classes = np.unique([str(labels.values[row]) for row in drawn], return_inverse=True)
    a, b = np.triu_indices(count, 1)
    objects = sources.object_of[labels.dataset][drawn]
    signs = np.where(classes[a] == classes[b], 1.0, -1.0)
    return (objects[a], objects[b]), signs
