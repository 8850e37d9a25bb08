"""Where what is kept lies: the home folder, and the names in a session's folder."""

from __future__ import annotations

import os
import re
import secrets
import sys
from pathlib import Path

BLOBS, JOURNAL, GLANCE = "blobs", "journal.jsonl", "glance.json"

_ID = re.compile(r"[A-Za-z0-9_-]{22}\Z")


def new_id() -> str:
    """Return a fresh session id: 128 random bits, 22 characters that are safe in a url."""
    return secrets.token_urlsafe(16)


def is_id(text: object) -> bool:
    """Whether `text` has the form of a session id."""
    return isinstance(text, str) and _ID.match(text) is not None


def home() -> Path:
    """Return the folder for what is kept: HETVIZ_HOME, or the platform's place for such data."""
    given = os.environ.get("HETVIZ_HOME")
    if given:
        return Path(given).expanduser().absolute()
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA")
        return (Path(local) if local else Path.home() / "AppData" / "Local") / "hetviz"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "hetviz"
    shared = Path(os.environ.get("XDG_DATA_HOME") or "relative")
    # The standard says that a relative one does not count.
    return (shared if shared.is_absolute() else Path.home() / ".local" / "share") / "hetviz"
