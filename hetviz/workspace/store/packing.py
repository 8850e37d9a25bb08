"""Serialisation of features, rows and JSON, never pickled."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import scipy.sparse as sp

from hetviz import codec
from hetviz._types import Array, Ints
from hetviz.data import Dataset
from hetviz.errors import DataError
from hetviz.io import gate, limits
from hetviz.io.formats import npy
from hetviz.io.stored import pack_integers, unpack_integers

LIMITS = codec.Limits(body_bytes=limits.MAX_UNPACKED_BYTES)


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
            stored = codec.decode(content, limits=LIMITS)
        else:
            stored = _earlier_features(earlier_arrays(where, content))
        X, names, recipe = stored["X"], stored["names"], stored["recipe"]
    except (ValueError, KeyError, TypeError, IndexError, RecursionError):
        raise DataError.of("damaged-content", where, "the features cannot be read") from None
    if X is not None and X.shape[0] != len(dataset):
        message = "the features belong to other rows"
        remedy = "Make them again."
        raise DataError.of("other-data", where, message, remedy=remedy)
    recipe = {**(dataset.recipe or {}), "features": recipe}
    return replace(dataset, X=X, feature_names=names, recipe=recipe)


def earlier_arrays(where: str, content: bytes) -> dict[str, Array]:
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
        raise damaged(where) from None
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


def pack_rows(rows: Ints) -> bytes:
    """Return global row numbers as bytes."""
    return pack_integers(rows, "<i4")


def unpack_rows(content: bytes, n_rows: int) -> Ints:
    """Return the rows that `pack_rows` packed, for data with `n_rows` rows."""
    try:
        rows = unpack_integers(content, min(n_rows, limits.MAX_FILE_BYTES // 4), "<i4")
    except ValueError:
        raise damaged("rows") from None
    return check_rows(rows, n_rows)


def check_rows(rows: Ints, n_rows: int) -> Ints:
    """Return stored global rows if they are rows of data with `n_rows` rows."""
    if rows.size and not 0 <= rows.min() <= rows.max() < n_rows:
        raise DataError.of("other-data", "rows", "the rows belong to other data")
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
        raise damaged("findings")
    return unpacked


def damaged(where: str) -> DataError:
    """Return the error for a stored value that cannot be read."""
    return DataError.of("damaged-content", where, "it cannot be read")
