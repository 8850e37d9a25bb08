"""How a table is to be read: which rows hold what, and what each column is.

A `Recipe` is proposed for raw rows by `propose`, can be changed in any part, and is applied by
`apply`; all three are pure. It is plain data (`Recipe.to_dict`, `Recipe.from_dict`), is kept with
the project among the choices of how a file is read (``Choices.recipes``, one for each sheet or
file), and `adapted` makes it fit a newer version of the file or a file of new rows.

>>> from hetviz.io.infer.recipe import RawTable, apply, propose
>>> raw = RawTable.of([["Well", "Nitrate", ""], ["", "mg/l", ""], ["A1", "<0.5", "ok"],
...                    ["A2", "3.1", "ok"], ["A3", "n.d.", "bad"]])
>>> recipe = propose(raw)
>>> recipe.header, recipe.units, recipe.first, [column.type for column in recipe.columns]
((0,), 1, 2, ['id', 'number with the rest missing', 'category'])
>>> apply(raw, recipe).frame["Nitrate"].tolist()
['0.5', '3.1', '']
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from hetviz._text import count
from hetviz._types import JsonObject
from hetviz.errors import DataError, Problem
from hetviz.features.columns.categories import separator_of
from hetviz.features.columns.geographic import LATITUDE, LONGITUDE
from hetviz.features.columns.types import MISSING, infer
from hetviz.features.columns.written import decimal_in, is_unit, number_column, parse
from hetviz.io.infer import dialect
from hetviz.io.infer.ids import guess_id_column, words_of

TYPES: Mapping[str, str] = {
    "number": "Numbers in every row.",
    "number with the rest missing": "Numbers; whatever is none counts as missing.",
    "whole number": "Counts and other whole numbers.",
    "category": "One of several words or codes.",
    "ordered category": "One of several words that have an order.",
    "yes/no": "One of two.",
    "date": "Days or times.",
    "place": "A latitude or a longitude, in degrees.",
    "list": "Several words in each cell.",
    "text": "Sentences or remarks.",
    "id": "Different in every row; rows are matched by it. Several columns can be it together.",
    "title": "What the rows are called.",
    "label": "Colours the map, and is no feature.",
    "picture": "Names of picture files.",
    "key of another table": "The id of a row of another table.",
    "leave out": "Not read.",
}
"""What a column can be, and what that means."""

NUMBERS = ("number", "number with the rest missing", "whole number")
_JOINED = " / "
_SAMPLE = 1_000
_MOST_ABOVE = 30
_MOST_BELOW = 10
_TOTALS = re.compile(
    r"(grand |sub)?totals?|sum(me)?n?|gesamt(summe)?|mittel(wert)?|mean|average|durchschnitt|"
    r"min|max|somme|moyenne|media|totale|suma|insgesamt",
    re.I,
)
_NOTES = re.compile(
    r"(quellen?|sources?|notes?|anmerkung(en)?|fu(ß|ss)noten?|hinweise?|stand|legende|remarks?|"
    r"\*+|©|fuente|datenquelle|copyright)\b",
    re.I,
)
_YES_NO = (
    {"yes", "no"}, {"y", "n"}, {"true", "false"}, {"ja", "nein"}, {"j", "n"}, {"t", "f"},
    {"oui", "non"}, {"si", "no"}, {"sí", "no"}, {"0", "1"}, {"x", ""},
)  # fmt: skip
_DAY_FIRST = re.compile(
    r"(\d{1,2})[./-](\d{1,2})[./-](\d{4}|\d{2})(?:[ T,]+(\d{1,2}:\d{2}(?::\d{2})?))?"
)
_COMPACT = re.compile(r"(1[89]\d\d|20\d\d)(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])")
_ISO = re.compile(r"\d{4}-\d{1,2}-\d{1,2}([ T]\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?)?Z?")
_PICTURE = re.compile(r".+\.(png|jpe?g|webp|gif|bmp|tiff?)", re.I)


@dataclass(frozen=True)
class ColumnRecipe:
    """What one column is.

    Attributes
    ----------
    name : str
    type : str
        One of `TYPES`.
    unit : str
        Of numbers.
    decimal : {".", ","}
        The decimal sign of its numbers.
    order : tuple of str
        The values of an ordered category, the lowest first.
    of : str
        The dataset that a key is of.
    why : str
        Why it was proposed, for people.
    """

    name: str
    type: str
    unit: str = ""
    decimal: str = "."
    order: tuple[str, ...] = ()
    of: str = ""
    why: str = ""


@dataclass(frozen=True)
class Recipe:
    """How a table is to be read. Rows are numbered as in the file, from 0.

    Attributes
    ----------
    header : tuple of int
        The rows that name the columns, joined as in "Messwerte / Nitrat"; nothing for columns
        called column_1, column_2 and so on.
    units : int or None
        The row of units.
    first : int
        The first row of data.
    last : int or None
        The last row of data; None for the end of the file.
    columns : tuple of ColumnRecipe
        In the order of the file.
    """

    header: tuple[int, ...]
    units: int | None
    first: int
    last: int | None
    columns: tuple[ColumnRecipe, ...]

    def to_dict(self) -> JsonObject:
        """Return the recipe, JSON-ready."""
        return {
            "header": list(self.header),
            "units": self.units,
            "first": self.first,
            "last": self.last,
            "columns": [
                {key: list(value) if isinstance(value, tuple) else value
                 for key, value in vars(column).items()
                 if value or key in ("name", "type")}
                for column in self.columns
            ],
        }  # fmt: skip

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> Recipe:
        """Return the recipe that `to_dict` wrote.

        Raises
        ------
        hetviz.errors.DataError
            If it is no recipe, or a column has a type that there is not.
        """
        try:
            columns = tuple(
                ColumnRecipe(**{**one, "order": tuple(map(str, one.get("order", ())))})
                for one in fields["columns"]
            )
            units, last = fields.get("units"), fields.get("last")
            recipe = cls(
                tuple(int(row) for row in fields["header"]),
                None if units is None else int(units),
                int(fields["first"]),
                None if last is None else int(last),
                columns,
            )
        except (KeyError, TypeError, ValueError, AttributeError):
            what = "this is no recipe for reading a table"
            raise DataError(Problem("bad-recipe", "recipe", what, str(fields)[:60])) from None
        unknown = [column for column in columns if column.type not in TYPES]
        if unknown:
            there = f"Use one of: {', '.join(TYPES)}."
            raise DataError(
                Problem("bad-recipe", f"recipe, column {column.name}", "there is no such type",
                        str(column.type)[:60], there)
                for column in unknown
            )  # fmt: skip
        return recipe

    def column(self, name: str) -> ColumnRecipe:
        """Return what is said of a column, by its name."""
        return next(column for column in self.columns if column.name == name)

    def of_type(self, *types: str) -> tuple[str, ...]:
        """Return the names of the columns of some types."""
        return tuple(column.name for column in self.columns if column.type in types)

    def with_type(self, name: str, type: str, **fields: Any) -> Recipe:
        """Return a recipe in which one column is something else."""
        columns = tuple(
            replace(column, type=type, why="", **fields) if column.name == name else column
            for column in self.columns
        )
        return replace(self, columns=columns)

    @property
    def units_of(self) -> dict[str, str]:
        """The units of the columns that have one."""
        return {column.name: column.unit for column in self.columns if column.unit}


@dataclass(frozen=True, eq=False)
class RawTable:
    """The cells of a table as they stand in a file or sheet, before anything is made of them.

    Attributes
    ----------
    name : str
        Of the file, with the sheet where it has several.
    rows : sequence of (int, list of str)
        The row of the file, from 0, and its cells; rows without any are left out.
    decimal : {".", ","}
        What most numbers are written with.
    """

    name: str
    rows: Sequence[tuple[int, list[str]]]
    decimal: str = "."

    @classmethod
    def of(cls, rows: Iterable[Sequence[str]], name: str = "table", decimal: str = ".") -> RawTable:
        """Return a table of plain lists of cells."""
        kept = [
            (line, list(cells)) for line, cells in enumerate(rows) if any(map(str.strip, cells))
        ]
        return cls(name, kept, decimal)

    @property
    def width(self) -> int:
        """How many cells the widest row has, empty ones at its end not counted."""
        return max((_last_filled(cells) for _, cells in self.rows), default=0)


@dataclass(frozen=True, eq=False)
class Applied:
    """A table that was read by a recipe.

    Attributes
    ----------
    frame : DataFrame
        Cells as text: numbers plain, with the decimal sign of the raw table, dates as ISO 8601,
        "" where missing. Columns that are left out are not in it.
    row : tuple of int
        ``row[r]`` is the row of the file, from 0, that row r came from.
    recipe : Recipe
    problems : tuple of Problem
        Notes: limits taken for values, words taken for missing, rows that are no data.
    """

    frame: pd.DataFrame
    row: tuple[int, ...]
    recipe: Recipe
    problems: tuple[Problem, ...] = field(default=())


def propose(raw: RawTable) -> Recipe:
    """Return how a table seems to be meant; each part of it can be said otherwise.

    Notes
    -----
    Titles above the names of the columns, a row of groups above and a row of units below them, and
    totals and remarks at the end are found by how many cells they fill and with what. What each
    column holds is guessed of 1,000 of its cells, its numbers of all of them.
    """
    header, units, first = _rows_above(raw)
    last = _last_row(raw, first)
    recipe = Recipe(header, units, first, last, ())
    names, given_units = _names(raw, recipe), _units(raw, recipe)
    body = _body(raw, recipe, len(names))
    frame = pd.DataFrame([cells for _, cells in body], columns=names, dtype=str)
    ids = guess_id_column(frame)
    columns = [
        _proposed(name, frame[name], given_units.get(name, ""), raw.decimal, name == ids)
        for name in names
    ]
    return replace(recipe, columns=tuple(columns))


def apply(raw: RawTable, recipe: Recipe) -> Applied:
    """Return the table that raw rows hold by a recipe.

    Parameters
    ----------
    raw : RawTable
    recipe : Recipe
        Its columns are those of the file in order; what it says of columns that are not there is
        passed over, and columns that it says nothing of are read as proposed.

    Returns
    -------
    Applied

    Notes
    -----
    O(cells). The same raw rows and recipe give the same table.
    """
    names = _names(raw, recipe)
    body = _body(raw, recipe, len(names))
    frame = pd.DataFrame([cells for _, cells in body], columns=names, dtype=str)
    known = {column.name: column for column in recipe.columns}
    units = _units(raw, recipe)
    settled, notes = [], []
    out: dict[str, pd.Series] = {}
    for name in names:
        column = known.get(name)
        if column is None:
            column = _proposed(name, frame[name], units.get(name, ""), raw.decimal, False)
        settled.append(column)
        if column.type == "leave out":
            continue
        cells, told = _converted(f"{raw.name}, column {name}", frame[name], column, raw.decimal)
        out[name] = cells
        notes += told
    made = pd.DataFrame(out, index=range(len(frame)), dtype=str)
    rows = tuple(line for line, _ in body)
    return Applied(made, rows, replace(recipe, columns=tuple(settled)), tuple(notes))


def adapted(recipe: Recipe, raw: RawTable) -> Recipe:
    """Return a recipe as it holds for another file of the same form: a newer version, new rows.

    The rows of names are looked for by the names, so that a longer title or more rows do no harm;
    the end of the data is found anew, and each column stays what it was said to be.
    """
    fresh = propose(raw)
    said = {column.name: column for column in recipe.columns}
    where = recipe if set(_names(raw, recipe)) >= set(said) else fresh
    if where is recipe:
        fresh = replace(fresh, header=recipe.header, units=recipe.units, first=recipe.first)
        fresh = replace(fresh, last=_last_row(raw, recipe.first))
    elif not set(_names(raw, fresh)) & set(said):
        # Rows without names: the columns in their order.
        if raw.width == len(said):
            return replace(recipe, header=(), units=None, first=_first_line(raw), last=None)
        return fresh
    by_name = {column.name: column for column in fresh.columns}
    names = _names(raw, fresh)
    columns = [
        said.get(name) or by_name.get(name) or ColumnRecipe(name, "category") for name in names
    ]
    return replace(fresh, columns=tuple(columns))


@dataclass(frozen=True)
class Profile:
    """What a column holds, for a small picture of it.

    Attributes
    ----------
    name, type, unit : str
    n_missing, n_distinct : int
    bins : tuple of float
        The edges of the histogram of numbers and dates (days since 1970); empty for other columns.
    counts : tuple of int
        How many rows lie in each bin, or have each of `values`.
    values : tuple of str
        The most frequent values of columns that are no numbers, at most eight.
    examples : tuple of str
        What stands in cells that count as missing, such as ``n. b.``.
    """

    name: str
    type: str
    unit: str
    n_missing: int
    n_distinct: int
    bins: tuple[float, ...] = ()
    counts: tuple[int, ...] = ()
    values: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()


def profiles(raw: RawTable, recipe: Recipe, n_bins: int = 12) -> list[Profile]:
    """Return what each column holds as it is read by a recipe, those left out as they stand."""
    names = _names(raw, recipe)
    body = _body(raw, recipe, len(names))
    frame = pd.DataFrame([cells for _, cells in body], columns=names, dtype=str)
    applied = apply(raw, recipe)
    out = []
    for column in applied.recipe.columns:
        raw_cells = frame[column.name]
        cells = applied.frame.get(column.name, raw_cells)
        stripped = cells.str.strip()
        missing = stripped.eq("").to_numpy(dtype=bool)
        lost = Counter(text.strip() for text in raw_cells[missing] if text.strip())
        about = Profile(
            column.name,
            column.type,
            column.unit,
            int(missing.sum()),
            int(stripped[~missing].nunique()),
            examples=tuple(word for word, _ in lost.most_common(5)),
        )
        numbers = None
        if column.type in (*NUMBERS, "date", "place"):
            found = infer(column.name, cells, raw.decimal)
            if found.values.dtype != object:
                numbers = found.values[~np.isnan(found.values)]
        if numbers is not None and len(numbers):
            counts, edges = np.histogram(numbers, bins=n_bins)
            about = replace(about, bins=tuple(edges.tolist()), counts=tuple(counts.tolist()))
        else:
            top = Counter(stripped[~missing].tolist()).most_common(8)
            about = replace(about, values=tuple(v for v, _ in top), counts=tuple(n for _, n in top))
        out.append(about)
    return out


def _rows_above(raw: RawTable) -> tuple[tuple[int, ...], int | None, int]:
    """Return the rows of names, the row of units, and the first row of data."""
    rows = list(raw.rows[: max(dialect.SAMPLE_ROWS, _MOST_ABOVE)])
    if not rows:
        return (), None, 0
    above = dialect.rows_above(rows)
    below = rows[above:]
    if not dialect.has_header(below):
        return (), None, below[0][0]
    header = [below[0][0]]
    at = above
    # A row of groups stands right above the names, is narrower, and does not begin the line.
    while at > 0:
        line, cells = rows[at - 1]
        filled = [place for place, cell in enumerate(cells) if cell.strip()]
        names = rows[above][1]
        if header[0] - line != 1 or not filled or filled[0] == 0 or len(filled) < 1:
            break
        if any(parse(cells[place], raw.decimal) for place in filled) or filled[-1] >= len(names):
            break
        header.insert(0, line)
        at -= 1
    units, data = None, below[1:]
    if data and len(data) > 1 and _is_units(data[0][1], data[1:], raw.decimal):
        units, data = data[0][0], data[1:]
    first = data[0][0] if data else below[-1][0] + 1
    return tuple(header), units, first


def _is_units(cells: list[str], below: list[tuple[int, list[str]]], decimal: str) -> bool:
    filled = [(at, cell) for at, cell in enumerate(cells) if cell.strip()]
    if not filled or not all(is_unit(cell) for _, cell in filled):
        return False
    if any(parse(cell, decimal) for _, cell in filled):
        return False
    measured = 0
    for at, _ in filled:
        column = [row[at].strip() for _, row in below if at < len(row) and row[at].strip()]
        numbers = sum(parse(cell, decimal) is not None for cell in column)
        measured += bool(column) and numbers > 0.5 * len(column)
    return measured >= max(1, 0.6 * len(filled))


def _last_row(raw: RawTable, first: int) -> int | None:
    """Return the last row of data, None where it is the last of all."""
    body = [(line, cells) for line, cells in raw.rows if line >= first]
    if len(body) < 3:
        return None
    filled = [sum(bool(cell.strip()) for cell in cells) for _, cells in body[:_SAMPLE]]
    usual = float(np.median(filled))
    end = len(body)
    while end > 2 and len(body) - end < _MOST_BELOW and _is_footer(body[end - 1][1], usual):
        end -= 1
    return None if end == len(body) else body[end - 1][0]


def _is_footer(cells: list[str], usual: float) -> bool:
    """Whether a row is a total or a remark rather than data."""
    texts = [cell.strip() for cell in cells if cell.strip()]
    if usual < 2 or not texts:
        return False
    first = texts[0]
    words = re.split(r"[\s/:,]+", first)
    if _TOTALS.fullmatch(words[0]) and (len(texts) < 0.75 * usual or len(words) > 1):
        return True
    if _TOTALS.fullmatch(first.rstrip(":")) and bool(cells[0].strip()):
        return True
    few = len(texts) <= usual / 3 or (len(texts) == 1 and usual >= 2)
    return few and (len(texts) == 1 or bool(_NOTES.match(first))) and parse(first) is None


def _names(raw: RawTable, recipe: Recipe) -> list[str]:
    """Return the names of the columns, none empty and none twice."""
    lines = dict(raw.rows)
    rows = [lines.get(line, []) for line in recipe.header]
    width = raw.width
    if recipe.header:
        body = (cells for line, cells in raw.rows if _within(line, recipe))
        width = max([*(_last_filled(cells) for cells in (*rows, *body)), 1])
    if len(rows) > 1:
        starts = [_spread(row, rows[-1], width, _measured(raw, recipe)) for row in rows[:-1]]
        rows = [*starts, rows[-1]]
    out: dict[str, None] = {}
    for at in range(width):
        parts = [row[at].strip() if at < len(row) else "" for row in rows]
        title = _JOINED.join(dict.fromkeys(" ".join(part.split()) for part in parts if part))
        title = plain = title or f"column_{at + 1}"
        copies = 1
        while title in out:
            copies += 1
            title = f"{plain} ({copies})"
        out[title] = None
    return list(out)


def _spread(row: list[str], names: list[str], width: int, measured: set[int]) -> list[str]:
    """Return a row of groups with each group over all columns that it stands for.

    A group that was one merged cell stands in the first of its columns only. It ends before a
    column that holds numbers where its first column does not, or the other way round.
    """
    out, group, start = [], "", 0
    for at in range(width):
        cell = row[at].strip() if at < len(row) else ""
        if cell:
            group, start = cell, at
        elif (at in measured) != (start in measured):
            group = ""
        out.append(group)
    return out


def _measured(raw: RawTable, recipe: Recipe) -> set[int]:
    """Return the places of the columns that hold numbers, by a look at some rows."""
    found: set[int] = set()
    body = [cells for line, cells in raw.rows if _within(line, recipe)][:200]
    for at in range(raw.width):
        cells = [row[at] for row in body if at < len(row)]
        if number_column(cells, decimal_in(cells, raw.decimal)) is not None:
            found.add(at)
    return found


def _units(raw: RawTable, recipe: Recipe) -> dict[str, str]:
    """Return the unit of each column that has one, in its own row or behind its name."""
    names = _names(raw, recipe)
    row = dict(raw.rows).get(recipe.units, []) if recipe.units is not None else []
    out = {}
    for at, name in enumerate(names):
        unit = row[at].strip().strip("[]()").strip() if at < len(row) else ""
        behind = re.search(r"[\[(]\s*([^\[\]()]{1,14})\s*[\])]\s*$", name)
        if not unit and behind is not None and is_unit(behind[1]):
            unit = behind[1].strip()
        if unit:
            out[name] = unit
    return out


def _within(line: int, recipe: Recipe) -> bool:
    if line < recipe.first or line in recipe.header or line == recipe.units:
        return False
    return recipe.last is None or line <= recipe.last


def _body(raw: RawTable, recipe: Recipe, width: int) -> list[tuple[int, list[str]]]:
    """Return the rows of data, each of as many cells as there are columns."""
    return [
        (line, [*cells[:width], *[""] * (width - len(cells))])
        for line, cells in raw.rows
        if _within(line, recipe) and any(map(str.strip, cells[:width]))
    ]


def _first_line(raw: RawTable) -> int:
    return raw.rows[0][0] if raw.rows else 0


def _last_filled(cells: Sequence[str]) -> int:
    return next((at for at in range(len(cells), 0, -1) if cells[at - 1].strip()), 0)


def _proposed(name: str, cells: pd.Series, unit: str, decimal: str, is_id: bool) -> ColumnRecipe:
    """Return what a column seems to be."""
    if is_id:
        return ColumnRecipe(name, "id", why="different in every row")
    texts = cells.tolist()
    filled = [cell for text in texts if (cell := text.strip())]
    if not filled:
        return ColumnRecipe(name, "leave out", unit, why="empty")
    step = max(1, len(filled) // _SAMPLE)
    some = filled[::step]
    present = [cell for cell in some if cell.lower() not in MISSING]
    distinct = {cell.lower() for cell in present}
    if present and all(_is_date(cell) for cell in present) and not _counts(present):
        return ColumnRecipe(name, "date")
    sign = decimal_in(some, decimal)
    found = number_column(texts, sign)
    if found is not None:
        words = words_of(name)
        is_place = bool((LATITUDE | LONGITUDE) & set(words)) and not found.others
        if is_place:
            return ColumnRecipe(name, "place", unit, sign)
        if distinct <= {"0", "1"}:
            return ColumnRecipe(name, "yes/no")
        rest = count(sum(found.others.values()), "cell")
        unit = unit or found.unit
        if found.others:
            shown = ", ".join(list(found.others)[:3])
            why = f"{rest} without a number: {shown}"
            return ColumnRecipe(name, "number with the rest missing", unit, sign, why=why)
        whole = all(value is None or value == round(value) for value in found.values)
        return ColumnRecipe(name, "whole number" if whole else "number", unit, sign)
    if present and all(_PICTURE.fullmatch(cell) for cell in present):
        return ColumnRecipe(name, "picture")
    if len(distinct) == 2 and distinct in _YES_NO:
        return ColumnRecipe(name, "yes/no")
    if separator_of(filled):
        return ColumnRecipe(name, "list")
    kind = infer(name, cells, decimal).kind
    if kind in ("text", "unique"):
        return ColumnRecipe(name, "text")
    return ColumnRecipe(name, "category")


def _counts(cells: Sequence[str]) -> bool:
    """Whether what looks like compact dates could as well be numbers."""
    return all(_COMPACT.fullmatch(cell) for cell in cells) and len(cells) < 3


def _is_date(cell: str) -> bool:
    return iso_date(cell, True) is not None


def iso_date(cell: str, day_first: bool = True) -> str | None:
    """Return a date as year-month-day, with its time; None where a cell holds none.

    Read are ISO 8601, ``31.12.2023``, ``31/12/2023``, ``20231231``; `day_first` says how the day
    and the month stand where both could be either.
    """
    text = cell.strip()
    if _ISO.fullmatch(text):
        return text
    match = _COMPACT.fullmatch(text)
    if match:
        return "-".join(match.groups())
    match = _DAY_FIRST.fullmatch(text)
    if match is None:
        return None
    first, second, year, time = match.groups()
    day, month = (int(first), int(second)) if day_first else (int(second), int(first))
    if month > 12:
        day, month = month, day
    if not (1 <= month <= 12 and 1 <= day <= 31):
        return None
    full = int(year) + (0 if len(year) == 4 else 2000 if int(year) < 50 else 1900)
    return f"{full:04}-{month:02}-{day:02}" + (f" {time.zfill(5)}" if time else "")


def _converted(
    where: str, cells: pd.Series, column: ColumnRecipe, decimal: str
) -> tuple[pd.Series, list[Problem]]:
    """Return the cells of a column as they are read, and notes."""
    if column.type in NUMBERS or column.type == "place":
        return _as_numbers(where, cells, column, decimal)
    if column.type == "date":
        return _as_dates(where, cells)
    if column.type == "yes/no":
        return cells.str.strip(), []
    return cells, []


def _as_numbers(
    where: str, cells: pd.Series, column: ColumnRecipe, decimal: str
) -> tuple[pd.Series, list[Problem]]:
    found = number_column(cells.tolist(), column.decimal, force=True)
    if found is None:
        what = "no cell holds a number, so all count as missing"
        told = Problem("no-numbers", where, what, severity="note")
        return pd.Series([""] * len(cells), index=cells.index, dtype=str), [told]
    if found.is_plain and column.decimal == decimal:
        return cells, []
    notes: list[Problem] = []
    n_limits = found.below + found.above
    if n_limits:
        signs = " and ".join(["<"] * bool(found.below) + [">"] * bool(found.above))
        what = f"{count(n_limits, 'cell')} with {signs}: the limit is taken for the value"
        notes.append(Problem("limits", where, what, severity="note"))
    if found.others:
        shown = ", ".join(f"{word} ({n:,})" for word, n in list(found.others.items())[:4])
        what = f"{count(sum(found.others.values()), 'cell')} without a number count as missing"
        notes.append(Problem("words-for-missing", where, what, shown, severity="note"))
    texts = ["" if value is None else _plain(value, decimal) for value in found.values]
    return pd.Series(texts, index=cells.index, dtype=str), notes


def _plain(value: float, decimal: str) -> str:
    text = str(int(value)) if value == round(value) and abs(value) < 2**53 else repr(value)
    return text.replace(".", decimal)


def _as_dates(where: str, cells: pd.Series) -> tuple[pd.Series, list[Problem]]:
    texts = [cell.strip() for cell in cells.tolist()]
    firsts = [int(match[1]) for text in texts if (match := _DAY_FIRST.fullmatch(text))]
    seconds = [int(match[2]) for text in texts if (match := _DAY_FIRST.fullmatch(text))]
    day_first = not (max(seconds, default=0) > 12 >= max(firsts, default=0))
    out = [iso_date(text, day_first) or "" for text in texts]
    lost = [text for text, date in zip(texts, out, strict=True) if text and not date]
    notes = []
    if lost:
        what = f"{count(len(lost), 'cell')} without a date count as missing"
        notes.append(Problem("words-for-missing", where, what, lost[0][:60], severity="note"))
    return pd.Series(out, index=cells.index, dtype=str), notes
