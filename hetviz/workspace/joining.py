"""What joins datasets: that they show the same things, and links by a shared key."""

from __future__ import annotations

from dataclasses import replace

from hetviz.data.matching import match_by_key
from hetviz.errors import DataError, Problem
from hetviz.workspace.commands import LinkByKey, SetEntity
from hetviz.workspace.state import State


def set_entity(state: State, command: SetEntity) -> State:
    """Return the state in which a dataset shows the things of an entity."""
    name, entity = command.dataset, command.entity.strip()
    data = state.opened().edit().set_entity(name, entity)
    held_out = state.held_out
    if held_out is not None and name in held_out.datasets:
        held_out = held_out.edit().set_entity(name, entity)
    return replace(state, data=data, held_out=held_out)


def link_by_key(state: State, command: LinkByKey) -> State:
    """Return the state with the links that a shared key gives."""
    data = state.opened()
    match = match_by_key(
        data, command.source, command.source_column, command.target, command.target_column
    )
    if not len(match.i):
        raise DataError(
            Problem(
                "no-match",
                f"links {command.source} - {command.target} by key",
                "no item of the one has the key of an item of the other",
                remedy="Choose other columns.",
            )
        )
    return replace(state, data=data.edit().add(match.links(command.kind.strip())))
