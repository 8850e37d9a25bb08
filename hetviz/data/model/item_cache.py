"""What depends on items alone, found once for all data that say other things of the same items."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable
from typing import Any, TypeVar
from weakref import ReferenceType, WeakKeyDictionary, ref

from hetviz.data.model.dataset import Dataset

T = TypeVar("T")

_MAX_ENTRIES = 48
_Entry = tuple[list[ReferenceType[Dataset]], object, Any]
# By the first dataset.
_CACHE: WeakKeyDictionary[Dataset, OrderedDict[Hashable, _Entry]] = WeakKeyDictionary()
_LOCK = threading.Lock()


def cached_for_items(
    datasets: Iterable[Dataset], key: Hashable, make: Callable[[], T], also: object = None
) -> T:
    """Return what `make` gives, kept under `key` as long as these very datasets live.

    Parameters
    ----------
    datasets : iterable of Dataset
        At least one.
    key : hashable
    make : callable
        Its result must not refer to the datasets. It may run twice when two threads ask at once.
    also : object, optional
        Kept alive with the result, so that `key` may name it by its identity.
    """
    parts = list(datasets)
    with _LOCK:
        store = _CACHE.setdefault(parts[0], OrderedDict())
        of, _, found = store.get(key, ([], None, None))
        if _is_same_datasets(of, parts):
            store.move_to_end(key)
            return found  # type: ignore[no-any-return]
    made = make()
    with _LOCK:
        store[key] = ([ref(part) for part in parts], also, made)
        store.move_to_end(key)
        while len(store) > _MAX_ENTRIES:
            store.popitem(last=False)
    return made


def get_cached_for_items(datasets: Iterable[Dataset], key: Hashable) -> Any:
    """Return what `cached_for_items` keeps, None where that is nothing."""
    parts = list(datasets)
    with _LOCK:
        of, _, found = _CACHE.get(parts[0], OrderedDict()).get(key, ([], None, None))
    return found if _is_same_datasets(of, parts) else None


def _is_same_datasets(of: list[ReferenceType[Dataset]], parts: list[Dataset]) -> bool:
    return len(of) == len(parts) and all(one() is part for one, part in zip(of, parts, strict=True))
