"""NPY matrices of numbers, checked against the file size."""

from __future__ import annotations

import math
import os
import re
import struct
from typing import Any

import numpy as np

from hetviz._types import Array, Reals
from hetviz.io import gate, limits

MAGIC = b"\x93NUMPY"
_MAX_HEADER = 10_000
# Supported by every version of NumPy.
_MAX_DIMENSIONS = 32
# Not read by ast.literal_eval or numpy.load: in Python 3.11 these may fail with SystemError if
# two threads use them at once.
_FIELDS = (
    r"""['"]descr['"]:\s*['"]([^'"]+)['"]""",
    r"""['"]fortran_order['"]:\s*(True|False)""",
    r"""['"]shape['"]:\s*\(([\d,\s]*)\)""",
)
_HEADER = re.compile(rf"\{{\s*(?:(?:{'|'.join(_FIELDS)}),?\s*){{3}}\}}\s*")


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
    return values(content).copy(order="K")


def stored_array(content: bytes) -> Array:
    """Read an NPY array of numbers or texts; raises ValueError if it is damaged."""
    if not content.startswith(MAGIC):
        raise ValueError("not an NPY file")
    shape, kind, _, offset = header(content)
    if math.prod(shape) * kind.itemsize > len(content) - offset:
        raise ValueError("the header declares more values than there are")
    return values(content)


def load(path: str | os.PathLike[str], mapped: bool = False) -> Array:
    """Read an array that hetviz stored in a file, or map it, from any number of threads."""
    with open(path, "rb") as file:
        shape, kind, by_column, start = header(file.read(_MAX_HEADER))
    n = math.prod(shape)
    if not mapped or not n:
        flat = np.fromfile(path, kind, n, offset=start)
    else:
        flat = np.memmap(path, kind, "r", start, (n,))
    return flat.reshape(shape, order="F" if by_column else "C")


def values(content: bytes) -> Array:
    """Return the values of an NPY file whose header fits its size; they are not copied."""
    shape, kind, by_column, start = header(content)
    if kind.itemsize == 0:
        return np.full(shape, "", dtype=str)
    flat = np.frombuffer(content, kind, math.prod(shape), start)
    return flat.reshape(shape, order="F" if by_column else "C")


def header(content: bytes) -> tuple[tuple[int, ...], np.dtype[Any], bool, int]:
    """Return shape, dtype, whether it is in column order, and the offset of the values."""
    try:
        if content[6] == 1:
            (length,), start = struct.unpack_from("<H", content, 8), 10
        else:
            (length,), start = struct.unpack_from("<I", content, 8), 12
        text = content[start : start + min(length, _MAX_HEADER)].decode("latin-1")
        found = _HEADER.fullmatch(text)
        kind_name, order, sides = found.groups() if found else ()
        kind, by_column = np.dtype(kind_name), order == "True"
        shape = tuple(int(side) for side in sides.split(",") if side.strip())
    except (ValueError, SyntaxError, TypeError, AttributeError, IndexError, struct.error) as error:
        raise ValueError from error
    if kind.hasobject or kind.names or kind.subdtype or kind.kind not in "fiubUS":
        raise ValueError
    if len(shape) > _MAX_DIMENSIONS:
        raise ValueError
    return shape, kind, by_column, start + length
