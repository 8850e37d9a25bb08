"""Base class of immutable data that stay read-only when copied or pickled."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import fields
from types import MappingProxyType
from typing import Self

import numpy as np

from hetviz._types import Array, Sparse, is_sparse


class Immutable:
    """Base of frozen dataclasses with read-only arrays and mappings.

    `copy.copy` returns the same object. `copy.deepcopy` and pickles give read-only copies without
    cached properties and without the fields that saved models omit (metadata ``saved``).
    """

    def __copy__(self) -> Self:
        return self

    def __getstate__(self) -> dict[str, object]:
        values = vars(self)
        return {
            field.name: _portable(values[field.name])
            for field in fields(self)  # type: ignore[arg-type]
            if field.name in values and field.metadata.get("saved", True)
        }


class _Rebuilt:
    """Placeholder of a value in a pickle or copy that is rebuilt from its parts."""

    def __init__(self, make: Callable[..., object], *parts: object) -> None:
        self._make, self._parts = make, parts

    def __reduce__(self) -> tuple[Callable[..., object], tuple[object, ...]]:
        return self._make, self._parts


def _portable(value: object) -> object:
    """Return a value whose read-only parts stay read-only in a pickle."""
    if isinstance(value, MappingProxyType):
        return _Rebuilt(_mapping, {name: _portable(part) for name, part in value.items()})
    if type(value) is dict:
        return {name: _portable(part) for name, part in value.items()}
    if type(value) is tuple:
        return tuple(map(_portable, value))
    if isinstance(value, np.ndarray) and not value.flags.writeable:
        return _Rebuilt(_read_only, value)
    if is_sparse(value) and not value.data.flags.writeable:
        parts = (value.data, value.indices, value.indptr)
        return _Rebuilt(_sparse, type(value), value.shape, *map(_portable, parts))
    return value


def _mapping(parts: dict[Hashable, object]) -> MappingProxyType[Hashable, object]:
    return MappingProxyType(parts)


def _read_only(array: Array) -> Array:
    array.flags.writeable = False
    return array


def _sparse(kind: type[Sparse], shape: tuple[int, int], *parts: Array) -> Sparse:
    return kind(parts, shape=shape)
