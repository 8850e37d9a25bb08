"""Results about items that refer to the data, cached while their project is open."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TypeVar

from hetviz.memo import Memo
from hetviz.workspace import Workspace

T = TypeVar("T")
_RESULTS = Memo(max_entries=24)


def get_or_compute(
    workspace: Workspace, key: Hashable, keep_alive: object, make: Callable[[], T]
) -> T:
    """Return the result of `make`; the page and the routes of the map share it."""
    return _RESULTS.get_or_compute(workspace, key, make, keep_alive)


def is_cached(workspace: Workspace, key: Hashable) -> bool:
    """Return whether a result is cached."""
    return _RESULTS.get(workspace, key) is not None
