"""Groups that were named: each one row, its items, weight and note changed as one."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from itertools import combinations
from typing import Any

import pandas as pd
import streamlit as st

from hetviz.data import HeteroData
from hetviz.data.queries.groups import NamedGroup
from hetviz.ui.guidance import editor, sentences
from hetviz.ui.guidance.ledger import KEPT, Ledger, groups_of, titles
from hetviz.ui.shell import selection, session, theme
from hetviz.ui.widgets import item_chip
from hetviz.workspace import (
    Act,
    AddPairs,
    Command,
    DropStatements,
    EditStatements,
    RenameSet,
)

_NAME, _DO = "table-groups", "do-groups"
_SEEN = 8
_ALL_ITEMS = 2_000
_LEAST = 2
_SHOW, _ADD, _REMOVE = "Show on the map", "Add what is selected", "Remove"


def show(data: HeteroData, ledger: Ledger) -> None:
    """Show each group as a row."""
    groups = groups_of(data)
    if not groups:
        theme.quiet("No group yet: select three items or more on the map and say Together.")
        return
    names = titles(data)
    every = ledger.links[ledger.links["key"].isin([key for group in groups for key in group.keys])]
    links = every.set_index("key")
    frame = pd.DataFrame(index=pd.Index([group.name for group in groups], name="key"))
    frame["name"] = [group.name for group in groups]
    frame["items"] = [[str(row) for row in group.rows.tolist()] for group in groups]
    frame["weight"] = [group.weight for group in groups]
    fates = [links.loc[list(group.keys), "fate"] for group in groups]
    frame["kept"] = [100.0 * float((fate == KEPT).mean()) for fate in fates]
    frame["note"] = [group.note for group in groups]
    frame["do"] = [[_SHOW, _ADD, _REMOVE]] * len(groups)
    offered = range(data.n_rows) if data.n_rows <= _ALL_ITEMS else _members(groups)
    text = st.column_config.TextColumn
    columns: dict[str, Any] = {
        "name": text("Group", max_chars=150, width=150),
        "items": st.column_config.MultiselectColumn(
            "Its items",
            options=[str(row) for row in offered],
            format_func=lambda row: str(names[int(row)]),
            width=330,
            help="Take an item out, or put another in: what was said holds for all of them.",
        ),
        "weight": st.column_config.NumberColumn(
            "Weight",
            min_value=-1.0,
            max_value=1.0,
            step=0.05,
            format="%.2f",
            width=78,
            help="From −1, all apart, to 1, all together.",
        ),
        "kept": st.column_config.ProgressColumn(
            "Kept",
            min_value=0.0,
            max_value=100.0,
            format="%.0f %%",
            width=105,
            help="The share of its pairs that the map keeps.",
        ),
        "do": st.column_config.ButtonColumn("", width=44, type="tertiary", key=_DO, on_click=_do),
        "note": text("Note", max_chars=500, width=110),
    }
    editor.table(
        _NAME,
        frame,
        columns,
        {"name", "items", "weight", "note"},
        _save,
        _SEEN,
        f"Table of {theme.count(len(groups), 'group')}",
    )
    pairs = sum(len(group.keys) for group in groups)
    theme.quiet(
        f"{theme.count(len(groups), 'group')}: {theme.count(pairs, 'link')} between all pairs of "
        "their items, which are not repeated under Links. Double-click a cell to change it."
    )


def changed(data: HeteroData, group: NamedGroup, cells: Mapping[str, Any]) -> list[Command]:
    """Return the commands that change a group.

    Parameters
    ----------
    data : HeteroData
    group : NamedGroup
    cells : mapping
        What changes: items (global rows as text; fewer than two take the group away), weight, note
        and name.
    """
    fields = {name: cells[name] for name in ("weight", "note") if name in cells}
    commands: list[Command] = []
    if "items" in cells:
        commands.append(DropStatements(list(group.keys)))
        items = [item_chip.item_at(data, row) for row in sorted(map(int, cells["items"] or ()))]
        if len(items) < _LEAST:
            return commands
        named = [[item.dataset.name, str(item.dataset.ids[item.row])] for item in items]
        note, weight = fields.get("note", group.note), fields.get("weight", group.weight)
        pairs = [list(pair) for pair in combinations(named, 2)]
        commands.append(AddPairs(pairs, weight, group.kind, note, group.name, group.who))
    elif fields:
        commands.append(EditStatements(dict.fromkeys(group.keys, fields)))
    name = str(cells.get("name", "")).strip()
    if name:
        commands.append(RenameSet(group.name, name))
    return commands


def _members(groups: Collection[NamedGroup]) -> list[int]:
    return sorted({row for group in groups for row in group.rows.tolist()})


def _save(changes: Mapping[str, Mapping[str, object]]) -> None:
    data = session.workspace().state.opened()
    groups = {group.name: group for group in groups_of(data)}
    commands = [
        command
        for name, cells in changes.items()
        if name in groups
        for command in changed(data, groups[name], cells)
    ]
    if commands:
        session.do(Act([one.to_dict() for one in commands], "change of a group"))


def _do() -> None:
    name = editor.clicked(_NAME, _DO)
    state = session.workspace().state
    data = state.opened()
    group = next((one for one in groups_of(data) if one.name == name), None)
    if group is None:
        return
    label = str(st.session_state[_DO]["label"])
    if label == _REMOVE:
        session.do(DropStatements(list(group.keys)))
    elif label == _ADD:
        rows = {*group.rows.tolist(), *selection.chosen(state).tolist()}
        if len(rows) == len(group.rows):
            session.tell("Nothing else is selected: first select on the map what belongs to it.")
            return
        commands = changed(data, group, {"items": rows})
        session.do(Act([one.to_dict() for one in commands], f"more in {group.name}"))
    else:
        sentences.show_on_map(group.rows.tolist())
