"""The cells of files as they stand, to say by `hetviz.io.infer.recipe` how they are read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from hetviz._pandas import TEXT
from hetviz.io.infer.raw_rows import FrameRows
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
    referred = _referred(drop.pieces)
    for piece in drop.pieces:
        if piece.frame is None or piece.role in ("links", "comparisons"):
            continue
        file, sheet = parts_of(piece.where)
        keys = {name: referred.get((piece.where, name), "") for name in piece.key_columns}
        found.setdefault((file, sheet), replace(_table(piece), keys=keys))
    return found


def _referred(pieces: Sequence[Piece]) -> dict[tuple[str, str], str]:
    """Return the table that each declared key is of, by where it stands and its column."""
    found = {}
    for piece in pieces:
        where, key, columns = piece.where.rpartition(", key ")
        if key and piece.frame is not None and "target_dataset" in piece.frame:
            found[where, columns] = str(piece.frame["target_dataset"].iloc[0])
    return found


def _table(piece: Piece) -> RawTable:
    assert piece.frame is not None  # noqa: S101
    frame = piece.frame
    if not all(isinstance(dtype, pd.StringDtype) for dtype in frame.dtypes):
        frame = frame.astype(TEXT)
    names = list(map(str, frame.columns))
    lines = np.asarray(piece.row, dtype=np.int64)
    if names != [str(at) for at in range(len(names))] or piece.recipe is not None:
        frame = frame.set_axis([str(at) for at in range(len(names))], axis=1)
        first = pd.DataFrame([names], columns=frame.columns, dtype=TEXT)
        frame, lines = pd.concat([first, frame], ignore_index=True), np.arange(len(frame) + 1)
    return RawTable(piece.where, FrameRows(frame, lines), piece.decimal, piece.id_column or "")
