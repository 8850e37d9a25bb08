"""Stability of places over several maps."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hetviz._types import Bools, Floats
from hetviz.core.layout.procrustes import align
from hetviz.core.threads import one_thread
from hetviz.data import Embedding
from hetviz.errors import ParameterError
from hetviz.metrics.fit.rows import match_rows

_ROUNDS = 3


@one_thread()
def stability(embeddings: Sequence[Embedding]) -> Floats:
    """Return how stable the place of each row is over several maps.

    Returns (n_rows,): Rows of the first map: 1 if all maps agree, 0 if the places differ as much
        as those of two unrelated rows. NaN if fewer than two maps have a place.

    Generalised Procrustes analysis (Gower 1975): maps are scaled to one size and rotated to their
    mean three times. The value of a row is 1 - s / S, with the standard deviation s of its places
    and S of all places. O(maps n k^2).
    """
    maps = list(embeddings)
    if len(maps) < 2:
        raise ParameterError(f"stability: at least two maps are needed, but there are {len(maps)}.")
    if len({embedding.n_components for embedding in maps}) > 1:
        raise ParameterError("stability: the maps have different numbers of axes.")
    k = maps[0].n_components
    Y = np.stack(
        [
            np.vstack([*match_rows(maps[0].ids, embedding, embedding.coordinates, k).values()])
            for embedding in maps
        ]
    )
    has_place: Bools = np.asarray(np.isfinite(Y).all(axis=2), dtype=bool)
    shared: Bools = np.asarray(has_place.all(axis=0), dtype=bool)
    if shared.sum() < 2:
        shared = np.asarray(has_place.any(axis=0), dtype=bool)
    for places in Y:
        places -= np.nanmean(places[shared], axis=0)
        size = np.sqrt(np.nanmean((places[shared] ** 2).sum(axis=1)))
        places /= size if size > 0 else 1.0
    mean = Y[0]
    for _ in range(_ROUNDS):
        Y = np.stack(
            [
                align(embedding, np.where(shared[:, None], mean, np.nan), scale=False)(embedding)
                for embedding in Y
            ]
        )
        total = np.where(has_place[:, :, None], Y, 0.0).sum(axis=0)
        n_maps = has_place.sum(axis=0)
        mean = total / np.maximum(n_maps, 1)[:, None]
    squared_deviation = np.where(has_place, ((Y - mean) ** 2).sum(axis=2), 0.0).sum(axis=0)
    spread = np.sqrt(squared_deviation / np.maximum(n_maps - 1, 1))
    # All maps have size 1 here.
    return np.where(n_maps > 1, np.clip(1.0 - spread, 0.0, 1.0), np.nan)
