"""A file of new items of a dataset: which column names them, which rows can be used."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count, islice, repeat
from typing import Any

import pandas as pd

from hetviz.data import Dataset
from hetviz.data.model.checks import MAX_ID_LENGTH
from hetviz.errors import DataError, Problem, listed
from hetviz.features.columns.types import number
from hetviz.io import gate
from hetviz.io.bundle.statements import comparison_form, is_links
from hetviz.io.infer.ids import BESIDE, guess_id_column, with_ids
from hetviz.io.infer.number_formats import unusable_cell
from hetviz.io.intake.drop import Parse, read_drop
from hetviz.io.piece import Choices, Piece, TableRead, table_of


@dataclass(frozen=True, eq=False)
class NewItems:
    """New items as a file tells of them.

    Attributes
    ----------
    table : DataFrame
        Column ``id``, and the other columns as text, or numbers where the dataset has numbers.
    media : tuple of bytes or None, or None
        Pictures of the rows.
    problems : tuple of Problem
        Errors, each about a row or table that was left out, and notes.
    """

    table: pd.DataFrame
    media: tuple[Any, ...] | None
    problems: tuple[Problem, ...]


def read_new_items(
    files: Sequence[tuple[str, bytes]],
    dataset: Dataset,
    choices: Mapping[str, Choices] | None = None,
    id_column: str | None = None,
    parse: Parse = read_drop,
) -> NewItems:
    """Read files of new items of a dataset.

    Parameters
    ----------
    files : sequence of (name, bytes)
        One table, and pictures that it names, in any form that `hetviz.load` takes.
    dataset : Dataset
    choices : mapping of file name to Choices, optional
    id_column : str, optional
        Column that held the ids of the dataset in its own file.
    parse : callable
        See `hetviz.io.read_tables`.

    Raises
    ------
    hetviz.errors.DataError
        If there is no table of items, or no row of it can be used.

    Notes
    -----
    The ids stand in the column that the user names, else `id_column`, else the one called id, else
    one that looks like ids and is no column of the dataset. Without any, the items
    are called new 1, new 2 and so on.
    """
    said = choices or {}
    drop = parse(files, said)
    problems = [problem for _, error in drop.refused for problem in error.problems]
    tables = [piece for piece in drop.pieces if _holds_items(piece)]
    if not tables:
        what = "there is no table of items in it"
        none = Problem("not-a-table", ", ".join(name for name, _ in files), what)
        raise DataError(problems or [none])
    piece = tables[0]
    rest = [other for other in drop.pieces if other is not piece]
    what = "only the first table of items is read"
    problems += [Problem("second-table", other.where, what) for other in rest]
    read = table_of(piece)
    problems += read.problems
    choice = next((said[name] for name, _ in files if name in said), Choices())
    named = piece.id_column if choice.id is None else choice.id
    return _items(piece, read, dataset, named, id_column, problems)


def _holds_items(piece: Piece) -> bool:
    if piece.role is not None:
        return piece.role == "dataset"
    read = table_of(piece)
    return not is_links(read) and comparison_form(read) is None


def _items(
    piece: Piece,
    read: TableRead,
    dataset: Dataset,
    named: str | Sequence[str] | None,
    known: str | None,
    problems: list[Problem],
) -> NewItems:
    frame = read.frame
    if frame.empty:
        what = "there are no rows below the names of the columns"
        raise gate.refusal("no-rows", read.name, what, remedy="Give at least one item.")
    said = (named,) if isinstance(named, str) else tuple(named or ())
    for name in said:
        if name not in frame.columns:
            there = f"There are: {', '.join(frame.columns[:20])}."
            raise gate.refusal("unknown-column", read.name, "there is no such column", name, there)
    together = tuple((known or "").split(BESIDE))
    if not said and len(together) > 1 and set(together) <= set(frame.columns):
        said = together
    column: str | None
    if len(said) > 1:
        frame, column = with_ids(frame, read.row, said)
    else:
        column = said[0] if said else _id_column(frame, dataset, known)
    if column is None:
        what = "no column of ids was found, so the items are called new 1, new 2 and so on"
        problems.append(Problem("no-ids", read.name, what, severity="note"))
        frame = frame.assign(id=_invented(dataset, len(frame)))
        column = "id"
    seen: dict[str, int] = {}
    kept, bad = [], []
    for row, text in enumerate(frame[column].tolist()):
        if not text.strip():
            what, remedy = "the id is empty", "Give every row an id."
        elif len(text) > MAX_ID_LENGTH:
            what, remedy = f"the id has more than {MAX_ID_LENGTH} characters", "Use a shorter one."
        elif text in seen:
            what = f"the id was used before, in row {seen[text] + 1}"
            remedy = "Ids must be unique: rename one or leave one row out."
        else:
            seen[text] = read.row[row]
            kept.append(row)
            continue
        place = read.place(row, column)
        bad.append(Problem("bad-id", place, what, text[:60], remedy, row=read.row[row]))
    problems += listed(bad)
    if not kept:
        raise DataError(problems)
    ids = frame[column].iloc[kept].reset_index(drop=True)
    table = frame.drop(columns=[column, "id"], errors="ignore").iloc[kept].reset_index(drop=True)
    table = _with_numbers(table, dataset, read, kept, problems)
    table.insert(0, "id", ids)
    media = None if piece.media is None else tuple(piece.media[row] for row in kept)
    return NewItems(table, media, tuple(dict.fromkeys(problems)))


def _id_column(frame: pd.DataFrame, dataset: Dataset, known: str | None) -> str | None:
    if known is not None and known in frame.columns:
        return known
    own = set() if dataset.table is None else set(map(str, dataset.table.columns))
    own |= set(dataset.feature_names or ())
    for name in frame.columns:
        if name.lower() == "id" and name not in own:
            return str(name)
    return guess_id_column(frame[[name for name in frame.columns if name not in own]])


def _invented(dataset: Dataset, n: int) -> list[str]:
    taken = set(dataset.ids)
    names = (f"new {number}" for number in count(1))
    return list(islice((name for name in names if name not in taken), n))


def _with_numbers(
    table: pd.DataFrame,
    dataset: Dataset,
    read: TableRead,
    rows: Sequence[int],
    problems: list[Problem],
) -> pd.DataFrame:
    """Return the table with numbers in the dataset's columns of numbers, however they are written.

    Numbers that cannot be computed with are missing and told. What is no number stays text, to be
    told of by who makes features.
    """
    own = pd.DataFrame() if dataset.table is None else dataset.table
    names = [name for name in own.columns if pd.api.types.is_numeric_dtype(own[name])]
    names += list(dataset.feature_names or ())

    told: list[Problem] = []

    def value(cell: str, row: int, name: str) -> float | str:
        unusable = list(unusable_cell(read, row, name, cell))
        told.extend(unusable)
        found = math.nan if unusable else number(cell, read.decimal)
        return cell if found is None else found

    numeric = {
        name: pd.Series(list(map(value, table[name], rows, repeat(name))), dtype=object)
        for name in dict.fromkeys(names)
        if name in table.columns
    }
    problems += listed(told)
    return table.assign(**numeric)
