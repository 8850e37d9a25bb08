"""The reading screen: the tables of dropped files as they stand and as they are read, to change."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import streamlit as st

from hetviz._text import listed
from hetviz.features.columns.types import MISSING
from hetviz.io.bundle.statements import said_by
from hetviz.io.infer.recipe import MARKS, TYPES, ColumnRecipe, Profile, Recipe, marked
from hetviz.io.intake.looking import Look

_HERE = Path(__file__).parent
# More are not sent; the browser shows them in parts, and finds them by name.
_COLUMNS = 2_000
_ABOVE = 40
_BELOW = 6
_SHORT = {"number with the rest missing": "number", "key of another table": "key"}

Edit = Callable[[Recipe], Recipe]
Change = Callable[[Look, Edit | None], None]


def draw(key: str, data: Mapping[str, object], told: Callable[[], None] | None = None) -> None:
    """Draw tables: dropped ones, to change how they are read, or those of a project."""
    st.components.v2.component(
        "hetviz_sheets",
        html='<div class="hv-sheets"></div>',
        css=(_HERE / "sheets.css").read_text(encoding="utf-8"),
        js=(_HERE / "sheets.js").read_text(encoding="utf-8"),
    )(key=key, data=data, on_act_change=told or _nothing)


def show(
    looks: Sequence[Look],
    said: Mapping[str, Mapping[str, object]],
    can_undo: bool,
    change: Change,
    undo: Callable[[], None],
    roles: Mapping[str, str] | None = None,
) -> None:
    """Show the tables.

    Parameters
    ----------
    looks : sequence of Look
    said : mapping of file name to mapping
        What was said of the files.
    can_undo : bool
    change : callable
        Gets a look and what is to be changed in how its table is read, None for as proposed.
    undo : callable
        Takes back what was said last.
    roles : mapping of str to str, optional
        What tables were taken for, by their names, once they have been read.
    """
    sheets = [
        _described(look, bool(_recipes(said, look)), _role(look, said, roles or {}))
        for look in looks
    ]

    def act() -> None:
        acted(looks, st.session_state["sheets"].act, change, undo)

    types = list(map(list, TYPES.items()))
    draw("sheets", {"sheets": sheets, "types": types, "can_undo": can_undo}, act)


def _nothing() -> None:
    """Tables of a project tell nothing: they were read."""


def acted(looks: Sequence[Look], act: object, change: Change, undo: Callable[[], None]) -> None:
    """Do what was asked for in the browser; what means nothing is passed over."""
    if not isinstance(act, Mapping):
        return
    if act.get("do") == "undo":
        undo()
        return
    look = next((look for look in looks if _key(look) == act.get("key")), None)
    if look is None:
        return
    names = {column.name for column in look.recipe.columns}
    match act:
        case {"do": "reset"}:
            change(look, None)
        case {"do": "mark", "mark": str(mark), "line": int(line)} if mark in MARKS and any(
            line == at for at, _ in look.rows
        ):
            change(look, lambda recipe: marked(look.raw, recipe, mark, line))
        case {"do": "type", "column": str(column), "type": str(kind)} if (
            column in names and kind in TYPES
        ):
            change(look, lambda recipe: _with(recipe, look, [column]).with_type(column, kind))
        case {"do": "order", "column": str(column), "order": list(order)} if sorted(
            map(str, order)
        ) == sorted(_order(look, column)):
            change(look, lambda recipe: _with(recipe, look, [column]).with_order(column, *order))
        case {"do": "ids", "columns": list(columns)} if not look.has_id and names.issuperset(
            map(str, columns)
        ):
            change(look, lambda recipe: _with(recipe, look, columns).with_ids(*columns))


def _with(recipe: Recipe, look: Look, names: Sequence[str]) -> Recipe:
    """Return a recipe that has these columns: one that was just said may not have them yet."""
    there = {column.name for column in recipe.columns}
    new = [one for one in look.recipe.columns if one.name in names and one.name not in there]
    return replace(recipe, columns=(*recipe.columns, *new))


def _order(look: Look, name: str) -> tuple[str, ...]:
    """Return the values of an ordered category in their order; nothing of other columns."""
    return next((one.order for one in look.recipe.columns if one.name == name), ())


def _key(look: Look) -> str:
    return look.name


def _recipes(said: Mapping[str, Mapping[str, Any]], look: Look) -> object:
    return said.get(look.file, {}).get("recipes", {}).get(look.sheet)


def _role(look: Look, said: Mapping[str, Mapping[str, object]], roles: Mapping[str, str]) -> str:
    """Return what a table was taken for; before it was read, what its columns say."""
    chosen = said.get(look.file, {}).get("role")
    seen = said_by(one.name for one in look.recipe.columns)
    return roles.get(look.name) or str(chosen or seen or "dataset")


def _described(look: Look, changed: bool, role: str) -> dict[str, object]:
    recipe = look.recipe
    columns = recipe.columns[:_COLUMNS]
    # The last rows of all, and the last of data, are never left out.
    lines = [line for line, _ in look.rows]
    n_below = min(_BELOW, max(0, len(lines) - _ABOVE))
    above, below = look.rows[: min(_ABOVE, len(lines))], look.rows[len(lines) - n_below :]
    before = sum(line < recipe.first for line, _ in above)
    ids = f"ids from {listed(list(look.id_from))}" if look.id_from else "row numbers are the ids"
    items = role not in ("links", "comparisons")
    return {
        "key": _key(look),
        "items": items,
        "title": look.sheet or look.file,
        "size": f"{look.n_data:,} × {look.n_columns:,}",
        "told": ids if items else f"becomes {role}",
        "has_rows": look.has_rows,
        "rows_told": f"{look.n_rows:,} rows in the file",
        "n_columns": look.n_columns,
        "n_data": look.n_data,
        "header": list(recipe.header) if look.has_rows else [0],
        "units": recipe.units,
        "first": recipe.first,
        "first_at": before,
        "last": recipe.last,
        "above": _cut(above),
        "below": _cut(below),
        "between": look.n_rows - len(above) - len(below),
        "columns": [
            _column(one, about) for one, about in zip(columns, look.profiles, strict=False)
        ],
        "ids": [
            {
                "columns": list(one.columns),
                "words": one.words + (" of a sample" if one.n_rows < look.n_data else ""),
                "fits": one.fits,
            }
            for one in look.ids[:_COLUMNS]
        ],
        "id": list(look.id_from),
        "has_id": look.has_id,
        "preview": [[line, [_cell(row, one) for one in columns]] for line, row in look.preview],
        "changed": changed,
    }


def _cut(rows: Sequence[tuple[int, Sequence[str]]]) -> list[object]:
    return [[line, [cell[:80] for cell in cells[:_COLUMNS]]] for line, cells in rows]


def _cell(row: Mapping[str, str], column: ColumnRecipe) -> str | None:
    found = row.get(column.name)
    if found is None:
        return None
    return "" if found.strip().lower() in MISSING else found[:80]


def _is_hint(column: ColumnRecipe) -> bool:
    """Whether why a type was proposed tells of another that it could be."""
    is_key = bool(column.of) and column.type != "key of another table"
    return is_key or (column.type == "category" and bool(column.why))


def _column(column: ColumnRecipe, about: Profile) -> dict[str, object]:
    kind = _SHORT.get(column.type, column.type)
    short = f"{kind}, {column.unit}" if column.unit else kind
    return {
        "name": column.name,
        "type": column.type,
        "meaning": TYPES[column.type],
        "short": short,
        "unit": column.unit,
        "why": column.why if _is_hint(column) else "",
        "order": list(column.order) if column.type == "ordered category" else [],
        "said": column.said,
        **pictured(about, is_date=column.type == "date"),
    }


def pictured(about: Profile, is_date: bool) -> dict[str, object]:
    """Return what the small picture over a column shows."""
    is_number = bool(about.bins)
    return {
        "missing": about.n_missing,
        "distinct": about.n_distinct,
        "n": about.n_rows,
        "range": [about.bins[0], about.bins[-1]] if is_number and not is_date else None,
        "counts": list(about.counts),
        "bars": not is_number,
        "top": [value[:60] for value in about.values],
    }
