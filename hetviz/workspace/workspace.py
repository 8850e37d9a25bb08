"""Log of the commands of a project, and the state that results from it."""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NoReturn

from numpy.typing import ArrayLike

from hetviz._text import count
from hetviz._types import JsonObject
from hetviz.data.model.checks import check_global_rows, read_only
from hetviz.errors import HetvizError
from hetviz.workspace.commands.command import Command, Context, from_dict
from hetviz.workspace.commands.runs import EndJob, KeepFindings, RecordMap, RecordRun
from hetviz.workspace.commands.state import State
from hetviz.workspace.store.blobs import BlobStore
from hetviz.workspace.store.journal import CUT, Journal
from hetviz.workspace.view_state import (
    ViewState,
    fingerprint_of,
    read_view_state,
    validate_camera,
    validate_groups,
    write_view_state,
)

UNDO, REDO = "undo", "redo"
INTERRUPTED = "hetviz was stopped while this was being made."
SAVED_MEANWHILE = "The project was saved as a file while this was being made."

_MAX_NOTES = 5
_BLOB_KEY = re.compile(rb"[0-9a-f]{64}")
READ_ONLY_MESSAGE = (
    "You may look at this project, but not change it. Ask its owner for a link to edit it."
)


@dataclass(frozen=True)
class _LostStep(Command, op="lost", label="lost step"):
    """A step that cannot be replayed. It keeps the later undo steps aligned."""


@dataclass(frozen=True, eq=False)
class Snapshot:
    """Content of a workspace after one step."""

    log: tuple[dict[str, Any], ...]  # See `Workspace.log`.
    lost: frozenset[int]  # Positions in the log of entries that could not be replayed.
    state: State
    view_state: ViewState


class Workspace:
    """A project: state, log, undo and redo.

    `blobs`: store of the bytes that commands refer to. `journal`: log on disk, which is replayed.
    Without it the workspace is in memory only. `glance_file`: file of selection, groups and
    camera.
    `log`: JSON-ready entries, oldest first. Undo and redo are entries too, so the log only grows.
    Replaying it gives the same state. ``at`` is the time of an entry. `selection_version`: grows
    when the selection changes on the server. `notes`: messages about steps that could not be
    restored, see `pop_notes`.
    """

    def __init__(
        self, blobs: BlobStore, journal: Journal | None = None, view_state_file: Path | None = None
    ) -> None:
        self.blobs = blobs
        self.log: list[dict[str, Any]] = []
        self.state = State()
        self.notes: list[str] = []
        self._past: list[tuple[Command, State]] = []
        self._future: list[tuple[Command, State]] = []
        self._n_runs = 0
        self._lost: set[int] = set()
        self._lock = threading.RLock()
        self._view_state, self._view_state_file = ViewState(), view_state_file
        self._fingerprint = ""
        self.selection_version = 0
        # The replay must not write to the journal.
        self._journal: Journal | None = None
        if journal is not None:
            self._restore(journal)
        self._journal = journal
        self._mark_interrupted()

    @classmethod
    def replay(
        cls, log: Iterable[Mapping[str, object]], blobs: BlobStore, lost: Collection[int] = ()
    ) -> Workspace:
        """Return the workspace that `log` leads to."""
        workspace = cls(blobs)
        for position, entry in enumerate(log):
            if position in lost:
                workspace._skip_entry(entry)
            else:
                workspace._replay_entry(entry)
        return workspace

    def attach_journal(self, journal: Journal, view_state_file: Path) -> None:
        """Write further steps to disk."""
        with self._lock:
            self._journal, self._view_state_file = journal, view_state_file
            self._mark_interrupted(SAVED_MEANWHILE)

    def snapshot(self) -> Snapshot:
        """Return the log, state and view state of one moment."""
        with self._lock:
            return Snapshot(tuple(self.log), frozenset(self._lost), self.state, self.view_state)

    @property
    def version(self) -> int:
        """Number of log entries, which grows with every change."""
        return len(self.log)

    def do(self, command: Command, who: str = "") -> State:
        """Carry out a command and log it, with the name of the person if there is one."""
        return self._do(command, _now(), who)

    @property
    def is_busy(self) -> bool:
        """Whether a job of this project is waiting or running."""
        pending = self.state.pending
        return pending is not None and pending.outcome is None

    @property
    def steps(self) -> int:
        return len(self._past)

    @property
    def undo_name(self) -> str | None:
        """Label of the step that undo reverts, or None."""
        return self._past[-1][0].undo_label if self._past else None

    @property
    def redo_name(self) -> str | None:
        """Label of the step that redo repeats, or None."""
        return self._future[-1][0].undo_label if self._future else None

    def undo(self) -> State:
        """Undo the last step."""
        return self._step(self._past, self._future, UNDO, _now())

    def redo(self) -> State:
        """Redo the last undone step."""
        return self._step(self._future, self._past, REDO, _now())

    @property
    def view_state(self) -> ViewState:
        """Selection, groups and camera. Empty if the rows have changed."""
        with self._lock:
            if self._view_state.fingerprint == self._fingerprint:
                return self._view_state
            return ViewState(fingerprint=self._fingerprint)

    def set_view_state(
        self,
        *,
        selection: ArrayLike | None = None,
        camera: Mapping[str, object] | None = None,
        groups: Mapping[str, ArrayLike] | None = None,
        browser_version: int | None = None,
    ) -> None:
        """Change selection, camera or groups. None leaves a value unchanged."""
        with self._lock:
            view_state = self.view_state
            n_rows = 0 if self.state.data is None else self.state.data.n_rows
            if selection is not None:
                view_state = replace(
                    view_state, selection=read_only(check_global_rows(selection, n_rows))
                )
            if camera is not None:
                view_state = replace(view_state, camera=validate_camera(camera))
            if groups is not None:
                merged = validate_groups({**view_state.groups, **groups}, n_rows)
                view_state = replace(view_state, groups=merged)
            if selection is not None:
                next_version = self.selection_version + 1
                self.selection_version = (
                    next_version
                    if browser_version is None
                    else max(next_version - 1, browser_version)
                )
            self._view_state = view_state
            if self._view_state_file is not None:
                write_view_state(self._view_state_file, view_state, self.selection_version)

    def pop_notes(self) -> list[str]:
        """Return and clear the messages about steps that could not be restored."""
        with self._lock:
            notes, self.notes = self.notes, []
            return notes

    @property
    def is_in_place(self) -> bool:
        """Whether the journal on disk is still the one that is open."""
        return self._journal is None or self._journal.is_in_place

    def close(self) -> None:
        """Release the journal for other processes."""
        if self._journal is not None:
            self._journal.close()

    def _do(self, command: Command, at: str, who: str) -> State:
        with self._lock:
            context = Context(self.blobs, at, str(self._n_runs + 1), who)
            after = command.apply(self.state, context)
            before = self.state
            author = {"by": who} if who else {}
            self._commit({**command.to_dict(), **author, "at": at}, after)
            self._count_run(command)
            if command.is_step:
                self._past.append((command, before))
                self._future.clear()
            return after

    def _step(
        self,
        source: list[tuple[Command, State]],
        target: list[tuple[Command, State]],
        op: str,
        at: str,
    ) -> State:
        with self._lock:
            if not source:
                raise HetvizError(f"There is nothing to {op}.")
            command, other = source[-1]
            before = self.state
            self._commit({"op": op, "at": at}, _state_after_step(other, before))
            source.pop()
            target.append((command, before))
            return self.state

    def _commit(self, entry: JsonObject, after: State) -> None:
        # The journal comes first, so that only saved steps become visible.
        if self._journal is not None:
            self._journal.append(entry)
        self.log.append(entry)
        if after.data is not self.state.data or after.source != self.state.source:
            fingerprint = fingerprint_of(after)
            if fingerprint != self._fingerprint:
                self._fingerprint = fingerprint
                self.selection_version += 1
        self.state = after

    def _count_run(self, command: Command) -> None:
        # Undone and lost runs count too, so that run ids stay unique.
        self._n_runs += isinstance(command, (RecordMap, RecordRun, KeepFindings))

    def _replay_entry(self, entry: Mapping[str, object]) -> None:
        at = str(entry.get("at", ""))
        if entry["op"] == UNDO:
            self._step(self._past, self._future, UNDO, at)
        elif entry["op"] == REDO:
            self._step(self._future, self._past, REDO, at)
        else:
            self._do(from_dict(entry), at, str(entry.get("by", "")))

    def _restore(self, journal: Journal) -> None:
        n_lost = 0
        for line in journal.lines:
            entry: Any = None
            try:
                entry = json.loads(line)
                if not isinstance(entry, dict):
                    raise ValueError("an entry must be a mapping")
                self._replay_entry(entry)
            except (HetvizError, ValueError, TypeError, AttributeError, LookupError) as error:
                n_lost += 1
                if n_lost <= _MAX_NOTES:
                    self.notes.append(_lost_note(entry, error))
                self._skip_entry(entry)
        if journal.rest:
            self.notes.append(CUT)
        if n_lost > _MAX_NOTES:
            self.notes.append(f"{count(n_lost - _MAX_NOTES, 'more step')} could not be repeated.")
        if not n_lost:
            # The log also names the blobs of undone steps, which redo needs.
            self.blobs.sweep({key.decode() for key in _BLOB_KEY.findall(b"\n".join(journal.lines))})
        if self._view_state_file is not None and journal.lines:
            self._view_state, version = read_view_state(self._view_state_file)
            # Greater than any version that a browser may know from an earlier process.
            self.selection_version = max(version + 1, int(time.time()))

    def _skip_entry(self, entry: object) -> None:
        """Log an entry that cannot be replayed, without changing the state."""
        fields = dict(entry) if isinstance(entry, Mapping) else {"op": _LostStep.op}
        self._lost.add(len(self.log))
        self.log.append(fields)
        command: Command
        try:
            command = from_dict(fields)
        except HetvizError:
            command = _LostStep()
        self._count_run(command)
        if command.is_step and fields.get("op") not in (UNDO, REDO):
            self._past.append((_LostStep(), self.state))
            self._future.clear()

    def _mark_interrupted(self, message: str = INTERRUPTED) -> None:
        """Mark a job that did not survive the last process as interrupted."""
        pending = self.state.pending
        if pending is not None and pending.outcome is None:
            ended = replace(pending, outcome="interrupted", message=message)
            try:
                self.do(EndJob(pending.job, ended.outcome, ended.message))
            except HetvizError:
                # The journal cannot be written. The next start tries again.
                self.state = replace(self.state, pending=ended)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _lost_note(entry: object, error: Exception) -> str:
    op = entry.get("op") if isinstance(entry, Mapping) else None
    step = str(op).replace("-", " ") if op else "a step that cannot be read"
    reason = str(error) if isinstance(error, HetvizError) else "Its line in the journal is damaged."
    return f"A step of this project could not be repeated ({step}), so it is left out. {reason}"


def _state_after_step(state: State, current: State) -> State:
    """Return the state after undo or redo. Jobs stay, and display settings but chosen colours."""
    same_datasets = (
        state.data is not None
        and current.data is not None
        and set(state.data.datasets) == set(current.data.datasets)
    )
    view = state.view
    if same_datasets:
        view = replace(current.view, swatches=state.view.swatches)
    return replace(state, view=view, pending=current.pending)


class ReadOnlyWorkspace(Workspace):
    """A view of another workspace, with its own selection and camera, which are not saved."""

    def __init__(self, other: Workspace) -> None:
        super().__init__(_ReadOnlyBlobStore(other.blobs.folder))
        self._other = other
        self.follow(other)

    def follow(self, other: Workspace) -> None:
        """Take over the current content of another workspace."""
        snapshot = other.snapshot()
        self._other = other
        if snapshot.state is not self.state:
            # A change of the fingerprint clears a selection of other rows.
            self.log, self.state = list(snapshot.log), snapshot.state
            if self._fingerprint != snapshot.view_state.fingerprint:
                self._fingerprint = snapshot.view_state.fingerprint
                self.selection_version += 1

    def do(self, command: Command, who: str = "") -> State:
        """Raise an error."""
        _raise_read_only()

    def undo(self) -> State:
        """Raise an error."""
        _raise_read_only()

    def redo(self) -> State:
        """Raise an error."""
        _raise_read_only()


class EditorWorkspace(ReadOnlyWorkspace):
    """Another workspace that can be changed, with its own selection and camera, not saved."""

    def __init__(self, other: Workspace) -> None:
        super().__init__(other)
        self.blobs = other.blobs

    def follow(self, other: Workspace) -> None:
        """Take over the current content of another workspace."""
        super().follow(other)
        self.blobs = other.blobs

    def snapshot(self) -> Snapshot:
        """Return log and state of one moment, with the own view state."""
        return replace(self._other.snapshot(), view_state=self.view_state)

    @property
    def steps(self) -> int:
        return self._other.steps

    @property
    def undo_name(self) -> str | None:
        """Label of the step that undo reverts, or None."""
        return self._other.undo_name

    @property
    def redo_name(self) -> str | None:
        """Label of the step that redo repeats, or None."""
        return self._other.redo_name

    def pop_notes(self) -> list[str]:
        """Return and clear the messages about steps that could not be restored."""
        return self._other.pop_notes()

    def do(self, command: Command, who: str = "") -> State:
        """Carry out a command in the other workspace."""
        return self._followed(self._other.do(command, who))

    def undo(self) -> State:
        """Undo the last step of the other workspace."""
        return self._followed(self._other.undo())

    def redo(self) -> State:
        """Redo the last undone step of the other workspace."""
        return self._followed(self._other.redo())

    def _followed(self, state: State) -> State:
        self.follow(self._other)
        return state


class _ReadOnlyBlobStore(BlobStore):
    def put(self, content: bytes) -> str:
        _raise_read_only()


def _raise_read_only() -> NoReturn:
    raise HetvizError(READ_ONLY_MESSAGE)
