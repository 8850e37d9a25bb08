"""What takes the longer the more items there are: worked out in the worker, kept with the data.

Of small data it is worked out at once. Without the app (in a notebook) there is no worker, and of
large data too.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import Any
from weakref import ReferenceType, ref

from hetviz.data import HeteroData
from hetviz.errors import HetvizError
from hetviz.jobs import Job, Task
from hetviz.progress import silent
from hetviz.ui.map.array_cache import kept, known

LARGE = 60_000
"""Items and links together, from which on nobody waits for what depends on all of them."""

# Takes the session, an id for the job and the task; says whether the job was taken on. The app's.
SEND: list[Callable[[str, str, Task], bool]] = []


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
    hetviz.errors.HetvizError
        Where the worker could not find it out.
    """
    if not SEND or not large(data):
        work = Task(task, {"data": data, **arguments})
        return kept(data, key, lambda: work.run(silent), also)
    there = known(data, key)
    if isinstance(there, HetvizError):
        raise there
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
