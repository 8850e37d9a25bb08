"""Tables of files: choices for reading, cells as text, and columns with types."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import Any

import pandas as pd

from hetviz.codec import Buffer, CodecError, Records, decode, encode
from hetviz.errors import Problem
from hetviz.io.infer.column_rows import ColumnRows
from hetviz.io.infer.recipe import ColumnRecipe, TableRecipe

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

    `encoding`, `separator`, `decimal`: Such as ``"latin-1"``, ``";"``, ``","``.
    `role` {"dataset", "links", "comparisons"}, optional
    `id`: The id column, or several columns that form the id together. An empty sequence means row
        numbers.
    `exclude`, `labels`: Columns that are never features, and label columns.
    `source`, `target`: Datasets of links without dataset columns.
    `sheet`: Sheet of a workbook or table of a database. All are read if absent.
    `skip`: Number of rows above the column names.
    `matrix` {"features", "kernel", "distance"}, optional: Kind of a square matrix.
    `rows_of`: The file with the rows of a matrix without ids, in the same order.
    `part`: Features of an AnnData file: ``"X"`` or a matrix such as ``"X_pca"``.
    `exact`: hetviz wrote the table: the first row contains the names, and cells are not changed.
    `only_table`: Read the file as a table, neither as prose nor as a matrix.
    `recipes`: Recipes of tables by sheet name, ``""`` for a single table; see
        `hetviz.io.infer.recipe.TableRecipe.to_dict`.
    `like`: Recipe of an earlier file of the same form, which is adapted to this file; see
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
    recipes: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    like: Mapping[str, Any] | None = None

    @property
    def for_parsing(self) -> Choices:
        """The choices that matter for the bytes of a file; others apply to its parsed cells."""
        fields = ("encoding", "separator", "decimal", "sheet", "part", "matrix", "role", "name",
                  "only_table")  # fmt: skip
        return Choices(**{name: getattr(self, name) for name in fields})

    def recipe_of(self, where: str) -> TableRecipe | None:
        """Return the chosen recipe of a table, or None."""
        fields = self.recipes.get(split_place(where)[1], None)
        return None if fields is None else TableRecipe.from_dict(fields)


SAVED = Choices("utf-8", ",", ".", True, exact=True)

TextRow = tuple[int, list[str]]


@dataclass(frozen=True, eq=False)
class Cells:
    """The cells of a table as its file has them, before `hetviz.io.infer.typed.typed_table`.

    `rows`: Row numbers of the file and cells. None for formats with column names, whose cells are
        the frame of the table.
    `is_sheet`: Whether the rows are those of a sheet, which may contain more than the table.
    """

    rows: list[TextRow] | ColumnRows | None = None
    is_sheet: bool = False
    words: tuple[str, ...] | None = None


@dataclass(frozen=True)
class ForeignKey:
    """A declared foreign key: columns whose cells name rows of another table."""

    columns: tuple[str, ...]
    table: str
    target_columns: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Table:
    """One dataset, list of links or list of comparisons in a file.

    `role` {"dataset", "links", "comparisons"} or None: None if the columns decide, as for CSV.
    `frame`: Cells as text, "" where a cell is empty. Formats with types write numbers with `repr`,
        dates as ISO 8601, lists as ``"a; b"``.
    `row`: ``row[r]`` is the row number of row r in the file, from 0, without the header.
    `foreign_keys`: Declared keys. Their columns are not features.
    `facts`: Detected settings as text for the user: ``{"separator": "semicolon"}``.
    `called`: Original names of renamed columns.
    `file`: The uploaded file or the member of a zip, "" if `where` is it.
    """

    name: str
    where: str
    role: str | None = None
    frame: pd.DataFrame = field(default_factory=pd.DataFrame)
    row: Sequence[int] = ()
    decimal: str = "."
    encoding: str = ""
    separator: str = ""
    header: bool = True
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
    foreign_keys: tuple[ForeignKey, ...] = ()
    id_columns: tuple[str, ...] = ()
    entity: str | None = None
    facts: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    problems: tuple[Problem, ...] = ()
    recipe: TableRecipe | None = None
    called: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    file: str = ""
    cells: Cells | None = None

    @property
    def columns(self) -> list[str]:
        return list(map(str, self.frame.columns))

    @property
    def has_matrix(self) -> bool:
        """Whether there are features, a kernel or distances."""
        return any(part is not None for part in (self.X, self.kernel, self.distance))

    @property
    def key_columns(self) -> tuple[str, ...]:
        """The columns of the declared foreign keys."""
        return tuple({column: None for key in self.foreign_keys for column in key.columns})

    @property
    def declared_keys(self) -> tuple[str, ...]:
        """The columns that the format declares as ids, of the rows or of other tables."""
        own = self.id_columns if self.id_column is None else (self.id_column,)
        return (*own, *self.key_columns)

    @property
    def errors(self) -> list[Problem]:
        return [problem for problem in self.problems if problem.severity == "error"]

    def place(self, row: int, column: str = "") -> str:
        """Return the place of a row and column, with the original column name."""
        column = self.called.get(column, column)
        return f"{self.where}, row {self.row[row] + 1}" + (f", column {column}" if column else "")


@dataclass(frozen=True, eq=False)
class Collection:
    """The tables of one file, or of files that belong together such as the members of a zip."""

    name: str
    tables: tuple[Table, ...]
    pictures: Table | None = None
    problems: tuple[Problem, ...] = ()
    is_single_file: bool = True


@dataclass(frozen=True, eq=False)
class Tables:
    """The parsed content of files, whose cells are text until `hetviz.io.intake.make_data`."""

    recipe: Mapping[str, Choices]  # How each file was parsed.
    frames: tuple[Collection, ...]
    problems: tuple[tuple[str, tuple[Problem, ...]], ...] = ()  # Files that could not be parsed.


_RECORDS = Records(
    Tables,
    Collection,
    Table,
    ForeignKey,
    Cells,
    ColumnRows,
    Choices,
    TableRecipe,
    ColumnRecipe,
    Problem,
)


def pack_tables(tables: Tables) -> bytes:
    """Return tables as a document of `hetviz.codec`, the container of parsed files."""
    return encode(tables, _RECORDS)


def unpack_tables(container: Buffer) -> Tables:
    """Return the tables of a container; raises ValueError if it is damaged."""
    tables = decode(container, _RECORDS)
    if not isinstance(tables, Tables):
        raise CodecError("no tables")
    return tables


# (file name, bytes, choices) -> tables; raises DataError.
FileReader = Callable[[str, bytes, Choices], list[Table]]

# (file name, bytes, choices) -> table; see `read_table`.
TableReader = Callable[[str, bytes, Choices | None], Table]

# (files, choices) -> tables; see `hetviz.io.intake.parse.parse_files`.
FileParser = Callable[[Sequence[tuple[str, bytes]], Mapping[str, Choices]], Tables]


def stem(name: str) -> str:
    """Return the name of a dataset from its file name."""
    return PurePosixPath(name.replace("\\", "/")).stem.strip() or "data"
