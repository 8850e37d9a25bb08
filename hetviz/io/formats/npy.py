"""NPY matrices of numbers, checked against the file size."""

from __future__ import annotations

import ast
import io
import math
import struct
from typing import Any

import numpy as np

from hetviz._types import Array, Reals
from hetviz.io import gate, limits

MAGIC = b"\x93NUMPY"
_MAX_HEADER = 10_000
# Supported by every version of NumPy.
_MAX_DIMENSIONS = 32
_HEADER_ERRORS = (
    ValueError, SyntaxError, TypeError, KeyError, IndexError, MemoryError, RecursionError,
    struct.error,
)  # fmt: skip


def matrix(name: str, content: bytes) -> Reals:
    """Read an NPY matrix of real numbers; its header is checked against the size of the file."""
    if not content.startswith(MAGIC):
        raise gate.refusal(
            "not-npy", name, "a matrix must be an NPY file", remedy="Save it with numpy.save."
        )
    array = vector(name, content)
    if array.ndim != 2:
        raise gate.refusal(
            "bad-shape", name, "a matrix with rows and columns is needed", f"shape {array.shape}"
        )
    if np.iscomplexobj(array) or array.dtype == np.dtype(bool) or array.dtype.kind not in "fiu":
        raise gate.refusal(
            "not-numbers", name, "the matrix does not contain real numbers", array.dtype
        )
    return array if array.dtype == np.float32 else array.astype(np.float64)


def vector(name: str, content: bytes) -> Array:
    """Read an NPY array of numbers of any shape, without pickles and within the budget."""
    try:
        shape, kind, _, offset = header(content)
        if kind.kind not in "fiub":
            raise ValueError
        itemsize = kind.itemsize
    except ValueError as error:
        raise gate.refusal(
            "bad-npy",
            name,
            "the NPY file is damaged or does not contain plain numbers",
            remedy="Save it again with numpy.save, as an array of numbers.",
        ) from error
    cells = math.prod(shape)
    if cells > limits.MAX_CELLS or cells * itemsize > len(content) - offset:
        raise gate.refusal(
            "bad-npy",
            name,
            f"the header declares {cells:,} numbers but the file only contains "
            f"{max(len(content) - offset, 0) // max(itemsize, 1):,}",
            shape,
            "Save it again with numpy.save.",
        )
    try:
        return np.asarray(np.load(io.BytesIO(content), allow_pickle=False))
    except (ValueError, OSError, EOFError) as error:
        raise gate.refusal("bad-npy", name, "the NPY file cannot be read") from error


def stored_array(content: bytes) -> Array:
    """Read an NPY array of numbers or texts; raises ValueError if it is damaged."""
    if not content.startswith(MAGIC):
        raise ValueError("not an NPY file")
    shape, kind, _, offset = header(content)
    if math.prod(shape) * kind.itemsize > len(content) - offset:
        raise ValueError("the header declares more values than there are")
    return np.asarray(np.load(io.BytesIO(content), allow_pickle=False))


def header(content: bytes) -> tuple[tuple[int, ...], np.dtype[Any], bool, int]:
    """Return shape, dtype, whether it is in column order, and the offset of the values."""
    try:
        if content[6] == 1:
            (length,), start = struct.unpack_from("<H", content, 8), 10
        else:
            (length,), start = struct.unpack_from("<I", content, 8), 12
        if length > _MAX_HEADER:
            raise ValueError
        header = ast.literal_eval(content[start : start + length].decode("latin-1").strip())
        kind, shape = np.dtype(header["descr"]), tuple(header["shape"])
        by_column = bool(header["fortran_order"])
    except _HEADER_ERRORS as error:
        raise ValueError from error
    if kind.hasobject or kind.names or kind.subdtype or kind.kind not in "fiubUS":
        raise ValueError
    if len(shape) > _MAX_DIMENSIONS or not all(type(side) is int and side >= 0 for side in shape):
        raise ValueError
    return shape, kind, by_column, start + length
