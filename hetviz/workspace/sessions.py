"""The workspaces of this server, by session id. The id is what gives access: never log it."""

from __future__ import annotations

import atexit
import re
import secrets
import shutil
import tempfile
import threading
from pathlib import Path

from hetviz.workspace.blobs import BlobStore
from hetviz.workspace.workspace import Workspace

_ID = re.compile(r"[A-Za-z0-9_-]{22}\Z")


def new_id() -> str:
    """Return a fresh session id: 128 random bits, 22 characters that are safe in a url."""
    return secrets.token_urlsafe(16)


def is_id(text: object) -> bool:
    """Whether `text` has the form of a session id."""
    return isinstance(text, str) and _ID.match(text) is not None


class Sessions:
    """Workspaces by session id, each with its own folder of blobs.

    Parameters
    ----------
    folder : Path, optional
        Where blobs go; a temporary folder, removed when the process ends, when absent.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._open: dict[str, Workspace] = {}

    def get(self, id: str) -> Workspace:
        """Return the workspace of a session, made on first use.

        Raises
        ------
        ValueError
            If `id` is not a session id.
        """
        if not is_id(id):
            raise ValueError("not a session id")
        with self._lock:
            if id not in self._open:
                self._open[id] = Workspace(BlobStore(self._root() / id))
            return self._open[id]

    def find(self, id: str) -> Workspace | None:
        """Return the workspace of a session that is open, or None."""
        with self._lock:
            return self._open.get(id)

    def _root(self) -> Path:
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(prefix="hetviz-"))
            atexit.register(shutil.rmtree, self._folder, ignore_errors=True)
        return self._folder


SESSIONS = Sessions()
