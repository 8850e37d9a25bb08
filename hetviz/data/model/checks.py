"""Checks of values that enter the data model; all problems are collected and raised at once."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import ArrayLike

from hetviz._text import count
from hetviz._types import Array, Floats, Ints, Matrix, Reals, Texts, is_sparse
from hetviz.errors import DataError, Problem

MAX_ID_LENGTH = 256
MAX_NAME_LENGTH = 200


class ProblemCollector:
    """Collection of problems that are raised together."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []

    def refuse(
        self,
        code: str,
        where: str,
        what: str,
        value: object = "",
        remedy: str = "",
        row: int | None = None,
    ) -> None:
        """Add one problem."""
        self.problems.append(Problem(code, where, what, str(value), remedy, row=row))

    def close(self) -> None:
        """Raise a `DataError` of all problems, if there are any."""
        if self.problems:
            raise DataError(self.problems)


def read_only(array: Array) -> Array:
    """Return a read-only view of the array; the array of the caller stays writable."""
    view = array.view()
    view.flags.writeable = False
    return view


def check_name(gate: ProblemCollector, where: str, name: object) -> str:
    """Check a dataset, kind or label name."""
    if not isinstance(name, str) or not name.strip():
        gate.refuse("bad-name", where, "the name must be text and not empty", repr(name))
        return ""
    if len(name) > MAX_NAME_LENGTH:
        gate.refuse(
            "long-name",
            where,
            f"the name has {len(name)} characters, at most {MAX_NAME_LENGTH} are allowed",
            name[:40] + "…",
            "Shorten it.",
        )
    if any(unicodedata.category(character) == "Cc" for character in name):
        gate.refuse("bad-name", where, "the name contains a control character", repr(name))
    return name


def check_ids(gate: ProblemCollector, where: str, ids: Iterable[object]) -> Texts:
    """Check row ids: unique, non-empty text, unchanged."""
    values = ids.tolist() if isinstance(ids, np.ndarray) else list(ids)
    if not values:
        gate.refuse("no-rows", where, "there are no rows", remedy="Give at least one row.")
    rows: dict[str, int] = {}
    out = np.empty(len(values), dtype=object)
    if _is_valid_ids(values):
        out[:] = values
        return out
    if len(values) > 1 and not any(isinstance(value, str) for value in values):
        message = f"the ids are {type(values[0]).__name__}, but ids are text"
        remedy = "Give list(map(str, ids)). 007 and 7 are different ids."
        gate.refuse("id-not-text", where, message, values[0], remedy)
        return out
    for row, value in enumerate(values):
        place = f"{where}, row {row + 1}"
        if not isinstance(value, str):
            gate.refuse(
                "id-not-text",
                place,
                f"the id is {type(value).__name__}, but ids are text",
                value,
                "Write it in quotes or convert it with str(). 007 and 7 are different ids.",
                row,
            )
            continue
        text = str(value)
        out[row] = text
        if not text.strip():
            gate.refuse(
                "empty-id", place, "the id is empty", remedy="Give every row an id.", row=row
            )
        elif len(text) > MAX_ID_LENGTH:
            gate.refuse(
                "long-id",
                place,
                f"the id has {len(text)} characters, at most {MAX_ID_LENGTH} are allowed",
                text[:40] + "…",
                "Use a shorter id column.",
                row,
            )
        elif text in rows:
            gate.refuse(
                "duplicate-id",
                place,
                f"the id is already used in row {rows[text] + 1}",
                text,
                "Ids must be unique. Rename one id or remove one row.",
                row,
            )
        else:
            rows[text] = row
    return out


def _is_valid_ids(values: list[Any]) -> bool:
    """Return whether all ids are valid, without testing each one."""
    if set(map(type, values)) != {str}:
        return False
    different = len(set(values)) == len(values)
    return different and max(map(len, values)) <= MAX_ID_LENGTH and all(map(str.strip, values))


def check_matrix(
    gate: ProblemCollector,
    where: str,
    values: object,
    n_rows: int,
    columns: Sequence[str] | None = None,
) -> Matrix | None:
    """Check a real matrix of `n_rows` rows, dense or CSR; every bad cell is a problem."""
    if is_sparse(values):
        try:
            sparse = sp.csr_array(values)
            if sparse.dtype != np.float32:
                sparse = sparse.astype(np.float64)
        except (TypeError, ValueError):
            gate.refuse("not-numbers", where, "the values are not numbers")
            return None
        sparse.sum_duplicates()
        cells: Reals = sparse.data
        shape = sparse.shape
        result: Matrix = sparse
    else:
        try:
            dense = np.asarray(values)
            if np.iscomplexobj(dense):
                raise ValueError
            dense = dense.astype(np.float32 if dense.dtype == np.float32 else np.float64, copy=True)
        except (TypeError, ValueError):
            gate.refuse(
                "not-numbers",
                where,
                "the values are not all numbers",
                remedy="Turn text and categories into numbers first (hetviz.features does it).",
            )
            return None
        if dense.ndim != 2:
            gate.refuse(
                "bad-shape",
                where,
                "a table with rows and columns is needed, but this has "
                f"{count(dense.ndim, 'dimension')}",
                dense.shape,
                "For a single column use X.reshape(-1, 1).",
            )
            return None
        cells, shape, result = dense, dense.shape, dense
    if shape[0] != n_rows:
        gate.refuse(
            "row-count",
            where,
            f"{shape[0]} rows, but there are {n_rows} ids",
            shape[0],
            "Give one row for each id, in the same order.",
        )
        return None
    if shape[1] == 0:
        gate.refuse(
            "no-columns", where, "no columns", remedy="Leave it out for items without features."
        )
        return None
    bad = ~np.isfinite(cells)
    if bad.any():
        if isinstance(result, np.ndarray):
            places: Ints = np.argwhere(bad)
        else:
            places = np.column_stack(result.tocoo().coords)[bad].astype(np.int64)
        for row, column in places.tolist():
            title = columns[column] if columns is not None else str(column + 1)
            gate.refuse(
                "not-finite",
                f"{where}, row {row + 1}, column {title}",
                "the value is missing or infinite",
                result[row, column],
                "Fill it in, or remove the row or the column.",
                row,
            )
        return None
    if isinstance(result, np.ndarray):
        return read_only(result)
    parts = (read_only(result.data), read_only(result.indices), read_only(result.indptr))
    return sp.csr_array(parts, shape=shape)


def check_positions(
    gate: ProblemCollector, where: str, values: ArrayLike, n_rows: int | None
) -> Ints:
    """Check whole, non-negative row positions, below `n_rows` if given."""
    array = np.asarray(values)
    if array.size == 0:
        return read_only(np.zeros(array.shape if array.ndim else (0,), dtype=np.int64))
    if array.dtype == bool or not np.issubdtype(array.dtype, np.integer):
        gate.refuse(
            "not-positions",
            where,
            "row positions must be whole numbers",
            array.dtype,
            "Use data.position(dataset, id) to find them.",
        )
        return read_only(np.zeros(array.shape, dtype=np.int64))
    positions = array.astype(np.int64)
    wrong = positions < 0
    if n_rows is not None:
        wrong |= positions >= n_rows
    for index in np.argwhere(wrong):
        limit = "" if n_rows is None else f" (there are {n_rows} rows, counted from 0)"
        gate.refuse(
            "unknown-row",
            f"{where}, row {int(index[0]) + 1}",
            f"this row position does not exist{limit}",
            positions[tuple(index)],
            "Use data.position(dataset, id) to find positions.",
            int(index[0]),
        )
    return read_only(positions)


def check_numbers(gate: ProblemCollector, where: str, values: ArrayLike, n: int) -> Floats:
    """Check a vector of `n` finite numbers."""
    try:
        array = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        gate.refuse("not-numbers", where, "the values are not all numbers")
        return np.zeros(n)
    if array.ndim == 0:
        array = np.full(n, float(array))
    if array.shape != (n,):
        gate.refuse("bad-shape", where, f"{n} values are needed", array.shape)
        return np.zeros(n)
    for row in np.flatnonzero(~np.isfinite(array)):
        gate.refuse(
            "not-finite",
            f"{where}, row {row + 1}",
            "the value is missing or infinite",
            array[row],
            "Fill it in or remove the row.",
            int(row),
        )
    return array


def check_meta(gate: ProblemCollector, where: str, meta: object, n: int) -> pd.DataFrame | None:
    """Check the meta table of `n` statements; its rows are numbered from 0."""
    if meta is None:
        return None
    if not isinstance(meta, pd.DataFrame) or len(meta) != n:
        value = len(meta) if isinstance(meta, pd.DataFrame) else type(meta).__name__
        gate.refuse("bad-meta", where, f"meta must be a DataFrame of {n} rows", value)
        return None
    rows: pd.DataFrame = meta.reset_index(drop=True)
    return rows


def check_global_rows(rows: ArrayLike, n_rows: int) -> Ints:
    """Return sorted, distinct global rows; raise unless they are whole numbers below `n_rows`."""
    array = np.asarray(rows)
    if array.size == 0:
        return np.empty(0, dtype=np.int64)
    if not np.issubdtype(array.dtype, np.integer):
        raise DataError.of("bad-rows", "rows", "row numbers are needed", repr(rows)[:40])
    unique = np.unique(array).astype(np.int64)
    for row in (unique[0], unique[-1]):
        if not 0 <= row < n_rows:
            raise DataError.of("unknown-row", "rows", "this row does not exist", str(row))
    return unique
