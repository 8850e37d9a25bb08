"""Fitted models as earlier versions saved them: a zip of JSON and NPY files, only for reading."""

from __future__ import annotations

import json
import tokenize
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

from hetviz._types import Array
from hetviz.codec import Records
from hetviz.io import gate
from hetviz.io.formats import npy
from hetviz.io.formats.registry import open_archive

_FORMAT = 1
_DOCUMENT = "model.json"
# Errors that reading a damaged file can raise. NumPy parses array headers as Python source.
_UNREADABLE = (
    AttributeError,
    EOFError,
    LookupError,
    MemoryError,
    OSError,
    RecursionError,
    SyntaxError,
    TypeError,
    ValueError,
    tokenize.TokenError,
)


def read_document(name: str, content: bytes, records: Records) -> dict[str, Any]:
    """Return the method and the fields of a saved model; raises ValueError if it is damaged."""
    archive = open_archive(name, content)
    if _DOCUMENT not in archive.names():
        raise ValueError(f"{name} has no {_DOCUMENT}")

    def array(number: int) -> Array:
        # Copied, because an array over bytes is read-only.
        return np.array(npy.stored_array(archive.read(f"{number}.npy")))

    try:
        document = json.loads(archive.read(_DOCUMENT))
        gate.check_format(name, document["format"], _FORMAT)
        if document["format"] != _FORMAT:
            raise ValueError(f"its format is {document['format']!r}, not {_FORMAT}")
        reader = _Reader(list(document["objects"]), array, records)
        fields = {field: reader.value(value) for field, value in dict(document["fields"]).items()}
        return {"method": document["method"], "fields": fields}
    except _UNREADABLE as error:
        raise ValueError(type(error).__name__) from error


class _Reader:
    """Values of a JSON list of entries that refer to each other by number."""

    def __init__(
        self,
        objects: Sequence[Mapping[str, object]],
        arrays: Callable[[int], Array],
        records: Records,
    ) -> None:
        self._objects, self._arrays, self._records = objects, arrays, records
        self._values: dict[int, Any] = {}

    def value(self, value: object) -> Any:
        if not isinstance(value, dict):
            return value
        if "float" in value:
            return float(value["float"])
        if "scalar" in value:
            return np.dtype(_number_type(value["scalar"])).type(self.value(value["is"]))
        number = value.get("ref")
        if not isinstance(number, int) or not 0 <= number < len(self._objects):
            raise ValueError("a reference points to no entry")
        if number not in self._values:
            self._values[number] = self._object(self._objects[number], number)
        return self._values[number]

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
            items = {self.value(key): self.value(item) for key, item in entry["mapping"]}
            return MappingProxyType(items) if entry["frozen"] else items
        for make in (list, tuple, set, frozenset):
            if make.__name__ in entry:
                return make(self.value(item) for item in entry[make.__name__])
        raise ValueError("an entry has an unknown kind")

    def _instance(self, entry: Mapping[str, Any], number: int) -> object:
        def read_fields() -> dict[str, Any]:
            saved = {"saved": entry["saved"]} if "saved" in entry else entry["fields"]
            return {name: self.value(value) for name, value in saved.items()}

        # An instance is registered before its fields are read, which may refer back to it.
        register = partial(self._values.__setitem__, number)
        return self._records.restore(str(entry["class"]), read_fields, register)


def _number_type(dtype: object) -> str:
    if not str(dtype).startswith(("bool", "str", "int", "uint", "float")):
        raise ValueError(f"{dtype!r} is not a number type")
    return str(dtype)
