"""A table that is edited in place and does not jump: what is changed in it becomes one command."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd
import streamlit as st

ROW_HEIGHT = 36
_HEAD = 35

Changes = dict[str, dict[str, Any]]


@dataclass(frozen=True, eq=False)
class Shown:
    """What a table was last given.

    Attributes
    ----------
    base : DataFrame
        What the browser got, before the edits that it holds itself.
    now : DataFrame
        What is true; the same once those edits are carried out.
    turn : int
        Raised whenever the two differ: another turn is another table in the browser.
    """

    base: pd.DataFrame
    now: pd.DataFrame
    turn: int


def table(
    name: str,
    frame: pd.DataFrame,
    columns: Mapping[str, Any],
    editable: Collection[str],
    save: Callable[[Changes], object],
    most_rows: int,
    alt: str,
) -> None:
    """Show a table.

    Parameters
    ----------
    name : str
        Of the table, unlike all others.
    frame : DataFrame
        Indexed by the key of each row.
    columns : mapping
        Column to its configuration, in the order shown.
    editable : collection of str
    save : callable
        Is given key to column to new value, as the visitor changes cells.
    most_rows : int
        Rows seen at once; the others are scrolled to.
    alt : str
        What it shows, for who cannot see it.
    """
    shown: Shown | None = st.session_state.get(f"{name}-shown")
    if shown is None or not _same(overlaid(shown.base, _edits(name, shown.turn)), frame):
        # The browser's own edits would be laid over rows that they were not made in.
        shown = Shown(frame, frame, 0 if shown is None else shown.turn + 1)
    st.session_state[f"{name}-shown"] = Shown(shown.base, frame, shown.turn)
    st.data_editor(
        shown.base,
        key=f"{name}-{shown.turn}",
        hide_index=True,
        column_order=list(columns),
        column_config=dict(columns),
        disabled=[column for column in frame.columns if column not in editable],
        row_height=ROW_HEIGHT,
        height=_HEAD + ROW_HEIGHT * min(max(len(frame), 1), most_rows),
        on_change=_edited,
        args=(name, save),
        alt=alt,
    )


def clicked(name: str, button: str) -> str | None:
    """Return the key of the row in which a button was clicked; for its callback."""
    shown: Shown | None = st.session_state.get(f"{name}-shown")
    click = st.session_state.get(button)
    if shown is None or click is None or not 0 <= click["row"] < len(shown.base):
        return None
    return str(shown.base.index[click["row"]])


def overlaid(base: pd.DataFrame, edits: Mapping[int, Mapping[str, Any]]) -> pd.DataFrame:
    """Return a frame with the cells that were edited; a cell emptied of its text is ``""``."""
    out = base.copy()
    for row, cells in edits.items():
        for column, value in cells.items():
            if column in out.columns and 0 <= int(row) < len(out):
                number = pd.api.types.is_numeric_dtype(out[column])
                empty = float("nan") if number else ""
                new = empty if value is None else float(value) if number else value
                out.at[out.index[int(row)], column] = new
    return out


def changes(now: pd.DataFrame, wanted: pd.DataFrame) -> Changes:
    """Return key to column to new value of cells that differ in two frames of the same keys."""
    found: Changes = {}
    for column in now.columns:
        differs = (now[column] != wanted[column]) & ~(now[column].isna() & wanted[column].isna())
        for key in now.index[differs.to_numpy(dtype=bool)]:
            found.setdefault(str(key), {})[column] = wanted.at[key, column]
    return found


def _edited(name: str, save: Callable[[Changes], object]) -> None:
    shown: Shown = st.session_state[f"{name}-shown"]
    found = changes(shown.now, overlaid(shown.base, _edits(name, shown.turn)))
    if found:
        save(found)


def _edits(name: str, turn: int) -> Mapping[int, Mapping[str, object]]:
    held = st.session_state.get(f"{name}-{turn}")
    return {} if held is None else held["edited_rows"]


def _same(first: pd.DataFrame, second: pd.DataFrame) -> bool:
    return bool(first.index.equals(second.index)) and bool(first.equals(second))
