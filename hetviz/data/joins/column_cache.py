"""What was read from a dataset once, kept as long as the dataset lives and there is room."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from hetviz.data.model.dataset import Dataset

# Texts, of all datasets together: about 200 MB.
MOST = 3_000_000

T = TypeVar("T")

# By identity of the dataset, which never changes; what is kept must not hold it alive.
_KEPT: WeakKeyDictionary[Dataset, dict[Hashable, tuple[Any, int]]] = WeakKeyDictionary()
_LOCK = threading.Lock()


def kept(dataset: Dataset, key: Hashable, make: Callable[[], T], size: Callable[[T], int]) -> T:
    """Return what `make` gives, kept as long as `dataset` lives; all goes when there is no room.

    Parameters
    ----------
    dataset : Dataset
    key : hashable
    make : callable
        Its result must not refer to `dataset`. It may run twice when two threads ask at once.
    size : callable
        How many texts the result holds.
    """
    with _LOCK:
        store = _KEPT.setdefault(dataset, {})
        if key in store:
            found: T = store[key][0]
            return found
    made = make()
    with _LOCK:
        if sum(n for each in _KEPT.values() for _, n in each.values()) > MOST:
            for each in _KEPT.values():
                each.clear()
        store[key] = made, size(made)
    return made
