"""Stored runs and features: arrays as documents of `hetviz.codec`, other values as JSON."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from hetviz import codec
from hetviz._types import Array, Floats, Ints
from hetviz.data import Dataset, Embedding, HeteroData
from hetviz.errors import DataError, Problem
from hetviz.io import gate, limits
from hetviz.io.formats import npy
from hetviz.io.stored import pack_integers, unpack_integers

_LIMITS = codec.Limits(body_bytes=limits.MAX_UNPACKED_BYTES)


def pack_coordinates(embedding: Embedding) -> bytes:
    """Return coordinates: arrays ``c0``, ``c1`` ... per dataset, with NaN for no position.

    For maps with separate drawn positions, arrays ``d0``, ``d1`` ... hold these.
    """
    arrays = {f"c{place}": Y for place, Y in enumerate(embedding.coordinates.values())}
    arrays |= {f"d{place}": Z for place, Z in enumerate((embedding.drawn or {}).values())}
    components = np.array(list(embedding.components.values()), dtype=np.int64)
    return codec.encode({**arrays, "components": components}, compress=True)


def unpack_coordinates(content: bytes, data: HeteroData, note: str) -> Embedding:
    """Return the embedding of `data` that `pack_coordinates` packed."""
    stored = unpack_arrays("map", content)
    drawn = [stored.pop(name) for name in [f"d{k}" for k in range(len(stored))] if name in stored]
    parts = [stored.get(f"c{k}") for k in range(len(stored) - 1)]
    components = stored.get("components")
    if components is None or components.ndim != 1 or len(components) != len(parts):
        raise _damaged("map")
    coordinates = [Y for Y in parts if Y is not None and Y.ndim == 2]
    if [len(Y) for Y in coordinates] != [len(dataset) for dataset in data.datasets.values()]:
        raise DataError(
            Problem("other-data", "map", "the map was made from other data", remedy="Run it again.")
        )
    if drawn and len(drawn) != len(coordinates):
        raise _damaged("map")
    drawn_by_dataset = dict(zip(data.datasets, drawn, strict=True)) if drawn else None
    by_dataset = dict(zip(data.datasets, coordinates, strict=True))
    return embedding_of(data, by_dataset, note, components, drawn_by_dataset)


def pack_features(dataset: Dataset) -> bytes:
    """Return features, their names and their recipe."""
    recipe = (dataset.recipe or {}).get("features")
    names = dataset.feature_names
    return codec.encode({"names": names, "recipe": recipe, "X": dataset.X}, compress=True)


def unpack_features(content: bytes, dataset: Dataset) -> Dataset:
    """Return the dataset with the features that `pack_features` packed."""
    where = f"dataset {dataset.name!r}"
    try:
        if codec.is_document(content):
            stored = codec.decode(content, limits=_LIMITS)
        else:
            stored = _earlier_features(_earlier_arrays(where, content))
        X, names, recipe = stored["X"], stored["names"], stored["recipe"]
    except (ValueError, KeyError, TypeError, IndexError, RecursionError):
        raise DataError(Problem("damaged-content", where, "the features cannot be read")) from None
    if X is not None and X.shape[0] != len(dataset):
        message = "the features belong to other rows"
        remedy = "Make them again."
        raise DataError(Problem("other-data", where, message, remedy=remedy))
    recipe = {**(dataset.recipe or {}), "features": recipe}
    return replace(dataset, X=X, feature_names=names, recipe=recipe)


def unpack_arrays(where: str, content: bytes) -> dict[str, Array]:
    """Return untrusted arrays of numbers by name."""
    if not codec.is_document(content):
        return _earlier_arrays(where, content)
    try:
        arrays = codec.decode(content, limits=_LIMITS)
    except codec.CodecError:
        arrays = None
    if not isinstance(arrays, dict) or not all(
        isinstance(array, np.ndarray) and array.dtype.kind in "fiub" for array in arrays.values()
    ):
        raise _damaged(where)
    return arrays


def _earlier_arrays(where: str, content: bytes) -> dict[str, Array]:
    """Return the arrays of an NPZ, as earlier versions stored them."""
    arrays: dict[str, Array] = {}
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = archive.infolist()
            size = sum(member.file_size for member in members)
            gate.check_size(where, size, limits.MAX_UNPACKED_BYTES)
            for member in members:
                with archive.open(member) as stream:
                    raw = stream.read(member.file_size)
                arrays[member.filename.removesuffix(".npy")] = npy.vector(where, raw)
    except gate.UNZIP_ERRORS:
        raise _damaged(where) from None
    return arrays


def _earlier_features(arrays: Mapping[str, Array]) -> dict[str, Any]:
    about = json.loads(arrays["said"].tobytes())
    X: Any = arrays.get("X")
    if "indptr" in arrays:
        parts = tuple(arrays[part] for part in ("data", "indices", "indptr"))
        X = sp.csr_array(parts, shape=tuple(about["shape"]))
        # scipy does not check indices by itself.
        X.check_format(full_check=True)
    return {"X": X, "names": about["names"], "recipe": about["recipe"]}


def embedding_of(
    data: HeteroData,
    coordinates: Mapping[str, Floats],
    note: str,
    components: Ints | None = None,
    drawn: Mapping[str, Floats] | None = None,
) -> Embedding:
    """Return coordinates as an embedding with the ids and entities of `data`."""
    return Embedding(
        coordinates,
        {name: dataset.ids for name, dataset in data.datasets.items()},
        {name: dataset.entity for name, dataset in data.datasets.items()},
        components=None
        if components is None
        else {name: int(c) for name, c in zip(data.datasets, components, strict=True)},
        note=note,
        drawn=drawn,
    )


def pack_rows(rows: Ints) -> bytes:
    """Return global row numbers as bytes."""
    return pack_integers(rows, "<i4")


def unpack_rows(content: bytes, n_rows: int) -> Ints:
    """Return the rows that `pack_rows` packed, for data with `n_rows` rows."""
    try:
        rows = unpack_integers(content, min(n_rows, limits.MAX_FILE_BYTES // 4), "<i4")
    except ValueError:
        raise _damaged("rows") from None
    if rows.size and not 0 <= rows.min() <= rows.max() < n_rows:
        raise DataError(Problem("other-data", "rows", "the rows belong to other data"))
    return rows


def pack_json(content: Mapping[str, object]) -> bytes:
    """Return figures or findings as JSON, with keys in order."""
    return json.dumps(content).encode()


def unpack_json(content: bytes) -> dict[str, object]:
    """Return what `pack_json` packed."""
    try:
        unpacked = json.loads(content)
    except (ValueError, RecursionError):
        unpacked = None
    if not isinstance(unpacked, dict):
        raise _damaged("findings")
    return unpacked


def _damaged(where: str) -> DataError:
    return DataError(Problem("damaged-content", where, "it cannot be read"))
