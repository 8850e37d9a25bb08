"""Interactive tables that show dropped files as raw rows and as they are read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import streamlit as st

from hetviz._text import join_words
from hetviz.features.columns.types import MISSING
from hetviz.io.bundle.statements import statement_form
from hetviz.io.infer.profiles import Profile
from hetviz.io.infer.recipe import TYPES, ColumnRecipe, TableRecipe
from hetviz.io.infer.rows import ROW_MARKS, mark_row
from hetviz.io.intake.preview import TablePreview

_HERE = Path(__file__).parent
# Limit of columns sent to the browser, which shows them in pages.
_MAX_COLUMNS = 2_000
_ROWS_ABOVE = 40
_ROWS_BELOW = 6
_SHORT_TYPES = {"number with the rest missing": "number", "key of another table": "key"}

RecipeEdit = Callable[[TableRecipe], TableRecipe]
OnRecipeEdit = Callable[[TablePreview, RecipeEdit | None], None]


def draw_sheets(
    key: str, data: Mapping[str, object], on_action: Callable[[], None] | None = None
) -> None:
    """Draw tables of dropped files, or read-only tables of open datasets."""
    st.components.v2.component(
        "hetviz_sheets",
        html='<div class="hv-sheets"></div>',
        css=(_HERE / "sheets.css").read_text(encoding="utf-8"),
        js=(_HERE / "sheets.js").read_text(encoding="utf-8"),
    )(key=key, data=data, on_act_change=on_action or _ignore_action)


def show_sheets(
    looks: Sequence[TablePreview],
    choices: Mapping[str, Mapping[str, object]],
    can_undo: bool,
    on_edit: OnRecipeEdit,
    on_undo: Callable[[], None],
    roles: Mapping[str, str] | None = None,
) -> None:
    """Show the tables; `on_edit` gets a look and an edit of its recipe, or None to reset it."""
    sheets = [
        _sheet_info(look, bool(_recipe_choice(choices, look)), _role_of(look, choices, roles or {}))
        for look in looks
    ]

    def send_action() -> None:
        apply_action(looks, st.session_state["sheets"].act, on_edit, on_undo)

    types = list(map(list, TYPES.items()))
    data = {"sheets": sheets, "types": types, "can_undo": can_undo}
    draw_sheets(key="sheets", data=data, on_action=send_action)


def _ignore_action() -> None:
    """Do nothing, as tables of open datasets are read-only."""


def apply_action(
    looks: Sequence[TablePreview],
    action: object,
    on_edit: OnRecipeEdit,
    on_undo: Callable[[], None],
) -> None:
    """Apply an action from the browser, ignoring invalid ones."""
    if not isinstance(action, Mapping):
        return
    if action.get("do") == "undo":
        on_undo()
        return
    look = next((look for look in looks if _sheet_key(look) == action.get("key")), None)
    if look is None:
        return
    names = {column.name for column in look.recipe.columns}
    match action:
        case {"do": "reset"}:
            on_edit(look, None)
        case {"do": "mark", "mark": str(mark), "line": int(line)} if mark in ROW_MARKS and any(
            line == row for row, _ in look.rows
        ):
            on_edit(look, lambda recipe: mark_row(look.raw, recipe, mark, line))
        case {"do": "type", "column": str(column), "type": str(kind)} if (
            column in names and kind in TYPES
        ):
            on_edit(
                look, lambda recipe: _with_columns(recipe, look, [column]).with_type(column, kind)
            )
        case {"do": "order", "column": str(column), "order": list(order)} if sorted(
            map(str, order)
        ) == sorted(_order_of(look, column)):
            on_edit(
                look,
                lambda recipe: _with_columns(recipe, look, [column]).with_order(column, *order),
            )
        case {"do": "ids", "columns": list(columns)} if not look.has_id and names.issuperset(
            map(str, columns)
        ):
            on_edit(look, lambda recipe: _with_columns(recipe, look, columns).with_ids(*columns))


def _with_columns(recipe: TableRecipe, look: TablePreview, names: Sequence[str]) -> TableRecipe:
    """Return a recipe that has these columns, as an edited one may not have them yet."""
    present = {column.name for column in recipe.columns}
    missing = [
        candidate
        for candidate in look.recipe.columns
        if candidate.name in names and candidate.name not in present
    ]
    return replace(recipe, columns=(*recipe.columns, *missing))


def _order_of(look: TablePreview, name: str) -> tuple[str, ...]:
    """Return the ordered values of an ordered category, nothing for other columns."""
    return next((column.order for column in look.recipe.columns if column.name == name), ())


def _sheet_key(look: TablePreview) -> str:
    return look.name


def _recipe_choice(choices: Mapping[str, Mapping[str, Any]], look: TablePreview) -> object:
    return choices.get(look.file, {}).get("recipes", {}).get(look.sheet)


def _role_of(
    look: TablePreview, choices: Mapping[str, Mapping[str, object]], roles: Mapping[str, str]
) -> str:
    """Return the role of a table, guessed from its columns until it is read."""
    chosen = choices.get(look.file, {}).get("role")
    guessed = statement_form(column.name for column in look.recipe.columns)
    return roles.get(look.name) or str(chosen or guessed or "dataset")


def _sheet_info(look: TablePreview, changed: bool, role: str) -> dict[str, object]:
    recipe = look.recipe
    columns = recipe.columns[:_MAX_COLUMNS]
    # The last rows of the file and of the data are always shown.
    lines = [line for line, _ in look.rows]
    n_below = min(_ROWS_BELOW, max(0, len(lines) - _ROWS_ABOVE))
    above, below = look.rows[: min(_ROWS_ABOVE, len(lines))], look.rows[len(lines) - n_below :]
    n_before = sum(line < recipe.first for line, _ in above)
    ids = (
        f"ids from {join_words(list(look.id_from))}" if look.id_from else "row numbers are the ids"
    )
    has_items = role not in ("links", "comparisons")
    return {
        "key": _sheet_key(look),
        "items": has_items,
        "title": look.sheet or look.file,
        "size": f"{look.n_data:,} × {look.n_columns:,}",
        "note": ids if has_items else f"becomes {role}",
        "has_rows": look.has_rows,
        "rows_note": f"{look.n_rows:,} rows in the file",
        "n_columns": look.n_columns,
        "n_data": look.n_data,
        "header": list(recipe.header) if look.has_rows else [0],
        "units": recipe.units,
        "first": recipe.first,
        "first_at": n_before,
        "last": recipe.last,
        "above": _clipped(above),
        "below": _clipped(below),
        "between": look.n_rows - len(above) - len(below),
        "columns": [
            _column_info(column, profile)
            for column, profile in zip(columns, look.profiles, strict=False)
        ],
        "ids": [
            {
                "columns": list(column.columns),
                "words": column.words + (" of a sample" if column.n_rows < look.n_data else ""),
                "fits": column.fits,
            }
            for column in look.ids[:_MAX_COLUMNS]
        ],
        "id": list(look.id_from),
        "has_id": look.has_id,
        "preview": [
            [line, [_cell_text(row, column) for column in columns]] for line, row in look.preview
        ],
        "changed": changed,
    }


def _clipped(rows: Sequence[tuple[int, Sequence[str]]]) -> list[object]:
    return [[line, [cell[:80] for cell in cells[:_MAX_COLUMNS]]] for line, cells in rows]


def _cell_text(row: Mapping[str, str], column: ColumnRecipe) -> str | None:
    text = row.get(column.name)
    if text is None:
        return None
    return "" if text.strip().lower() in MISSING else text[:80]


def _is_type_hint(column: ColumnRecipe) -> bool:
    """Return whether the reason of a column's type suggests another type."""
    is_key = bool(column.of) and column.type != "key of another table"
    return is_key or (column.type == "category" and bool(column.why))


def _column_info(column: ColumnRecipe, profile: Profile) -> dict[str, object]:
    kind = _SHORT_TYPES.get(column.type, column.type)
    short = f"{kind}, {column.unit}" if column.unit else kind
    return {
        "name": column.name,
        "type": column.type,
        "meaning": TYPES[column.type],
        "short": short,
        "unit": column.unit,
        "why": column.why if _is_type_hint(column) else "",
        "order": list(column.order) if column.type == "ordered category" else [],
        "is_chosen": column.said,
        **chart_data(profile, is_date=column.type == "date"),
    }


def chart_data(profile: Profile, is_date: bool) -> dict[str, object]:
    """Return the data of the small chart above a column."""
    is_number = bool(profile.bins)
    return {
        "missing": profile.n_missing,
        "distinct": profile.n_distinct,
        "n": profile.n_rows,
        "range": [profile.bins[0], profile.bins[-1]] if is_number and not is_date else None,
        "counts": list(profile.counts),
        "bars": not is_number,
        "top": [value[:60] for value in profile.values],
    }
