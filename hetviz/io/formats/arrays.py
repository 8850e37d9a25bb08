"""NumPy and SciPy files: embeddings, precomputed kernels and distances, sparse matrices.

Pickles are never opened. Declared sizes are checked before memory is allocated.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

from hetviz._pandas import TEXT
from hetviz._types import Array, Ints, Matrix, is_sparse
from hetviz.errors import DataError, Problem, limit_problems
from hetviz.io import gate, limits
from hetviz.io.files import Archive
from hetviz.io.formats import npy
from hetviz.io.formats.base import FileFormat
from hetviz.io.formats.matrix_kinds import ROW, chosen_or_recognised, matrix_sentence
from hetviz.io.infer.parsed import Choices, Table, stem

_ID_ARRAYS = ("ids", "id", "names", "name", "index", "obs_names")
_FEATURE_NAME_ARRAYS = ("feature_names", "features", "columns", "var_names")
_SPARSE_FORMATS = {"csr", "csc", "coo"}
_NUMBERS = "fiub"
_TEXT = "US"
_LEFT_OUT = "The row is left out."
_MAX_CODE_POINT, _SURROGATES = 0x10FFFF, (0xD800, 0xDFFF)
_SAVE_AGAIN = "Save it again with numpy.save, as an array of numbers."


def read_npy(name: str, content: bytes, choices: Choices) -> list[Table]:
    """Read one matrix from an NPY file. The ids are row numbers from 1."""
    X = _matrix(name, array(name, content))
    return [_piece(stem(name), name, X, _OtherArrays.none(len(X)), choices)]


def read_npz(name: str, content: bytes, choices: Choices) -> list[Table]:
    """Read the matrices of an NPZ archive, or the one sparse matrix that SciPy saved."""
    archive = Archive(name, content)
    members = {
        member.removesuffix(".npy"): member for member in archive.names() if member.endswith(".npy")
    }
    if not members:
        raise gate.refusal(
            "no-matrix", name, "no matrix was found", remedy="Save it with numpy.savez."
        )
    problems: list[Problem] = []
    arrays: dict[str, Array] = {}
    for key, member in members.items():
        try:
            arrays[key] = array(f"{name}, {key}", archive.read(member))
        except DataError as error:
            problems += error.problems
    if {"format", "shape", "data"} <= set(members):
        if problems:
            raise DataError(problems)
        X: Any = _sparse(name, arrays)
        return [_piece(stem(name), name, X, _OtherArrays.none(X.shape[0]), choices)]
    matrices = {key: values for key, values in arrays.items() if values.ndim == 2}
    if not matrices:
        message = "no matrix (array with rows and columns) was found"
        shapes = ", ".join(f"{key} {values.shape}" for key, values in arrays.items())
        problems += gate.refusal("no-matrix", name, message, shapes[:200]).problems
        raise DataError(problems)
    tables: list[Table] = []
    for key, values in matrices.items():
        called = stem(name) if len(matrices) == 1 else key
        where = name if len(matrices) == 1 else f"{name}, {key}"
        try:
            X = _matrix(where, values)
            tables.append(_piece(called, where, X, _OtherArrays.among(where, X, arrays), choices))
        except DataError as error:
            problems += error.problems
    if not tables:
        raise DataError(problems)
    return [replace(tables[0], problems=(*problems, *tables[0].problems)), *tables[1:]]


def array(where: str, content: bytes) -> Array:
    """Return an array of numbers or text from the bytes of an NPY file."""
    try:
        shape, kind, _, start = npy.header(content)
    except ValueError:
        message = "the array is damaged or contains Python objects, which are not allowed"
        raise gate.refusal("bad-npy", where, message, remedy=_SAVE_AGAIN) from None
    cells = math.prod(shape)
    n_bytes_left = max(len(content) - start, 0)
    # Empty texts take no bytes in the file but some in memory.
    max_cells = limits.MAX_CELLS if kind.itemsize else limits.MAX_ROWS
    if cells > max_cells or cells * kind.itemsize > n_bytes_left:
        raise gate.refusal(
            "bad-npy",
            where,
            f"the header declares {cells:,} values but the file only contains "
            f"{n_bytes_left // max(kind.itemsize, 1):,}",
            shape,
            _SAVE_AGAIN,
        )
    return npy.values(content)


def _matrix(where: str, values: Array) -> Array:
    if values.ndim != 2 or values.dtype.kind not in _NUMBERS:
        message = "a matrix of numbers with rows and columns is needed"
        raise gate.refusal(
            "bad-shape",
            where,
            message,
            f"shape {values.shape} of {values.dtype}",
            "Save one row for each item, such as X.reshape(len(X), -1).",
        )
    check_shape(where, values.shape)
    small = values.dtype.kind == "f" and values.dtype.itemsize <= 4
    return values.astype(np.float32 if small else np.float64)


def check_shape(where: str, shape: tuple[int, ...], *, is_sparse: bool = False) -> None:
    """Raise an error for an empty or too large matrix."""
    n, p = shape
    if not n or not p:
        raise gate.refusal("no-rows", where, "the matrix is empty", f"{n} x {p}")
    max_columns = 10 * limits.MAX_COLUMNS if is_sparse else limits.MAX_COLUMNS
    if n > limits.MAX_ROWS or p > max_columns or (not is_sparse and n * p > limits.MAX_CELLS):
        raise gate.refusal(
            "too-large",
            where,
            f"{n:,} rows and {p:,} columns, at most {limits.MAX_ROWS:,} rows, {max_columns:,} "
            f"columns and {limits.MAX_CELLS:,} cells are allowed",
            remedy="Give fewer rows or columns.",
        )


def _sparse(where: str, arrays: Mapping[str, Array]) -> sp.csr_array:
    kind = arrays["format"]
    word = str(kind.astype(str)) if kind.ndim == 0 and kind.dtype.kind in _TEXT else ""
    if word not in _SPARSE_FORMATS:
        raise gate.refusal(
            "bad-sparse",
            where,
            "this kind of sparse matrix is not supported",
            word[:20],
            "Save X.tocsr() with scipy.sparse.save_npz.",
        )
    return sparse_of(where, word, arrays["shape"].tolist(), arrays)


def sparse_of(
    where: str, word: str, shape: Sequence[int], parts: Mapping[str, object]
) -> sp.csr_array:
    """Return a CSR matrix of shape (rows, columns) from the parts of a sparse one."""
    try:
        n, p = (int(side) for side in shape)
        names = ("row", "col") if word == "coo" else ("indices", "indptr")
        data, first, second = (np.asarray(parts[key]) for key in ("data", *names))
        if data.dtype.kind not in _NUMBERS or first.dtype.kind not in "iu":
            raise ValueError
        if second.dtype.kind not in "iu" or {data.ndim, first.ndim, second.ndim} != {1}:
            raise ValueError
        check_shape(where, (n, p), is_sparse=True)
        if word == "coo":
            sparse: Any = sp.coo_array((data, (first, second)), shape=(n, p))
        else:
            sparse = (sp.csr_array if word == "csr" else sp.csc_array)(
                (data, first, second), shape=(n, p)
            )
            sparse.check_format(full_check=True)
        X = sp.csr_array(sparse).astype(np.float32 if data.dtype == np.float32 else np.float64)
    except (KeyError, ValueError, TypeError, IndexError, OverflowError):
        raise gate.refusal(
            "bad-sparse",
            where,
            "the parts of the sparse matrix do not fit together",
            remedy="Save X.tocsr() with scipy.sparse.save_npz.",
        ) from None
    X.sum_duplicates()
    return X


@dataclass(frozen=True)
class _OtherArrays:
    """Ids, names and columns for a matrix from the other arrays of its archive."""

    frame: pd.DataFrame
    id_column: str
    ids_from: str
    feature_names: tuple[str, ...]
    notes: tuple[Problem, ...] = ()

    @classmethod
    def none(cls, n: int) -> _OtherArrays:
        return cls(pd.DataFrame({ROW: _row_numbers(n)}, dtype=TEXT), ROW, "", ())

    @classmethod
    def among(cls, where: str, X: Array, arrays: Mapping[str, Array]) -> _OtherArrays:
        n, p = X.shape
        lists = {key: values for key, values in arrays.items() if values.ndim == 1}
        ids = next((key for key in _ID_ARRAYS if key in lists and len(lists[key]) == n), None)
        names = next(
            (key for key in _FEATURE_NAME_ARRAYS if key in lists and len(lists[key]) == p), None
        )
        if names == ids:
            names = None
        columns = {
            ROW if ids is None else ids: _row_numbers(n)
            if ids is None
            else _cells(where, lists[ids])
        }
        used = {ids, names}
        for key, values in lists.items():
            if key not in used and len(values) == n:
                columns[key] = _cells(where, values)
                used.add(key)
        unused = [key for key, values in arrays.items() if values.ndim != 2 and key not in used]
        names_shown = ", ".join(unused)[:200]
        message = f"arrays that match neither the rows nor the columns are not used: {names_shown}"
        notes = [Problem("not-used", where, message, severity="note")] if unused else []
        return cls(
            pd.DataFrame(columns, dtype=TEXT),
            ids or ROW,
            ids or "",
            () if names is None else tuple(_cells(where, lists[names])),
            tuple(notes),
        )


def _row_numbers(n: int) -> list[str]:
    return [str(row) for row in range(1, n + 1)]


def _cells(where: str, values: Array) -> list[str]:
    if values.dtype.kind == "U" and not _is_text(values):
        message = "a text array next to the matrix is damaged"
        raise gate.refusal("bad-npy", where, message, remedy=_SAVE_AGAIN)
    if values.dtype.kind == "S":
        return [value.decode("utf-8", "replace") for value in values.tolist()]
    if values.dtype.kind == "f":
        return ["" if np.isnan(value) else repr(value) for value in values.tolist()]
    return [str(value) for value in values.tolist()]


def _is_text(values: Array) -> bool:
    """Whether all code points are valid and no surrogates."""
    signs = np.ascontiguousarray(values).view(
        np.dtype(np.uint32).newbyteorder(values.dtype.byteorder)
    )
    return not bool(
        ((signs > _MAX_CODE_POINT) | ((signs >= _SURROGATES[0]) & (signs <= _SURROGATES[1]))).any()
    )


def _piece(name: str, where: str, X: Matrix, siblings: _OtherArrays, choices: Choices) -> Table:
    """Return a matrix as a table, of the kind that the user chose or that is recognised."""
    feature_names = siblings.feature_names
    kind, facts = "features", {"matrix": f"features: {X.shape[0]:,} rows, {X.shape[1]:,} columns"}
    if not feature_names or choices.matrix is not None:
        kind = chosen_or_recognised(where, X, choices.matrix)
        facts = {"matrix": matrix_sentence(kind, X.shape)}
    facts["ids"] = siblings.ids_from or "row numbers, because the file has no ids"
    frame, row, problems = siblings.frame, np.arange(X.shape[0]), list(siblings.notes)
    if kind == "features":
        X, row, row_problems = finite_rows(where, X)
        frame = frame.iloc[row].reset_index(drop=True)
        problems += row_problems
    squares = {} if kind == "features" else {kind: np.asarray(X, dtype=np.float64)}
    return Table(
        name,
        where,
        "dataset",
        frame,
        tuple(row.tolist()),
        X=X if kind == "features" else None,
        feature_names=feature_names if kind == "features" else (),
        **squares,  # type: ignore[arg-type]
        id_column=siblings.id_column,
        facts=facts,
        problems=tuple(problems),
    )


def finite_rows(where: str, X: Matrix) -> tuple[Matrix, Ints, list[Problem]]:
    """Return the rows with only finite numbers, their row numbers, and problems for the others."""
    if is_sparse(X):
        lines = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
        bad = np.unique(lines[~np.isfinite(X.data)])
    else:
        bad = np.flatnonzero(~np.isfinite(X).all(axis=1))
    good = np.setdiff1d(np.arange(X.shape[0]), bad)
    if not len(good):
        raise gate.refusal("not-finite", where, "every row contains missing or infinite numbers")
    message = "a number is missing or infinite"
    problems = [
        Problem("not-finite", f"{where}, row {row + 1}", message, "", _LEFT_OUT, row=row)
        for row in bad.tolist()
    ]
    return (X[good] if len(bad) else X), good, list(limit_problems(problems))


FORMATS = (
    FileFormat("npy", "an NPY matrix", "matrix", (".npy",), read_npy, magic=(npy.MAGIC,)),
    FileFormat(
        "npz", "an NPZ archive of matrices", "matrix", (".npz",), read_npz,
        detect_zip=lambda members, _: bool(members) and all(m.endswith(".npy") for m in members)
    ),
)  # fmt: skip
