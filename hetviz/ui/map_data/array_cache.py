"""Caches of arrays for the browser and of results that depend on the data."""

from __future__ import annotations

import gzip
import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from hetviz._types import Array
from hetviz.memo import Memo

MAX_SESSION_BYTES = 96_000_000
MAX_TOTAL_BYTES = 768_000_000
# Smaller arrays are not worth compressing.
MIN_GZIP_BYTES = 64_000
_MAX_RESULTS = 64

ArrayType = Literal["<f4", "<i4", "|i1", "|u1"]


@dataclass(frozen=True, eq=False)
class PackedArray:
    """An array for the browser: little-endian bytes with the hash of their content."""

    key: str  # 32 hex digits
    kind: ArrayType  # NumPy type of the entries
    content: bytes

    @classmethod
    def pack(cls, array: Array, kind: ArrayType) -> PackedArray:
        """Return `array` in the given little-endian type."""
        content = np.ascontiguousarray(array, dtype=np.dtype(kind)).tobytes()
        digest = hashlib.blake2b(content, digest_size=16, person=kind.encode())
        return cls(digest.hexdigest(), kind, content)

    @cached_property
    def gzipped(self) -> bytes | None:
        """The compressed content, or None if compression saves less than a quarter."""
        if len(self.content) < MIN_GZIP_BYTES:
            return None
        # A probe is enough: coordinates hardly compress.
        probe = self.content[:MIN_GZIP_BYTES]
        if len(gzip.compress(probe, 1)) > 0.75 * len(probe):
            return None
        return gzip.compress(self.content, 4, mtime=0)


ARRAYS = Memo(
    max_owner_size=MAX_SESSION_BYTES,
    max_size=MAX_TOTAL_BYTES,
    size_of=lambda array: len(array.content),
)
"""Arrays for the browser, by session and key."""

RESULTS = Memo(max_entries=_MAX_RESULTS)
"""Results by `HeteroData`, which are immutable. They must not refer to the data."""


def send_array(session: str, array: PackedArray) -> str:
    """Make an array available to the browser of a session and return its key."""
    return ARRAYS.get_or_compute(session, array.key, lambda: array).key
