"""Parts of clusters: one split in two to four, and names for the parts of all."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hetviz._types import Floats, Ints
from hetviz.core.clustering.partition import partition
from hetviz.core.clustering.partition_choice import silhouette_of
from hetviz.runs.cluster.cards import cluster_names
from hetviz.runs.cluster.contrast import Contrasts

_MOST_PARTS = 4
_A_PART = 20
_LEAST_SPLIT = 2


@dataclass(frozen=True, eq=False)
class PartName:
    """What a part of a cluster is.

    Attributes
    ----------
    name : str
    cluster : int
        Its code.
    rows : array of int
        Global.
    """

    name: str
    cluster: int
    rows: Ints


def split(
    contrasts: Contrasts, Y: Floats, codes: Ints, cluster: int, k: int | None = None
) -> tuple[Ints, list[str]]:
    """Split a cluster by k-means on the map.

    Parameters
    ----------
    contrasts : Contrasts
    Y : array of shape (n_rows, 2)
    codes : array of int, shape (n_rows,)
    cluster : int
        The code of the one to split.
    k : int, optional
        How many parts; of 2 to 4 the number of the best silhouette when absent.

    Returns
    -------
    parts : array of int, shape (n_rows,)
        Part of each member, -1 for all other rows; members without a place are in the largest.
    names : list of str
        Of the parts, by what sets each apart from the others; one alone where all lie at one place.
    """
    mine = codes == cluster
    placed = np.flatnonzero(mine & np.isfinite(Y).all(axis=1))
    parts = np.full(len(codes), -1)
    parts[mine] = 0
    found = [partition(Y[placed], "k-means", size) for size in ([k] if k else range(2, 5))]
    if len(placed) >= _LEAST_SPLIT:
        apart = [np.nan_to_num(silhouette_of(Y[placed], one), nan=-1.0) for one in found]
        parts[placed] = found[int(np.argmax(apart))]
    n_parts = int(parts.max(initial=0)) + 1
    return parts, cluster_names(contrasts, parts, n_parts, mine)


def part_names(
    contrasts: Contrasts, Y: Floats, codes: Ints, names: tuple[str, ...]
) -> list[PartName]:
    """Name the parts of clusters, for a second look: a part for 20 members, two to four of them.

    Parts that nothing sets apart from their cluster have no name.
    """
    found: list[PartName] = []
    placed = np.isfinite(Y).all(axis=1)
    for cluster in range(len(names)):
        rows = np.flatnonzero(placed & (codes == cluster))
        k = min(len(rows) // _A_PART, _MOST_PARTS)
        if k < _LEAST_SPLIT:
            continue
        parts = np.full(len(codes), -1)
        parts[rows] = partition(Y[rows], "k-means", k)
        n_parts = int(parts.max()) + 1
        called = cluster_names(contrasts, parts, n_parts, parts >= 0, words_only=True)
        found += [
            PartName(name, cluster, np.flatnonzero(parts == part))
            for part, name in enumerate(called)
            if name != f"Cluster {part + 1}" and name not in names
        ]
    return found
