"""Maintenance of stored projects: list, back up, restore, migrate, remove.

All of it works while the server runs. A backup holds the complete lines of each journal and the
files they refer to. Files are immutable and written before the lines that use them, so a backup
holds every step confirmed before it began.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from hetviz._text import count
from hetviz.errors import HetvizError
from hetviz.serve.people import FILE as PEOPLE
from hetviz.serve.people import People
from hetviz.serve.records import AUDIT, Audit, project_hash
from hetviz.workspace.sessions import is_empty, is_old
from hetviz.workspace.store.blobs import DAY_S, BlobStore, is_key
from hetviz.workspace.store.files import (
    BLOBS,
    JOURNAL,
    VIEW_STATE,
    is_session_id,
    make_folder,
    replace_file,
    sync_folder,
)
from hetviz.workspace.store.journal import FORMAT, InUse, Journal, format_of, whole_lines

SESSIONS = "sessions"
_KEY = re.compile(rb"[0-9a-f]{64}")
# Fields of the entries of a log that name files of the project.
_FILE_FIELDS = (
    *("blob", "files", "map", "maps", "codes", "parts", "content", "made"),
    *("coordinates", "figures"),
)
_AUDIT_FILES = (AUDIT, Path(AUDIT).stem + ".1.jsonl")
_MANIFEST = "backup.json"
_RESTORING = ".restoring-"
# Commands that set the title of a project, with the field.
_TITLE_FIELDS = {"open-sample": "name", "open-bundle": "filename", "set-title": "title"}


@dataclass(frozen=True)
class StoredProject:
    """A project on disk."""

    id: str  # Opens the project, so it is only shown on request.
    title: str
    steps: int
    megabytes: float
    touched: str  # Time of the last use.
    format: int | None  # Format of the journal; None if unreadable.
    owner: str = ""  # Id of the person, empty without a log-in.

    @property
    def hash(self) -> str:
        return project_hash(self.id)


def list_projects(home: Path) -> list[StoredProject]:
    """Return the stored projects, the largest first."""
    owners = _owners(home)
    projects = [
        replace(_read_stored(folder), owner=owners.get(folder.name, ""))
        for folder in _folders(home)
    ]
    return sorted(projects, key=lambda project: -project.megabytes)


def _owners(home: Path) -> dict[str, str]:
    """Return the owner of each project. Servers without accounts have no file of people."""
    if not (home / PEOPLE).is_file():
        return {}
    people = People(home)
    try:
        return people.owners()
    finally:
        people.close()


def find_project(home: Path, key: str) -> Path:
    """Return the folder of a project, given its id or its hash."""
    for folder in _folders(home):
        if key in (folder.name, project_hash(folder.name)):
            return folder
    raise HetvizError(f"There is no project {key!r} in {home}. `hetviz admin list` shows them.")


def size_of(folder: Path) -> int:
    """Return the size of a project in bytes. Files that vanish are ignored."""
    total = 0
    for path in folder.rglob("*"):
        try:
            total += path.stat().st_size if path.is_file() else 0
        except OSError:
            continue
    return total


def back_up(home: Path, target: Path) -> dict[str, object]:
    """Copy all projects, people and audit logs into a new folder; return a summary.

    A project with damage is copied as it is, and the summary names it.
    """
    try:
        make_folder(target)
        if any(target.iterdir()):
            raise HetvizError(f"{target} is not empty. Give the name of a new folder.")
        copied = [
            _copy_project(folder, target / SESSIONS / folder.name) for folder in _folders(home)
        ]
        for name in _AUDIT_FILES:
            if (home / name).is_file():
                replace_file(target / name, (home / name).read_bytes())
        if (home / PEOPLE).is_file():
            people = People(home)
            people.copy_to(target / PEOPLE)
            people.close()
        damaged = [str(problem["project"]) for problem in verify(target)[0]]
        summary = {
            "projects": len(copied),
            "steps": sum(steps for steps, _ in copied),
            "megabytes": round(sum(size for _, size in copied) / 1e6, 1),
            "made": datetime.now(UTC).isoformat(timespec="seconds"),
            "with damage": ", ".join(damaged) or "none",
        }
        # Written last: a backup without it is incomplete.
        replace_file(target / _MANIFEST, json.dumps(summary).encode())
    except OSError as error:
        raise HetvizError(f"The backup could not be made: {error.strerror}.") from None
    return summary


def restore(source: Path, home: Path, only: str | None = None) -> dict[str, int]:
    """Restore what is missing from a backup; return how many projects, and how many were there."""
    # All files of a project are checked against their hashes first.
    if not (source / _MANIFEST).is_file():
        raise HetvizError(f"{source} is not a complete backup: {_MANIFEST} is missing.")
    n, failures = {"restored": 0, "already there": 0}, []
    for folder in _folders(source) if only is None else [find_project(source, only)]:
        destination = home / SESSIONS / folder.name
        if destination.exists():
            n["already there"] += 1
            continue
        scratch = home / SESSIONS / f"{_RESTORING}{project_hash(folder.name)}"
        shutil.rmtree(scratch, ignore_errors=True)
        try:
            _copy_project(folder, scratch, checks=True)
            os.replace(scratch, destination)
            sync_folder(destination.parent)
        except OSError as error:
            shutil.rmtree(scratch, ignore_errors=True)
            raise HetvizError(f"A project could not be restored: {error.strerror}.") from None
        except HetvizError as error:
            # The others are restored.
            shutil.rmtree(scratch, ignore_errors=True)
            failures.append(str(error))
            continue
        n["restored"] += 1
    for name in (PEOPLE, *_AUDIT_FILES):
        if (source / name).is_file() and not (home / name).exists():
            replace_file(home / name, (source / name).read_bytes())
    if failures:
        raise HetvizError(" ".join([*failures, f"{count(n['restored'], 'project')} restored."]))
    return n


def verify(home: Path) -> tuple[list[dict[str, object]], int]:
    """Read all journals and files; return the projects with damage, and how many were read."""
    problems: list[dict[str, object]] = []
    folders = list(_folders(home))
    for folder in folders:
        if found := _damage(folder):
            problems.append({"project": project_hash(folder.name), "damage": "; ".join(found)})
    return problems, len(folders)


def _damage(folder: Path) -> list[str]:
    try:
        content = (folder / JOURNAL).read_bytes()
        end = whole_lines(content)
    except (OSError, HetvizError) as error:
        return [str(error)]
    found: list[str] = []
    named: set[str] = set()
    for number, line in enumerate(content[:end].split(b"\n")[:-1], 1):
        entry = _entry(line)
        if entry is None:
            found.append(f"line {number} of the log cannot be read")
        else:
            named.update(_file_keys(entry))
    missing = sorted(key for key in named if not (folder / BLOBS / key).is_file())
    found += [f"the file {key[:12]} is missing" for key in missing]
    for path in sorted((folder / BLOBS).glob("*")):
        try:
            is_whole = hashlib.sha256(path.read_bytes()).hexdigest() == path.name
        except OSError:
            is_whole = False
        # Others are being written, or are left of a process that ended.
        if is_key(path.name) and not is_whole:
            found.append(f"the file {path.name[:12]} is damaged")
    return found


def _entry(line: bytes) -> dict[str, object] | None:
    try:
        entry = json.loads(line)
    except ValueError:
        return None
    return entry if isinstance(entry, dict) else None


def _file_keys(entry: dict[str, object]) -> Iterator[str]:
    """Yield the keys of the files that an entry names."""
    for name in _FILE_FIELDS:
        value = entry.get(name)
        values = [*value.values()] if isinstance(value, dict) else value
        for one in values if isinstance(values, list) else [values]:
            if isinstance(one, dict):
                yield from _file_keys(one)
            elif isinstance(one, str) and is_key(one):
                yield one


def migrate(home: Path) -> dict[str, int]:
    """Migrate the journals of all projects; return the number of projects by state."""
    # Open projects are skipped. The server migrates them at the next opening.
    tally = {"migrated": 0, "current": 0, "in use": 0, "unreadable": 0}
    for folder in _folders(home):
        before = _read_stored(folder).format
        if before == FORMAT:
            tally["current"] += 1
            continue
        try:
            Journal(folder / JOURNAL).close()
            tally["migrated"] += 1
        except InUse:
            tally["in use"] += 1
        except HetvizError:
            tally["unreadable"] += 1
    return tally


@dataclass(frozen=True)
class Removal:
    """A project, or files of it, that are removed to free space."""

    project: str  # Hash of its id.
    title: str
    reason: str
    days: int  # Since the last use.
    megabytes: float


def prune(home: Path, days: int | None = None, dry_run: bool = False) -> list[Removal]:
    """Remove what nothing needs, and with `days` all projects that were not opened for that long.

    Open projects stay. Returns what was removed, or with `dry_run` what would be.
    """
    root = home / SESSIONS
    removals = []
    for folder in sorted(root.iterdir()) if root.is_dir() else []:
        if folder.is_symlink() or not folder.is_dir():
            continue
        if is_session_id(folder.name):
            removal = _prune_project(home, folder, days, dry_run)
        elif folder.name.startswith(_RESTORING) and is_old(folder, time.time()):
            removal = _removal(folder, "unfinished restore", size_of(folder))
            if not dry_run:
                shutil.rmtree(folder)
        else:
            removal = None
        removals += [] if removal is None else [removal]
    return removals


def _prune_project(home: Path, folder: Path, days: int | None, dry_run: bool) -> Removal | None:
    lines: list[bytes] | None
    try:
        journal = Journal(folder / JOURNAL, counts_as_use=False)
        lines = journal.lines
    except InUse:
        return None
    except HetvizError:
        # It cannot be read.
        journal, lines = None, None
    try:
        reason = _reason_to_remove(folder, lines, days)
        if reason:
            removal = _removal(folder, reason, size_of(folder))
            if not dry_run:
                # Still locked, so that no server can open it.
                shutil.rmtree(folder)
                forget_project(home, folder.name)
            return removal
        if not lines:
            return None
        # A line that was cut off is in a file beside the journal.
        logs = b"".join(path.read_bytes() for path in folder.glob(f"{JOURNAL}*"))
        unused = BlobStore(folder / BLOBS).unused({key.decode() for key in _KEY.findall(logs)})
        if not unused:
            return None
        size = sum(path.stat().st_size for path in unused)
        removal = _removal(folder, f"{count(len(unused), 'file')} without a step", size)
        if not dry_run:
            for path in unused:
                path.unlink()
        return removal
    finally:
        if journal is not None:
            journal.close()


def _reason_to_remove(folder: Path, lines: list[bytes] | None, days: int | None) -> str:
    now = time.time()
    if lines is not None and is_empty(lines) and is_old(folder, now):
        return "only opened a sample" if lines else "empty"
    journal = folder / JOURNAL
    if days is None or not journal.is_file() or journal.stat().st_mtime >= now - days * DAY_S:
        return ""
    return f"not opened for {days} days" + (", unreadable" if lines is None else "")


def _removal(folder: Path, reason: str, n_bytes: int) -> Removal:
    journal = folder / JOURNAL
    has_journal = journal.is_file()
    touched = (journal if has_journal else folder).stat().st_mtime
    title = _read_stored(folder).title if has_journal else ""
    age = int((time.time() - touched) // DAY_S)
    name = folder.name
    project = project_hash(name) if is_session_id(name) else name.removeprefix(_RESTORING)
    return Removal(project, title, reason, age, round(n_bytes / 1e6, 2))


def forget_project(home: Path, id: str) -> None:
    """Remove a deleted project from the file of people, where there is one, and note it."""
    if (home / PEOPLE).is_file():
        people = People(home)
        people.delete_project(id)
        people.close()
    Audit(home).note("delete-project", "operator", id)


def remove_project(folder: Path) -> bool:
    """Remove a project unless it is open; return whether it was removed."""
    try:
        journal = Journal(folder / JOURNAL)
    except InUse:
        return False
    except HetvizError:
        shutil.rmtree(folder)
        return True
    try:
        shutil.rmtree(folder)
    finally:
        journal.close()
    return True


def to_rows(projects: list[StoredProject], keys: bool) -> list[dict[str, object]]:
    """Return projects as rows, with `keys` including the ids that open them."""
    rows = [{"project": project.hash, **asdict(project)} for project in projects]
    return rows if keys else [{k: v for k, v in row.items() if k != "id"} for row in rows]


def _folders(home: Path) -> Iterator[Path]:
    root = home / SESSIONS
    if root.is_dir():
        for folder in sorted(root.iterdir()):
            if (
                is_session_id(folder.name)
                and not folder.is_symlink()
                and (folder / JOURNAL).is_file()
            ):
                yield folder


def _read_stored(folder: Path) -> StoredProject:
    content = _complete_lines(folder)
    head, *lines = content.split(b"\n")[:-1] or [b""]
    title = ""
    for line in lines:
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        if isinstance(entry, dict) and entry.get("op") in _TITLE_FIELDS:
            title = str(entry.get(_TITLE_FIELDS[entry["op"]]) or title)
    touched = datetime.fromtimestamp((folder / JOURNAL).stat().st_mtime, UTC)
    written = format_of(head)
    return StoredProject(
        folder.name,
        title[:80],
        len(lines),
        round(size_of(folder) / 1e6, 2),
        touched.isoformat(timespec="seconds"),
        written if isinstance(written, int) else None,
    )


def _complete_lines(folder: Path) -> bytes:
    content = (folder / JOURNAL).read_bytes()
    try:
        return content[: whole_lines(content)]
    except HetvizError:
        # What cannot be read is copied as it is.
        return content


def _copy_project(folder: Path, target: Path, checks: bool = False) -> tuple[int, int]:
    """Copy a project; return its steps and bytes."""
    touched = (folder / JOURNAL).stat().st_mtime
    journal = _complete_lines(folder)
    size = len(journal)
    for key in sorted({key.decode() for key in _KEY.findall(journal)}):
        blob = folder / BLOBS / key
        # Fingerprints of data look like keys but have no file.
        if blob.is_file():
            content = blob.read_bytes()
            if checks and hashlib.sha256(content).hexdigest() != key:
                raise HetvizError(
                    f"A file of project {project_hash(folder.name)} is damaged: {key[:12]}."
                )
            replace_file(target / BLOBS / key, content)
            size += len(content)
    if (folder / VIEW_STATE).is_file():
        replace_file(target / VIEW_STATE, (folder / VIEW_STATE).read_bytes())
    # Written last: a folder without a journal is not a project.
    replace_file(target / JOURNAL, journal)
    os.utime(target / JOURNAL, (touched, touched))
    return journal.count(b"\n") - 1, size
