"""The features, kernel and distances of one dataset: as files give them, or made of its columns."""

from __future__ import annotations

import fnmatch
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from hetviz._types import Array, Ints
from hetviz.errors import DataError, Problem
from hetviz.features import table as table_features
from hetviz.features.columns.types import Column
from hetviz.io.bundle.manifest import DatasetEntry
from hetviz.io.formats.delimited import TableRead
from hetviz.io.matrices.given import Given
from hetviz.io.sandbox.piece import Piece


def given_features(
    given: Given, entry: DatasetEntry, piece: Piece
) -> tuple[Any, tuple[str, ...], str]:
    """Return features from files: the matrix for all rows of the table, names, and source."""
    if piece.X is not None:
        return piece.X, piece.feature_names, "as given"
    names = entry.feature_names or ()
    if entry.sparse is not None:
        where = f"{place_of(entry)}, sparse"
        return given.sparse(where, entry.sparse, entry.n_features), names, "read"
    file = entry.features
    if not isinstance(file, str) or file == "none" or file in given.read.frame.columns:
        return None, (), ""
    X, titles = given.features(file)
    return X, titles or names, f"read from {file}"


def given_squares(
    given: Given, entry: DatasetEntry, piece: Piece, rows: Ints
) -> tuple[dict[str, Array], list[str]]:
    """Return the kernel and distances of some rows, from files or as given, and their sources."""
    squares: dict[str, Array] = {}
    sources: list[str] = []
    for word, file in (("kernel", entry.kernel), ("distance", entry.distance)):
        if file is not None:
            squares[word] = given.square(file, rows, is_saved=entry.columns is not None)
            sources.append(f"{word} from {file}")
    for word, matrix in (("kernel", piece.kernel), ("distance", piece.distance)):
        if matrix is not None:
            squares[word] = matrix[np.ix_(rows, rows)]
            sources.append(f"{word} as given")
    return squares, sources


def is_made_of_columns(entry: DatasetEntry, piece: Piece) -> bool:
    """Whether features are made of the columns of the table where no file gives any."""
    if entry.columns is not None or entry.features == "none":
        return False
    given = (entry.kernel, entry.distance, piece.kernel, piece.distance)
    return entry.features is not None or all(matrix is None for matrix in given)


def made_of_columns(
    text: pd.DataFrame,
    entry: DatasetEntry,
    read: TableRead,
    known: Mapping[str, Column],
    title: str | None,
    labels: Collection[str],
    media: tuple[Any, ...] | None,
    problems: list[Problem],
) -> table_features.TableFeatures:
    """Make features of the columns of a table.

    Parameters
    ----------
    text : DataFrame
        The rows of the table that are used, without their ids.
    entry : DatasetEntry
    read : TableRead
        How the table was read.
    known : mapping of str to Column
        What its columns hold.
    title : str, optional
    labels : collection of str
        Columns that are never features, like the title.
    media : tuple of bytes or None, optional
    problems : list of Problem
        Is added to.
    """
    where = place_of(entry)
    never = dict.fromkeys(entry.exclude, "left out")
    never |= {title: "title"} if title is not None else {}
    never |= {entry.media_column: "picture file"} if entry.media_column is not None else {}
    never |= dict.fromkeys(labels, "label")
    wanted = None
    if entry.features is not None:
        wanted = _matching(f"{where}, features", entry.features, text.columns)
    made = table_features.fit(
        text,
        where=read.name,
        columns=wanted,
        exclude={name: why for name, why in never.items() if name not in entry.text},
        log=[column for column in entry.log if column in text.columns],
        text=entry.text,
        decimal=read.decimal,
        known=known,
        options=entry.options,
        text_model=entry.text_model,
        media=media,
    )
    problems += made.notes
    if made.X is None:
        what = "no column is of use as a feature, so only links can place its rows"
        problems.append(Problem("no-features", where, what, severity="note"))
    return made


def place_of(entry: DatasetEntry) -> str:
    """Name a dataset for messages."""
    return f"dataset {entry.name!r}"


def check_columns(where: str, names: Iterable[str | None], there: pd.Index) -> None:
    """Refuse names of columns that there are not.

    Raises
    ------
    hetviz.errors.DataError
    """
    unknown = [name for name in names if name is not None and name not in there]
    if unknown:
        remedy = f"There are: {', '.join(map(str, there[:20]))}."
        raise DataError(
            Problem("unknown-column", where, "there is no such column", name, remedy)
            for name in unknown
        )


def _matching(where: str, wanted: str | tuple[str, ...], there: pd.Index) -> list[str]:
    """Return the columns wanted; ``kl*`` stands for all columns that begin so."""
    found: list[str] = []
    for pattern in [wanted] if isinstance(wanted, str) else wanted:
        hits = [pattern] if pattern in there else fnmatch.filter(there, pattern)
        check_columns(where, [] if hits else [pattern], there)
        found += hits
    return list(Counter(found))
