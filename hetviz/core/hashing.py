"""Hashes of ids that are the same in every process and on every machine."""

from __future__ import annotations

import numpy as np

from hetviz._types import Array
from hetviz.core.compiled import compiled


@compiled
def hash_texts(offsets: Array, content: Array, out: Array) -> None:
    """Fill out (n,) with FNV-1a of texts, text i being content[offsets[i]:offsets[i + 1]]."""
    for i in range(len(out)):
        h = np.uint64(14695981039346656037)
        for at in range(offsets[i], offsets[i + 1]):
            h = (h ^ np.uint64(content[at])) * np.uint64(1099511628211)
        # The last bits of short texts differ little.
        out[i] = h ^ (h >> np.uint64(32))


def hash_numbers(values: Array) -> Array:
    """Return splitmix64 of whole numbers."""
    z = values.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))
