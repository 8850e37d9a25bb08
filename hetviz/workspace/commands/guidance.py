"""Commands for statements, sets of statements, and labels."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import Any, ClassVar

import pandas as pd

from hetviz.algorithms.contract import Capability
from hetviz.algorithms.registry import methods
from hetviz.data import Comparisons, HeteroData, Links
from hetviz.data.edits.adding import AddResult, add_comparisons, add_links, add_statements
from hetviz.data.edits.by_id import comparisons_by_id, links_by_id, pairs_by_id
from hetviz.data.edits.labelling import with_labels
from hetviz.data.edits.statement_edits import (
    check_set,
    drop_statements,
    edit_statements,
    rename_set,
    reverse_comparisons,
)
from hetviz.data.model.checks import MAX_NAME_LENGTH
from hetviz.data.model.meta import make_meta, meta_text
from hetviz.data.model.statements import COMPARISON_SET, set_names
from hetviz.errors import DataError, Problem
from hetviz.io import GuidanceRead, read_guidance
from hetviz.io.infer.parsed import FileParser
from hetviz.io.intake.parse import parse_files
from hetviz.workspace.commands.command import Command, Context
from hetviz.workspace.commands.state import State
from hetviz.workspace.store.content import cached_parser

_NOTE_FIELDS = {"note", "who", "set"}


@dataclass(frozen=True)
class AddLinks(Command):
    """Link pairs of items.

    Attributes
    ----------
    source, target : str
        Dataset of the first and of the second item of each pair.
    pairs : sequence of (str, str)
        Ids.
    weight : float or sequence of float
        From -1 (apart) to 1 (together), for all pairs or for each.
    kind, note, set, who : str
        Links without a set belong to the set named after their kind.
    """

    op: ClassVar[str] = "add-links"
    label: ClassVar[str] = "links"
    source: str
    target: str
    pairs: Sequence[Sequence[str]]
    weight: float | Sequence[float] = 1.0
    kind: str = "said"
    note: str = ""
    set: str = ""
    who: str = ""

    def apply(self, state: State, context: Context) -> State:
        added = added_guidance(state.opened(), self, context.when)
        return _with_data(state, added.data, self.set or self.kind)


@dataclass(frozen=True)
class AddPairs(Command):
    """Link pairs of items of any datasets in one step.

    Attributes
    ----------
    pairs : sequence of pairs of (dataset, id)
    weight : float or sequence of float
    kind, note, set, who : str
        See `AddLinks`.
    """

    op: ClassVar[str] = "add-pairs"
    label: ClassVar[str] = "links"
    pairs: Sequence[Sequence[Sequence[str]]]
    weight: float | Sequence[float] = 1.0
    kind: str = "said"
    note: str = ""
    set: str = ""
    who: str = ""

    def apply(self, state: State, context: Context) -> State:
        added = added_guidance(state.opened(), self, context.when)
        return _with_data(state, added.data, self.set or self.kind)


@dataclass(frozen=True)
class AddComparisons(Command):
    """Add comparisons: some items are closer to each other than others.

    Attributes
    ----------
    rows : sequence of sequences of (dataset, id)
        Three items: the first is closer to the second than to the third. Four: the first two are
        closer than the last two.
    weight : float or sequence of float
        Above 0.
    note, set, who : str
    """

    op: ClassVar[str] = "add-comparisons"
    label: ClassVar[str] = "comparisons"
    rows: Sequence[Sequence[Sequence[str]]]
    weight: float | Sequence[float] = 1.0
    note: str = ""
    set: str = ""
    who: str = ""

    def apply(self, state: State, context: Context) -> State:
        added = added_guidance(state.opened(), self, context.when)
        return _with_data(state, added.data, self.set or COMPARISON_SET)


@dataclass(frozen=True)
class EditStatements(Command):
    """Change fields of statements.

    Attributes
    ----------
    changes : mapping
        New values of weight, score, kind, note, set or who, by key of the statement (see
        `hetviz.statements`).
    """

    op: ClassVar[str] = "edit-statements"
    label: ClassVar[str] = "edit guidance"
    changes: Mapping[str, Mapping[str, Any]]

    def apply(self, state: State, context: Context) -> State:
        if any("when" in fields for fields in self.changes.values()):
            message = "the time of a statement is set automatically"
            raise DataError(Problem("unknown-field", "guidance", message, "when"))
        dated = {key: {**fields, "when": context.when} for key, fields in self.changes.items()}
        after = _with_data(state, edit_statements(state.opened(), dated))
        only_notes = all(set(fields) <= _NOTE_FIELDS for fields in self.changes.values())
        return _keep_maps_current(state, after) if only_notes else after


@dataclass(frozen=True)
class DropStatements(Command):
    """Remove statements by key."""

    op: ClassVar[str] = "drop-statements"
    label: ClassVar[str] = "remove guidance"
    keys: Sequence[str]

    def apply(self, state: State, context: Context) -> State:
        return _with_data(state, drop_statements(state.opened(), self.keys))


@dataclass(frozen=True)
class ReverseComparisons(Command):
    """Swap the close and the far item of comparisons."""

    op: ClassVar[str] = "reverse-comparisons"
    label: ClassVar[str] = "reverse comparisons"
    keys: Sequence[str]

    def apply(self, state: State, context: Context) -> State:
        return _with_data(state, reverse_comparisons(state.opened(), self.keys))


@dataclass(frozen=True)
class SwitchSet(Command):
    """Include or exclude a set of statements, without removing it."""

    op: ClassVar[str] = "switch-set"
    label: ClassVar[str] = "switch guidance"
    set: str
    on: bool

    def apply(self, state: State, context: Context) -> State:
        name = frozenset([check_set(state.opened(), self.set)])
        return replace(state, off=state.off - name if self.on else state.off | name)


@dataclass(frozen=True)
class RenameSet(Command):
    """Rename a set of statements, or merge it into an existing set of that name."""

    op: ClassVar[str] = "rename-set"
    label: ClassVar[str] = "rename guidance"
    set: str
    new: str

    def apply(self, state: State, context: Context) -> State:
        after = rename_set(state.opened(), self.set, self.new)
        off = {self.new.strip() if name == self.set else name for name in state.off}
        return _keep_maps_current(state, replace(state, data=after, off=frozenset(off)))


@dataclass(frozen=True)
class ImportGuidance(Command):
    """Add the statements of a file. Existing statements stay.

    Attributes
    ----------
    blob, filename : str
    leave_out : bool
        Skip invalid rows.
    """

    op: ClassVar[str] = "import-guidance"
    label: ClassVar[str] = "import guidance"
    blob: str
    filename: str
    leave_out: bool = False

    def apply(self, state: State, context: Context) -> State:
        content, parse = context.blobs.get(self.blob), cached_parser(context.blobs.read_cache)
        added, read = imported_guidance(state.opened(), content, self.filename, context.when, parse)
        if not self.leave_out:
            read.strict()
        after = _with_data(state, added.data)
        return replace(after, problems=after.problems + read.problems)


@dataclass(frozen=True)
class SetLabels(Command):
    """Set labels of items. A missing label column is created.

    Attributes
    ----------
    dataset, column : str
    values : mapping of str to text, number or None
        Label by id; None removes it.
    note : str
        Reason, kept in the log.
    """

    op: ClassVar[str] = "set-labels"
    label: ClassVar[str] = "labels"
    dataset: str
    column: str
    values: Mapping[str, Any]
    note: str = ""

    def apply(self, state: State, context: Context) -> State:
        after = with_labels(state.opened(), self.dataset, self.column, self.values)
        unaffected = {card.key for card in methods() if Capability.LABELS not in card.capabilities}
        return _keep_maps_current(state, replace(state, data=after), unaffected)


def added_guidance(
    data: HeteroData, command: AddLinks | AddPairs | AddComparisons, when: str = ""
) -> AddResult:
    """Return what a command would add, update and contradict, without applying it."""
    default_set = COMPARISON_SET if isinstance(command, AddComparisons) else command.kind
    texts = {
        "note": command.note,
        "who": command.who,
        "when": when,
        "set": "" if command.set == default_set else command.set,
    }
    if isinstance(command, AddComparisons):
        meta = make_meta(len(command.rows), **texts)
        rows = comparisons_by_id(data, command.rows, command.weight, meta=meta)
        return add_comparisons(data, rows)
    meta = make_meta(len(command.pairs), **texts)
    kind, weight = command.kind, command.weight
    if isinstance(command, AddLinks):
        ends = command.source, command.target, command.pairs
        return add_links(data, links_by_id(data, *ends, weight, kind=kind, meta=meta))
    return add_statements(data, pairs_by_id(data, command.pairs, weight, kind=kind, meta=meta))


def imported_guidance(
    data: HeteroData, content: bytes, filename: str, when: str = "", parse: FileParser = parse_files
) -> tuple[AddResult, GuidanceRead]:
    """Return what a guidance file would add, update and contradict, and its errors."""
    # Without a column of sets, the statements form a set named after the file.
    read = read_guidance(filename, content, data, parse)
    name = "" if read.has_sets else PurePath(filename).stem.strip()[:MAX_NAME_LENGTH]
    added = add_statements(data, [_with_origin(part, name, when) for part in read.parts])
    return replace(added, data=read.labelled(added.data)), read


def _with_origin(guidance: Links | Comparisons, name: str, when: str) -> Links | Comparisons:
    """Add time and set to statements that lack them."""
    meta = guidance.meta if guidance.meta is not None else pd.DataFrame(index=range(len(guidance)))
    for column, text in (("when", when), ("set", name)):
        if text:
            texts = meta_text(meta, column, len(guidance))
            meta = meta.assign(**{column: texts.where(texts != "", text)})
    return guidance.noting(meta if meta.shape[1] else None)


def _with_data(state: State, data: HeteroData, *active_sets: str) -> State:
    """Return the state with new guidance and `active_sets` switched on."""
    off = (state.off & set(set_names(data))) - set(active_sets) if state.off else state.off
    return replace(state, data=data, off=off)


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
