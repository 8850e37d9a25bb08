"""Where what is kept lies, in files that are there, and whole, after a crash or a power cut."""

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
    errno.EDQUOT: "your share of the disk is used up",
    errno.EFBIG: "the file would become larger than is allowed",
    errno.EROFS: "the disk can only be read",
    errno.EACCES: "the folder may not be written to",
}


class NotSaved(HetvizError):
    """An entry could not be kept, so nothing was changed."""


def not_saved(error: OSError) -> NotSaved:
    """Return what to tell of a write that failed; no path is named, as it holds a session's id."""
    reason = _REASONS.get(error.errno or 0, (error.strerror or "the disk refused").lower())
    return NotSaved(
        f"This could not be saved: {reason}. Nothing was changed, and what was saved before is "
        "safe. Make room on the disk, or see that it can be written to, and try again."
    )


def sync_folder(folder: Path) -> None:
    """See to it that files made or renamed in a folder are still there after a power cut."""
    if os.name == "nt":  # pragma: no cover - folders cannot be opened there
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError as error:
        # Some file systems know no such thing for folders.
        if error.errno != errno.EINVAL:
            raise
    finally:
        os.close(handle)


def make_folder(folder: Path) -> None:
    """Make a folder, and what is above it, for its owner only."""
    if folder.is_dir():
        return
    make_folder(folder.parent)
    folder.mkdir(mode=0o700, exist_ok=True)
    sync_folder(folder.parent)


def replace_file(path: Path, content: bytes) -> None:
    """Write a file in one step: it is the old one or the new one, never a part of it.

    Raises
    ------
    OSError
        If it cannot be written; nothing is left behind.
    """
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


# Where what is kept lies: the home folder, and the names in a session's folder.


BLOBS, JOURNAL, VIEW_STATE = "blobs", "journal.jsonl", "glance.json"

_ID = re.compile(r"[A-Za-z0-9_-]{22}\Z")


def new_session_id() -> str:
    """Return a fresh session id: 128 random bits, 22 characters that are safe in a url."""
    return secrets.token_urlsafe(16)


def is_session_id(text: object) -> bool:
    """Whether `text` has the form of a session id."""
    return isinstance(text, str) and _ID.match(text) is not None


def home() -> Path:
    """Return the folder for what is kept: HETVIZ_HOME, or the platform's place for such data."""
    configured = os.environ.get("HETVIZ_HOME")
    if configured:
        return Path(configured).expanduser().absolute()
    if sys.platform == "win32":
        local_app_data = os.environ.get("LOCALAPPDATA")
        return (
            Path(local_app_data) if local_app_data else Path.home() / "AppData" / "Local"
        ) / "hetviz"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "hetviz"
    data_home = Path(os.environ.get("XDG_DATA_HOME") or "relative")
    # The standard says that a relative one does not count.
    return (data_home if data_home.is_absolute() else Path.home() / ".local" / "share") / "hetviz"
