"""Matrices next to a table, joined to it by id."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
import scipy.sparse as sp

from hetviz._pandas import TEXT
from hetviz._text import count
from hetviz._types import Array, Bools, Floats, Ints, Reals
from hetviz.errors import DataError, Problem, limit_problems
from hetviz.features.columns.types import numbers
from hetviz.io import gate, limits
from hetviz.io.files import Files
from hetviz.io.formats import npy
from hetviz.io.formats.matrix_kinds import (
    MIN_ROWS,
    ROW,
    check_symmetric,
    chosen_or_recognised,
    matrix_sentence,
)
from hetviz.io.formats.registry import format_of, kind_of, read_table
from hetviz.io.infer.ids import guess_id_column
from hetviz.io.infer.parsed import Choices, Table, TableReader

_MIN_SHARED_SHARE = 0.5
_SEPARATORS = ("_", "-", ".", " ")
_LEFT_OUT = "The row is left out."


def square_table(table: Table, chosen: str | None = None) -> Table:
    """Return a table whose columns are its ids as a kernel or distances, others unchanged."""
    frame = table.frame
    if not frame.shape[1] or chosen == "features" or table.role not in (None, "dataset"):
        return table
    if not table.header and len(frame) == frame.shape[1]:
        return _unnamed_square(table, chosen)
    first, *others = map(str, frame.columns)
    # Cheap check first: most tables are longer than wide.
    if not MIN_ROWS <= len(frame) <= limits.MAX_SQUARE or len(frame) != len(others):
        return table
    ids = [text.strip() for text in frame[first].tolist()]
    if sorted(ids) != sorted(others):
        return table
    if len(set(ids)) != len(ids):
        return table
    X = _with_both_halves(
        np.column_stack([numbers(frame[name].tolist(), table.decimal) for name in ids]),
        np.column_stack([frame[name].str.strip().eq("").to_numpy() for name in ids]),
    )
    if not np.isfinite(X).all():
        return table
    rounding = _rounding_error(frame[others], table.decimal)
    kind = chosen_or_recognised(table.where, X, chosen, rounding)
    if kind == "features":
        return table
    symmetric = (X + X.T) / 2
    return replace(
        table,
        role="dataset",
        frame=pd.DataFrame({"id": frame[first].tolist()}, dtype=TEXT),
        id_column="id",
        recipe=None,
        facts={
            **table.facts,
            "matrix": f"{matrix_sentence(kind, X.shape)}, named by the first row",
        },
        **{kind: symmetric},  # type: ignore[arg-type]
    )


def _with_both_halves(X: Floats, is_blank: Bools) -> Floats:
    """Return a square matrix with a blank half mirrored, and with a blank diagonal as 0."""
    n = len(X)
    upper = np.triu(np.ones((n, n), dtype=bool), 1)
    for half in (upper, upper.T):
        for blank in (half, half | np.eye(n, dtype=bool)):
            if np.array_equal(is_blank, blank):
                filled = np.where(is_blank, 0.0, X)
                return filled + np.where(half, filled.T, 0.0)
    return X


def _unnamed_square(table: Table, chosen: str | None) -> Table:
    """Return a square table of numbers without names as distances or a kernel, if it is one."""
    frame = table.frame
    if not MIN_ROWS <= len(frame) <= limits.MAX_SQUARE:
        return table
    X = np.column_stack([numbers(frame[name].tolist(), table.decimal) for name in frame.columns])
    if not np.isfinite(X).all():
        return table
    kind = chosen_or_recognised(table.where, X, chosen, _rounding_error(frame, table.decimal))
    if kind == "features":
        return table
    ids = pd.DataFrame({"id": [str(at + 1) for at in range(len(frame))]}, dtype=TEXT)
    sentence = f"{matrix_sentence(kind, X.shape)}, in the order of the rows"
    message = (
        f"the table is square and symmetric, so it is read as {matrix_sentence(kind, X.shape)}"
    )
    remedy = "If these are features, choose so under Read a file in another way."
    note = Problem("square", table.where, message, remedy=remedy, severity="note")
    problems = [problem for problem in table.problems if problem.code != "no-header"]
    return replace(
        table,
        role="dataset",
        frame=ids,
        id_column="id",
        facts={**table.facts, "matrix": f"{sentence}, in the order of the rows"},
        problems=(*problems, note),
        **{kind: (X + X.T) / 2},  # type: ignore[arg-type]
    )


def _rounding_error(cells: pd.DataFrame, decimal: str) -> float:
    """Return the rounding error of written numbers: half a unit of their last decimal."""
    head = cells.head(20).to_numpy(dtype=object).ravel().tolist()
    if any("e" in text.lower() for text in head):
        return 0.0
    n_decimals = max(len(text.strip().partition(decimal)[2]) for text in head)
    return 0.5 * 10.0**-n_decimals if n_decimals else 0.0


def join_matrices(all_tables: Sequence[Table], choices: Mapping[str, Choices]) -> list[Table]:
    """Join each matrix to the table with its name and ids."""
    tables = {at: table for at, table in enumerate(all_tables) if _is_table(table)}
    unjoined: dict[int, Table] = {}
    for at, matrix in enumerate(all_tables):
        if at in tables:
            continue
        chosen = _choice(matrix, choices).rows_of if matrix.has_matrix else None
        place = _partner(matrix, tables, chosen) if matrix.has_matrix else None
        if place is None:
            unjoined[at] = matrix
            continue
        table = tables[place]
        try:
            by = _choice(table, choices).id
            by = by if by is None or isinstance(by, str) else next(iter(by), None)
            joined = _join(table, matrix, by, chosen is not None)
        except DataError as error:
            tables[place] = replace(table, problems=(*table.problems, *error.problems))
            continue
        if joined is None:
            same = matrix.name == tables[place].name
            unjoined[at] = replace(matrix, name=f"{matrix.name} matrix") if same else matrix
        else:
            tables[place] = joined
    return [(tables | unjoined)[at] for at in sorted(tables | unjoined)]


def _is_table(table: Table) -> bool:
    return not table.has_matrix and table.role in (None, "dataset")


def _choice(table: Table, choices: Mapping[str, Choices]) -> Choices:
    return choices.get(table.where) or choices.get(table.where.split(", ")[0]) or Choices()


def _partner(matrix: Table, tables: Mapping[int, Table], chosen: str | None) -> int | None:
    """Return the table of a matrix: the chosen one, else the one with its name."""
    if chosen is not None:
        return next((at for at, t in tables.items() if chosen in (t.where, t.name)), None)
    for at, table in tables.items():
        begins = tuple(table.name + separator for separator in _SEPARATORS)
        if matrix.name == table.name or matrix.name.startswith(begins):
            return at
    return None


def _join(table: Table, matrix: Table, id_column: str | None, in_order: bool) -> Table | None:
    """Return the table with the matrix, None if too few ids match."""
    n = len(table.frame)
    has_ids = matrix.id_column not in (None, ROW)
    if in_order:
        if len(matrix.frame) != n or any(matrix.problems):
            message = f"{len(matrix.frame):,} usable rows, but {table.where} has {n:,}"
            raise gate.refusal("row-count", matrix.where, message, remedy="Give one for each row.")
        return _add_matrix(table, matrix, np.arange(n), f"{matrix.where}, in the order of the rows")
    if not has_ids:
        if len(matrix.frame) != n:
            return None
        raise gate.refusal(
            "row-order",
            matrix.where,
            f"it has as many rows as {table.where} but no ids, so its rows cannot be "
            "matched and it is left out",
            remedy="Save it as NPZ with an array named ids, or state that its rows are "
            f"those of {table.where}, in the same order.",
        )
    column = id_column or table.id_column or guess_id_column(table.frame)
    if column is None or column not in table.frame.columns:
        return None
    row_of = {text: row for row, text in enumerate(matrix.frame[matrix.id_column].tolist())}
    rows = np.array([row_of.get(text, -1) for text in table.frame[column].tolist()])
    shared = int((rows >= 0).sum())
    if shared < _MIN_SHARED_SHARE * min(n, len(matrix.frame)) or not shared:
        return None
    return replace(_add_matrix(table, matrix, rows, f"{matrix.where}, by id"), id_column=column)


def _add_matrix(table: Table, matrix: Table, rows: Ints, origin: str) -> Table:
    """Return a table with rows ``rows[r]`` of a matrix, without rows at -1."""
    good = np.flatnonzero(rows >= 0)
    matrix_rows = rows[good]
    missing = [
        Problem(
            "no-features",
            f"{table.where}, row {table.row[row] + 1}",
            f"{matrix.where} has no row for this id",
            remedy="The row is left out.",
            row=table.row[row],
        )
        for row in np.flatnonzero(rows < 0).tolist()
    ]
    notes = list(limit_problems(missing))
    if n_unused := len(matrix.frame) - len(set(matrix_rows.tolist())):
        message = f"{count(n_unused, 'id')} not found in {table.where} and not used"
        notes.append(Problem("extra-ids", matrix.where, message, severity="note"))
    return replace(
        table,
        role="dataset",
        frame=table.frame.iloc[good].reset_index(drop=True),
        row=tuple(table.row[row] for row in good.tolist()),
        X=None if matrix.X is None else matrix.X[matrix_rows],
        feature_names=matrix.feature_names,
        kernel=_square(matrix.kernel, matrix_rows),
        distance=_square(matrix.distance, matrix_rows),
        facts={**table.facts, "matrix": f"{matrix.facts.get('matrix', '')} from {origin}"},
        problems=(*table.problems, *matrix.problems, *notes),
    )


def _square(values: Reals | None, take: Ints) -> Reals | None:
    return None if values is None else values[np.ix_(take, take)]


class MatrixFiles:
    """Reads features, kernels and distances of the rows of one table from files."""

    def __init__(
        self,
        files: Files,
        table: Table,
        id_column: str,
        good: Bools,
        problems: list[Problem],
        tables: TableReader = read_table,
    ) -> None:
        self.files, self.read, self.id_column = files, table, id_column
        self.good, self.problems, self.tables = good, problems, tables

    def matrix(self, name: str) -> Array:
        """Return an NPY matrix with one row per row of the table, in the same order."""
        content = self.files.read(name)
        format_of(name, content)
        matrix = npy.matrix(name, content)
        n = len(self.read.frame)
        if len(matrix) != n:
            raise gate.refusal(
                "row-count",
                name,
                f"{len(matrix):,} rows, but {self.read.where} has {n:,}",
                remedy="Give one row for each row of the table, in the same order.",
            )
        return matrix

    def square(self, name: str, rows: Ints, *, is_saved: bool) -> Array:
        """Return a kernel or distances between some rows."""
        matrix = self.matrix(name)
        if is_saved:
            return matrix
        n, m = matrix.shape
        if n != m:
            raise gate.refusal(
                "bad-shape",
                name,
                "a kernel or distance matrix needs as many columns as rows",
                f"{n} x {m}",
                "Give one column for each row of the table, in the same order.",
            )
        check_symmetric(name, matrix)
        return matrix[np.ix_(rows, rows)]

    def features(self, name: str) -> tuple[Array, tuple[str, ...]]:
        """Return features and names from an NPY matrix or a table matched by id."""
        content = self.files.read(name)
        if kind_of(name, content) == "npy":
            return self.matrix(name), ()
        return self._by_id(self.tables(name, content, None))

    def sparse(self, where: str, names: tuple[str, ...], n_features: int | None) -> sp.csr_array:
        """Return features from the three parts of a CSR matrix."""
        if len(names) != 3 or n_features is None:
            message = "three files (data, indices, indptr) and n_features are needed"
            raise gate.refusal("bad-manifest", where, message)
        data, indices, indptr = (npy.vector(name, self.files.read(name)) for name in names)
        try:
            shape = (len(self.read.frame), n_features)
            X = sp.csr_array((data, indices, indptr), shape=shape)
            X.check_format(full_check=True)
        except (ValueError, TypeError, IndexError, OverflowError):
            raise gate.refusal("bad-shape", where, "the three files do not fit together") from None
        return X

    def _by_id(self, vectors: Table) -> tuple[Floats, tuple[str, ...]]:
        self.problems += vectors.problems
        columns = list(vectors.frame.columns)
        id_column = self.id_column if self.id_column in columns else columns[0]
        names = tuple(column for column in columns if column != id_column)
        ids = self.read.frame[self.id_column].tolist()
        row_of = {text: row for row, text in enumerate(ids)}
        vector_ids = vectors.frame[id_column]
        row = np.array([row_of.get(text, -1) for text in vector_ids.tolist()], dtype=np.int64)
        used = row >= 0
        repeated = np.flatnonzero(used & vector_ids.duplicated().to_numpy())
        used[repeated] = False
        self.problems += limit_problems(
            Problem(
                "duplicate-id",
                vectors.place(at, id_column),
                "a second row",
                vector_ids[at],
                _LEFT_OUT,
            )
            for at in repeated.tolist()
        )
        cells = {name: vectors.frame[name].tolist() for name in names}
        values = np.empty((len(vector_ids), len(names)))
        for at, name in enumerate(names):
            values[:, at] = numbers(cells[name], vectors.decimal)
        X = np.full((len(ids), len(names)), np.nan)
        X[row[used]] = values[used]
        bad = np.argwhere(np.isnan(values) & used[:, None])
        self.problems += limit_problems(
            Problem(
                "not-numbers",
                vectors.place(at, names[column]),
                "this is not a number",
                cells[names[column]][at],
                _LEFT_OUT,
            )
            for at, column in bad.tolist()
        )
        has_none = self.good.copy()
        has_none[row[used]] = False
        self.good[has_none] = False
        self.good[row[bad[:, 0]]] = False
        self.problems += limit_problems(self._lacking(vectors.where, np.flatnonzero(has_none), ids))
        if n_unused := int((row < 0).sum()):
            message = f"{count(n_unused, 'id')} not found in {self.read.where} and not used"
            self.problems.append(Problem("extra-ids", vectors.where, message, severity="note"))
        return X, names

    def _lacking(self, name: str, rows: Ints, ids: list[str]) -> Iterator[Problem]:
        for row in rows.tolist():
            message = "this id has no features"
            yield Problem("no-features", name, message, ids[row], _LEFT_OUT)
