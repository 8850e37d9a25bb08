"""Project files: a complete project as one zip file.

The top level holds the current data, as a bundle that `hetviz.load` reads, and `MANIFEST`, with the
SHA-256 of every member. ``project/`` holds the journal with every step, its blobs, and the
selection. A file is opened completely or not at all.
"""

from __future__ import annotations

import hashlib
import json
import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from hetviz._version import __version__
from hetviz.errors import DataError, HetvizError
from hetviz.io import gate, limits
from hetviz.io.bundle.saving import bundle_files, to_zip
from hetviz.io.files import PROJECT as MANIFEST
from hetviz.io.files import Archive
from hetviz.io.formats.registry import open_archive
from hetviz.workspace.commands.command import from_dict
from hetviz.workspace.commands.runs import EndJob
from hetviz.workspace.commands.state import State
from hetviz.workspace.sessions import Sessions
from hetviz.workspace.store import files
from hetviz.workspace.store.blobs import MAX_BYTES, BlobStore
from hetviz.workspace.store.files import NotSaved, not_saved, replace_file
from hetviz.workspace.store.journal import FORMAT as JOURNAL_FORMAT
from hetviz.workspace.store.journal import HEAD, Journal, format_of, line_of
from hetviz.workspace.view_state import pack_view_state, unpack_view_state
from hetviz.workspace.workspace import REDO, UNDO, Snapshot, Workspace

FORMAT = 1
JOURNAL, VIEW_STATE, BLOBS = "project/journal.jsonl", "project/glance.json", "project/blobs/"

_KEY = re.compile(rb"[0-9a-f]{64}")
_BLOB_MEMBER = re.compile(re.escape(BLOBS) + r"([0-9a-f]{64})\Z")
# Offset of the name of the first member of a zip.
_FIRST_NAME_OFFSET = 30
# A file can hold any number of steps.
MAX_REPLAY_S = 300.0
FEATURES_DIFFER = (
    "Features were computed slightly differently on this computer, so the maps of this project "
    "count as made from other data. The maps themselves are unchanged."
)

_COPY_AGAIN = "Copy it again from where it was saved, or save the project once more."


def save_project(workspace: Workspace) -> bytes:
    """Return a project as one file: data, maps, clusters, names, groups, and every step."""
    # The current data are included as a bundle too, unless the file would become too large to open.
    # Files and maps that no step uses are left out.
    snapshot = workspace.snapshot()
    header = {
        "format": FORMAT,
        "hetviz": __version__,
        "title": snapshot.state.title,
        "saved": datetime.now(UTC).isoformat(timespec="seconds"),
        "fingerprint": None if snapshot.state.data is None else snapshot.state.data.fingerprint(),
        "lost": sorted(snapshot.lost),
    }
    project = _project_members(snapshot, workspace.blobs)
    bundle = _bundle(snapshot.state)
    for members in ({**bundle, **project}, project):
        if len(members) < limits.MAX_MEMBERS:
            content = to_zip({MANIFEST: _manifest(header, members), **members})
            if len(content) <= limits.MAX_FILE_BYTES:
                return content
    size = sum(map(len, project.values())) / limits.MB
    limit = f"{limits.MAX_FILE_BYTES / limits.MB:,.0f} MB"
    raise gate.refusal(
        "too-large",
        "project",
        f"its files and maps need {size:,.0f} MB, but a packed project file may have at most "
        f"{limit}",
        remedy="Download the data with guidance instead: it has no older files and maps.",
    )


def _bundle(state: State) -> dict[str, bytes]:
    return {} if state.data is None else bundle_files(state.data, state.title or "data")


def _project_members(snapshot: Snapshot, blobs: BlobStore) -> dict[str, bytes]:
    lines = [line_of(entry) for entry in snapshot.log]
    members = {JOURNAL: HEAD + b"".join(lines), VIEW_STATE: pack_view_state(snapshot.view_state, 0)}
    # Blobs of lost steps are never read.
    named = {
        key.decode()
        for position, line in enumerate(lines)
        if position not in snapshot.lost
        for key in _KEY.findall(line)
    }
    # Fingerprints of data look like keys of blobs.
    for key in sorted(named):
        if blobs.has(key):
            members[f"{BLOBS}{key}"] = blobs.get(key)
    return members


def _manifest(header: Mapping[str, object], members: Mapping[str, bytes]) -> bytes:
    sums = {name: hashlib.sha256(content).hexdigest() for name, content in members.items()}
    record = {**header, "members": sums}
    return json.dumps({**record, "check": _check(record)}, indent=1).encode()


def _check(record: Mapping[str, object]) -> str:
    plain = {key: value for key, value in record.items() if key != "check"}
    return hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()


def is_project(name: str, content: bytes) -> bool:
    """Whether content is a project file, even one cut short."""
    if not content.startswith(b"PK\x03\x04"):
        return False
    if content[_FIRST_NAME_OFFSET:].startswith(MANIFEST.encode()):
        return True
    try:
        return MANIFEST in open_archive(name, content).names()
    except DataError:
        return False


@dataclass(frozen=True, eq=False)
class ProjectFile:
    """A project file with a valid manifest and journal."""

    name: str  # File name, for messages.
    fingerprint: str | None  # Fingerprint of the data when it was saved.
    lost: frozenset[int]  # Positions of steps that were lost before it was saved.
    journal: bytes
    log: list[dict[str, Any]]  # The steps.
    _archive: Archive
    _sums: Mapping[str, str]

    def view_state_content(self) -> bytes:
        return _read_member(self._archive, VIEW_STATE, self._sums)

    def blobs(self) -> Iterator[tuple[str, bytes]]:
        """Yield key and content of each blob that a step uses, checking all other members too."""
        named = {key.decode() for key in _KEY.findall(self.journal)}
        for member in self._sums:
            if member in (JOURNAL, VIEW_STATE):
                continue
            content = _read_member(self._archive, member, self._sums)
            match = _BLOB_MEMBER.match(member)
            if match is None:
                continue
            if match[1] != self._sums[member]:
                raise _changed_member(self.name, member)
            if match[1] in named:
                yield match[1], content


def read_project(name: str, content: bytes) -> ProjectFile:
    """Read manifest and journal of a project file."""
    try:
        archive = open_archive(name, content)
    except DataError as error:
        if {problem.code for problem in error.problems} == {"bad-zip"}:
            message = "the project file is cut short or damaged"
            value = f"{len(content):,} bytes"
            raise gate.refusal("damaged-project", name, message, value, _COPY_AGAIN) from None
        raise
    if MANIFEST not in archive.names():
        raise gate.refusal(
            "not-a-project", name, "this is not a project file", remedy="Open it as data."
        )
    manifest = _parse_manifest(name, archive.read(MANIFEST))
    sums: dict[str, str] = manifest["members"]
    if JOURNAL not in sums or VIEW_STATE not in sums:
        raise _damaged_manifest(name)
    journal = _read_member(archive, JOURNAL, sums)
    lost = frozenset(manifest["lost"])
    log = _parse_log(f"{name}, {JOURNAL}", journal, lost)
    return ProjectFile(name, manifest["fingerprint"], lost, journal, log, archive, sums)


def _parse_manifest(name: str, content: bytes) -> dict[str, Any]:
    try:
        manifest = json.loads(content)
        format_number = manifest["format"]
    except (ValueError, RecursionError, KeyError, TypeError):
        raise _damaged_manifest(name) from None
    if isinstance(format_number, int) and format_number > FORMAT:
        raise _later_format(name, manifest)
    sound = (
        format_number == FORMAT
        and manifest.get("check") == _check(manifest)
        and isinstance(manifest.get("members"), dict)
        and all(isinstance(digest, str) for digest in manifest["members"].values())
        and isinstance(manifest.get("lost"), list)
        and all(isinstance(position, int) for position in manifest["lost"])
        and isinstance(manifest.get("fingerprint"), str | None)
    )
    if not sound:
        raise _damaged_manifest(name)
    return dict(manifest)


def _parse_log(where: str, journal: bytes, lost: frozenset[int]) -> list[dict[str, Any]]:
    head, *lines = journal.split(b"\n")
    if not lines or lines.pop():
        raise gate.refusal("bad-journal", where, "its last line is cut short", remedy=_COPY_AGAIN)
    if format_of(head) != JOURNAL_FORMAT:
        message = "it was saved by a newer version of hetviz, in a new format"
        raise gate.refusal("later-format", f"{where}, line 1", message, remedy="Open it with that.")
    return [
        _parse_step(f"{where}, line {at + 2}", line, at in lost) for at, line in enumerate(lines)
    ]


def _parse_step(where: str, line: bytes, is_lost: bool) -> dict[str, object]:
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        entry = None
    if not isinstance(entry, dict) or not isinstance(entry.get("op"), str):
        raise gate.refusal("bad-journal", where, "this is not a step", remedy=_COPY_AGAIN)
    if is_lost or entry["op"] in (UNDO, REDO):
        return entry
    try:
        from_dict(entry)
    except HetvizError:
        message = "this version of hetviz does not know this step, or fields are missing"
        remedy = "Open it with the version that saved it, or a later one."
        raise gate.refusal("unknown-operation", where, message, entry["op"][:80], remedy) from None
    return entry


def _read_member(archive: Archive, member: str, sums: Mapping[str, str]) -> bytes:
    if member not in archive.names():
        raise gate.refusal(
            "missing-member",
            f"{archive.name}, {member[:80]}",
            "this part of the project is missing from the file",
            remedy=_COPY_AGAIN,
        )
    content = archive.read(member)
    if hashlib.sha256(content).hexdigest() != sums[member]:
        raise _changed_member(archive.name, member)
    return content


def _changed_member(name: str, member: str) -> DataError:
    message = "the content has changed since it was saved"
    return gate.refusal("changed-member", f"{name}, {member[:80]}", message, remedy=_COPY_AGAIN)


def _damaged_manifest(name: str) -> DataError:
    message = "its list of contents is damaged"
    return gate.refusal("damaged-project", f"{name}, {MANIFEST}", message, remedy=_COPY_AGAIN)


def _later_format(name: str, manifest: Mapping[str, object]) -> DataError:
    return gate.refusal(
        "later-format",
        name,
        "a newer version of hetviz saved this project, in a format that this version cannot read",
        f"hetviz {str(manifest.get('hetviz', ''))[:40]}",
        "Open it with that version. The data in it can be opened here, without maps and history.",
    )


def open_project(content: bytes, name: str, sessions: Sessions) -> str:
    """Open a project file as a new session."""
    # Every step is replayed, so that a file cannot contain anything a user could not have done.
    file = read_project(name, content)
    try:
        return sessions.adopt(lambda folder: _restore_project(file, folder))
    except NotSaved as error:
        raise gate.refusal("no-room", name, str(error).rstrip(".")) from None
    except OSError as error:
        raise gate.refusal("no-room", name, str(not_saved(error)).rstrip(".")) from None


def _restore_project(file: ProjectFile, folder: Path) -> Workspace:
    store = BlobStore(folder / files.BLOBS)
    _write_blobs(file, store)
    workspace = _replay(file, store)
    view_state, _ = unpack_view_state(file.view_state_content())
    data = workspace.state.data
    if file.fingerprint != (None if data is None else data.fingerprint()):
        workspace.notes.append(FEATURES_DIFFER)
    # The journal comes last: an interrupted session without one is cleaned up.
    replace_file(folder / files.JOURNAL, file.journal)
    journal = Journal(folder / files.JOURNAL)
    try:
        workspace.attach_journal(journal, folder / files.VIEW_STATE)
        if view_state.fingerprint == workspace.view_state.fingerprint:
            workspace.set_view_state(
                selection=view_state.selection, camera=view_state.camera, groups=view_state.groups
            )
    except BaseException:
        journal.close()
        raise
    return workspace


def _write_blobs(file: ProjectFile, store: BlobStore) -> None:
    n_bytes = 0
    for key, content in file.blobs():
        n_bytes += len(content)
        if n_bytes > MAX_BYTES:
            limit = f"{MAX_BYTES / limits.MB:,.0f} MB"
            raise gate.refusal(
                "project-full",
                file.name,
                f"its files and maps are larger than the {limit} that a project may have",
                f"{n_bytes / limits.MB:,.1f} MB or more",
                "Open only the data in it, without maps and history.",
            )
        replace_file(store.folder / key, content)


def _replay(file: ProjectFile, store: BlobStore) -> Workspace:
    at, end = 0, time.monotonic() + MAX_REPLAY_S

    def steps() -> Iterator[dict[str, Any]]:
        nonlocal at
        for entry in file.log:
            if time.monotonic() > end:
                message = f"repeating its steps takes longer than {MAX_REPLAY_S:.0f} seconds"
                remedy = "Open only the data in it, without maps and history."
                raise gate.refusal("too-slow", file.name, message, remedy=remedy)
            yield entry
            at += 1

    try:
        return Workspace.replay(steps(), store, file.lost)
    except HetvizError as error:
        codes = {problem.code for problem in getattr(error, "problems", ())}
        if codes == {"too-slow"}:
            raise
        raise _replay_error(file, at, str(error).splitlines()[0]) from None
    except OSError:
        raise
    except Exception:
        # A step with fields of the wrong type can raise any error.
        raise _replay_error(file, at, "Its fields do not fit.") from None


def _replay_error(file: ProjectFile, position: int, reason: str) -> DataError:
    return gate.refusal(
        "bad-step",
        f"{file.name}, step {position + 1} of {len(file.log):,}",
        f"this step cannot be repeated: {reason.rstrip('.')}",
        file.log[position]["op"][:80],
        "Open only the data in it, without maps and history.",
    )


@dataclass(frozen=True)
class Summary:
    """Summary of a project."""

    title: str
    datasets: dict[str, int]  # Number of rows of each dataset.
    # `links`, `comparisons`, `maps`, `clusters`, `views`, `steps`: counts.
    links: int
    comparisons: int
    maps: int
    clusters: int
    views: int
    steps: int
    changed: str  # Time of the last change: ISO 8601, UTC; empty if none.


def summarize(workspace: Workspace) -> Summary:
    """Return a summary of a project."""
    snapshot = workspace.snapshot()
    state, data = snapshot.state, snapshot.state.data
    # The end of a job is not an action of the user.
    acts = [entry for entry in snapshot.log if entry.get("op") != EndJob.op]
    return Summary(
        state.title,
        {} if data is None else {name: len(part) for name, part in data.datasets.items()},
        0 if data is None else sum(map(len, data.links)),
        0 if data is None or data.comparisons is None else len(data.comparisons),
        len(state.runs),
        0 if state.clustering is None else len(state.clustering.names),
        len(state.saved_views),
        len(acts),
        str(acts[-1].get("at", "")) if acts else "",
    )
