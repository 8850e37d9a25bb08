"""Long work of this visitor: start it, and keep what comes out of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from hetviz.errors import HetvizError, NotApplicableError
from hetviz.jobs import Job, Runner, Task, ThreadRunner
from hetviz.ui import session
from hetviz.workspace import RecordRun
from hetviz.workspace.packing import pack_coordinates, pack_figures, pack_rows

# One for the whole server; a plain module value, so that clearing a cache cannot drop it.
RUNNER: Runner = ThreadRunner()

FIRST = "First map"


def owner() -> str:
    """Return who owns this visitor's jobs."""
    return str(st.session_state["sid"])


def live() -> Job | None:
    """Return the visitor's job that waits or runs, if any."""
    return next((job for job in RUNNER.jobs(owner()) if job.live), None)


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
    data = session.workspace().state.data
    if data is None or live() is not None:
        return
    arguments = {
        "data": data,
        "method": method,
        "params": dict(params),
        "seed": seed,
        "hold_out": hold,
        "weights": dict(weights or {}),
        "only": only,
    }
    note = {**arguments, "data": None, "title": title, "fingerprint": data.fingerprint()}
    RUNNER.submit(owner(), title, Task("hetviz.jobs.tasks:make_map", arguments), note)


def make_first_map() -> None:
    """Start making the first map of data that came without one."""
    data = session.workspace().state.data
    if data is None or live() is not None:
        return
    note = {"seed": 0, "hold_out": 0.0, "fingerprint": data.fingerprint()}
    task = Task("hetviz.jobs.tasks:make_first_map", {"data": data})
    RUNNER.submit(owner(), FIRST, task, note)


def collect() -> bool:
    """Keep what finished jobs made; return whether anything finished."""
    finished = [job for job in RUNNER.jobs(owner()) if not job.live]
    for job in finished:
        taken = RUNNER.take(job.id, owner())
        if taken is not None:
            _keep(taken)
    return bool(finished)


def _keep(job: Job) -> None:
    # That nothing suits the data is what the Map page says itself.
    if job.state == "failed" and not (
        job.title == FIRST and isinstance(job.error, NotApplicableError)
    ):
        session.tell(f"{job.title}: {job.error}")
    if job.state == "cancelled":
        session.tell(f"{job.title}: stopped. Nothing was changed.", kind="note")
    if job.state != "done":
        return
    workspace = session.workspace()
    made = job.result
    only = job.note.get("only")
    command = RecordRun(
        method=made.method,
        title=made.title,
        params=made.params,
        seed=int(job.note["seed"]),
        hold_out=float(job.note["hold_out"]),
        fingerprint=str(job.note["fingerprint"]),
        coordinates=workspace.blobs.put(pack_coordinates(made.embedding)),
        figures=workspace.blobs.put(pack_figures(made.figures)),
        weights=job.note.get("weights", {}),
        only=None if only is None else workspace.blobs.put(pack_rows(only)),
    )
    try:
        workspace.do(command)
    except HetvizError as error:
        session.tell(f"{job.title}: the data changed while the map was being made. {error}")
