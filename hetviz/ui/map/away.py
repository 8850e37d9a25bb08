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
from hetviz.progress import silent
from hetviz.ui.map.array_cache import forget, kept, known

log = logging.getLogger(__name__)
T = TypeVar("T")

_WHAT = {
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

LARGE = 60_000
"""Items and links together, from which on nobody waits for what depends on all of them."""

# Takes the session, an id for the job and the task; says whether the job was taken on. The app's.
SEND: list[Callable[[str, str, Task], bool]] = []

# Takes what is to be done beside the page: a thread of its own, unless a test would rather wait.
START: list[Callable[[Callable[[], None]], object]] = [
    lambda work: threading.Thread(target=work, name="make-ready", daemon=True).start()
]
# What one of them makes another may need, and would make a second time.
ONE_BY_ONE = threading.Lock()
_PATIENCE = 0.3
"""Seconds that a page waits for what is made beside it, so that it need not be drawn twice."""


class Failed(HetvizError):
    """A worker could not find something out.

    Attributes
    ----------
    what : str
        What it was doing, in words.
    why : str
    again : callable
        Forgets it, so that it is asked for once more when the page is drawn.
    """

    def __init__(self, what: str, why: str, again: Callable[[], None]) -> None:
        super().__init__(f"{what} failed: {why}")
        self.what, self.why, self.again = what, why, again


@dataclass(frozen=True, eq=False)
class _Asked:
    of: ReferenceType[HeteroData]
    key: Hashable
    also: object
    session: str
    seen: bool


_ASKED: dict[str, _Asked] = {}
_ARRIVED: dict[str, int] = {}
_MOST_COUNTED = 2_000
_LOCK = threading.Lock()


def large(data: HeteroData) -> bool:
    """Whether what depends on all items or links is left to the worker."""
    return data.n_rows + sum(map(len, data.links)) > LARGE


def found(
    session: str,
    data: HeteroData,
    key: Hashable,
    task: str,
    arguments: Mapping[str, Any],
    also: object = None,
    *,
    seen: bool = True,
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
    seen : bool
        Whether the page shall be drawn anew once it is there.

    Raises
    ------
    Failed
        Where the worker could not find it out.
    """
    if not SEND or not large(data):
        work = Task(task, {"data": data, **arguments})
        return kept(data, key, lambda: work.run(silent), also)
    there = known(data, key)
    refused = failure(data, key, task)
    if refused is not None:
        raise refused
    if there is None:
        id = _id(session, data, key)
        with _LOCK:
            before = _ASKED.get(id)
            _ASKED[id] = _Asked(ref(data), key, also, session, seen or bool(before and before.seen))
        if before is None and not SEND[0](session, id, Task(task, {"data": data, **arguments})):
            with _LOCK:
                _ASKED.pop(id, None)
    return there


def failure(data: HeteroData, key: Hashable, task: str) -> Failed | None:
    """Return why a worker could not find something out, if that is known; nobody is sent for it."""
    there = known(data, key)
    if not isinstance(there, HetvizError):
        return None
    what = _WHAT.get(task.partition(":")[2], "What was to be found out")
    return Failed(what, str(there), partial(forget, data, key))


def made(session: str, data: HeteroData, key: Hashable, make: Callable[[], T], also: object) -> T:
    """Return what `make` gives, made beside the page where data are large; None until it is there.

    For what the page itself must hold, and a worker would take as long to send as to make. `make`
    may not ask for the session that a page has; the others as in `found`.

    Raises
    ------
    Failed
        Where it could not be made.
    """
    if not SEND or not large(data):
        return kept(data, key, make, also)
    there = known(data, key)
    if isinstance(there, HetvizError):
        raise Failed("Reading what was said", str(there), partial(forget, data, key))
    if there is None:
        id, over = _id(session, data, key), threading.Event()

        def work() -> None:
            with ONE_BY_ONE:
                result: object
                try:
                    result = make()
                except HetvizError as error:
                    result = error
                except Exception:
                    log.exception("What a page waits for could not be made")
                    result = HetvizError("the app came to an end of its own here; its log says why")
            _keep(id, result)
            over.set()

        with _LOCK:
            first = id not in _ASKED
            _ASKED.setdefault(id, _Asked(ref(data), key, also, session, seen=not first))
        if first:
            START[0](work)
            over.wait(_PATIENCE)
        with _LOCK:
            if id in _ASKED:
                _ASKED[id] = replace(_ASKED[id], seen=True)
        there = known(data, key)
    return there  # type: ignore[no-any-return]


def _id(session: str, data: HeteroData, key: Hashable) -> str:
    return hashlib.sha256(f"{session}/{id_of(data)}/{key!r}".encode()).hexdigest()[:16]


def id_of(data: HeteroData) -> int:
    """Return what tells this object of data from others that live."""
    return id(data)


def ended(job: Job) -> None:
    """Keep what a job found, whether or not anybody is looking."""
    if job.state == "cancelled":
        with _LOCK:
            _ASKED.pop(job.id, None)
        return
    _keep(job.id, job.result if job.state == "done" else job.error)


def _keep(id: str, result: object) -> None:
    with _LOCK:
        asked = _ASKED.get(id)
    data = None if asked is None else asked.of()
    if asked is not None and data is not None:
        kept(data, asked.key, lambda: result, asked.also)
    # Only now: who sees that nobody is at it any more finds it there.
    with _LOCK:
        asked = _ASKED.pop(id, None)
        if asked is None:
            return
        # What failed is told on the page, whoever asked for it.
        if asked.seen or isinstance(result, HetvizError):
            _ARRIVED[asked.session] = _ARRIVED.get(asked.session, 0) + 1
            while len(_ARRIVED) > _MOST_COUNTED:
                _ARRIVED.pop(next(iter(_ARRIVED)))


def arrived(session: str) -> int:
    """Return how much has been found out for a session; the page shows it once it is more."""
    return _ARRIVED.get(session, 0)


def at_work(session: str) -> bool:
    """Whether something is being found out that the page of a session waits for."""
    with _LOCK:
        return any(one.session == session and one.seen for one in _ASKED.values())
