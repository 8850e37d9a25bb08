"""What a file holds before anything is made of it: tables of text, and pieces with matrices."""

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
    """Return the file, and its sheet or table (``""`` if it has one alone), that a place names.

    >>> from hetviz.io.parsed import parts_of
    >>> parts_of("book.xlsx, sheet Drugs"), parts_of("shop.db, table items"), parts_of("t.csv")
    (('book.xlsx', 'Drugs'), ('shop.db', 'items'), ('t.csv', ''))
    """
    for word in (", sheet ", ", table "):
        file, has_part, part = where.partition(word)
        if has_part:
            return file, part
    return where, ""


@dataclass(frozen=True)
class Choices:
    """What the user says about a file; None leaves it to detection.

    Attributes
    ----------
    encoding, separator, decimal : str, optional
        Such as ``"latin-1"``, ``";"``, ``","``.
    header : bool, optional
        Whether the first row names the columns.
    role : {"dataset", "links", "comparisons"}, optional
    name : str, optional
        What the dataset is called.
    id : str or sequence of str, optional
        The column of ids, or several that are the id together; none at all, that is an empty
        sequence, for the numbers of the rows.
    title : str, optional
        The column that names the rows.
    exclude, labels : tuple of str
        Columns that are never features; columns that are labels.
    source, target : str, optional
        Datasets that links without dataset columns join.
    sheet : str, optional
        Of a workbook, or a table of a database; all that hold a table when absent.
    skip : int, optional
        Rows above the names of the columns.
    matrix : {"features", "kernel", "distance"}, optional
        What a square matrix holds.
    rows_of : str, optional
        The file whose rows those of a matrix without ids are, in the same order.
    part : str, optional
        Of an AnnData file, what the features are: ``"X"`` or a matrix such as ``"X_pca"``.
    exact : bool
        hetviz wrote the table: its first row names the columns, and cells stay as they are.
    only_table : bool
        The file is a table: it is taken neither for prose nor for a matrix.
    raw : bool
        All cells as they stand, with no row taken for names; see `hetviz.io.intake.preview`.
    recipes : mapping of str to mapping
        How a table is to be read, see `hetviz.io.infer.recipe.TableRecipe.to_dict`: of each sheet, by
        its name, or of the one table of a file, by ``""``.
    like : mapping, optional
        How an earlier file of the same form was read: a recipe whose rows are looked for anew, see
        `hetviz.io.infer.recipe.adapt_recipe`.
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
        """Return how a table is to be read, if that was said.

        Parameters
        ----------
        where : str
            The file, or one of its sheets or tables, such as ``"book.xlsx, sheet Drugs"``.

        Raises
        ------
        hetviz.errors.DataError
            If what was said is no recipe.
        """
        fields = self.recipes.get(split_place(where)[1], None)
        return None if fields is None else TableRecipe.from_dict(fields)

    def columns_of(self, where: str) -> TableRecipe | None:
        """Return how the columns of a table that has no rows but data are to be read, if said.

        Raises
        ------
        hetviz.errors.DataError
            If what was said is no recipe.
        """
        recipe = self.recipe_of(where)
        return (
            TableRecipe.from_dict(self.like) if recipe is None and self.like is not None else recipe
        )


SAVED = Choices("utf-8", ",", ".", True, exact=True)


@dataclass(frozen=True)
class TableRead:
    """A table of text, and how it was read.

    Attributes
    ----------
    name : str
        Of the file.
    frame : DataFrame
        All cells as text, "" where a cell is empty.
    row : sequence of int
        ``row[r]`` is the row of the file, from 0 and without the header, that row r came from.
    encoding, separator, decimal : str
    header : bool
    problems : tuple of Problem
        Errors about rows that were left out, and notes.
    facts : mapping of str to str
        What was detected, in words for the user.
    recipe : Recipe or None
        What its columns were said or found to be.
    called : mapping of str to str
        What the file calls a column of the frame, where that is another name.
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
        """The problems that are more than notes."""
        return [problem for problem in self.problems if problem.severity == "error"]

    def place(self, row: int, column: str = "") -> str:
        """Name a row of the frame, and a column of it as the file calls it."""
        column = self.called.get(column, column)
        return f"{self.name}, row {self.row[row] + 1}" + (f", column {column}" if column else "")


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
    row : sequence of int
        ``row[r]`` is the row of the file, from 0 and without the header, that row r came from.
    decimal : {".", ","}
    X : array or CSR matrix of shape (n, features) or None
    feature_names : tuple of str
    kernel, distance : array of shape (n, n) or None
    media : tuple of n (bytes or None) or None
        Small pictures that have passed `hetviz.io.formats.images.checked_picture`.
    id_column, title_column, media_column : str or None
        Where the format says so; `media_column` names the pictures.
    text_columns : tuple of str
        Columns of free text, which features are made from.
    label_columns : tuple of str
        Columns that the format says are categories, though they may look like numbers.
    key_columns : tuple of str
        Columns that name rows of other tables, which are no features.
    entity : str or None
        What the rows are: datasets with the same entity are views of the same things.
    facts : mapping of str to str
        What was detected, in words, for the user: ``{"separator": "semicolon"}``.
    problems : tuple of Problem
        What was left out, and notes.
    recipe : Recipe or None
        What the columns of the table were said or found to be.
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
        """How many rows it has."""
        for part in (self.frame, self.X, self.kernel, self.distance):
            if part is not None:
                return int(part.shape[0])
        return 0 if self.media is None else len(self.media)


@dataclass(frozen=True, eq=False)
class ParsedFiles:
    """What there is in files that were handed in at once.

    Attributes
    ----------
    pieces : tuple of Piece
    rejected : tuple of (file, DataError)
        Files of which nothing can be used; "files" stands for all that are read together.
    """

    pieces: tuple[Piece, ...]
    rejected: tuple[tuple[str, DataError], ...] = ()


# (name of the file, its bytes, what the user says of it) -> what is in it; raises DataError.
FileReader = Callable[[str, bytes, Choices], list[Piece]]


def stem(name: str) -> str:
    """Return what a dataset is called after its file."""
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
    """Return the table of a piece; a piece without one gets the numbers of its rows, from 1."""
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
    """Whether a format gave numbers or pictures beside, or instead of, the table."""
    parts = (piece.X, piece.kernel, piece.distance, piece.media)
    return any(part is not None for part in parts)


# (name, bytes, what is said of them) -> the table; see `read_table`.
TableReader = Callable[[str, bytes, Choices | None], TableRead]
