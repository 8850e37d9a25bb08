"""A workspace: an append-only log of what was done, and the state that follows from it."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from hetviz.errors import HetvizError
from hetviz.workspace.blobs import BlobStore
from hetviz.workspace.commands import Command, from_dict
from hetviz.workspace.reducer import apply
from hetviz.workspace.state import State

UNDO, REDO = "undo", "redo"


class Workspace:
    """State, log, undo and redo.

    Parameters
    ----------
    blobs : BlobStore
        Where commands find the bytes they name.

    Attributes
    ----------
    log : list of dict
        JSON-ready entries, oldest first; undo and redo are entries too, so the log only grows.
        Replaying it gives the same state.
    state : State
    """

    def __init__(self, blobs: BlobStore) -> None:
        self.blobs = blobs
        self.log: list[dict[str, Any]] = []
        self.state = State()
        self._past: list[tuple[Command, State]] = []
        self._future: list[tuple[Command, State]] = []
        self._lock = threading.RLock()

    @classmethod
    def replay(cls, log: Iterable[Mapping[str, Any]], blobs: BlobStore) -> Workspace:
        """Return the workspace that `log` leads to."""
        workspace = cls(blobs)
        for entry in log:
            if entry["op"] == UNDO:
                workspace.undo()
            elif entry["op"] == REDO:
                workspace.redo()
            else:
                workspace.do(from_dict(entry))
        return workspace

    @property
    def version(self) -> int:
        """Number of log entries; grows with every change."""
        return len(self.log)

    def do(self, command: Command) -> State:
        """Carry out a command and log it.

        Raises
        ------
        hetviz.errors.HetvizError
            If it cannot be carried out; state and log are as before.
        """
        with self._lock:
            after = apply(self.state, command, self.blobs)
            if command.undoable:
                self._past.append((command, self.state))
                self._future.clear()
            self._commit(command.to_dict(), after)
            return after

    @property
    def steps(self) -> int:
        """Number of steps that undo could take back."""
        return len(self._past)

    @property
    def undo_name(self) -> str | None:
        """What undo would take back, or None."""
        return self._past[-1][0].does if self._past else None

    @property
    def redo_name(self) -> str | None:
        """What redo would do again, or None."""
        return self._future[-1][0].does if self._future else None

    def undo(self) -> State:
        """Take back the last step.

        Raises
        ------
        hetviz.errors.HetvizError
            If there is none.
        """
        return self._step(self._past, self._future, UNDO)

    def redo(self) -> State:
        """Do the last undone step again.

        Raises
        ------
        hetviz.errors.HetvizError
            If there is none.
        """
        return self._step(self._future, self._past, REDO)

    def _step(
        self,
        source: list[tuple[Command, State]],
        target: list[tuple[Command, State]],
        op: str,
    ) -> State:
        with self._lock:
            if not source:
                raise HetvizError(f"There is nothing to {op}.")
            command, other = source.pop()
            target.append((command, self.state))
            self._commit({"op": op}, _with_view(other, self.state))
            return self.state

    def _commit(self, entry: dict[str, Any], after: State) -> None:
        self.log.append(entry)
        self.state = after


def _with_view(state: State, now: State) -> State:
    """Keep how the map is shown, as far as it means something for the data stepped to."""
    if state.data is None or now.data is None or set(state.data.datasets) != set(now.data.datasets):
        return state
    return replace(state, view=now.view)
