"""A run as bytes: coordinates as an array file, what is JSON as JSON, rows; never pickled."""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from hetviz._types import Array, Floats, Ints
from hetviz.data import Embedding, HeteroData
from hetviz.errors import DataError, Problem
from hetviz.io import gate, limits
from hetviz.io.formats import npy


def pack_coordinates(embedding: Embedding) -> bytes:
    """Return coordinates as NPZ: array ``c0`` of the first dataset, and so on; NaN is no place."""
    buffer = io.BytesIO()
    arrays = {f"c{place}": Y for place, Y in enumerate(embedding.coordinates.values())}
    arrays["components"] = np.array(list(embedding.components.values()), dtype=np.int64)
    np.savez_compressed(buffer, **arrays)  # type: ignore[arg-type]
    return buffer.getvalue()


def unpack_coordinates(content: bytes, data: HeteroData, note: str) -> Embedding:
    """Return the embedding of `data` that `pack_coordinates` packed.

    Raises
    ------
    hetviz.errors.DataError
        If it belongs to other data, or is something else.
    """
    stored = unpack_arrays("map", content)
    parts = [stored.get(f"c{k}") for k in range(len(stored) - 1)]
    components = stored.get("components")
    if components is None or components.ndim != 1 or len(components) != len(parts):
        raise _damaged("map")
    places = [Y for Y in parts if Y is not None and Y.ndim == 2]
    if [len(Y) for Y in places] != [len(dataset) for dataset in data.datasets.values()]:
        raise DataError(
            Problem("other-data", "map", "the map was made from other data", remedy="Run it again.")
        )
    return embedding_of(data, dict(zip(data.datasets, places, strict=True)), note, components)


def unpack_arrays(where: str, content: bytes) -> dict[str, Array]:
    """Return the arrays of an NPZ by name; it may come from anybody.

    Raises
    ------
    hetviz.errors.DataError
        If it is something else, or too large.
    """
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
    )


def pack_rows(rows: Ints) -> bytes:
    """Return global row numbers as bytes: little-endian 32-bit, compressed."""
    return zlib.compress(np.asarray(rows).astype("<i4").tobytes())


def unpack_rows(content: bytes, n_rows: int) -> Ints:
    """Return the rows that `pack_rows` packed, of data of `n_rows` rows.

    Raises
    ------
    hetviz.errors.DataError
        If they are no rows of such data.
    """
    most = min(4 * n_rows, limits.MAX_FILE_BYTES)
    try:
        rows = np.frombuffer(gate.inflated(content, most), dtype="<i4").astype(np.int64)
    except ValueError:
        raise _damaged("rows") from None
    if rows.size and not 0 <= rows.min() <= rows.max() < n_rows:
        raise DataError(Problem("other-data", "rows", "they are rows of other data"))
    return rows


def pack_json(content: Mapping[str, Any]) -> bytes:
    """Return figures or findings as JSON, its keys in their order."""
    return json.dumps(content).encode()


def unpack_json(content: bytes) -> dict[str, Any]:
    """Return what `pack_json` packed.

    Raises
    ------
    hetviz.errors.DataError
        If it is something else.
    """
    try:
        unpacked = json.loads(content)
    except (ValueError, RecursionError):
        unpacked = None
    if not isinstance(unpacked, dict):
        raise _damaged("findings")
    return unpacked


def _damaged(where: str) -> DataError:
    return DataError(Problem("damaged-content", where, "it cannot be read"))
