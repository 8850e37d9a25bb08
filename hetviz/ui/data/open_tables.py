"""The tables of the open data, as the reading screen shows dropped ones: tabs, columns, rows."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from hetviz._pandas import is_missing
from hetviz.data import Dataset, HeteroData
from hetviz.io.infer.opened import SAMPLE, profiles_of
from hetviz.plots.colour import spoken
from hetviz.plots.palette import shape_of
from hetviz.ui.data import sheets
from hetviz.ui.map import pictures
from hetviz.ui.shell import session
from hetviz.workspace import State

_ABOVE, _BELOW = 8, 1
# More are not sent: their names are on the card below, with what features are made of them.
_COLUMNS = 300
_TABS = 60
_LONG = 80
_KINDS = {"unique": "text", "constant": "one value", "empty": "nothing"}


def show(state: State) -> None:
    """Show a tab for each dataset: what its columns hold, its first rows and its last."""
    data = state.opened()
    names = list(data.datasets)[:_TABS]
    # One entry for all: what is kept for a session are a few things.
    made = session.cached(
        ("open-tables", id(data)), data, lambda: {name: _sheet(data[name]) for name in names}
    )
    told = [_described(data, name, place, made[name]) for place, name in enumerate(names)]
    sheets.draw("open-tables", {"sheets": told, "types": [], "can_undo": False})


def _described(data: HeteroData, name: str, place: int, sheet: dict[str, Any]) -> dict[str, Any]:
    sid = str(st.session_state["sid"])

    def faced(rows: list[list[Any]]) -> list[list[Any]]:
        return [[*row, pictures.address(sid, data, name, row[0])] for row in rows]

    return sheet | {
        "key": name,
        "title": name,
        "glyph": shape_of(place)[1],
        "above": faced(sheet["above"]),
        "below": faced(sheet["below"]),
    }


def _sheet(dataset: Dataset) -> dict[str, object]:
    table = pd.DataFrame() if dataset.table is None else dataset.table
    names = [str(column) for column in table.columns]
    own = next((c for c in names if list(table[c].head(50)) == list(dataset.ids[:50])), None)
    shown = names[: _COLUMNS - 1]
    columns = [
        _column(dataset, one.name, one.type, own) | sheets.pictured(one, one.type == "date")
        for one in profiles_of(dataset, shown)
    ]
    if own is None:
        columns.insert(0, _id_column(len(dataset)))
    n = len(dataset)
    below = max(_ABOVE, n - _BELOW)

    def rows(start: int, stop: int) -> list[list[Any]]:
        out = []
        for row in range(start, min(stop, n)):
            cells = [_cell(table[name].iloc[row]) for name in shown]
            out.append([row, cells if own is not None else [str(dataset.ids[row])[:_LONG], *cells]])
        return out

    sampled = n > SAMPLE
    title = dataset.title_column
    return {
        "opened": True,
        "size": f"{n:,} × {len(names) + (own is None):,}",
        "told": f"named by {spoken(title)}" if title else "named by their ids",
        "rows_told": f"of a sample of {-(-n // -(-n // SAMPLE)):,} rows" if sampled else "",
        "n_columns": len(names) + (own is None),
        "n_data": n,
        "columns": columns,
        "above": rows(0, _ABOVE),
        "below": rows(below, n),
        "between": max(0, below - _ABOVE),
    }


def _column(dataset: Dataset, name: str, kind: str, own: str | None) -> dict[str, object]:
    is_title = name == dataset.title_column
    short = "id" if name == own else "title" if is_title else _KINDS.get(kind, kind)
    unit = dataset.units.get(name, "")
    return {
        "name": spoken(name),
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


def _cell(value: object) -> str | None:
    if is_missing(value):
        return None
    if isinstance(value, float):
        return f"{value:.6g}" if abs(value) < 1e15 else str(value)
    return str(value)[:_LONG]
