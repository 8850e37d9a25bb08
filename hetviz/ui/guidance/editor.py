"""Editable tables that keep their scroll position, each edit becomes one command."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

import pandas as pd
import streamlit as st

from hetviz.ui.shell.page_state import state_of

ROW_HEIGHT = 36
_HEAD_HEIGHT = 35

CellChanges = dict[str, dict[str, Any]]


@dataclass(frozen=True, eq=False)
class TableState:
    """Data of a table on the page.

    `base` is what the browser got, `current` the same with the browser's edits carried out, and
    `version` is raised when the two differ, so that the browser shows a new table.
    """

    base: pd.DataFrame
    current: pd.DataFrame
    version: int


@dataclass
class Tables:
    """Tables on the page, by name."""

    shown: dict[str, TableState] = field(default_factory=dict)


def show_table(
    name: str,
    frame: pd.DataFrame,
    columns: Mapping[str, Any],
    editable: Collection[str],
    save: Callable[[CellChanges], object],
    max_rows: int,
    alt: str,
) -> None:
    """Show a table; `save` gets key to column to new value when cells change."""
    table_state = state_of(Tables).shown.get(name)
    if table_state is None or not _are_equal(
        with_edits(table_state.base, _browser_edits(name, table_state.version)), frame
    ):
        # A new version, as the browser would apply its edits to other rows.
        table_state = TableState(
            frame, frame, 0 if table_state is None else table_state.version + 1
        )
    state_of(Tables).shown[name] = TableState(table_state.base, frame, table_state.version)
    st.data_editor(
        table_state.base,
        key=f"{name}-{table_state.version}",
        hide_index=True,
        column_order=list(columns),
        column_config=dict(columns),
        disabled=[column for column in frame.columns if column not in editable],
        row_height=ROW_HEIGHT,
        height=_HEAD_HEIGHT + ROW_HEIGHT * min(max(len(frame), 1), max_rows),
        on_change=_on_edit,
        args=(name, save),
        alt=alt,
    )


def clicked_key(name: str, button: str) -> str | None:
    """Return the key of the row whose button was clicked, for its callback."""
    table_state = state_of(Tables).shown.get(name)
    click = st.session_state.get(button)
    if table_state is None or click is None or not 0 <= click["row"] < len(table_state.base):
        return None
    return str(table_state.base.index[click["row"]])


def with_edits(base: pd.DataFrame, edits: Mapping[int, Mapping[str, Any]]) -> pd.DataFrame:
    """Return a frame with the edited cells; an emptied text cell is ``""``."""
    edited = base.copy()
    for row, cells in edits.items():
        for column, value in cells.items():
            if column in edited.columns and 0 <= int(row) < len(edited):
                is_number = pd.api.types.is_numeric_dtype(edited[column])
                empty = float("nan") if is_number else ""
                new_value = empty if value is None else float(value) if is_number else value
                edited.at[edited.index[int(row)], column] = new_value
    return edited


def changed_cells(current: pd.DataFrame, edited: pd.DataFrame) -> CellChanges:
    """Return the cells that differ in two frames: key to column to new value."""
    cells: CellChanges = {}
    for column in current.columns:
        differs = (current[column] != edited[column]) & ~(
            current[column].isna() & edited[column].isna()
        )
        for key in current.index[differs.to_numpy(dtype=bool)]:
            cells.setdefault(str(key), {})[column] = edited.at[key, column]
    return cells


def _on_edit(name: str, save: Callable[[CellChanges], object]) -> None:
    table_state = state_of(Tables).shown[name]
    cells = changed_cells(
        table_state.current, with_edits(table_state.base, _browser_edits(name, table_state.version))
    )
    if cells:
        save(cells)


def _browser_edits(name: str, version: int) -> Mapping[int, Mapping[str, object]]:
    editor = st.session_state.get(f"{name}-{version}")
    return {} if editor is None else editor["edited_rows"]


def _are_equal(first: pd.DataFrame, second: pd.DataFrame) -> bool:
    return bool(first.index.equals(second.index)) and bool(first.equals(second))
