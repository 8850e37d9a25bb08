"""Coordinates of the rows of data in an embedding, matched by dataset and id."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from hetviz._types import Floats
from hetviz.data import Embedding, HeteroData


def coordinates_of(data: HeteroData, embedding: Embedding) -> dict[str, Floats]:
    """Return the coordinates of the rows of `data`, {dataset: (n_i, k)}. NaN without a place."""
    return _match_rows(data, embedding, embedding.coordinates, embedding.n_components)


def drawn_of(data: HeteroData, embedding: Embedding) -> dict[str, Floats] | None:
    """Return `Embedding.drawn` for the rows of `data`, {dataset: (n_i, 2)}, or None."""
    return None if embedding.drawn is None else _match_rows(data, embedding, embedding.drawn, 2)


def _match_rows(
    data: HeteroData, embedding: Embedding, places: Mapping[str, Floats], k: int
) -> dict[str, Floats]:
    out: dict[str, Floats] = {}
    for name, dataset in data.datasets.items():
        Y = np.full((len(dataset), k), np.nan)
        if name in places:
            embedding_ids = embedding.ids[name]
            if np.array_equal(embedding_ids, dataset.ids):
                Y = np.array(places[name])
            else:
                row_of = {text: row for row, text in enumerate(embedding_ids)}
                rows = np.array([row_of.get(text, -1) for text in dataset.ids], dtype=np.int64)
                Y[rows >= 0] = places[name][rows[rows >= 0]]
        out[name] = Y
    return out


def has_same_rows(data: HeteroData, other: HeteroData) -> bool:
    """Whether two data have the same datasets with the same rows in the same order."""
    return list(data.datasets) == list(other.datasets) and all(
        np.array_equal(data[name].ids, other[name].ids) for name in data.datasets
    )
