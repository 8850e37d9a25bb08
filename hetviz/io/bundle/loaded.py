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
    """The use of one column of a table."""

    name: str
    role: str  # One of {"id", "title", "media", "label", "feature", "shown"}.
    kind: str  # Detected kind: number, category, date, text, unique, constant or empty.
    n_missing: int = 0


@dataclass(frozen=True)
class DatasetInfo:
    """A summary of how a dataset was read."""

    dataset: str
    file: str
    encoding: str
    separator: str
    decimal: str
    header: bool
    n_rows: int
    n_features: int
    id_column: str  # The id column, several joined by a plus, or ``"row number"``.
    title_column: str | None
    media_column: str | None
    columns: tuple[ColumnInfo, ...]
    features: str  # Source of the features, as text.
    id_from: tuple[str, ...] = ()  # The id columns, empty for row numbers.
    recipe: TableRecipe | None = None  # The chosen recipe, which newer versions use too.

    @property
    def id_words(self) -> str:
        """A text about the ids for the user."""
        if not self.id_from:
            return "row numbers are the ids"
        several = "s" if len(self.id_from) > 1 else ""
        return f"ids from column{several} {join_words([repr(name) for name in self.id_from])}"


@dataclass(frozen=True)
class FileInfo:
    """A summary of how a file was read."""

    name: str  # Name of the file, with the sheet or member if there are several.
    role: str  # One of {"dataset", "links", "comparisons", "matrix", "bundle", "refused"}.
    words: str  # A sentence for the user.
    # Reading settings as text: ``{"between columns": "semicolon"}``.
    facts: Mapping[str, str] = field(default_factory=dict)
    file: str = ""  # The file name without the sheet, "" if it equals `name`.


@dataclass(frozen=True, eq=False)
class Loaded(ProblemReport):
    """Data read from files, with a report."""

    data: HeteroData  # Without rejected rows.
    name: str
    title: str
    description: str = ""
    # Errors (each about a row or file that is left out) and notes.
    problems: tuple[Problem, ...] = ()
    understood: tuple[DatasetInfo, ...] = ()
    files: tuple[FileInfo, ...] = ()
    map: Embedding | None = None  # The map shipped with the data.
    # Key of the method that made the map, with `map_params` and `map_seed`.
    map_method: str | None = None
    map_params: Mapping[str, Any] = field(default_factory=dict)
    map_seed: int = 0
    held_out: HeteroData | None = None  # Held-out links of the bundle for judging a map.

    @property
    def unused_columns(self) -> tuple[tuple[str, str], ...]:
        """The (dataset, column) of each column that is only shown."""
        return tuple(
            (info.dataset, column.name)
            for info in self.understood
            for column in info.columns
            if column.role == "shown"
        )
