"""What takes the longer the more items there are: worked out in the worker, kept with the data.

Of small data it is worked out at once. Without the app (in a notebook) there is no worker, and of
large data too.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any
from weakref import ReferenceType, ref

from hetviz.data import HeteroData
from hetviz.errors import HetvizError
from hetviz.jobs import Job, Task
from hetviz.progress import silent
from hetviz.ui.map.array_cache import forget, kept, known

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
    if isinstance(there, HetvizError):
        what = _WHAT.get(task.partition(":")[2], "What was to be found out")
        raise Failed(what, str(there), partial(forget, data, key))
    if there is None:
        id = hashlib.sha256(f"{session}/{id_of(data)}/{key!r}".encode()).hexdigest()[:16]
        with _LOCK:
            before = _ASKED.get(id)
            _ASKED[id] = _Asked(ref(data), key, also, session, seen or bool(before and before.seen))
        if before is None and not SEND[0](session, id, Task(task, {"data": data, **arguments})):
            with _LOCK:
                _ASKED.pop(id, None)
    return there


def id_of(data: HeteroData) -> int:
    """Return what tells this object of data from others that live."""
    return id(data)


def ended(job: Job) -> None:
    """Keep what a job found, whether or not anybody is looking."""
    with _LOCK:
        asked = _ASKED.pop(job.id, None)
        if asked is None or job.state == "cancelled":
            return
        if asked.seen:
            _ARRIVED[asked.session] = _ARRIVED.get(asked.session, 0) + 1
            while len(_ARRIVED) > _MOST_COUNTED:
                _ARRIVED.pop(next(iter(_ARRIVED)))
    data = asked.of()
    if data is not None:
        result = job.result if job.state == "done" else job.error
        kept(data, asked.key, lambda: result, asked.also)


def arrived(session: str) -> int:
    """Return how much has been found out for a session; the page shows it once it is more."""
    return _ARRIVED.get(session, 0)


def at_work(session: str) -> bool:
    """Whether something is being found out that the page of a session waits for."""
    with _LOCK:
        return any(one.session == session and one.seen for one in _ASKED.values())
