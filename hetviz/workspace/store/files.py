"""Crash-safe files, and the location of the projects on disk."""

from __future__ import annotations

import errno
import os
import re
import secrets
import sys
import tempfile
from pathlib import Path

from hetviz.errors import HetvizError

_REASONS = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "your disk quota is used up",
    errno.EFBIG: "the file would become too large",
    errno.EROFS: "the disk is read-only",
    errno.EACCES: "the folder is not writable",
}


class NotSaved(HetvizError):
    """An entry could not be saved, so nothing was changed."""


def not_saved(error: OSError) -> NotSaved:
    """Return the error for a failed write, without the path, which holds a session id."""
    reason = _REASONS.get(
        error.errno or 0, (error.strerror or "the disk reported an error").lower()
    )
    return NotSaved(
        f"This could not be saved: {reason}. Nothing was changed, and saved work is safe. "
        "Free some disk space or check the permissions, then try again."
    )


def sync_folder(folder: Path) -> None:
    """Write new and renamed files of a folder to disk."""
    if os.name == "nt":  # pragma: no cover - folders cannot be opened there
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError as error:
        # Some file systems cannot sync folders.
        if error.errno != errno.EINVAL:
            raise
    finally:
        os.close(handle)


def make_folder(folder: Path) -> None:
    """Create a folder and its parents, readable by the owner only."""
    if folder.is_dir():
        return
    make_folder(folder.parent)
    folder.mkdir(mode=0o700, exist_ok=True)
    sync_folder(folder.parent)


def replace_file(path: Path, content: bytes) -> None:
    """Write a file atomically."""
    make_folder(path.parent)
    handle, name = tempfile.mkstemp(dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise
    sync_folder(path.parent)


# Home folder, and names in the folder of a session.


BLOBS, JOURNAL, READ, VIEW_STATE = "blobs", "journal.jsonl", "read", "glance.json"

_ID = re.compile(r"[A-Za-z0-9_-]{22}\Z")


def new_session_id() -> str:
    """Return a new session id: 128 random bits as 22 URL-safe characters."""
    # A leading hyphen would be an option on the command line.
    while (project := secrets.token_urlsafe(16)).startswith("-"):
        pass
    return project


def is_session_id(text: object) -> bool:
    """Whether `text` has the form of a session id."""
    return isinstance(text, str) and _ID.match(text) is not None


def home() -> Path:
    """Return the folder of all projects: HETVIZ_HOME, or the data folder of the platform."""
    if configured := os.environ.get("HETVIZ_HOME"):
        return Path(configured).expanduser().absolute()
    if sys.platform == "win32":
        local_app_data = os.environ.get("LOCALAPPDATA")
        return (
            Path(local_app_data) if local_app_data else Path.home() / "AppData" / "Local"
        ) / "hetviz"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "hetviz"
    data_home = Path(os.environ.get("XDG_DATA_HOME") or "relative")
    # The standard says to ignore relative paths.
    return (data_home if data_home.is_absolute() else Path.home() / ".local" / "share") / "hetviz"
