"""Coordinates of the rows of data in an embedding, matched by dataset and id."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from hetviz._types import Floats, Texts
from hetviz.data import Embedding, HeteroData
from hetviz.errors import check_type


def coordinates_of(data: HeteroData, embedding: Embedding) -> dict[str, Floats]:
    """Return the coordinates of the rows of `data`, {dataset: (n_i, k)}. NaN without a place."""
    check_type(embedding, Embedding, "embedding")
    return match_rows(_ids(data), embedding, embedding.coordinates, embedding.n_components)


def drawn_of(data: HeteroData, embedding: Embedding) -> dict[str, Floats] | None:
    """Return `Embedding.drawn` for the rows of `data`, {dataset: (n_i, 2)}, or None."""
    drawn = embedding.drawn
    return None if drawn is None else match_rows(_ids(data), embedding, drawn, 2)


def _ids(data: HeteroData) -> dict[str, Texts]:
    check_type(data, HeteroData, "data")
    return {name: dataset.ids for name, dataset in data.datasets.items()}


def match_rows(
    ids: Mapping[str, Texts], embedding: Embedding, places: Mapping[str, Floats], k: int
) -> dict[str, Floats]:
    """Return the places (n_i, k) of an embedding for rows with some ids. NaN without a place."""
    out: dict[str, Floats] = {}
    for name, row_ids in ids.items():
        Y = np.full((len(row_ids), k), np.nan)
        if name in places:
            embedding_ids = embedding.ids[name]
            if np.array_equal(embedding_ids, row_ids):
                Y = np.array(places[name])
            else:
                row_of = {text: row for row, text in enumerate(embedding_ids)}
                rows = np.array([row_of.get(text, -1) for text in row_ids], dtype=np.int64)
                Y[rows >= 0] = places[name][rows[rows >= 0]]
        out[name] = Y
    return out


def has_same_rows(data: HeteroData, other: HeteroData) -> bool:
    """Whether two data have the same datasets with the same rows in the same order."""
    return list(data.datasets) == list(other.datasets) and all(
        np.array_equal(data[name].ids, other[name].ids) for name in data.datasets
    )
