"""Fitted models saved as a zip of JSON and arrays, without pickle."""

from __future__ import annotations

import base64
import dataclasses
import importlib
import io
import json
import tokenize
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

from hetviz._moved import current_class, current_field
from hetviz._types import Array, Ints, JsonObject
from hetviz.algorithms.base import BaseEmbedder
from hetviz.algorithms.registry import get_method
from hetviz.data import Dataset, HeteroData
from hetviz.errors import DataError, HetvizError, Problem
from hetviz.exports.writing import write_file
from hetviz.io import gate, limits
from hetviz.io.bundle.saving import to_zip
from hetviz.io.formats.registry import open_archive
from hetviz.jobs.results import Findings
from hetviz.progress import Progress, ProgressPart
from hetviz.runs.embed.run import fit_run, versions

FORMAT = 1
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
OUR_PACKAGES = ("algorithms", "core", "data", "features", "predictor")
_PLAIN_TYPES = (str, bool, int, type(None))
# Fields of a dataset that transform does not need.
_UNSAVED_DATASET_FIELDS = ("table", "media")


def save_model(model: BaseEmbedder, path: str | Path) -> Path:
    """Save a fitted model.

    Parameters
    ----------
    model : BaseEmbedder
        Fitted model.
    path : str or path
        A file, usually ending in ``.zip``.

    Returns
    -------
    path

    Raises
    ------
    hetviz.errors.HetvizError
        If the model is not fitted, or holds a value that cannot be saved.
    hetviz.errors.DataError
        If the file cannot be written, or would be too large to load.

    Notes
    -----
    The zip holds ``model.json`` and one ``.npy`` for each array: ids, features and links of the
    fitted rows as far as `transform` needs them, but no tables or pictures.
    """
    return write_file(path, model_bytes(model))


def model_bytes(model: BaseEmbedder) -> bytes:
    """Return the bytes that `save_model` writes. Equal models give equal bytes."""
    if not hasattr(model, "embedding_"):
        raise HetvizError(f"{model.card.title}: call fit before saving.")
    writer = Writer()
    fields = {name: writer.value(value, name) for name, value in vars(model).items()}
    document = {
        "format": FORMAT,
        "method": model.card.key,
        "versions": dict(versions()),
        "fields": fields,
        "objects": writer.objects,
    }
    text = json.dumps(document, ensure_ascii=False, allow_nan=False)
    files = {_DOCUMENT: text.encode()}
    for number, array in enumerate(writer.arrays):
        buffer = io.BytesIO()
        np.save(buffer, array, allow_pickle=False)
        files[f"{number}.npy"] = buffer.getvalue()
    content = to_zip(files)
    gate.check_size("saved model", len(content))
    return content


def load_model(path: str | Path | bytes) -> BaseEmbedder:
    """Read a fitted model.

    Parameters
    ----------
    path : str, path or bytes
        File written by `save_model`, or its content.

    Returns
    -------
    BaseEmbedder
        Its ``transform`` gives the same results as that of the saved model.

    Raises
    ------
    hetviz.errors.DataError
        If the file is not a saved model, is damaged, or comes from an unsupported version.

    Notes
    -----
    No code in the file is executed. LightGBM reads the trees of gradient boosting and checks them
    little, so load such models only from people you trust.
    """
    name = "model" if isinstance(path, bytes) else Path(path).name
    content = path if isinstance(path, bytes) else gate.read_file(Path(path))
    archive = open_archive(name, content)
    if _DOCUMENT not in archive.names():
        raise damaged(f"{name} has no {_DOCUMENT}")

    def array(number: int) -> Array:
        # Copied, because an array over bytes is read-only.
        stored = io.BytesIO(archive.read(f"{number}.npy"))
        return np.array(np.load(stored, allow_pickle=False))

    try:
        document = json.loads(archive.read(_DOCUMENT))
        gate.check_format(name, document["format"], FORMAT)
        if document["format"] != FORMAT:
            raise damaged(f"its format is {document['format']!r}, not {FORMAT}")
        method = get_method(str(document["method"]))
        model: BaseEmbedder = object.__new__(method)
        reader = Reader(list(document["objects"]), array)
        for field, value in dict(document["fields"]).items():
            check_field(field)
            setattr(model, current_field(method, field), reader.value(value))
    except _UNREADABLE as error:
        raise damaged(f"it cannot be read ({type(error).__name__})") from error
    if not hasattr(model, "embedding_"):
        raise damaged("it is not fitted")
    return model


# Task of the worker that fits a method again to save it.


MODEL = "model"
MAX_BYTES = 50 * limits.MB


def fit_model(
    data: HeteroData,
    method: str,
    params: Mapping[str, object],
    seed: int,
    hold_out: float,
    progress: Progress,
    weights: Mapping[str, float] | None = None,
    only: Ints | None = None,
) -> Findings:
    """Fit a method and return the saved model.

    Returns
    -------
    Findings
        Kind "model" with ``method``, ``bytes`` and the file as base64 under ``zip``.

    Raises
    ------
    hetviz.errors.HetvizError
        If the fit fails, or the model exceeds the 50 MB limit of a project.
    hetviz.errors.Cancelled
    """
    fitted = fit_run(
        data,
        method,
        params,
        seed,
        ProgressPart(progress, 0.0, 0.9),
        weights=weights,
        only=only,
        hold_out=hold_out,
    )
    progress(0.9, "Writing the method")
    content = model_bytes(fitted.model)
    gate.check_size("fitted method", len(content), MAX_BYTES)
    progress(1.0, "Done")
    encoded = base64.b64encode(content).decode()
    return Findings(MODEL, {"method": method, "bytes": len(content), "zip": encoded})


class Writer:
    """Conversion of values to JSON.

    Attributes
    ----------
    objects : list
        JSON entries. A value refers to an entry with ``{"ref": number}``.
    arrays : list of ndarray
    """

    def __init__(self) -> None:
        self.objects: list[Any] = []
        self.arrays: list[Array] = []
        self._numbers: dict[int, int] = {}
        # References that keep the ids in _numbers valid.
        self._references: list[Any] = []

    def value(self, value: object, where: str) -> Any:
        """Return a value as JSON.

        Raises
        ------
        hetviz.errors.HetvizError
            If the value cannot be saved. The message names its field.
        """
        if type(value) in _PLAIN_TYPES:
            return value
        if type(value) is float:
            return value if np.isfinite(value) else {"float": repr(value)}
        if isinstance(value, np.generic):
            return {"scalar": value.dtype.name, "is": self.value(value.item(), where)}
        if id(value) not in self._numbers:
            number = len(self.objects)
            self._numbers[id(value)] = number
            self._references.append(value)
            self.objects.append(None)
            self.objects[number] = self._object(value, where)
        return {"ref": self._numbers[id(value)]}

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
                [self.value(key, where), self.value(entry, f"{where}[{key!r}]")]
                for key, entry in value.items()
            ]
            return {"mapping": items, "frozen": isinstance(value, MappingProxyType)}
        for group in (list, tuple, set, frozenset):
            if type(value) is group:
                ordered = sorted(value, key=repr) if group in (set, frozenset) else value
                return {group.__name__: [self.value(entry, where) for entry in ordered]}
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
            raise HetvizError(f"This model cannot be saved: {where} contains a {name}.")
        if hasattr(value, "saved"):
            return {"class": name, "saved": self.value(value.saved(), where)}
        if dataclasses.is_dataclass(value):
            fields = {
                field.name: getattr(value, field.name)
                for field in dataclasses.fields(value)
                if field.metadata.get("saved", True) and hasattr(value, field.name)
            }
            if isinstance(value, Dataset):
                fields |= dict.fromkeys(_UNSAVED_DATASET_FIELDS)
        else:
            fields = dict(vars(value))
        written = {
            key: self.value(field_value, f"{where}.{key}") for key, field_value in fields.items()
        }
        return {"class": name, "fields": written}


class Reader:
    """Conversion of the JSON of a `Writer` back to values.

    Parameters
    ----------
    objects : list
    arrays : callable
        Function that returns an array by number.
    """

    def __init__(
        self, objects: Sequence[Mapping[str, object]], arrays: Callable[[int], Array]
    ) -> None:
        self._objects, self._arrays = objects, arrays
        self._values: dict[int, Any] = {}

    def value(self, value: object) -> Any:
        """Return a value.

        Raises
        ------
        hetviz.errors.DataError
            If it is not valid, or of a class that models do not use.
        """
        if not isinstance(value, dict):
            return value
        if "float" in value:
            return float(value["float"])
        if "scalar" in value:
            return np.dtype(_number_type(value["scalar"])).type(self.value(value["is"]))
        number = value.get("ref")
        if not isinstance(number, int) or not 0 <= number < len(self._objects):
            raise damaged("a reference points to no entry")
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
        raise damaged("an entry has an unknown kind")

    def _instance(self, entry: Mapping[str, Any], number: int) -> object:
        kind = _resolve_class(str(entry["class"]))
        if "saved" in entry:
            return kind.restored(self.value(entry["saved"]))
        instance = object.__new__(kind)
        # Registered before its fields are read, because a field may refer back to it.
        self._values[number] = instance
        fields = dataclasses.fields(kind) if dataclasses.is_dataclass(kind) else None
        field_names = None if fields is None else {field.name for field in fields}
        for saved_name, value in entry["fields"].items():
            check_field(saved_name)
            name = current_field(kind, saved_name)
            if field_names is not None and name not in field_names:
                raise damaged(f"{entry['class']} has no field {name!r}")
            object.__setattr__(instance, name, self.value(value))
        return instance


def check_field(name: str) -> None:
    """Raise an error unless a name is a plain field.

    Raises
    ------
    hetviz.errors.DataError
    """
    if not name.isidentifier() or name.startswith("__"):
        raise damaged(f"{name!r} is not a field")


def damaged(problem: str) -> DataError:
    """Return the error for a file that is not a readable model."""
    remedy = "The file was changed or comes from another version of hetviz. Fit the model again."
    return DataError(Problem("bad-model", "saved model", problem, remedy=remedy))


def _is_ours(module: str) -> bool:
    first, _, path = module.partition(".")
    return first == "hetviz" and path.partition(".")[0] in OUR_PACKAGES


def _resolve_class(name: str) -> Any:
    module, class_name = current_class(name)
    try:
        if not _is_ours(module):
            raise ImportError
        kind = getattr(importlib.import_module(module), class_name)
    except (ImportError, AttributeError):
        raise damaged(f"there is no class {name}") from None
    if not isinstance(kind, type) or kind.__module__ != module or issubclass(kind, BaseException):
        raise damaged(f"{name} is not part of a model")
    return kind


def _number_type(dtype: object) -> str:
    if not str(dtype).startswith(("bool", "str", "int", "uint", "float")):
        raise damaged(f"{dtype!r} is not a number type")
    return str(dtype)
