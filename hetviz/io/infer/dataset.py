"""Reader of files without a manifest; tables are recognised by their columns."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import pandas as pd

from hetviz._text import count, join_words
from hetviz.data import Dataset, HeteroData, Labels
from hetviz.data.joins.proposals import name_words
from hetviz.errors import DataError, Problem
from hetviz.features.columns.names import is_named_id
from hetviz.features.columns.types import infer
from hetviz.io import gate
from hetviz.io.bundle.items import entry_from_recipe, read_dataset, with_scales
from hetviz.io.bundle.lookup import find_rows, unique_titles
from hetviz.io.bundle.manifest import DatasetEntry, LinksEntry
from hetviz.io.bundle.statements import comparison_form, is_links, read_comparisons, read_links
from hetviz.io.formats.edges import join_graphs
from hetviz.io.infer.ids import guess_id_column
from hetviz.io.infer.roles import named_title
from hetviz.io.intake.loaded import DatasetInfo, FileInfo, Loaded
from hetviz.io.intake.parse import FileParser, parse_files
from hetviz.io.parsed import Choices, ParsedFiles, Piece, TableRead, has_matrix, table_from_piece
from hetviz.progress import Progress, ProgressPart, ignore_progress

_SHARE_OF_IDS = 0.5
# Names of link ends.
_END_NAMES = frozenset(
    {"source", "target", "from", "to", "src", "dst", "a", "b", "i", "j", "node", "head", "tail"}
)


def is_reference_column(cells: pd.Series, datasets: Collection[str]) -> bool:
    """Whether a column whose cells match ids refers to items, not just to numbers."""
    column = str(cells.name)
    if not cells.str.fullmatch(r"\d*").all():
        return True
    words = name_words(column)
    return is_named_id(column) or any(words & (name_words(name) | _END_NAMES) for name in datasets)


class NoFiles:
    """The files of plain tables: none."""

    name = "files"

    def names(self) -> list[str]:
        return []

    def read(self, name: str) -> bytes:
        raise gate.refusal("no-file", name, "the file does not exist")


def read_tables(
    files: Sequence[tuple[str, bytes]],
    choices: Mapping[str, Choices] | None = None,
    base: HeteroData | None = None,
    parse: FileParser = parse_files,
    progress: Progress = ignore_progress,
) -> Loaded:
    """Read files without a manifest as datasets, links or comparisons."""
    reading = _TableReader([name for name, _ in files], choices or {}, base, progress)
    return reading.result(parse(files, choices or {}))


@dataclass(frozen=True, eq=False)
class _TablePart:
    """A piece with its file and its table."""

    file: str
    piece: Piece
    table: TableRead


class _TableReader:
    def __init__(
        self,
        names: Sequence[str],
        choices: Mapping[str, Choices],
        base: HeteroData | None,
        progress: Progress,
    ) -> None:
        self.names, self.choices, self.base = names, choices, base
        self.progress, self.n_made = progress, 0
        self.problems: list[Problem] = []
        self.parts: list[_TablePart] = []
        self.file_infos: list[FileInfo] = []
        self.datasets: dict[str, Dataset] = dict(base.datasets) if base is not None else {}
        self.labels: list[Labels] = []
        self.infos: list[DatasetInfo] = []
        # Original column names of tables recognised as links.
        self.ends: dict[str, tuple[str, str]] = {}

    def result(self, parsed: ParsedFiles) -> Loaded:
        for name, error in parsed.rejected:
            self._reject(name, error)
        pieces = parsed.pieces if self.base is not None else join_graphs(parsed.pieces)
        self.parts = [_TablePart(self._file(p.where), p, table_from_piece(p)) for p in pieces]
        statements, datasets, unsure = self._sort_parts()
        for part in datasets:
            self._add_dataset(part)
        joined = [(part, self._as_links(part.table, unsure)) for part in unsure]
        for part, ends in joined:
            if ends is None:
                self._add_dataset(part)
            else:
                statements.append(replace(part, table=ends))
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
        for part in statements:
            data = self._add_statement(part, data)
        name = self.infos[0].dataset if self.infos else "data"
        return Loaded(
            data,
            name,
            ", ".join(data.datasets),
            problems=tuple(dict.fromkeys(self.problems)),
            understood=tuple(self.infos),
            files=tuple(self.file_infos),
        )

    def _file(self, where: str) -> str:
        """Return the file of a place such as ``"book.xlsx, sheet Drugs"``."""
        inside = [name for name in self.names if where == name or where.startswith(f"{name}, ")]
        return max(inside, key=len, default=where)

    def _sort_parts(self) -> tuple[list[_TablePart], list[_TablePart], list[_TablePart]]:
        statements: list[_TablePart] = []
        datasets: list[_TablePart] = []
        unsure: list[_TablePart] = []
        for part in self.parts:
            table, role = part.table, self._role(part)
            if role in ("links", "comparisons") or (
                role is None and (is_links(table) or comparison_form(table) is not None)
            ):
                statements.append(part)
            elif role is None and table.frame.shape[1] in (2, 3) and not has_matrix(part.piece):
                unsure.append(part)
            else:
                datasets.append(part)
        return statements, datasets, unsure

    def _choice(self, part: _TablePart) -> Choices:
        return self.choices.get(part.file, Choices())

    def _role(self, part: _TablePart) -> str | None:
        return self._choice(part).role or part.piece.role

    def _reject(self, name: str, error: DataError) -> None:
        self.problems += error.problems
        self.file_infos.append(FileInfo(name, "refused", f"Left out: {error.problems[0].what}."))

    def _add_file_info(self, part: _TablePart, role: str, words: str) -> None:
        facts = {fact: value for fact, value in part.table.facts.items() if value}
        self.file_infos.append(FileInfo(part.table.name, role, words, facts, part.file))

    def _add_dataset(self, part: _TablePart) -> None:
        choice, piece, read = self._choice(part), part.piece, part.table
        n_done, share = self.n_made, 1 / max(1, len(self.parts))
        progress = ProgressPart(self.progress, n_done * share, (n_done + 1) * share)
        progress(0.0, f"Making features of {piece.name}")
        self.n_made += 1
        several = sum(other.file == part.file for other in self.parts) > 1
        name = (None if several else choice.name) or piece.name
        try:
            if name in self.datasets:
                raise gate.refusal(
                    "duplicate-name",
                    read.name,
                    "a dataset with this name already exists",
                    name,
                    "Rename the file.",
                )
            entry = DatasetEntry(
                name,
                read.name,
                id=piece.id_column if choice.id is None else choice.id,
                title=choice.title or piece.title_column,
                text=piece.text_columns,
                exclude=tuple(
                    {**dict.fromkeys(choice.exclude), **dict.fromkeys(piece.key_columns)}
                ),
                entity=piece.entity,
                media_column=piece.media_column,
            )
            labels = piece.label_columns or None if choice.labels is None else choice.labels
            recipe = choice.recipe_of(read.name)
            if recipe is not None:
                # Typed formats are read without a recipe.
                read = replace(read, recipe=read.recipe or recipe)
                entry, labels = entry_from_recipe(entry, labels, read.recipe or recipe, read)
            elif piece.X is None:
                entry = with_scales(entry, read.recipe, read)
            dataset, info = read_dataset(
                NoFiles(), entry, labels, self.problems, read, piece, progress=progress
            )
        except DataError as error:
            self._reject(read.name, error)
            return
        if recipe is not None:
            info = replace(info, recipe=read.recipe or recipe)
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
        self._add_file_info(part, "dataset", words)

    def _as_links(self, table: TableRead, unsure: Sequence[_TablePart]) -> TableRead | None:
        """Return the table with columns named as links if two of them contain known ids."""
        columns = list(table.frame.columns)
        if "id" in map(str.lower, columns):
            return None
        dataset_ids = [set(part.ids) | set(unique_titles(part)) for part in self.datasets.values()]
        for other in unsure:
            id_column = None if other.table is table else guess_id_column(other.table.frame)
            if id_column is not None:
                title = named_title(other.table.frame.columns)
                columns_of = [id_column] if title is None else [id_column, title]
                dataset_ids.append(set(other.table.frame[columns_of].to_numpy().ravel()))
        for first, second in ((0, 1), (0, 2), (1, 2)):
            if second >= len(columns):
                continue
            ends = [set(table.frame[columns[at]]) for at in (first, second)]
            if not all(any(_are_mostly_ids(end, ids) for ids in dataset_ids) for end in ends):
                continue
            other_places = [at for at in range(len(columns)) if at not in (first, second)]
            if not all(
                is_reference_column(table.frame[columns[at]], self.datasets)
                for at in (first, second)
            ):
                continue
            self.ends[table.name] = columns[first], columns[second]
            names = {columns[first]: "source_id", columns[second]: "target_id"}
            if other_places and infer(
                "", table.frame[columns[other_places[0]]], table.decimal
            ).kind in (
                "number",
                "constant",
            ):
                names[columns[other_places[0]]] = "weight"
            frame = table.frame.rename(columns=names)
            if "weight" in frame:
                frame = frame.assign(
                    weight=self._scaled_weights(frame["weight"], columns[other_places[0]], table)
                )
            original_names = {name: column for column, name in names.items()}
            return replace(table, frame=frame, called=original_names)
        return None

    def _scaled_weights(self, cells: pd.Series, column: str, table: TableRead) -> pd.Series:
        """Return link weights; counts and amounts are divided by their maximum."""
        numbers = pd.to_numeric(cells.str.replace(table.decimal, "."), errors="coerce")
        largest = float(numbers.max())
        if not largest > 1 or numbers.min() < 0:
            return cells
        message = f"link weights are {column} divided by its maximum, {largest:g}"
        self.problems.append(
            Problem("weights-scaled", f"{table.name}, column {column}", message, severity="note")
        )
        shares = (numbers / largest).map(repr).str.replace(".", table.decimal)
        return cells.where(numbers.isna() | (numbers <= 0), shares)

    def _owner(self, cells: pd.Series, column: str) -> str | None:
        """Return the dataset that best matches the name and cells of a column."""
        distinct = set(cells)
        n_matching = {
            name: int((find_rows(part, [*distinct]) >= 0).sum())
            for name, part in self.datasets.items()
        }
        words = name_words(column)
        candidates = [
            name for name, n in n_matching.items() if n and n >= _SHARE_OF_IDS * len(distinct)
        ]
        return max(
            candidates,
            key=lambda name: (bool(words & name_words(name)), n_matching[name]),
            default=None,
        )

    def _add_statement(self, part: _TablePart, data: HeteroData) -> HeteroData:
        choice, role, table = self._choice(part), self._role(part), part.table
        try:
            if role == "comparisons" or (role is None and comparison_form(table) is not None):
                compared = read_comparisons(table, data.datasets, self.problems)
                n = 0 if compared is None else len(compared)
                self._add_file_info(part, "comparisons", f"{n:,} comparisons.")
                return data if compared is None else data.edit().add(compared)
            entry = LinksEntry(table.name, source=choice.source, target=choice.target)
            if is_links(table):
                ends = self.ends.get(table.name, ("", ""))
                entry = replace(
                    entry,
                    source=choice.source or self._owner(table.frame["source_id"], ends[0]),
                    target=choice.target or self._owner(table.frame["target_id"], ends[1]),
                )
            links = read_links(table, entry, data.datasets, self.problems)
        except DataError as error:
            self._reject(table.name, error)
            return data
        blocks = dict.fromkeys(f"{group.source} - {group.target}" for group in links)
        n = sum(map(len, links))
        words = count(n, "link") + (f": {', '.join(blocks)}." if blocks else ".")
        self._add_file_info(part, "links", words)
        return data.edit().add(*links) if links else data


def _are_mostly_ids(cells: set[str], ids: set[str]) -> bool:
    return bool(cells) and len(cells & ids) >= _SHARE_OF_IDS * len(cells)


def _no_datasets_problem() -> Problem:
    return Problem(
        "no-datasets",
        "files",
        "no table of items was found for these links or comparisons",
        remedy="Give the tables of the items too, or add this file to open data on the Data page.",
    )
