"""Bounded cache of computed results, shared by threads."""

from __future__ import annotations

import time
from collections import OrderedDict, deque
from collections.abc import Callable, Hashable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from functools import wraps
from threading import Lock, RLock
from typing import Any, TypeVar
from weakref import ReferenceType, ref

A = TypeVar("A")
T = TypeVar("T")


@dataclass
class _Entry:
    value: Any
    size: float
    others: tuple[ReferenceType[object], ...]
    # Keeps objects alive that the key names by identity.
    keep_alive: object
    used: float = field(default_factory=time.monotonic)


@dataclass
class _Group:
    """Entries of one owner, the least recently used first."""

    owner: ReferenceType[object] | None
    entries: OrderedDict[Hashable, _Entry] = field(default_factory=OrderedDict)
    size: float = 0

    @property
    def last_use_of_oldest(self) -> float:
        return next(iter(self.entries.values())).used if self.entries else float("inf")


class Memo:
    """Results by owner and key, each computed once; the least recently used are dropped.

    An owner is None, a text, an object or a tuple of objects. The results of an object are dropped
    when it is deleted, so they must not refer to it. A tuple is the same owner only while all its
    objects are the same.

    `max_entries`: maximum number of results of an owner. `max_size`, `max_owner_size`: maximum
    size of all results and of those of an owner. The newest result always stays. `size_of`: size
    of a result.
    """

    def __init__(
        self,
        max_entries: float = float("inf"),
        max_size: float = float("inf"),
        max_owner_size: float = float("inf"),
        size_of: Callable[[Any], float] = lambda _: 0,
    ) -> None:
        self._max_entries, self._size_of = max_entries, size_of
        self._max_size, self._max_owner_size = max_size, max_owner_size
        self._groups: dict[Hashable, _Group] = {}
        self._computing: dict[tuple[Hashable, Hashable], AbstractContextManager[object]] = {}
        self._lock = Lock()
        # An owner may be deleted while its thread holds the lock.
        self._deleted: deque[int] = deque()

    @property
    def size(self) -> float:
        return sum(group.size for group in list(self._groups.values()))

    def get_or_compute(
        self, owner: object, key: Hashable, make: Callable[[], T], keep_alive: object = None
    ) -> T:
        """Return the result of a key, computed by `make` if it is not cached."""
        place, others = _place(owner)
        with self._locked():
            entry = self._find(place, others, key)
            if entry is not None:
                return entry.value  # type: ignore[no-any-return]
            computing = self._computing.setdefault((place, key), RLock())
        try:
            with computing:
                with self._locked():
                    entry = self._find(place, others, key)
                if entry is not None:
                    return entry.value  # type: ignore[no-any-return]
                value = make()
                self.put(owner, key, value, keep_alive)
                return value
        finally:
            with self._locked():
                self._computing.pop((place, key), None)

    def get(self, owner: object, key: Hashable) -> Any:
        """Return the cached result of a key, or None."""
        with self._locked():
            entry = self._find(*_place(owner), key)
        return None if entry is None else entry.value

    def put(self, owner: object, key: Hashable, value: object, keep_alive: object = None) -> None:
        place, others = _place(owner)
        entry = _Entry(value, self._size_of(value), tuple(map(ref, others)), keep_alive)
        with self._locked():
            if place not in self._groups:
                self._groups[place] = _Group(self._watch(owner))
            group = self._groups[place]
            self._remove(group, key)
            group.entries[key] = entry
            group.size += entry.size
            while len(group.entries) > 1 and (
                len(group.entries) > self._max_entries or group.size > self._max_owner_size
            ):
                self._remove(group, next(iter(group.entries)))
            while self.size > self._max_size:
                oldest = min(self._groups.values(), key=lambda group: group.last_use_of_oldest)
                if oldest is group and len(group.entries) == 1:
                    break
                self._remove(oldest, next(iter(oldest.entries)))

    def drop(self, owner: object, key: Hashable) -> None:
        with self._locked():
            if (group := self._groups.get(_place(owner)[0])) is not None:
                self._remove(group, key)

    def clear(self, owner: object) -> None:
        with self._locked():
            self._groups.pop(_place(owner)[0], None)

    def drop_unused(self, after: float) -> None:
        """Drop results that were not used for `after` seconds."""
        oldest = time.monotonic() - after
        with self._locked():
            for group in self._groups.values():
                while group.last_use_of_oldest < oldest:
                    self._remove(group, next(iter(group.entries)))

    def keys(self, owner: object) -> list[Hashable]:
        """Return the keys of an owner, the least recently used first."""
        with self._locked():
            group = self._groups.get(_place(owner)[0])
            return [] if group is None else list(group.entries)

    def _find(self, place: Hashable, others: tuple[object, ...], key: Hashable) -> _Entry | None:
        group = self._groups.get(place)
        entry = None if group is None else group.entries.get(key)
        if group is None or entry is None or len(others) != len(entry.others):
            return None
        if any(known() is not now for known, now in zip(entry.others, others, strict=True)):
            return None
        group.entries.move_to_end(key)
        entry.used = time.monotonic()
        return entry

    def _remove(self, group: _Group, key: Hashable) -> None:
        entry = group.entries.pop(key, None)
        group.size -= 0 if entry is None else entry.size

    @contextmanager
    def _locked(self) -> Iterator[None]:
        with self._lock:
            self._drop_deleted()
            yield
            self._drop_deleted()

    def _watch(self, owner: object) -> ReferenceType[object] | None:
        first = owner[0] if isinstance(owner, tuple) else owner
        if first is None or isinstance(first, str):
            return None
        number = id(first)

        def on_delete(_: object) -> None:
            self._deleted.append(number)
            if self._lock.acquire(blocking=False):
                try:
                    self._drop_deleted()
                finally:
                    self._lock.release()

        return ref(first, on_delete)

    def _drop_deleted(self) -> None:
        while self._deleted:
            self._groups.pop(self._deleted.popleft(), None)


def _place(owner: object) -> tuple[Hashable, tuple[object, ...]]:
    """Return what names the first object of an owner, and its other objects."""
    first, others = (owner[0], owner[1:]) if isinstance(owner, tuple) else (owner, ())
    return (first if first is None or isinstance(first, str) else id(first)), others


def cached_while_alive(function: Callable[[A], T]) -> Callable[[A], T]:
    """Cache the results of a function of one object while the object lives."""
    memo = Memo()

    @wraps(function)
    def cached(owner: A) -> T:
        return memo.get_or_compute(owner, "", lambda: function(owner))

    return cached
