"""Long work of this visitor: start it, follow it, and keep what comes out of it."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Callable, Collection, Mapping
from typing import Any

import numpy as np
import streamlit as st

from hetviz._types import Ints
from hetviz.algorithms.registry import get_method, methods
from hetviz.core.threads import one_thread
from hetviz.data import Embedding, HeteroData
from hetviz.errors import HetvizError, NotApplicableError
from hetviz.features.spaces.joint_axes import is_sketch_quick, quick_sketch
from hetviz.io.sandbox.reader_queue import TURNS
from hetviz.jobs import Findings, Job, MadeMap, Pool, Runner, Task
from hetviz.jobs.results import pack_frame
from hetviz.jobs.tasks.registry import TASKS, find_task_id
from hetviz.serve.config import settings
from hetviz.serve.figures import Figures, Now
from hetviz.ui.map import worker_results
from hetviz.ui.shell import people, session
from hetviz.workspace import (
    SESSIONS,
    Command,
    EndJob,
    KeepFindings,
    PendingJob,
    RecordRun,
    Run,
    StartJob,
    State,
    Workspace,
)
from hetviz.workspace.store.packing import pack_coordinates, pack_json, pack_rows, unpack_rows

log = logging.getLogger(__name__)

FIRST_MAP_TITLE = "First map"
BACKGROUND, WORKER = ":beside", ":away"
_COMPARISON = "compare"
# In the note of a job of which nothing is kept: what it was asked about.
_PREVIEW_OF = "foresees"
_PREVIEWS: dict[str, tuple[str, MadeMap | None]] = {}
_MAX_PREVIEWS = 200


def job_owner() -> str:
    """Return who owns this visitor's jobs."""
    return str(st.session_state["sid"])


def background_owner() -> str:
    """Return who owns what is worked out for this visitor unasked; it gives way to their jobs."""
    return job_owner() + BACKGROUND


def running_job() -> Job | None:
    """Return the visitor's job that waits or runs, if any."""
    found = None
    for job in RUNNER.jobs(job_owner()):
        if job.is_active:
            found = found or (None if _PREVIEW_OF in job.note else job)
        else:
            # Kept in the workspace by now.
            RUNNER.take(job.id, job.owner)
    return found


def make_map(
    method: str,
    title: str,
    params: Mapping[str, object],
    seed: int,
    hold: float,
    weights: Mapping[str, float] | None = None,
    only: Ints | None = None,
    start: Run | None = None,
    loose: Ints | None = None,
    said: Collection[str] = (),
) -> None:
    """Start making a map of the open data, or of some of its global rows.

    With `start`, a method that can goes on from that map; the new one takes its place. The
    rows that are `loose` then find their places anew, and what the statements of the keys `said`
    did is told with the new map.
    """
    arguments: dict[str, Any] = {
        "method": method,
        "params": dict(params),
        "seed": seed,
        "hold_out": hold,
        "weights": dict(weights or {}),
    }
    if said:
        arguments["said"] = list(said)
    _start_job(title, "make-map", arguments, only, None if start is None else start.id, loose)


def make_first_map() -> None:
    """Start making the first map of data that came without one.

    Where that is quick, a first glance is worked out here: the page that comes next can show it,
    before a worker has so much as got the data.
    """
    _start_job(FIRST_MAP_TITLE, "make-first-map", {}, glanced=True)


def refit(state: State, loose: Ints | None = None, said: Collection[str] = ()) -> bool:
    """Make the shown map again for the guidance as it is now; return whether that was started.

    A method that can goes on from where the items are, but for the global rows that are `loose`:
    what held them is gone. What the statements of the keys `said` did is told with the map.
    """
    run = state.run
    if (
        run is None
        or run.method not in {card.key for card in methods()}
        or running_job() is not None
    ):
        return False
    make_map(
        run.method,
        get_method(run.method).card.title,
        run.params,
        run.seed,
        run.hold_out,
        run.weights,
        run.only,
        start=run,
        loose=loose,
        said=said,
    )
    return True


def start_preview(state: State, data: HeteroData, said: Collection[str], mark: str) -> None:
    """Start finding out what the shown map would become for other data, in place of what was asked.

    Nothing of it is kept with the project. While work is under way that was asked for, it waits to
    be asked again.
    """
    run = state.run
    if run is None or running_job() is not None:
        return
    running = [job for job in RUNNER.jobs(job_owner()) if job.is_active and _PREVIEW_OF in job.note]
    if any(job.note[_PREVIEW_OF] == mark for job in running):
        return
    _cancel_previews()
    arguments = {
        "data": data,
        "method": run.method,
        "params": dict(run.params),
        "seed": run.seed,
        "hold_out": run.hold_out,
        "weights": dict(run.weights),
        "start": _start_positions(state, run, run.method, None),
        "said": list(said),
    }
    RUNNER.submit(job_owner(), "Preview", Task(TASKS["make-map"], arguments), {_PREVIEW_OF: mark})


def is_previewing() -> bool:
    """Whether that is under way."""
    return any(job.is_active and _PREVIEW_OF in job.note for job in RUNNER.jobs(job_owner()))


def last_preview() -> tuple[str, MadeMap | None]:
    """Return what was found out last, by its mark; None where it failed."""
    return _PREVIEWS.get(job_owner(), ("", None))


def drop_jobs(id: str) -> None:
    """Let go of what came of jobs of a session that nobody looks at: the project has it by now."""
    for who in (id, id + BACKGROUND, id + WORKER):
        for job in RUNNER.jobs(who):
            RUNNER.take(job.id, who)
    _PREVIEWS.pop(id, None)


def send_to_worker(session_id: str, id: str, task: Task) -> bool:
    """Have a worker find out what the pages of a session need to know; see `hetviz.ui.map.worker_results`.

    Nothing begins while a job of the visitor runs: what was asked for goes first.
    """
    who = session_id + WORKER
    for job in RUNNER.jobs(who):
        if not job.is_active:
            RUNNER.take(job.id, who)
    if any(job.is_active for job in RUNNER.jobs(session_id)) or RUNNER.get(id, who) is not None:
        return False
    RUNNER.submit(who, "Looking", task, {}, id)
    return True


def _cancel_previews() -> None:
    for job in RUNNER.jobs(job_owner()):
        if job.is_active and _PREVIEW_OF in job.note:
            RUNNER.cancel(job.id, job.owner)


def start_task(
    title: str,
    task: str,
    arguments: Mapping[str, object],
    start: Run | None = None,
    only: Ints | None = None,
) -> None:
    """Start finding something out about the open data.

    Parameters
    ----------
    title : str
    task : str
        Id of a task in `hetviz.jobs.tasks.registry`, called with the data, the arguments and
        ``progress``; it returns `hetviz.jobs.Findings`.
    arguments : mapping
        JSON-ready. In ``files``, blobs by name of file, of which the task gets the bytes.
    start : Run, optional
        A map that the task gets the places of, as ``start``.
    only : array of int, optional
        Global rows that the task gets, as ``only``.
    """
    _start_job(title, task, arguments, only, None if start is None else start.id)


def restart_job(pending: PendingJob) -> None:
    """Start once more what gave no result."""
    note = dict(pending.note)
    task, arguments = find_task_id(note.get("task")), note.get("arguments")
    if task is None or not isinstance(arguments, dict):
        session.add_message(f"{pending.title}: this cannot be started again.")
        return
    state = session.workspace().state
    blob = note.get("only")
    only = None
    if blob is not None and state.data is not None:
        try:
            only = unpack_rows(session.workspace().blobs.get(blob), state.data.n_rows)
        except HetvizError as error:
            session.add_message(f"{pending.title}: {error}")
            return
    _start_job(pending.title, task, arguments, only, note.get("start"))


def dismiss_job(pending: PendingJob) -> None:
    """Forget how a job ended."""
    session.run_command(EndJob(pending.job))


def cancel_job(id: str) -> None:
    """Ask a job of this visitor to stop."""
    RUNNER.cancel(id, job_owner())


def stop_all_jobs(project: str) -> None:
    """Ask all work that is under way for a project to stop."""
    for name in (project, project + BACKGROUND, project + WORKER):
        for job in RUNNER.jobs(name):
            RUNNER.cancel(job.id, job.owner)


def _start_job(
    title: str,
    task: str,
    arguments: Mapping[str, Any],
    only: Ints | None = None,
    start: str | None = None,
    loose: Ints | None = None,
    glanced: bool = False,
) -> None:
    workspace = session.workspace()
    state = workspace.state
    data = state.guided
    if data is None or running_job() is not None:
        return
    _cancel_previews()
    job = secrets.token_hex(8)
    note = {
        "task": task,
        "arguments": dict(arguments),
        "only": None if only is None else workspace.blobs.put(pack_rows(only)),
        "start": start,
        "fingerprint": data.fingerprint(),
    }
    if session.run_command(StartJob(job, title, note)):
        for unasked in (*RUNNER.jobs(background_owner()), *RUNNER.jobs(job_owner() + WORKER)):
            RUNNER.cancel(unasked.id, unasked.owner)
        given = dict(arguments) | ({} if only is None else {"only": only})
        if "files" in given:
            given["files"] = {
                name: workspace.blobs.get(blob) for name, blob in given["files"].items()
            }
        earlier = next((run for run in state.runs if run.id == start), None)
        if earlier is not None:
            given["start"] = _start_positions(state, earlier, str(arguments["method"]), loose)
        # In the server's records, not in the project's log: that may be given to others.
        who = {"person": people.name_in_records()}
        seen = _quick_sketch(data) if glanced and is_sketch_quick(data) else None
        work = Task(TASKS[task], {"data": data, **given}, seen)
        RUNNER.submit(job_owner(), title, work, {**note, **who}, job)


@one_thread()
def _quick_sketch(data: HeteroData) -> bytes:
    return pack_frame(quick_sketch(data))


def _start_positions(state: State, run: Run, method: str, loose: Ints | None) -> Embedding | None:
    """Return where items are on a map, but for those that are loose."""
    places = state.embedding(run)
    if places is None:
        return None
    coordinates = dict(places.coordinates)
    if loose is not None and len(loose):
        for name, span in state.opened().offsets.items():
            mine = loose[(loose >= span.start) & (loose < span.stop)] - span.start
            coordinates[name] = coordinates[name].copy()
            coordinates[name][mine] = np.nan
    # By this a method knows a map of its own, however that came here.
    note = get_method(method).card.title if run.method == method else places.note
    return Embedding(
        coordinates, places.ids, places.entity, components=places.components, note=note
    )


def on_job_end(job: Job) -> None:
    """Keep how a job ended; called by the runner, whether or not anybody is looking."""
    if _PREVIEW_OF in job.note:
        if job.state != "cancelled":
            made = job.result if isinstance(job.result, MadeMap) else None
            _PREVIEWS[job.owner] = (str(job.note[_PREVIEW_OF]), made)
            while len(_PREVIEWS) > _MAX_PREVIEWS:
                _PREVIEWS.pop(next(iter(_PREVIEWS)), None)
        return
    if job.owner.endswith(WORKER):
        worker_results.on_job_end(job)
        return
    who = str(job.note.get("person") or "")
    took = {"title": job.title, "state": job.state, "processor_s": job.processor_s}
    people.get_audit().note("job", who, job.owner, **took)
    FIGURES.job(job.state, job.processor_s)
    workspace = SESSIONS.find(job.owner)
    if workspace is None:
        for told in ON_BACKGROUND_END:
            told(job)
        return
    try:
        workspace.do(outcome_command(job, workspace))
    except HetvizError as error:
        guided = workspace.state.guided
        same = guided is not None and guided.fingerprint() == str(job.note.get("fingerprint"))
        # What was found cannot be kept, and only sometimes because of what somebody did meanwhile.
        message = str(error) if same else f"The data changed while this was being made. {error}"
        try:
            workspace.do(EndJob(job.id, "failed", message))
        except HetvizError:
            log.exception("How a job ended could not be kept: %s", job.title)


def outcome_command(job: Job, workspace: Workspace) -> Command:
    """Return the command that keeps what a job made, or why it made nothing."""
    # A stopped one may have come to a map of some use.
    if job.state == "cancelled" and job.result is None:
        return EndJob(job.id, "cancelled", "Nothing was changed.")
    if job.state == "failed":
        # That nothing suits the data is what the Map page says itself.
        silent = job.title == FIRST_MAP_TITLE and isinstance(job.error, NotApplicableError)
        return EndJob(job.id) if silent else EndJob(job.id, "failed", str(job.error))
    made, fingerprint = job.result, str(job.note["fingerprint"])
    guided = workspace.state.guided
    if job.note.get("start") and (guided is None or guided.fingerprint() != fingerprint):
        # Something else was said, or this was taken back, while the map moved.
        return EndJob(job.id)
    if isinstance(made, Findings):
        return KeepFindings(
            made.kind,
            job.title,
            fingerprint,
            workspace.blobs.put(pack_json(_merge_findings(made, fingerprint, workspace))),
            [_run_fields(one, fingerprint, workspace) for one in made.maps],
            job.id,
        )
    arguments = job.note["arguments"]
    fields = _run_fields(made, fingerprint, workspace) | {
        "seed": int(arguments.get("seed", 0)),
        "hold_out": float(arguments.get("hold_out", 0.0)),
        "weights": arguments.get("weights", {}),
        "only": job.note["only"],
        "job": job.id,
        "replaces": job.note.get("start"),
    }
    return RecordRun(**fields)


def _merge_findings(made: Findings, fingerprint: str, workspace: Workspace) -> Mapping[str, Any]:
    """Return what was found; a comparison goes on with the table that is there."""
    before = workspace.state.findings.get(made.kind)
    if made.kind != _COMPARISON or before is None or before.fingerprint != fingerprint:
        return made.content
    # It loads pandas, which the server needs for nothing else.
    from hetviz.runs.compare.comparison import joined_content

    return joined_content(before.content, before.runs, made.content)


def _run_fields(made: MadeMap, fingerprint: str, workspace: Workspace) -> dict[str, Any]:
    """Return a map as fields of the command that records it."""
    figures = None if made.figures is None else workspace.blobs.put(pack_json(made.figures))
    return {
        "method": made.method,
        "title": made.title,
        "params": made.params,
        "seed": made.seed or 0,
        "hold_out": made.hold_out,
        "fingerprint": fingerprint,
        "coordinates": workspace.blobs.put(pack_coordinates(made.embedding)),
        "figures": figures,
        "note": made.embedding.note,
    }


def _server_load() -> Now:
    running, waiting = RUNNER.load()
    alive = len(RUNNER.worker_pids) if isinstance(RUNNER, Pool) else 1
    can_work = alive > 0 or not waiting
    return Now(alive, running, waiting, SESSIONS.n_open, can_work, *TURNS.load())


# Told of jobs of no project, which `background_owner` owns.
ON_BACKGROUND_END: list[Callable[[Job], None]] = []
# How the server does, for who runs it.
FIGURES = Figures(lambda: SESSIONS.home_folder, _server_load)
# One for the whole server; a plain module value, so that clearing a cache cannot drop it.
RUNNER: Runner = Pool(on_job_end, settings().work.workers)
worker_results.SEND_TASK[:] = [send_to_worker]
