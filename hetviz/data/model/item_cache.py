"""Cache of results that depend on the items only, not on links, comparisons or labels."""

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
# Key: the first dataset.
_CACHE: WeakKeyDictionary[Dataset, OrderedDict[Hashable, _Entry]] = WeakKeyDictionary()
_LOCK = threading.Lock()


def cached_for_items(
    datasets: Iterable[Dataset], key: Hashable, make: Callable[[], T], also: object = None
) -> T:
    """Return the result of `make`, cached under `key` while these datasets live.

    The result must not refer to the datasets. `make` may run twice if two threads call at once.
    `also` is kept alive with the result, so that `key` may contain its identity.
    """
    parts = list(datasets)
    with _LOCK:
        store = _CACHE.setdefault(parts[0], OrderedDict())
        refs, _, cached = store.get(key, ([], None, None))
        if _is_same_datasets(refs, parts):
            store.move_to_end(key)
            return cached  # type: ignore[no-any-return]
    result = make()
    with _LOCK:
        store[key] = ([ref(part) for part in parts], also, result)
        store.move_to_end(key)
        while len(store) > _MAX_ENTRIES:
            store.popitem(last=False)
    return result


def get_cached_for_items(datasets: Iterable[Dataset], key: Hashable) -> Any:
    """Return the cached result of `cached_for_items`, or None."""
    parts = list(datasets)
    with _LOCK:
        refs, _, cached = _CACHE.get(parts[0], OrderedDict()).get(key, ([], None, None))
    return cached if _is_same_datasets(refs, parts) else None


def _is_same_datasets(refs: list[ReferenceType[Dataset]], parts: list[Dataset]) -> bool:
    return len(refs) == len(parts) and all(
        reference() is part for reference, part in zip(refs, parts, strict=True)
    )
