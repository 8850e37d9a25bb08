"""What takes the longer the more items there are: worked out in the worker, kept with the data.

Of small data it is worked out at once. Without the app (in a notebook) there is no worker, and of
large data too.
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
from hetviz.progress import ignore_progress
from hetviz.ui.map.array_cache import drop_cached, get_cached, get_or_compute

log = logging.getLogger(__name__)
T = TypeVar("T")

_TASK_TITLES = {
    "columns": "Reading the columns",
    "effects": "Finding out how far the map agrees with each column",
    "prices": "Finding out what it would cost to keep these",
    "proposals": "Looking for what joins these tables",
    "questions": "Working out the next questions",
    "recipe_of_features": "Reading the columns",
    "regions_of_map": "Reading the regions of the map",
    "report": "Looking through what was said",
    "trust_of_row": "Finding out where this item's surroundings can be trusted",
    "trust_of_rows": "Finding out where this map can be trusted",
    "preview": "Drawing the figure",
}

LARGE_SIZE = 60_000
"""Items and links together, from which on nobody waits for what depends on all of them."""

# Takes the session, an id for the job and the task; says whether the job was taken on. The app's.
SEND_TASK: list[Callable[[str, str, Task], bool]] = []

# Takes what is to be done beside the page: a thread of its own, unless a test would rather wait.
START_THREAD: list[Callable[[Callable[[], None]], object]] = [
    lambda work: threading.Thread(target=work, name="make-ready", daemon=True).start()
]
# What one of them makes another may need, and would make a second time.
BACKGROUND_LOCK = threading.Lock()
_WAIT_S = 0.3
"""Seconds that a page waits for what is made beside it, so that it need not be drawn twice."""


class WorkerError(HetvizError):
    """A worker could not find something out.

    Attributes
    ----------
    activity : str
        What it was doing, in words.
    reason : str
    retry : callable
        Forgets it, so that it is asked for once more when the page is drawn.
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
    """Whether what depends on all items or links is left to the worker."""
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
) -> Any:
    """Return what a task finds out about data; None while a worker is at it.

    Parameters
    ----------
    session : str
        Whose wish it is.
    data : HeteroData
    key : hashable
        What it is kept under; `also` is kept alive with it, see `array_cache.kept`.
    task : str
        ``"hetviz.jobs.tasks.<module>:<function>"``, called with the data and the arguments.
    redraw : bool
        Whether the page shall be drawn anew once it is there.

    Raises
    ------
    Failed
        Where the worker could not find it out.
    """
    if not SEND_TASK or not is_large(data):
        work = Task(task, {"data": data, **arguments})
        return get_or_compute(data, key, lambda: work.run(ignore_progress), also)
    result = get_cached(data, key)
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
        if before is None and not SEND_TASK[0](
            session, id, Task(task, {"data": data, **arguments})
        ):
            with _LOCK:
                _PENDING.pop(id, None)
    return result


def find_failure(data: HeteroData, key: Hashable, task: str) -> WorkerError | None:
    """Return why a worker could not find something out, if that is known; nobody is sent for it."""
    result = get_cached(data, key)
    if not isinstance(result, HetvizError):
        return None
    activity = _TASK_TITLES.get(task.partition(":")[2], "What was to be found out")
    return WorkerError(activity, str(result), partial(drop_cached, data, key))


def compute_in_thread(
    session: str, data: HeteroData, key: Hashable, make: Callable[[], T], also: object
) -> T:
    """Return what `make` gives, made beside the page where data are large; None until it is there.

    For what the page itself must hold, and a worker would take as long to send as to make. `make`
    may not ask for the session that a page has; the others as in `fetch_from_worker`.

    Raises
    ------
    Failed
        Where it could not be made.
    """
    if not SEND_TASK or not is_large(data):
        return get_or_compute(data, key, make, also)
    result = get_cached(data, key)
    if isinstance(result, HetvizError):
        raise WorkerError("Reading what was said", str(result), partial(drop_cached, data, key))
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
                    log.exception("What a page waits for could not be made")
                    computed = HetvizError(
                        "the app came to an end of its own here; its log says why"
                    )
            _store_result(id, computed)
            over.set()

        with _LOCK:
            first = id not in _PENDING
            _PENDING.setdefault(id, _PendingResult(ref(data), key, also, session, redraw=not first))
        if first:
            START_THREAD[0](work)
            over.wait(_WAIT_S)
        with _LOCK:
            if id in _PENDING:
                _PENDING[id] = replace(_PENDING[id], redraw=True)
        result = get_cached(data, key)
    return result  # type: ignore[no-any-return]


def _job_id(session: str, data: HeteroData, key: Hashable) -> str:
    return hashlib.sha256(f"{session}/{data_identity(data)}/{key!r}".encode()).hexdigest()[:16]


def data_identity(data: HeteroData) -> int:
    """Return what tells this object of data from others that live."""
    return id(data)


def on_job_end(job: Job) -> None:
    """Keep what a job found, whether or not anybody is looking."""
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
        get_or_compute(data, asked.key, lambda: result, asked.also)
    # Only now: who sees that nobody is at it any more finds it there.
    with _LOCK:
        asked = _PENDING.pop(id, None)
        if asked is None:
            return
        # What failed is told on the page, whoever asked for it.
        if asked.redraw or isinstance(result, HetvizError):
            _N_ARRIVED[asked.session] = _N_ARRIVED.get(asked.session, 0) + 1
            while len(_N_ARRIVED) > _MAX_COUNTED_SESSIONS:
                _N_ARRIVED.pop(next(iter(_N_ARRIVED)))


def n_arrived(session: str) -> int:
    """Return how much has been found out for a session; the page shows it once it is more."""
    return _N_ARRIVED.get(session, 0)


def is_working(session: str) -> bool:
    """Whether something is being found out that the page of a session waits for."""
    with _LOCK:
        return any(pending.session == session and pending.redraw for pending in _PENDING.values())
