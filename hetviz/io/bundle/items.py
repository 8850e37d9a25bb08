"""A dataset of a bundle: table, features, kernel and thumbnails, joined by id."""

from __future__ import annotations

import fnmatch
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from hetviz._text import count
from hetviz._types import Array, Ints, Matrix
from hetviz.data import Dataset
from hetviz.data.model.dataset import MADE_IDS
from hetviz.errors import DataError, Problem, limit_problems
from hetviz.features import table as table_features
from hetviz.features.columns.options import possible_kinds
from hetviz.features.columns.types import Column, infer
from hetviz.features.recipe import columns_used, describe_sources, make_features_with_notes
from hetviz.features.table import RECIPE_FORMAT
from hetviz.io import gate
from hetviz.io.bundle.loaded import ColumnInfo, DatasetInfo
from hetviz.io.bundle.manifest import DatasetEntry
from hetviz.io.datasets.images import read_thumbnails
from hetviz.io.datasets.matrices import MatrixFiles
from hetviz.io.files import Files
from hetviz.io.formats.registry import read_table
from hetviz.io.infer import cells
from hetviz.io.infer.columns import find_scales
from hetviz.io.infer.ids import add_id_column
from hetviz.io.infer.parsed import SAVED, Choices, Table, TableReader
from hetviz.io.infer.recipe import NUMBERS, TableRecipe
from hetviz.io.infer.roles import (
    guess_labels,
    guess_title,
    id_columns_of,
    named_title,
    row_number_note,
    rows_with_ids,
)
from hetviz.io.infer.row_names import choose_title
from hetviz.io.infer.titles import find_time_column, full_name, joined_cells
from hetviz.io.infer.unusable_numbers import unusable_cells
from hetviz.progress import Progress, ProgressPart, ignore_progress

# Feature kinds of the column types; other types use their detected kind.
_FEATURE_KINDS = {
    "number": "number",
    "number with the rest missing": "number",
    "whole number": "number",
    "category": "category",
    "ordered category": "ordered",
    "date": "date",
    "list": "list",
    "text": "text",
}
_FEATURE_TYPES = (*_FEATURE_KINDS, "yes/no", "place")
_BLANKS = " \t\r\n\u00a0\u2007\u202f\u200b\u200c\u200d\u2060\ufeff\u00ad"
# Minimum share of distinct cells for a title column.
_MIN_DISTINCT_SHARE = 0.5


def entry_from_recipe(
    entry: DatasetEntry, labels: Collection[str] | None, recipe: TableRecipe, table: Table
) -> tuple[DatasetEntry, tuple[str, ...]]:
    """Return the entry and the label columns that follow from a recipe."""
    table_columns = table.frame.columns

    def of_type(*types: str) -> tuple[str, ...]:
        return tuple(name for name in recipe.of_type(*types) if name in table_columns)

    titles, pictures = of_type("title"), of_type("picture")
    # Two proposed title columns are parts of one name.
    chosen_titles = [
        column.name for column in recipe.columns if column.said and column.name in titles
    ]
    options: dict[str, dict[str, Any]] = {}
    for column in recipe.columns:
        if column.said and column.name in table_columns and column.type in _FEATURE_TYPES:
            options[column.name] = {"use": True}
            kind = _FEATURE_KINDS.get(column.type)
            kind_of_cells = infer(column.name, table.frame[column.name], table.decimal).kind
            if kind in possible_kinds(kind_of_cells):
                options[column.name]["kind"] = kind
                if kind == "ordered" and column.order:
                    options[column.name]["order"] = list(column.order)
    entry = replace(
        entry,
        id=of_type("id") if entry.id is None else entry.id,
        title=entry.title or next(iter(chosen_titles or titles[: len(titles) < 2]), None),
        media_column=entry.media_column or next(iter(pictures), None),
        keys=of_type("key of another table"),
        options={**with_scales(entry, recipe, table).options, **options, **entry.options},
    )
    return entry, tuple(labels) if labels is not None else of_type("label")


def with_scales(entry: DatasetEntry, recipe: TableRecipe | None, table: Table) -> DatasetEntry:
    """Return an entry in which columns with words of a known scale are ordered categories."""
    if recipe is None:
        orders = find_scales(table.frame)
    else:
        orders = {
            column.name: column.order
            for column in recipe.columns
            if column.type == "ordered category" and not column.said
        }
    options = {
        name: {"kind": "ordered", "order": list(order)}
        for name, order in orders.items()
        if order
        and name in table.frame.columns
        and "ordered" in possible_kinds(infer(name, table.frame[name], table.decimal).kind)
    }
    return replace(entry, options={**options, **entry.options})


def _without_surrounding_blanks(text: pd.DataFrame) -> pd.DataFrame:
    """Return cells without blanks and invisible characters around them, which make no category."""
    changed = {
        name: stripped
        for name in text.columns
        if not (stripped := text[name].str.strip(_BLANKS)).equals(text[name])
    }
    return text.assign(**changed) if changed else text


def _html_note(place: str, plain: Mapping[str, str]) -> Problem:
    first = next(iter(plain))
    message = (
        f"{count(len(plain), 'text')} with HTML codes, such as &amp; for &, read as characters"
    )
    return Problem("html-codes", place, message, first[:60], severity="note")


def _check_columns(where: str, names: Iterable[str | None], columns: pd.Index) -> None:
    """Raise an error for columns that do not exist."""
    unknown = [name for name in names if name is not None and name not in columns]
    if unknown:
        remedy = f"Available: {', '.join(map(str, columns[:20]))}."
        raise DataError(
            Problem("unknown-column", where, "this column does not exist", name, remedy)
            for name in unknown
        )


def _matching_columns(where: str, patterns: str | tuple[str, ...], columns: pd.Index) -> list[str]:
    """Return the columns that match names or patterns such as ``kl*``."""
    matching: list[str] = []
    for pattern in [patterns] if isinstance(patterns, str) else patterns:
        matches = [pattern] if pattern in columns else fnmatch.filter(columns, pattern)
        _check_columns(where, [] if matches else [pattern], columns)
        matching += matches
    return list(Counter(matching))


def read_dataset(
    files: Files,
    entry: DatasetEntry,
    labels: Collection[str] | None,
    problems: list[Problem],
    table: Table | None = None,
    tables: TableReader = read_table,
    progress: Progress = ignore_progress,
) -> tuple[Dataset, DatasetInfo]:
    """Read one dataset. Invalid rows are left out and listed in `problems`."""
    return _DatasetReader(files, entry, labels, problems, table, tables).result(progress)


class _DatasetReader:
    """The steps of reading one dataset."""

    def __init__(
        self,
        files: Files,
        entry: DatasetEntry,
        labels: Collection[str] | None,
        problems: list[Problem],
        table: Table | None,
        tables: TableReader,
    ) -> None:
        self.files, self.entry, self.labels, self.problems = files, entry, labels, problems
        self.where = f"dataset {entry.name!r}"
        is_declared = table is None
        if table is None:
            saved = entry.columns is not None
            choices = SAVED if saved else Choices(entry.encoding, entry.separator, entry.decimal)
            table = tables(entry.table, files.read(entry.table), choices)
        problems += table.problems
        self.id_from = id_columns_of(table, entry.id, is_declared)
        if not self.id_from and entry.id is None:
            problems.append(row_number_note(table))
        frame, self.id_column = add_id_column(table.frame, table.row, self.id_from)
        self.read = replace(table, frame=frame)
        self.good = rows_with_ids(self.read, self.id_column, problems)
        self.matrices = MatrixFiles(files, self.read, self.id_column, self.good, problems, tables)

    def result(self, progress: Progress) -> tuple[Dataset, DatasetInfo]:
        entry, source_table = self.entry, self.read
        X, names, source = self._features_from_files()
        rows = np.flatnonzero(self.good)
        if not len(rows):
            message = (
                "the table has no rows below the column names"
                if source_table.frame.empty
                else "no row of the table is usable"
            )
            no_rows = gate.refusal("no-rows", source_table.where, message)
            raise DataError([*self._errors(), *no_rows.problems])
        text = source_table.frame.drop(columns=self.id_column).iloc[rows].reset_index(drop=True)
        columns_by_name: dict[str, Column] = {}
        if entry.columns is None:
            text = _without_surrounding_blanks(text)
            table, columns_by_name = cells.infer_types(text, source_table.decimal)
            if coded := cells.html_cells(columns_by_name):
                for name, plain in coded.items():
                    self.problems.append(_html_note(f"{source_table.where}, column {name}", plain))
                    text = text.assign(**{name: [plain.get(cell, cell) for cell in text[name]]})
                plain_table, plain_columns = cells.infer_types(
                    text[list(coded)], source_table.decimal
                )
                table, columns_by_name = (
                    table.assign(**plain_table),
                    columns_by_name | plain_columns,
                )
            for name, words in entry.id_cells.items():
                present = text[name].isin(words) | table[name].notna()
                table = table.assign(**{name: text[name].where(present)})
            self.problems += limit_problems(
                unusable_cells(source_table, columns_by_name, rows.tolist())
            )
            guessed = None if self.read.X is not None else guess_title(columns_by_name)
        else:
            table = cells.restore_types(source_table.where, text, entry.columns, entry.missing)
            guessed = None
        titles = self._title_columns(table, text) or ([] if guessed is None else [guessed])
        title = titles[0] if titles else None
        # A year is a feature as well as part of the title.
        parts = titles if full_name(titles) else titles[:1]
        if len(titles) > 1:
            title = " + ".join(titles)
            while title in table.columns:
                title += "_"
            table = table.assign(**{title: joined_cells(text, titles)})
        if self.labels is None:
            self.labels = guess_labels(columns_by_name, {title, *entry.exclude})
        for name in self.labels:
            column = columns_by_name.get(name)
            if column is not None and column.markers:
                markers = " or ".join(f"“{marker}”" for marker in column.markers)
                n_cells = count(column.n_missing, "cell")
                message = f"{n_cells}, empty or with {markers}, count as missing"
                place = f"{source_table.where}, column {name}"
                self.problems.append(Problem("markers", place, message, severity="note"))
        recipe: dict[str, Any] = {}
        if len(self.id_from) != 1 and entry.columns is None:
            recipe[MADE_IDS] = True
        if len(self.id_from) == 1 and entry.columns is None:
            recipe["id"] = self.id_from[0]
        if title is not None or named_title(table.columns) is not None:
            recipe["title"] = title
        if entry.text:
            recipe["text"] = list(entry.text)
        if entry.media_column is not None:
            recipe["media"] = entry.media_column
        if orders := self._orders(table):
            recipe["orders"] = orders
        if units := self._units(table):
            recipe["units"] = units
        media = self._media(table, rows)
        if X is not None:
            X = X[rows]
        elif self._has_column_features():
            progress = ProgressPart(progress, 0.5, 1.0)
            column_features = self._features_of_columns(
                text, columns_by_name, parts, media, progress
            )
            X, names = column_features.X, column_features.feature_names
            if X is not None:
                recipe["features"] = column_features.recipe
                source = describe_sources(column_features.recipe)
        if entry.recipe is not None:
            recipe = cells.json_object(entry.recipe, self.files.read(entry.recipe))
            features = recipe.get("features")
            written = features.get("format") if isinstance(features, dict) else None
            gate.check_format(entry.recipe, written, RECIPE_FORMAT)
        squares, sources = self._squares(rows)
        source = ", ".join(filter(None, (source, *sources)))
        dataset = Dataset(
            entry.name,
            source_table.frame[self.id_column].to_numpy(dtype=object)[rows],
            X,
            feature_names=names or None,
            **squares,
            table=table if table.shape[1] else None,
            media=media,
            entity=entry.entity,
            recipe=recipe or None,
        )
        if entry.options and entry.columns is None and "features" not in recipe:
            # Column features in addition to features from a file.
            dataset, notes = make_features_with_notes(
                dataset, entry.options, entry.text_model, self.labels or ()
            )
            self.problems += notes
            source = describe_sources((dataset.recipe or {})["features"])
        return dataset, self._info(dataset, title, columns_by_name, source or "none")

    def _features_from_files(self) -> tuple[Matrix | None, tuple[str, ...], str]:
        """Return features from files: the matrix for all rows of the table, names, and source."""
        entry, table = self.entry, self.read
        if table.X is not None:
            return table.X, table.feature_names, "as given"
        names = entry.feature_names or ()
        if entry.sparse is not None:
            where = f"{self.where}, sparse"
            return self.matrices.sparse(where, entry.sparse, entry.n_features), names, "read"
        file = entry.features
        if not isinstance(file, str) or file == "none" or file in table.frame.columns:
            return None, (), ""
        X, titles = self.matrices.features(file)
        return X, titles or names, f"read from {file}"

    def _squares(self, rows: Ints) -> tuple[dict[str, Array], list[str]]:
        """Return the kernel and distances of some rows, and where they come from."""
        squares: dict[str, Array] = {}
        sources: list[str] = []
        is_saved = self.entry.columns is not None
        for word in ("kernel", "distance"):
            file, matrix = getattr(self.entry, word), getattr(self.read, word)
            if file is not None:
                squares[word] = self.matrices.square(file, rows, is_saved=is_saved)
                sources.append(f"{word} from {file}")
            if matrix is not None:
                squares[word] = matrix[np.ix_(rows, rows)]
                sources.append(f"{word} as given")
        return squares, sources

    def _has_column_features(self) -> bool:
        """Whether features are made from the table columns if no file contains features."""
        entry, table = self.entry, self.read
        if entry.columns is not None or entry.features == "none":
            return False
        squares = (entry.kernel, entry.distance, table.kernel, table.distance)
        return entry.features is not None or all(matrix is None for matrix in squares)

    def _features_of_columns(
        self,
        text: pd.DataFrame,
        columns_by_name: Mapping[str, Column],
        titles: Collection[str],
        media: tuple[object, ...] | None,
        progress: Progress,
    ) -> table_features.TableFeatures:
        entry = self.entry
        excluded = dict.fromkeys(entry.exclude, "left out")
        excluded |= dict.fromkeys(self.id_from, "part of the id")
        excluded |= dict.fromkeys(titles, "title")
        excluded |= {entry.media_column: "picture file"} if entry.media_column is not None else {}
        excluded |= dict.fromkeys(self.labels or (), "label")
        excluded |= dict.fromkeys(entry.keys, "key of another table")
        chosen = None
        if entry.features is not None:
            chosen = _matching_columns(f"{self.where}, features", entry.features, text.columns)
        features = table_features.fit(
            text,
            where=self.read.where,
            columns=chosen,
            exclude={name: why for name, why in excluded.items() if name not in entry.text},
            log=[column for column in entry.log if column in text.columns],
            text=entry.text,
            decimal=self.read.decimal,
            inferred=columns_by_name,
            options=entry.options,
            text_model=entry.text_model,
            media=media,
            progress=progress,
        )
        self.problems += features.notes
        if features.X is None:
            message = "no usable columns, so these rows can only be placed by their links"
            self.problems.append(Problem("no-features", self.where, message, severity="note"))
        return features

    def _errors(self) -> list[Problem]:
        return [problem for problem in self.problems if problem.severity == "error"]

    def _title_columns(self, table: pd.DataFrame, text: pd.DataFrame) -> list[str]:
        """Return the title columns in reading order."""
        declared = [
            self.entry.title,
            self.entry.media_column,
            *self.entry.text,
            *self.entry.exclude,
        ]
        named_columns = [name for name in declared if name != self.id_column]
        _check_columns(self.where, named_columns, table.columns)
        if self.entry.title is not None:
            return [self.entry.title] if self.entry.title != self.id_column else []
        if self.read.recipe is not None:
            recipe_titles = self.read.recipe.of_type("title")
        elif self.entry.columns is None and self.read.X is None:
            recipe_titles = choose_title(
                self.entry.name, self.read.frame, self.id_from, plain=[self.id_column]
            )
        else:
            recipe_titles = ()
        guessed = [name for name in recipe_titles if name in table.columns]
        both = full_name(guessed)
        if both is not None:
            return [*both]
        named = named_title(table.columns)
        best = guessed[0] if guessed else named
        both = full_name(text.columns) if self.read.recipe is None and not guessed else None
        if both is not None:
            n_best = 1 if best is None or best in both else text[best].nunique()
            if joined_cells(text, both).nunique() > n_best:
                return [*both]
        if best is None:
            return []
        time = find_time_column(text, best) if self.read.recipe is not None else None
        if time is not None:
            return [best, time]
        # A value shared by many rows is a group, not a title.
        return (
            [best] if guessed or table[best].nunique() >= _MIN_DISTINCT_SHARE * len(table) else []
        )

    def _units(self, table: pd.DataFrame) -> dict[str, str]:
        """Return the units of number columns whose names do not contain them."""
        recipe_columns = () if self.read.recipe is None else self.read.recipe.columns
        return {
            column.name: column.unit
            for column in recipe_columns
            if column.unit
            and column.type in NUMBERS
            and column.name in table
            and column.unit not in column.name
        }

    def _orders(self, table: pd.DataFrame) -> dict[str, list[str]]:
        """Return the value order of each ordered category that a user chose."""
        recipe_columns = () if self.read.recipe is None else self.read.recipe.columns
        return {
            column.name: list(column.order)
            for column in recipe_columns
            if column.said
            and column.type == "ordered category"
            and column.order
            and column.name in table
        }

    def _media(self, table: pd.DataFrame, rows: Ints) -> tuple[bytes | None, ...] | None:
        media, column = self.entry.media, self.entry.media_column
        if self.read.media is not None:
            return tuple(self.read.media[row] for row in rows.tolist())
        if media is None and column is None:
            return None
        names = None if column is None else table[column]
        return read_thumbnails(self.files, media, names, self.read, rows, self.problems)

    def _info(
        self, dataset: Dataset, title: str | None, columns_by_name: dict[str, Column], source: str
    ) -> DatasetInfo:
        feature_columns = columns_used((dataset.recipe or {}).get("features"))
        roles = dict.fromkeys(feature_columns, "feature")
        if self.entry.media_column is not None:
            roles[self.entry.media_column] = "media"
        if title is not None:
            roles[title] = "title"
        roles |= dict.fromkeys(self.labels or (), "label")
        columns = [ColumnInfo(self.id_column, "id", "unique")]
        for name in () if dataset.table is None else dataset.table.columns:
            column = columns_by_name.get(name) or infer(str(name), dataset.table[name])  # type: ignore[index]
            role = roles.get(name, "shown")
            columns.append(ColumnInfo(str(name), role, column.kind, column.n_missing))
        read = self.read
        return DatasetInfo(
            dataset.name,
            read.where,
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
            self.id_from,
        )
