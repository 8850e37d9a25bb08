"""Selections as they come from the browser: rows as bits."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hetviz._types import Ints
from hetviz.data import HeteroData
from hetviz.errors import DataError, Problem


def pack_rows(rows: ArrayLike, n: int) -> NDArray[np.uint8]:
    """Return the rows as bits, the first row in the lowest bit, shape (ceil(n / 8),)."""
    bits = np.zeros(n, dtype=bool)
    bits[np.asarray(rows, dtype=np.int64)] = True
    return np.packbits(bits, bitorder="little")


def unpack_rows(packed: object, n: int) -> Ints:
    """Return the rows that base64 text of their bits names, in order.

    Raises
    ------
    hetviz.errors.DataError
        If it is not base64, or not of ``n`` bits.
    """
    n_bytes = (n + 7) // 8
    try:
        # Checked before decoding, so that its length bounds the work.
        if not isinstance(packed, str) or len(packed) != 4 * ((n_bytes + 2) // 3):
            raise ValueError
        raw = base64.b64decode(packed, validate=True)
    except (ValueError, binascii.Error):
        raise selection_error("the rows do not fit the data") from None
    bits = np.unpackbits(np.frombuffer(raw, dtype=np.uint8), bitorder="little")
    if len(raw) != n_bytes or bits[n:].any():
        raise selection_error("the rows do not fit the data")
    return np.flatnonzero(bits)


def read_selection(value: object, data: HeteroData) -> Ints:
    """Return the rows that a selection of the browser means, in order.

    Parameters
    ----------
    value : mapping
        ``{"packed": base64 of the rows' bits}``. ``"fingerprint"``, where given, is of the data it
        was made on.
    data : HeteroData

    Raises
    ------
    hetviz.errors.DataError
        If it is no selection, or one on other data.
    """
    if not isinstance(value, Mapping):
        raise selection_error("this is no selection")
    if value.get("fingerprint") not in (None, data.fingerprint()):
        raise selection_error("it was made before the data changed")
    return unpack_rows(value.get("packed"), data.n_rows)


def selection_error(reason: str) -> DataError:
    """Return the refusal of a selection."""
    return DataError(Problem("bad-selection", "selection", reason, ""))
