"""Reader of files with new items of a dataset."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count, islice, repeat
from typing import Any

import pandas as pd

from hetviz.data import Dataset
from hetviz.data.model.checks import MAX_ID_LENGTH
from hetviz.errors import DataError, Problem, limit_problems
from hetviz.features.columns.types import number
from hetviz.io import gate
from hetviz.io.bundle.statements import comparison_form, is_links
from hetviz.io.infer.ids import ID_NAME_SEPARATOR, add_id_column, guess_id_column
from hetviz.io.infer.parsed import Choices, FileParser, Table
from hetviz.io.infer.unusable_numbers import unusable_cell
from hetviz.io.intake.parse import parse_files, typed_tables


@dataclass(frozen=True, eq=False)
class NewItems:
    """New items read from a file."""

    table: pd.DataFrame
    media: tuple[Any, ...] | None
    problems: tuple[Problem, ...]


def read_new_items(
    files: Sequence[tuple[str, bytes]],
    dataset: Dataset,
    choices: Mapping[str, Choices] | None = None,
    id_column: str | None = None,
    parse: FileParser = parse_files,
) -> NewItems:
    """Read files of new items of a dataset."""
    choices_of = choices or {}
    tables, refused = typed_tables(parse(files, choices_of), choices_of)
    problems = [problem for _, error in refused for problem in error.problems]
    table = next((table for table in tables if _holds_items(table)), None)
    if table is None:
        message = "no table of items was found"
        not_found = Problem("not-a-table", ", ".join(name for name, _ in files), message)
        raise DataError(problems or [not_found])
    message = "only the first table of items is read"
    problems += [Problem("second-table", t.where, message) for t in tables if t is not table]
    problems += table.problems
    choice = next((choices_of[name] for name, _ in files if name in choices_of), Choices())
    named = table.id_column if choice.id is None else choice.id
    return _items(table, dataset, named, id_column, problems)


def _holds_items(table: Table) -> bool:
    if table.role is not None:
        return table.role == "dataset"
    return not is_links(table) and comparison_form(table) is None


def _items(
    source_table: Table,
    dataset: Dataset,
    chosen_id: str | Sequence[str] | None,
    id_column: str | None,
    problems: list[Problem],
) -> NewItems:
    frame = source_table.frame
    if frame.empty:
        message = "the table has no rows below the column names"
        raise gate.refusal("no-rows", source_table.where, message, remedy="Give at least one item.")
    chosen = (chosen_id,) if isinstance(chosen_id, str) else tuple(chosen_id or ())
    for name in chosen:
        if name not in frame.columns:
            remedy_text = f"Available: {', '.join(frame.columns[:20])}."
            raise gate.refusal(
                "unknown-column",
                source_table.where,
                "this column does not exist",
                name,
                remedy_text,
            )
    id_columns = tuple((id_column or "").split(ID_NAME_SEPARATOR))
    if not chosen and len(id_columns) > 1 and set(id_columns) <= set(frame.columns):
        chosen = id_columns
    column: str | None
    if len(chosen) > 1:
        frame, column = add_id_column(frame, source_table.row, chosen)
    else:
        column = chosen[0] if chosen else _id_column(frame, dataset, id_column)
    if column is None:
        message = "no id column was found, so the items are named new 1, new 2, ..."
        problems.append(Problem("no-ids", source_table.where, message, severity="note"))
        frame = frame.assign(id=_new_ids(dataset, len(frame)))
        column = "id"
    first_row_of: dict[str, int] = {}
    good_rows, bad = [], []
    for row, text in enumerate(frame[column].tolist()):
        if not text.strip():
            message, remedy = "the id is empty", "Give every row an id."
        elif len(text) > MAX_ID_LENGTH:
            message, remedy = (
                f"the id has more than {MAX_ID_LENGTH} characters",
                "Use a shorter one.",
            )
        elif text in first_row_of:
            message = f"the id is already used in row {first_row_of[text] + 1}"
            remedy = "Ids must be unique. Rename one id or remove one row."
        else:
            first_row_of[text] = source_table.row[row]
            good_rows.append(row)
            continue
        place = source_table.place(row, column)
        bad.append(Problem("bad-id", place, message, text[:60], remedy, row=source_table.row[row]))
    problems += limit_problems(bad)
    if not good_rows:
        raise DataError(problems)
    ids = frame[column].iloc[good_rows].reset_index(drop=True)
    table = (
        frame.drop(columns=[column, "id"], errors="ignore").iloc[good_rows].reset_index(drop=True)
    )
    table = _with_numbers(table, dataset, source_table, good_rows, problems)
    table.insert(0, "id", ids)
    pictures = source_table.media
    media = None if pictures is None else tuple(pictures[row] for row in good_rows)
    return NewItems(table, media, tuple(dict.fromkeys(problems)))


def _id_column(frame: pd.DataFrame, dataset: Dataset, id_column: str | None) -> str | None:
    if id_column is not None and id_column in frame.columns:
        return id_column
    own_columns = set() if dataset.table is None else set(map(str, dataset.table.columns))
    own_columns |= set(dataset.feature_names or ())
    for name in frame.columns:
        if name.lower() == "id" and name not in own_columns:
            return str(name)
    return guess_id_column(frame[[name for name in frame.columns if name not in own_columns]])


def _new_ids(dataset: Dataset, n: int) -> list[str]:
    taken = set(dataset.ids)
    names = (f"new {number}" for number in count(1))
    return list(islice((name for name in names if name not in taken), n))


def _with_numbers(
    table: pd.DataFrame,
    dataset: Dataset,
    source_table: Table,
    rows: Sequence[int],
    problems: list[Problem],
) -> pd.DataFrame:
    own_table = pd.DataFrame() if dataset.table is None else dataset.table
    names = [name for name in own_table.columns if pd.api.types.is_numeric_dtype(own_table[name])]
    names += list(dataset.feature_names or ())

    notes: list[Problem] = []

    def value(cell: str, row: int, name: str) -> float | str:
        unusable = list(unusable_cell(source_table, row, name, cell))
        notes.extend(unusable)
        parsed_value = math.nan if unusable else number(cell, source_table.decimal)
        return cell if parsed_value is None else parsed_value

    numeric = {
        name: pd.Series(list(map(value, table[name], rows, repeat(name))), dtype=object)
        for name in dict.fromkeys(names)
        if name in table.columns
    }
    problems += limit_problems(notes)
    return table.assign(**numeric)
