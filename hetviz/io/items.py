"""One dataset of a bundle: its table, features, kernel and thumbnails, put together by id."""

from __future__ import annotations

import fnmatch
import unicodedata
from collections import Counter
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hetviz.data import Dataset
from hetviz.data.checks import MAX_ID_LENGTH
from hetviz.errors import DataError, Problem, listed
from hetviz.features import table as table_features
from hetviz.features.columns import Column, infer
from hetviz.features.recipe import columns_used, made_features, source_words
from hetviz.io import cells, gate
from hetviz.io.files import Files
from hetviz.io.given import Given
from hetviz.io.loaded import ColumnInfo, DatasetInfo
from hetviz.io.manifest import DatasetEntry
from hetviz.io.piece import Piece
from hetviz.io.tables import SAVED, Choices, TableRead, guess_id_column, read_table
from hetviz.io.thumbnails import read_thumbnails
from hetviz.io.unusable import unusable_cells

MAX_LABEL_CLASSES = 20
_TITLES = ("title", "name", "label")
_TITLE_LENGTH = 60


def read_dataset(
    files: Files,
    entry: DatasetEntry,
    labels: Collection[str] | None,
    problems: list[Problem],
    read: TableRead | None = None,
    piece: Piece | None = None,
) -> tuple[Dataset, DatasetInfo]:
    """Read one dataset; rows that are wrong are left out and listed in `problems`.

    Parameters
    ----------
    files : Files
    entry : DatasetEntry
    labels : collection of str, optional
        Columns that are labels, so never features; when absent, the first column of few
        categories is one.
    problems : list of Problem
        Is added to.
    read : TableRead, optional
        The table, where it was read already.
    piece : Piece, optional
        What its file gave beside the table: numbers, a kernel, distances, pictures.

    Raises
    ------
    hetviz.errors.DataError
        If nothing of the dataset can be used.
    """
    if read is None:
        saved = entry.columns is not None
        choices = SAVED if saved else Choices(entry.encoding, entry.separator, entry.decimal)
        read = read_table(entry.table, files.read(entry.table), choices)
    problems += read.problems
    return _Reading(files, entry, labels, problems, read, piece).result()


class _Reading:
    """The steps of reading one dataset, which share the entry, the table and the problems."""

    def __init__(
        self,
        files: Files,
        entry: DatasetEntry,
        labels: Collection[str] | None,
        problems: list[Problem],
        read: TableRead,
        piece: Piece | None,
    ) -> None:
        self.files, self.entry, self.labels = files, entry, labels
        self.problems, self.read = problems, read
        self.piece = piece or Piece(entry.name, read.name)
        self.where = f"dataset {entry.name!r}"
        self.id_column = self._id_column()
        self.good = self._rows_with_good_ids()

    def result(self) -> tuple[Dataset, DatasetInfo]:
        entry, read = self.entry, self.read
        X, names, source = self._given_features()
        rows = np.flatnonzero(self.good)
        if not len(rows):
            what = (
                "there are no rows below the names of the columns"
                if read.frame.empty
                else "no row of the table can be used"
            )
            no_rows = gate.refusal("no-rows", read.name, what)
            raise DataError([*self._errors(), *no_rows.problems])
        text = read.frame.drop(columns=self.id_column).iloc[rows].reset_index(drop=True)
        known: dict[str, Column] = {}
        if entry.columns is None:
            table, known = cells.typed(text, read.decimal)
            self.problems += listed(unusable_cells(read, known, rows.tolist()))
            guessed = None if self.piece.X is not None else _guess_title(known)
        else:
            table = cells.exact(read.name, text, entry.columns, entry.missing)
            guessed = None
        title = self._title_column(table) or guessed
        if self.labels is None:
            self.labels = _guess_labels(known, {title, *entry.exclude})
        recipe: dict[str, Any] = {"title": title} if title is not None else {}
        if entry.text:
            recipe["text"] = list(entry.text)
        if entry.media_column is not None:
            recipe["media"] = entry.media_column
        media = self._media(table, rows)
        if X is not None:
            X = X[rows]
        elif self._makes_features():
            made = self._made_features(text, title, known, media)
            X, names = made.X, made.feature_names
            if X is not None:
                recipe["features"] = made.recipe
                source = source_words(made.recipe)
        if entry.recipe is not None:
            recipe = cells.json_object(entry.recipe, self.files.read(entry.recipe))
        given = self._given()
        squares: dict[str, NDArray[Any]] = {}
        for word, file in (("kernel", entry.kernel), ("distance", entry.distance)):
            if file is not None:
                squares[word] = given.square(file, rows, is_saved=entry.columns is not None)
                source = f"{source}, {word} from {file}".lstrip(", ")
        for word, matrix in (("kernel", self.piece.kernel), ("distance", self.piece.distance)):
            if matrix is not None:
                squares[word] = matrix[np.ix_(rows, rows)]
                source = f"{source}, {word} as given".lstrip(", ")
        dataset = Dataset(
            entry.name,
            read.frame[self.id_column].to_numpy(dtype=object)[rows],
            X,
            feature_names=names or None,
            **squares,
            table=table if table.shape[1] else None,
            media=media,
            entity=entry.entity,
            recipe=recipe or None,
        )
        if entry.options and entry.columns is None and "features" not in recipe:
            # Columns beside features from a file.
            dataset, notes = made_features(
                dataset, entry.options, entry.text_model, self.labels or ()
            )
            self.problems += notes
            source = source_words((dataset.recipe or {})["features"])
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
        bad: list[tuple[int, str, tuple[str, str, str]]] = []
        for row, text in enumerate(self.read.frame[self.id_column].tolist()):
            refused = _bad_id(text, seen.get(text))
            if refused is None:
                seen[text] = self.read.row[row]
            else:
                good[row] = False
                bad.append((row, text, refused))
        self.problems += listed(
            Problem(
                code,
                self.read.place(row, self.id_column),
                what,
                text[:60],
                remedy,
                row=self.read.row[row],
            )
            for row, text, (code, what, remedy) in bad
        )
        self._tell_alike(seen)
        return good

    def _tell_alike(self, ids: Collection[str]) -> None:
        """Tell of ids that people would read as the same."""
        first: dict[str, str] = {}
        alike = [
            (before, text)
            for text in ids
            if (before := first.setdefault(_folded(text), text)) is not text
        ]
        if alike:
            pair = " and ".join(map(ascii, alike[0]))
            what = (
                "some ids differ only in capitals, blanks or the way accents are written, "
                f"such as {pair}; they count as different"
            )
            place = f"{self.read.name}, column {self.id_column}"
            self.problems.append(Problem("ids-alike", place, what, severity="note"))

    def _makes_features(self) -> bool:
        entry = self.entry
        if entry.columns is not None or entry.features == "none":
            return False
        given = (entry.kernel, entry.distance, self.piece.kernel, self.piece.distance)
        return entry.features is not None or all(matrix is None for matrix in given)

    def _made_features(
        self,
        text: pd.DataFrame,
        title: str | None,
        known: dict[str, Column],
        media: tuple[Any, ...] | None,
    ) -> table_features.TableFeatures:
        entry = self.entry
        never = dict.fromkeys(entry.exclude, "left out")
        never |= {title: "title"} if title is not None else {}
        never |= {entry.media_column: "picture file"} if entry.media_column is not None else {}
        never |= dict.fromkeys(self.labels or (), "label")
        wanted = None
        if entry.features is not None:
            wanted = _matching(f"{self.where}, features", entry.features, text.columns)
        made = table_features.fit(
            text,
            where=self.read.name,
            columns=wanted,
            exclude={name: why for name, why in never.items() if name not in entry.text},
            log=[column for column in entry.log if column in text.columns],
            text=entry.text,
            decimal=self.read.decimal,
            known=known,
            options=entry.options,
            text_model=entry.text_model,
            media=media,
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

    def _given(self) -> Given:
        return Given(self.files, self.read, self.id_column, self.good, self.problems)

    def _given_features(self) -> tuple[Any, tuple[str, ...], str]:
        """Return features from files: the matrix for all rows of the table, names, and source."""
        entry = self.entry
        if self.piece.X is not None:
            return self.piece.X, self.piece.feature_names, "as given"
        given = self._given()
        names = entry.feature_names or ()
        if entry.sparse is not None:
            return (
                given.sparse(f"{self.where}, sparse", entry.sparse, entry.n_features),
                names,
                "read",
            )
        file = entry.features
        if not isinstance(file, str) or file == "none" or file in self.read.frame.columns:
            return None, (), ""
        X, titles = given.features(file)
        return X, titles or names, f"read from {file}"

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
        media, column = self.entry.media, self.entry.media_column
        if self.piece.media is not None:
            return tuple(self.piece.media[row] for row in rows.tolist())
        if media is None and column is None:
            return None
        names = None if column is None else table[column]
        return read_thumbnails(self.files, media, names, self.read, rows, self.problems)

    def _info(
        self, dataset: Dataset, title: str | None, known: dict[str, Column], source: str
    ) -> DatasetInfo:
        made = columns_used((dataset.recipe or {}).get("features"))
        roles = dict.fromkeys(made, "feature")
        if self.entry.media_column is not None:
            roles[self.entry.media_column] = "media"
        if title is not None:
            roles[title] = "title"
        roles |= dict.fromkeys(self.labels or (), "label")
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


def _guess_labels(columns: Mapping[str, Column], never: Collection[str | None]) -> list[str]:
    """Return the first column of few categories that most rows have one of."""
    for name, column in columns.items():
        n = len(column.values)
        if name in never or column.kind != "category" or column.n_missing >= n / 2:
            continue
        if len(set(column.values) - {None}) <= min(MAX_LABEL_CLASSES, n / 3):
            return [name]
    return []


def _guess_title(columns: Mapping[str, Column]) -> str | None:
    """Return the first column of short words that nearly all differ, as names do."""
    for name, column in columns.items():
        words = [value for value in column.values if isinstance(value, str)]
        if column.kind != "unique" or len(words) < 0.9 * len(column.values):
            continue
        spoken = sum(any(sign.isalpha() for sign in word) for word in words)
        if spoken >= 0.9 * len(words) and sum(map(len, words)) <= _TITLE_LENGTH * len(words):
            return name
    return None


def _folded(text: str) -> str:
    plain = text if text.isascii() else unicodedata.normalize("NFC", text)
    return plain.strip().casefold()


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
