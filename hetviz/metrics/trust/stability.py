"""How much each item moves when the same map is made again."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hetviz._types import Bools, Floats
from hetviz.core.layout.procrustes import align
from hetviz.core.threads import one_thread
from hetviz.data import Embedding
from hetviz.errors import ParameterError

_ROUNDS = 3


@one_thread()
def stability(embeddings: Sequence[Embedding]) -> Floats:
    """Say of each row how much its place stays the same over several maps.

    Parameters
    ----------
    embeddings : sequence of Embedding
        At least two, of the same data (other seeds, other methods), with as many axes. Rows are
        matched to those of the first by dataset and id.

    Returns
    -------
    array of shape (n_rows,)
        Rows of the first map: 1 where all maps agree, 0 where the places differ as much as those
        of two unrelated rows; NaN where fewer than two maps have a place.

    Raises
    ------
    hetviz.errors.ParameterError
        For fewer than two maps, or other numbers of axes.

    Notes
    -----
    The maps are brought to one size and turned (orthogonal Procrustes) to lie over their mean,
    three times (Gower 1975). A row's value is 1 - s / S: s is the standard deviation of its places,
    S that of all places. O(maps n k^2).
    """
    maps = list(embeddings)
    if len(maps) < 2:
        raise ParameterError(f"stability: {len(maps)} maps; at least two are needed.")
    if len({embedding.n_components for embedding in maps}) > 1:
        raise ParameterError("stability: the maps have different numbers of axes.")
    Y = np.stack([_matched(maps[0], embedding) for embedding in maps])
    counted: Bools = np.asarray(np.isfinite(Y).all(axis=2), dtype=bool)
    shared: Bools = np.asarray(counted.all(axis=0), dtype=bool)
    if shared.sum() < 2:
        shared = np.asarray(counted.any(axis=0), dtype=bool)
    for embedding in Y:
        embedding -= np.nanmean(embedding[shared], axis=0)
        size = np.sqrt(np.nanmean((embedding[shared] ** 2).sum(axis=1)))
        embedding /= size if size > 0 else 1.0
    mean = Y[0]
    for _ in range(_ROUNDS):
        Y = np.stack(
            [
                align(embedding, np.where(shared[:, None], mean, np.nan), scale=False)(embedding)
                for embedding in Y
            ]
        )
        total = np.where(counted[:, :, None], Y, 0.0).sum(axis=0)
        times = counted.sum(axis=0)
        mean = total / np.maximum(times, 1)[:, None]
    apart = np.where(counted, ((Y - mean) ** 2).sum(axis=2), 0.0).sum(axis=0)
    spread = np.sqrt(apart / np.maximum(times - 1, 1))
    # every map has size 1 by now
    return np.where(times > 1, np.clip(1.0 - spread, 0.0, 1.0), np.nan)


def _matched(first: Embedding, other: Embedding) -> Floats:
    """Return the places of the rows of `first` on another map."""
    found = []
    for name, ids in first.ids.items():
        Y = np.full((len(ids), first.n_components), np.nan)
        if name in other.coordinates:
            row_of = {text: row for row, text in enumerate(other.ids[name])}
            rows = np.array([row_of.get(text, -1) for text in ids], dtype=np.int64)
            Y[rows >= 0] = other.coordinates[name][rows[rows >= 0]]
        found.append(Y)
    return np.vstack(found)
