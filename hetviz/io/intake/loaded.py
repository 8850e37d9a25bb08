"""What a reader hands back: the data, what was understood, and what was refused."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from hetviz._text import join_words
from hetviz.data import Embedding, HeteroData
from hetviz.errors import Problem, ProblemReport
from hetviz.io.infer.recipe import TableRecipe


@dataclass(frozen=True)
class ColumnInfo:
    """How one column of a table is used.

    Attributes
    ----------
    name : str
    role : {"id", "title", "media", "label", "feature", "shown"}
    kind : str
        What it holds: number, category, date, text, unique, constant or empty.
    n_missing : int
    """

    name: str
    role: str
    kind: str
    n_missing: int = 0


@dataclass(frozen=True)
class DatasetInfo:
    """How one dataset was read.

    Attributes
    ----------
    dataset, file : str
    encoding, separator, decimal : str
    header : bool
    n_rows, n_features : int
    id_column : str
        What the ids are called: their column, several joined by a plus, or ``"row number"``.
    id_from : tuple of str
        The columns that the ids came from; none where they are the numbers of the rows.
    recipe : Recipe or None
        How the table was read, where somebody said it; newer versions are read by it too.
    title_column, media_column : str or None
    columns : tuple of ColumnInfo
    features : str
        Where the features come from, in words.
    """

    dataset: str
    file: str
    encoding: str
    separator: str
    decimal: str
    header: bool
    n_rows: int
    n_features: int
    id_column: str
    title_column: str | None
    media_column: str | None
    columns: tuple[ColumnInfo, ...]
    features: str
    id_from: tuple[str, ...] = ()
    recipe: TableRecipe | None = None

    @property
    def id_words(self) -> str:
        """What the ids are, for people."""
        if not self.id_from:
            return "row numbers are the ids"
        several = "s" if len(self.id_from) > 1 else ""
        return f"ids from column{several} {join_words([repr(name) for name in self.id_from])}"


@dataclass(frozen=True)
class FileInfo:
    """What a file was taken for.

    Attributes
    ----------
    name : str
        Of the file, with the sheet or member where it holds several.
    role : {"dataset", "links", "comparisons", "matrix", "bundle", "refused"}
    words : str
        One sentence for the user.
    facts : mapping of str to str
        How it was read, in words: ``{"between columns": "semicolon"}``.
    file : str
        The name of the file alone; "" where it is the same as `name`.
    """

    name: str
    role: str
    words: str
    facts: Mapping[str, str] = field(default_factory=dict)
    file: str = ""


@dataclass(frozen=True, eq=False)
class Loaded(ProblemReport):
    """Data read from files, with the account of the reading.

    Attributes
    ----------
    data : HeteroData
        Without the rows that were refused.
    name, title, description : str
    problems : tuple of Problem
        Errors (each names a row or file that was left out) and notes.
    understood : tuple of DatasetInfo
    files : tuple of FileInfo
    map : Embedding or None
        The map shipped with the data.
    map_method : str or None
        Key of the method that made the map, with `map_params` and `map_seed`.
    held_out : HeteroData or None
        Links that the bundle keeps aside to judge a map by.
    """

    data: HeteroData
    name: str
    title: str
    description: str = ""
    problems: tuple[Problem, ...] = ()
    understood: tuple[DatasetInfo, ...] = ()
    files: tuple[FileInfo, ...] = ()
    map: Embedding | None = None
    map_method: str | None = None
    map_params: Mapping[str, Any] = field(default_factory=dict)
    map_seed: int = 0
    held_out: HeteroData | None = None
