"""Long work of this visitor: start it, follow it, and keep what comes out of it."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Mapping
from typing import Any

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from hetviz.errors import HetvizError, NotApplicableError
from hetviz.jobs import Job, ProcessRunner, Runner, Task
from hetviz.ui import session
from hetviz.workspace import SESSIONS, Command, EndJob, Pending, RecordRun, StartJob, Workspace
from hetviz.workspace.packing import pack_coordinates, pack_figures, pack_rows, unpack_rows

log = logging.getLogger(__name__)

FIRST = "First map"


def owner() -> str:
    """Return who owns this visitor's jobs."""
    return str(st.session_state["sid"])


def live() -> Job | None:
    """Return the visitor's job that waits or runs, if any."""
    found = None
    for job in RUNNER.jobs(owner()):
        if job.live:
            found = found or job
        else:
            # Kept in the workspace by now.
            RUNNER.take(job.id, job.owner)
    return found


def make_map(
    method: str,
    title: str,
    params: Mapping[str, Any],
    seed: int,
    hold: float,
    weights: Mapping[str, float] | None = None,
    only: NDArray[np.int64] | None = None,
) -> None:
    """Start making a map of the open data, or of some of its global rows."""
    arguments = {
        "method": method,
        "params": dict(params),
        "seed": seed,
        "hold_out": hold,
        "weights": dict(weights or {}),
    }
    _start(title, "make_map", arguments, only)


def make_first_map() -> None:
    """Start making the first map of data that came without one."""
    _start(FIRST, "make_first_map", {}, None)


def again(pending: Pending) -> None:
    """Start once more what gave no map."""
    note = dict(pending.note)
    state = session.workspace().state
    blob = note.get("only")
    only = None
    if blob is not None and state.data is not None:
        try:
            only = unpack_rows(session.workspace().blobs.get(blob), state.data.n_rows)
        except HetvizError as error:
            session.tell(f"{pending.title}: {error}")
            return
    _start(pending.title, str(note["task"]), dict(note["arguments"]), only)


def dismiss(pending: Pending) -> None:
    """Forget how a job ended."""
    session.do(EndJob(pending.job))


def cancel(id: str) -> None:
    """Ask a job of this visitor to stop."""
    RUNNER.cancel(id, owner())


def _start(
    title: str, task: str, arguments: Mapping[str, Any], only: NDArray[np.int64] | None
) -> None:
    workspace = session.workspace()
    data = workspace.state.data
    if data is None or live() is not None:
        return
    job = secrets.token_hex(8)
    note = {
        "task": task,
        "arguments": dict(arguments),
        "only": None if only is None else workspace.blobs.put(pack_rows(only)),
        "fingerprint": data.fingerprint(),
    }
    if session.do(StartJob(job, title, note)):
        given = dict(arguments) | ({} if only is None else {"only": only})
        call = Task(f"hetviz.jobs.tasks:{task}", {"data": data, **given})
        RUNNER.submit(owner(), title, call, note, job)


def ended(job: Job) -> None:
    """Keep how a job ended; called by the runner, whether or not anybody is looking."""
    workspace = SESSIONS.find(job.owner)
    if workspace is None:
        return
    try:
        workspace.do(_outcome(job, workspace))
    except HetvizError as error:
        message = f"The data changed while the map was being made. {error}"
        try:
            workspace.do(EndJob(job.id, "failed", message))
        except HetvizError:
            log.exception("How a job ended could not be kept: %s", job.title)


def _outcome(job: Job, workspace: Workspace) -> Command:
    """Return the command that keeps what a job made, or why it made nothing."""
    # A stopped one may have come to a map of some use.
    if job.state == "cancelled" and job.result is None:
        return EndJob(job.id, "cancelled", "Nothing was changed.")
    if job.state == "failed":
        # That nothing suits the data is what the Map page says itself.
        silent = job.title == FIRST and isinstance(job.error, NotApplicableError)
        return EndJob(job.id) if silent else EndJob(job.id, "failed", str(job.error))
    made, arguments = job.result, job.note["arguments"]
    figures = None if made.figures is None else workspace.blobs.put(pack_figures(made.figures))
    return RecordRun(
        method=made.method,
        title=made.title,
        params=made.params,
        seed=int(arguments.get("seed", 0)),
        hold_out=float(arguments.get("hold_out", 0.0)),
        fingerprint=str(job.note["fingerprint"]),
        coordinates=workspace.blobs.put(pack_coordinates(made.embedding)),
        figures=figures,
        weights=arguments.get("weights", {}),
        only=job.note["only"],
        job=job.id,
        note=made.embedding.note,
    )


# One for the whole server; a plain module value, so that clearing a cache cannot drop it.
RUNNER: Runner = ProcessRunner(ended)
