"""Parsed files before they become datasets: text tables and pieces with matrices."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import Any

import pandas as pd

from hetviz._pandas import TEXT
from hetviz.errors import DataError, Problem
from hetviz.io.infer.dialect import SEPARATORS
from hetviz.io.infer.recipe import TableRecipe

_SEPARATOR_OF = {words: sign for sign, words in SEPARATORS.items()}

DECIMALS = {".": "point", ",": "comma"}
NAMES, NO_NAMES = "names of columns", "none found"


def split_place(where: str) -> tuple[str, str]:
    """Return the file and the sheet or table (``""`` for a single one) of a place."""
    for word in (", sheet ", ", table "):
        file, has_part, part = where.partition(word)
        if has_part:
            return file, part
    return where, ""


@dataclass(frozen=True)
class Choices:
    """The user's choices for reading a file; None means detection.

    Attributes
    ----------
    encoding, separator, decimal : str, optional
        Such as ``"latin-1"``, ``";"``, ``","``.
    header : bool, optional
        Whether the first row names the columns.
    role : {"dataset", "links", "comparisons"}, optional
    name : str, optional
        Name of the dataset.
    id : str or sequence of str, optional
        The id column, or several columns that form the id together. An empty sequence means
        row numbers.
    title : str, optional
        The column with the names of the rows.
    exclude, labels : tuple of str
        Columns that are never features, and label columns.
    source, target : str, optional
        Datasets of links without dataset columns.
    sheet : str, optional
        Sheet of a workbook or table of a database. All are read if absent.
    skip : int, optional
        Number of rows above the column names.
    matrix : {"features", "kernel", "distance"}, optional
        Kind of a square matrix.
    rows_of : str, optional
        The file with the rows of a matrix without ids, in the same order.
    part : str, optional
        Features of an AnnData file: ``"X"`` or a matrix such as ``"X_pca"``.
    exact : bool
        hetviz wrote the table: the first row contains the names, and cells are not changed.
    only_table : bool
        Read the file as a table, neither as prose nor as a matrix.
    raw : bool
        Return all raw cells without a header row; see `hetviz.io.intake.preview`.
    recipes : mapping of str to mapping
        Recipes of tables by sheet name, ``""`` for a single table; see
        `hetviz.io.infer.recipe.TableRecipe.to_dict`.
    like : mapping, optional
        Recipe of an earlier file of the same form, which is adapted to this file; see
        `hetviz.io.infer.rows.adapt_recipe`.
    """

    encoding: str | None = None
    separator: str | None = None
    decimal: str | None = None
    header: bool | None = None
    role: str | None = None
    name: str | None = None
    id: str | Sequence[str] | None = None
    title: str | None = None
    exclude: tuple[str, ...] = ()
    labels: tuple[str, ...] | None = None
    source: str | None = None
    target: str | None = None
    sheet: str | None = None
    skip: int | None = None
    matrix: str | None = None
    rows_of: str | None = None
    part: str | None = None
    exact: bool = False
    only_table: bool = False
    raw: bool = False
    recipes: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    like: Mapping[str, Any] | None = None

    def recipe_of(self, where: str) -> TableRecipe | None:
        """Return the chosen recipe of a table, or None."""
        fields = self.recipes.get(split_place(where)[1], None)
        return None if fields is None else TableRecipe.from_dict(fields)

    def columns_of(self, where: str) -> TableRecipe | None:
        """Return the chosen recipe of a table without header rows, or None."""
        recipe = self.recipe_of(where)
        return (
            TableRecipe.from_dict(self.like) if recipe is None and self.like is not None else recipe
        )


SAVED = Choices("utf-8", ",", ".", True, exact=True)


@dataclass(frozen=True)
class TableRead:
    """A text table and how it was read.

    Attributes
    ----------
    name : str
        Name of the file.
    frame : DataFrame
        All cells as text, "" where a cell is empty.
    row : sequence of int
        ``row[r]`` is the row number of row r in the file, from 0, without the header.
    encoding, separator, decimal : str
    header : bool
    problems : tuple of Problem
        Errors about rows that are left out, and notes.
    facts : mapping of str to str
        Detected settings, as text for the user.
    recipe : Recipe or None
        The chosen or detected recipe.
    called : mapping of str to str
        Original names of renamed columns.
    """

    name: str
    frame: pd.DataFrame
    row: Sequence[int]
    encoding: str
    separator: str
    decimal: str
    header: bool
    problems: tuple[Problem, ...] = field(default=())
    facts: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    recipe: TableRecipe | None = None
    called: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def errors(self) -> list[Problem]:
        """The problems that are not notes."""
        return [problem for problem in self.problems if problem.severity == "error"]

    def place(self, row: int, column: str = "") -> str:
        """Return the place of a row and column, with the original column name."""
        column = self.called.get(column, column)
        return f"{self.name}, row {self.row[row] + 1}" + (f", column {column}" if column else "")


@dataclass(frozen=True, eq=False)
class Piece:
    """One dataset, list of links or list of comparisons in a file.

    Attributes
    ----------
    name : str
        Name of the dataset: file stem, sheet or member.
    where : str
        The place for messages, such as ``"book.xlsx, sheet Drugs"``.
    role : {"dataset", "links", "comparisons"} or None
        None if the columns decide, as for CSV.
    frame : DataFrame of n rows or None
        Cells as text, "" where a cell is empty. Formats with types write numbers with `repr`, dates
        as ISO 8601, lists as ``"a; b"``. None if there is only a matrix.
    row : sequence of int
        ``row[r]`` is the row number of row r in the file, from 0, without the header.
    decimal : {".", ","}
    X : array or CSR matrix of shape (n, features) or None
    feature_names : tuple of str
    kernel, distance : array of shape (n, n) or None
    media : tuple of n (bytes or None) or None
        Thumbnails checked by `hetviz.io.datasets.images.checked_picture`.
    id_column, title_column, media_column : str or None
        If declared by the format. `media_column` names the pictures.
    text_columns : tuple of str
        Free text columns used as features.
    label_columns : tuple of str
        Columns declared as categories, which may look like numbers.
    key_columns : tuple of str
        Columns with ids of other tables, which are not features.
    entity : str or None
        Entity of the rows: datasets with the same entity are views of it.
    facts : mapping of str to str
        Detected settings as text for the user: ``{"separator": "semicolon"}``.
    problems : tuple of Problem
        Errors about parts that are left out, and notes.
    recipe : Recipe or None
        The chosen or detected recipe.
    """

    name: str
    where: str
    role: str | None = None
    frame: pd.DataFrame | None = None
    row: Sequence[int] = ()
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
    key_columns: tuple[str, ...] = ()
    entity: str | None = None
    facts: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    problems: tuple[Problem, ...] = ()
    recipe: TableRecipe | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        for part in (self.frame, self.X, self.kernel, self.distance):
            if part is not None:
                return int(part.shape[0])
        return 0 if self.media is None else len(self.media)


@dataclass(frozen=True, eq=False)
class ParsedFiles:
    """The pieces of several files, and the files that could not be read."""

    pieces: tuple[Piece, ...]
    rejected: tuple[tuple[str, DataError], ...] = ()


# (file name, bytes, choices) -> pieces; raises DataError.
FileReader = Callable[[str, bytes, Choices], list[Piece]]


def stem(name: str) -> str:
    """Return the name of a dataset from its file name."""
    return PurePosixPath(name.replace("\\", "/")).stem.strip() or "data"


def piece_from_table(name: str, table: TableRead, role: str | None = None) -> Piece:
    """Return a table of text as a piece."""
    return Piece(
        name,
        table.name,
        role,
        table.frame,
        table.row,
        table.decimal,
        facts=table.facts,
        problems=table.problems,
        recipe=table.recipe,
    )


def table_from_piece(piece: Piece) -> TableRead:
    """Return the table of a piece; without one, a table of row numbers from 1."""
    frame, row = piece.frame, piece.row
    if frame is None:
        frame = pd.DataFrame({"row": [str(at + 1) for at in range(piece.n_rows)]}, dtype=TEXT)
    return TableRead(
        piece.where,
        frame,
        row or range(len(frame)),
        piece.facts.get("text", ""),
        _SEPARATOR_OF.get(piece.facts.get("between columns", ""), ""),
        piece.decimal,
        piece.facts.get(NAMES) != NO_NAMES,
        piece.problems,
        piece.facts,
        piece.recipe,
    )


def has_matrix(piece: Piece) -> bool:
    """Whether a piece has a matrix or pictures."""
    parts = (piece.X, piece.kernel, piece.distance, piece.media)
    return any(part is not None for part in parts)


# (file name, bytes, choices) -> table; see `hetviz.io.formats.registry.read_table`.
TableReader = Callable[[str, bytes, Choices | None], TableRead]
