"""Workspaces of this server by session id. The id grants access, so it must never be logged."""

from __future__ import annotations

import atexit
import contextlib
import json
import logging
import shutil
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

from hetviz.errors import HetvizError
from hetviz.workspace.commands.opening import OpenSample
from hetviz.workspace.store.blobs import BlobStore
from hetviz.workspace.store.files import (
    BLOBS,
    JOURNAL,
    READ,
    VIEW_STATE,
    home,
    is_session_id,
    make_folder,
    new_session_id,
)
from hetviz.workspace.store.journal import InUse, Journal
from hetviz.workspace.workspace import Workspace

# Open tabs send requests every few seconds, background tabs at least every minute.
IDLE_S = 600.0
DAYS = 30
# Temporary files from before are of processes that have ended.
_STARTED_AT = time.time()
DAYS_EMPTY = 1

READ_AGAIN = (
    "This project was replaced on disk while it was open, for example from a backup. "
    "You see what is there now."
)

log = logging.getLogger(__name__)

__all__ = ["SESSIONS", "InUse", "Sessions", "is_session_id", "new_session_id"]


class _Slot:
    """A session, with a lock that is held while it is restored."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.workspace: Workspace | None = None
        self.last_used = time.monotonic()


class Sessions:
    """Workspaces by session id, each with its own folder: journal, view state and blobs."""

    def __init__(self, folder: Path | None = None) -> None:
        self._requested_folder = folder
        self._folder: Path | None = None
        self._durable = True
        self._lock = threading.Lock()
        self._slots: dict[str, _Slot] = {}
        # Whether a session belongs to this process, if several serve the folder.
        self.is_own: Callable[[str], bool] = is_session_id

    @property
    def is_durable(self) -> bool:
        """Whether sessions survive this process."""
        self._root()
        return self._durable

    def get(self, id: str) -> Workspace:
        """Return the workspace of a session, restored or created on first use."""
        if not is_session_id(id):
            raise ValueError("not a session id")
        if not self.is_own(id):
            # Its own process could not open it then.
            raise InUse("This project belongs to another process of the server. Reload the page.")
        folder = self._root() / id
        with self._lock:
            slot = self._slots.setdefault(id, _Slot())
        # Restoring one session must not block others.
        with slot.lock:
            slot.last_used = time.monotonic()
            # A deleted project stays as it is, and refuses further steps.
            is_replaced = (
                slot.workspace is not None
                and not slot.workspace.is_in_place
                and (folder / JOURNAL).exists()
            )
            if slot.workspace is not None and is_replaced:
                slot.workspace.close()
            if slot.workspace is None or is_replaced:
                slot.workspace = _open(folder)
                slot.workspace.notes += [READ_AGAIN] * is_replaced
            return slot.workspace

    def adopt(self, make: Callable[[Path], Workspace]) -> str:
        """Create a session whose folder `make` fills, and return its id. On errors, remove it."""
        id = self.new_id()
        folder = self._root() / id
        try:
            slot = _Slot()
            slot.workspace = make(folder)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        with self._lock:
            self._slots[id] = slot
        return id

    def new_id(self) -> str:
        """Return a new session id of this process."""
        while not self.is_own(id := new_session_id()):
            pass
        return id

    def exists(self, id: str) -> bool:
        """Whether a session is open or saved, even if it cannot be read."""
        if not is_session_id(id):
            return False
        with self._lock:
            is_open = id in self._slots
        return is_open or (self._root() / id / JOURNAL).exists()

    def find(self, id: str) -> Workspace | None:
        """Return the workspace of an open or saved session, or None."""
        if not is_session_id(id):
            return None
        with self._lock:
            slot = self._slots.get(id)
        is_open = slot is not None and slot.workspace is not None
        if not is_open and not (self._root() / id / JOURNAL).exists():
            return None
        try:
            return self.get(id)
        except HetvizError:
            return None

    def remove(self, id: str) -> bool:
        """Close and delete a session; return whether it existed."""
        if not self.exists(id):
            return False
        with self._lock:
            slot = self._slots.setdefault(id, _Slot())
        with slot.lock:
            if slot.workspace is not None:
                slot.workspace.close()
                slot.workspace = None
            # The journal is deleted first: a folder without one is not a session.
            folder = self._root() / id
            (folder / JOURNAL).unlink(missing_ok=True)
            shutil.rmtree(folder, ignore_errors=True)
        with self._lock:
            self._slots.pop(id, None)
        return True

    @property
    def n_open(self) -> int:
        with self._lock:
            return sum(slot.workspace is not None for slot in self._slots.values())

    @property
    def home_folder(self) -> Path:
        """The folder of the sessions and of other server files."""
        return self._root().parent if self.is_durable else self._root()

    def close_idle(self, after: float = IDLE_S) -> list[str]:
        """Remove idle sessions from memory and return their ids."""
        # They are restored from disk when needed. Sessions with a job stay, and all stay if they
        # are not durable.
        if not self.is_durable:
            return []
        with self._lock:
            slots = dict(self._slots)
        rested, oldest = [], time.monotonic() - after
        for id, slot in slots.items():
            with slot.lock:
                workspace = slot.workspace
                if workspace is None or slot.last_used > oldest or workspace.is_busy:
                    continue
                workspace.close()
                slot.workspace = None
                rested.append(id)
        return rested

    def close(self) -> None:
        """Close all sessions, so that another process may open them."""
        with self._lock:
            slots = list(self._slots.values())
            self._slots.clear()
        for slot in slots:
            with slot.lock:
                if slot.workspace is not None:
                    slot.workspace.close()

    def _root(self) -> Path:
        with self._lock:
            if self._folder is None:
                self._folder = self._make_root()
            return self._folder

    def _make_root(self) -> Path:
        folder = home() / "sessions" if self._requested_folder is None else self._requested_folder
        try:
            make_folder(folder)
            with tempfile.TemporaryFile(dir=folder):
                pass
        except OSError as error:
            self._durable = False
            log.warning("Projects cannot be saved in %s: %s", folder, error.strerror)
            spare = Path(tempfile.mkdtemp(prefix="hetviz-"))
            atexit.register(shutil.rmtree, spare, ignore_errors=True)
            return spare
        remove_unused_sessions(folder)
        return folder


def _open(folder: Path) -> Workspace:
    journal = Journal(folder / JOURNAL)
    if journal.lines:
        # Locked, so that no other process writes here.
        remove_partial_files(folder)
    return Workspace(BlobStore(folder / BLOBS), journal, folder / VIEW_STATE)


def remove_partial_files(folder: Path) -> int:
    """Remove temporary files of processes that ended while they wrote; return their number."""
    n = 0
    for place in (folder, folder / BLOBS, folder / READ):
        with contextlib.suppress(OSError):
            for path in place.glob("tmp*"):
                if path.stat().st_mtime < _STARTED_AT:
                    path.unlink()
                    n += 1
    return n


def remove_unused_sessions(folder: Path, now: float | None = None) -> int:
    """Remove empty sessions unused for 30 days, without a journal after one day."""
    clock = time.time() if now is None else now
    n = 0
    for session in folder.iterdir():
        # Unreadable sessions and those open elsewhere stay.
        with contextlib.suppress(OSError, HetvizError):
            is_session = (
                is_session_id(session.name) and session.is_dir() and not session.is_symlink()
            )
            if is_session and is_old(session, clock):
                n += _remove_if_idle(session)
    return n


def is_old(session: Path, now: float) -> bool:
    """Whether a session was unused for so long that it is removed if it is empty."""
    days = DAYS if (session / JOURNAL).exists() else DAYS_EMPTY
    last_change = max(path.stat().st_mtime for path in (session, *session.iterdir()))
    return last_change < now - days * 86_400


def _remove_if_idle(session: Path) -> bool:
    journal = Journal(session / JOURNAL, counts_as_use=False)
    try:
        if not is_empty(journal.lines):
            return False
        # The journal is still locked, so that no process can open it.
        shutil.rmtree(session)
        return True
    finally:
        journal.close()


def is_empty(lines: list[bytes]) -> bool:
    """Whether a log only opens the sample that every visit opens."""
    if len(lines) > 1:
        return False
    try:
        return all(json.loads(line).get("op") == OpenSample.op for line in lines)
    except (ValueError, AttributeError):
        return False


SESSIONS = Sessions()
