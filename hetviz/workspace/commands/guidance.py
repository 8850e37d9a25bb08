"""Commands for statements, sets of statements, and labels."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import Any

import numpy as np
import pandas as pd

from hetviz._types import Floats
from hetviz.algorithms.contract import Capability
from hetviz.algorithms.registry import methods
from hetviz.data import Comparisons, HeteroData, Links
from hetviz.data.edits.adding import AddResult, add_statements
from hetviz.data.edits.by_id import comparisons_by_id, items_of_rows, links_by_id, pairs_by_id
from hetviz.data.edits.labelling import with_annotations
from hetviz.data.edits.statement_edits import (
    check_set,
    drop_statements,
    edit_statements,
    rename_set,
    reverse_comparisons,
)
from hetviz.data.joins.matching import PROBABILITY
from hetviz.data.model.checks import MAX_NAME_LENGTH
from hetviz.data.model.meta import make_meta
from hetviz.data.model.statements import (
    COMPARISON_SET,
    people_of,
    set_names,
    statement_positions,
)
from hetviz.errors import DataError
from hetviz.features.relations.user_links import USER_LINK_KINDS
from hetviz.io import GuidanceRead, read_guidance
from hetviz.io.infer.parsed import FileParser
from hetviz.io.intake.parse import parse_files
from hetviz.workspace.commands.command import Command, Context
from hetviz.workspace.commands.state import ProposedLinks, State
from hetviz.workspace.store.content import cached_parser

_NOTE_FIELDS = {"note", "who", "set"}


class AddStatements(Command):
    """Base of commands that add links or comparisons, given by ids."""

    note: str
    set: str
    who: str
    # The statements by row, and the data with these rows.
    _rows: tuple[HeteroData, Sequence[Links | Comparisons]] | None = None

    @property
    def default_set(self) -> str:
        """Set of the statements without a set."""
        raise NotImplementedError

    def apply(self, state: State, context: Context) -> State:
        added = self.added_to(state.opened(), context.when, context.who)
        return _with_data(state, added.data, self.set or self.default_set)

    def added_to(self, data: HeteroData, when: str = "", who: str = "") -> AddResult:
        """Return what the command would add, update and contradict, without applying it."""
        has_rows = self._rows is not None and self._rows[0] is data
        parts = self._rows[1] if self._rows is not None and has_rows else self.find_rows(data)
        set_name = "" if self.set == self.default_set else self.set
        author = self.who or who
        texts = {"note": self.note, "who": author, "when": when, "set": set_name}
        return add_statements(data, [part.noting(make_meta(len(part), **texts)) for part in parts])

    def find_rows(self, data: HeteroData) -> Sequence[Links | Comparisons]:
        raise NotImplementedError


@dataclass(frozen=True)
class AddLinks(AddStatements, op="add-links", label="links"):
    """Link pairs of items of two datasets, as `Question.answer` and earlier versions do."""

    # `source`, `target`: dataset of the first and of the second item of each pair.
    source: str
    target: str
    pairs: Sequence[Sequence[str]]  # Ids.
    # From -1 (apart) to 1 (together), for all pairs or for each.
    weight: float | Sequence[float] = 1.0
    kind: str = "said"
    note: str = ""
    set: str = ""
    who: str = ""

    @property
    def default_set(self) -> str:
        """Set named after the kind."""
        return self.kind

    def find_rows(self, data: HeteroData) -> Sequence[Links]:
        ends = self.source, self.target, self.pairs, self.weight
        return [links_by_id(data, *ends, kind=self.kind)]


@dataclass(frozen=True)
class AddPairs(AddStatements, op="add-pairs", label="links"):
    """Link pairs of items, given as (dataset, id), of any datasets."""

    pairs: Sequence[Sequence[Sequence[str]]]
    weight: float | Sequence[float] = 1.0
    kind: str = "said"
    note: str = ""
    set: str = ""
    who: str = ""

    @property
    def default_set(self) -> str:
        """Set named after the kind."""
        return self.kind

    def find_rows(self, data: HeteroData) -> Sequence[Links]:
        return pairs_by_id(data, self.pairs, self.weight, kind=self.kind)


@dataclass(frozen=True)
class AddComparisons(AddStatements, op="add-comparisons", label="comparisons"):
    """Add comparisons: some items are closer to each other than others."""

    # Three items: the first is closer to the second than to the third. Four: the first two are
    # closer than the last two.
    rows: Sequence[Sequence[Sequence[str]]]
    weight: float | Sequence[float] = 1.0  # Above 0.
    note: str = ""
    set: str = ""
    who: str = ""

    @property
    def default_set(self) -> str:
        """Set of all comparisons."""
        return COMPARISON_SET

    def find_rows(self, data: HeteroData) -> Sequence[Comparisons]:
        return [comparisons_by_id(data, self.rows, self.weight)]


def statement_command(
    data: HeteroData,
    parts: Sequence[Links] | Comparisons,
    set: str = "",
    note: str = "",
    who: str = "",
) -> AddPairs | AddComparisons:
    """Return the command that adds statements given by rows; the journal gets their ids."""
    command: AddPairs | AddComparisons
    if isinstance(parts, Comparisons):
        shape = parts.objects.shape
        items = iter(items_of_rows(data, parts.objects.reshape(-1)))
        rows = [[next(items) for _ in range(shape[1])] for _ in range(shape[0])]
        command = AddComparisons(rows, _shared_weight(parts.weight), note, set, who)
        rows_of_parts: Sequence[Links | Comparisons] = [parts]
    else:
        first = [links.i + data.offsets[links.source].start for links in parts]
        second = [links.j + data.offsets[links.target].start for links in parts]
        ends = [items_of_rows(data, np.concatenate(rows)) for rows in (first, second)]
        pairs = [list(pair) for pair in zip(*ends, strict=True)]
        weight = _shared_weight(np.concatenate([links.weight for links in parts]))
        rows_of_parts = parts
        command = AddPairs(pairs, weight, parts[0].kind, note, set, who)
    # Rows are found again by id only where the command is replayed.
    object.__setattr__(command, "_rows", (data, rows_of_parts))
    return command


def _shared_weight(weights: Floats) -> float | list[float]:
    return float(weights[0]) if (weights == weights[0]).all() else weights.tolist()


@dataclass(frozen=True)
class EditStatements(Command, op="edit-statements", label="edit guidance"):
    """Change fields of statements."""

    # New values of weight, score, kind, note, set or who, by key of the statement (see
    # `hetviz.statements`).
    changes: Mapping[str, Mapping[str, Any]]

    def apply(self, state: State, context: Context) -> State:
        if any("when" in fields for fields in self.changes.values()):
            message = "the time of a statement is set automatically"
            raise DataError.of("unknown-field", "guidance", message, "when")
        dated: dict[str, dict[str, Any]] = {
            key: {**fields, "when": context.when} for key, fields in self.changes.items()
        }
        for key in self._reversed_links(state.opened()) if context.who else ():
            dated[key].setdefault("who", context.who)
        after = _with_data(state, edit_statements(state.opened(), dated))
        only_notes = all(set(fields) <= _NOTE_FIELDS for fields in self.changes.values())
        return _keep_maps_current(state, after) if only_notes else after

    def _reversed_links(self, data: HeteroData) -> list[str]:
        """Return the keys of the links whose weight gets the other sign: other statements."""
        weights = {
            key: float(fields["weight"])
            for key, fields in self.changes.items()
            if isinstance(fields.get("weight"), int | float)
        }
        if not weights:
            return []
        before = np.concatenate([np.empty(0), *(links.weight for links in data.links)])
        rows = statement_positions(data, weights).tolist()
        pairs = zip(weights.items(), rows, strict=True)
        return [key for (key, new), row in pairs if row < len(before) and before[row] * new < 0]


@dataclass(frozen=True)
class JudgeLink(Command, op="judge-link", label="answer"):
    """Record whether a proposed link is right: it becomes the user's, or is removed.

    With enough answers, the other proposed links of its kind between these datasets get the
    probability that they are right as weight.
    """

    statement: str  # Key of the link.
    right: bool
    set: str = ""

    def apply(self, state: State, context: Context) -> State:
        data = state.opened()
        links, pair = _link_of(data, self.statement)
        place = links.kind, links.source, links.target
        before = state.proposed.get(place, ProposedLinks())
        removed = before.removed if self.right else (*before.removed, pair)
        proposed = replace(before, answers={**before.answers, pair: self.right}, removed=removed)
        if self.right:
            fields = {"weight": 1.0, "kind": USER_LINK_KINDS[0], "set": self.set}
            fields |= {"who": context.who} if context.who else {}
            changes = {self.statement: {**fields, "when": context.when}}
            data = edit_statements(data, changes)
        else:
            data = drop_statements(data, [self.statement])
        data = _reweighted(data, place, proposed.probabilities())
        state = replace(state, proposed={**state.proposed, place: proposed})
        return _with_data(state, data, *([self.set] if self.right and self.set else []))


def _link_of(data: HeteroData, key: str) -> tuple[Links, tuple[str, str]]:
    """Return the group of a link, and the ids of its ends."""
    [row] = statement_positions(data, [key]).tolist()
    for links in data.links:
        if row < len(links):
            first, second = data[links.source].ids, data[links.target].ids
            return links, (str(first[links.i[row]]), str(second[links.j[row]]))
        row -= len(links)
    raise DataError.of("not-a-link", "guidance", "this statement is not a link", key)


def _reweighted(
    data: HeteroData, place: tuple[str, str, str], probability: Mapping[tuple[str, str], float]
) -> HeteroData:
    """Return the data whose proposed links of a kind have their probabilities as weights."""
    if not probability:
        return data

    def reweight(links: Links) -> Links:
        if (links.kind, links.source, links.target) != place:
            return links
        first, second = data[links.source].ids[links.i], data[links.target].ids[links.j]
        pairs = zip(first.tolist(), second.tolist(), strict=True)
        weight = [
            probability.get(pair, float(old)) for pair, old in zip(pairs, links.weight, strict=True)
        ]
        meta = pd.DataFrame(index=range(len(links))) if links.meta is None else links.meta
        return links.replaced(
            weight=np.clip(weight, np.finfo(float).tiny, 1.0),
            meta=meta.assign(**{PROBABILITY: weight}),
        )

    groups = [reweight(links) for links in data.links]
    return HeteroData(data.datasets, groups, data.comparisons, data.labels)


@dataclass(frozen=True)
class DropStatements(Command, op="drop-statements", label="remove guidance"):
    """Remove statements by key."""

    keys: Sequence[str]

    def apply(self, state: State, context: Context) -> State:
        return _with_data(state, drop_statements(state.opened(), self.keys))


@dataclass(frozen=True)
class ReverseComparisons(Command, op="reverse-comparisons", label="reverse comparisons"):
    """Swap the close and the far item of comparisons."""

    keys: Sequence[str]

    def apply(self, state: State, context: Context) -> State:
        data = state.opened()
        if context.who:
            author = {"who": context.who, "when": context.when}
            data = edit_statements(data, dict.fromkeys(self.keys, author))
        return _with_data(state, reverse_comparisons(data, self.keys))


@dataclass(frozen=True)
class SwitchSet(Command, op="switch-set", label="switch guidance"):
    """Include or exclude a set of statements, without removing it."""

    set: str
    on: bool

    def apply(self, state: State, context: Context) -> State:
        name = frozenset([check_set(state.opened(), self.set)])
        return replace(state, off=state.off - name if self.on else state.off | name)


@dataclass(frozen=True)
class SwitchPerson(Command, op="switch-person", label="switch guidance"):
    """Include or exclude the statements and labels of a person, without removing them."""

    who: str
    on: bool

    def apply(self, state: State, context: Context) -> State:
        people = people_of(state.opened())
        if self.who not in people:
            hint = f"Available: {', '.join(people) or 'none'}."
            message = "no statement has this author"
            raise DataError.of("unknown-person", "guidance", message, self.who, hint)
        name = frozenset([self.who])
        off_people = state.off_people - name if self.on else state.off_people | name
        return replace(state, off_people=off_people)


@dataclass(frozen=True)
class RenameSet(Command, op="rename-set", label="rename guidance"):
    """Rename a set of statements, or merge it into an existing set of that name."""

    set: str
    new: str

    def apply(self, state: State, context: Context) -> State:
        after = rename_set(state.opened(), self.set, self.new)
        off = {self.new.strip() if name == self.set else name for name in state.off}
        return _keep_maps_current(state, replace(state, data=after, off=frozenset(off)))


@dataclass(frozen=True)
class ImportGuidance(Command, op="import-guidance", label="import guidance"):
    """Add the statements of a file. Existing statements stay."""

    blob: str
    filename: str
    leave_out: bool = False  # Skip invalid rows.

    def apply(self, state: State, context: Context) -> State:
        content, parse = context.blobs.get(self.blob), cached_parser(context.blobs.read_cache)
        added, read = imported_guidance(
            state.opened(), content, self.filename, context.when, parse, context.who
        )
        if not self.leave_out:
            read.strict()
        after = _with_data(state, added.data)
        return replace(after, problems=after.problems + read.problems)


@dataclass(frozen=True)
class SetLabels(Command, op="set-labels", label="labels"):
    """Set labels of items. A missing label column is created."""

    dataset: str
    column: str
    values: Mapping[str, Any]  # Label by id; None removes it.
    note: str = ""  # Reason, kept in the log.
    who: str = ""  # Person whose labels are set or removed, by default who runs the command.

    def apply(self, state: State, context: Context) -> State:
        entries = [
            # None removes the labels of all people unless one is named.
            (id_, value, self.who or ("" if value is None else context.who), context.when)
            for id_, value in self.values.items()
        ]
        data = with_annotations(state.opened(), self.dataset, self.column, entries)
        unaffected = {card.key for card in methods() if Capability.LABELS not in card.capabilities}
        return _keep_maps_current(state, _with_data(state, data), unaffected)


def imported_guidance(
    data: HeteroData,
    content: bytes,
    filename: str,
    when: str = "",
    parse: FileParser = parse_files,
    who: str = "",
) -> tuple[AddResult, GuidanceRead]:
    """Return what a guidance file would add, update and contradict, and its errors."""
    # Without a column of sets, the statements form a set named after the file. Without a column of
    # authors, they are of the person who imports the file.
    read = read_guidance(filename, content, data, parse)
    name = "" if read.has_sets else PurePath(filename).stem.strip()[:MAX_NAME_LENGTH]
    added = add_statements(data, read.noted(who=who, when=when, set=name))
    return replace(added, data=read.labelled(added.data, who, when)), read


def _with_data(state: State, data: HeteroData, *active_sets: str) -> State:
    """Return the state with new guidance and `active_sets` switched on."""
    off = (state.off & set(set_names(data))) - set(active_sets) if state.off else state.off
    off_people = state.off_people & set(people_of(data)) if state.off_people else state.off_people
    return replace(state, data=data, off=off, off_people=off_people)


def _keep_maps_current(
    before: State, after: State, methods: Collection[str] | None = None
) -> State:
    """Keep maps current after a change that does not affect methods."""
    # With `methods`, only maps of these methods; otherwise all maps and findings.
    if before.guided is None or after.guided is None:
        return after
    old_fingerprint, new_fingerprint = before.guided.fingerprint(), after.guided.fingerprint()
    runs = tuple(
        replace(run, fingerprint=new_fingerprint)
        if run.fingerprint == old_fingerprint and (methods is None or run.method in methods)
        else run
        for run in after.runs
    )
    if methods is not None:
        return replace(after, runs=runs)
    findings = {
        kind: replace(finding, fingerprint=new_fingerprint)
        if finding.fingerprint == old_fingerprint
        else finding
        for kind, finding in after.findings.items()
    }
    return replace(after, runs=runs, findings=findings)
