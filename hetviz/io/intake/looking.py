"""What stands in files, table by table, for people to see and to say how it is to be read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from hetviz._json import records
from hetviz._pandas import TEXT
from hetviz._text import count
from hetviz._types import Ints, JsonObject
from hetviz.errors import DataError, Problem
from hetviz.features.columns.names import words_of
from hetviz.io import gate
from hetviz.io.infer.ids import IdCandidate, candidates
from hetviz.io.infer.raw_rows import FrameRows
from hetviz.io.infer.recipe import (
    Applied,
    Profile,
    RawTable,
    Recipe,
    described,
    layout,
    read_columns,
    with_cells,
)
from hetviz.io.intake.drop import Parse, is_text, read_drop
from hetviz.io.piece import Choices, Piece, parts_of, stem

_ROWS = 200
_LEAST = 40
_CELLS = 40_000
_BELOW = 20
_LONGEST = 300
_PREVIEW = 3
# Of wider tables nobody looks through all columns.
_COLUMNS = 2_000
# Of longer tables some rows from all over are looked at.
_MOST = 50_000
_KEYS = 0.8
_WORDS = ("category", "text", "whole number", "title")
_MARKED = ("text", "xlsx", "xlsb", "xls", "ods")
_TYPED = ("json", "jsonl", "parquet", "arrow", "stata", "spss", "sas", "sas-transport",
          "sqlite", "duckdb")  # fmt: skip


@dataclass(frozen=True)
class Look:
    """One table of a file as it stands, and as it is read.

    Attributes
    ----------
    file, sheet, name : str
        The sheet is ``""`` for files that hold one table; `name` is of both, for people.
    decimal : {".", ","}
    has_rows : bool
        Whether its rows can be marked; formats such as Parquet hold nothing but data.
    n_rows, n_data : int
        Rows of the file with something in them, and those of data among them.
    rows : tuple of (int, tuple of str)
        The row of the file, from 0, and its cells: of the first rows and of the last.
    recipe : Recipe
        How it is read: as was said, and where nothing was, as proposed.
    profiles : tuple of Profile
        What each column holds.
    ids : tuple of IdCandidate
        The columns that could be the id.
    id_from : tuple of str
        Those that are; none where the numbers of the rows are.
    preview : tuple of (int, mapping of str to str)
        Some rows as they are read, by column.
    problems : tuple of Problem
        Notes on the reading.
    has_id : bool
        Whether the file itself declares the id, as a database does; it cannot be said otherwise.
    n_columns : int
        Columns of the table; `recipe` and `profiles` are of the first 2,000 at most.
    """

    file: str
    sheet: str
    name: str
    decimal: str
    has_rows: bool
    n_rows: int
    n_data: int
    rows: tuple[tuple[int, tuple[str, ...]], ...]
    recipe: Recipe
    profiles: tuple[Profile, ...]
    ids: tuple[IdCandidate, ...]
    id_from: tuple[str, ...]
    preview: tuple[tuple[int, Mapping[str, str]], ...]
    problems: tuple[Problem, ...]
    has_id: bool = False
    n_columns: int = 0

    @property
    def raw(self) -> RawTable:
        """The rows that are shown, as a table."""
        return RawTable(self.name, [(at, list(cells)) for at, cells in self.rows], self.decimal)

    def to_dict(self) -> JsonObject:
        """Return it, JSON-ready."""
        return {**asdict(self), "recipe": self.recipe.to_dict()}

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> Look:
        """Return what `to_dict` wrote.

        Raises
        ------
        hetviz.errors.DataError
            If it is something else.
        """
        try:
            return cls(
                **{
                    **fields,
                    "rows": tuple((at, tuple(cells)) for at, cells in fields["rows"]),
                    "recipe": Recipe.from_dict(fields["recipe"]),
                    "profiles": tuple(Profile(**_tupled(one)) for one in fields["profiles"]),
                    "ids": tuple(IdCandidate(**_tupled(one)) for one in fields["ids"]),
                    "id_from": tuple(fields["id_from"]),
                    "preview": tuple((at, row) for at, row in fields["preview"]),
                    "problems": tuple(Problem(**one) for one in fields["problems"]),
                }
            )
        except (KeyError, TypeError, ValueError):
            what = "what was seen in the file cannot be shown"
            raise gate.refusal("reader-ended", "files", what) from None


def look_at(
    files: Sequence[tuple[str, bytes]],
    choices: Mapping[str, Choices] | None = None,
    parse: Parse = read_drop,
) -> list[Look]:
    """Return what stands in the tables of files, and how it is read.

    Parameters
    ----------
    files : sequence of (name, bytes)
        Those that hold no tables whose reading can be said, such as pictures and zips, are passed
        over.
    choices : mapping of file name to Choices, optional
    parse : callable
        See `hetviz.io.read_tables`.

    Notes
    -----
    Of tables of more than 50,000 rows so many are looked at, from all over the table, and of those
    of more than 2,000 columns the first 2,000. What is not looked at is read as proposed.
    """
    return [look for look, _ in looked_at(files, choices, parse)]


def looked_at(
    files: Sequence[tuple[str, bytes]],
    choices: Mapping[str, Choices] | None = None,
    parse: Parse = read_drop,
) -> list[tuple[Look, pd.DataFrame]]:
    """Return what `look_at` does, each with the cells that were looked at, for `changed`."""
    said = dict(choices or {})
    kinds = {name: _kind(name, content, said.get(name, Choices())) for name, content in files}
    tables = [(name, content) for name, content in files if kinds[name] in (*_MARKED, *_TYPED)]
    whole = raw_tables(tables, said, parse)
    found = {key: _narrow(raw) for key, raw in whole.items()}
    looks, frames = [], []
    for (file, sheet), raw in found.items():
        choice, has_rows = said.get(file, Choices()), kinds[file] in _MARKED
        n_more = _width(whole[file, sheet]) - _width(raw)
        try:
            look, frame = _look(file, sheet, raw, n_more, choice, has_rows)
        except DataError:
            # What is wrong with it is told where it is read.
            continue
        looks.append(look)
        frames.append(frame)
    return list(zip(_with_keys(looks, frames), frames, strict=True))


def changed(look: Look, frame: pd.DataFrame, recipe: Recipe) -> Look | None:
    """Return a look in which some columns are something else, by a look at these alone.

    Parameters
    ----------
    look : Look
    frame : DataFrame
        The cells that were looked at, see `looked_at`.
    recipe : Recipe
        How the table is read now.

    Returns
    -------
    Look or None
        None where more than that has changed, so that it is to be looked at anew: the rows that
        hold names, units and data, or the ids.
    """
    old = {column.name: column for column in look.recipe.columns}
    new = {column.name: column for column in recipe.columns}
    before = look.recipe
    same = (recipe.header, recipe.units, recipe.first, recipe.last) == (
        before.header, before.units, before.first, before.last
    )  # fmt: skip
    # What was said before and is not any more is proposed anew.
    forgotten = any(column.said and name not in new for name, column in old.items())
    if not same or forgotten or not set(new) <= set(old):
        return None
    others = [name for name in new if new[name] != old[name]]
    if any("id" in (new[name].type, old[name].type) for name in others):
        return None
    some = frame[others]
    form = replace(recipe, columns=tuple(new[name] for name in others))
    applied = read_columns(look.name, some, look.decimal, form)
    about = {one.name: one for one in described(some, applied, look.decimal)}
    now = {column.name: column for column in applied.recipe.columns}
    places = {f"{look.name}, column {name}" for name in others}
    first = records(applied.frame.head(_PREVIEW))
    preview = []
    for (line, row), cells in zip(look.preview, first, strict=False):
        kept = {name: cell for name, cell in row.items() if name not in others}
        kept |= {str(name): str(cell)[:_LONGEST] for name, cell in cells.items()}
        preview.append((line, kept))
    return replace(
        look,
        recipe=replace(before, columns=tuple(now.get(one.name, one) for one in before.columns)),
        profiles=tuple(about.get(one.name, one) for one in look.profiles),
        preview=tuple(preview),
        problems=(*(one for one in look.problems if one.where not in places), *applied.problems),
    )


def _kind(name: str, content: bytes, choices: Choices) -> str:
    try:
        kind = gate.kind_of(name, content)
    except DataError:
        return ""
    return "" if kind == "text" and is_text(name, content, choices) else kind


def _look(
    file: str, sheet: str, raw: RawTable, n_more: int, choices: Choices, has_rows: bool
) -> tuple[Look, pd.DataFrame]:
    some = _some(raw)
    said = choices.recipe_of(raw.name)
    form = said
    if form is None:
        form = (
            layout(some, choices.header, choices.skip)
            if has_rows
            else Recipe((0,), None, 1, None, ())
        )
    frame, applied = with_cells(some, form)
    applied = replace(applied, recipe=_with_declared(applied.recipe, raw))
    ids: tuple[str, ...]
    if raw.id_column:
        ids = (raw.id_column,)
    elif choices.id is not None:
        ids = (choices.id,) if isinstance(choices.id, str) else tuple(choices.id)
    else:
        ids = applied.recipe.of_type("id")
    n_data = len(applied.row) if some is raw else int(form.holds_rows(_lines(raw)).sum())
    look = Look(
        file,
        sheet,
        raw.name,
        raw.decimal,
        has_rows,
        len(raw.rows),
        n_data,
        _shown(raw),
        applied.recipe,
        tuple(described(frame, applied, raw.decimal)),
        tuple(candidates(frame)),
        ids,
        _preview(applied),
        applied.problems,
        bool(raw.id_column),
        len(applied.recipe.columns) + n_more,
    )
    return look, frame


def _with_declared(recipe: Recipe, raw: RawTable) -> Recipe:
    """Return a recipe in which what the file declares is what it says, where nobody says more."""
    columns = []
    for column in recipe.columns:
        if not column.said and column.name == raw.id_column:
            column = replace(column, type="id", why="declared in the file")
        elif not column.said and column.name in raw.keys:
            to = raw.keys[column.name]
            column = replace(column, type="key of another table", of=to, why="declared in the file")
        columns.append(column)
    return replace(recipe, columns=tuple(columns))


def _width(raw: RawTable) -> int:
    return max((len(cells) for _, cells in raw.rows[:_LEAST]), default=0)


def _lines(raw: RawTable) -> Ints:
    if isinstance(raw.rows, FrameRows):
        return raw.rows.lines
    return np.array([line for line, _ in raw.rows], dtype=np.int64)


def _narrow(raw: RawTable) -> RawTable:
    if _width(raw) <= _COLUMNS:
        return raw
    if isinstance(raw.rows, FrameRows):
        return replace(raw, rows=raw.rows.narrow(_COLUMNS))
    return replace(raw, rows=[(at, cells[:_COLUMNS]) for at, cells in raw.rows])


def _some(raw: RawTable) -> RawTable:
    rows, n = raw.rows, len(raw.rows)
    if n <= _MOST:
        return raw
    places = np.arange(n)
    step = -(-n // _MOST)
    inside = places[_ROWS:-_BELOW:step]
    places = np.concatenate([places[:_ROWS], inside, places[-_BELOW:]])
    if isinstance(rows, FrameRows):
        return replace(raw, rows=rows.take(places))
    return replace(raw, rows=[rows[at] for at in places.tolist()])


def _shown(raw: RawTable) -> tuple[tuple[int, tuple[str, ...]], ...]:
    width = max((len(cells) for _, cells in raw.rows[:_LEAST]), default=1)
    above = max(_LEAST, min(_ROWS, _CELLS // max(width, 1)))
    rows = raw.rows[:above]
    rows = [*rows, *raw.rows[max(above, len(raw.rows) - _BELOW) :]]
    return tuple((at, tuple(cell[:_LONGEST] for cell in cells)) for at, cells in rows)


def _preview(applied: Applied) -> tuple[tuple[int, dict[str, str]], ...]:
    rows = applied.frame.head(_PREVIEW).to_dict("records")
    return tuple(
        (line, {str(name): str(cell)[:_LONGEST] for name, cell in row.items()})
        for line, row in zip(applied.row, rows, strict=False)
    )


def _with_keys(looks: list[Look], frames: Sequence[pd.DataFrame]) -> list[Look]:
    """Return the looks with a word where the values of a column are the ids of another table."""
    if len(looks) < 2:
        return looks
    ids = [
        set(frame[look.id_from[0]]) if len(look.id_from) == 1 else set()
        for look, frame in zip(looks, frames, strict=True)
    ]
    out = []
    for at, (look, frame) in enumerate(zip(looks, frames, strict=True)):
        columns = []
        for column in look.recipe.columns:
            if not column.said and column.type in _WORDS:
                values = set(frame[column.name]) - {""}
                for to, known in enumerate(ids):
                    shared = len(values & known)
                    # Counts are among the numbers of rows too.
                    if column.type == "whole number" and not _named_alike(column.name, looks[to]):
                        continue
                    if to != at and len(values) > 2 and shared >= _KEYS * len(values):
                        other = looks[to].sheet or looks[to].file
                        why = f"{shared:,} of {count(len(values), 'value')} are ids of {other}"
                        column = replace(column, of=other, why=why)
                        break
            columns.append(column)
        out.append(replace(look, recipe=replace(look.recipe, columns=tuple(columns))))
    return out


def _named_alike(column: str, look: Look) -> bool:
    """Whether a column is called like a table or its ids: customer_no, of customers."""
    there = " ".join((look.sheet or stem(look.file), *look.id_from)).lower()
    words = [word for word in words_of(column) if len(word) > 2]
    return any(word.rstrip("s") in there for word in words)


def _tupled(fields: Mapping[str, object]) -> dict[str, Any]:
    return {name: tuple(v) if isinstance(v, list) else v for name, v in fields.items()}


def raw_tables(
    files: Sequence[tuple[str, bytes]],
    choices: Mapping[str, Choices] | None = None,
    parse: Parse = read_drop,
) -> dict[tuple[str, str], RawTable]:
    """Return the tables in files with nothing made of them: no names of columns, no end.

    Parameters
    ----------
    files : sequence of (name, bytes)
    choices : mapping of file name to Choices, optional
        How a file is decoded and its cells are told apart; recipes are passed over.
    parse : callable
        See `hetviz.io.read_tables`.

    Returns
    -------
    dict of (file, sheet) to RawTable
        The sheet is ``""`` for files that hold one table; the key of a recipe in
        ``Choices.recipes``. Formats whose columns have names and types by themselves, such as
        Parquet, give these names as the row 0. Files of which nothing can be read are left out.
    """
    said = {
        name: replace((choices or {}).get(name, Choices()), raw=True, recipes={}, only_table=True)
        for name, _ in files
    }
    drop = parse(files, said)
    found: dict[tuple[str, str], RawTable] = {}
    referred = _referred(drop.pieces)
    for piece in drop.pieces:
        if piece.frame is None or piece.role in ("links", "comparisons"):
            continue
        file, sheet = parts_of(piece.where)
        keys = {name: referred.get((piece.where, name), "") for name in piece.key_columns}
        found.setdefault((file, sheet), replace(_raw_table(piece), keys=keys))
    return found


def _referred(pieces: Sequence[Piece]) -> dict[tuple[str, str], str]:
    """Return the table that each declared key is of, by where it stands and its column."""
    found = {}
    for piece in pieces:
        where, key, columns = piece.where.rpartition(", key ")
        if key and piece.frame is not None and "target_dataset" in piece.frame:
            found[where, columns] = str(piece.frame["target_dataset"].iloc[0])
    return found


def _raw_table(piece: Piece) -> RawTable:
    assert piece.frame is not None  # noqa: S101
    frame = piece.frame
    if not all(isinstance(dtype, pd.StringDtype) for dtype in frame.dtypes):
        frame = frame.astype(TEXT)
    names = list(map(str, frame.columns))
    lines = np.asarray(piece.row, dtype=np.int64)
    if names != [str(at) for at in range(len(names))] or piece.recipe is not None:
        frame = frame.set_axis([str(at) for at in range(len(names))], axis=1)
        first = pd.DataFrame([names], columns=frame.columns, dtype=TEXT)
        frame, lines = pd.concat([first, frame], ignore_index=True), np.arange(len(frame) + 1)
    return RawTable(piece.where, FrameRows(frame, lines), piece.decimal, piece.id_column or "")
