"""All that describes the items of one entity: its views and its relations, rows aligned by id."""

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
    """The sources of one entity; row o of each describes its object o.

    Attributes
    ----------
    entity : str
    n_objects : int
    object_of : mapping of str to array of shape (n_v,)
        Object of each row of each dataset, featureless ones too.
    bases : mapping of str to Basis
        Of the datasets with features.
    graphs : mapping of str to csr_array of shape (n_objects, n_objects)
        What its links of each kind join, weights above 0 only; symmetric.
    """

    entity: str
    n_objects: int
    object_of: Mapping[str, Ints]
    bases: Mapping[str, Basis]
    graphs: Mapping[str, Sparse]

    def aligned(self, name: str) -> tuple[Matrix, Bools]:
        """Return the features of a dataset by object, zeros where absent, and who is present."""
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
    data: HeteroData,
    entity: str,
    features: str | Mapping[str, str] = "auto",
    random_state: int = 0,
) -> EntitySources:
    """Gather what describes the items of an entity.

    Parameters
    ----------
    data : HeteroData
    entity : str
    features, random_state
        See `hetviz.features.spaces.basis`.
    """
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
        good = group.weight > 0
        i, j = object_of[group.source][group.i[good]], object_of[group.target][group.j[good]]
        different = i != j
        entries = (group.weight[good][different], (i[different], j[different]))
        A = sp.csr_array(entries, shape=(n, n))
        if A.nnz:
            graphs[group.kind] = graphs.get(group.kind, sp.csr_array((n, n))) + A + A.T
    for A in graphs.values():
        A.data = np.minimum(A.data, 1.0)
    return EntitySources(entity, n, object_of, bases, graphs)


def guidance_pairs(data: HeteroData, sources: EntitySources) -> tuple[tuple[Ints, Ints], Floats]:
    """Return what people said of pairs of an entity's items.

    Returns
    -------
    pairs : two arrays of shape (m,)
        Objects of each pair, every pair once.
    signs : array of shape (m,)
        1 for together, -1 for apart; of links with role "guidance".
    """
    said: dict[tuple[int, int], float] = {}
    for group in data.links:
        if group.role != "guidance" or not {group.source, group.target} <= set(sources.object_of):
            continue
        i = sources.object_of[group.source][group.i]
        j = sources.object_of[group.target][group.j]
        for a, b, weight in zip(np.minimum(i, j), np.maximum(i, j), group.weight, strict=True):
            if a != b:
                said[int(a), int(b)] = said.get((int(a), int(b)), 0.0) + float(weight)
    settled = {pair: np.sign(weight) for pair, weight in said.items() if weight != 0}
    pairs = np.array(list(settled), dtype=np.int64).reshape(-1, 2)
    return (pairs[:, 0], pairs[:, 1]), np.array(list(settled.values()), dtype=np.float64)


def labelled_pairs(
    labels: Labels,
    sources: EntitySources,
    share: float,
    most: int,
    random_state: int,
) -> tuple[tuple[Ints, Ints], Floats]:
    """Return the pairs of a seeded sample of labelled items: together when the labels are equal.

    Parameters
    ----------
    labels : Labels
        Of a dataset of the entity.
    sources : EntitySources
    share : float
        Of the labelled items to draw.
    most : int
        Draw no more than this many.
    random_state : int

    Returns
    -------
    pairs, signs
        As from `guidance_pairs`.
    """
    known = np.flatnonzero(labels.known)
    count = min(max(round(share * len(known)), min(len(known), 2)), most)
    drawn = np.sort(np.random.default_rng(random_state).choice(known, count, replace=False))
    _, classes = np.unique([str(labels.values[row]) for row in drawn], return_inverse=True)
    a, b = np.triu_indices(count, 1)
    objects = sources.object_of[labels.dataset][drawn]
    signs = np.where(classes[a] == classes[b], 1.0, -1.0)
    return (objects[a], objects[b]), signs
