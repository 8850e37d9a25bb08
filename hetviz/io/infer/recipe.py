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
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pandas as pd

from hetviz._pandas import TEXT
from hetviz._text import count
from hetviz._types import Bools, Floats, Ints, JsonObject
from hetviz.errors import DataError, Problem
from hetviz.features.columns.categories import separator_of
from hetviz.features.columns.geographic import LATITUDE, LONGITUDE
from hetviz.features.columns.levels import completed, known_order, proposed_order, rises
from hetviz.features.columns.names import words_of
from hetviz.features.columns.types import (
    MAX_CATEGORIES,
    MISSING,
    coded,
    infer,
    plain_columns,
    why_unusable,
)
from hetviz.features.columns.written import (
    NOT_KNOWN,
    SIGNS,
    are_plain,
    decimal_in,
    is_unit,
    number_column,
    parse,
)
from hetviz.io.infer import dialect
from hetviz.io.infer.ids import guess_id_column
from hetviz.io.infer.raw_rows import FrameRows
from hetviz.io.infer.titles import full_name, joined_cells

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
_MOST_BELOW = 10
_MOST_WORDS = 3
_MOST_MOVED = 60
_ORDERED = 30
_SCALE = 3
_TITLE_WORDS = frozenset(
    {"name", "names", "title", "titel", "label", "bezeichnung", "nom", "nombre", "nome", "titre"}
)
_TOTALS = re.compile(
    r"(grand |sub)?totals?|sum(me)?n?|gesamt(summe)?|mittel(wert)?|mean|average|durchschnitt|"
    r"somme|moyenne|totale|suma|insgesamt",
    re.I,
)
_NOTES = re.compile(
    r"(quellen?|sources?|notes?|anmerkung(en)?|fu(ß|ss)noten?|hinweise?|stand|legende|remarks?|"
    r"fuente|datenquelle)\s*[:=]|\*|©|copyright\b",
    re.I,
)
_YES_NO = (
    {"yes", "no"}, {"y", "n"}, {"true", "false"}, {"ja", "nein"}, {"j", "n"}, {"t", "f"},
    {"oui", "non"}, {"si", "no"}, {"sí", "no"}, {"0", "1"}, {"x", ""},
)  # fmt: skip
_DAY_FIRST = re.compile(
    r"(\d{1,2})[./-](\d{1,2})[./-](\d{4}|\d{2})"
    r"(?:[ T,]+(\d{1,2}:\d{2}(?::\d{2})?)(?: ?([AaPp])\.?[Mm]\.?)?)?"
)
_FIRST_DAY, _LAST_DAY = 18_000_101, 20_991_231
_COMPACT = re.compile(r"(1[89]\d\d|20\d\d)(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])")
_ISO = re.compile(
    r"\d{4}-\d{1,2}-\d{1,2}(?:[ T]\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?: ?[+-]\d{2}:?\d{2})?)?Z?"
)
# Behind a time, not the month and day of a date.
_ZONE = re.compile(r"(:\d{2}(?:\.\d+)?) ?([+-]\d{2}:?\d{2})$")
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
    said : bool
        Somebody said so; otherwise it is proposed, and features are made as their defaults say.
    """

    name: str
    type: str
    unit: str = ""
    decimal: str = "."
    order: tuple[str, ...] = ()
    of: str = ""
    why: str = ""
    said: bool = False


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
            replace(column, type=type, why="", said=True, **fields)
            if column.name == name
            else column
            for column in self.columns
        )
        return replace(self, columns=columns)

    def with_order(self, name: str, *order: str) -> Recipe:
        """Return a recipe in which the values of a column have this order, the lowest first."""
        return self.with_type(name, "ordered category", order=order)

    def with_ids(self, *names: str) -> Recipe:
        """Return a recipe in which these columns are the id together, or row numbers are."""
        columns = tuple(
            replace(column, type="id", why="", said=True) if column.name in names else column
            for column in self.columns
            if column.name in names or column.type != "id"
        )
        return replace(self, columns=columns)

    def holds(self, line: int) -> bool:
        """Whether a row of the file holds data."""
        if line < self.first or line in self.header or line == self.units:
            return False
        return self.last is None or line <= self.last

    def holds_rows(self, lines: Ints) -> Bools:
        """Say of rows of the file whether they hold data, as `holds` does of one."""
        above = [*self.header, *([] if self.units is None else [self.units])]
        held: Bools = (lines >= self.first) & ~np.isin(lines, above)
        return held if self.last is None else held & (lines <= self.last)


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
    id_column : str
        The column of ids that the file declares, as a database does; otherwise nothing.
    keys : mapping of str to str
        The columns that the file declares to be ids of another table, and the name of that.
    """

    name: str
    rows: Sequence[tuple[int, list[str]]]
    decimal: str = "."
    id_column: str = ""
    keys: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, rows: Iterable[Sequence[str]], name: str = "table", decimal: str = ".") -> RawTable:
        """Return a table of plain lists of cells."""
        kept = [
            (line, list(cells)) for line, cells in enumerate(rows) if any(map(str.strip, cells))
        ]
        return cls(name, kept, decimal)

    @property
    def few(self) -> RawTable:
        """The first and last rows, by which is told what the others are; all of a short table."""
        if not isinstance(self.rows, FrameRows):
            return self
        return replace(self, rows=self.rows.few())


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
    return apply(raw, layout(raw)).recipe


def layout(raw: RawTable, header: bool | None = None, skip: int | None = None) -> Recipe:
    """Return which rows of a table hold what, and nothing of its columns.

    Parameters
    ----------
    raw : RawTable
    header : bool, optional
        Whether a row names the columns, where that was said.
    skip : int, optional
        Rows of the file above the names, where that was said.
    """
    few = raw.few
    found = _rows_above(few, header, skip)
    return replace(found, last=_last_row(few, found.first))


def apply(raw: RawTable, recipe: Recipe) -> Applied:
    """Return the table that raw rows hold by a recipe.

    Parameters
    ----------
    raw : RawTable
    recipe : Recipe
        What it says of columns that are not there is passed over, and columns that it says nothing
        of are read as proposed.

    Returns
    -------
    Applied

    Notes
    -----
    O(cells). The same raw rows and recipe give the same table.
    """
    return with_cells(raw, recipe)[1]


def with_cells(raw: RawTable, recipe: Recipe) -> tuple[pd.DataFrame, Applied]:
    """Return the rows of data as they stand, see `raw_frame`, and as they are read, see `apply`."""
    few = raw.few
    frame, lines = _framed(raw, recipe, names_of(few, recipe, []))
    found = read_columns(raw.name, frame, raw.decimal, recipe, units_of(few, recipe))
    return frame, replace(found, row=lines)


MARKS = ("names", "units", "first", "last")
"""What a row can be said to be: one that names the columns, of units, the first or last of data."""


def marked(raw: RawTable, recipe: Recipe, mark: str, line: int) -> Recipe:
    """Return a recipe in which a row is something else; said once more, it is that no longer.

    Parameters
    ----------
    raw : RawTable
    recipe : Recipe
    mark : str
        One of `MARKS`. A row next to those that name the columns joins them, any other takes their
        place.
    line : int
        The row of the file, from 0.

    Returns
    -------
    Recipe
        With the ids and the columns that somebody said something of, under the names that they
        have now.

    Raises
    ------
    hetviz.errors.DataError
        If there is no such mark or row.
    """
    lines = [at for at, _ in raw.rows]
    if mark not in MARKS or line not in lines:
        what = "there is no such mark or row"
        raise DataError(Problem("bad-recipe", f"{raw.name}, row {line + 1}", what, mark))
    header, units, first, last = set(recipe.header), recipe.units, recipe.first, recipe.last
    if mark == "names":
        near = {lines[at + by] for at, one in enumerate(lines) if one in header
                for by in (-1, 1) if 0 <= at + by < len(lines)}  # fmt: skip
        if line in header:
            header.remove(line)
        else:
            header = {*header, line} if line in near else {line}
        units = None if units is not None and units <= max(header, default=-1) else units
    elif mark == "units":
        units = None if units == line else line
        header.discard(line)
    elif mark == "first":
        first = line
        header = {at for at in header if at < line}
        units = None if units is not None and units >= line else units
    else:
        last = None if last == line else line
    above = max([*header, -1 if units is None else units])
    if first <= above or (mark in ("names", "units") and not header):
        first = next((at for at in lines if at > above), above + 1)
    if last is not None and last < first:
        last = None
    form = Recipe(tuple(sorted(header)), units, first, last, ())
    before, now = names_of(raw, recipe, []), names_of(raw, form, [])
    called = dict(zip(before, now, strict=False))
    columns = tuple(
        replace(column, name=called[column.name])
        for column in recipe.columns
        if (column.said or column.type == "id") and column.name in called
    )
    return replace(form, columns=columns)


def read_columns(
    name: str,
    frame: pd.DataFrame,
    decimal: str,
    recipe: Recipe | None = None,
    units: Mapping[str, str] | None = None,
    keep: Collection[str] = (),
) -> Applied:
    """Return a table of text with its columns read by a recipe.

    Parameters
    ----------
    name : str
        For messages.
    frame : DataFrame of n rows
        Cells as text.
    decimal : {".", ","}
        The decimal sign of the numbers in what is returned.
    recipe : Recipe, optional
        Columns that it says nothing of are read as proposed.
    units : mapping of str to str, optional
        The units that the table gives.
    keep : collection of str
        Columns of ids, which stay as they are written.

    Returns
    -------
    Applied
        Its rows are numbered from 0.
    """
    said = {} if recipe is None else {column.name: column for column in recipe.columns}
    fresh = [column for column in frame.columns if column not in said]
    ids = None if len(fresh) < frame.shape[1] else guess_id_column(frame)
    titled = any(column.type == "title" for column in said.values())
    plain = plain_columns(frame, decimal)
    titles = _titles_of(frame, ids, plain) if fresh and not titled else ()
    settled, notes = [], []
    is_changed = not all(isinstance(dtype, pd.StringDtype) for dtype in frame.dtypes)
    out: dict[str, pd.Series] = {}
    for column, cells in frame.items():
        column = str(column)
        one = said.get(column)
        if one is None:
            unit = (units or {}).get(column, "")
            one = (
                _proposed_number(column, cells, plain[column], unit, decimal)
                if column in plain and column != ids
                else _proposed(column, cells, unit, decimal, column == ids, column in titles)
            )
            # What is no number in a table of links is a mistake to be told of.
            odd = one.type == "number with the rest missing" and "source_id" in frame.columns
            if odd or (one.type in NUMBERS and (column in keep or _is_key(column))):
                one = replace(one, type="category")
        if one.type == "ordered category":
            there = [text for cell in coded(cells)[1] if (text := cell.strip())]
            there = [text for text in dict.fromkeys(there) if text.lower() not in MISSING]
            order = completed(one.order or proposed_order(there), there)
            if not one.said and len(order) > len(one.order):
                # A word beside the scale, below the rows that were looked at.
                one = replace(one, type="category", order=(), why="")
            else:
                one = replace(one, order=order[:MAX_CATEGORIES])
        settled.append(one)
        if one.type == "leave out" and one.said:
            is_changed = True
            continue
        told: list[Problem] = []
        as_it_is = column in plain and (
            one.type == "yes/no" or (one.type in (*NUMBERS, "place") and one.decimal == decimal)
        )
        if column not in keep and not as_it_is:
            made, told = _converted(f"{name}, column {column}", cells, one, decimal)
            is_changed |= made is not cells
            cells = made
        out[column] = cells
        notes += told
    # Of a wide table it takes as long to be put together as to be read.
    if is_changed:
        frame = pd.DataFrame(out, index=range(len(frame)), dtype=TEXT)
    else:
        frame = frame.set_axis(list(out), axis=1).reset_index(drop=True)
    form = Recipe((0,), None, 1, None, ()) if recipe is None else recipe
    found = replace(form, columns=tuple(settled))
    return Applied(frame, tuple(range(len(frame))), found, tuple(notes))


def _is_key(name: str) -> bool:
    lower = name.strip().lower()
    return lower == "id" or lower.endswith("_id")


def raw_frame(raw: RawTable, recipe: Recipe) -> pd.DataFrame:
    """Return the rows of data as they stand, under the names of the columns."""
    return _framed(raw, recipe, names_of(raw.few, recipe, []))[0]


def adapted(recipe: Recipe, raw: RawTable) -> Recipe:
    """Return a recipe as it holds for another file of the same form: a newer version, new rows.

    The rows of names are looked for by the names, so that a longer title or more rows do no harm;
    the end of the data is found anew, and each column stays what it was said to be.
    """
    fresh, raw = propose(raw), raw.few
    said = {column.name: column for column in recipe.columns}
    found = next((form for form in _moved(recipe, raw) if _names_all(raw, form, said)), None)
    if found is not None:
        fresh = replace(fresh, header=found.header, units=found.units, first=found.first)
        fresh = replace(fresh, last=_last_row(raw, found.first))
    by_name = {column.name: column for column in fresh.columns}
    names = names_of(raw, fresh, [])
    columns = [
        said.get(name) or by_name.get(name) or ColumnRecipe(name, "category") for name in names
    ]
    return replace(fresh, columns=tuple(columns))


def _moved(recipe: Recipe, raw: RawTable) -> Iterator[Recipe]:
    """Yield a recipe with its rows as they are, then further down and up."""
    top = min(recipe.header, default=0)
    places = sorted((line for line, _ in raw.rows[:_MOST_MOVED]), key=lambda at: abs(at - top))
    for by in (at - top for at in places) if recipe.header else (0,):
        yield replace(
            recipe,
            header=tuple(line + by for line in recipe.header),
            units=None if recipe.units is None else recipe.units + by,
            first=recipe.first + by,
            last=None,
        )


def _names_all(raw: RawTable, recipe: Recipe, names: Collection[str]) -> bool:
    lines = {line for line, _ in raw.rows}
    return lines.issuperset(recipe.header) and set(names_of(raw, recipe, [])) >= set(names)


@dataclass(frozen=True)
class Profile:
    """What a column holds, for a small picture of it.

    Attributes
    ----------
    name, type, unit : str
    n_rows, n_missing, n_distinct : int
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
    n_rows: int
    n_missing: int
    n_distinct: int
    bins: tuple[float, ...] = ()
    counts: tuple[int, ...] = ()
    values: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()


def profiles(raw: RawTable, recipe: Recipe, n_bins: int = 12) -> list[Profile]:
    """Return what each column holds as it is read by a recipe, those left out as they stand."""
    return described(raw_frame(raw, recipe), apply(raw, recipe), raw.decimal, n_bins)


def described(
    frame: pd.DataFrame, applied: Applied, decimal: str, n_bins: int = 12
) -> list[Profile]:
    """Return what each column of a table holds.

    Parameters
    ----------
    frame : DataFrame
        The cells as they stand, see `raw_frame`.
    applied : Applied
        The same rows as they are read.
    decimal : {".", ","}
    n_bins : int
    """
    out = []
    for column in applied.recipe.columns:
        raw_cells = frame[column.name]
        cells = applied.frame.get(column.name, raw_cells)
        stripped = cells.str.strip()
        missing = stripped.str.lower().isin(MISSING).to_numpy(dtype=bool)
        lost = Counter(text.strip() for text in raw_cells[missing] if text.strip())
        about = Profile(
            column.name,
            column.type,
            column.unit,
            len(cells),
            int(missing.sum()),
            int(stripped[~missing].nunique()),
            examples=tuple(word for word, _ in lost.most_common(5)),
        )
        numbers = None
        if column.type in (*NUMBERS, "date", "place"):
            found = infer(column.name, cells, decimal)
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


def _rows_above(raw: RawTable, header: bool | None, skip: int | None) -> Recipe:
    """Return the rows of names, the row of units, and the first row of data."""
    rows = [row for row in raw.rows if skip is None or row[0] >= skip]
    some = rows[: dialect.SAMPLE_ROWS]
    if not some:
        return Recipe((), None, skip or 0, None, ())
    above = 0 if skip is not None or header is False else dialect.rows_above(some)
    below = some[above:]
    if not (dialect.has_header(below) if header is None else header):
        return Recipe((), None, below[0][0], None, ())
    named = [below[0][0]]
    # Rows of groups stand right above the names, and leave the first column empty.
    for line, cells in reversed(some[:above]):
        filled = [cell for cell in cells if cell.strip()]
        if named[0] - line != 1 or cells[0].strip() or not filled:
            break
        if any(parse(cell, raw.decimal) for cell in filled):
            break
        named.insert(0, line)
    units, data = None, below[1:]
    words = _rows_of_words(data, raw.decimal)
    if words and not _is_units(data[0][1], data[1:], raw.decimal):
        # A second row of names stands below groups, which leave cells empty; else it explains them.
        if _has_groups(below[0][1], data[0][1]):
            named.append(data[0][0])
            words = 1
        data = data[words:]
    if len(data) > 1 and _is_units(data[0][1], data[1:], raw.decimal):
        units, data = data[0][0], data[1:]
    return Recipe(tuple(named), units, data[0][0] if data else below[-1][0] + 1, None, ())


def _rows_of_words(data: Sequence[tuple[int, list[str]]], decimal: str) -> int:
    """Return how many rows at the top hold words in all columns that hold numbers further down."""
    some = [cells for _, cells in data[_MOST_WORDS : _MOST_WORDS + _SAMPLE // 5]]
    measured = []
    for at in range(max(map(len, some), default=0)):
        column = [row[at].strip() for row in some if at < len(row) and row[at].strip()]
        numbers = sum(parse(cell, decimal) is not None for cell in column)
        if len(column) >= _MOST_WORDS and numbers > 0.8 * len(column):
            measured.append(at)

    def is_words(cells: list[str]) -> bool:
        there = [text for at in measured if at < len(cells) and (text := cells[at].strip())]
        return len(there) >= max(2, 0.8 * len(measured)) and not any(
            parse(text, decimal) or _is_date(text) or text.lower() in NOT_KNOWN for text in there
        )

    found = 0
    while found < min(_MOST_WORDS, len(data)) and is_words(data[found][1]):
        found += 1
    # So many are rows of data in which words are usual.
    return 0 if found == _MOST_WORDS else found


def _has_groups(above: list[str], cells: list[str]) -> bool:
    """Whether names leave cells empty that the row below fills."""
    filled = [bool(cell.strip()) for cell in (*above, *[""] * (len(cells) - len(above)))]
    below = [bool(cell.strip()) for cell in cells]
    alone = sum(one and not other for one, other in zip(below, filled, strict=False))
    return alone > 0 and sum(below) > sum(filled)


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
    end = len(body) - _n_remarks(body, usual)
    while end > 2 and len(body) - end < _MOST_BELOW:
        apart = body[end - 1][0] - body[end - 2][0] > 1
        if not _is_footer(body[end - 1][1], usual, apart):
            break
        end -= 1
    return None if end == len(body) else body[end - 1][0]


def _n_remarks(body: Sequence[tuple[int, list[str]]], usual: float) -> int:
    """Return how many rows at the end stand apart from the table and fill its first cell only."""
    most = min(_MOST_BELOW, len(body) - 2)
    found = 0
    while found < most and usual >= 3:
        cells = body[-1 - found][1]
        if _last_filled(cells) != 1 or parse(cells[0]) is not None:
            break
        found += 1
    apart = found > 0 and body[-found][0] - body[-found - 1][0] > 1
    return found if apart else 0


def _is_footer(cells: list[str], usual: float, apart: bool) -> bool:
    """Whether a row is a total or a remark rather than data, which may have empty cells too."""
    texts = [cell.strip() for cell in cells if cell.strip()]
    if usual < 2 or not texts or not cells[0].strip():
        return False
    words = [word for word in re.split(r"[\s/:,+]+", texts[0]) if word]
    if words and all(map(_TOTALS.fullmatch, words)):
        return True
    if len(texts) > 1:
        return False
    return bool(_NOTES.match(texts[0])) or (apart and usual >= 3 and parse(texts[0]) is None)


def names_of(raw: RawTable, recipe: Recipe, notes: list[Problem]) -> list[str]:
    """Return the names of the columns, none empty and none twice; `notes` tells what was changed.

    Where no row names them they are called column_1, column_2 and so on. Where the rows agree on
    another number of cells than there are names, see `_fitted`.
    """
    lines = dict(raw.rows)
    rows = [lines.get(line, []) for line in recipe.header]
    body = [cells for line, cells in raw.rows if recipe.holds(line)]
    if not rows:
        widths = Counter(map(len, body))
        return [f"column_{at + 1}" for at in range(max(widths, key=lambda w: widths[w], default=0))]
    # Columns at the end that have neither a name nor a cell are none.
    width = max(map(len, rows))
    if _last_filled(rows[-1]) < width:
        width = max(1, *(min(_last_filled(cells), width) for cells in (*rows, *body)))
    if len(rows) > 1:
        measured = _measured(raw, recipe)
        rows = [*(_spread(row, width, measured) for row in rows[:-1]), rows[-1]]
    titles = []
    for at in range(width):
        parts = [row[at].strip() if at < len(row) else "" for row in rows]
        titles.append(_JOINED.join(dict.fromkeys(part for part in parts if part)))
    return column_names(raw.name, _fitted(raw.name, titles, body, notes), notes)


def _fitted(
    name: str, titles: list[str], body: Sequence[list[str]], notes: list[Problem]
) -> list[str]:
    """Return as many names as the rows have cells, where they agree and it is clear which is whose.

    One name too few is that of the first column if its cells could be the names of rows, as R
    writes them. Otherwise names that lack are those of the last columns, and so are those that are
    too many. Rows with a space after a separator may hold it in a text without quotes: these are
    told row by row.
    """
    n, usual = len(titles), dialect.usual_width(body)
    if usual is None or usual == n:
        return titles
    said = f"{usual:,} cells in each row, and {count(n, 'name')} of columns"
    check = "Check that the names stand over their columns, or say under Read a file in another way"
    if usual < n and max(map(len, body)) > usual:
        return titles
    if usual < n:
        notes.append(
            Problem(
                "unfilled-column",
                name,
                f"{said}: the last {'is' if n - usual == 1 else f'{n - usual} are'} left out",
                ", ".join(titles[usual:])[:80],
                f"{check} which row names them.",
                severity="note",
            )
        )
        return titles[:usual]
    if max(map(_last_filled, body)) <= n:
        return titles
    fitting = [cells for cells in body if len(cells) == usual]
    if any(cell[:1] == " " for cells in fitting for cell in cells[1:]):
        return titles
    first = [cells[0].strip() for cells in fitting]
    if usual == n + 1 and len(set(first)) == len(first) and not any(map(_is_decimal, first)):
        notes.append(
            Problem(
                "names-of-rows",
                name,
                f"{said}: the first column names the rows, and the names begin at the second",
                severity="note",
            )
        )
        return ["row", *titles] if "row" not in titles else ["", *titles]
    notes.append(
        Problem(
            "names-lacking",
            name,
            f"{said}: the last {'has' if usual - n == 1 else f'{usual - n} have'} none",
            remedy=f"{check} that no row names them.",
            severity="note",
        )
    )
    return [*titles, *[""] * (usual - n)]


def _is_decimal(cell: str) -> bool:
    return bool(cell) and not cell.isdigit() and parse(cell, ".") is not None


def column_names(name: str, first: list[str], notes: list[Problem]) -> list[str]:
    """Return names for columns, none empty and none twice; `notes` tells what was changed."""
    columns: dict[str, None] = {}
    taken = set(first)
    copies: Counter[str] = Counter()
    for at, cell in enumerate(first):
        title = cell.strip()
        if not title:
            title = f"column_{at + 1}"
            notes.append(
                Problem(
                    "unnamed-column",
                    f"{name}, column {at + 1}",
                    f"the column has no name and is called {title}",
                    severity="note",
                )
            )
        if title in columns:
            notes.append(
                Problem(
                    "duplicate-column",
                    f"{name}, column {at + 1}",
                    "another column has this name",
                    title,
                    "Rename one of them.",
                )
            )
            plain = title
            while title in columns or title in taken:
                copies[plain] += 1
                title = f"{plain} ({copies[plain] + 1})"
        columns[title] = None
    return list(columns)


def _spread(row: list[str], width: int, measured: set[int]) -> list[str]:
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
    body = [cells for line, cells in raw.rows if recipe.holds(line)][:200]
    for at in range(max(map(len, body), default=0)):
        cells = [row[at] for row in body if at < len(row)]
        if number_column(cells, decimal_in(cells, raw.decimal)) is not None:
            found.add(at)
    return found


def units_of(raw: RawTable, recipe: Recipe) -> dict[str, str]:
    """Return the unit of each column that has one, in its own row or behind its name."""
    names = names_of(raw, recipe, [])
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


def _framed(
    raw: RawTable, recipe: Recipe, names: Sequence[str]
) -> tuple[pd.DataFrame, tuple[int, ...]]:
    """Return the rows of data under the names of the columns, and the row of the file of each."""
    if isinstance(raw.rows, FrameRows):
        held, lines = raw.rows.body(recipe.holds_rows, names)
        return held, tuple(lines.tolist())
    width = len(names)
    body = [
        (line, [*cells[:width], *[""] * (width - len(cells))])
        for line, cells in raw.rows
        if recipe.holds(line) and any(map(str.strip, cells[:width]))
    ]
    frame = pd.DataFrame([cells for _, cells in body], columns=list(names), dtype=TEXT)
    return frame, tuple(line for line, _ in body)


def _last_filled(cells: Sequence[str]) -> int:
    return next((at for at in range(len(cells), 0, -1) if cells[at - 1].strip()), 0)


def _titles_of(frame: pd.DataFrame, ids: str | None, numbers: Collection[str]) -> tuple[str, ...]:
    """Return the columns that name the rows: given and family name where they tell more apart."""
    one = _title_of(frame, ids, numbers)
    both = full_name(frame.columns)
    if both is None or ids in both:
        return () if one is None else (one,)
    some = frame.iloc[:: max(1, len(frame) // _SAMPLE)]
    names = joined_cells(some, both)
    alone = one is None or one in both
    if _is_spoken(names.tolist()) and (alone or names.nunique() > some[one].nunique()):
        return both
    return () if one is None else (one,)


def _is_spoken(cells: list[str]) -> bool:
    """Whether nearly all cells hold short words, as names do."""
    few = 0.1 * len(cells)
    if len(cells) - sum(any(map(str.isalpha, cell)) for cell in cells) > few:
        return False
    numbers = sum(parse(cell) is not None or _is_date(cell) for cell in cells)
    return numbers <= few and sum(map(len, cells)) <= 60 * len(cells)


def _is_name(cells: list[str]) -> bool:
    """Whether nearly all cells are words, not codes: letters throughout and more than a few."""
    words = sum(len(re.findall(r"[^\W\d_]", cell)) >= max(4, 0.7 * len(cell)) for cell in cells)
    return words >= 0.7 * len(cells)


def _is_description(cells: list[str]) -> bool:
    """Whether the cells are phrases, which say more about a row than anybody would call it by."""
    return float(np.median([len(cell.split()) for cell in cells])) >= 4


def _title_of(frame: pd.DataFrame, ids: str | None, numbers: Collection[str]) -> str | None:
    """Return the column that names the rows best: short texts, most of them different."""
    best, most = None, 0.0
    step = max(1, len(frame) // _SAMPLE)
    ids_are_names = ids is not None and _is_name(frame[ids].iloc[::step].tolist())
    for at, (name, cells) in enumerate(frame.items()):
        if name == ids or name in numbers:
            continue
        some = (cells if step == 1 else cells.iloc[::step]).tolist()
        filled = [cell for text in some if (cell := text.strip())]
        if len(filled) < 0.9 * len(some) or not filled:
            continue
        if not _is_spoken(filled):
            continue
        share = len(set(filled)) / len(filled)
        named = bool(set(words_of(str(name))) & _TITLE_WORDS)
        if ids_are_names and not named and _is_description(filled):
            continue
        merit = share + 0.3 * named - 0.001 * at
        if share >= (0.5 if named else 0.9) and merit > most:
            best, most = str(name), merit
    return best


def _proposed(
    name: str, cells: pd.Series, unit: str, decimal: str, is_id: bool, is_title: bool
) -> ColumnRecipe:
    """Return what a column seems to be, by a look at 1,000 of its cells."""
    if is_id:
        return ColumnRecipe(name, "id", why="different in every row")
    if is_title:
        return ColumnRecipe(name, "title")
    step = max(1, len(cells) // _SAMPLE)
    cells = cells if step == 1 else cells.iloc[::step]
    texts = cells.tolist()
    filled = [cell for text in texts if (cell := text.strip())]
    if not filled:
        return ColumnRecipe(name, "leave out", unit, why="empty")
    present = [cell for cell in filled if cell.lower() not in MISSING]
    distinct = {cell.lower() for cell in present}
    if present and all(_is_date(cell) for cell in present) and not _counts(present):
        return ColumnRecipe(name, "date")
    sign = decimal_in(filled, decimal)
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
    # Of more than that nobody would say an order: they are numbers of things.
    order = known_order(dict.fromkeys(present)) if len(distinct) <= _ORDERED else None
    why = f"has an order: {' < '.join(order[:4])}{' ...' * (len(order) > 4)}" if order else ""
    if order is not None and _scale_of(order):
        return ColumnRecipe(name, "ordered category", order=order, why=why)
    return ColumnRecipe(name, "category", why=why)


def scales(frame: pd.DataFrame) -> dict[str, tuple[str, ...]]:
    """Return the columns of a table of text that hold words of a scale, with their order."""
    found = {}
    for name, cells in frame.items():
        there = [text for cell in coded(cells)[1] if (text := str(cell).strip())]
        there = [text for text in dict.fromkeys(there) if text.lower() not in MISSING]
        # What is different in every row names the rows.
        if len(there) < len(frame) and (order := _scale_of(there)):
            found[str(name)] = order
    return found


def _scale_of(values: Sequence[str]) -> tuple[str, ...]:
    """Return different words of a scale in their order; nothing of others."""
    # Two words may be poles of anything; months and days follow one another without end.
    if not _SCALE <= len(values) <= _ORDERED or not rises(values):
        return ()
    return known_order(values) or ()


def _proposed_number(
    name: str, cells: pd.Series, values: Floats, unit: str, decimal: str
) -> ColumnRecipe:
    """Return what a column of plain numbers seems to be, as `_proposed` does."""
    known = values[~np.isnan(values)]
    if (LATITUDE | LONGITUDE) & set(words_of(name)):
        return ColumnRecipe(name, "place", unit, decimal)
    whole = bool((known == np.round(known)).all())
    if whole and _FIRST_DAY <= known.min() <= known.max() <= _LAST_DAY:
        # Such as 20231231.
        return _proposed(name, cells, unit, decimal, is_id=False, is_title=False)
    if whole and 0 <= known.min() <= known.max() <= 1 and set(cells.tolist()) <= {"", "0", "1"}:
        return ColumnRecipe(name, "yes/no")
    return ColumnRecipe(name, "whole number" if whole else "number", unit, decimal)


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
    first, second, year, time, half = match.groups()
    day, month = (int(first), int(second)) if day_first else (int(second), int(first))
    if month > 12:
        day, month = month, day
    if not (1 <= month <= 12 and 1 <= day <= 31):
        return None
    if half:
        hour, rest = time.split(":", 1)
        time = f"{int(hour) % 12 + 12 * (half in 'pP'):02}:{rest}"
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
    if column.type in ("yes/no", "ordered category"):
        return cells.str.strip(), []
    return cells, []


def _as_numbers(
    where: str, cells: pd.Series, column: ColumnRecipe, decimal: str
) -> tuple[pd.Series, list[Problem]]:
    if column.decimal == decimal and are_plain(cells, decimal):
        return cells, []
    texts = cells.tolist()
    found = number_column(texts, column.decimal, force=True)
    if found is None:
        what = "no cell holds a number, so all count as missing"
        told = Problem("no-numbers", where, what, severity="note")
        return pd.Series([""] * len(cells), index=cells.index, dtype=TEXT), [told]
    out, first = [], ""
    for text, value in zip(texts, found.values, strict=True):
        if value is not None:
            out.append(_plain(text.strip(), value, column.decimal, decimal))
            first = first or (text if out[-1] != text.strip() else "")
        else:
            # What programs write for no number is told of by who makes features of it.
            keeps = text.strip().lower() in MISSING or why_unusable(text, decimal) is not None
            out.append(text if keeps else "")
    notes: list[Problem] = []
    signs = [f"{found.unit} sign"] if found.unit in SIGNS else []
    signs += [f"unit {found.unit}"] if found.unit and not signs else []
    signs += ["thousands signs"] * found.grouped
    if signs:
        what = f"numbers were read without their {' and '.join(signs)}"
        notes.append(Problem("written-numbers", where, what, first, severity="note"))
    if found.negative:
        cells_of = count(found.negative, "cell")
        what = f"{cells_of} in brackets or with a minus behind the number: taken as negative"
        notes.append(Problem("negative-numbers", where, what, severity="note"))
    n_limits = found.below + found.above
    if n_limits:
        marks = " and ".join(["<"] * bool(found.below) + [">"] * bool(found.above))
        what = f"{count(n_limits, 'cell')} with {marks}: the limit is taken for the value"
        notes.append(Problem("limits", where, what, severity="note"))
    words = {
        word: n
        for word, n in found.others.items()
        if word.lower() not in MISSING and why_unusable(word, decimal) is None
    }
    if words:
        shown = ", ".join(f"{word} ({n:,})" for word, n in list(words.items())[:4])
        what = f"{count(sum(words.values()), 'cell')} without a number count as missing"
        notes.append(Problem("words-for-missing", where, what, shown, severity="note"))
    return pd.Series(out, index=cells.index, dtype=TEXT), notes


def _plain(text: str, value: float, sign: str, decimal: str) -> str:
    """Return a number as plain text, its digits as they were written where that can be."""
    digits = re.sub(r"[^0-9.,eE+-]", "", text.replace("\u2212", "-").rstrip("*"))
    thousands = "," if sign == "." else "."
    digits = digits.replace(thousands, "").replace(sign, ".").lstrip("+")
    try:
        same = float(digits) == value
    except ValueError:
        same = False
    if not same:
        digits = str(int(value)) if value == round(value) and abs(value) < 2**53 else repr(value)
    return digits.replace(".", decimal)


def _in_one_zone(times: list[str]) -> tuple[list[str], str]:
    """Return times without their distance from UTC, in UTC where it is not always the same."""
    zones = {match[2] for text in times if (match := _ZONE.search(text))}
    if not zones:
        return times, ""
    if len(zones) == 1 and all(_ZONE.search(text) for text in times if text):
        return [_ZONE.sub(r"\1", text) for text in times], f"UTC{zones.pop()}"
    return [_in_utc(text) for text in times], "UTC"


def _in_utc(text: str) -> str:
    if not _ZONE.search(text):
        return text
    try:
        moment = datetime.fromisoformat(text.replace(" +", "+").replace(" -", "-"))
    except ValueError:
        return ""
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat(" ")


def _as_dates(where: str, cells: pd.Series) -> tuple[pd.Series, list[Problem]]:
    # Days repeat in most columns.
    codes, different = coded(cells)
    texts = [cell.strip() for cell in different]
    firsts = [int(match[1]) for text in texts if (match := _DAY_FIRST.fullmatch(text))]
    seconds = [int(match[2]) for text in texts if (match := _DAY_FIRST.fullmatch(text))]
    day_first = not (max(seconds, default=0) > 12 >= max(firsts, default=0))
    if max(seconds, default=0) <= 12 and max(firsts, default=0) <= 12:
        # Who writes AM and PM writes the month first.
        day_first = not any(text.lower().rstrip(".").endswith("m") for text in texts)
    found = [iso_date(text, day_first) or "" for text in texts]
    found, zone = _in_one_zone(found)
    dates = np.array([*found, ""], dtype=object)
    lost = [at for at, text in enumerate(texts) if text and not dates[at]]
    notes = []
    if zone:
        notes.append(Problem("time-zone", where, f"times are those of {zone}", severity="note"))
    if lost:
        what = f"{count(int(np.isin(codes, lost).sum()), 'cell')} without a date count as missing"
        notes.append(
            Problem("words-for-missing", where, what, texts[lost[0]][:60], severity="note")
        )
    return pd.Series(dates[codes], index=cells.index, dtype=TEXT), notes
