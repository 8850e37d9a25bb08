"""Caches of arrays for the browser and of results that depend on the data."""

from __future__ import annotations

import gzip
import hashlib
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeVar
from weakref import WeakKeyDictionary

import numpy as np

from hetviz._types import Array
from hetviz.data import HeteroData

MAX_SESSION_BYTES = 96_000_000
MAX_TOTAL_BYTES = 768_000_000
# Smaller arrays are not worth compressing.
MIN_GZIP_BYTES = 64_000
_MAX_RESULTS = 64

T = TypeVar("T")
ArrayType = Literal["<f4", "<i4", "|i1", "|u1"]


@dataclass(frozen=True, eq=False)
class PackedArray:
    """An array for the browser: little-endian bytes with the hash of their content.

    Attributes
    ----------
    key : str
        32 hex digits.
    kind : str
        NumPy type of the entries.
    content : bytes
    """

    key: str
    kind: ArrayType
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


class ArrayCache:
    """Arrays for the browsers of sessions; the least recently used are dropped.

    Parameters
    ----------
    session_bytes, all_bytes : int
        Maximum bytes of a session and of all sessions.
    """

    def __init__(
        self, session_bytes: int = MAX_SESSION_BYTES, all_bytes: int = MAX_TOTAL_BYTES
    ) -> None:
        self._session_bytes, self._all_bytes = session_bytes, all_bytes
        self._arrays: OrderedDict[tuple[str, str], PackedArray] = OrderedDict()
        self._bytes: dict[str, int] = {}
        self._lock = threading.Lock()

    def put(self, session: str, array: PackedArray) -> str:
        """Store an array for a session and return its key."""
        with self._lock:
            place = (session, array.key)
            if place not in self._arrays:
                self._arrays[place] = array
                self._bytes[session] = self._bytes.get(session, 0) + len(array.content)
                self._evict(session)
            self._arrays.move_to_end(place)
            return array.key

    def get(self, session: str, key: str) -> PackedArray | None:
        """Return an array of a session, or None."""
        with self._lock:
            array = self._arrays.get((session, key))
            if array is not None:
                self._arrays.move_to_end((session, key))
            return array

    def clear(self, session: str) -> None:
        """Drop all arrays of a session."""
        with self._lock:
            for place in [place for place in self._arrays if place[0] == session]:
                self._drop(place)

    @property
    def n_bytes(self) -> int:
        """Bytes of all sessions."""
        return sum(self._bytes.values())

    def _evict(self, session: str) -> None:
        # The newest array stays even if it is larger than the limit.
        places = [place for place in self._arrays if place[0] == session][:-1]
        while places and self._bytes[session] > self._session_bytes:
            self._drop(places.pop(0))
        while len(self._arrays) > 1 and self.n_bytes > self._all_bytes:
            self._drop(next(iter(self._arrays)))

    def _drop(self, place: tuple[str, str]) -> None:
        self._bytes[place[0]] -= len(self._arrays.pop(place).content)
        if not self._bytes[place[0]]:
            del self._bytes[place[0]]


ARRAY_CACHE = ArrayCache()

# Keyed by the identity of the data, which are immutable. Results must not refer to the data.
_CACHE: WeakKeyDictionary[HeteroData, OrderedDict[Hashable, tuple[object, Any, float]]] = (
    WeakKeyDictionary()
)
_LOCK = threading.Lock()


def get_or_compute(
    data: HeteroData, key: Hashable, make: Callable[[], T], keep_alive: object = None
) -> T:
    """Return the result of `make`, cached while `data` live; the 64 last used are kept."""
    with _LOCK:
        store = _CACHE.setdefault(data, OrderedDict())
        if key in store:
            store.move_to_end(key)
            cached: T
            owner, cached, _ = store[key]
            store[key] = (owner, cached, time.monotonic())
            return cached
    result = make()
    with _LOCK:
        store[key] = (keep_alive, result, time.monotonic())
        while len(store) > _MAX_RESULTS:
            store.popitem(last=False)
    return result


def get_cached(data: HeteroData, key: Hashable) -> Any:
    """Return the cached result of a key, or None."""
    with _LOCK:
        store = _CACHE.get(data, OrderedDict())
        if key not in store:
            return None
        store.move_to_end(key)
        owner, cached, _ = store[key]
        store[key] = (owner, cached, time.monotonic())
        return cached


def drop_cached(data: HeteroData, key: Hashable) -> None:
    """Drop the cached result of a key."""
    with _LOCK:
        _CACHE.get(data, OrderedDict()).pop(key, None)


def drop_unused(after: float) -> None:
    """Drop results that were not used for `after` seconds."""
    # Data of samples outlive their visitors and would keep all maps alive.
    oldest = time.monotonic() - after
    with _LOCK:
        for store in list(_CACHE.values()):
            while store and next(iter(store.values()))[2] < oldest:
                store.popitem(last=False)
