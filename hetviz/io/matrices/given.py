"""Matrices that a bundle gives for the rows of a table: features, kernels and distances."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp

from hetviz._types import Array, Bools, Floats, Ints
from hetviz.errors import Problem, listed
from hetviz.features.columns.types import numbers
from hetviz.io import gate
from hetviz.io.files import Files
from hetviz.io.formats import npy
from hetviz.io.formats.delimited import ReadTable, TableRead, read_table

_UNEVEN = 1e-6
_LEFT_OUT = "The row is left out."


class Given:
    """Reads what files say of the rows of one table.

    Parameters
    ----------
    files : Files
    read : TableRead
        The table, of n rows.
    id_column : str
    good : array of bool, shape (n,)
        Rows for which a file has nothing of use are set to False.
    problems : list of Problem
        Is added to.
    tables : callable
        Reads the tables among the files.
    """

    def __init__(
        self,
        files: Files,
        read: TableRead,
        id_column: str,
        good: Bools,
        problems: list[Problem],
        tables: ReadTable = read_table,
    ) -> None:
        self.files, self.read, self.id_column = files, read, id_column
        self.good, self.problems, self.tables = good, problems, tables

    def matrix(self, name: str) -> Array:
        """Return an NPY matrix with one row for each row of the table, in the same order."""
        matrix = npy.matrix(name, self.files.read(name))
        n = len(self.read.frame)
        if len(matrix) != n:
            raise gate.refusal(
                "row-count",
                name,
                f"{len(matrix):,} rows, but {self.read.name} has {n:,}",
                remedy="Give one row for each row of the table, in the same order.",
            )
        return matrix

    def square(self, name: str, rows: Ints, *, is_saved: bool) -> Array:
        """Return a kernel or distances among the given rows.

        Data in memory may hold those of new rows to old ones, which is what `is_saved` allows for.
        """
        matrix = self.matrix(name)
        if is_saved:
            return matrix
        n, m = matrix.shape
        if n != m:
            raise gate.refusal(
                "bad-shape",
                name,
                "a kernel or distances need as many columns as rows",
                f"{n} x {m}",
                "Give one column for each row of the table, in the same order.",
            )
        scale = np.abs(matrix).max(initial=0.0)
        with np.errstate(invalid="ignore"):
            uneven = np.argwhere(np.abs(matrix - matrix.T) > _UNEVEN * scale)
        if len(uneven):
            i, j = uneven[0]
            raise gate.refusal(
                "not-symmetric",
                f"{name}, row {i + 1}, column {j + 1}",
                f"the matrix is not symmetric: row {j + 1}, column {i + 1} has another value",
                f"{matrix[i, j]:g} and {matrix[j, i]:g}",
                "Save (K + K.T) / 2 if the difference means nothing.",
            )
        return matrix[np.ix_(rows, rows)]

    def features(self, name: str) -> tuple[Array, tuple[str, ...]]:
        """Return features from an NPY matrix, or a table matched by id, which also has names."""
        content = self.files.read(name)
        if gate.kind_of(name, content) == "npy":
            return self.matrix(name), ()
        return self._by_id(self.tables(name, content, None))

    def sparse(self, where: str, names: tuple[str, ...], n_features: int | None) -> sp.csr_array:
        """Return features from the three parts of a CSR matrix."""
        if len(names) != 3 or n_features is None:
            what = "three files (data, indices, indptr) and n_features are needed"
            raise gate.refusal("bad-manifest", where, what)
        data, indices, indptr = (npy.vector(name, self.files.read(name)) for name in names)
        try:
            shape = (len(self.read.frame), n_features)
            X = sp.csr_array((data, indices, indptr), shape=shape)
            X.check_format(full_check=True)
        except (ValueError, TypeError, IndexError, OverflowError):
            raise gate.refusal("bad-shape", where, "the three files do not fit together") from None
        return X

    def _by_id(self, vectors: TableRead) -> tuple[Floats, tuple[str, ...]]:
        self.problems += vectors.problems
        columns = list(vectors.frame.columns)
        id_column = self.id_column if self.id_column in columns else columns[0]
        names = tuple(column for column in columns if column != id_column)
        ids = self.read.frame[self.id_column].tolist()
        row_of = {text: row for row, text in enumerate(ids)}
        given = vectors.frame[id_column]
        row = np.array([row_of.get(text, -1) for text in given.tolist()], dtype=np.int64)
        used = row >= 0
        second = np.flatnonzero(used & given.duplicated().to_numpy())
        used[second] = False
        self.problems += listed(
            Problem(
                "duplicate-id", vectors.place(at, id_column), "a second row", given[at], _LEFT_OUT
            )
            for at in second.tolist()
        )
        cells = {name: vectors.frame[name].tolist() for name in names}
        values = np.empty((len(given), len(names)))
        for at, name in enumerate(names):
            values[:, at] = numbers(cells[name], vectors.decimal)
        X = np.full((len(ids), len(names)), np.nan)
        X[row[used]] = values[used]
        bad = np.argwhere(np.isnan(values) & used[:, None])
        self.problems += listed(
            Problem(
                "not-numbers",
                vectors.place(at, names[column]),
                "this is no number",
                cells[names[column]][at],
                _LEFT_OUT,
            )
            for at, column in bad.tolist()
        )
        lacking = self.good.copy()
        lacking[row[used]] = False
        self.good[lacking] = False
        self.good[row[bad[:, 0]]] = False
        self.problems += listed(self._lacking(vectors.name, np.flatnonzero(lacking), ids))
        extra = int((row < 0).sum())
        if extra:
            what = f"{extra:,} ids are not in {self.read.name}; they are not used"
            self.problems.append(Problem("extra-ids", vectors.name, what, severity="note"))
        return X, names

    def _lacking(self, name: str, rows: Ints, ids: list[str]) -> Iterator[Problem]:
        for row in rows.tolist():
            what = "there are no features for this id"
            yield Problem("no-features", name, what, ids[row], _LEFT_OUT)
