"""Cache of data in the worker, so that the same data are sent once.

The server numbers each `HeteroData` object, and the worker caches the last few. The object is
numbered, not its fingerprint, which takes a pass over all data and ignores pictures. The worker
reports its cache after each job, so both sides agree.
"""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Collection, Hashable, Mapping
from dataclasses import dataclass
from typing import Any

from hetviz.memo import Memo

_MAX_CACHED = 2


@dataclass(frozen=True)
class Sent:
    """Data with their number, without a value if the worker has them."""

    number: int
    value: Any = None


class ArrayNumbers:
    """Numbers of data, on the server."""

    def __init__(self) -> None:
        self._next = itertools.count(1)
        self._numbers: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()

    def wrap(self, arguments: Mapping[str, object], cached: Collection[int]) -> dict[str, object]:
        """Return the arguments of a task with all data as `Sent`."""
        return {name: self._wrap(value, cached) for name, value in arguments.items()}

    def _wrap(self, value: object, cached: Collection[int]) -> object:
        # Duck typing, because the server does not import the data model.
        if not callable(getattr(type(value), "fingerprint", None)):
            return value
        number = self._numbers.get(value)
        if number is None:
            number = self._numbers[value] = next(self._next)
        return Sent(number, None if number in cached else value)


class WorkerData:
    """The last few data, in the worker."""

    def __init__(self) -> None:
        self._values = Memo(max_entries=_MAX_CACHED)

    @property
    def numbers(self) -> list[Hashable]:
        return self._values.keys(None)

    def unwrap(self, arguments: Mapping[str, object]) -> dict[str, object]:
        return {name: self._unwrap(value) for name, value in arguments.items()}

    def _unwrap(self, value: object) -> object:
        if not isinstance(value, Sent):
            return value
        return self._values.get_or_compute(None, value.number, lambda: value.value)

    def clear(self) -> None:
        self._values.clear(None)
