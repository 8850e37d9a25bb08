"""One table or matrix as it stood in a file, before anything is made of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

import pandas as pd

from hetviz.errors import Problem
from hetviz.io.files import Files
from hetviz.io.formats.delimited import NAMES, NO_NAMES, Choices, TableRead
from hetviz.io.infer.dialect import SEPARATORS

_SIGNS = {words: sign for sign, words in SEPARATORS.items()}


@dataclass(frozen=True, eq=False)
class Piece:
    """One dataset, list of links, or list of comparisons that a reader found in a file.

    Attributes
    ----------
    name : str
        What a dataset of it would be called: the stem of the file, a sheet, a member.
    where : str
        The place for messages, such as ``"book.xlsx, sheet Drugs"``.
    role : {"dataset", "links", "comparisons"} or None
        None where it shows by the columns, as for CSV.
    frame : DataFrame of n rows or None
        Cells as text, "" where a cell is empty. Formats with types write numbers with `repr`, dates
        as ISO 8601, lists as ``"a; b"``. None where there is a matrix and nothing else.
    row : tuple of int
        ``row[r]`` is the row of the file, from 0 and without the header, that row r came from.
    decimal : {".", ","}
    X : array or CSR matrix of shape (n, features) or None
    feature_names : tuple of str
    kernel, distance : array of shape (n, n) or None
    media : tuple of n (bytes or None) or None
        Small pictures that have passed `hetviz.io.bundle.thumbnails.checked_picture`.
    id_column, title_column, media_column : str or None
        Where the format says so; `media_column` names the pictures.
    text_columns : tuple of str
        Columns of free text, which features are made from.
    label_columns : tuple of str
        Columns that the format says are categories, though they may look like numbers.
    entity : str or None
        What the rows are: datasets with the same entity are views of the same things.
    facts : mapping of str to str
        What was detected, in words, for the user: ``{"separator": "semicolon"}``.
    problems : tuple of Problem
        What was left out, and notes.
    """

    name: str
    where: str
    role: str | None = None
    frame: pd.DataFrame | None = None
    row: tuple[int, ...] = ()
    decimal: str = "."
    X: Any = None
    feature_names: tuple[str, ...] = ()
    kernel: Any = None
    distance: Any = None
    media: tuple[bytes | None, ...] | None = None
    id_column: str | None = None
    title_column: str | None = None
    media_column: str | None = None
    text_columns: tuple[str, ...] = ()
    label_columns: tuple[str, ...] = ()
    entity: str | None = None
    facts: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    problems: tuple[Problem, ...] = ()

    @property
    def n_rows(self) -> int:
        """How many rows it has."""
        for part in (self.frame, self.X, self.kernel, self.distance):
            if part is not None:
                return int(part.shape[0])
        return 0 if self.media is None else len(self.media)

    def with_frame(self, frame: pd.DataFrame) -> Piece:
        """Return a copy with another table of the same rows."""
        return replace(self, frame=frame)


# (name of the file, its bytes, what the user says of it) -> what is in it; raises DataError.
Reader = Callable[[str, bytes, Choices], list[Piece]]

# The same for files that belong together: the members of a zip, or what was dropped at once with
# pictures or prose in it. What the user says is said by name of file (of the zip, for a zip).
CollectionReader = Callable[[str, Files, Mapping[str, Choices]], list[Piece]]


def piece_of(name: str, read: TableRead, role: str | None = None) -> Piece:
    """Return a table of text as a piece."""
    return Piece(
        name,
        read.name,
        role,
        read.frame,
        read.row,
        read.decimal,
        facts=read.facts,
        problems=read.problems,
    )


def table_of(piece: Piece) -> TableRead:
    """Return the table of a piece; a piece without one gets the numbers of its rows, from 1."""
    frame, row = piece.frame, piece.row
    if frame is None:
        frame = pd.DataFrame({"row": [str(at + 1) for at in range(piece.n_rows)]}, dtype=str)
    return TableRead(
        piece.where,
        frame,
        row or tuple(range(len(frame))),
        piece.facts.get("text", ""),
        _SIGNS.get(piece.facts.get("between columns", ""), ""),
        piece.decimal,
        piece.facts.get(NAMES) != NO_NAMES,
        piece.problems,
        piece.facts,
    )


def has_matrix(piece: Piece) -> bool:
    """Whether a format gave numbers or pictures beside, or instead of, the table."""
    parts = (piece.X, piece.kernel, piece.distance, piece.media)
    return any(part is not None for part in parts)
