"""Files without a manifest: tables are recognised by their columns."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import pandas as pd

from hetviz._text import count, listed
from hetviz.data import Dataset, HeteroData, Labels
from hetviz.data.joins.proposals import name_words
from hetviz.errors import DataError, Problem
from hetviz.features.columns.names import is_named_id
from hetviz.features.columns.types import infer
from hetviz.io import gate
from hetviz.io.bundle.items import by_recipe, read_dataset, with_scales
from hetviz.io.bundle.lookup import rows_named, titles_alone
from hetviz.io.bundle.manifest import DatasetEntry, LinksEntry
from hetviz.io.bundle.statements import comparison_form, is_links, read_comparisons, read_links
from hetviz.io.formats.edges import graphs_joined
from hetviz.io.infer.ids import guess_id_column
from hetviz.io.infer.roles import named_title
from hetviz.io.intake.drop import Parse, read_drop
from hetviz.io.intake.loaded import DatasetInfo, FileInfo, Loaded
from hetviz.io.piece import Choices, Drop, Piece, TableRead, has_matrix, table_of
from hetviz.progress import Part, Progress, silent

_SHARE_OF_IDS = 0.5
# What the two ends of a link are called.
_ENDS = frozenset(
    {"source", "target", "from", "to", "src", "dst", "a", "b", "i", "j", "node", "head", "tail"}
)


def refers(cells: pd.Series, datasets: Collection[str]) -> bool:
    """Say whether a column whose cells are ids is one that refers to items.

    Ages and counts are among the numbers of rows too: a column of numbers refers to items if it is
    called as what refers to items is. Texts speak for themselves.
    """
    column = str(cells.name)
    if not cells.str.fullmatch(r"\d*").all():
        return True
    words = name_words(column)
    return is_named_id(column) or any(words & (name_words(name) | _ENDS) for name in datasets)


class NoFiles:
    """Plain tables have no other files."""

    name = "files"

    def names(self) -> list[str]:
        return []

    def read(self, name: str) -> bytes:
        raise gate.refusal("no-file", name, "there is no such file")


def read_tables(
    files: Sequence[tuple[str, bytes]],
    choices: Mapping[str, Choices] | None = None,
    base: HeteroData | None = None,
    parse: Parse = read_drop,
    progress: Progress = silent,
) -> Loaded:
    """Read files without a manifest, each taken for datasets, links or comparisons.

    Parameters
    ----------
    files : sequence of (name, bytes)
        A dataset is called after its file, or the part of it that it stands in.
    choices : mapping of file name to Choices, optional
        What the user says about a file.
    base : HeteroData, optional
        Data that these files add to.
    parse : callable
        Reads the bytes: `hetviz.io.intake.drop.read_drop`, or `hetviz.io.sandbox.child.read_drop`
        where they come from people who are not to be trusted with the memory of this process.
    progress : callable
        See `hetviz.progress`.

    Returns
    -------
    Loaded
        ``files`` says in words what each file was taken for; ``problems`` lists each row and file
        that was left out.

    Raises
    ------
    hetviz.errors.DataError
        If no dataset can be read and there is no `base`.

    Notes
    -----
    A table with columns source_id and target_id holds links, and so does one of two or three
    columns of which two hold ids of the datasets, or what single items of them are called; one
    with anchor_id, near_id and far_id (or a_id, b_id, c_id) holds comparisons. Any other is a
    dataset: its ids are the column named as ids are, else the first of short texts that all
    differ, else the numbers of its rows; see `hetviz.io.infer.ids.guess_id_column`.
    """
    reading = _Reading([name for name, _ in files], choices or {}, base, progress)
    return reading.result(parse(files, choices or {}))


@dataclass(frozen=True, eq=False)
class _Part:
    """A piece, the file that it came in, and its table."""

    file: str
    piece: Piece
    read: TableRead


class _Reading:
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
        self.parts: list[_Part] = []
        self.told: list[FileInfo] = []
        self.datasets: dict[str, Dataset] = dict(base.datasets) if base is not None else {}
        self.labels: list[Labels] = []
        self.infos: list[DatasetInfo] = []
        # What the two ends were called in tables that were found to be links.
        self.ends: dict[str, tuple[str, str]] = {}

    def result(self, drop: Drop) -> Loaded:
        for name, error in drop.refused:
            self._refused(name, error)
        pieces = drop.pieces if self.base is not None else graphs_joined(drop.pieces)
        self.parts = [_Part(self._file(p.where), p, table_of(p)) for p in pieces]
        statements, datasets, unsure = self._sorted()
        for part in datasets:
            self._dataset(part)
        joined = [(part, self._ends(part.read, unsure)) for part in unsure]
        for part, ends in joined:
            if ends is None:
                self._dataset(part)
            else:
                statements.append(replace(part, read=ends))
        if not self.datasets:
            raise DataError(dict.fromkeys(self.problems) or [_nothing()])
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
            data = self._statement(part, data)
        name = self.infos[0].dataset if self.infos else "data"
        return Loaded(
            data,
            name,
            ", ".join(data.datasets),
            problems=tuple(dict.fromkeys(self.problems)),
            understood=tuple(self.infos),
            files=tuple(self.told),
        )

    def _file(self, where: str) -> str:
        """Return the file that a place such as ``"book.xlsx, sheet Drugs"`` is in."""
        inside = [name for name in self.names if where == name or where.startswith(f"{name}, ")]
        return max(inside, key=len, default=where)

    def _sorted(self) -> tuple[list[_Part], list[_Part], list[_Part]]:
        statements: list[_Part] = []
        datasets: list[_Part] = []
        unsure: list[_Part] = []
        for part in self.parts:
            read, role = part.read, self._role(part)
            if role in ("links", "comparisons") or (
                role is None and (is_links(read) or comparison_form(read) is not None)
            ):
                statements.append(part)
            elif role is None and read.frame.shape[1] in (2, 3) and not has_matrix(part.piece):
                unsure.append(part)
            else:
                datasets.append(part)
        return statements, datasets, unsure

    def _choice(self, part: _Part) -> Choices:
        return self.choices.get(part.file, Choices())

    def _role(self, part: _Part) -> str | None:
        return self._choice(part).role or part.piece.role

    def _refused(self, name: str, error: DataError) -> None:
        self.problems += error.problems
        self.told.append(FileInfo(name, "refused", f"Left out: {error.problems[0].what}."))

    def _tell(self, part: _Part, role: str, words: str) -> None:
        facts = {what: value for what, value in part.read.facts.items() if value}
        self.told.append(FileInfo(part.read.name, role, words, facts, part.file))

    def _dataset(self, part: _Part) -> None:
        choice, piece, read = self._choice(part), part.piece, part.read
        done, share = self.n_made, 1 / max(1, len(self.parts))
        progress = Part(self.progress, done * share, (done + 1) * share)
        progress(0.0, f"Making features of {piece.name}")
        self.n_made += 1
        several = sum(other.file == part.file for other in self.parts) > 1
        name = (None if several else choice.name) or piece.name
        try:
            if name in self.datasets:
                raise gate.refusal(
                    "duplicate-name",
                    read.name,
                    "a dataset of this name is there already",
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
            said = choice.recipe_of(read.name)
            if said is not None:
                # Formats whose columns have types by themselves are read without one.
                read = replace(read, recipe=read.recipe or said)
                entry, labels = by_recipe(entry, labels, read.recipe or said, read)
            elif piece.X is None:
                entry = with_scales(entry, read.recipe, read)
            dataset, info = read_dataset(
                NoFiles(), entry, labels, self.problems, read, piece, progress=progress
            )
        except DataError as error:
            self._refused(read.name, error)
            return
        if said is not None:
            info = replace(info, recipe=read.recipe or said)
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
        words += f"; its labels are {listed(coloured)}." if coloured else "."
        self._tell(part, "dataset", words)

    def _ends(self, read: TableRead, unsure: Sequence[_Part]) -> TableRead | None:
        """Return the table with its columns named as links, if two of them hold known items."""
        columns = list(read.frame.columns)
        if "id" in map(str.lower, columns):
            return None
        known = [set(part.ids) | set(titles_alone(part)) for part in self.datasets.values()]
        for other in unsure:
            id_column = None if other.read is read else guess_id_column(other.read.frame)
            if id_column is not None:
                title = named_title(other.read.frame.columns)
                columns_of = [id_column] if title is None else [id_column, title]
                known.append(set(other.read.frame[columns_of].to_numpy().ravel()))
        for first, second in ((0, 1), (0, 2), (1, 2)):
            if second >= len(columns):
                continue
            ends = [set(read.frame[columns[at]]) for at in (first, second)]
            if not all(any(_mostly(end, ids) for ids in known) for end in ends):
                continue
            rest = [at for at in range(len(columns)) if at not in (first, second)]
            if not all(refers(read.frame[columns[at]], self.datasets) for at in (first, second)):
                continue
            self.ends[read.name] = columns[first], columns[second]
            names = {columns[first]: "source_id", columns[second]: "target_id"}
            if rest and infer("", read.frame[columns[rest[0]]], read.decimal).kind in (
                "number",
                "constant",
            ):
                names[columns[rest[0]]] = "weight"
            frame = read.frame.rename(columns=names)
            if "weight" in frame:
                frame = frame.assign(weight=self._scaled(frame["weight"], columns[rest[0]], read))
            called = {name: column for column, name in names.items()}
            return replace(read, frame=frame, called=called)
        return None

    def _scaled(self, cells: pd.Series, column: str, read: TableRead) -> pd.Series:
        """Return the weights of links, from counts and amounts those as shares of the greatest."""
        numbers = pd.to_numeric(cells.str.replace(read.decimal, "."), errors="coerce")
        most = float(numbers.max())
        if not most > 1 or numbers.min() < 0:
            return cells
        what = f"links are weighted by {column} as a share of the greatest, {most:g}"
        self.problems.append(
            Problem("weights-scaled", f"{read.name}, column {column}", what, severity="note")
        )
        shares = (numbers / most).map(repr).str.replace(".", read.decimal)
        return cells.where(numbers.isna() | (numbers <= 0), shares)

    def _owner(self, cells: pd.Series, column: str) -> str | None:
        """Return the dataset that a column is called after, or that knows most of its cells.

        It knows half of them at least.
        """
        distinct = set(cells)
        known = {
            name: int((rows_named(part, [*distinct]) >= 0).sum())
            for name, part in self.datasets.items()
        }
        words = name_words(column)
        fit = [name for name, n in known.items() if n and n >= _SHARE_OF_IDS * len(distinct)]
        return max(
            fit, key=lambda name: (bool(words & name_words(name)), known[name]), default=None
        )

    def _statement(self, part: _Part, data: HeteroData) -> HeteroData:
        choice, role, read = self._choice(part), self._role(part), part.read
        try:
            if role == "comparisons" or (role is None and comparison_form(read) is not None):
                compared = read_comparisons(read, data.datasets, self.problems)
                n = 0 if compared is None else len(compared)
                self._tell(part, "comparisons", f"{n:,} comparisons.")
                return data if compared is None else data.edit().add(compared)
            entry = LinksEntry(read.name, source=choice.source, target=choice.target)
            if is_links(read):
                ends = self.ends.get(read.name, ("", ""))
                entry = replace(
                    entry,
                    source=choice.source or self._owner(read.frame["source_id"], ends[0]),
                    target=choice.target or self._owner(read.frame["target_id"], ends[1]),
                )
            links = read_links(read, entry, data.datasets, self.problems)
        except DataError as error:
            self._refused(read.name, error)
            return data
        blocks = dict.fromkeys(f"{group.source} - {group.target}" for group in links)
        n = sum(map(len, links))
        words = count(n, "link") + (f": {', '.join(blocks)}." if blocks else ".")
        self._tell(part, "links", words)
        return data.edit().add(*links) if links else data


def _mostly(cells: set[str], ids: set[str]) -> bool:
    return bool(cells) and len(cells & ids) >= _SHARE_OF_IDS * len(cells)


def _nothing() -> Problem:
    return Problem(
        "no-datasets",
        "files",
        "there is no dataset for links or comparisons to join",
        remedy="Give the tables of the items too, or add this file to open data on the Data page.",
    )
