"""Displacements of items between two maps after alignment."""

from __future__ import annotations

import numpy as np

from hetviz._types import Floats
from hetviz.core.layout.spread import aligned_distances, extent
from hetviz.data import Embedding
from hetviz.errors import HetvizError


def displacements(before: Embedding, after: Embedding) -> Floats:
    """Return how far each item moved between two maps, as a share of the extent of the map.

    Returns (n_rows,): In global row order. NaN for items without a place on either map. The
        earlier map is aligned (rotation, reflection, scale, shift) to the later one, first by all
        items and then by the four fifths with the best fit, so that moved items do not affect the
        alignment. The extent is the longer side of the bounding box of the later map.
    """
    if {name: len(Y) for name, Y in before.coordinates.items()} != {
        name: len(Y) for name, Y in after.coordinates.items()
    }:
        raise HetvizError("Two maps can only be compared if they have the same rows.")
    A = np.vstack([before.coordinates[name] for name in after.coordinates])
    B = np.vstack(list(after.coordinates.values()))
    k = min(A.shape[1], B.shape[1])
    A, B = A[:, :k], B[:, :k]
    return aligned_distances(A, B) / extent(B)
