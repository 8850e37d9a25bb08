"""Results that depend on all items, computed in a worker and cached.

For small data, and in notebooks, they are computed at once.
"""

from __future__ import annotations

import hashlib
import logging
import threading
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar
from weakref import ReferenceType, ref

from hetviz.data import HeteroData
from hetviz.errors import HetvizError
from hetviz.jobs import Job, Task
from hetviz.jobs.registry import TASKS
from hetviz.progress import ignore_progress
from hetviz.ui.jobs.jobs import JOBS, Kind
from hetviz.ui.map_data.array_cache import RESULTS

log = logging.getLogger(__name__)
T = TypeVar("T")

LARGE_SIZE = 60_000
"""Number of items plus links from which on results are computed in a worker."""

# Background functions share results, so they run one at a time.
BACKGROUND_LOCK = threading.Lock()
_WAIT_S = 0.3
"""Seconds that a page waits for a background thread, so that it is often drawn only once."""


class WorkerError(HetvizError):
    """A worker failed to compute a result.

    `activity`: Description of the task.
    `retry`: Drops the error, so that the next run of the page computes the result again.
    """

    def __init__(self, activity: str, reason: str, retry: Callable[[], None]) -> None:
        super().__init__(f"{activity} failed: {reason}")
        self.activity, self.reason, self.retry = activity, reason, retry


@dataclass(frozen=True, eq=False)
class _PendingResult:
    data_ref: ReferenceType[HeteroData]
    key: Hashable
    also: object
    session: str
    redraw: bool


_PENDING: dict[str, _PendingResult] = {}
_N_ARRIVED: dict[str, int] = {}
_MAX_COUNTED_SESSIONS = 2_000
_LOCK = threading.Lock()


def is_large(data: HeteroData) -> bool:
    """Return whether results that depend on all items are computed in a worker."""
    return data.n_rows + sum(map(len, data.links)) > LARGE_SIZE


def fetch_from_worker(
    session: str,
    data: HeteroData,
    key: Hashable,
    task: str,
    arguments: Mapping[str, Any],
    also: object = None,
    *,
    redraw: bool = True,
    is_slow: bool = False,
) -> Any:
    """Return the result of a task about data, or None while a worker computes it.

    `is_slow`: It is not computed at once for small data or in a notebook either.
    """
    work = Task(task, {"data": data, **arguments})
    if JOBS.runner is None and is_slow:
        return compute_in_thread(
            session, data, key, lambda: work.run(ignore_progress), also, TASKS[task].title, is_slow
        )
    if JOBS.runner is None or not (is_slow or is_large(data)):
        return RESULTS.get_or_compute(data, key, lambda: work.run(ignore_progress), also)
    result = RESULTS.get(data, key)
    refused = find_failure(data, key, task)
    if refused is not None:
        raise refused
    if result is None:
        id = _job_id(session, data, key)
        with _LOCK:
            before = _PENDING.get(id)
            _PENDING[id] = _PendingResult(
                ref(data), key, also, session, redraw or bool(before and before.redraw)
            )
        if before is None and not _send_task(session, id, work):
            with _LOCK:
                _PENDING.pop(id, None)
    return result


def _send_task(session: str, id: str, task: Task) -> bool:
    """Start a task under a job id; return whether it was accepted."""
    # Requested jobs and previews go first.
    if JOBS.active(session, Kind.REQUESTED, Kind.PREVIEW) or JOBS.get(id, session) is not None:
        return False
    JOBS.start(session, Kind.RESULT, "Looking", task, on_job_end, id=id)
    return True


def start_thread(work: Callable[[], None]) -> None:
    """Run a function in a background thread."""
    threading.Thread(target=work, name="make-ready", daemon=True).start()


def find_failure(data: HeteroData, key: Hashable, task: str) -> WorkerError | None:
    """Return the cached error of a task, if any, without starting it."""
    result = RESULTS.get(data, key)
    if not isinstance(result, HetvizError):
        return None
    return WorkerError(TASKS[task].title, str(result), partial(RESULTS.drop, data, key))


def compute_in_thread(
    session: str,
    data: HeteroData,
    key: Hashable,
    make: Callable[[], T],
    also: object,
    activity: str = "Reading the guidance",
    is_slow: bool = False,
) -> T:
    """Return the result of `make`, computed in a thread for large data; None until it is ready."""
    # For results that a worker takes as long to send as to compute. `make` must not use the session
    # of a page. Other parameters are those of `fetch_from_worker`.
    if not is_slow and (JOBS.runner is None or not is_large(data)):
        return RESULTS.get_or_compute(data, key, make, also)
    result = RESULTS.get(data, key)
    if isinstance(result, HetvizError):
        raise WorkerError(activity, str(result), partial(RESULTS.drop, data, key))
    if result is None:
        id, over = _job_id(session, data, key), threading.Event()

        def work() -> None:
            with BACKGROUND_LOCK:
                computed: object
                try:
                    computed = make()
                except HetvizError as error:
                    computed = error
                except Exception:
                    log.exception("A result for a page could not be computed")
                    computed = HetvizError(
                        "an unexpected error occurred, see the log of the server"
                    )
            _store_result(id, computed)
            over.set()

        with _LOCK:
            first = id not in _PENDING
            _PENDING.setdefault(id, _PendingResult(ref(data), key, also, session, redraw=not first))
        if first:
            start_thread(work)
            over.wait(_WAIT_S)
        with _LOCK:
            if id in _PENDING:
                _PENDING[id] = replace(_PENDING[id], redraw=True)
        result = RESULTS.get(data, key)
    return result  # type: ignore[no-any-return]


def _job_id(session: str, data: HeteroData, key: Hashable) -> str:
    return hashlib.sha256(f"{session}/{id(data)}/{key!r}".encode()).hexdigest()[:16]


def on_job_end(job: Job) -> None:
    """Cache the result of a job."""
    if job.state == "cancelled":
        with _LOCK:
            _PENDING.pop(job.id, None)
        return
    _store_result(job.id, job.result if job.state == "done" else job.error)


def _store_result(id: str, result: object) -> None:
    with _LOCK:
        asked = _PENDING.get(id)
    data = None if asked is None else asked.data_ref()
    if asked is not None and data is not None:
        RESULTS.get_or_compute(data, asked.key, lambda: result, asked.also)
    # Removed after the result is cached, so that readers find one or the other.
    with _LOCK:
        asked = _PENDING.pop(id, None)
        if asked is None:
            return
        # Errors are always shown on the page.
        if asked.redraw or isinstance(result, HetvizError):
            _N_ARRIVED[asked.session] = _N_ARRIVED.get(asked.session, 0) + 1
            while len(_N_ARRIVED) > _MAX_COUNTED_SESSIONS:
                _N_ARRIVED.pop(next(iter(_N_ARRIVED)))


def n_arrived(session: str) -> int:
    """Return the number of results for a session; the page runs again when it grows."""
    return _N_ARRIVED.get(session, 0)


def is_working(session: str) -> bool:
    """Return whether a result is computed that the page of a session waits for."""
    with _LOCK:
        return any(pending.session == session and pending.redraw for pending in _PENDING.values())
