"""Log and audit log of the server, as lines of JSON."""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import os
import sys
import threading
from collections import defaultdict
from datetime import UTC, datetime
from pathlib import Path

from hetviz.workspace.store.files import make_folder

if sys.platform != "win32":
    import fcntl

AUDIT = "audit.jsonl"
_MAX_FILE_BYTES = 50_000_000


class JsonFormatter(logging.Formatter):
    """Formats log records as JSON."""

    def format(self, record: logging.LogRecord) -> str:
        at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        line: dict[str, object] = {"at": at, "level": record.levelname, "logger": record.name}
        line |= getattr(record, "about", {"message": record.getMessage()})
        if record.exc_info:
            line["trace"] = self.formatException(record.exc_info)
        return json.dumps(line, default=str)


class TextFormatter(logging.Formatter):
    """Formats log records as text."""

    def format(self, record: logging.LogRecord) -> str:
        if (about := getattr(record, "about", None)) is not None:
            record.message = " ".join(f"{key}={one_line(value)}" for key, value in about.items())
            return f"{self.formatTime(record)} {record.levelname} {record.message}"
        record.msg, record.args = one_line(record.getMessage()), None
        return super().format(record)


def one_line(value: object) -> str:
    """Return a text without characters that begin another line or steer a terminal."""
    return "".join(
        c if c.isprintable() else c.encode("unicode_escape").decode() for c in str(value)
    )


def configure_logging(form: str) -> None:
    """Write the log of hetviz to standard error, as "text" or "json"."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        JsonFormatter()
        if form == "json"
        else TextFormatter("%(asctime)s %(levelname)s %(message)s")
    )
    logger = logging.getLogger("hetviz")
    logger.handlers[:] = [handler]
    logger.propagate = False
    logger.setLevel(logging.INFO)


def project_hash(project: str) -> str:
    """Return a hash of a project id for logs, because the id itself opens the project."""
    return hashlib.sha256(project.encode()).hexdigest()[:12]


class Audit:
    """Append-only audit log: time, event, person, project."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / AUDIT
        self._lock = threading.Lock()

    def note(self, event: str, person: str = "", project: str = "", **fields: object) -> None:
        """Record an event. A failure is only logged."""
        line: dict[str, object] = {"at": datetime.now(UTC).isoformat(timespec="seconds")}
        line |= {
            "event": event,
            "person": person,
            "project": project_hash(project) if project else "",
        }
        text = json.dumps({**line, **fields}, default=str) + "\n"
        with self._lock:
            try:
                make_folder(self.path.parent)
                fd = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
                try:
                    os.write(fd, text.encode())
                    if os.fstat(fd).st_size > _MAX_FILE_BYTES:
                        self._rotate(fd)
                finally:
                    os.close(fd)
            except OSError as error:
                logging.getLogger(__name__).error(
                    "The audit log cannot be written: %s", error.strerror
                )

    def lines(self) -> list[dict[str, object]]:
        """Return all events, oldest first."""
        out = []
        for path in (self.path.with_suffix(".1.jsonl"), self.path):
            with contextlib.suppress(OSError):
                for line in path.read_text("utf-8").splitlines():
                    with contextlib.suppress(ValueError):
                        out.append(json.loads(line))
        return out

    def costs(self) -> list[dict[str, object]]:
        """Return jobs and processor seconds of each person, or of each project without one."""
        seconds: defaultdict[str, list[float]] = defaultdict(list)
        for line in self.lines():
            if line.get("event") == "job":
                owner = str(line.get("person") or f"project {line.get('project')}")
                seconds[owner].append(float(str(line.get("processor_s", 0.0))))
        rows = [
            {"who": owner, "jobs": len(each), "processor_s": round(sum(each), 1)}
            for owner, each in seconds.items()
        ]
        return sorted(rows, key=lambda row: -float(str(row["processor_s"])))

    def _rotate(self, fd: int) -> None:
        """Begin another file, unless another process already has."""
        if sys.platform != "win32":
            fcntl.flock(fd, fcntl.LOCK_EX)  # Until the file is closed.
        with contextlib.suppress(FileNotFoundError):
            if self.path.stat().st_ino == os.fstat(fd).st_ino:
                os.replace(self.path, self.path.with_suffix(".1.jsonl"))
