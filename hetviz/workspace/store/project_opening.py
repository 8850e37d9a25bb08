"""Opening a project file: in a session of its own, whole, or not at all."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hetviz.errors import DataError, HetvizError
from hetviz.io import gate, limits
from hetviz.workspace.commands.commands import EndJob
from hetviz.workspace.store.blobs import MAX_BYTES, BlobStore
from hetviz.workspace.store.files import NotSaved, not_saved, replace_file
from hetviz.workspace.store.journal import Journal
from hetviz.workspace.store.paths import BLOBS, GLANCE, JOURNAL
from hetviz.workspace.store.project_file import ProjectFile, read_project
from hetviz.workspace.store.selection import unpack_glance
from hetviz.workspace.store.sessions import Sessions
from hetviz.workspace.workspace import Workspace

# Longer than anybody waits; a file can name steps without end.
MOST_S = 300.0
OTHER_NUMBERS = (
    "The features came out slightly differently on this computer than where the project was saved, "
    "so its maps count as made from other data. They are shown as they were."
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
    store = BlobStore(folder / BLOBS)
    _keep_blobs(file, store)
    workspace = _replayed(file, store)
    glance, _ = unpack_glance(file.glance())
    data = workspace.state.data
    if file.fingerprint != (None if data is None else data.fingerprint()):
        workspace.notes.append(OTHER_NUMBERS)
    # Last, as a session without a journal is none: one that breaks off before is cleared away.
    replace_file(folder / JOURNAL, file.journal)
    journal = Journal(folder / JOURNAL)
    try:
        workspace.keep(journal, folder / GLANCE)
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
