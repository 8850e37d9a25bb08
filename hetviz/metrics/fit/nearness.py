"""How far a map keeps each single thing that was said, row by row."""

from __future__ import annotations

import numpy as np

from hetviz._types import Floats, Ints
from hetviz.core.measures.satisfaction import distance_percentiles
from hetviz.data import Embedding, HeteroData
from hetviz.metrics.fit.rows import coordinates_of


def link_nearness(data: HeteroData, embedding: Embedding, random_state: int = 0) -> Floats:
    """Return how near the ends of each link lie, among all pairs that could be linked.

    Returns
    -------
    array of shape (m,)
        In the order of ``data.link_table()``: the share of candidate pairs of the two datasets
        that lie farther apart, equally far pairs counted half. 1 is nearest; NaN where an end has
        no place.

    Raises
    ------
    hetviz.errors.DataError
        If the embedding lacks a dataset or row of the data.

    Notes
    -----
    One ranking for each pair of datasets that links join: exact to 20,000,000 candidate pairs,
    sampled above.
    """
    Y = coordinates_of(data, embedding)
    starts = np.cumsum([0, *(len(links) for links in data.links)])
    out = np.full(int(starts[-1]), np.nan)
    blocks: dict[tuple[str, str], list[tuple[Ints, Ints, int]]] = {}
    order = {name: position for position, name in enumerate(data.datasets)}
    for links, start in zip(data.links, starts, strict=False):
        if order[links.source] <= order[links.target]:
            blocks.setdefault((links.source, links.target), []).append(
                (links.i, links.j, int(start))
            )
        else:
            blocks.setdefault((links.target, links.source), []).append(
                (links.j, links.i, int(start))
            )
    for (source, target), parts in blocks.items():
        ranked = distance_percentiles(
            Y[source],
            np.concatenate([i for i, _, _ in parts]),
            np.concatenate([j for _, j, _ in parts]),
            None if source == target else Y[target],
            random_state=random_state,
        ).values
        at = 0
        for i, _, start in parts:
            out[start : start + len(i)] = 1.0 - ranked[at : at + len(i)]
            at += len(i)
    return out


def comparison_nearness(data: HeteroData, embedding: Embedding) -> Floats:
    """Return how clearly the map agrees with each comparison.

    Returns
    -------
    array of shape (t,)
        d(far) / (d(near) + d(far)): above one half the map agrees, 1 is clearest; one half where
        both distances are 0; NaN where an item has no place.

    Raises
    ------
    hetviz.errors.DataError
        If the embedding lacks a dataset or row of the data.
    """
    if data.comparisons is None or not len(data.comparisons):
        return np.zeros(0)
    Y = np.vstack(list(coordinates_of(data, embedding).values()))
    a, b, c, d = data.comparisons.pairs.T
    near = np.linalg.norm(Y[a] - Y[b], axis=1)
    far = np.linalg.norm(Y[c] - Y[d], axis=1)
    both = near + far
    return np.where(both == 0, 0.5, far / np.where(both == 0, 1.0, both))
