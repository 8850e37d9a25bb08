"""Encoding of selections as bits of rows."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hetviz._types import Ints
from hetviz.data import HeteroData
from hetviz.errors import DataError


def pack_rows(rows: ArrayLike, n: int) -> NDArray[np.uint8]:
    """Return rows as bits, the first row in the lowest bit, shape (ceil(n / 8),)."""
    bits = np.zeros(n, dtype=bool)
    bits[np.asarray(rows, dtype=np.int64)] = True
    return np.packbits(bits, bitorder="little")


def unpack_rows(packed: object, n: int) -> Ints:
    """Return the rows of base64-encoded bits, in order."""
    n_bytes = (n + 7) // 8
    try:
        # The length is checked before decoding to limit the work.
        if not isinstance(packed, str) or len(packed) != 4 * ((n_bytes + 2) // 3):
            raise ValueError
        raw = base64.b64decode(packed, validate=True)
    except (ValueError, binascii.Error):
        raise selection_error("its rows do not match the data") from None
    bits = np.unpackbits(np.frombuffer(raw, dtype=np.uint8), bitorder="little")
    if len(raw) != n_bytes or bits[n:].any():
        raise selection_error("its rows do not match the data")
    return np.flatnonzero(bits)


def read_selection(value: object, data: HeteroData) -> Ints:
    """Return the rows of a selection of the browser, in order."""
    if not isinstance(value, Mapping):
        raise selection_error("it is not a selection")
    if value.get("fingerprint") not in (None, data.fingerprint()):
        raise selection_error("it was made before the data changed")
    return unpack_rows(value.get("packed"), data.n_rows)


def selection_error(reason: str) -> DataError:
    """Return the error of an invalid selection."""
    return DataError.of("bad-selection", "selection", reason, "")
