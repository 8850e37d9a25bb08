"""Parts of clusters, with names."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hetviz._types import Floats, Ints
from hetviz.core.clustering.partition import partition
from hetviz.core.clustering.partition_choice import silhouette_of
from hetviz.runs.cluster.cards import cluster_names
from hetviz.runs.cluster.contrast import Contrasts

_MAX_PARTS = 4
_MIN_PART_SIZE = 20
_MIN_PARTS = 2


@dataclass(frozen=True, eq=False)
class PartName:
    """Name, cluster code and global rows of a part of a cluster."""

    name: str
    cluster: int
    rows: Ints


def split_cluster(
    contrasts: Contrasts, Y: Floats, codes: Ints, cluster: int, k: int | None = None
) -> tuple[Ints, list[str]]:
    """Split a cluster by k-means on the map into k parts, or 2 to 4 by the best silhouette.

    Returns the part of each row (-1 outside the cluster; members without a place are in the
    largest) and the names of the parts. A cluster at a single spot stays one part.
    """
    members = codes == cluster
    placed = np.flatnonzero(members & np.isfinite(Y).all(axis=1))
    parts = np.full(len(codes), -1)
    parts[members] = 0
    partitions = [partition(Y[placed], "k-means", size) for size in ([k] if k else range(2, 5))]
    if len(placed) >= _MIN_PARTS:
        silhouettes = [
            np.nan_to_num(silhouette_of(Y[placed], labels), nan=-1.0) for labels in partitions
        ]
        parts[placed] = partitions[int(np.argmax(silhouettes))]
    n_parts = int(parts.max(initial=0)) + 1
    return parts, cluster_names(contrasts, parts, n_parts, members)


def part_names(
    contrasts: Contrasts, Y: Floats, codes: Ints, names: tuple[str, ...]
) -> list[PartName]:
    """Return named parts of clusters, one for 20 members and two to four of each cluster.

    Parts without a difference to their cluster are left out.
    """
    parts_of_all: list[PartName] = []
    placed = np.isfinite(Y).all(axis=1)
    for cluster in range(len(names)):
        rows = np.flatnonzero(placed & (codes == cluster))
        k = min(len(rows) // _MIN_PART_SIZE, _MAX_PARTS)
        if k < _MIN_PARTS:
            continue
        parts = np.full(len(codes), -1)
        parts[rows] = partition(Y[rows], "k-means", k)
        n_parts = int(parts.max()) + 1
        part_titles = cluster_names(contrasts, parts, n_parts, parts >= 0, names)
        parts_of_all += [
            PartName(name, cluster, np.flatnonzero(parts == part))
            for part, name in enumerate(part_titles)
            if name != f"Cluster {part + 1}" and name not in names
        ]
    return parts_of_all
