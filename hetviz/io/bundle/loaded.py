"""The results of reading: data, summaries of datasets and files, problems."""

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
    """The use of one column of a table.

    Attributes
    ----------
    name : str
    role : {"id", "title", "media", "label", "feature", "shown"}
    kind : str
        Detected kind: number, category, date, text, unique, constant or empty.
    n_missing : int
    """

    name: str
    role: str
    kind: str
    n_missing: int = 0


@dataclass(frozen=True)
class DatasetInfo:
    """A summary of how a dataset was read.

    Attributes
    ----------
    dataset, file : str
    encoding, separator, decimal : str
    header : bool
    n_rows, n_features : int
    id_column : str
        The id column, several joined by a plus, or ``"row number"``.
    id_from : tuple of str
        The id columns, empty for row numbers.
    recipe : Recipe or None
        The chosen recipe, which newer versions use too.
    title_column, media_column : str or None
    columns : tuple of ColumnInfo
    features : str
        Source of the features, as text.
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
        """A text about the ids for the user."""
        if not self.id_from:
            return "row numbers are the ids"
        several = "s" if len(self.id_from) > 1 else ""
        return f"ids from column{several} {join_words([repr(name) for name in self.id_from])}"


@dataclass(frozen=True)
class FileInfo:
    """A summary of how a file was read.

    Attributes
    ----------
    name : str
        Name of the file, with the sheet or member if there are several.
    role : {"dataset", "links", "comparisons", "matrix", "bundle", "refused"}
    words : str
        A sentence for the user.
    facts : mapping of str to str
        Reading settings as text: ``{"between columns": "semicolon"}``.
    file : str
        The file name without the sheet, "" if it equals `name`.
    """

    name: str
    role: str
    words: str
    facts: Mapping[str, str] = field(default_factory=dict)
    file: str = ""


@dataclass(frozen=True, eq=False)
class Loaded(ProblemReport):
    """Data read from files, with a report.

    Attributes
    ----------
    data : HeteroData
        Without rejected rows.
    name, title, description : str
    problems : tuple of Problem
        Errors (each about a row or file that is left out) and notes.
    understood : tuple of DatasetInfo
    files : tuple of FileInfo
    map : Embedding or None
        The map shipped with the data.
    map_method : str or None
        Key of the method that made the map, with `map_params` and `map_seed`.
    held_out : HeteroData or None
        Held-out links of the bundle for judging a map.
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
