"""A matrix that came with a table of the same name: joined by ids, never by the order of rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from hetviz._types import Ints
from hetviz.errors import DataError, Problem, listed
from hetviz.io import gate
from hetviz.io.formats.arrays import ROW
from hetviz.io.formats.delimited import Choices, guess_id_column
from hetviz.io.sandbox.piece import Piece

_SHARE_SHARED = 0.5
_SEPARATORS = ("_", "-", ".", " ")


def matrices_joined(pieces: Sequence[Piece], choices: Mapping[str, Choices]) -> list[Piece]:
    """Join each matrix to the table of its name whose ids it gives.

    Parameters
    ----------
    pieces : sequence of Piece
    choices : mapping of file name to Choices
        ``rows_of`` of a matrix names the table whose rows it has, in the same order.

    Returns
    -------
    list of Piece
        A matrix without ids, of as many rows as a table of the same name, is refused with a
        remedy; the problem is with the table. Other matrices stay datasets of their own.
    """
    tables = {at: piece for at, piece in enumerate(pieces) if _is_table(piece)}
    alone: dict[int, Piece] = {}
    for at, matrix in enumerate(pieces):
        if at in tables:
            continue
        said = _choice(matrix, choices).rows_of if _is_matrix(matrix) else None
        place = _partner(matrix, tables, said) if _is_matrix(matrix) else None
        if place is None:
            alone[at] = matrix
            continue
        table = tables[place]
        try:
            joined = _joined(table, matrix, _choice(table, choices).id, said is not None)
        except DataError as error:
            tables[place] = replace(table, problems=(*table.problems, *error.problems))
            continue
        if joined is None:
            same = matrix.name == tables[place].name
            alone[at] = replace(matrix, name=f"{matrix.name} matrix") if same else matrix
        else:
            tables[place] = joined
    return [(tables | alone)[at] for at in sorted(tables | alone)]


def _is_table(piece: Piece) -> bool:
    return piece.frame is not None and not _is_matrix(piece) and piece.role in (None, "dataset")


def _is_matrix(piece: Piece) -> bool:
    return any(part is not None for part in (piece.X, piece.kernel, piece.distance))


def _choice(piece: Piece, choices: Mapping[str, Choices]) -> Choices:
    return choices.get(piece.where) or choices.get(piece.where.split(", ")[0]) or Choices()


def _partner(matrix: Piece, tables: Mapping[int, Piece], said: str | None) -> int | None:
    """Return the table of a matrix: the one the user names, else that of its name."""
    if said is not None:
        return next((at for at, t in tables.items() if said in (t.where, t.name)), None)
    for at, table in tables.items():
        begins = tuple(table.name + separator for separator in _SEPARATORS)
        if matrix.name == table.name or matrix.name.startswith(begins):
            return at
    return None


def _joined(table: Piece, matrix: Piece, id_column: str | None, in_order: bool) -> Piece | None:
    """Return the table with the matrix, None if they have too few ids in common.

    Raises
    ------
    hetviz.errors.DataError
        If the matrix gives no ids and nobody said that the rows are in the same order.
    """
    assert table.frame is not None  # noqa: S101
    n = table.n_rows
    given = matrix.id_column not in (None, ROW)
    if in_order:
        if matrix.n_rows != n or any(matrix.problems):
            what = f"{matrix.n_rows:,} good rows, but {table.where} has {n:,}"
            raise gate.refusal("row-count", matrix.where, what, remedy="Give one for each row.")
        return _with(table, matrix, np.arange(n), f"{matrix.where}, in the order of the rows")
    if not given:
        if matrix.n_rows != n:
            return None
        raise gate.refusal(
            "row-order",
            matrix.where,
            f"it has as many rows as {table.where}, but no ids, so whose rows they are is not "
            "known; it is left out",
            remedy="Save it as NPZ with an array named ids beside it, or say that its rows are "
            f"those of {table.where}, in the same order.",
        )
    column = id_column or table.id_column or guess_id_column(table.frame)
    if column is None or matrix.frame is None or column not in table.frame.columns:
        return None
    row_of = {text: row for row, text in enumerate(matrix.frame[matrix.id_column].tolist())}
    rows = np.array([row_of.get(text, -1) for text in table.frame[column].tolist()])
    shared = int((rows >= 0).sum())
    if shared < _SHARE_SHARED * min(n, matrix.n_rows) or not shared:
        return None
    return replace(_with(table, matrix, rows, f"{matrix.where}, by id"), id_column=column)


def _with(table: Piece, matrix: Piece, rows: Ints, how: str) -> Piece:
    """Return a table with rows ``rows[r]`` of a matrix; those at -1 are left out and told of."""
    assert table.frame is not None  # noqa: S101
    good = np.flatnonzero(rows >= 0)
    take = rows[good]
    lacking = [
        Problem(
            "no-features",
            f"{table.where}, row {table.row[row] + 1}",
            f"{matrix.where} has no row for this id",
            remedy="The row is left out.",
            row=table.row[row],
        )
        for row in np.flatnonzero(rows < 0).tolist()
    ]
    notes = list(listed(lacking))
    spare = matrix.n_rows - len(set(take.tolist()))
    if spare:
        what = f"{spare:,} ids are not in {table.where}; they are not used"
        notes.append(Problem("extra-ids", matrix.where, what, severity="note"))
    return replace(
        table,
        role="dataset",
        frame=table.frame.iloc[good].reset_index(drop=True),
        row=tuple(table.row[row] for row in good.tolist()),
        X=None if matrix.X is None else matrix.X[take],
        feature_names=matrix.feature_names,
        kernel=_square(matrix.kernel, take),
        distance=_square(matrix.distance, take),
        facts={**table.facts, "matrix": f"{matrix.facts.get('matrix', '')} from {how}"},
        problems=(*table.problems, *matrix.problems, *notes),
    )


def _square(values: Any, take: Ints) -> Any:
    return None if values is None else values[np.ix_(take, take)]
