"""Recipes for reading a table: its header, unit and data rows, and the type of each column.

Recipes are plain data (`TableRecipe.to_dict`, `TableRecipe.from_dict`) and are saved with the
project (``Choices.recipes``, one per sheet or file).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hetviz._types import Bools, Ints, JsonObject
from hetviz.errors import DataError, Problem

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
SAMPLE_ROWS = 1_000


@dataclass(frozen=True)
class ColumnRecipe:
    """The type of one column."""

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

    `header`: The rows of column names, joined as in "Messwerte / Nitrat". Without them, columns are
        named column_1, column_2 and so on.
    `last`: The last row of data; None for the end of the file.
    """

    header: tuple[int, ...]
    units: int | None
    first: int
    last: int | None
    columns: tuple[ColumnRecipe, ...]

    def to_dict(self) -> JsonObject:
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
            raise DataError.of("bad-recipe", "recipe", message, str(fields)[:60]) from None
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
        return next(column for column in self.columns if column.name == name)

    def of_type(self, *types: str) -> tuple[str, ...]:
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
