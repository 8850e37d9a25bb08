"""Neighbourhoods: whether items near in the data stay near on the map, and only they."""

from __future__ import annotations

import numpy as np

from hetviz.core.graph.neighbors import (
    Preservation,
    Rows,
    distance_rows,
    euclidean_rows,
    kernel_rows,
    preservation,
)
from hetviz.data import Dataset, Embedding, HeteroData
from hetviz.metrics.fit.rows import coordinates_of


def neighborhoods(
    data: HeteroData, embedding: Embedding, n_neighbors: int = 10, random_state: int = 0
) -> dict[str, Preservation]:
    """Return trustworthiness and continuity within each dataset that has features.

    Parameters
    ----------
    data : HeteroData
    embedding : Embedding
    n_neighbors : int
    random_state : int
        Seeds the queries, which are sampled above 2,500 rows.

    Returns
    -------
    dict of str to Preservation
        Datasets without features, or with fewer than 4 placed rows, are absent.
    """
    found = {}
    for name, Y in coordinates_of(data, embedding).items():
        rows = dissimilarities(data[name])
        if rows is None:
            continue
        kept = preservation(rows, Y, n_neighbors=n_neighbors, random_state=random_state)
        if np.isfinite(kept.trustworthiness):
            found[name] = kept
    return found


def dissimilarities(dataset: Dataset) -> Rows | None:
    """Serve the dissimilarities of a dataset's rows; None where nothing tells them apart."""
    square = (len(dataset), len(dataset))
    if dataset.X is not None:
        return euclidean_rows(dataset.X)
    # new rows know their distances to fitted rows, and not to each other
    if dataset.distance is not None and dataset.distance.shape == square:
        return distance_rows(dataset.distance)
    if dataset.kernel is not None and dataset.kernel.shape == square:
        return kernel_rows(dataset.kernel)
    return None
