"""What joins datasets: that they show the same things, and links by keys, lists and places."""

from __future__ import annotations

from dataclasses import replace

from hetviz.data.joins.join import Join, joined
from hetviz.data.joins.matching import match_by_key
from hetviz.errors import DataError, Problem
from hetviz.workspace.commands.commands import Command, LinkByKey, SetEntity
from hetviz.workspace.commands.joining_commands import JoiningCommand, LinkByList, LinkByNearness
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
        data,
        command.source,
        command.source_column,
        command.target,
        command.target_column,
        loose=command.loose,
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


def join(state: State, command: JoiningCommand) -> State:
    """Return the state with the links that a list or places give.

    Raises
    ------
    hetviz.errors.DataError, hetviz.errors.ParameterError
        If nothing can be linked so, or it is already.
    """
    data = state.opened()
    match = join_of(command).match(data)
    return replace(state, data=joined(data, match, command.kind.strip()))


def join_of(command: JoiningCommand) -> Join:
    """Return what a command says, as a way to join."""
    match command:
        case LinkByNearness():
            return Join("near", command.source, command.target, k=command.k, km=command.km)
        case LinkByList():
            return Join(
                "tags" if command.make else "list",
                command.source,
                command.target,
                command.column,
                command.target_column,
                command.separator,
                command.loose,
                command.weight,
            )


def command_for(join: Join, kind: str, entity: str) -> Command:
    """Return the command that carries out a way to join.

    Parameters
    ----------
    join : Join
    kind : str
        What to call the links.
    entity : str
        What the items of the target are, for two views of the same things.
    """
    if join.kind == "views":
        return SetEntity(join.source, entity)
    if join.kind == "key":
        ends = join.source, join.source_column, join.target, join.target_column
        return LinkByKey(*ends, kind, join.loose)
    if join.kind == "near":
        return LinkByNearness(join.source, join.target, kind, join.k, join.km)
    return LinkByList(
        join.source,
        join.source_column,
        join.target,
        join.target_column,
        kind,
        join.separator,
        join.loose,
        join.weight,
        join.kind == "tags",
    )
