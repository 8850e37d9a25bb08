"""Recipes for reading tables: header, unit and data rows, and column types.

`propose_recipe` proposes a `TableRecipe` for raw rows, and `apply_recipe` reads a table by it. Both
are pure functions. Recipes are plain data (`TableRecipe.to_dict`, `TableRecipe.from_dict`) and are
saved with the project (``Choices.recipes``, one per sheet or file). `adapt_recipe` adapts a recipe
to a newer version of the file or to a file of new rows.

>>> from hetviz.io.infer.recipe import RawTable, apply_recipe, propose_recipe
>>> raw = RawTable.of([["Well", "Nitrate", ""], ["", "mg/l", ""], ["A1", "<0.5", "ok"],
...                    ["A2", "3.1", "ok"], ["A3", "n.d.", "bad"]])
>>> recipe = propose_recipe(raw)
>>> recipe.header, recipe.units, recipe.first, [column.type for column in recipe.columns]
((0,), 1, 2, ['id', 'number with the rest missing', 'category'])
>>> apply_recipe(raw, recipe).frame["Nitrate"].tolist()
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
from hetviz.features.columns.levels import (
    complete_order,
    is_increasing,
    natural_order,
    proposed_order,
)
from hetviz.features.columns.names import words_of
from hetviz.features.columns.number_parsing import (
    SYMBOL_UNITS,
    UNKNOWN_MARKERS,
    detect_decimal,
    is_plain_numbers,
    is_unit,
    number_column,
    parse,
)
from hetviz.features.columns.types import (
    MAX_CATEGORIES,
    MISSING,
    encode_texts,
    infer,
    plain_columns,
    why_unusable,
)
from hetviz.io.infer import dialect
from hetviz.io.infer.ids import guess_id_column
from hetviz.io.infer.raw_rows import FrameRows
from hetviz.io.infer.titles import full_name, joined_cells

TYPES: Mapping[str, str] = {
    "number": "Numbers in every row.",
    "number with the rest missing": "Numbers. Anything else counts as missing.",
    "whole number": "Counts and other whole numbers.",
    "category": "One of several words or codes.",
    "ordered category": "One of several words with an order.",
    "yes/no": "One of two values.",
    "date": "Dates or times.",
    "place": "A latitude or longitude in degrees.",
    "list": "Several words in each cell.",
    "text": "Free text.",
    "id": "Different in every row. Rows are matched by it. Several columns can form one id.",
    "title": "The name of each row.",
    "label": "Colours the map. Not used as a feature.",
    "picture": "Names of picture files.",
    "key of another table": "The id of a row of another table.",
    "leave out": "Not read.",
}
"""Column types and their descriptions."""

NUMBERS = ("number", "number with the rest missing", "whole number")
_HEADER_SEPARATOR = " / "
_SAMPLE_ROWS = 1_000
_MAX_FOOTER_ROWS = 10
_MAX_WORD_ROWS = 3
_MAX_SHIFT_ROWS = 60
_MAX_ORDER_VALUES = 30
_MIN_SCALE_VALUES = 3
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
_DAY_MONTH_YEAR = re.compile(
    r"(\d{1,2})[./-](\d{1,2})[./-](\d{4}|\d{2})"
    r"(?:[ T,]+(\d{1,2}:\d{2}(?::\d{2})?)(?: ?([AaPp])\.?[Mm]\.?)?)?"
)
_FIRST_DAY, _LAST_DAY = 18_000_101, 20_991_231
_COMPACT_DATE = re.compile(r"(1[89]\d\d|20\d\d)(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])")
_ISO_DATE = re.compile(
    r"\d{4}-\d{1,2}-\d{1,2}(?:[ T]\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?: ?[+-]\d{2}:?\d{2})?)?Z?"
)
# An offset after a time, not the month and day of a date.
_UTC_OFFSET = re.compile(r"(:\d{2}(?:\.\d+)?) ?([+-]\d{2}:?\d{2})$")
_PICTURE_NAME = re.compile(r".+\.(png|jpe?g|webp|gif|bmp|tiff?)", re.I)


@dataclass(frozen=True)
class ColumnRecipe:
    """The type of one column.

    Attributes
    ----------
    name : str
    type : str
        One of `TYPES`.
    unit : str
        Unit of numbers.
    decimal : {".", ","}
        Decimal sign of the numbers.
    order : tuple of str
        Values of an ordered category, lowest first.
    of : str
        Target dataset of a key.
    why : str
        Reason of the proposal, for the user.
    said : bool
        Whether the user chose it. Proposed columns get default features.
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
class TableRecipe:
    """The recipe for reading a table. Row numbers are those of the file, from 0.

    Attributes
    ----------
    header : tuple of int
        The rows of column names, joined as in "Messwerte / Nitrat". Without them, columns are
        named column_1, column_2 and so on.
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
    def from_dict(cls, fields: Mapping[str, Any]) -> TableRecipe:
        """Return the recipe that `to_dict` wrote."""
        try:
            columns = tuple(
                ColumnRecipe(
                    **{**column_fields, "order": tuple(map(str, column_fields.get("order", ())))}
                )
                for column_fields in fields["columns"]
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
            message = "this is not a valid recipe for reading a table"
            raise DataError(Problem("bad-recipe", "recipe", message, str(fields)[:60])) from None
        unknown = [column for column in columns if column.type not in TYPES]
        if unknown:
            remedy = f"Use one of: {', '.join(TYPES)}."
            raise DataError(
                Problem("bad-recipe", f"recipe, column {column.name}", "unknown column type",
                        str(column.type)[:60], remedy)
                for column in unknown
            )  # fmt: skip
        return recipe

    def column(self, name: str) -> ColumnRecipe:
        """Return the recipe of a column."""
        return next(column for column in self.columns if column.name == name)

    def of_type(self, *types: str) -> tuple[str, ...]:
        """Return the names of the columns of the given types."""
        return tuple(column.name for column in self.columns if column.type in types)

    def with_type(self, name: str, type: str, **fields: Any) -> TableRecipe:
        """Return a recipe with another type for one column."""
        columns = tuple(
            replace(column, type=type, why="", said=True, **fields)
            if column.name == name
            else column
            for column in self.columns
        )
        return replace(self, columns=columns)

    def with_order(self, name: str, *order: str) -> TableRecipe:
        """Return a recipe with this value order of a column, lowest first."""
        return self.with_type(name, "ordered category", order=order)

    def with_ids(self, *names: str) -> TableRecipe:
        """Return a recipe with these id columns, or row numbers if none are given."""
        columns = tuple(
            replace(column, type="id", why="", said=True) if column.name in names else column
            for column in self.columns
            if column.name in names or column.type != "id"
        )
        return replace(self, columns=columns)

    def holds(self, line: int) -> bool:
        """Whether a row of the file is a data row."""
        if line < self.first or line in self.header or line == self.units:
            return False
        return self.last is None or line <= self.last

    def holds_rows(self, lines: Ints) -> Bools:
        """Return a mask of the data rows, as `holds` for one row."""
        above = [*self.header, *([] if self.units is None else [self.units])]
        is_data: Bools = (lines >= self.first) & ~np.isin(lines, above)
        return is_data if self.last is None else is_data & (lines <= self.last)


@dataclass(frozen=True, eq=False)
class RawTable:
    """The raw cells of a table in a file or sheet."""

    name: str
    rows: Sequence[tuple[int, list[str]]]
    decimal: str = "."
    id_column: str = ""
    keys: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, rows: Iterable[Sequence[str]], name: str = "table", decimal: str = ".") -> RawTable:
        """Return a raw table from lists of cells."""
        filled_rows = [
            (line, list(cells)) for line, cells in enumerate(rows) if any(map(str.strip, cells))
        ]
        return cls(name, filled_rows, decimal)

    @property
    def sample(self) -> RawTable:
        """A sample of the first and last rows; all rows of a short table."""
        if not isinstance(self.rows, FrameRows):
            return self
        return replace(self, rows=self.rows.sample())


@dataclass(frozen=True, eq=False)
class Applied:
    """The result of reading a table by a recipe."""

    frame: pd.DataFrame
    row: tuple[int, ...]
    recipe: TableRecipe
    problems: tuple[Problem, ...] = field(default=())


def propose_recipe(raw: RawTable) -> TableRecipe:
    """Return the proposed recipe of a table."""
    return apply_recipe(raw, find_layout(raw)).recipe


def find_layout(raw: RawTable, header: bool | None = None, skip: int | None = None) -> TableRecipe:
    """Return a recipe with the header, unit and data rows but no columns."""
    sample = raw.sample
    recipe = _header_and_first_row(sample, header, skip)
    return replace(recipe, last=_last_row(sample, recipe.first))


def apply_recipe(raw: RawTable, recipe: TableRecipe) -> Applied:
    """Return the table read by a recipe; unlisted columns are read as proposed."""
    return apply_with_raw_cells(raw, recipe)[1]


def apply_with_raw_cells(raw: RawTable, recipe: TableRecipe) -> tuple[pd.DataFrame, Applied]:
    """Return the raw data rows and the table read by a recipe."""
    sample = raw.sample
    frame, lines = _data_rows(raw, recipe, column_names_of(sample, recipe, []))
    applied = read_columns(raw.name, frame, raw.decimal, recipe, column_units(sample, recipe))
    return frame, replace(applied, row=lines)


ROW_MARKS = ("names", "units", "first", "last")
"""Marks of a row: column names, units, first or last data row."""


def mark_row(raw: RawTable, recipe: TableRecipe, mark: str, line: int) -> TableRecipe:
    """Return a recipe in which a row has a mark of `ROW_MARKS`, or loses it if it has it."""
    lines = [at for at, _ in raw.rows]
    if mark not in ROW_MARKS or line not in lines:
        message = "this row or this role of a row does not exist"
        raise DataError(Problem("bad-recipe", f"{raw.name}, row {line + 1}", message, mark))
    header, units, first, last = set(recipe.header), recipe.units, recipe.first, recipe.last
    if mark == "names":
        adjacent = {lines[at + by] for at, row in enumerate(lines) if row in header
                for by in (-1, 1) if 0 <= at + by < len(lines)}  # fmt: skip
        if line in header:
            header.remove(line)
        else:
            header = {*header, line} if line in adjacent else {line}
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
    moved = TableRecipe(tuple(sorted(header)), units, first, last, ())
    old_names, new_names = column_names_of(raw, recipe, []), column_names_of(raw, moved, [])
    new_name_of = dict(zip(old_names, new_names, strict=False))
    columns = tuple(
        replace(column, name=new_name_of[column.name])
        for column in recipe.columns
        if (column.said or column.type == "id") and column.name in new_name_of
    )
    return replace(moved, columns=columns)


def read_columns(
    name: str,
    frame: pd.DataFrame,
    decimal: str,
    recipe: TableRecipe | None = None,
    units: Mapping[str, str] | None = None,
    keep: Collection[str] = (),
) -> Applied:
    """Return a text table with its columns read by a recipe."""
    recipe_of = {} if recipe is None else {column.name: column for column in recipe.columns}
    unlisted = [column for column in frame.columns if column not in recipe_of]
    ids = None if len(unlisted) < frame.shape[1] else guess_id_column(frame)
    titled = any(column.type == "title" for column in recipe_of.values())
    plain = plain_columns(frame, decimal)
    titles = _title_columns(frame, ids, plain) if unlisted and not titled else ()
    column_recipes, notes = [], []
    is_changed = not all(isinstance(dtype, pd.StringDtype) for dtype in frame.dtypes)
    out: dict[str, pd.Series] = {}
    for column, cells in frame.items():
        column = str(column)
        column_recipe = recipe_of.get(column)
        if column_recipe is None:
            unit = (units or {}).get(column, "")
            column_recipe = (
                _propose_number_column(column, cells, plain[column], unit, decimal)
                if column in plain and column != ids
                else _propose_column(column, cells, unit, decimal, column == ids, column in titles)
            )
            # In a table of links, a cell without a number is an error to report.
            is_odd = (
                column_recipe.type == "number with the rest missing"
                and "source_id" in frame.columns
            )
            if is_odd or (
                column_recipe.type in NUMBERS and (column in keep or _is_id_name(column))
            ):
                column_recipe = replace(column_recipe, type="category")
        if column_recipe.type == "ordered category":
            values = [text for cell in encode_texts(cells)[1] if (text := cell.strip())]
            values = [text for text in dict.fromkeys(values) if text.lower() not in MISSING]
            order = complete_order(column_recipe.order or proposed_order(values), values)
            if not column_recipe.said and len(order) > len(column_recipe.order):
                # A word outside the scale, below the sampled rows.
                column_recipe = replace(column_recipe, type="category", order=(), why="")
            else:
                column_recipe = replace(column_recipe, order=order[:MAX_CATEGORIES])
        column_recipes.append(column_recipe)
        if column_recipe.type == "leave out" and column_recipe.said:
            is_changed = True
            continue
        column_notes: list[Problem] = []
        is_unchanged = column in plain and (
            column_recipe.type == "yes/no"
            or (column_recipe.type in (*NUMBERS, "place") and column_recipe.decimal == decimal)
        )
        if column not in keep and not is_unchanged:
            converted, column_notes = _convert_column(
                f"{name}, column {column}", cells, column_recipe, decimal
            )
            is_changed |= converted is not cells
            cells = converted
        out[column] = cells
        notes += column_notes
    # Building a wide table takes as long as reading it.
    if is_changed:
        frame = pd.DataFrame(out, index=range(len(frame)), dtype=TEXT)
    else:
        frame = frame.set_axis(list(out), axis=1).reset_index(drop=True)
    base = TableRecipe((0,), None, 1, None, ()) if recipe is None else recipe
    full_recipe = replace(base, columns=tuple(column_recipes))
    return Applied(frame, tuple(range(len(frame))), full_recipe, tuple(notes))


def _is_id_name(name: str) -> bool:
    lower = name.strip().lower()
    return lower == "id" or lower.endswith("_id")


def raw_data_rows(raw: RawTable, recipe: TableRecipe) -> pd.DataFrame:
    """Return the raw data rows under the column names."""
    return _data_rows(raw, recipe, column_names_of(raw.sample, recipe, []))[0]


def adapt_recipe(recipe: TableRecipe, raw: RawTable) -> TableRecipe:
    """Return a recipe adapted to another file of the same form, such as a newer version."""
    adapted, raw = propose_recipe(raw), raw.sample
    recipe_columns = {column.name: column for column in recipe.columns}
    shifted = next(
        (
            form
            for form in _shifted_recipes(recipe, raw)
            if _has_all_names(raw, form, recipe_columns)
        ),
        None,
    )
    if shifted is not None:
        adapted = replace(adapted, header=shifted.header, units=shifted.units, first=shifted.first)
        adapted = replace(adapted, last=_last_row(raw, shifted.first))
    by_name = {column.name: column for column in adapted.columns}
    names = column_names_of(raw, adapted, [])
    columns = [
        recipe_columns.get(name) or by_name.get(name) or ColumnRecipe(name, "category")
        for name in names
    ]
    return replace(adapted, columns=tuple(columns))


def _shifted_recipes(recipe: TableRecipe, raw: RawTable) -> Iterator[TableRecipe]:
    """Yield a recipe unchanged, then with its rows shifted."""
    top = min(recipe.header, default=0)
    places = sorted((line for line, _ in raw.rows[:_MAX_SHIFT_ROWS]), key=lambda at: abs(at - top))
    for by in (at - top for at in places) if recipe.header else (0,):
        yield replace(
            recipe,
            header=tuple(line + by for line in recipe.header),
            units=None if recipe.units is None else recipe.units + by,
            first=recipe.first + by,
            last=None,
        )


def _has_all_names(raw: RawTable, recipe: TableRecipe, names: Collection[str]) -> bool:
    lines = {line for line, _ in raw.rows}
    return lines.issuperset(recipe.header) and set(column_names_of(raw, recipe, [])) >= set(names)


@dataclass(frozen=True)
class Profile:
    """A summary of a column with its histogram or most frequent values.

    Attributes
    ----------
    name, type, unit : str
    n_rows, n_missing, n_distinct : int
    bins : tuple of float
        Histogram edges of numbers and dates (days since 1970), empty for other columns.
    counts : tuple of int
        Number of rows in each bin or with each of `values`.
    values : tuple of str
        The most frequent values of other columns, at most eight.
    examples : tuple of str
        Texts that count as missing, such as ``n. b.``.
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


def recipe_profiles(raw: RawTable, recipe: TableRecipe, n_bins: int = 12) -> list[Profile]:
    """Return the profile of each column read by a recipe."""
    return column_profiles(
        raw_data_rows(raw, recipe), apply_recipe(raw, recipe), raw.decimal, n_bins
    )


def column_profiles(
    frame: pd.DataFrame, applied: Applied, decimal: str, n_bins: int = 12
) -> list[Profile]:
    """Return the profile of each column of a table."""
    out = []
    for column in applied.recipe.columns:
        raw_cells = frame[column.name]
        cells = applied.frame.get(column.name, raw_cells)
        stripped = cells.str.strip()
        missing = stripped.str.lower().isin(MISSING).to_numpy(dtype=bool)
        missing_words = Counter(text.strip() for text in raw_cells[missing] if text.strip())
        profile = Profile(
            column.name,
            column.type,
            column.unit,
            len(cells),
            int(missing.sum()),
            int(stripped[~missing].nunique()),
            examples=tuple(word for word, _ in missing_words.most_common(5)),
        )
        numbers = None
        if column.type in (*NUMBERS, "date", "place"):
            inferred = infer(column.name, cells, decimal)
            if inferred.values.dtype != object:
                numbers = inferred.values[~np.isnan(inferred.values)]
        if numbers is not None and len(numbers):
            counts, edges = np.histogram(numbers, bins=n_bins)
            profile = replace(profile, bins=tuple(edges.tolist()), counts=tuple(counts.tolist()))
        else:
            top = Counter(stripped[~missing].tolist()).most_common(8)
            profile = replace(
                profile, values=tuple(v for v, _ in top), counts=tuple(n for _, n in top)
            )
        out.append(profile)
    return out


def _header_and_first_row(raw: RawTable, header: bool | None, skip: int | None) -> TableRecipe:
    """Return a recipe with the header rows, unit row and first data row."""
    rows = [row for row in raw.rows if skip is None or row[0] >= skip]
    sample = rows[: dialect.SAMPLE_ROWS]
    if not sample:
        return TableRecipe((), None, skip or 0, None, ())
    above = 0 if skip is not None or header is False else dialect.n_rows_above(sample)
    below = sample[above:]
    if not (dialect.has_header(below) if header is None else header):
        return TableRecipe((), None, below[0][0], None, ())
    header_rows = [below[0][0]]
    # Group rows are directly above the names and leave the first column empty.
    for line, cells in reversed(sample[:above]):
        filled = [cell for cell in cells if cell.strip()]
        if header_rows[0] - line != 1 or cells[0].strip() or not filled:
            break
        if any(parse(cell, raw.decimal) for cell in filled):
            break
        header_rows.insert(0, line)
    units, data = None, below[1:]
    n_word_rows = _n_explaining_rows(data, raw.decimal)
    if n_word_rows and not _is_unit_row(data[0][1], data[1:], raw.decimal):
        # Below groups with empty cells this is a second header row, else it explains the names.
        if _fills_gaps_of(below[0][1], data[0][1]):
            header_rows.append(data[0][0])
            n_word_rows = 1
        data = data[n_word_rows:]
    if len(data) > 1 and _is_unit_row(data[0][1], data[1:], raw.decimal):
        units, data = data[0][0], data[1:]
    return TableRecipe(
        tuple(header_rows), units, data[0][0] if data else below[-1][0] + 1, None, ()
    )


def _n_explaining_rows(data: Sequence[tuple[int, list[str]]], decimal: str) -> int:
    """Return the number of leading rows with words in all number columns."""
    later_rows = [cells for _, cells in data[_MAX_WORD_ROWS : _MAX_WORD_ROWS + _SAMPLE_ROWS // 5]]
    numeric_places = []
    for at in range(max(map(len, later_rows), default=0)):
        column = [row[at].strip() for row in later_rows if at < len(row) and row[at].strip()]
        numbers = sum(parse(cell, decimal) is not None for cell in column)
        if len(column) >= _MAX_WORD_ROWS and numbers > 0.8 * len(column):
            numeric_places.append(at)

    def is_words(cells: list[str]) -> bool:
        texts = [text for at in numeric_places if at < len(cells) and (text := cells[at].strip())]
        return len(texts) >= max(2, 0.8 * len(numeric_places)) and not any(
            parse(text, decimal) or _is_date(text) or text.lower() in UNKNOWN_MARKERS
            for text in texts
        )

    n_rows = 0
    while n_rows < min(_MAX_WORD_ROWS, len(data)) and is_words(data[n_rows][1]):
        n_rows += 1
    # More rows of words are data.
    return 0 if n_rows == _MAX_WORD_ROWS else n_rows


def _fills_gaps_of(above: list[str], cells: list[str]) -> bool:
    """Whether a header row leaves cells empty that the row below fills."""
    filled = [bool(cell.strip()) for cell in (*above, *[""] * (len(cells) - len(above)))]
    below = [bool(cell.strip()) for cell in cells]
    n_gaps = sum(
        is_below and not is_above for is_below, is_above in zip(below, filled, strict=False)
    )
    return n_gaps > 0 and sum(below) > sum(filled)


def _is_unit_row(cells: list[str], below: list[tuple[int, list[str]]], decimal: str) -> bool:
    filled = [(at, cell) for at, cell in enumerate(cells) if cell.strip()]
    if not filled or not all(is_unit(cell) for _, cell in filled):
        return False
    if any(parse(cell, decimal) for _, cell in filled):
        return False
    n_numeric = 0
    for at, _ in filled:
        column = [row[at].strip() for _, row in below if at < len(row) and row[at].strip()]
        numbers = sum(parse(cell, decimal) is not None for cell in column)
        n_numeric += bool(column) and numbers > 0.5 * len(column)
    return n_numeric >= max(1, 0.6 * len(filled))


def _last_row(raw: RawTable, first: int) -> int | None:
    """Return the last data row, None if it is the last of the file."""
    body = [(line, cells) for line, cells in raw.rows if line >= first]
    if len(body) < 3:
        return None
    filled = [sum(bool(cell.strip()) for cell in cells) for _, cells in body[:_SAMPLE_ROWS]]
    usual = float(np.median(filled))
    end = len(body) - _n_trailing_remarks(body, usual)
    while end > 2 and len(body) - end < _MAX_FOOTER_ROWS:
        is_separate = body[end - 1][0] - body[end - 2][0] > 1
        if not _is_footer_row(body[end - 1][1], usual, is_separate):
            break
        end -= 1
    return None if end == len(body) else body[end - 1][0]


def _n_trailing_remarks(body: Sequence[tuple[int, list[str]]], usual: float) -> int:
    """Return the number of separate last rows that only fill the first cell."""
    max_rows = min(_MAX_FOOTER_ROWS, len(body) - 2)
    n_remarks = 0
    while n_remarks < max_rows and usual >= 3:
        cells = body[-1 - n_remarks][1]
        if _last_filled(cells) != 1 or parse(cells[0]) is not None:
            break
        n_remarks += 1
    is_separate = n_remarks > 0 and body[-n_remarks][0] - body[-n_remarks - 1][0] > 1
    return n_remarks if is_separate else 0


def _is_footer_row(cells: list[str], usual: float, is_separate: bool) -> bool:
    """Whether a row is a total or a remark."""
    texts = [cell.strip() for cell in cells if cell.strip()]
    if usual < 2 or not texts or not cells[0].strip():
        return False
    words = [word for word in re.split(r"[\s/:,+]+", texts[0]) if word]
    if words and all(map(_TOTALS.fullmatch, words)):
        return True
    if len(texts) > 1:
        return False
    return bool(_NOTES.match(texts[0])) or (is_separate and usual >= 3 and parse(texts[0]) is None)


def column_names_of(raw: RawTable, recipe: TableRecipe, notes: list[Problem]) -> list[str]:
    """Return unique column names; changes are added to `notes`."""
    lines = dict(raw.rows)
    rows = [lines.get(line, []) for line in recipe.header]
    body = [cells for line, cells in raw.rows if recipe.holds(line)]
    if not rows:
        widths = Counter(map(len, body))
        return [f"column_{at + 1}" for at in range(max(widths, key=lambda w: widths[w], default=0))]
    # Ignore trailing columns without a name and cells.
    width = max(map(len, rows))
    if _last_filled(rows[-1]) < width:
        width = max(1, *(min(_last_filled(cells), width) for cells in (*rows, *body)))
    if len(rows) > 1:
        measured = _numeric_columns(raw, recipe)
        rows = [*(_spread_groups(row, width, measured) for row in rows[:-1]), rows[-1]]
    titles = []
    for at in range(width):
        parts = [row[at].strip() if at < len(row) else "" for row in rows]
        titles.append(_HEADER_SEPARATOR.join(dict.fromkeys(part for part in parts if part)))
    return unique_column_names(raw.name, _names_for_width(raw.name, titles, body, notes), notes)


def _names_for_width(
    name: str, titles: list[str], body: Sequence[list[str]], notes: list[Problem]
) -> list[str]:
    """Return as many names as the rows have cells, if it is clear how they match."""
    n, usual = len(titles), dialect.common_width(body)
    if usual is None or usual == n:
        return titles
    mismatch = f"{usual:,} cells in each row but {count(n, 'column name')}"
    check = (
        "Check that the names are above their columns, or choose under Read a file in another way"
    )
    if usual < n and max(map(len, body)) > usual:
        return titles
    if usual < n:
        notes.append(
            Problem(
                "unfilled-column",
                name,
                f"{mismatch}: the last {'is' if n - usual == 1 else f'{n - usual} are'} left out",
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
                f"{mismatch}: the first column is read as row names",
                severity="note",
            )
        )
        return ["row", *titles] if "row" not in titles else ["", *titles]
    notes.append(
        Problem(
            "names-lacking",
            name,
            f"{mismatch}: the last {'has' if usual - n == 1 else f'{usual - n} have'} none",
            remedy=f"{check} that no row names them.",
            severity="note",
        )
    )
    return [*titles, *[""] * (usual - n)]


def _is_decimal(cell: str) -> bool:
    return bool(cell) and not cell.isdigit() and parse(cell, ".") is not None


def unique_column_names(name: str, first: list[str], notes: list[Problem]) -> list[str]:
    """Return unique names without empty ones; changes are added to `notes`."""
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
                    f"the column has no name, so it is named {title}",
                    severity="note",
                )
            )
        if title in columns:
            notes.append(
                Problem(
                    "duplicate-column",
                    f"{name}, column {at + 1}",
                    "another column has the same name",
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


def _spread_groups(row: list[str], width: int, measured: set[int]) -> list[str]:
    """Return a group row with each group repeated over its columns."""
    out, group, start = [], "", 0
    for at in range(width):
        cell = row[at].strip() if at < len(row) else ""
        if cell:
            group, start = cell, at
        elif (at in measured) != (start in measured):
            group = ""
        out.append(group)
    return out


def _numeric_columns(raw: RawTable, recipe: TableRecipe) -> set[int]:
    """Return the indices of the number columns, from a sample of rows."""
    places: set[int] = set()
    body = [cells for line, cells in raw.rows if recipe.holds(line)][:200]
    for at in range(max(map(len, body), default=0)):
        cells = [row[at] for row in body if at < len(row)]
        if number_column(cells, detect_decimal(cells, raw.decimal)) is not None:
            places.add(at)
    return places


def column_units(raw: RawTable, recipe: TableRecipe) -> dict[str, str]:
    """Return the units of columns, from the unit row or the column names."""
    names = column_names_of(raw, recipe, [])
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


def _data_rows(
    raw: RawTable, recipe: TableRecipe, names: Sequence[str]
) -> tuple[pd.DataFrame, tuple[int, ...]]:
    """Return the data rows under the column names, and their row numbers."""
    if isinstance(raw.rows, FrameRows):
        body_frame, lines = raw.rows.body(recipe.holds_rows, names)
        return body_frame, tuple(lines.tolist())
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


def _title_columns(
    frame: pd.DataFrame, ids: str | None, numbers: Collection[str]
) -> tuple[str, ...]:
    """Return the title columns: given and family name if they are more distinct."""
    best = _best_title_column(frame, ids, numbers)
    both = full_name(frame.columns)
    if both is None or ids in both:
        return () if best is None else (best,)
    sample = frame.iloc[:: max(1, len(frame) // _SAMPLE_ROWS)]
    names = joined_cells(sample, both)
    has_no_other = best is None or best in both
    if _are_short_words(names.tolist()) and (
        has_no_other or names.nunique() > sample[best].nunique()
    ):
        return both
    return () if best is None else (best,)


def _are_short_words(cells: list[str]) -> bool:
    """Whether nearly all cells are short words, as names are."""
    tolerance = 0.1 * len(cells)
    if len(cells) - sum(any(map(str.isalpha, cell)) for cell in cells) > tolerance:
        return False
    numbers = sum(parse(cell) is not None or _is_date(cell) for cell in cells)
    return numbers <= tolerance and sum(map(len, cells)) <= 60 * len(cells)


def _are_words(cells: list[str]) -> bool:
    """Whether nearly all cells are words, not codes."""
    words = sum(len(re.findall(r"[^\W\d_]", cell)) >= max(4, 0.7 * len(cell)) for cell in cells)
    return words >= 0.7 * len(cells)


def _are_phrases(cells: list[str]) -> bool:
    """Whether the cells are phrases, too long for names."""
    return float(np.median([len(cell.split()) for cell in cells])) >= 4


def _best_title_column(
    frame: pd.DataFrame, ids: str | None, numbers: Collection[str]
) -> str | None:
    """Return the best title column: short texts that are mostly different."""
    best, best_merit = None, 0.0
    step = max(1, len(frame) // _SAMPLE_ROWS)
    ids_are_names = ids is not None and _are_words(frame[ids].iloc[::step].tolist())
    for at, (name, cells) in enumerate(frame.items()):
        if name == ids or name in numbers:
            continue
        sample = (cells if step == 1 else cells.iloc[::step]).tolist()
        filled = [cell for text in sample if (cell := text.strip())]
        if len(filled) < 0.9 * len(sample) or not filled:
            continue
        if not _are_short_words(filled):
            continue
        share = len(set(filled)) / len(filled)
        has_title_word = bool(set(words_of(str(name))) & _TITLE_WORDS)
        if ids_are_names and not has_title_word and _are_phrases(filled):
            continue
        merit = share + 0.3 * has_title_word - 0.001 * at
        if share >= (0.5 if has_title_word else 0.9) and merit > best_merit:
            best, best_merit = str(name), merit
    return best


def _propose_column(
    name: str, cells: pd.Series, unit: str, decimal: str, is_id: bool, is_title: bool
) -> ColumnRecipe:
    """Return the proposed type of a column, from at most 1,000 cells."""
    if is_id:
        return ColumnRecipe(name, "id", why="different in every row")
    if is_title:
        return ColumnRecipe(name, "title")
    step = max(1, len(cells) // _SAMPLE_ROWS)
    cells = cells if step == 1 else cells.iloc[::step]
    texts = cells.tolist()
    filled = [cell for text in texts if (cell := text.strip())]
    if not filled:
        return ColumnRecipe(name, "leave out", unit, why="empty")
    present = [cell for cell in filled if cell.lower() not in MISSING]
    distinct = {cell.lower() for cell in present}
    if present and all(_is_date(cell) for cell in present) and not _may_be_counts(present):
        return ColumnRecipe(name, "date")
    sign = detect_decimal(filled, decimal)
    parsed_numbers = number_column(texts, sign)
    if parsed_numbers is not None:
        words = words_of(name)
        is_place = bool((LATITUDE | LONGITUDE) & set(words)) and not parsed_numbers.others
        if is_place:
            return ColumnRecipe(name, "place", unit, sign)
        if distinct <= {"0", "1"}:
            return ColumnRecipe(name, "yes/no")
        n_others = count(sum(parsed_numbers.others.values()), "cell")
        unit = unit or parsed_numbers.unit
        if parsed_numbers.others:
            examples = ", ".join(list(parsed_numbers.others)[:3])
            why = f"{n_others} without a number: {examples}"
            return ColumnRecipe(name, "number with the rest missing", unit, sign, why=why)
        whole = all(value is None or value == round(value) for value in parsed_numbers.values)
        return ColumnRecipe(name, "whole number" if whole else "number", unit, sign)
    if present and all(_PICTURE_NAME.fullmatch(cell) for cell in present):
        return ColumnRecipe(name, "picture")
    if len(distinct) == 2 and distinct in _YES_NO:
        return ColumnRecipe(name, "yes/no")
    if separator_of(filled):
        return ColumnRecipe(name, "list")
    kind = infer(name, cells, decimal).kind
    if kind in ("text", "unique"):
        return ColumnRecipe(name, "text")
    # Longer lists are counts, not scales.
    order = natural_order(dict.fromkeys(present)) if len(distinct) <= _MAX_ORDER_VALUES else None
    why = f"has an order: {' < '.join(order[:4])}{' ...' * (len(order) > 4)}" if order else ""
    if order is not None and _order_of_scale(order):
        return ColumnRecipe(name, "ordered category", order=order, why=why)
    return ColumnRecipe(name, "category", why=why)


def find_scales(frame: pd.DataFrame) -> dict[str, tuple[str, ...]]:
    """Return the columns with words of a known scale, and their order."""
    orders = {}
    for name, cells in frame.items():
        values = [text for cell in encode_texts(cells)[1] if (text := str(cell).strip())]
        values = [text for text in dict.fromkeys(values) if text.lower() not in MISSING]
        # A column that differs in every row contains names.
        if len(values) < len(frame) and (order := _order_of_scale(values)):
            orders[str(name)] = order
    return orders


def _order_of_scale(values: Sequence[str]) -> tuple[str, ...]:
    """Return the words of a known scale in order, () for other words."""
    # Two words can be poles of anything. Months and days are cyclic.
    if not _MIN_SCALE_VALUES <= len(values) <= _MAX_ORDER_VALUES or not is_increasing(values):
        return ()
    return natural_order(values) or ()


def _propose_number_column(
    name: str, cells: pd.Series, values: Floats, unit: str, decimal: str
) -> ColumnRecipe:
    """Return the proposed type of a column of plain numbers."""
    numbers = values[~np.isnan(values)]
    if (LATITUDE | LONGITUDE) & set(words_of(name)):
        return ColumnRecipe(name, "place", unit, decimal)
    whole = bool((numbers == np.round(numbers)).all())
    if whole and _FIRST_DAY <= numbers.min() <= numbers.max() <= _LAST_DAY:
        # Such as 20231231.
        return _propose_column(name, cells, unit, decimal, is_id=False, is_title=False)
    if whole and 0 <= numbers.min() <= numbers.max() <= 1 and set(cells.tolist()) <= {"", "0", "1"}:
        return ColumnRecipe(name, "yes/no")
    return ColumnRecipe(name, "whole number" if whole else "number", unit, decimal)


def _may_be_counts(cells: Sequence[str]) -> bool:
    """Whether a few compact dates could also be counts."""
    return all(_COMPACT_DATE.fullmatch(cell) for cell in cells) and len(cells) < 3


def _is_date(cell: str) -> bool:
    return iso_date(cell, True) is not None


def iso_date(cell: str, day_first: bool = True) -> str | None:
    """Return a date as year-month-day with its time, None if the cell has no date."""
    text = cell.strip()
    if _ISO_DATE.fullmatch(text):
        return text
    match = _COMPACT_DATE.fullmatch(text)
    if match:
        return "-".join(match.groups())
    match = _DAY_MONTH_YEAR.fullmatch(text)
    if match is None:
        return None
    first, second, year, time, am_pm = match.groups()
    day, month = (int(first), int(second)) if day_first else (int(second), int(first))
    if month > 12:
        day, month = month, day
    if not (1 <= month <= 12 and 1 <= day <= 31):
        return None
    if am_pm:
        hour, minutes = time.split(":", 1)
        time = f"{int(hour) % 12 + 12 * (am_pm in 'pP'):02}:{minutes}"
    full_year = int(year) + (0 if len(year) == 4 else 2000 if int(year) < 50 else 1900)
    return f"{full_year:04}-{month:02}-{day:02}" + (f" {time.zfill(5)}" if time else "")


def _convert_column(
    where: str, cells: pd.Series, column: ColumnRecipe, decimal: str
) -> tuple[pd.Series, list[Problem]]:
    """Return the converted cells of a column, and notes."""
    if column.type in NUMBERS or column.type == "place":
        return _convert_numbers(where, cells, column, decimal)
    if column.type == "date":
        return _convert_dates(where, cells)
    if column.type in ("yes/no", "ordered category"):
        return cells.str.strip(), []
    return cells, []


def _convert_numbers(
    where: str, cells: pd.Series, column: ColumnRecipe, decimal: str
) -> tuple[pd.Series, list[Problem]]:
    if column.decimal == decimal and is_plain_numbers(cells, decimal):
        return cells, []
    texts = cells.tolist()
    parsed_numbers = number_column(texts, column.decimal, force=True)
    if parsed_numbers is None:
        message = "no cell contains a number, so all cells count as missing"
        note = Problem("no-numbers", where, message, severity="note")
        return pd.Series([""] * len(cells), index=cells.index, dtype=TEXT), [note]
    out, first = [], ""
    for text, value in zip(texts, parsed_numbers.values, strict=True):
        if value is not None:
            out.append(_plain_number(text.strip(), value, column.decimal, decimal))
            first = first or (text if out[-1] != text.strip() else "")
        else:
            # Feature extraction reports the markers for missing numbers.
            stays = text.strip().lower() in MISSING or why_unusable(text, decimal) is not None
            out.append(text if stays else "")
    notes: list[Problem] = []
    signs = [f"{parsed_numbers.unit} sign"] if parsed_numbers.unit in SYMBOL_UNITS else []
    signs += [f"unit {parsed_numbers.unit}"] if parsed_numbers.unit and not signs else []
    signs += ["thousands signs"] * parsed_numbers.grouped
    if signs:
        message = f"numbers are read without their {' and '.join(signs)}"
        notes.append(Problem("written-numbers", where, message, first, severity="note"))
    if parsed_numbers.negative:
        n_cells = count(parsed_numbers.negative, "cell")
        message = f"{n_cells} in brackets or with a trailing minus: read as negative numbers"
        notes.append(Problem("negative-numbers", where, message, severity="note"))
    n_limits = parsed_numbers.below + parsed_numbers.above
    if n_limits:
        marks = " and ".join(
            ["<"] * bool(parsed_numbers.below) + [">"] * bool(parsed_numbers.above)
        )
        message = f"{count(n_limits, 'cell')} with {marks}: the limit is used as the value"
        notes.append(Problem("limits", where, message, severity="note"))
    words = {
        word: n
        for word, n in parsed_numbers.others.items()
        if word.lower() not in MISSING and why_unusable(word, decimal) is None
    }
    if words:
        examples = ", ".join(f"{word} ({n:,})" for word, n in list(words.items())[:4])
        message = f"{count(sum(words.values()), 'cell')} without a number treated as missing"
        notes.append(Problem("words-for-missing", where, message, examples, severity="note"))
    return pd.Series(out, index=cells.index, dtype=TEXT), notes


def _plain_number(text: str, value: float, sign: str, decimal: str) -> str:
    """Return a number as plain text, with its original digits where possible."""
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


def _without_offsets(times: list[str]) -> tuple[list[str], str]:
    """Return times without UTC offset, converted to UTC if offsets differ."""
    zones = {match[2] for text in times if (match := _UTC_OFFSET.search(text))}
    if not zones:
        return times, ""
    if len(zones) == 1 and all(_UTC_OFFSET.search(text) for text in times if text):
        return [_UTC_OFFSET.sub(r"\1", text) for text in times], f"UTC{zones.pop()}"
    return [_to_utc(text) for text in times], "UTC"


def _to_utc(text: str) -> str:
    if not _UTC_OFFSET.search(text):
        return text
    try:
        moment = datetime.fromisoformat(text.replace(" +", "+").replace(" -", "-"))
    except ValueError:
        return ""
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat(" ")


def _convert_dates(where: str, cells: pd.Series) -> tuple[pd.Series, list[Problem]]:
    # Most date columns contain repeated days.
    codes, distinct = encode_texts(cells)
    texts = [cell.strip() for cell in distinct]
    firsts = [int(match[1]) for text in texts if (match := _DAY_MONTH_YEAR.fullmatch(text))]
    seconds = [int(match[2]) for text in texts if (match := _DAY_MONTH_YEAR.fullmatch(text))]
    day_first = not (max(seconds, default=0) > 12 >= max(firsts, default=0))
    if max(seconds, default=0) <= 12 and max(firsts, default=0) <= 12:
        # AM/PM implies month first.
        day_first = not any(text.lower().rstrip(".").endswith("m") for text in texts)
    iso_dates = [iso_date(text, day_first) or "" for text in texts]
    iso_dates, zone = _without_offsets(iso_dates)
    dates = np.array([*iso_dates, ""], dtype=object)
    unreadable = [at for at, text in enumerate(texts) if text and not dates[at]]
    notes = []
    if zone:
        notes.append(Problem("time-zone", where, f"times are in {zone}", severity="note"))
    if unreadable:
        n_cells = count(int(np.isin(codes, unreadable).sum()), "cell")
        message = f"{n_cells} without a date treated as missing"
        notes.append(
            Problem("words-for-missing", where, message, texts[unreadable[0]][:60], severity="note")
        )
    return pd.Series(dates[codes], index=cells.index, dtype=TEXT), notes
