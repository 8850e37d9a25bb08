"""Rows and codes stored as documents of `hetviz.codec`, or as earlier versions stored them."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from hetviz import codec
from hetviz._types import Ints
from hetviz.io import gate


def pack_integers(numbers: ArrayLike, dtype: DTypeLike) -> bytes:
    """Return whole numbers as a compressed document."""
    return codec.encode(np.asarray(numbers).astype(dtype), compress=True)


def unpack_integers(content: bytes, max_items: int, dtype: DTypeLike) -> Ints:
    """Return the numbers of `pack_integers`; raises ValueError for damaged or too many ones."""
    kind = np.dtype(dtype)
    max_bytes = kind.itemsize * max_items
    if not codec.is_document(content):
        # Earlier versions compressed the plain numbers.
        return np.frombuffer(gate.decompress(content, max_bytes), dtype=kind).astype(np.int64)
    numbers = codec.decode(content, limits=codec.Limits(body_bytes=max_bytes + 1_000))
    if not isinstance(numbers, np.ndarray) or numbers.dtype != kind or numbers.ndim != 1:
        raise codec.CodecError("not a list of whole numbers")
    return numbers.astype(np.int64)
