"""Joint graph: affinities within each dataset, and all links."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import scipy.sparse as sp

from hetviz._types import Sparse
from hetviz.core.graph.joint import JointGraph, LinkBlock
from hetviz.core.graph.laplacian import SignedGraph
from hetviz.core.graph.neighbors import neighbor_graph
from hetviz.data import Dataset, HeteroData
from hetviz.data.model.views import with_identity_links
from hetviz.features.spaces.basis import Basis
from hetviz.features.spaces.projection import guidance_of
from hetviz.params import value_for
from hetviz.progress import Progress, ProgressPart

AffinityFunction = Callable[[Dataset, Progress], Sparse | None]
"""Function that returns the affinities of a dataset, (n, n), or None, and reports progress."""

GRAPHS = {
    "both": "items with similar features, and linked items",
    "neighbors": "items with similar features",
    "links": "linked items",
}


def joint_graph(
    data: HeteroData,
    near: AffinityFunction,
    progress: Progress,
    tie_views: bool = True,
    weights: float | Mapping[str, float] = 1.0,
) -> JointGraph:
    """Return the joint graph of affinities within datasets and all links."""
    linked = with_identity_links(data) if tie_views else data
    signed = SignedGraph.split(linked.adjacency())
    blocks = _affinity_blocks(data, near, progress)
    sizes = tuple(len(dataset) for dataset in data.datasets.values())
    factors = tuple(float(value_for(weights, name, 1.0)) for name in data.datasets)
    links = link_blocks(linked, factors)
    return JointGraph(sizes, blocks, signed.positive, signed.negative, links, factors)


def link_blocks(data: HeteroData, weights: Sequence[float]) -> tuple[LinkBlock, ...]:
    """Return all links, one block per kind and pair of datasets with positive weight."""
    order = {name: place for place, name in enumerate(data.datasets)}
    parts: dict[tuple[int, int, str], list[Sparse]] = {}
    for group in data.links:
        a, b = order[group.source], order[group.target]
        nonzero = group.weight != 0
        ends = (group.i[nonzero], group.j[nonzero])
        if a > b:
            a, b, ends = b, a, ends[::-1]
        if a == b:
            ends = (np.minimum(*ends), np.maximum(*ends))
        shape = (len(data[group.source]), len(data[group.target]))
        shape = shape if order[group.source] == a else shape[::-1]
        W = sp.csr_array((group.weight[nonzero], ends), shape=shape)
        parts.setdefault((a, b, group.kind), []).append(W)
    blocks = []
    for (a, b, kind), group_parts in parts.items():
        W = group_parts[0]
        for further in group_parts[1:]:
            W = sp.csr_array(W + further)
        W.data = np.clip(W.data, -1.0, 1.0)
        W.eliminate_zeros()
        strength = float(np.sqrt(weights[a] * weights[b]))
        if W.nnz and strength > 0:
            blocks.append(LinkBlock(a, b, W, kind, strength))
    return tuple(blocks)


def neighborhood_graph(
    data: HeteroData,
    bases: Mapping[str, Basis],
    graph: str,
    n_neighbors: int,
    heat: bool,
    random_state: int,
    progress: Progress,
) -> Sparse:
    """Return the neighbourhood graph within each dataset, by features, links, or both."""
    empty = sp.csr_array((data.n_rows, data.n_rows))
    links = empty
    if graph != "neighbors":
        links = guidance_of(data, sign=1, tie_views=False, between=False)
    if graph == "links":
        return links

    def near(dataset: Dataset, progress: Progress) -> Sparse | None:
        X = bases[dataset.name].features
        if isinstance(X, int):
            return None
        return neighbor_graph(
            X, n_neighbors, heat=heat, random_state=random_state, progress=progress
        )

    sizes = tuple(len(dataset) for dataset in data.datasets.values())
    blocks = _affinity_blocks(data, near, ProgressPart(progress, 0.6, 0.8))
    A = sp.csr_array(links + JointGraph(sizes, blocks, links, empty).near())
    A.data = np.minimum(A.data, 1.0)
    return A


def _affinity_blocks(
    data: HeteroData, near: AffinityFunction, progress: Progress
) -> tuple[Sparse | None, ...]:
    blocks = []
    for step, (name, dataset) in enumerate(data.datasets.items()):
        share = ProgressPart(progress, step / len(data.datasets), (step + 1) / len(data.datasets))
        share(0.0, f"Neighbours in {name}")
        blocks.append(near(dataset, share))
    return tuple(blocks)
