"""A whole project as one file: written, checked, and opened again whole or not at all.

The file is a zip. At its top lie the data as they are now, as a bundle that `hetviz.load` reads,
and `MANIFEST`, which names the SHA-256 of every member. Below ``project/`` lie the journal, with
every step, the blobs that it names, and what was selected.
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
from hetviz.io.bundle.saving import bundle_files, zipped
from hetviz.io.files import PROJECT as MANIFEST
from hetviz.io.files import Archive
from hetviz.workspace.commands.command import from_dict
from hetviz.workspace.commands.runs import EndJob
from hetviz.workspace.state import State
from hetviz.workspace.store import files
from hetviz.workspace.store.blobs import MAX_BYTES, BlobStore
from hetviz.workspace.store.files import NotSaved, not_saved, replace_file
from hetviz.workspace.store.journal import FORMAT as JOURNAL_FORMAT
from hetviz.workspace.store.journal import HEAD, Journal, format_of, line_of
from hetviz.workspace.store.selection import pack_glance, unpack_glance
from hetviz.workspace.store.sessions import Sessions
from hetviz.workspace.workspace import REDO, UNDO, Moment, Workspace

FORMAT = 1
JOURNAL, GLANCE, BLOBS = "project/journal.jsonl", "project/glance.json", "project/blobs/"

_KEY = re.compile(rb"[0-9a-f]{64}")
_NAME = re.compile(re.escape(BLOBS) + r"([0-9a-f]{64})\Z")
# Where the name of the first member of a zip stands.
_FIRST = 30
# Longer than anybody waits; a file can name steps without end.
MOST_S = 300.0
OTHER_NUMBERS = (
    "The features came out slightly differently on this computer than where the project was saved, "
    "so its maps count as made from other data. They are shown as they were."
)

_COPY_AGAIN = "Copy it again from where it was saved, or save the project once more."


def save_project(workspace: Workspace) -> bytes:
    """Return a project as one file: data, maps, clusters, names, groups, and every step.

    The data as they are now are in it as a bundle too, unless that would make the file too large to
    be opened again. Files and maps that no step names any more are left out.

    Parameters
    ----------
    workspace : Workspace

    Returns
    -------
    bytes
        For `hetviz.workspace.open_project`, and for `hetviz.load`.

    Raises
    ------
    hetviz.errors.DataError
        If a stored file is damaged, or there is more than could be opened again.
    """
    moment = workspace.moment()
    about = {
        "format": FORMAT,
        "hetviz": __version__,
        "title": moment.state.title,
        "saved": datetime.now(UTC).isoformat(timespec="seconds"),
        "fingerprint": None if moment.state.data is None else moment.state.data.fingerprint(),
        "lost": sorted(moment.lost),
    }
    project = _project_members(moment, workspace.blobs)
    bundle = _bundle(moment.state)
    for members in ({**bundle, **project}, project):
        if len(members) < limits.MAX_MEMBERS:
            content = zipped({MANIFEST: _manifest(about, members), **members})
            if len(content) <= limits.MAX_FILE_BYTES:
                return content
    held = sum(map(len, project.values())) / limits.MB
    limit = f"{limits.MAX_FILE_BYTES / limits.MB:,.0f} MB"
    raise gate.refusal(
        "too-large",
        "project",
        f"its files and maps hold {held:,.0f} MB, and a file that can be opened again may have "
        f"{limit} when packed",
        remedy="Take the data as guided instead: they hold what is used now and nothing older.",
    )


def _bundle(state: State) -> dict[str, bytes]:
    return {} if state.data is None else bundle_files(state.data, state.title or "data")


def _project_members(moment: Moment, blobs: BlobStore) -> dict[str, bytes]:
    lines = [line_of(entry) for entry in moment.log]
    members = {JOURNAL: HEAD + b"".join(lines), GLANCE: pack_glance(moment.glance, 0)}
    # Nothing reads what a lost step names.
    named = {
        key.decode()
        for place, line in enumerate(lines)
        if place not in moment.lost
        for key in _KEY.findall(line)
    }
    # Fingerprints of data look the same and are none.
    for key in sorted(named):
        if blobs.has(key):
            members[f"{BLOBS}{key}"] = blobs.get(key)
    return members


def _manifest(about: Mapping[str, object], members: Mapping[str, bytes]) -> bytes:
    sums = {name: hashlib.sha256(content).hexdigest() for name, content in members.items()}
    record = {**about, "members": sums}
    return json.dumps({**record, "check": _check(record)}, indent=1).encode()


def _check(record: Mapping[str, object]) -> str:
    plain = {key: value for key, value in record.items() if key != "check"}
    return hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()


def is_project(name: str, content: bytes) -> bool:
    """Whether bytes are a project file, by what is in them; one that was cut short counts too."""
    if not content.startswith(b"PK\x03\x04"):
        return False
    if content[_FIRST:].startswith(MANIFEST.encode()):
        return True
    try:
        return MANIFEST in Archive(name, content).names()
    except DataError:
        return False


@dataclass(frozen=True, eq=False)
class ProjectFile:
    """A project file whose manifest and journal are sound.

    Attributes
    ----------
    name : str
        For messages.
    fingerprint : str or None
        Of the data that its steps led to where it was saved.
    lost : frozenset of int
        Places of steps that could not be repeated there either.
    journal : bytes
    log : list of dict
        The steps.
    """

    name: str
    fingerprint: str | None
    lost: frozenset[int]
    journal: bytes
    log: list[dict[str, Any]]
    _archive: Archive
    _sums: Mapping[str, str]

    def glance(self) -> bytes:
        """Return what was selected, as bytes."""
        return _member(self._archive, GLANCE, self._sums)

    def blobs(self) -> Iterator[tuple[str, bytes]]:
        """Yield key and content of each blob that a step names, one at a time.

        Everything else in the file is read and checked on the way.

        Raises
        ------
        hetviz.errors.DataError
            If a member is missing, or is not what the manifest or its own name says.
        """
        named = {key.decode() for key in _KEY.findall(self.journal)}
        for member in self._sums:
            if member in (JOURNAL, GLANCE):
                continue
            content = _member(self._archive, member, self._sums)
            found = _NAME.match(member)
            if found is None:
                continue
            if found[1] != self._sums[member]:
                raise _changed(self.name, member)
            if found[1] in named:
                yield found[1], content


def read_project(name: str, content: bytes) -> ProjectFile:
    """Read manifest and journal of a project file.

    Raises
    ------
    hetviz.errors.DataError
        If it is cut short or damaged, was saved by a later version, or a line of its journal is no
        command.
    """
    try:
        archive = Archive(name, content)
    except DataError as error:
        if {problem.code for problem in error.problems} == {"bad-zip"}:
            what = "the project file is cut short or damaged"
            value = f"{len(content):,} bytes"
            raise gate.refusal("damaged-project", name, what, value, _COPY_AGAIN) from None
        raise
    if MANIFEST not in archive.names():
        raise gate.refusal(
            "not-a-project", name, "this is no project file", remedy="Open it as data."
        )
    about = _manifest_of(name, archive.read(MANIFEST))
    sums: dict[str, str] = about["members"]
    if JOURNAL not in sums or GLANCE not in sums:
        raise _damaged(name)
    journal = _member(archive, JOURNAL, sums)
    lost = frozenset(about["lost"])
    log = _log_of(f"{name}, {JOURNAL}", journal, lost)
    return ProjectFile(name, about["fingerprint"], lost, journal, log, archive, sums)


def _manifest_of(name: str, content: bytes) -> dict[str, Any]:
    try:
        about = json.loads(content)
        written = about["format"]
    except (ValueError, RecursionError, KeyError, TypeError):
        raise _damaged(name) from None
    if isinstance(written, int) and written > FORMAT:
        raise _later(name, about)
    sound = (
        written == FORMAT
        and about.get("check") == _check(about)
        and isinstance(about.get("members"), dict)
        and all(isinstance(known, str) for known in about["members"].values())
        and isinstance(about.get("lost"), list)
        and all(isinstance(place, int) for place in about["lost"])
        and isinstance(about.get("fingerprint"), str | None)
    )
    if not sound:
        raise _damaged(name)
    return dict(about)


def _log_of(where: str, journal: bytes, lost: frozenset[int]) -> list[dict[str, Any]]:
    head, *lines = journal.split(b"\n")
    if not lines or lines.pop():
        raise gate.refusal("bad-journal", where, "its last line is cut short", remedy=_COPY_AGAIN)
    if format_of(head) != JOURNAL_FORMAT:
        what = "a later version of hetviz wrote it, in another form"
        raise gate.refusal("later-format", f"{where}, line 1", what, remedy="Open it with that.")
    return [_step_of(f"{where}, line {at + 2}", line, at in lost) for at, line in enumerate(lines)]


def _step_of(where: str, line: bytes, is_lost: bool) -> dict[str, object]:
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        entry = None
    if not isinstance(entry, dict) or not isinstance(entry.get("op"), str):
        raise gate.refusal("bad-journal", where, "this is no step", remedy=_COPY_AGAIN)
    if is_lost or entry["op"] in (UNDO, REDO):
        return entry
    try:
        from_dict(entry)
    except HetvizError:
        what = "this version of hetviz knows no such step, or it lacks something"
        remedy = "Open it with the version that saved it, or a later one."
        raise gate.refusal("unknown-operation", where, what, entry["op"][:80], remedy) from None
    return entry


def _member(archive: Archive, member: str, sums: Mapping[str, str]) -> bytes:
    if member not in archive.names():
        raise gate.refusal(
            "missing-member",
            f"{archive.name}, {member[:80]}",
            "it belongs to the project and is not in the file",
            remedy=_COPY_AGAIN,
        )
    content = archive.read(member)
    if hashlib.sha256(content).hexdigest() != sums[member]:
        raise _changed(archive.name, member)
    return content


def _changed(name: str, member: str) -> DataError:
    what = "its content is not what was saved"
    return gate.refusal("changed-member", f"{name}, {member[:80]}", what, remedy=_COPY_AGAIN)


def _damaged(name: str) -> DataError:
    what = "its list of contents is damaged"
    return gate.refusal("damaged-project", f"{name}, {MANIFEST}", what, remedy=_COPY_AGAIN)


def _later(name: str, about: Mapping[str, object]) -> DataError:
    return gate.refusal(
        "later-format",
        name,
        "a later version of hetviz saved this project, in a form that this one does not know",
        f"hetviz {str(about.get('hetviz', ''))[:40]}",
        "Open it with that version. The data in it can be opened here, without maps and history.",
    )


def open_project(content: bytes, name: str, sessions: Sessions) -> str:
    """Open a project file as a new session; what is open elsewhere stays as it is.

    Every step is carried out again, as when a project is reopened, so that nothing comes in which
    could not have been done by hand.

    Parameters
    ----------
    content : bytes
        See `hetviz.workspace.save_project`.
    name : str
        Of the file, for messages.
    sessions : Sessions

    Returns
    -------
    str
        The id of the new session.

    Raises
    ------
    hetviz.errors.DataError
        If the file is damaged or incomplete, a step cannot be repeated, it holds more than a
        project may, or the disk is full; nothing of it is left then.
    """
    file = read_project(name, content)
    try:
        return sessions.adopt(lambda folder: _made(file, folder))
    except NotSaved as error:
        raise gate.refusal("no-room", name, str(error).rstrip(".")) from None
    except OSError as error:
        raise gate.refusal("no-room", name, str(not_saved(error)).rstrip(".")) from None


def _made(file: ProjectFile, folder: Path) -> Workspace:
    store = BlobStore(folder / files.BLOBS)
    _keep_blobs(file, store)
    workspace = _replayed(file, store)
    glance, _ = unpack_glance(file.glance())
    data = workspace.state.data
    if file.fingerprint != (None if data is None else data.fingerprint()):
        workspace.notes.append(OTHER_NUMBERS)
    # Last, as a session without a journal is none: one that breaks off before is cleared away.
    replace_file(folder / files.JOURNAL, file.journal)
    journal = Journal(folder / files.JOURNAL)
    try:
        workspace.keep(journal, folder / files.GLANCE)
        if glance.fingerprint == workspace.glance.fingerprint:
            workspace.set_glance(
                selection=glance.selection, camera=glance.camera, groups=glance.groups
            )
    except BaseException:
        journal.close()
        raise
    return workspace


def _keep_blobs(file: ProjectFile, store: BlobStore) -> None:
    held = 0
    for key, content in file.blobs():
        held += len(content)
        if held > MAX_BYTES:
            limit = f"{MAX_BYTES / limits.MB:,.0f} MB"
            raise gate.refusal(
                "project-full",
                file.name,
                f"its files and maps hold more than the {limit} that a project may have",
                f"{held / limits.MB:,.1f} MB and more",
                "Open only the data in it, without maps and history.",
            )
        replace_file(store.folder / key, content)


def _replayed(file: ProjectFile, store: BlobStore) -> Workspace:
    at, end = 0, time.monotonic() + MOST_S

    def steps() -> Iterator[dict[str, Any]]:
        nonlocal at
        for entry in file.log:
            if time.monotonic() > end:
                what = f"carrying out its steps takes longer than {MOST_S:.0f} seconds"
                remedy = "Open only the data in it, without maps and history."
                raise gate.refusal("too-slow", file.name, what, remedy=remedy)
            yield entry
            at += 1

    try:
        return Workspace.replay(steps(), store, file.lost)
    except HetvizError as error:
        codes = {problem.code for problem in getattr(error, "problems", ())}
        if codes == {"too-slow"}:
            raise
        raise _not_repeated(file, at, str(error).splitlines()[0]) from None
    except OSError:
        raise
    except Exception:
        # A step whose fields are of other kinds than they should be may fail in any way.
        raise _not_repeated(file, at, "Its fields do not fit.") from None


def _not_repeated(file: ProjectFile, at: int, why: str) -> DataError:
    return gate.refusal(
        "bad-step",
        f"{file.name}, step {at + 1} of {len(file.log):,}",
        f"this step cannot be carried out again: {why.rstrip('.')}",
        file.log[at]["op"][:80],
        "Open only the data in it, without maps and history.",
    )


@dataclass(frozen=True)
class Summary:
    """What a project holds, to say it in a few words.

    Attributes
    ----------
    title : str
    datasets : dict of str to int
        Rows of each.
    links, comparisons, maps, clusters, steps : int
        How many.
    changed : str
        When it was last worked on: ISO 8601, UTC; empty if never.
    """

    title: str
    datasets: dict[str, int]
    links: int
    comparisons: int
    maps: int
    clusters: int
    steps: int
    changed: str


def summary_of(workspace: Workspace) -> Summary:
    """Return what a project holds."""
    moment = workspace.moment()
    state, data = moment.state, moment.state.data
    # How a job ended was nobody's act.
    acts = [entry for entry in moment.log if entry.get("op") != EndJob.op]
    return Summary(
        state.title,
        {} if data is None else {name: len(part) for name, part in data.datasets.items()},
        0 if data is None else sum(map(len, data.links)),
        0 if data is None or data.comparisons is None else len(data.comparisons),
        len(state.runs),
        0 if state.clustering is None else len(state.clustering.names),
        len(acts),
        str(acts[-1].get("at", "")) if acts else "",
    )
