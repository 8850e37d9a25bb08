"""One dataset of a bundle: its table, features, kernel and thumbnails, put together by id."""

from __future__ import annotations

import fnmatch
from collections import Counter
from collections.abc import Callable, Collection
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import NDArray

from hetviz.data import Dataset
from hetviz.data.checks import MAX_ID_LENGTH
from hetviz.errors import DataError, Problem
from hetviz.features import table as table_features
from hetviz.features.columns import Column, infer, number, numbers
from hetviz.io import cells, gate
from hetviz.io.files import Archive, Files
from hetviz.io.loaded import ColumnInfo, DatasetInfo
from hetviz.io.manifest import DatasetEntry
from hetviz.io.tables import Choices, TableRead, read_table

_TITLES = ("title", "name", "label")
_SAVED = Choices("utf-8", ",", ".", True)


def read_dataset(
    files: Files,
    entry: DatasetEntry,
    labels: Collection[str],
    problems: list[Problem],
    read: TableRead | None = None,
) -> tuple[Dataset, DatasetInfo]:
    """Read one dataset; rows that are wrong are left out and listed in `problems`.

    Parameters
    ----------
    files : Files
    entry : DatasetEntry
    labels : collection of str
        Columns that are labels, so never features.
    problems : list of Problem
        Is added to.
    read : TableRead, optional
        The table, where it was read already.

    Raises
    ------
    hetviz.errors.DataError
        If nothing of the dataset can be used.
    """
    if read is None:
        saved = entry.columns is not None
        choices = _SAVED if saved else Choices(entry.encoding, entry.separator, entry.decimal)
        read = read_table(entry.table, files.read(entry.table), choices)
    problems += read.problems
    return _Reading(files, entry, labels, problems, read).result()


class _Reading:
    """The steps of reading one dataset, which share the entry, the table and the problems."""

    def __init__(
        self,
        files: Files,
        entry: DatasetEntry,
        labels: Collection[str],
        problems: list[Problem],
        read: TableRead,
    ) -> None:
        self.files, self.entry, self.labels = files, entry, labels
        self.problems, self.read = problems, read
        self.where = f"dataset {entry.name!r}"
        self.id_column = self._id_column()
        self.good = self._rows_with_good_ids()

    def result(self) -> tuple[Dataset, DatasetInfo]:
        entry, read = self.entry, self.read
        X, names, source = self._given_features()
        rows = np.flatnonzero(self.good)
        if not len(rows):
            no_rows = gate.refusal("no-rows", read.name, "no row of the table can be used")
            raise DataError([*self._errors(), *no_rows.problems])
        text = read.frame.drop(columns=self.id_column).iloc[rows].reset_index(drop=True)
        known: dict[str, Column] = {}
        if entry.columns is None:
            table, known = cells.typed(text, read.decimal)
        else:
            table = cells.exact(read.name, text, entry.columns, entry.missing)
        title = self._title_column(table)
        recipe: dict[str, Any] = {"title": title} if title is not None else {}
        if entry.text:
            recipe["text"] = list(entry.text)
        if entry.media_column is not None:
            recipe["media"] = entry.media_column
        if X is not None:
            X = X[rows]
        elif self._makes_features():
            made = self._made_features(text, title, known)
            X, names = made.X, made.feature_names
            if X is not None:
                recipe["features"] = made.recipe
                source = "made from the columns, by what they hold"
        if entry.recipe is not None:
            recipe = cells.json_object(entry.recipe, self.files.read(entry.recipe))
        kernel, distance = self._square(entry.kernel, rows), self._square(entry.distance, rows)
        for word, file in (("kernel", entry.kernel), ("distance", entry.distance)):
            if file is not None:
                source = f"{source}, {word} from {file}".lstrip(", ")
        dataset = Dataset(
            entry.name,
            read.frame[self.id_column].to_numpy(dtype=object)[rows],
            X,
            feature_names=names or None,
            kernel=kernel,
            distance=distance,
            table=table if table.shape[1] else None,
            media=self._media(table, rows),
            entity=entry.entity,
            recipe=recipe or None,
        )
        return dataset, self._info(dataset, title, known, source or "none")

    def _errors(self) -> list[Problem]:
        return [problem for problem in self.problems if problem.severity == "error"]

    def _id_column(self) -> str:
        columns = list(self.read.frame.columns)
        if self.entry.id is not None:
            if self.entry.id in columns:
                return self.entry.id
            there = f"There are: {', '.join(columns[:20])}."
            raise gate.refusal(
                "unknown-column", self.read.name, "there is no such column", self.entry.id, there
            )
        found = guess_id_column(self.read.frame)
        if found is None:
            raise gate.refusal(
                "no-ids",
                self.read.name,
                "no column can serve as id: none has a different value in every row",
                remedy="Add a column named id, with a different value in every row.",
            )
        return found

    def _rows_with_good_ids(self) -> NDArray[np.bool_]:
        seen: dict[str, int] = {}
        good = np.ones(len(self.read.frame), dtype=bool)
        for row, text in enumerate(self.read.frame[self.id_column]):
            refused = _bad_id(text, seen.get(text))
            if refused is None:
                seen[text] = self.read.row[row]
                continue
            good[row] = False
            code, what, remedy = refused
            place = self.read.place(row, self.id_column)
            self.problems.append(
                Problem(code, place, what, text[:60], remedy, row=self.read.row[row])
            )
        return good

    def _makes_features(self) -> bool:
        entry = self.entry
        if entry.columns is not None or entry.features == "none":
            return False
        return entry.features is not None or not (entry.kernel or entry.distance)

    def _made_features(
        self, text: pd.DataFrame, title: str | None, known: dict[str, Column]
    ) -> table_features.TableFeatures:
        entry = self.entry
        never = {*entry.exclude, *self.labels, *(c for c in (title, entry.media_column) if c)}
        wanted = None
        if entry.features is not None:
            wanted = _matching(f"{self.where}, features", entry.features, text.columns)
        made = table_features.fit(
            text,
            where=self.read.name,
            columns=wanted,
            exclude=never - set(entry.text),
            log=[column for column in entry.log if column in text.columns],
            text=entry.text,
            decimal=self.read.decimal,
            known=known,
        )
        self.problems += made.notes
        if made.X is None:
            self.problems.append(
                Problem(
                    "no-features",
                    self.where,
                    "no column is of use as a feature, so only links can place its rows",
                    severity="note",
                )
            )
        return made

    def _given_features(self) -> tuple[Any, tuple[str, ...], str]:
        """Return features from files: the matrix for all rows of the table, names, and source."""
        entry = self.entry
        if entry.sparse is not None:
            return self._sparse_features(entry.sparse), entry.feature_names or (), "read"
        if not isinstance(entry.features, str) or entry.features == "none":
            return None, (), ""
        if entry.features in self.read.frame.columns:
            return None, (), ""
        source = f"read from {entry.features}"
        content = self.files.read(entry.features)
        if gate.kind_of(entry.features, content) == "npy":
            X = gate.matrix(entry.features, content)
            self._check_count(entry.features, len(X))
            return X, entry.feature_names or (), source
        return *self._vectors(read_table(entry.features, content)), source

    def _vectors(self, vectors: TableRead) -> tuple[NDArray[np.float64], tuple[str, ...]]:
        """Return features from a table with an id column, matched by id, never by order."""
        self.problems += vectors.problems
        columns = list(vectors.frame.columns)
        id_column = self.id_column if self.id_column in columns else columns[0]
        names = tuple(column for column in columns if column != id_column)
        X = np.full((len(self.read.frame), len(names)), np.nan)
        row_of = {text: row for row, text in enumerate(self.read.frame[self.id_column])}
        extra = 0
        filled: set[str] = set()
        values = vectors.frame[list(names)].to_numpy(dtype=object)
        for at, text in enumerate(vectors.frame[id_column]):
            row = row_of.get(text)
            if row is None:
                extra += 1
                continue
            if text in filled:
                self._refuse("duplicate-id", vectors.place(at, id_column), "a second row", text)
                continue
            filled.add(text)
            found = numbers(values[at].tolist(), vectors.decimal)
            if found is not None:
                X[row] = found
                continue
            for place, cell in enumerate(values[at]):
                value = number(cell, vectors.decimal)
                if value is None:
                    self._refuse("not-numbers", vectors.place(at, names[place]), "no number", cell)
                    self.good[row] = False
                else:
                    X[row, place] = value
        for text, row in row_of.items():
            if text not in filled and self.good[row]:
                self.good[row] = False
                self._refuse("no-features", vectors.name, "no features for this id", text)
        if extra:
            what = f"{extra:,} ids are not in {self.read.name}; they are not used"
            self.problems.append(Problem("extra-ids", vectors.name, what, severity="note"))
        return X, names

    def _sparse_features(self, names: tuple[str, ...]) -> sp.csr_array:
        where = f"{self.where}, sparse"
        if len(names) != 3 or self.entry.n_features is None:
            what = "three files (data, indices, indptr) and n_features are needed"
            raise gate.refusal("bad-manifest", where, what)
        data, indices, indptr = (gate.vector(name, self.files.read(name)) for name in names)
        try:
            shape = (len(self.read.frame), self.entry.n_features)
            X = sp.csr_array((data, indices, indptr), shape=shape)
            X.check_format(full_check=True)
        except (ValueError, TypeError, IndexError, OverflowError):
            raise gate.refusal("bad-shape", where, "the three files do not fit together") from None
        return X

    def _check_count(self, name: str, count: int) -> None:
        if count != len(self.read.frame):
            raise gate.refusal(
                "row-count",
                name,
                f"{count:,} rows, but {self.read.name} has {len(self.read.frame):,}",
                remedy="Give one row for each row of the table, in the same order.",
            )

    def _square(self, name: str | None, rows: NDArray[np.int64]) -> NDArray[Any] | None:
        if name is None:
            return None
        matrix = gate.matrix(name, self.files.read(name))
        self._check_count(name, len(matrix))
        if matrix.shape[1] == matrix.shape[0]:
            return matrix[np.ix_(rows, rows)]
        return matrix[rows]

    def _title_column(self, table: pd.DataFrame) -> str | None:
        declared = [
            self.entry.title,
            self.entry.media_column,
            *self.entry.text,
            *self.entry.exclude,
        ]
        _known(self.where, [name for name in declared if name != self.id_column], table.columns)
        if self.entry.title == self.id_column:
            return None
        return self.entry.title or next((name for name in _TITLES if name in table.columns), None)

    def _media(self, table: pd.DataFrame, rows: NDArray[np.int64]) -> tuple[Any, ...] | None:
        """Return the thumbnail of each row: named in a column, or by the number of the row."""
        entry = self.entry
        if entry.media is None and entry.media_column is None:
            return None
        read, there = self._pictures()
        if entry.media_column is not None:
            wanted = [None if pd.isna(name) else str(name) for name in table[entry.media_column]]
        else:
            numbered = {name.rsplit(".", 1)[0]: name for name in there}
            wanted = [numbered.get(str(row)) for row in rows]
        found: list[bytes | None] = []
        for row, name in enumerate(wanted):
            try:
                found.append(None if not name else gate.picture(name, read(name)))
            except DataError as error:
                place = self.read.place(int(rows[row]), entry.media_column or "")
                what = error.problems[0].what
                self._refuse("bad-picture", place, what, name or "")
                found.append(None)
        return tuple(found)

    def _pictures(self) -> tuple[Callable[[str], bytes], list[str]]:
        media = self.entry.media
        if media is None:
            return self.files.read, self.files.names()
        if media in self.files.names():
            archive = Archive(media, self.files.read(media))
            return archive.read, archive.names()
        prefix = media.rstrip("/") + "/"
        there = [n.removeprefix(prefix) for n in self.files.names() if n.startswith(prefix)]
        return (lambda name: self.files.read(prefix + name)), there

    def _refuse(self, code: str, where: str, what: str, value: str) -> None:
        self.problems.append(Problem(code, where, what, value, "The row is left out."))

    def _info(
        self, dataset: Dataset, title: str | None, known: dict[str, Column], source: str
    ) -> DatasetInfo:
        steps = ((dataset.recipe or {}).get("features") or {}).get("columns", [])
        roles = dict.fromkeys([step["column"] for step in steps], "feature")
        roles |= dict.fromkeys(self.labels, "label")
        if self.entry.media_column is not None:
            roles[self.entry.media_column] = "media"
        if title is not None:
            roles[title] = "title"
        columns = [ColumnInfo(self.id_column, "id", "unique")]
        for name in () if dataset.table is None else dataset.table.columns:
            column = known.get(name) or infer(str(name), dataset.table[name])  # type: ignore[index]
            role = roles.get(name, "shown")
            columns.append(ColumnInfo(str(name), role, column.kind, column.n_missing))
        read = self.read
        return DatasetInfo(
            dataset.name,
            read.name,
            read.encoding,
            read.separator,
            read.decimal,
            read.header,
            len(dataset),
            0 if dataset.X is None else int(dataset.X.shape[1]),
            self.id_column,
            title,
            self.entry.media_column,
            tuple(columns),
            source,
        )


def guess_id_column(frame: pd.DataFrame) -> str | None:
    """Return the column named id, else the first whose values all differ and none is empty."""
    for name in frame.columns:
        if name.lower() == "id":
            return str(name)
    for name in frame.columns:
        values = frame[name]
        if values.is_unique and values.str.strip().ne("").all() and len(values):
            return str(name)
    return None


def _bad_id(text: str, first: int | None) -> tuple[str, str, str] | None:
    if not text.strip():
        return "empty-id", "the id is empty", "Give every row an id."
    if len(text) > MAX_ID_LENGTH:
        what = f"the id has {len(text)} characters; {MAX_ID_LENGTH} are allowed"
        return "long-id", what, "Use a shorter id column."
    if first is not None:
        what = f"the id was used before, in row {first + 1}"
        return "duplicate-id", what, "Ids must be unique: rename one or leave one row out."
    return None


def _matching(where: str, wanted: str | tuple[str, ...], there: pd.Index) -> list[str]:
    """Return the columns wanted; ``kl*`` stands for all columns that begin so."""
    found: list[str] = []
    for pattern in [wanted] if isinstance(wanted, str) else wanted:
        hits = [pattern] if pattern in there else fnmatch.filter(there, pattern)
        _known(where, [] if hits else [pattern], there)
        found += hits
    return list(Counter(found))


def _known(where: str, names: list[str | None], there: pd.Index) -> None:
    unknown = [name for name in names if name is not None and name not in there]
    if unknown:
        remedy = f"There are: {', '.join(map(str, there[:20]))}."
        raise DataError(
            Problem("unknown-column", where, "there is no such column", name, remedy)
            for name in unknown
        )
