"""Background jobs of a visitor: start, follow, stop and record their results."""

from __future__ import annotations

import contextlib
import logging
import secrets
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from hetviz._types import Ints
from hetviz.algorithms.registry import get_method, is_method
from hetviz.core.threads import one_thread
from hetviz.data import Embedding, HeteroData
from hetviz.errors import HetvizError, NotApplicableError
from hetviz.features.spaces.joint_axes import is_sketch_quick, quick_sketch
from hetviz.jobs import Findings, Job, Task
from hetviz.jobs.registry import TASKS, restartable_task
from hetviz.memo import Memo
from hetviz.serve.config import settings
from hetviz.serve.metrics import ServerMetrics, ServerStatus
from hetviz.serve.processes import is_project_of
from hetviz.ui.jobs.jobs import JOBS, Kind, OnEnd
from hetviz.ui.shell import people, session
from hetviz.ui.shell.page_state import project_id
from hetviz.ui.shell.visitors import VISITORS, current_visitor
from hetviz.workers.progress import pack_frame
from hetviz.workers.queue import READER_QUEUE
from hetviz.workspace import (
    SESSIONS,
    Command,
    EndJob,
    KeepFindings,
    MapResult,
    PendingJob,
    RecordMap,
    StartJob,
    State,
    Workspace,
)
from hetviz.workspace.store.maps import pack_map
from hetviz.workspace.store.packing import pack_json, pack_rows, unpack_rows

log = logging.getLogger(__name__)

_COMPARISON = "compare"
# The last preview of each project: the statement it is about, and the map.
_PREVIEWS: dict[str, tuple[str, MapResult | None]] = {}
_MAX_PREVIEWS = 200
# Maps whose spread was measured or is being measured, by project.
_MEASURED = Memo(max_entries=50)


def running_job() -> Job | None:
    """Return the visitor's waiting or running job, or None."""
    return next(iter(JOBS.active(project_id(), Kind.REQUESTED)), None)


def make_map(
    method: str,
    title: str,
    params: Mapping[str, object],
    seed: int,
    hold_out: float,
    weights: Mapping[str, float] | None = None,
    only: Ints | None = None,
) -> None:
    """Start making a map of the open data, or of some of its global rows."""
    arguments = {
        "method": method,
        "params": dict(params),
        "seed": seed,
        "hold_out": hold_out,
        "weights": dict(weights or {}),
    }
    start_task("make-map", arguments, title=title, only=only)


def make_first_map() -> None:
    """Start making the first map of data without a map."""
    # If a quick sketch is fast, it is computed here, so that the next page can show it at once.
    start_task("make-first-map", {}, with_sketch=True)


def refit(
    state: State,
    free_rows: Ints | None = None,
    statements: Collection[str] = (),
    requested: bool = False,
    params: Mapping[str, object] | None = None,
    start_note: str = "",
) -> bool:
    """Refit the shown map with the current guidance; return whether the job was started."""
    # A method that can warm-start keeps the positions, except those of `free_rows`. The effects of
    # the statements with the keys `statements` are measured. A `requested` refit is a step of its
    # own, others are undone with the edit before. `params` replace parameters of the method, and
    # `start_note` replaces the note of the start map.
    run = state.run
    if run is None or not is_method(run.method) or running_job() is not None:
        return False
    start_task(
        "make-map",
        run.settings
        | {"params": {**run.params, **(params or {})}}
        | ({"said": list(statements)} if statements else {}),
        title=get_method(run.method).card.title,
        only=state.rows_of(run),
        start=run.id,
        start_note=start_note,
        free_rows=free_rows,
        requested=requested,
    )
    return True


def measure_spread(state: State) -> None:
    """Start measuring how much the positions of the shown map vary over refits."""
    run = state.run
    if run is not None:
        start_task("find-spread", {"map": run.id, **run.settings}, only=run.only, start=run.id)


def measure_spread_automatically(state: State) -> None:
    """Start measuring the spread of the shown map, once, while nothing else runs."""
    run, data, workspace = state.run, state.guided, session.workspace()
    if run is None or data is None or not is_method(run.method) or running_job() is not None:
        return
    only, owner = state.rows_of(run), project_id()
    n_items = data.n_rows if only is None else len(only)
    if n_items > settings().work.spread_items or JOBS.load()[1:] != (0, 0):
        return
    key = f"{run.id}/{data.fingerprint()}"
    if _MEASURED.get(workspace, key) is not None:
        return
    _MEASURED.put(workspace, key, True)
    arguments = {"data": data, "map": run.id, **run.settings}
    arguments |= {"start": _start_positions(state, run, run.method, None)}
    arguments |= {} if only is None else {"only": only}
    title, fingerprint = TASKS["find-spread"].title, data.fingerprint()

    def on_spread_end(job: Job) -> None:
        _count_job(job)
        if job.state == "cancelled":
            # A person wanted something else meanwhile.
            _MEASURED.drop(workspace, key)
        elif job.state == "done":
            content = workspace.blobs.put(pack_json(job.result.content))
            with contextlib.suppress(HetvizError):
                # The data may have changed.
                workspace.do(
                    KeepFindings(job.result.kind, title, fingerprint, content, automatic=True)
                )

    note, task = {"visitor": current_visitor()}, Task("find-spread", arguments)
    JOBS.start(owner, Kind.SPREAD, title, task, on_spread_end, note)


def is_spread_running() -> bool:
    """Return whether the spread of a map is being measured automatically."""
    return bool(JOBS.active(project_id(), Kind.SPREAD))


def start_preview(state: State, data: HeteroData, statements: Collection[str], mark: str) -> None:
    """Start a preview of the shown map for other data, and cancel the previous preview."""
    # The result is not recorded. Nothing is started while a requested job runs.
    run = state.run
    if run is None or running_job() is not None:
        return
    owner = project_id()
    if any(job.note["mark"] == mark for job in JOBS.active(owner, Kind.PREVIEW)):
        return
    JOBS.cancel(owner, Kind.PREVIEW, Kind.SPREAD)
    arguments = run.settings | {
        "data": data,
        "start": _start_positions(state, run, run.method, None),
        "said": list(statements),
        "only": state.rows_of(run),
    }
    task = Task("make-map", arguments)
    JOBS.start(owner, Kind.PREVIEW, "Preview", task, _on_preview_end, {"mark": mark})


def last_preview() -> tuple[str, MapResult | None]:
    """Return the mark and the map of the last preview; None if it failed."""
    return _PREVIEWS.get(project_id(), ("", None))


def drop_jobs(id: str) -> None:
    """Drop the finished jobs of a closed session, whose results the project has."""
    JOBS.forget_ended(id)
    _PREVIEWS.pop(id, None)


def start_search(title: str, task: Task, on_end: OnEnd, id: str) -> bool:
    """Start a search that nobody requested; return whether it was accepted."""
    # Only the last search goes on, and none starts while a requested job runs.
    owner = project_id()
    JOBS.cancel(owner, Kind.SEARCH)
    if running_job() is not None or JOBS.get(id, owner) is not None:
        return False

    def on_search_end(job: Job) -> None:
        _count_job(job)
        on_end(job)

    note = {"visitor": current_visitor()}
    JOBS.start(owner, Kind.SEARCH, title, task, on_search_end, note, id)
    return True


def restart_job(pending: PendingJob) -> None:
    """Start a job again that gave no result."""
    note = dict(pending.note)
    task, arguments = restartable_task(note.get("task")), note.get("arguments")
    if task is None or not isinstance(arguments, dict):
        session.add_message(f"{pending.title} cannot be started again.")
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
    start_task(
        task,
        arguments,
        title=pending.title,
        only=only,
        start=note.get("start"),
        start_note=str(note.get("start_note", "")),
        requested=bool(note.get("requested")),
        repeats=note.get("repeats"),
    )


def start_task(
    task: str,
    arguments: Mapping[str, Any],
    *,
    title: str = "",
    only: Ints | None = None,
    start: str | None = None,
    start_note: str = "",
    free_rows: Ints | None = None,
    requested: bool = False,
    repeats: str | None = None,
    with_sketch: bool = False,
) -> None:
    """Start a task about the open data, or about some of its global rows."""
    # With `start`, the id of a map, a method that can warm-start replaces it, and only `free_rows`
    # start from new positions. With `repeats`, the id of a map, the task starts where that did.
    workspace = session.workspace()
    state = workspace.state
    data = state.guided
    if data is None or running_job() is not None:
        return
    owner = project_id()
    JOBS.cancel(owner, Kind.PREVIEW)
    title = title or TASKS[task].title
    job = secrets.token_hex(8)
    note = {
        "task": task,
        "arguments": dict(arguments),
        "only": None if only is None else workspace.blobs.put(pack_rows(only)),
        "start": start,
        "start_note": start_note,
        "requested": requested,
        "repeats": repeats,
        "fingerprint": data.fingerprint(),
    }
    if session.run_command(StartJob(job, title, note)):
        JOBS.cancel(owner, Kind.SEARCH, Kind.RESULT, Kind.SPREAD)
        task_arguments = dict(arguments) | ({} if only is None else {"only": only})
        if "files" in task_arguments:
            task_arguments["files"] = {
                name: workspace.blobs.get(blob) for name, blob in task_arguments["files"].items()
            }
        earlier = next((run for run in state.runs if run.id == start), None)
        if earlier is not None:
            task_arguments["start"] = _start_positions(
                state, earlier, str(arguments["method"]), free_rows, start_note
            )
        repeated = next((run for run in state.runs if run.id == repeats), None)
        if repeated is not None:
            task_arguments["start"] = repeated.start
        # The person is not in the project's journal, which may be given to others.
        person = {"person": people.name_in_records(), "visitor": current_visitor()}
        seen = _quick_sketch(data) if with_sketch and is_sketch_quick(data) else None
        work = Task(task, {"data": data, **task_arguments}, seen)
        JOBS.start(owner, Kind.REQUESTED, title, work, on_job_end, {**note, **person}, job)


@one_thread()
def _quick_sketch(data: HeteroData) -> bytes:
    return pack_frame(quick_sketch(data))


def _start_positions(
    state: State, run: MapResult, method: str, free_rows: Ints | None, start_note: str = ""
) -> Embedding | None:
    places = state.embedding(run)
    if places is None:
        return None
    coordinates = dict(places.coordinates)
    if free_rows is not None and len(free_rows):
        for name, span in state.opened().offsets.items():
            rows = free_rows[(free_rows >= span.start) & (free_rows < span.stop)] - span.start
            coordinates[name] = coordinates[name].copy()
            coordinates[name][rows] = np.nan
    # A method recognises its own maps by the note.
    own_note = get_method(method).card.title if run.method == method else places.note
    return Embedding(
        coordinates,
        places.ids,
        places.entity,
        components=places.components,
        note=start_note or own_note,
        drawn=places.drawn if free_rows is None else None,
    )


def _on_preview_end(job: Job) -> None:
    if job.state != "cancelled":
        result = job.result if isinstance(job.result, MapResult) else None
        _PREVIEWS[job.owner] = (str(job.note["mark"]), result)
        while len(_PREVIEWS) > _MAX_PREVIEWS:
            _PREVIEWS.pop(next(iter(_PREVIEWS)), None)


def _count_job(job: Job) -> None:
    person, visitor = (str(job.note.get(name) or "") for name in ("person", "visitor"))
    took = {"title": job.title, "state": job.state, "processor_s": job.processor_s}
    people.get_audit().note("job", person, job.owner, **took)
    FIGURES.count_job(job.state, job.processor_s, visitor)


def on_job_end(job: Job) -> None:
    """Record the result of a requested job."""
    _count_job(job)
    workspace = SESSIONS.find(job.owner)
    if workspace is None:
        return
    try:
        if _is_outdated_first_map(job, workspace):
            workspace.do(EndJob(job.id))
            _start_again(job, workspace)
        else:
            workspace.do(outcome_command(job, workspace))
    except HetvizError as error:
        guided = workspace.state.guided
        same = guided is not None and guided.fingerprint() == str(job.note.get("fingerprint"))
        # The result cannot be recorded, perhaps because the data changed.
        message = str(error) if same else f"The data changed while the job was running. {error}"
        try:
            workspace.do(EndJob(job.id, "failed", message))
        except HetvizError:
            log.exception("The end of a job could not be recorded: %s", job.title)


def _is_outdated_first_map(job: Job, workspace: Workspace) -> bool:
    """Return whether the data changed while their first map was made, as by new links."""
    state = workspace.state
    return (
        job.note.get("task") == "make-first-map"
        and job.state != "cancelled"
        and state.run is None
        and state.guided is not None
        and state.guided.fingerprint() != job.note["fingerprint"]
    )


def _start_again(job: Job, workspace: Workspace) -> None:
    """Start a job without files and earlier maps again, about the data as they are now."""
    data, id = workspace.state.guided, secrets.token_hex(8)
    if data is None:
        return
    note = {**job.note, "fingerprint": data.fingerprint()}
    stored = {name: value for name, value in note.items() if name not in ("person", "visitor")}
    workspace.do(StartJob(id, job.title, stored))
    task = Task(str(note["task"]), {"data": data})
    JOBS.start(job.owner, Kind.REQUESTED, job.title, task, on_job_end, note, id)


def outcome_command(job: Job, workspace: Workspace) -> Command:
    """Return the command that records the result or the error of a job."""
    # A cancelled job may have a usable map.
    if job.state == "cancelled" and job.result is None:
        return EndJob(job.id, "cancelled", "Nothing was changed.")
    if job.state == "failed":
        # The Map page itself says that no method suits the data.
        is_first = job.note.get("task") == "make-first-map"
        silent = is_first and isinstance(job.error, NotApplicableError)
        return EndJob(job.id) if silent else EndJob(job.id, "failed", str(job.error))
    result, fingerprint = job.result, str(job.note["fingerprint"])
    guided = workspace.state.guided
    if job.note.get("start") and (guided is None or guided.fingerprint() != fingerprint):
        # The guidance changed during the refit.
        return EndJob(job.id)
    if isinstance(result, Findings):
        return KeepFindings(
            result.kind,
            job.title,
            fingerprint,
            workspace.blobs.put(pack_json(_merge_findings(result, fingerprint, workspace))),
            [workspace.blobs.put(pack_map(new_map)) for new_map in result.maps],
            job.id,
        )
    return RecordMap(
        workspace.blobs.put(pack_map(result)),
        job.id,
        job.note.get("start"),
        bool(job.note.get("requested")),
    )


def _merge_findings(
    findings: Findings, fingerprint: str, workspace: Workspace
) -> Mapping[str, Any]:
    """Return the findings; a comparison is merged with the existing table."""
    before = workspace.state.findings.get(findings.kind)
    if findings.kind != _COMPARISON or before is None or before.fingerprint != fingerprint:
        return findings.content
    # Imported here because it loads pandas.
    from hetviz.runs.compare.comparison import join_contents

    return join_contents(before.content, before.runs, findings.content)


def _server_load() -> ServerStatus:
    alive, running, waiting = JOBS.load()
    can_work = alive > 0 or not waiting
    return ServerStatus(alive, running, waiting, SESSIONS.n_open, can_work, *READER_QUEUE.load())


# Figures of the server for its operator.
FIGURES = ServerMetrics(lambda: SESSIONS.home_folder, _server_load, VISITORS)
JOBS.use_pool(settings().work.workers)
if settings().processes > 1:
    SESSIONS.is_own = lambda project: is_project_of(settings(), project)
