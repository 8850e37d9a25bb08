"""Ids of any kind, as text: how they are written, so that there is a way back."""

from __future__ import annotations

import datetime as dt
import enum
from collections.abc import Iterable

import numpy as np

from hetviz._types import Texts


def text_of_key(key: object) -> str:
    """Return an id as text: whole numbers without a point, times as ISO 8601, parts of a tuple."""
    if isinstance(key, str):
        return str(key)
    if isinstance(key, bytes):
        return key.decode("utf-8", "backslashreplace")
    if isinstance(key, bool | np.bool_):
        return str(bool(key))
    if isinstance(key, float | np.floating) and float(key).is_integer():
        return str(int(key))
    if isinstance(key, dt.datetime | dt.date):
        return key.isoformat()
    if isinstance(key, enum.Enum):
        return key.name
    if isinstance(key, tuple):
        return " / ".join(map(text_of_key, key))
    return str(key)


def texts_of_keys(keys: Iterable[object]) -> Texts:
    """Return ids as text, one for each key; a missing one is empty."""
    found = [
        "" if key is None or (isinstance(key, float) and key != key) else text_of_key(key)
        for key in keys
    ]
    out = np.empty(len(found), dtype=object)
    out[:] = found
    return out
