"""A workspace: an append-only log of what was done, and the state that follows from it."""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar, NoReturn

from numpy.typing import ArrayLike

from hetviz._types import JsonObject
from hetviz.data.model.checks import frozen, global_rows
from hetviz.errors import HetvizError
from hetviz.workspace.commands.command import Command, Context, from_dict
from hetviz.workspace.commands.runs import EndJob, KeepFindings, RecordRun
from hetviz.workspace.state import State
from hetviz.workspace.store.blobs import BlobStore
from hetviz.workspace.store.journal import Journal
from hetviz.workspace.store.selection import (
    Glance,
    checked_camera,
    checked_groups,
    fingerprint_of,
    read_glance,
    write_glance,
)

UNDO, REDO = "undo", "redo"
INTERRUPTED = "hetviz was stopped while this was being made."
SAVED_MEANWHILE = "The project was saved as a file while this was being made."

_MOST_NOTES = 5
_BLOB = re.compile(rb"[0-9a-f]{64}")
LOOK_ONLY = "You may look at this project, but not change it. Ask its owner for a link to edit it."


@dataclass(frozen=True)
class _Lost(Command):
    """Stands in for an entry that cannot be replayed, so that later undos still fit."""

    op: ClassVar[str] = "lost"
    does: ClassVar[str] = "a step that was lost"


@dataclass(frozen=True, eq=False)
class Moment:
    """What a workspace holds at one moment, all of it of the same step.

    Attributes
    ----------
    log : tuple of dict
        See `Workspace.log`.
    lost : frozenset of int
        Places in the log of entries that could not be replayed.
    state : State
    glance : Glance
    """

    log: tuple[dict[str, Any], ...]
    lost: frozenset[int]
    state: State
    glance: Glance


class Workspace:
    """State, log, undo and redo.

    Parameters
    ----------
    blobs : BlobStore
        Where commands find the bytes they name.
    journal : Journal, optional
        Where the log is kept; what it holds is replayed. In memory only when absent.
    glance_file : Path, optional
        Where selection, groups and camera are kept.

    Attributes
    ----------
    log : list of dict
        JSON-ready entries, oldest first; undo and redo are entries too, so the log only grows.
        Replaying it gives the same state. ``at`` is when an entry was made.
    state : State
    selection_version : int
        Grows when the selection changes otherwise than in the browser.
    notes : list of str
        What could not be restored; for the user, see `take_notes`.
    """

    def __init__(
        self, blobs: BlobStore, journal: Journal | None = None, glance_file: Path | None = None
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
        self._glance, self._glance_file = Glance(), glance_file
        self._fingerprint = ""
        self.selection_version = 0
        # Replay must not write what it reads.
        self._journal: Journal | None = None
        if journal is not None:
            self._restore(journal)
        self._journal = journal
        self._interrupt()

    @classmethod
    def replay(
        cls, log: Iterable[Mapping[str, object]], blobs: BlobStore, lost: Collection[int] = ()
    ) -> Workspace:
        """Return the workspace that `log` leads to.

        Parameters
        ----------
        log : iterable of mapping
        blobs : BlobStore
        lost : collection of int
            Places of entries that are passed over, see `Moment`.

        Raises
        ------
        hetviz.errors.HetvizError
            If an entry cannot be carried out.
        """
        workspace = cls(blobs)
        for place, entry in enumerate(log):
            if place in lost:
                workspace._pass_over(entry)
            else:
                workspace._again(entry)
        return workspace

    def keep(self, journal: Journal, glance_file: Path) -> None:
        """Keep all that follows on the disk, where what a replay led to is kept already."""
        with self._lock:
            self._journal, self._glance_file = journal, glance_file
            self._interrupt(SAVED_MEANWHILE)

    def moment(self) -> Moment:
        """Return all that it holds now."""
        with self._lock:
            return Moment(tuple(self.log), frozenset(self._lost), self.state, self.glance)

    @property
    def version(self) -> int:
        """Number of log entries; grows with every change."""
        return len(self.log)

    def do(self, command: Command) -> State:
        """Carry out a command and log it.

        Raises
        ------
        hetviz.errors.HetvizError
            If it cannot be carried out or saved; state and log are as before.
        """
        return self._do(command, _now())

    @property
    def is_busy(self) -> bool:
        """Whether a job that it started may still end."""
        pending = self.state.pending
        return pending is not None and pending.outcome is None

    @property
    def steps(self) -> int:
        """Number of steps that undo could take back."""
        return len(self._past)

    @property
    def undo_name(self) -> str | None:
        """What undo would take back, or None."""
        return self._past[-1][0].named if self._past else None

    @property
    def redo_name(self) -> str | None:
        """What redo would do again, or None."""
        return self._future[-1][0].named if self._future else None

    def undo(self) -> State:
        """Take back the last step.

        Raises
        ------
        hetviz.errors.HetvizError
            If there is none, or it cannot be saved.
        """
        return self._step(self._past, self._future, UNDO, _now())

    def redo(self) -> State:
        """Do the last undone step again.

        Raises
        ------
        hetviz.errors.HetvizError
            If there is none, or it cannot be saved.
        """
        return self._step(self._future, self._past, REDO, _now())

    @property
    def glance(self) -> Glance:
        """Selection, groups and camera; empty once the rows are others than they were made for."""
        with self._lock:
            if self._glance.fingerprint == self._fingerprint:
                return self._glance
            return Glance(fingerprint=self._fingerprint)

    def set_glance(
        self,
        *,
        selection: ArrayLike | None = None,
        camera: Mapping[str, object] | None = None,
        groups: Mapping[str, ArrayLike] | None = None,
        heard: int | None = None,
    ) -> None:
        """Keep what is looked at; what is None stays.

        Parameters
        ----------
        selection : array of int, optional
            Global rows; an empty one clears the selection.
        camera : mapping, optional
            See `Glance`; an empty one shows all.
        groups : mapping of str to array of int, optional
            Rows of the groups to set; empty ones are given up, others stay.
        heard : int, optional
            Version that the browser gave a selection it made; `selection_version` becomes at least
            that. It grows by one where the selection was made here.

        Raises
        ------
        hetviz.errors.DataError
            If there are no such rows or groups, or it is no camera.
        """
        with self._lock:
            glance = self.glance
            n_rows = 0 if self.state.data is None else self.state.data.n_rows
            if selection is not None:
                glance = replace(glance, selection=frozen(global_rows(selection, n_rows)))
            if camera is not None:
                glance = replace(glance, camera=checked_camera(camera))
            if groups is not None:
                merged = checked_groups({**glance.groups, **groups}, n_rows)
                glance = replace(glance, groups=merged)
            if selection is not None:
                made = self.selection_version + 1
                self.selection_version = made if heard is None else max(made - 1, heard)
            self._glance = glance
            if self._glance_file is not None:
                write_glance(self._glance_file, glance, self.selection_version)

    def take_notes(self) -> list[str]:
        """Return what could not be restored, and forget it."""
        with self._lock:
            taken, self.notes = self.notes, []
            return taken

    def close(self) -> None:
        """Give up the journal, so that another process may open it."""
        if self._journal is not None:
            self._journal.close()

    def _do(self, command: Command, at: str) -> State:
        with self._lock:
            after = command.apply(self.state, Context(self.blobs, at, str(self._n_runs + 1)))
            before = self.state
            self._commit({**command.to_dict(), "at": at}, after)
            self._count(command)
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
            self._commit({"op": op, "at": at}, _stepped(other, before))
            source.pop()
            target.append((command, before))
            return self.state

    def _commit(self, entry: JsonObject, after: State) -> None:
        # First on the disk: what is seen to be done has been kept.
        if self._journal is not None:
            self._journal.append(entry)
        self.log.append(entry)
        if after.data is not self.state.data or after.source != self.state.source:
            fingerprint = fingerprint_of(after)
            if fingerprint != self._fingerprint:
                self._fingerprint = fingerprint
                self.selection_version += 1
        self.state = after

    def _count(self, command: Command) -> None:
        # Undone and lost runs count as well, so that an id never comes to mean another run.
        self._n_runs += isinstance(command, (RecordRun, KeepFindings))

    def _again(self, entry: Mapping[str, object]) -> None:
        at = str(entry.get("at", ""))
        if entry["op"] == UNDO:
            self._step(self._past, self._future, UNDO, at)
        elif entry["op"] == REDO:
            self._step(self._future, self._past, REDO, at)
        else:
            self._do(from_dict(entry), at)

    def _restore(self, journal: Journal) -> None:
        lost = 0
        for line in journal.lines:
            entry: Any = None
            try:
                entry = json.loads(line)
                if not isinstance(entry, dict):
                    raise ValueError("an entry is a mapping")
                self._again(entry)
            except (HetvizError, ValueError, TypeError, AttributeError, LookupError) as error:
                lost += 1
                if lost <= _MOST_NOTES:
                    self.notes.append(_told(entry, error))
                self._pass_over(entry)
        if lost > _MOST_NOTES:
            self.notes.append(f"Another {lost - _MOST_NOTES:,} steps could not be repeated.")
        if not lost:
            # Also what was undone is named in the log, so that redo finds it.
            self.blobs.sweep({key.decode() for key in _BLOB.findall(b"\n".join(journal.lines))})
        if self._glance_file is not None and journal.lines:
            self._glance, version = read_glance(self._glance_file)
            # More than any browser has heard of, even from a run whose last number was not kept.
            self.selection_version = max(version + 1, int(time.time()))

    def _pass_over(self, entry: object) -> None:
        """Keep the place of an entry that cannot be replayed; the state stays as it is."""
        plain = dict(entry) if isinstance(entry, Mapping) else {"op": _Lost.op}
        self._lost.add(len(self.log))
        self.log.append(plain)
        command: Command
        try:
            command = from_dict(plain)
        except HetvizError:
            command = _Lost()
        self._count(command)
        if command.is_step and plain.get("op") not in (UNDO, REDO):
            self._past.append((_Lost(), self.state))
            self._future.clear()

    def _interrupt(self, why: str = INTERRUPTED) -> None:
        """Say of a job that did not survive the last process that it was interrupted."""
        pending = self.state.pending
        if pending is not None and pending.outcome is None:
            ended = replace(pending, outcome="interrupted", message=why)
            try:
                self.do(EndJob(pending.job, ended.outcome, ended.message))
            except HetvizError:
                # It cannot be written down now; the next start finds the same.
                self.state = replace(self.state, pending=ended)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _told(entry: object, error: Exception) -> str:
    op = entry.get("op") if isinstance(entry, Mapping) else None
    step = str(op).replace("-", " ") if op else "a step that cannot be read"
    reason = str(error) if isinstance(error, HetvizError) else "Its line in the journal is damaged."
    return f"A step of this project could not be repeated ({step}), so it is left out. {reason}"


def _stepped(state: State, now: State) -> State:
    """Return the state to step to; jobs are no part of it, nor is how the map is shown.

    The view stays as far as it means something for the data stepped to.
    """
    same = (
        state.data is not None
        and now.data is not None
        and set(state.data.datasets) == set(now.data.datasets)
    )
    return replace(state, view=now.view if same else state.view, pending=now.pending)


class Looking(Workspace):
    """Follows another workspace; has its own selection and camera, which are kept nowhere.

    Parameters
    ----------
    other : Workspace
    """

    def __init__(self, other: Workspace) -> None:
        super().__init__(_ReadOnly(other.blobs.folder))
        self._other = other
        self.follow(other)

    def follow(self, other: Workspace) -> None:
        """Take over what the other workspace holds now."""
        moment = other.moment()
        self._other = other
        if moment.state is not self.state:
            # Told apart by what fingerprints tell apart, so that a selection of other rows goes.
            self.log, self.state = list(moment.log), moment.state
            if self._fingerprint != moment.glance.fingerprint:
                self._fingerprint = moment.glance.fingerprint
                self.selection_version += 1

    def do(self, command: Command) -> State:
        """Refuse it."""
        _refuse()

    def undo(self) -> State:
        """Refuse it."""
        _refuse()

    def redo(self) -> State:
        """Refuse it."""
        _refuse()


class _ReadOnly(BlobStore):
    def put(self, content: bytes) -> str:
        _refuse()


def _refuse() -> NoReturn:
    raise HetvizError(LOOK_ONLY)
