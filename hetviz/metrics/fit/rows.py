"""Where the rows of some data lie in an embedding, matched by dataset and id."""

from __future__ import annotations

import numpy as np

from hetviz._types import Floats
from hetviz.data import Embedding, HeteroData


def coordinates_of(data: HeteroData, embedding: Embedding) -> dict[str, Floats]:
    """Return the coordinates of each row of `data`, {dataset: (n_i, k)}; NaN where it has none."""
    out: dict[str, Floats] = {}
    for name, dataset in data.datasets.items():
        Y = np.full((len(dataset), embedding.n_components), np.nan)
        if name in embedding.coordinates:
            known = embedding.ids[name]
            if np.array_equal(known, dataset.ids):
                Y = np.array(embedding.coordinates[name])
            else:
                row_of = {text: row for row, text in enumerate(known)}
                rows = np.array([row_of.get(text, -1) for text in dataset.ids])
                Y[rows >= 0] = embedding.coordinates[name][rows[rows >= 0]]
        out[name] = Y
    return out
