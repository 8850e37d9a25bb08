"""Fitted objects as JSON and arrays, and back: values only, never anything that could be run.

Every object is written once and referred to by number, so that two names of one array are two names
of one array again. On reading, only classes of hetviz's own numeric packages are made, without
calling them, and only the fields that such a class has are set.
"""

from __future__ import annotations

import dataclasses
import importlib
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

from hetviz._moved import current_module
from hetviz._types import Array, JsonObject
from hetviz.data import Dataset
from hetviz.errors import DataError, HetvizError, Problem

OUR_PACKAGES = ("algorithms", "core", "data", "features", "predictor")
_PLAIN = (str, bool, int, type(None))
# What a model does not need of a dataset: what is shown of it, not what places are computed from.
_NOT_OF_A_DATASET = ("table", "media")


class Writer:
    """Turns values into JSON-ready ones.

    Attributes
    ----------
    objects : list
        JSON-ready; a value refers to one as ``{"ref": number}``.
    arrays : list of ndarray
    """

    def __init__(self) -> None:
        self.objects: list[Any] = []
        self.arrays: list[Array] = []
        self._known: dict[int, int] = {}
        # Holds alive what is known by its id.
        self._held: list[Any] = []

    def value(self, value: object, where: str) -> Any:
        """Return a value as JSON.

        Raises
        ------
        hetviz.errors.HetvizError
            If it is of a kind that cannot be written; it names the place.
        """
        if type(value) in _PLAIN:
            return value
        if type(value) is float:
            return value if np.isfinite(value) else {"float": repr(value)}
        if isinstance(value, np.generic):
            return {"scalar": value.dtype.name, "is": self.value(value.item(), where)}
        if id(value) not in self._known:
            number = len(self.objects)
            self._known[id(value)] = number
            self._held.append(value)
            self.objects.append(None)
            self.objects[number] = self._object(value, where)
        return {"ref": self._known[id(value)]}

    def _object(self, value: object, where: str) -> JsonObject:
        if isinstance(value, np.ndarray):
            return self._array(value, where)
        if isinstance(value, (sp.csr_array, sp.csr_matrix)):
            parts = [self.value(part, where) for part in (value.data, value.indices, value.indptr)]
            kind = "csr_array" if isinstance(value, sp.csr_array) else "csr_matrix"
            return {kind: parts, "shape": list(value.shape)}
        if isinstance(value, pd.DataFrame):
            columns = [self.value(value[name].to_numpy(), where) for name in value.columns]
            labels = [list(map(str, axis)) for axis in (value.index, value.columns)]
            return {"frame": columns, "index": labels[0], "columns": labels[1]}
        if isinstance(value, (dict, MappingProxyType)):
            items = [
                [self.value(key, where), self.value(one, f"{where}[{key!r}]")]
                for key, one in value.items()
            ]
            return {"mapping": items, "frozen": isinstance(value, MappingProxyType)}
        for group in (list, tuple, set, frozenset):
            if type(value) is group:
                ordered = sorted(value, key=repr) if group in (set, frozenset) else value
                return {group.__name__: [self.value(one, where) for one in ordered]}
        return self._instance(value, where)

    def _array(self, value: Array, where: str) -> JsonObject:
        frozen = not value.flags.writeable
        if value.dtype == object:
            cells = [self.value(cell, where) for cell in value.ravel().tolist()]
            return {"cells": cells, "shape": list(value.shape), "frozen": frozen}
        self.arrays.append(value)
        return {"array": len(self.arrays) - 1, "frozen": frozen}

    def _instance(self, value: object, where: str) -> JsonObject:
        kind = type(value)
        name = f"{kind.__module__}.{kind.__qualname__}"
        if not _is_ours(kind.__module__) or "<" in kind.__qualname__:
            raise HetvizError(f"This model cannot be saved: {where} holds a {name}.")
        if hasattr(value, "saved"):
            return {"class": name, "saved": self.value(value.saved(), where)}
        if dataclasses.is_dataclass(value):
            fields = {
                field.name: getattr(value, field.name)
                for field in dataclasses.fields(value)
                if field.metadata.get("saved", True) and hasattr(value, field.name)
            }
            if isinstance(value, Dataset):
                fields |= dict.fromkeys(_NOT_OF_A_DATASET)
        else:
            fields = dict(vars(value))
        written = {key: self.value(one, f"{where}.{key}") for key, one in fields.items()}
        return {"class": name, "fields": written}


class Reader:
    """Turns what a `Writer` wrote back into values.

    Parameters
    ----------
    objects : list
    arrays : callable
        Gives the array of a number.
    """

    def __init__(
        self, objects: Sequence[Mapping[str, object]], arrays: Callable[[int], Array]
    ) -> None:
        self._objects, self._arrays = objects, arrays
        self._made: dict[int, Any] = {}

    def value(self, value: object) -> Any:
        """Return a value.

        Raises
        ------
        hetviz.errors.DataError
            If it is none, or of a class that no model is made of.
        """
        if not isinstance(value, dict):
            return value
        if "float" in value:
            return float(value["float"])
        if "scalar" in value:
            return np.dtype(_number(value["scalar"])).type(self.value(value["is"]))
        number = value.get("ref")
        if not isinstance(number, int) or not 0 <= number < len(self._objects):
            raise damaged("a reference leads nowhere")
        if number not in self._made:
            self._made[number] = self._object(self._objects[number], number)
        return self._made[number]

    def _object(self, entry: Mapping[str, Any], number: int) -> object:
        if "class" in entry:
            return self._instance(entry, number)
        if "array" in entry:
            array = self._arrays(int(entry["array"]))
            array.flags.writeable = not entry["frozen"]
            return array
        if "cells" in entry:
            cells = np.empty(len(entry["cells"]), dtype=object)
            cells[:] = [self.value(cell) for cell in entry["cells"]]
            cells = cells.reshape(entry["shape"])
            cells.flags.writeable = not entry["frozen"]
            return cells
        for kind in (sp.csr_array, sp.csr_matrix):
            if kind.__name__ in entry:
                parts = tuple(self.value(part) for part in entry[kind.__name__])
                return kind(parts, shape=tuple(entry["shape"]))
        if "frame" in entry:
            columns = dict(zip(entry["columns"], map(self.value, entry["frame"]), strict=True))
            return pd.DataFrame(columns, index=entry["index"])
        if "mapping" in entry:
            items = {self.value(key): self.value(one) for key, one in entry["mapping"]}
            return MappingProxyType(items) if entry["frozen"] else items
        for make in (list, tuple, set, frozenset):
            if make.__name__ in entry:
                return make(self.value(one) for one in entry[make.__name__])
        raise damaged("an entry is of no known kind")

    def _instance(self, entry: Mapping[str, Any], number: int) -> object:
        kind = _class(str(entry["class"]))
        if "saved" in entry:
            return kind.restored(self.value(entry["saved"]))
        made = object.__new__(kind)
        # Known before its fields are read: one of them may lead back to it.
        self._made[number] = made
        fields = dataclasses.fields(kind) if dataclasses.is_dataclass(kind) else None
        known = None if fields is None else {field.name for field in fields}
        for name, value in entry["fields"].items():
            check_field(name)
            if known is not None and name not in known:
                raise damaged(f"{entry['class']} has no field {name!r}")
            object.__setattr__(made, name, self.value(value))
        return made


def check_field(name: str) -> None:
    """Refuse names that are no plain fields.

    Raises
    ------
    hetviz.errors.DataError
    """
    if not name.isidentifier() or name.startswith("__"):
        raise damaged(f"{name!r} is no field")


def damaged(what: str) -> DataError:
    """Return the error of a file that no model can be read from."""
    remedy = "It was written by another version of hetviz, or changed since. Fit it again."
    return DataError(Problem("bad-model", "saved model", what, remedy=remedy))


def _is_ours(module: str) -> bool:
    first, _, rest = module.partition(".")
    return first == "hetviz" and rest.partition(".")[0] in OUR_PACKAGES


def _class(name: str) -> Any:
    module, _, own = name.rpartition(".")
    module = current_module(module)
    try:
        if not _is_ours(module):
            raise ImportError
        kind = getattr(importlib.import_module(module), own)
    except (ImportError, AttributeError):
        raise damaged(f"there is no {name}") from None
    if not isinstance(kind, type) or kind.__module__ != module or issubclass(kind, BaseException):
        raise damaged(f"{name} is no part of a model")
    return kind


def _number(dtype: object) -> str:
    if not str(dtype).startswith(("bool", "str", "int", "uint", "float")):
        raise damaged(f"{dtype!r} is no kind of number")
    return str(dtype)
