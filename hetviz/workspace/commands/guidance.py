"""Carrying out what a user says of items: statements, their sets, and labels."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import PurePath
from typing import Any

import pandas as pd

from hetviz.algorithms.base import Capability
from hetviz.algorithms.registry import methods
from hetviz.data import Comparisons, HeteroData, Labels, Links
from hetviz.data.edits.adding import Stated, add_all, add_comparisons, add_links
from hetviz.data.edits.by_id import comparisons_by_id, links_by_id, pairs_by_id, row_by_id
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
from hetviz.workspace.commands.guidance_commands import (
    AddComparisons,
    AddLinks,
    AddPairs,
    DropStatements,
    EditStatements,
    GuidanceCommand,
    ImportGuidance,
    RenameSet,
    ReplaceDataset,
    ReverseComparisons,
    SetLabels,
    SwitchSet,
)
from hetviz.workspace.commands.replacing import replaced
from hetviz.workspace.state import State
from hetviz.workspace.store.blobs import BlobStore
from hetviz.workspace.store.content import keeping

_NOTES = {"note", "who", "set"}


def guide(state: State, command: GuidanceCommand, when: str, blobs: BlobStore) -> State:
    """Return the state after a command about guidance, given at a time.

    Raises
    ------
    hetviz.errors.DataError
        Naming every id, key, name and number that does not fit.
    """
    data = state.opened()
    match command:
        case AddLinks() | AddPairs():
            return _with(state, stated(data, command, when).data, command.set or command.kind)
        case AddComparisons():
            return _with(state, stated(data, command, when).data, command.set or COMPARED)
        case EditStatements():
            return _edited(state, command.changes, when)
        case DropStatements():
            return _with(state, drop_statements(data, command.keys))
        case ReverseComparisons():
            return _with(state, reverse_comparisons(data, command.keys))
        case SwitchSet():
            name = frozenset([checked_set(data, command.set)])
            return replace(state, off=state.off - name if command.on else state.off | name)
        case RenameSet():
            after = rename_set(data, command.set, command.new)
            off = {command.new.strip() if name == command.set else name for name in state.off}
            return _still_fitting(state, replace(state, data=after, off=frozenset(off)))
        case ImportGuidance():
            return _imported(state, command, when, blobs)
        case SetLabels():
            return _labelled(state, command)
        case ReplaceDataset():
            return replaced(state, command, blobs)


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
    return add_all(data, [_dated(part, name, when) for part in read.parts]), read


def _dated(said: Links | Comparisons, name: str, when: str) -> Links | Comparisons:
    """Note when statements came in, and from where, of those that do not say so themselves."""
    meta = said.meta if said.meta is not None else pd.DataFrame(index=range(len(said)))
    for column, text in (("when", when), ("set", name)):
        if text:
            texts = text_of(meta, column, len(said))
            meta = meta.assign(**{column: texts.where(texts != "", text)})
    return said.noting(meta if meta.shape[1] else None)


def _imported(state: State, command: ImportGuidance, when: str, blobs: BlobStore) -> State:
    content = blobs.get(command.blob)
    parse = keeping(blobs.kept)
    met, read = imported(state.opened(), content, command.filename, when, parse)
    if not command.leave_out:
        read.strict()
    after = _with(state, met.data)
    return replace(after, problems=after.problems + read.problems)


def _with(state: State, data: HeteroData, *on: str) -> State:
    """Return the state with other guidance; what is added to is on, and what is gone is not off."""
    off = (state.off & set(set_names(data))) - set(on) if state.off else state.off
    return replace(state, data=data, off=off)


def _edited(state: State, changes: Mapping[str, Mapping[str, Any]], when: str) -> State:
    if any("when" in fields for fields in changes.values()):
        what = "when something was said is noted by itself"
        raise DataError(Problem("unknown-field", "guidance", what, "when"))
    dated = {key: {**fields, "when": when} for key, fields in changes.items()}
    after = _with(state, edit_statements(state.opened(), dated))
    only_notes = all(set(fields) <= _NOTES for fields in changes.values())
    return _still_fitting(state, after) if only_notes else after


def _labelled(state: State, command: SetLabels) -> State:
    data = state.opened()
    rows = row_by_id(data, command.dataset, command.values, f"labels {command.column!r}")
    known = [
        label
        for label in data.labels
        if (label.dataset, label.name) == (command.dataset, command.column)
    ]
    part = data[command.dataset]
    values: list[Any] = [None] * len(part)
    if known:
        values = list(known[0].values)
    elif part.table is not None and command.column in part.table.columns:
        values = list(part.table[command.column])
    for row, (id, value) in zip(rows.tolist(), command.values.items(), strict=True):
        if not (value is None or isinstance(value, str | int | float)):
            where = f"labels {command.column!r}, {id}"
            raise DataError(Problem("bad-label", where, "text or a number is needed", repr(value)))
        values[row] = value
    column = Labels(command.dataset, command.column, values)
    labels = [column if label is known[0] else label for label in data.labels] if known else None
    after = HeteroData(
        data.datasets, data.links, data.comparisons, labels or [*data.labels, column]
    )
    blind = {card.key for card in methods() if Capability.LABELS not in card.capabilities}
    return _still_fitting(state, replace(state, data=after), blind)


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
        kind: replace(kept, fingerprint=now) if kept.fingerprint == was else kept
        for kind, kept in after.findings.items()
    }
    return replace(after, runs=runs, findings=findings)
