"""Previews of the tables in files, for choosing how they are read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from hetviz._json import records
from hetviz._pandas import TEXT
from hetviz._text import count
from hetviz.codec import Buffer, Records, decode, encode
from hetviz.data import Dataset, HeteroData
from hetviz.data.joins.keys import column_keys
from hetviz.data.joins.proposals import propose_joins
from hetviz.data.model.dataset import MADE_IDS
from hetviz.errors import DataError, Problem
from hetviz.io.infer.cells import infer_types
from hetviz.io.infer.column_rows import ColumnRows
from hetviz.io.infer.columns import read_columns
from hetviz.io.infer.ids import IdCandidate, id_candidates
from hetviz.io.infer.parsed import Cells, Choices, Table, Tables, split_place, stem
from hetviz.io.infer.profiles import Profile, column_profiles
from hetviz.io.infer.raw_rows import FrameRows, RawTable
from hetviz.io.infer.recipe import ColumnRecipe, TableRecipe
from hetviz.io.infer.row_names import choose_ids, with_row_names
from hetviz.io.infer.rows import apply_with_raw_cells, find_layout, raw_data_rows

_MAX_FIRST_ROWS = 200
_MIN_FIRST_ROWS = 40
_MAX_CELLS = 40_000
_N_LAST_ROWS = 20
_MAX_CELL_CHARS = 300
_N_PREVIEW_ROWS = 3
# Wider tables are cut in the preview.
_MAX_COLUMNS = 2_000
# Longer tables are sampled evenly.
_MAX_SAMPLE_ROWS = 50_000
_POSSIBLE_KEY_TYPES = ("category", "text", "whole number", "title")


@dataclass(frozen=True)
class TablePreview:
    """A preview of one table: raw rows, recipe and column profiles.

    `rows`: Row numbers in the file, from 0, and cells of the first and last rows.
    `n_columns`: Number of columns; `recipe` and `profiles` contain at most the first 2,000.
    """

    file: str
    sheet: str
    name: str
    decimal: str
    has_rows: bool
    n_rows: int
    n_data: int
    rows: tuple[tuple[int, tuple[str, ...]], ...]
    recipe: TableRecipe
    profiles: tuple[Profile, ...]
    ids: tuple[IdCandidate, ...]
    id_from: tuple[str, ...]
    preview: tuple[tuple[int, Mapping[str, str]], ...]
    problems: tuple[Problem, ...]
    has_id: bool = False
    n_columns: int = 0

    @property
    def raw(self) -> RawTable:
        return RawTable(self.name, [(at, list(cells)) for at, cells in self.rows], self.decimal)


_RECORDS = Records(TablePreview, TableRecipe, ColumnRecipe, Profile, IdCandidate, Problem)


def pack_previews(looks: Sequence[TablePreview]) -> bytes:
    """Return previews as a document of `hetviz.codec`."""
    return encode(list(looks), _RECORDS)


def unpack_previews(content: Buffer) -> list[TablePreview]:
    """Return the previews of a document; raises ValueError if it is damaged."""
    looks: list[TablePreview] = decode(content, _RECORDS)
    return looks


def preview_tables(
    tables: Tables, choices: Mapping[str, Choices] | None = None
) -> list[TablePreview]:
    """Return previews of the tables in parsed files."""
    looks, frames = [], []
    for table, raw, keys in _raw_tables(tables).values():
        try:
            look, frame = _preview_table(table, raw, keys, (choices or {}).get(table.file))
        except DataError:
            # Reading the file reports the problem.
            continue
        looks.append(look)
        frames.append(frame)
    looks = _with_chosen_ids(looks, frames, choices or {})
    return _with_key_hints(looks, frames)


def _with_chosen_ids(
    looks: Sequence[TablePreview], frames: Sequence[pd.DataFrame], choices: Mapping[str, Choices]
) -> list[TablePreview]:
    """Return the previews with the ids chosen over all tables, unless declared or by the user."""
    ids_of = choose_ids(dict(zip(map(_table_name, looks), frames, strict=True)))
    out = []
    for look, frame in zip(looks, frames, strict=True):
        choice = choices.get(look.file, Choices())
        is_chosen = choice.id is not None or look.sheet in choice.recipes
        ids = ids_of[_table_name(look)]
        if not look.has_id and not is_chosen and ids != look.id_from:
            table = Table(look.name, look.name, frame=frame, recipe=look.recipe)
            named = with_row_names(table, ids)
            recipe = named.recipe or look.recipe
            id_columns = tuple(one for one in recipe.columns if one.type == "id")
            of_ids = replace(named, recipe=replace(recipe, columns=id_columns))
            profile_of = {item.name: item for item in column_profiles(frame, of_ids)}
            profiles = tuple(profile_of.get(item.name, item) for item in look.profiles)
            look = replace(look, recipe=recipe, id_from=ids, profiles=profiles)
        out.append(look)
    return out


def _table_name(look: TablePreview) -> str:
    return look.sheet or stem(look.file)


def updated_previews(
    looks: Sequence[TablePreview],
    before: Mapping[str, Choices],
    choices: Mapping[str, Choices],
    tables: Tables,
) -> list[TablePreview] | None:
    """Return previews with other choices, None if more than columns of tables has changed."""
    out = []
    raws: dict[tuple[str, str], _RawTable] = {}
    for look in looks:
        choice, old_choice = choices.get(look.file, Choices()), before.get(look.file, Choices())
        recipe = choice.recipe_of(look.name)
        if replace(choice, recipes={}) != replace(old_choice, recipes={}):
            return None
        new_look: TablePreview | None = look
        if recipe != old_choice.recipe_of(look.name):
            raws = raws or _raw_tables(tables)
            if recipe is None or (look.file, look.sheet) not in raws:
                return None
            _, raw, _ = raws[look.file, look.sheet]
            sample = _sample_rows(_limit_columns(raw))
            new_look = updated_preview(look, raw_data_rows(sample, look.recipe)[0], recipe)
        if new_look is None:
            return None
        out.append(new_look)
    return out or None


def updated_preview(
    look: TablePreview, frame: pd.DataFrame, recipe: TableRecipe
) -> TablePreview | None:
    """Return a preview with changed columns, None if more than columns has changed."""
    old = {column.name: column for column in look.recipe.columns}
    new = {column.name: column for column in recipe.columns}
    before = look.recipe
    has_same_rows = (recipe.header, recipe.units, recipe.first, recipe.last) == (
        before.header, before.units, before.first, before.last
    )  # fmt: skip
    # A column without its earlier choice needs a new proposal.
    is_forgotten = any(column.said and name not in new for name, column in old.items())
    if not has_same_rows or is_forgotten or not set(new) <= set(old):
        return None
    others = [name for name in new if new[name] != old[name]]
    if any("id" in (new[name].type, old[name].type) for name in others):
        return None
    cells_of = frame[others]
    form = replace(recipe, columns=tuple(new[name] for name in others))
    untyped = Table(look.name, look.name, frame=cells_of, decimal=look.decimal)
    typed = read_columns(untyped, form)
    profile_of = {item.name: item for item in column_profiles(cells_of, typed)}
    column_of = {column.name: column for column in (typed.recipe or form).columns}
    places = {f"{look.name}, column {name}" for name in others}
    first = records(typed.frame.head(_N_PREVIEW_ROWS))
    preview = []
    for (line, row), cells in zip(look.preview, first, strict=False):
        preview_cells = {name: cell for name, cell in row.items() if name not in others}
        preview_cells |= {str(name): str(cell)[:_MAX_CELL_CHARS] for name, cell in cells.items()}
        preview.append((line, preview_cells))
    return replace(
        look,
        recipe=replace(
            before, columns=tuple(column_of.get(item.name, item) for item in before.columns)
        ),
        profiles=tuple(profile_of.get(item.name, item) for item in look.profiles),
        preview=tuple(preview),
        problems=(*(item for item in look.problems if item.where not in places), *typed.problems),
    )


def _preview_table(
    table: Table, full: RawTable, keys: Mapping[str, str], choices: Choices | None
) -> tuple[TablePreview, pd.DataFrame]:
    choices = choices or Choices()
    raw, has_rows = _limit_columns(full), table.cells is not None and table.cells.rows is not None
    sample = _sample_rows(raw)
    chosen_recipe = choices.recipe_of(raw.name)
    recipe = chosen_recipe
    if recipe is None:
        recipe = (
            find_layout(sample, choices.header, choices.skip)
            if has_rows
            else TableRecipe((0,), None, 1, None, ())
        )
    frame, typed = apply_with_raw_cells(sample, recipe)
    declared = table.id_columns or (() if table.id_column is None else (table.id_column,))
    columns = _with_declared_keys(typed.recipe or recipe, declared, keys)
    typed = replace(typed, recipe=columns)
    ids: tuple[str, ...]
    if declared:
        ids = declared
    elif choices.id is not None:
        ids = (choices.id,) if isinstance(choices.id, str) else tuple(choices.id)
    else:
        ids = columns.of_type("id")
    n_data = len(typed.row) if sample is raw else int(recipe.holds_rows(_cells_of(raw).lines).sum())
    n_more = _cells_of(full).width - _cells_of(raw).width
    look = TablePreview(
        *split_place(table.where),
        raw.name,
        raw.decimal,
        has_rows,
        len(raw.rows),
        n_data,
        _rows_to_show(raw),
        columns,
        tuple(column_profiles(frame, typed)),
        tuple(id_candidates(frame)),
        ids,
        _first_rows(typed),
        typed.problems,
        bool(declared),
        len(columns.columns) + n_more,
    )
    return look, frame


def _with_declared_keys(
    recipe: TableRecipe, ids: Sequence[str], keys: Mapping[str, str]
) -> TableRecipe:
    """Return a recipe with the declared ids and keys, unless the user chose others."""
    columns = []
    for column in recipe.columns:
        if not column.said and column.name in ids:
            column = replace(column, type="id", why="declared in the file")
        elif not column.said and column.name in keys:
            to = keys[column.name]
            column = replace(column, type="key of another table", of=to, why="declared in the file")
        columns.append(column)
    return replace(recipe, columns=tuple(columns))


def _cells_of(raw: RawTable) -> FrameRows:
    assert isinstance(raw.rows, FrameRows)  # noqa: S101 - as `_raw_tables` makes them
    return raw.rows


def _limit_columns(raw: RawTable) -> RawTable:
    cells = _cells_of(raw)
    return raw if cells.width <= _MAX_COLUMNS else replace(raw, rows=cells.narrow(_MAX_COLUMNS))


def _sample_rows(raw: RawTable) -> RawTable:
    n = len(raw.rows)
    if n <= _MAX_SAMPLE_ROWS:
        return raw
    places = np.arange(n)
    step = -(-n // _MAX_SAMPLE_ROWS)
    inside = places[_MAX_FIRST_ROWS:-_N_LAST_ROWS:step]
    places = np.concatenate([places[:_MAX_FIRST_ROWS], inside, places[-_N_LAST_ROWS:]])
    return replace(raw, rows=_cells_of(raw).take(places))


def _rows_to_show(raw: RawTable) -> tuple[tuple[int, tuple[str, ...]], ...]:
    width = max((len(cells) for _, cells in raw.rows[:_MIN_FIRST_ROWS]), default=1)
    above = max(_MIN_FIRST_ROWS, min(_MAX_FIRST_ROWS, _MAX_CELLS // max(width, 1)))
    rows = raw.rows[:above]
    rows = [*rows, *raw.rows[max(above, len(raw.rows) - _N_LAST_ROWS) :]]
    return tuple((at, tuple(cell[:_MAX_CELL_CHARS] for cell in cells)) for at, cells in rows)


def _first_rows(typed: Table) -> tuple[tuple[int, dict[str, str]], ...]:
    rows = typed.frame.head(_N_PREVIEW_ROWS).to_dict("records")
    return tuple(
        (line, {str(name): str(cell)[:_MAX_CELL_CHARS] for name, cell in row.items()})
        for line, row in zip(typed.row, rows, strict=False)
    )


def _with_key_hints(
    looks: list[TablePreview], frames: Sequence[pd.DataFrame]
) -> list[TablePreview]:
    """Return the previews with hints on columns that contain ids of another table."""
    if len(looks) < 2:
        return looks
    look_of: dict[str, TablePreview] = {}
    datasets = []
    for look, frame in zip(looks, frames, strict=True):
        name = _table_name(look)
        name = look.name if name in look_of else name
        look_of[name] = look
        try:
            datasets.append(_dataset_of(name, look, frame))
        except DataError:
            # Such as a table without rows. Reading the file reports the problem.
            continue
    if len(datasets) < 2:
        return looks
    data = HeteroData(datasets)
    hints: dict[str, dict[str, tuple[str, str]]] = {name: {} for name in look_of}
    for proposal in propose_joins(data):
        join = proposal.join
        if join.kind != "key" or not proposal.sure or join.also:
            continue
        if join.source == join.target or join.target_column or not join.source_column:
            continue
        values = column_keys(data[join.source], join.source_column, loose=True).distinct
        known = set(column_keys(data[join.target], "", loose=True).distinct.tolist())
        n_known = sum(value in known for value in values.tolist())
        other = look_of[join.target].sheet or look_of[join.target].file
        why = f"{n_known:,} of {count(len(values), 'value')} are ids of {other}"
        hints[join.source].setdefault(join.source_column, (other, why))
    return [
        _with_hints(look, of_column) for look, of_column in zip(looks, hints.values(), strict=True)
    ]


def _with_hints(look: TablePreview, hints: Mapping[str, tuple[str, str]]) -> TablePreview:
    columns = [
        replace(column, of=hints[column.name][0], why=hints[column.name][1])
        if column.name in hints and not column.said and column.type in _POSSIBLE_KEY_TYPES
        else column
        for column in look.recipe.columns
    ]
    return replace(look, recipe=replace(look.recipe, columns=tuple(columns)))


def _dataset_of(name: str, look: TablePreview, frame: pd.DataFrame) -> Dataset:
    """Return the sampled rows of a table as a dataset, with row numbers unless it has an id."""
    id_column = look.id_from[0] if len(look.id_from) == 1 else None
    ids = None if id_column is None else frame[id_column].str.strip()
    if ids is None or not ids.is_unique or ids.eq("").any():
        ids, id_column = pd.Series(range(1, len(frame) + 1)).astype(str), None
    others, _ = infer_types(frame.drop(columns=id_column or []), look.decimal)
    recipe: dict[str, object] = {MADE_IDS: True} if id_column is None else {"id": id_column}
    return Dataset(name, ids.tolist(), table=others, recipe=recipe)


# The table, its rows, and the target table of each key that the file declares.
_RawTable = tuple[Table, RawTable, dict[str, str]]


def _raw_tables(tables: Tables) -> dict[tuple[str, str], _RawTable]:
    """Return the tables with cells by (file, sheet)."""
    # Members of zips and folders have no reading options.
    members = [
        table
        for collection in tables.frames
        for table in collection.tables
        if table.file in tables.recipe
    ]
    out: dict[tuple[str, str], _RawTable] = {}
    for table in members:
        if table.cells is not None and table.role not in ("links", "comparisons"):
            keys = {column: key.table for key in table.foreign_keys for column in key.columns}
            rows = _frame_rows(table, table.cells)
            raw = RawTable(table.where, rows, table.decimal)
            out.setdefault(split_place(table.where), (table, raw, keys))
    return out


def _frame_rows(table: Table, cells: Cells) -> FrameRows:
    if isinstance(cells.rows, ColumnRows):
        return FrameRows(*cells.rows.to_frame())
    if cells.rows is not None:
        return FrameRows.of(cells.rows)
    frame = table.frame
    columns = [str(at) for at in range(frame.shape[1])]
    names = pd.DataFrame([table.columns], columns=columns, dtype=TEXT)
    rows = pd.concat([names, frame.set_axis(columns, axis=1)], ignore_index=True)
    return FrameRows(rows.astype(TEXT), np.arange(len(rows)))
