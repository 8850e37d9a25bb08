"""What joins datasets: that they show the same things, and links by keys, lists and places."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from hetviz.data.joins.join import Join, joined
from hetviz.data.joins.keys import Loose
from hetviz.data.joins.matching import match_by_key
from hetviz.data.queries.reach import linked_part
from hetviz.errors import DataError, Problem
from hetviz.features.joined_tables import join_tables
from hetviz.workspace.commands.command import Command, Context
from hetviz.workspace.commands.features import understood
from hetviz.workspace.state import State


@dataclass(frozen=True)
class SetEntity(Command):
    """Say what the rows of a dataset are: datasets of one entity show the same things."""

    op: ClassVar[str] = "set-entity"
    does: ClassVar[str] = "same things"
    dataset: str
    entity: str

    def apply(self, state: State, context: Context) -> State:
        name, entity = self.dataset, self.entity.strip()
        data = state.opened().edit().set_entity(name, entity)
        held_out = state.held_out
        if held_out is not None and name in held_out.datasets:
            held_out = held_out.edit().set_entity(name, entity)
        return replace(state, data=data, held_out=held_out)


@dataclass(frozen=True)
class LinkByKey(Command):
    """Link the items of two datasets that share a key.

    Attributes
    ----------
    source, target : str
    source_column, target_column : str
        Columns of their tables; empty for the ids.
    kind : str
        What to call the links.
    loose : bool or "spelling"
        See `hetviz.links_by_key`.
    also : sequence of (str, str)
        Further columns, of both, that must agree too.
    """

    op: ClassVar[str] = "link-by-key"
    does: ClassVar[str] = "links by key"
    source: str
    source_column: str
    target: str
    target_column: str
    kind: str
    loose: Loose = False
    also: Sequence[Sequence[str]] = ()

    def apply(self, state: State, context: Context) -> State:
        data = state.opened()
        match = match_by_key(
            data,
            self.source,
            self.source_column,
            self.target,
            self.target_column,
            loose=self.loose,
            also=[(first, second) for first, second in self.also],
        )
        if not len(match.i):
            raise DataError(
                Problem(
                    "no-match",
                    f"links {self.source} - {self.target} by key",
                    "no item of the one has the key of an item of the other",
                    remedy="Choose other columns.",
                )
            )
        return replace(state, data=data.edit().add(match.links(self.kind.strip())))


@dataclass(frozen=True)
class LinkByList(Command):
    """Link items with those that a column of theirs lists.

    Attributes
    ----------
    source, column : str
        Whose cells list entries.
    target : str
        A dataset; with `make` the name of a new one, of the distinct entries.
    target_column : str
        What the entries name; empty for the ids.
    kind : str
        What to call the links.
    separator : str
    loose : bool
        Whether upper and lower case, blanks and Unicode forms do not count.
    weight : {"rare", "same"}
        See `hetviz.links_by_list`.
    make : bool
    """

    op: ClassVar[str] = "link-by-list"
    does: ClassVar[str] = "links by list"
    source: str
    column: str
    target: str
    target_column: str
    kind: str
    separator: str = ";"
    loose: bool = True
    weight: str = "rare"
    make: bool = False

    @property
    def join(self) -> Join:
        """What it says, as a way to join."""
        return Join(
            "tags" if self.make else "list",
            self.source,
            self.target,
            self.column,
            self.target_column,
            self.separator,
            self.loose,
            self.weight,
        )

    def apply(self, state: State, context: Context) -> State:
        return _joined(state, self.join, self.kind)


@dataclass(frozen=True)
class LinkByNearness(Command):
    """Link items with those that lie nearest on the globe.

    Attributes
    ----------
    source, target : str
    kind : str
        What to call the links.
    k, km : int, float or None
        See `hetviz.links_by_nearness`.
    """

    op: ClassVar[str] = "link-by-nearness"
    does: ClassVar[str] = "links by nearness"
    source: str
    target: str
    kind: str = "near"
    k: int | None = None
    km: float | None = None

    @property
    def join(self) -> Join:
        """What it says, as a way to join."""
        return Join("near", self.source, self.target, k=self.k, km=self.km)

    def apply(self, state: State, context: Context) -> State:
        return _joined(state, self.join, self.kind)


@dataclass(frozen=True)
class JoinTables(Command):
    """Join datasets in several ways at once, and say what rows that name others are taken as.

    Attributes
    ----------
    joins : sequence of mapping
        As `hetviz.data.joins.join.Join.to_dict` gives them.
    rows : mapping of str to str
        See `hetviz.join_tables`.
    """

    op: ClassVar[str] = "join-tables"
    does: ClassVar[str] = "join tables"
    joins: Sequence[Mapping[str, Any]]
    rows: Mapping[str, str] = field(default_factory=dict)

    def apply(self, state: State, context: Context) -> State:
        before = state.opened()
        try:
            joins = [Join(**fields) for fields in self.joins]
        except TypeError as error:
            raise DataError(Problem("bad-join", "join tables", str(error))) from None
        data = join_tables(before, joins, self.rows)
        gone = set(before.datasets) - set(data.datasets)
        held_out = state.held_out
        if held_out is not None:
            held_out = held_out.edit().drop(*(gone & set(held_out.datasets)))
        return replace(
            state,
            data=data,
            held_out=held_out,
            understood=tuple(
                info
                if data[info.dataset] is before[info.dataset]
                else understood(info, data[info.dataset])
                for info in state.understood
                if info.dataset in data.datasets
            ),
            view=replace(state.view, hidden=tuple(n for n in state.view.hidden if n not in gone)),
            filters=tuple(one for one in state.filters if one.dataset not in gone),
        )


@dataclass(frozen=True)
class LeaveUnlinked(Command):
    """Leave out the items of a dataset that no link reaches."""

    op: ClassVar[str] = "leave-unlinked"
    does: ClassVar[str] = "leave out"
    dataset: str

    def apply(self, state: State, context: Context) -> State:
        name, held_out = self.dataset, state.held_out
        data = linked_part(state.opened(), name)
        if held_out is not None and name in held_out.datasets:
            held_out = held_out.edit().subset({name: data[name].ids.tolist()})
        return replace(state, data=data, held_out=held_out)


@dataclass(frozen=True)
class LeaveLinks(Command):
    """Leave out the links of one item, which holds too many of them."""

    op: ClassVar[str] = "leave-links"
    does: ClassVar[str] = "leave links out"
    dataset: str
    id: str

    def apply(self, state: State, context: Context) -> State:
        return replace(state, data=state.opened().edit().unlink(self.dataset, self.id))


def _joined(state: State, join: Join, kind: str) -> State:
    data = state.opened()
    return replace(state, data=joined(data, join.match(data), kind.strip()))


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
        return LinkByKey(*ends, kind, join.loose, join.also)
    if join.kind == "near":
        return LinkByNearness(join.source, join.target, kind, join.k, join.km)
    return LinkByList(
        join.source,
        join.source_column,
        join.target,
        join.target_column,
        kind,
        join.separator,
        bool(join.loose),
        join.weight,
        join.kind == "tags",
    )
