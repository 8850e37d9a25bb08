"""Journal of a project: its log on disk, one JSON line per entry.

An entry is on disk before the app confirms it. A line cut short by a crash was never confirmed. It
is left out when the file is read, and moved to a file beside the journal before the next entry.
Complete lines never change, and a file without the first line of a journal is never touched.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from hetviz.errors import HetvizError
from hetviz.workspace.store.files import make_folder, not_saved, replace_file, sync_folder

if sys.platform != "win32":
    import fcntl

FORMAT = 1
HEAD = json.dumps({"format": FORMAT}).encode() + b"\n"

LATER_VERSION = (
    "This project was saved by a newer version of hetviz in a new format. "
    "Nothing was changed. Open it with that version, or install that version here."
)
NO_JOURNAL = (
    "The beginning of this project's log is damaged, so it cannot be read. Nothing was "
    "changed. Restore the project's folder from a backup."
)

REPLACED = (
    "This project was deleted, replaced or changed on disk while it was open. Nothing was changed. "
    "Reload the page to open what is there now."
)
CUT = (
    "The last line of this project's log was incomplete, so it was never confirmed. It is left "
    "out, and kept beside the log."
)

# A page asks some 40 times, and each look at the disk lets other threads go first.
LOOK_AGAIN_S = 0.5
_FLAGS = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0)


class InUse(HetvizError):
    """Another process has the project open."""


class ReplacedError(HetvizError):
    """The file that is open is not the one on disk any more."""


class Journal:
    """An append-only file of JSON lines, locked while it is open.

    `counts_as_use`: whether opening it sets the time of its last use.
    `lines`: complete lines at opening, without the first one, which holds the format. `rest`: what
    follows them, an incomplete line.
    """

    def __init__(self, path: Path, counts_as_use: bool = True) -> None:
        self._path, self._counts_as_use = path, counts_as_use
        self._fd = -1
        self._size = 0
        self._has_remains = False
        self._in_place_until = 0.0
        # A file that is being written is longer than what was confirmed.
        self._lock = threading.RLock()
        self.lines: list[bytes] = []
        self.rest = b""
        if path.exists():
            self._open()

    def append(self, entry: Mapping[str, object]) -> None:
        """Write an entry to disk."""
        line = line_of(entry)
        with self._lock:
            if self._fd < 0:
                self._open()
                if self.lines:
                    self.close()
                    raise InUse("Another hetviz has changed this project. Restart hetviz.")
            if not self._look():
                raise ReplacedError(REPLACED)
            self._write(line)

    @property
    def is_in_place(self) -> bool:
        """Whether the open file is still the one on disk, or was half a second ago at most."""
        return time.monotonic() < self._in_place_until or self._look()

    def _look(self) -> bool:
        with self._lock:
            if self._fd < 0:
                return True
            self._in_place_until = 0.0
            try:
                here, there = os.fstat(self._fd), os.stat(self._path)
            except OSError:
                return False
            size = self._size + len(self.rest)
            if not os.path.samestat(here, there):
                return False
            if not self._has_remains and here.st_size != size:
                return False
            self._in_place_until = time.monotonic() + LOOK_AGAIN_S
            return True

    def close(self) -> None:
        """Close the file and release the lock."""
        with self._lock:
            if self._fd >= 0:
                os.close(self._fd)
                self._fd = -1

    def _open(self) -> None:
        folder = self._path.parent
        try:
            make_folder(folder)
            self._fd = os.open(self._path, _FLAGS, 0o600)
            try:
                _lock(self._fd)
                self._read()
                if self._size == 0:
                    self._write(HEAD)
                    sync_folder(folder)
                if self._counts_as_use:
                    # So that cleaning up does not remove it.
                    os.utime(self._fd if os.utime in os.supports_fd else self._path)
            except BaseException:
                self.close()
                raise
        except OSError as error:
            raise not_saved(error) from None

    def _read(self) -> None:
        with open(self._fd, "rb", closefd=False) as file:
            content = file.read()
        end = whole_lines(content)
        self._size, self.rest = end, content[end:]
        self.lines = content[:end].split(b"\n")[1:-1]

    def _write(self, line: bytes) -> None:
        try:
            self._cut_rest()
        except OSError as error:
            raise not_saved(error) from None
        try:
            remaining = memoryview(line)
            while remaining:
                remaining = remaining[os.write(self._fd, remaining) :]
            os.fsync(self._fd)
        except OSError as error:
            self._truncate()
            raise not_saved(error) from None
        self._size += len(line)

    def _truncate(self) -> None:
        try:
            os.ftruncate(self._fd, self._size)
            os.fsync(self._fd)
        except OSError:
            # The next write truncates first.
            self._has_remains = True

    def _cut_rest(self) -> None:
        """Cut off what follows the complete lines, after it was copied to a file of its own."""
        if self.rest and self._size:
            number = 1 + sum(1 for _ in self._path.parent.glob(f"{self._path.name}.*.cut"))
            replace_file(self._path.with_name(f"{self._path.name}.{number}.cut"), self.rest)
        if self.rest or self._has_remains:
            os.ftruncate(self._fd, self._size)
        self.rest, self._has_remains = b"", False


def line_of(entry: Mapping[str, object]) -> bytes:
    """Return an entry as a line with a newline."""
    text = json.dumps(entry, ensure_ascii=False, separators=(",", ":"), default=_plain)
    # Lone surrogates, as in broken file names, become escapes.
    return text.encode("utf-8", "backslashreplace") + b"\n"


def whole_lines(content: bytes) -> int:
    """Return the number of bytes of the complete lines; raise unless the first one is a head."""
    if HEAD.startswith(content):
        # Nothing, or a new file that was cut short.
        return len(content) if content == HEAD else 0
    head, newline, _ = content.partition(b"\n")
    if not newline or format_of(head) != FORMAT:
        raise HetvizError(LATER_VERSION if isinstance(format_of(head), int) else NO_JOURNAL)
    return content.rfind(b"\n") + 1


def format_of(head: bytes) -> object:
    """Return the format in the first line of a journal, or None."""
    try:
        first = json.loads(head)
    except ValueError:
        return None
    return first.get("format") if isinstance(first, dict) else None


def _lock(fd: int) -> None:
    if sys.platform == "win32":  # pragma: no cover - no flock
        return
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise InUse(
            "This project is open in another hetviz on this computer. Close that one, or "
            "continue there."
        ) from None
    except OSError:
        # Some network folders have no locks. The journal works without.
        return


def _plain(value: object) -> object:
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"a {type(value).__name__} cannot be written to the journal")
