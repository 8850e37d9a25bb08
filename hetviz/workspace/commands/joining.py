"""Commands that join datasets by shared entities, keys, lists and locations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from hetviz.data.joins.join import Join, add_match
from hetviz.data.joins.keys import LooseKeys
from hetviz.data.joins.matching import match_by_key
from hetviz.data.joins.similar_rows import SIMILAR, judged_pairs
from hetviz.data.model.heterodata import HeteroData
from hetviz.data.queries.reach import drop_unlinked
from hetviz.errors import DataError
from hetviz.features.table_joins import join_tables
from hetviz.workspace.commands.command import Command, Context
from hetviz.workspace.commands.features import updated_info
from hetviz.workspace.commands.state import ProposedLinks, State


@dataclass(frozen=True)
class SetEntity(Command, op="set-entity", label="same items"):
    """Set the entity of a dataset. Datasets of one entity describe the same things."""

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
class LinkByKey(Command, op="link-by-key", label="links by key"):
    """Link the items of two datasets that share a key."""

    source: str
    # `source_column`, `target_column`: columns of their tables; empty for the ids.
    source_column: str
    target: str
    target_column: str
    kind: str  # Name of the kind of links.
    loose: LooseKeys = False  # See `hetviz.links_by_key`.
    also: Sequence[Sequence[str]] = ()  # Further pairs of columns that must agree.

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
            raise DataError.of(
                "no-match",
                f"links {self.source} - {self.target} by key",
                "no keys match",
                remedy="Choose other columns.",
            )
        return replace(state, data=data.edit().add(match.links(self.kind.strip())))


@dataclass(frozen=True)
class LinkByList(Command, op="link-by-list", label="links by list"):
    """Link items with the items listed in a column."""

    # `source`, `column`: dataset and column with lists of entries.
    source: str
    column: str
    target: str  # A dataset, or with `make` the name of a new dataset of the distinct entries.
    target_column: str  # Column that the entries refer to; empty for the ids.
    kind: str  # Name of the kind of links.
    separator: str = ";"
    loose: bool = True  # Whether to ignore case, blanks and Unicode forms.
    weight: str = "rare"  # One of {"rare", "same"}. See `hetviz.links_by_list`.
    make: bool = False

    @property
    def join(self) -> Join:
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
        return _with_links(state, self.join, self.kind)


@dataclass(frozen=True)
class LinkByNearness(Command, op="link-by-nearness", label="links by distance"):
    """Link items with the nearest ones on the globe."""

    source: str
    target: str
    kind: str = "near"  # Name of the kind of links.
    # `k`, `km`: see `hetviz.links_by_nearness`.
    k: int | None = None
    km: float | None = None

    @property
    def join(self) -> Join:
        return Join("near", self.source, self.target, k=self.k, km=self.km)

    def apply(self, state: State, context: Context) -> State:
        return _with_links(state, self.join, self.kind)


@dataclass(frozen=True)
class JoinTables(Command, op="join-tables", label="join tables"):
    """Join datasets in several ways at once."""

    joins: Sequence[Mapping[str, Any]]  # Joins as from `hetviz.data.joins.join.Join.to_dict`.
    # `rows`, `values`, `include`: see `hetviz.join_tables`; values are those of
    # `LinkValue.to_dict`, or None.
    rows: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, Mapping[str, Any] | None] = field(default_factory=dict)
    include: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def apply(self, state: State, context: Context) -> State:
        before = state.opened()
        try:
            joins = [Join(**fields) for fields in self.joins]
        except TypeError as error:
            raise DataError.of("bad-join", "join tables", str(error)) from None
        data = join_tables(before, joins, self.rows, self.values, self.include)
        removed = set(before.datasets) - set(data.datasets)
        held_out = state.held_out
        if held_out is not None:
            held_out = held_out.edit().drop(*(removed & set(held_out.datasets)))
        return replace(
            state,
            data=data,
            held_out=held_out,
            understood=tuple(
                info
                if data[info.dataset] is before[info.dataset]
                else updated_info(info, data[info.dataset])
                for info in state.understood
                if info.dataset in data.datasets
            ),
            view=replace(
                state.view, hidden=tuple(n for n in state.view.hidden if n not in removed)
            ),
            filters=tuple(filter for filter in state.filters if filter.dataset not in removed),
            proposed={**state.proposed, **_proposed_by(joins, before)},
        )


def _proposed_by(
    joins: Sequence[Join], data: HeteroData
) -> dict[tuple[str, str, str], ProposedLinks]:
    """Return the pairs that joins by similarity proposed, with the answers about them."""
    proposed = {}
    for join in joins:
        if join.kind not in SIMILAR:
            continue
        frame = judged_pairs(data, join.source, join.target, by=join.kind, pairs=join.pairs)
        pairs = zip(frame["source_id"], frame["target_id"], strict=True)
        similarity = dict(zip(pairs, frame["similarity"].tolist(), strict=True))
        answers = {(a, b): right for a, b, right in join.answers}
        place = SIMILAR[join.kind], join.source, join.target
        proposed[place] = ProposedLinks(similarity, answers)
    return proposed


@dataclass(frozen=True)
class LeaveUnlinked(Command, op="leave-unlinked", label="remove unlinked items"):
    """Remove the items of a dataset that have no link."""

    dataset: str

    def apply(self, state: State, context: Context) -> State:
        name, held_out = self.dataset, state.held_out
        data = drop_unlinked(state.opened(), name)
        if held_out is not None and name in held_out.datasets:
            held_out = held_out.edit().subset({name: data[name].ids.tolist()})
        return replace(state, data=data, held_out=held_out)


@dataclass(frozen=True)
class LeaveLinks(Command, op="leave-links", label="remove links"):
    """Remove the links of one item that has too many."""

    dataset: str
    id: str

    def apply(self, state: State, context: Context) -> State:
        return replace(state, data=state.opened().edit().unlink(self.dataset, self.id))


def _with_links(state: State, join: Join, kind: str) -> State:
    data = state.opened()
    return replace(state, data=add_match(data, join.match(data), kind.strip()))


def command_for(join: Join, kind: str, entity: str) -> Command:
    """Return the command for a join."""
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
