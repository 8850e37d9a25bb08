"""Tables of the open datasets: a tab each, with column summaries and the first and last rows."""

from __future__ import annotations

from typing import Any

import pandas as pd

from hetviz._pandas import is_missing
from hetviz.data import Dataset, HeteroData
from hetviz.io.infer.profiles import MAX_SAMPLE_ROWS, profiles_of
from hetviz.plots.colour import display_name
from hetviz.plots.palette import shape_of
from hetviz.ui.item import pictures
from hetviz.ui.reading import sheets
from hetviz.ui.shell import session
from hetviz.ui.shell.page_state import project_id
from hetviz.workspace import State

_FIRST_ROWS, _LAST_ROWS = 8, 1
# Further columns are listed on the dataset card only.
_MAX_COLUMNS = 300
_MAX_TABS = 60
_MAX_CELL_CHARS = 80
_KIND_NAMES = {"unique": "text", "constant": "one value", "empty": "empty"}


def show_tables(state: State) -> None:
    """Show a tab for each dataset, with its columns and its first and last rows."""
    data = state.opened()
    names = list(data.datasets)[:_MAX_TABS]
    # One cache entry for all, as a session caches only a few.
    cached = session.get_or_compute(
        ("open-tables", id(data)), data, lambda: {name: _sheet_of(data[name]) for name in names}
    )
    described = [
        _sheet_of_session(data, name, number, cached[name]) for number, name in enumerate(names)
    ]
    sheets.draw_sheets("open-tables", {"sheets": described, "types": [], "can_undo": False})


def _sheet_of_session(
    data: HeteroData, name: str, number: int, sheet: dict[str, Any]
) -> dict[str, Any]:
    sid = project_id()

    def faced(table_rows: list[list[Any]]) -> list[list[Any]]:
        return [[*row, pictures.picture_address(sid, data, name, row[0])] for row in table_rows]

    return sheet | {
        "key": name,
        "title": name,
        "glyph": shape_of(number)[1],
        "above": faced(sheet["above"]),
        "below": faced(sheet["below"]),
    }


def _sheet_of(dataset: Dataset) -> dict[str, object]:
    table = pd.DataFrame() if dataset.table is None else dataset.table
    names = [str(column) for column in table.columns]
    id_column = next((c for c in names if list(table[c].head(50)) == list(dataset.ids[:50])), None)
    columns_shown = names[: _MAX_COLUMNS - 1]
    columns = [
        _column_info(dataset, profile.name, profile.type, id_column)
        | sheets.chart_data(profile, profile.type == "date")
        for profile in profiles_of(dataset, columns_shown)
    ]
    if id_column is None:
        columns.insert(0, _id_column(len(dataset)))
    n = len(dataset)
    first_below = max(_FIRST_ROWS, n - _LAST_ROWS)

    def rows(start: int, stop: int) -> list[list[Any]]:
        lines = []
        for row in range(start, min(stop, n)):
            cells = [_cell_text(table[name].iloc[row]) for name in columns_shown]
            lines.append(
                [
                    row,
                    cells
                    if id_column is not None
                    else [str(dataset.ids[row])[:_MAX_CELL_CHARS], *cells],
                ]
            )
        return lines

    sampled = n > MAX_SAMPLE_ROWS
    title = dataset.title_column
    return {
        "opened": True,
        "size": f"{n:,} × {len(names) + (id_column is None):,}",
        "note": f"named by {display_name(title)}" if title else "named by id",
        "rows_note": f"of a sample of {-(-n // -(-n // MAX_SAMPLE_ROWS)):,} rows"
        if sampled
        else "",
        "n_columns": len(names) + (id_column is None),
        "n_data": n,
        "columns": columns,
        "above": rows(0, _FIRST_ROWS),
        "below": rows(first_below, n),
        "between": max(0, first_below - _FIRST_ROWS),
    }


def _column_info(
    dataset: Dataset, name: str, kind: str, id_column: str | None
) -> dict[str, object]:
    is_title = name == dataset.title_column
    short = "id" if name == id_column else "title" if is_title else _KIND_NAMES.get(kind, kind)
    unit = dataset.units.get(name, "")
    return {
        "name": display_name(name),
        "raw": name,
        "type": kind,
        "short": f"{short}, {unit}" if unit else short,
        "unit": unit,
        "why": "",
        "order": [],
    }


def _id_column(n: int) -> dict[str, object]:
    return {
        "name": "Id",
        "raw": "id",
        "type": "id",
        "short": "id",
        "unit": "",
        "why": "",
        "order": [],
        "missing": 0,
        "distinct": n,
        "n": n,
        "range": None,
        "counts": [],
        "bars": True,
        "top": [],
    }


def _cell_text(value: object) -> str | None:
    if is_missing(value):
        return None
    if isinstance(value, float):
        return f"{value:.6g}" if abs(value) < 1e15 else str(value)
    return str(value)[:_MAX_CELL_CHARS]
