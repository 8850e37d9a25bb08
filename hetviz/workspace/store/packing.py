"""Serialisation of runs and features: arrays as NPZ, other values as JSON, never pickled."""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from hetviz._types import Array, Floats, Ints
from hetviz.data import Dataset, Embedding, HeteroData
from hetviz.errors import DataError, Problem
from hetviz.io import gate, limits
from hetviz.io.formats import npy

_PARTS = ("data", "indices", "indptr")


def pack_coordinates(embedding: Embedding) -> bytes:
    """Return coordinates as NPZ: arrays ``c0``, ``c1`` ... per dataset, with NaN for no position.

    For maps with separate drawn positions, arrays ``d0``, ``d1`` ... hold these.
    """
    buffer = io.BytesIO()
    arrays = {f"c{place}": Y for place, Y in enumerate(embedding.coordinates.values())}
    arrays |= {f"d{place}": Z for place, Z in enumerate((embedding.drawn or {}).values())}
    arrays["components"] = np.array(list(embedding.components.values()), dtype=np.int64)
    np.savez_compressed(buffer, **arrays)  # type: ignore[arg-type]
    return buffer.getvalue()


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
    """Return features, their names and their recipe as NPZ."""
    about = {
        "names": None if dataset.feature_names is None else list(dataset.feature_names),
        "recipe": (dataset.recipe or {}).get("features"),
        "shape": None if dataset.X is None else list(dataset.X.shape),
    }
    arrays: dict[str, Any] = {"said": np.frombuffer(json.dumps(about).encode(), dtype=np.uint8)}
    if isinstance(dataset.X, sp.csr_array):
        arrays |= {part: getattr(dataset.X, part) for part in _PARTS}
    elif dataset.X is not None:
        arrays["X"] = dataset.X
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)
    return buffer.getvalue()


def unpack_features(content: bytes, dataset: Dataset) -> Dataset:
    """Return the dataset with the features that `pack_features` packed."""
    where = f"dataset {dataset.name!r}"
    stored = unpack_arrays(where, content)
    try:
        about = json.loads(stored["said"].tobytes())
        X: Any = stored.get("X")
        if "indptr" in stored:
            X = sp.csr_array(tuple(stored[part] for part in _PARTS), shape=tuple(about["shape"]))
            # scipy does not check indices by itself.
            X.check_format(full_check=True)
        recipe = {**(dataset.recipe or {}), "features": about["recipe"]}
        names = about["names"]
    except (ValueError, KeyError, TypeError, IndexError, RecursionError):
        raise DataError(Problem("damaged-content", where, "the features cannot be read")) from None
    if X is not None and X.shape[0] != len(dataset):
        message = "the features belong to other rows"
        remedy = "Make them again."
        raise DataError(Problem("other-data", where, message, remedy=remedy))
    return replace(dataset, X=X, feature_names=names, recipe=recipe)


def unpack_arrays(where: str, content: bytes) -> dict[str, Array]:
    """Return the arrays of an untrusted NPZ by name."""
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
    """Return global row numbers as bytes: little-endian 32-bit, compressed."""
    return zlib.compress(np.asarray(rows).astype("<i4").tobytes())


def unpack_rows(content: bytes, n_rows: int) -> Ints:
    """Return the rows that `pack_rows` packed, for data with `n_rows` rows."""
    max_bytes = min(4 * n_rows, limits.MAX_FILE_BYTES)
    try:
        rows = np.frombuffer(gate.decompress(content, max_bytes), dtype="<i4").astype(np.int64)
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
