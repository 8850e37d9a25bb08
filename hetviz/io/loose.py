"""Plain CSV files without a manifest: each is recognised by its columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import PurePosixPath

import pandas as pd

from hetviz.data import Dataset, HeteroData, Labels
from hetviz.errors import DataError, Problem
from hetviz.features.columns import infer
from hetviz.io import gate
from hetviz.io.items import read_dataset
from hetviz.io.loaded import DatasetInfo, FileInfo, Loaded
from hetviz.io.manifest import DatasetEntry, LinksEntry
from hetviz.io.statements import comparison_form, is_links, read_comparisons, read_links
from hetviz.io.tables import Choices, TableRead, guess_id_column, read_table

_SHARE_OF_IDS = 0.5


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
) -> Loaded:
    """Read CSV files, each taken for a dataset, links or comparisons by its columns.

    Parameters
    ----------
    files : sequence of (name, bytes)
        A dataset is called after its file.
    choices : mapping of file name to Choices, optional
        What the user says about a file.
    base : HeteroData, optional
        Data that these files add to.

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
    A file with columns source_id and target_id holds links, and so does one of two or three columns
    of which two hold ids of the datasets; one with anchor_id, near_id and far_id (or a_id, b_id,
    c_id) holds comparisons. Any other is a dataset: its ids are the column named id, else the first
    whose values all differ.
    """
    reading = _Reading(choices or {}, base)
    for name, content in files:
        reading.add(name, content)
    return reading.result()


class _Reading:
    def __init__(self, choices: Mapping[str, Choices], base: HeteroData | None) -> None:
        self.choices, self.base = choices, base
        self.problems: list[Problem] = []
        self.reads: list[TableRead] = []
        self.files: dict[str, FileInfo] = {}
        self.datasets: dict[str, Dataset] = dict(base.datasets) if base is not None else {}
        self.labels: list[Labels] = []
        self.infos: list[DatasetInfo] = []

    def add(self, name: str, content: bytes) -> None:
        try:
            self.reads.append(read_table(name, content, self.choices.get(name)))
        except DataError as error:
            self._refused(name, error)

    def result(self) -> Loaded:
        statements, datasets, unsure = self._sorted()
        for read in datasets:
            self._dataset(read)
        joined = [(read, self._ends(read, unsure)) for read in unsure]
        for read, ends in joined:
            if ends is None:
                self._dataset(read)
            else:
                statements.append(ends)
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
        for read in statements:
            data = self._statement(read, data)
        name = self.infos[0].dataset if self.infos else "data"
        return Loaded(
            data,
            name,
            ", ".join(data.datasets),
            problems=tuple(dict.fromkeys(self.problems)),
            understood=tuple(self.infos),
            files=tuple(self.files.values()),
        )

    def _sorted(self) -> tuple[list[TableRead], list[TableRead], list[TableRead]]:
        statements: list[TableRead] = []
        datasets: list[TableRead] = []
        unsure: list[TableRead] = []
        for read in self.reads:
            role = self._choice(read).role
            if role in ("links", "comparisons") or (
                role is None and (is_links(read) or comparison_form(read) is not None)
            ):
                statements.append(read)
            elif role is None and read.frame.shape[1] in (2, 3):
                unsure.append(read)
            else:
                datasets.append(read)
        return statements, datasets, unsure

    def _choice(self, read: TableRead) -> Choices:
        return self.choices.get(read.name, Choices())

    def _refused(self, name: str, error: DataError) -> None:
        self.problems += error.problems
        self.files[name] = FileInfo(name, "refused", f"Left out: {error.problems[0].what}.")

    def _dataset(self, read: TableRead) -> None:
        choice = self._choice(read)
        name = choice.name or _dataset_name(read.name)
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
                name, read.name, id=choice.id, title=choice.title, exclude=choice.exclude
            )
            dataset, info = read_dataset(NoFiles(), entry, choice.labels, self.problems, read)
        except DataError as error:
            self._refused(read.name, error)
            return
        self.datasets[name] = dataset
        self.infos.append(info)
        labels = [column.name for column in info.columns if column.role == "label"]
        if dataset.table is not None:
            self.labels += [Labels(name, column, dataset.table[column]) for column in labels]
        words = (
            f"Dataset {name!r}: {len(dataset):,} rows, ids from column {info.id_column!r}, "
            f"{info.n_features:,} features"
        )
        words += f", coloured by {', '.join(labels)}." if labels else "."
        self.files[read.name] = FileInfo(read.name, "dataset", words)

    def _ends(self, read: TableRead, unsure: Sequence[TableRead]) -> TableRead | None:
        """Return the table with its columns named as links, if two of them hold known ids."""
        columns = list(read.frame.columns)
        if "id" in map(str.lower, columns):
            return None
        known = [set(dataset.ids) for dataset in self.datasets.values()]
        for other in unsure:
            if other is not read and (id_column := guess_id_column(other.frame)) is not None:
                known.append(set(other.frame[id_column]))
        for first, second in ((0, 1), (0, 2), (1, 2)):
            if second >= len(columns):
                continue
            ends = [set(read.frame[columns[at]]) for at in (first, second)]
            if not all(any(_mostly(end, ids) for ids in known) for end in ends):
                continue
            rest = [at for at in range(len(columns)) if at not in (first, second)]
            names = {columns[first]: "source_id", columns[second]: "target_id"}
            if rest and infer("", read.frame[columns[rest[0]]], read.decimal).kind in (
                "number",
                "constant",
            ):
                names[columns[rest[0]]] = "weight"
            return replace(read, frame=read.frame.rename(columns=names))
        return None

    def _owner(self, cells: pd.Series) -> str | None:
        """Return the dataset that knows most of the ids in a column, if it knows half of them."""
        distinct = set(cells)
        known = {name: distinct & set(dataset.ids) for name, dataset in self.datasets.items()}
        best = max(known, key=lambda name: len(known[name]), default=None)
        return best if best is not None and _mostly(distinct, known[best]) else None

    def _statement(self, read: TableRead, data: HeteroData) -> HeteroData:
        choice = self._choice(read)
        try:
            if choice.role == "comparisons" or (
                choice.role is None and comparison_form(read) is not None
            ):
                compared = read_comparisons(read, data.datasets, self.problems)
                n = 0 if compared is None else len(compared)
                words = f"{n:,} comparisons."
                self.files[read.name] = FileInfo(read.name, "comparisons", words)
                return data if compared is None else data.edit().add(compared)
            entry = LinksEntry(read.name, source=choice.source, target=choice.target)
            if is_links(read):
                entry = replace(
                    entry,
                    source=choice.source or self._owner(read.frame["source_id"]),
                    target=choice.target or self._owner(read.frame["target_id"]),
                )
            links = read_links(read, entry, data.datasets, self.problems)
        except DataError as error:
            self._refused(read.name, error)
            return data
        blocks = dict.fromkeys(f"{group.source} - {group.target}" for group in links)
        count = sum(map(len, links))
        words = f"{count:,} links" + (f": {', '.join(blocks)}." if blocks else ".")
        self.files[read.name] = FileInfo(read.name, "links", words)
        return data.edit().add(*links) if links else data


def _mostly(cells: set[str], ids: set[str]) -> bool:
    return bool(cells) and len(cells & ids) >= _SHARE_OF_IDS * len(cells)


def _dataset_name(file: str) -> str:
    return PurePosixPath(file.replace("\\", "/")).stem.strip() or "data"


def _nothing() -> Problem:
    return Problem(
        "no-datasets",
        "files",
        "there is no dataset for links or comparisons to join",
        remedy="Give the tables of the items too, or add this file to open data on the Data page.",
    )
