"""What a user says of items, changes and takes back: statements, their sets, and labels."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import Any, ClassVar

import pandas as pd

from hetviz.algorithms.base import Capability
from hetviz.algorithms.registry import methods
from hetviz.data import Comparisons, HeteroData, Links
from hetviz.data.edits.adding import Stated, add_all, add_comparisons, add_links
from hetviz.data.edits.by_id import comparisons_by_id, links_by_id, pairs_by_id
from hetviz.data.edits.labelling import with_labels
from hetviz.data.edits.stating import (
    checked_set,
    drop_statements,
    edit_statements,
    rename_set,
    reverse_comparisons,
)
from hetviz.data.model.checks import MAX_NAME_LENGTH
from hetviz.data.model.meta import noted, text_of
from hetviz.data.model.statements import COMPARED, set_names
from hetviz.errors import DataError, Problem
from hetviz.io import GuidanceRead, read_guidance
from hetviz.io.intake.drop import Parse, read_drop
from hetviz.workspace.commands.command import Command, Context
from hetviz.workspace.state import State
from hetviz.workspace.store.content import keeping

_NOTES = {"note", "who", "set"}


@dataclass(frozen=True)
class AddLinks(Command):
    """Say of pairs of items how near each other they belong.

    Attributes
    ----------
    source, target : str
        Dataset of the first and of the second item of each pair.
    pairs : sequence of (str, str)
        Ids.
    weight : float or sequence of float
        From -1 (apart) to 1 (together), of all or of each.
    kind, note, set, who : str
        Links without a set belong to the one named after their kind.
    """

    op: ClassVar[str] = "add-links"
    does: ClassVar[str] = "links"
    source: str
    target: str
    pairs: Sequence[Sequence[str]]
    weight: float | Sequence[float] = 1.0
    kind: str = "said"
    note: str = ""
    set: str = ""
    who: str = ""

    def apply(self, state: State, context: Context) -> State:
        met = stated(state.opened(), self, context.when)
        return _with(state, met.data, self.set or self.kind)


@dataclass(frozen=True)
class AddPairs(Command):
    """Say of pairs of items of any datasets how near each other they belong, in one step.

    Attributes
    ----------
    pairs : sequence of pairs of (dataset, id)
    weight : float or sequence of float
    kind, note, set, who : str
        As of `AddLinks`.
    """

    op: ClassVar[str] = "add-pairs"
    does: ClassVar[str] = "links"
    pairs: Sequence[Sequence[Sequence[str]]]
    weight: float | Sequence[float] = 1.0
    kind: str = "said"
    note: str = ""
    set: str = ""
    who: str = ""

    def apply(self, state: State, context: Context) -> State:
        met = stated(state.opened(), self, context.when)
        return _with(state, met.data, self.set or self.kind)


@dataclass(frozen=True)
class AddComparisons(Command):
    """Say that items are nearer to each other than others.

    Attributes
    ----------
    rows : sequence of sequences of (dataset, id)
        Three items: the first is nearer to the second than to the third. Four: the first two are
        nearer than the last two.
    weight : float or sequence of float
        Above 0.
    note, set, who : str
    """

    op: ClassVar[str] = "add-comparisons"
    does: ClassVar[str] = "comparisons"
    rows: Sequence[Sequence[Sequence[str]]]
    weight: float | Sequence[float] = 1.0
    note: str = ""
    set: str = ""
    who: str = ""

    def apply(self, state: State, context: Context) -> State:
        met = stated(state.opened(), self, context.when)
        return _with(state, met.data, self.set or COMPARED)


@dataclass(frozen=True)
class EditStatements(Command):
    """Change fields of statements.

    Attributes
    ----------
    changes : mapping
        Key of a statement, see `hetviz.statements`, to new values of weight, score, kind, note,
        set or who.
    """

    op: ClassVar[str] = "edit-statements"
    does: ClassVar[str] = "change of guidance"
    changes: Mapping[str, Mapping[str, Any]]

    def apply(self, state: State, context: Context) -> State:
        if any("when" in fields for fields in self.changes.values()):
            what = "when something was said is noted by itself"
            raise DataError(Problem("unknown-field", "guidance", what, "when"))
        dated = {key: {**fields, "when": context.when} for key, fields in self.changes.items()}
        after = _with(state, edit_statements(state.opened(), dated))
        only_notes = all(set(fields) <= _NOTES for fields in self.changes.values())
        return _still_fitting(state, after) if only_notes else after


@dataclass(frozen=True)
class DropStatements(Command):
    """Remove statements by their keys."""

    op: ClassVar[str] = "drop-statements"
    does: ClassVar[str] = "removal of guidance"
    keys: Sequence[str]

    def apply(self, state: State, context: Context) -> State:
        return _with(state, drop_statements(state.opened(), self.keys))


@dataclass(frozen=True)
class ReverseComparisons(Command):
    """Exchange what is near and what is far in comparisons."""

    op: ClassVar[str] = "reverse-comparisons"
    does: ClassVar[str] = "turned comparisons"
    keys: Sequence[str]

    def apply(self, state: State, context: Context) -> State:
        return _with(state, reverse_comparisons(state.opened(), self.keys))


@dataclass(frozen=True)
class SwitchSet(Command):
    """Let the map go without a set of statements, or with it again; they are not removed."""

    op: ClassVar[str] = "switch-set"
    does: ClassVar[str] = "switched guidance"
    set: str
    on: bool

    def apply(self, state: State, context: Context) -> State:
        name = frozenset([checked_set(state.opened(), self.set)])
        return replace(state, off=state.off - name if self.on else state.off | name)


@dataclass(frozen=True)
class RenameSet(Command):
    """Call a set of statements something else; one of that name takes them in."""

    op: ClassVar[str] = "rename-set"
    does: ClassVar[str] = "name of guidance"
    set: str
    new: str

    def apply(self, state: State, context: Context) -> State:
        after = rename_set(state.opened(), self.set, self.new)
        off = {self.new.strip() if name == self.set else name for name in state.off}
        return _still_fitting(state, replace(state, data=after, off=frozenset(off)))


@dataclass(frozen=True)
class ImportGuidance(Command):
    """Add the statements of a file kept as a blob; those that are there already stay.

    Attributes
    ----------
    blob, filename : str
    leave_out : bool
        Go on without the rows that are wrong.
    """

    op: ClassVar[str] = "import-guidance"
    does: ClassVar[str] = "import of guidance"
    blob: str
    filename: str
    leave_out: bool = False

    def apply(self, state: State, context: Context) -> State:
        content, parse = context.blobs.get(self.blob), keeping(context.blobs.read_cache)
        met, read = imported(state.opened(), content, self.filename, context.when, parse)
        if not self.leave_out:
            read.strict()
        after = _with(state, met.data)
        return replace(after, problems=after.problems + read.problems)


@dataclass(frozen=True)
class SetLabels(Command):
    """Give items a label; the column is made where there is none.

    Attributes
    ----------
    dataset, column : str
    values : mapping of str to text, number or None
        Id to label; None takes it away.
    note : str
        Why; kept in the log.
    """

    op: ClassVar[str] = "set-labels"
    does: ClassVar[str] = "labels"
    dataset: str
    column: str
    values: Mapping[str, Any]
    note: str = ""

    def apply(self, state: State, context: Context) -> State:
        after = with_labels(state.opened(), self.dataset, self.column, self.values)
        blind = {card.key for card in methods() if Capability.LABELS not in card.capabilities}
        return _still_fitting(state, replace(state, data=after), blind)


def stated(
    data: HeteroData, command: AddLinks | AddPairs | AddComparisons, when: str = ""
) -> Stated:
    """Return what a command would add, update and contradict, before it is carried out.

    Raises
    ------
    hetviz.errors.DataError
        Naming every id, name and number that does not fit.
    """
    own = COMPARED if isinstance(command, AddComparisons) else command.kind
    texts = {
        "note": command.note,
        "who": command.who,
        "when": when,
        "set": "" if command.set == own else command.set,
    }
    if isinstance(command, AddComparisons):
        meta = noted(len(command.rows), **texts)
        rows = comparisons_by_id(data, command.rows, command.weight, meta=meta)
        return add_comparisons(data, rows)
    meta = noted(len(command.pairs), **texts)
    kind, weight = command.kind, command.weight
    if isinstance(command, AddLinks):
        ends = command.source, command.target, command.pairs
        return add_links(data, links_by_id(data, *ends, weight, kind=kind, meta=meta))
    return add_all(data, pairs_by_id(data, command.pairs, weight, kind=kind, meta=meta))


def imported(
    data: HeteroData, content: bytes, filename: str, when: str = "", parse: Parse = read_drop
) -> tuple[Stated, GuidanceRead]:
    """Return what a file of guidance would add, update and contradict, and what is wrong in it.

    Where the file says nothing of sets, its statements form one called after it.

    Raises
    ------
    hetviz.errors.DataError
        If the bytes are no guidance at all.
    """
    read = read_guidance(filename, content, data, parse)
    name = "" if read.has_sets else PurePath(filename).stem.strip()[:MAX_NAME_LENGTH]
    met = add_all(data, [_dated(part, name, when) for part in read.parts])
    return replace(met, data=read.labelled(met.data)), read


def _dated(said: Links | Comparisons, name: str, when: str) -> Links | Comparisons:
    """Note when statements came in, and from where, of those that do not say so themselves."""
    meta = said.meta if said.meta is not None else pd.DataFrame(index=range(len(said)))
    for column, text in (("when", when), ("set", name)):
        if text:
            texts = text_of(meta, column, len(said))
            meta = meta.assign(**{column: texts.where(texts != "", text)})
    return said.noting(meta if meta.shape[1] else None)


def _with(state: State, data: HeteroData, *on: str) -> State:
    """Return the state with other guidance; what is added to is on, and what is gone is not off."""
    off = (state.off & set(set_names(data))) - set(on) if state.off else state.off
    return replace(state, data=data, off=off)


def _still_fitting(before: State, after: State, blind: Collection[str] | None = None) -> State:
    """Let maps count as made from the data after a change that methods do not see.

    Of methods in `blind` only, where given; without it what was found out counts as well.
    """
    if before.guided is None or after.guided is None:
        return after
    was, now = before.guided.fingerprint(), after.guided.fingerprint()
    runs = tuple(
        replace(run, fingerprint=now)
        if run.fingerprint == was and (blind is None or run.method in blind)
        else run
        for run in after.runs
    )
    if blind is not None:
        return replace(after, runs=runs)
    findings = {
        kind: replace(finding, fingerprint=now) if finding.fingerprint == was else finding
        for kind, finding in after.findings.items()
    }
    return replace(after, runs=runs, findings=findings)
