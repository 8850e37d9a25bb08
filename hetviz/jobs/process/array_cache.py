"""Data that the worker has already are not sent again.

The server gives each `HeteroData` a number for as long as it lives, and the worker keeps the last
few that it got. It is the object that is numbered, not its fingerprint: finding that one takes a
pass over all of the data, and it does not tell pictures apart. The worker says after each job
what it holds, so that the two never disagree.
"""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

_MAX_CACHED = 2


@dataclass(frozen=True)
class Sent:
    """Data with their number; without a value where the worker holds them."""

    number: int
    value: Any = None


class ArrayNumbers:
    """The server's side: which data have which number."""

    def __init__(self) -> None:
        self._next = itertools.count(1)
        self._numbers: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()

    def wrap(self, arguments: Mapping[str, object], cached: Collection[int]) -> dict[str, object]:
        """Return arguments of a task with every data among them as `Sent`."""
        return {name: self._wrap(value, cached) for name, value in arguments.items()}

    def _wrap(self, value: object, cached: Collection[int]) -> object:
        # Known by what it can do, because the server need not import the data model to run jobs.
        if not callable(getattr(type(value), "fingerprint", None)):
            return value
        number = self._numbers.get(value)
        if number is None:
            number = self._numbers[value] = next(self._next)
        return Sent(number, None if number in cached else value)


class ArrayCache:
    """The worker's side: the last few data that it got."""

    def __init__(self) -> None:
        self._values: dict[int, Any] = {}

    @property
    def numbers(self) -> list[int]:
        """Numbers of the data that are here."""
        return list(self._values)

    def unwrap(self, arguments: Mapping[str, object]) -> dict[str, object]:
        """Return arguments as the task wants them."""
        return {
            name: self._unwrap(value) if isinstance(value, Sent) else value
            for name, value in arguments.items()
        }

    def clear(self) -> None:
        """Let go of all of it."""
        self._values.clear()

    def _unwrap(self, sent: Sent) -> object:
        cached = self._values.pop(sent.number, None)
        value = sent.value if cached is None else cached
        self._values[sent.number] = value
        for oldest in list(self._values)[:-_MAX_CACHED]:
            del self._values[oldest]
        return value
