"""Table of named groups, each edited as one statement."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from hetviz.data import HeteroData
from hetviz.data.queries.groups import NamedGroup
from hetviz.features.relations.grouping import links_between_rows
from hetviz.ui.guidance import editor
from hetviz.ui.guidance.ledger import MET, Ledger, groups_of, titles
from hetviz.ui.shell import selection, session, theme
from hetviz.workspace import Act, Command, DropStatements, EditStatements, RenameSet
from hetviz.workspace.commands.guidance import statement_command

_TABLE_KEY, _BUTTON_KEY = "table-groups", "do-groups"
_MAX_ROWS = 8
_MAX_ITEM_CHOICES = 2_000
_MIN_ITEMS = 2
_SHOW, _ADD, _REMOVE = "Show on the map", "Add selected items", "Remove"


def show_groups(data: HeteroData, ledger: Ledger) -> None:
    """Show each group as a row."""
    groups = groups_of(data)
    if not groups:
        theme.show_note("No groups yet. Select three or more items on the map and choose Together.")
        return
    names = titles(data)
    group_links = ledger.links[
        ledger.links["key"].isin([key for group in groups for key in group.keys])
    ]
    links = group_links.set_index("key")
    frame = pd.DataFrame(index=pd.Index([group.name for group in groups], name="key"))
    frame["name"] = [group.name for group in groups]
    frame["items"] = [[str(row) for row in group.rows.tolist()] for group in groups]
    frame["weight"] = [group.weight for group in groups]
    fates = [links.loc[list(group.keys), "fate"] for group in groups]
    frame["kept"] = [100.0 * float((fate == MET).mean()) for fate in fates]
    frame["note"] = [group.note for group in groups]
    frame["do"] = [[_SHOW, _ADD, _REMOVE]] * len(groups)
    item_choices = range(data.n_rows) if data.n_rows <= _MAX_ITEM_CHOICES else _all_members(groups)
    text_column = st.column_config.TextColumn
    columns: dict[str, Any] = {
        "name": text_column("Group", max_chars=150, width=150),
        "items": st.column_config.MultiselectColumn(
            "Items",
            options=[str(row) for row in item_choices],
            format_func=lambda row: str(names[int(row)]),
            width=330,
            help="Remove an item or add another. The statement holds for all of them.",
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
            "Met",
            min_value=0.0,
            max_value=100.0,
            format="%.0f %%",
            width=105,
            help="The share of its pairs that the map meets.",
        ),
        "do": st.column_config.ButtonColumn(
            "", width=44, type="tertiary", key=_BUTTON_KEY, on_click=_on_button
        ),
        "note": text_column("Note", max_chars=500, width=110),
    }
    editor.show_table(
        _TABLE_KEY,
        frame,
        columns,
        {"name", "items", "weight", "note"},
        _save,
        _MAX_ROWS,
        f"Table of {theme.count(len(groups), 'group')}",
    )
    n_links = sum(len(group.keys) for group in groups)
    theme.show_note(
        f"{theme.count(len(groups), 'group')} with {theme.count(n_links, 'link')} between all "
        "pairs of their items. These are not listed under Links. Double-click a cell to edit it."
    )


def change_commands(data: HeteroData, group: NamedGroup, cells: Mapping[str, Any]) -> list[Command]:
    """Return the commands that change a group; fewer than two items remove it."""
    fields = {name: cells[name] for name in ("weight", "note") if name in cells}
    commands: list[Command] = []
    if "items" in cells:
        commands.append(DropStatements(list(group.keys)))
        rows = sorted(map(int, cells["items"] or ()))
        if len(rows) < _MIN_ITEMS:
            return commands
        note, weight = fields.get("note", group.note), fields.get("weight", group.weight)
        p, q = np.array(list(combinations(rows, 2))).T
        links = links_between_rows(data, p, q, weight, group.kind)
        # The group is a statement of the person who changed it.
        commands.append(statement_command(data, links, group.name, note))
    elif fields:
        commands.append(EditStatements(dict.fromkeys(group.keys, fields)))
    name = str(cells.get("name", "")).strip()
    if name:
        commands.append(RenameSet(group.name, name))
    return commands


def _all_members(groups: Collection[NamedGroup]) -> list[int]:
    return sorted({row for group in groups for row in group.rows.tolist()})


def _save(changes: Mapping[str, Mapping[str, object]]) -> None:
    data = session.workspace().state.opened()
    groups = {group.name: group for group in groups_of(data)}
    commands = [
        command
        for name, cells in changes.items()
        if name in groups
        for command in change_commands(data, groups[name], cells)
    ]
    if commands:
        session.run_command(Act(commands, "change of a group"))


def _on_button() -> None:
    name = editor.clicked_key(_TABLE_KEY, _BUTTON_KEY)
    state = session.workspace().state
    data = state.opened()
    group = next((candidate for candidate in groups_of(data) if candidate.name == name), None)
    if group is None:
        return
    label = str(st.session_state[_BUTTON_KEY]["label"])
    if label == _REMOVE:
        session.run_command(DropStatements(list(group.keys)))
    elif label == _ADD:
        rows = {*group.rows.tolist(), *selection.selected_rows(state).tolist()}
        if len(rows) == len(group.rows):
            session.add_message(
                "Nothing else is selected. First select on the map what belongs to the group."
            )
            return
        commands = change_commands(data, group, {"items": rows})
        session.run_command(Act(commands, f"more in {group.name}"))
    else:
        selection.show_on_map(group.rows.tolist())
