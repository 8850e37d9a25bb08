"""The cells of files as they stand, to say by `hetviz.io.infer.recipe` how they are read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from hetviz.io.infer.recipe import RawTable
from hetviz.io.intake.drop import Parse, read_drop
from hetviz.io.piece import Choices, Piece, parts_of


def raw_tables(
    files: Sequence[tuple[str, bytes]],
    choices: Mapping[str, Choices] | None = None,
    parse: Parse = read_drop,
) -> dict[tuple[str, str], RawTable]:
    """Return the tables in files with nothing made of them: no names of columns, no end.

    Parameters
    ----------
    files : sequence of (name, bytes)
    choices : mapping of file name to Choices, optional
        How a file is decoded and its cells are told apart; recipes are passed over.
    parse : callable
        See `hetviz.io.read_tables`.

    Returns
    -------
    dict of (file, sheet) to RawTable
        The sheet is ``""`` for files that hold one table; the key of a recipe in
        ``Choices.recipes``. Formats whose columns have names and types by themselves, such as
        Parquet, give these names as the row 0. Files of which nothing can be read are left out.
    """
    said = {
        name: replace((choices or {}).get(name, Choices()), raw=True, recipes={}, only_table=True)
        for name, _ in files
    }
    drop = parse(files, said)
    found: dict[tuple[str, str], RawTable] = {}
    for piece in drop.pieces:
        if piece.frame is None or piece.role in ("links", "comparisons"):
            continue
        file, sheet = parts_of(piece.where)
        found.setdefault((file, sheet), _table(piece))
    return found


def _table(piece: Piece) -> RawTable:
    assert piece.frame is not None  # noqa: S101
    cells = [_as_written(row) for row in piece.frame.to_numpy(dtype=object).tolist()]
    names = list(map(str, piece.frame.columns))
    if names == [str(at) for at in range(len(names))] and piece.recipe is None:
        rows = list(zip(piece.row, cells, strict=True))
    else:
        rows = [(0, names), *((at + 1, row) for at, row in enumerate(cells))]
    return RawTable(piece.where, rows, piece.decimal, piece.id_column or "")


def _as_written(cells: list[Any]) -> list[str]:
    """Return the cells of a row without those that only fill it up to the width of the table."""
    end = len(cells)
    while end and not isinstance(cells[end - 1], str):
        end -= 1
    return cells[:end]
