"""Reader of files without a manifest; tables are recognised by their columns."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import pandas as pd

from hetviz._text import count, join_words
from hetviz.data import Dataset, HeteroData, Labels
from hetviz.data.joins.key_names import END_WORDS, words_of_name
from hetviz.data.joins.proposals import DECLARED_KEYS
from hetviz.errors import DataError, Problem
from hetviz.features.columns.names import is_named_id
from hetviz.features.columns.types import MISSING
from hetviz.io import gate
from hetviz.io.bundle.items import entry_from_recipe, read_dataset, with_scales
from hetviz.io.bundle.loaded import DatasetInfo, FileInfo, Loaded
from hetviz.io.bundle.lookup import find_rows
from hetviz.io.bundle.manifest import DatasetEntry, LinksEntry
from hetviz.io.bundle.statements import comparison_form, is_links, read_comparisons, read_links
from hetviz.io.formats.edges import join_graphs
from hetviz.io.infer.parsed import Choices, FileParser, Table, Tables
from hetviz.io.infer.roles import row_number_note
from hetviz.io.infer.row_names import ids_of_tables, with_row_names
from hetviz.io.intake.parse import FileSet, parse_files, typed_tables
from hetviz.progress import Progress, ProgressPart, ignore_progress

_SHARE_OF_IDS = 0.5
_MIN_ID_SHARE = 0.8
_STATEMENTS = ("links", "comparisons")


def is_reference_column(cells: pd.Series, datasets: Collection[str]) -> bool:
    """Whether a column whose cells match ids refers to items, not just to numbers."""
    column = str(cells.name)
    if not cells.str.fullmatch(r"\d*").all():
        return True
    words = set(words_of_name(column))
    return is_named_id(column) or any(
        words & {*words_of_name(name), *END_WORDS} for name in datasets
    )


def read_tables(
    files: Sequence[tuple[str, bytes]],
    choices: Mapping[str, Choices] | None = None,
    base: HeteroData | None = None,
    parse: FileParser = parse_files,
    progress: Progress = ignore_progress,
) -> Loaded:
    """Read files without a manifest as datasets, links or comparisons."""
    return make_data(parse(files, choices or {}), choices or {}, base, progress)


def make_data(
    tables: Tables,
    choices: Mapping[str, Choices],
    base: HeteroData | None = None,
    progress: Progress = ignore_progress,
) -> Loaded:
    """Make datasets, links and comparisons of parsed tables."""
    typed, refused = typed_tables(tables, choices)
    return _DataMaker(choices, base, progress).result(typed, refused)


class _DataMaker:
    def __init__(
        self, choices: Mapping[str, Choices], base: HeteroData | None, progress: Progress
    ) -> None:
        self.choices, self.base = choices, base
        self.progress, self.n_made = progress, 0
        self.problems: list[Problem] = []
        self.tables: list[Table] = []
        self.file_infos: list[FileInfo] = []
        self.datasets: dict[str, Dataset] = dict(base.datasets) if base is not None else {}
        self.labels: list[Labels] = []
        self.infos: list[DatasetInfo] = []
        self.ids: dict[str, tuple[str, ...]] = {}

    def result(self, tables: Sequence[Table], refused: Sequence[tuple[str, DataError]]) -> Loaded:
        for name, error in refused:
            self._reject(name, error)
        tables = tables if self.base is not None else join_graphs(tables)
        self.tables = list(tables)
        statements, datasets = self._sort_tables()
        self.ids = ids_of_tables(datasets)
        for table in datasets:
            self._add_dataset(table)
        if not self.datasets:
            raise DataError(dict.fromkeys(self.problems) or [_no_datasets_problem()])
        base = self.base
        data = HeteroData(
            self.datasets,
            base.links if base is not None else (),
            None,
            [*(base.labels if base is not None else ()), *self.labels],
        )
        if base is not None and base.comparisons is not None:
            data = data.edit().add(base.comparisons)
        for table in statements:
            data = self._add_statement(table, data)
        name = self.infos[0].dataset if self.infos else "data"
        return Loaded(
            data,
            name,
            ", ".join(data.datasets),
            problems=tuple(dict.fromkeys(self.problems)),
            understood=tuple(self.infos),
            files=tuple(self.file_infos),
        )

    def _sort_tables(self) -> tuple[list[Table], list[Table]]:
        statements: list[Table] = []
        datasets: list[Table] = []
        for table in self.tables:
            role = self._role(table)
            is_statement = role is None and (is_links(table) or comparison_form(table) is not None)
            (statements if is_statement or role in _STATEMENTS else datasets).append(table)
        return statements, datasets

    def _choice(self, table: Table) -> Choices:
        return self.choices.get(table.file) or Choices()

    def _id_cells(self, table: Table) -> dict[str, frozenset[str]]:
        """Return by column the cells such as NA that are ids of another table."""
        out = {}
        for other in self.tables:
            ids = self.ids.get(other.name, ())
            if other is table or len(ids) != 1 or ids[0] not in other.frame:
                continue
            known = set(other.frame[ids[0]])
            markers = frozenset(text for text in known if text.strip().lower() in MISSING - {""})
            for column in map(str, table.frame.columns) if markers else ():
                values = set(table.frame[column]) - {""}
                is_reference = len(values & known) >= _MIN_ID_SHARE * len(values)
                if values & markers and is_reference:
                    out[column] = markers
        return out

    def _ids(self, table: Table) -> str | Sequence[str] | None:
        """Return the id columns; None if the user's recipe or a matrix decides."""
        if table.has_matrix:
            return table.id_column
        has_recipe = self._choice(table).recipe_of(table.where) is not None
        is_declared = table.id_column is not None or bool(table.id_columns)
        return None if has_recipe and not is_declared else self.ids.get(table.name, ())

    def _role(self, table: Table) -> str | None:
        return self._choice(table).role or table.role

    def _reject(self, name: str, error: DataError) -> None:
        self.problems += error.problems
        self.file_infos.append(FileInfo(name, "refused", f"Left out: {error.problems[0].what}."))

    def _add_file_info(self, table: Table, role: str, words: str) -> None:
        facts = {fact: value for fact, value in table.facts.items() if value}
        self.file_infos.append(FileInfo(table.where, role, words, facts, table.file))

    def _add_dataset(self, table: Table) -> None:
        choice, where = self._choice(table), table.where
        n_done, share = self.n_made, 1 / max(1, len(self.tables))
        progress = ProgressPart(self.progress, n_done * share, (n_done + 1) * share)
        progress(0.0, f"Making features of {table.name}")
        self.n_made += 1
        several = sum(other.file == table.file for other in self.tables) > 1
        name = (None if several else choice.name) or table.name
        try:
            if name in self.datasets:
                message = "a dataset with this name already exists"
                raise gate.refusal("duplicate-name", where, message, name, "Rename the file.")
            entry = DatasetEntry(
                name,
                where,
                id=self._ids(table) if choice.id is None else choice.id,
                title=choice.title or table.title_column,
                text=table.text_columns,
                exclude=tuple(dict.fromkeys((*choice.exclude, *table.key_columns))),
                entity=table.entity,
                media_column=table.media_column,
                id_cells=self._id_cells(table),
            )
            labels = table.label_columns or None if choice.labels is None else choice.labels
            recipe = choice.recipe_of(where)
            if recipe is not None:
                # Typed formats are read without a recipe.
                recipe = table.recipe or recipe
                table = replace(table, recipe=recipe)
                entry, labels = entry_from_recipe(entry, labels, recipe, table)
            elif table.X is None:
                table = with_row_names(table, entry.id or ())
                entry = with_scales(entry, table.recipe, table)
            if entry.id == () and choice.id is None:
                self.problems.append(row_number_note(table))
            dataset, info = read_dataset(
                FileSet(), entry, labels, self.problems, table, progress=progress
            )
        except DataError as error:
            self._reject(where, error)
            return
        if recipe is not None:
            info = replace(info, recipe=recipe)
        if table.foreign_keys:
            keys = [
                {
                    "columns": list(key.columns),
                    "table": key.table,
                    "target_columns": list(key.target_columns),
                }
                for key in table.foreign_keys
            ]
            dataset = replace(dataset, recipe={**(dataset.recipe or {}), DECLARED_KEYS: keys})
        self.datasets[name] = dataset
        self.infos.append(info)
        coloured = [column.name for column in info.columns if column.role == "label"]
        if dataset.table is not None:
            self.labels += [Labels(name, column, dataset.table[column]) for column in coloured]
        words = (
            f"Dataset {name!r}: {count(len(dataset), 'row')}, {info.id_words}, "
            f"{count(info.n_features, 'feature')}"
        )
        words += f", named by {info.title_column}" if info.title_column else ""
        words += f". Labels: {join_words(coloured)}." if coloured else "."
        self._add_file_info(table, "dataset", words)

    def _owner(self, cells: pd.Series) -> str | None:
        """Return the dataset that has most of the ids, if it has half of them."""
        distinct = set(cells)
        n_matching = {
            name: int((find_rows(part, [*distinct]) >= 0).sum())
            for name, part in self.datasets.items()
        }
        best = max(n_matching, key=lambda name: n_matching[name], default=None)
        has_most = best is not None and 0 < n_matching[best] >= _SHARE_OF_IDS * len(distinct)
        return best if has_most else None

    def _add_statement(self, table: Table, data: HeteroData) -> HeteroData:
        choice, role, where = self._choice(table), self._role(table), table.where
        try:
            if role == "comparisons" or (role is None and comparison_form(table) is not None):
                compared = read_comparisons(table, data.datasets, self.problems)
                n = 0 if compared is None else len(compared)
                self._add_file_info(table, "comparisons", f"{n:,} comparisons.")
                return data if compared is None else data.edit().add(compared)
            entry = LinksEntry(where, source=choice.source, target=choice.target)
            if is_links(table):
                entry = replace(
                    entry,
                    source=choice.source or self._owner(table.frame["source_id"]),
                    target=choice.target or self._owner(table.frame["target_id"]),
                )
            links = read_links(table, entry, data.datasets, self.problems)
        except DataError as error:
            self._reject(where, error)
            return data
        blocks = dict.fromkeys(f"{group.source} - {group.target}" for group in links)
        n = sum(map(len, links))
        words = count(n, "link") + (f": {', '.join(blocks)}." if blocks else ".")
        self._add_file_info(table, "links", words)
        return data.edit().add(*links) if links else data


def _no_datasets_problem() -> Problem:
    return Problem(
        "no-datasets",
        "files",
        "no table of items was found for these links or comparisons",
        remedy="Give the tables of the items too, or add this file to open data on the Data page.",
    )
