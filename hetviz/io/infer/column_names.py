"""Column names and units from the header rows of a table."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from hetviz._text import count
from hetviz.errors import Problem
from hetviz.features.columns.number_parsing import detect_decimal, is_unit, number_column, parse
from hetviz.io.infer import dialect
from hetviz.io.infer.raw_rows import RawTable
from hetviz.io.infer.recipe import TableRecipe

_HEADER_SEPARATOR = " / "
# What survey tools write below a question without offered answers.
NO_ANSWER = frozenset({"response", "open-ended response"})


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
    if last_filled(rows[-1]) < width:
        width = max(1, *(min(last_filled(cells), width) for cells in (*rows, *body)))
    if len(rows) > 1:
        measured = _numeric_columns(raw, recipe)
        rows = [*(_spread_groups(row, width, measured) for row in rows[:-1]), rows[-1]]
    titles = []
    for at in range(width):
        parts = [row[at].strip() if at < len(row) else "" for row in rows]
        if any(parts[:-1]) and parts[-1].lower() in NO_ANSWER:
            parts[-1] = ""
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
    if max(map(last_filled, body)) <= n:
        return titles
    fitting = [cells for cells in body if len(cells) == usual]
    if any(cell[:1] == " " for cells in fitting for cell in cells[1:]):
        return titles
    first = [cells[0].strip() for cells in fitting]
    # Ids that have a name are no names of rows.
    has_id = titles[0].strip().lower() in ("id", "key", "uid")
    are_row_names = len(set(first)) == len(first) and not any(map(_is_decimal, first))
    if usual == n + 1 and are_row_names and not has_id:
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


def last_filled(cells: Sequence[str]) -> int:
    """Return the number of cells up to the last filled one."""
    return next((at for at in range(len(cells), 0, -1) if cells[at - 1].strip()), 0)
