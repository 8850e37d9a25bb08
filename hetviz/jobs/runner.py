"""What the app knows of long work: tasks go in, snapshots of jobs come out.

Nothing here says where the work runs. A task names its function by import path and carries its
arguments, so that another process can run it as well as a thread of this one.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, cast

from hetviz.core.threads import one_thread
from hetviz.errors import HetvizError
from hetviz.jobs.results import Frame
from hetviz.progress import Progress

JobState = Literal["waiting", "running", "done", "failed", "cancelled"]
LIVE: frozenset[JobState] = frozenset({"waiting", "running"})
JobPart = tuple[str, float, str]


@dataclass(frozen=True)
class Task:
    """One call to make.

    Attributes
    ----------
    function : str
        ``"package.module:name"``; it is called with the arguments and with ``progress=``.
    arguments : mapping of str to object
    first_frame : bytes or None
        What is to be seen before the task begins, as the layout of a `Frame`: its job has that as
        the first partial layout from the moment it is submitted.
    """

    function: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    first_frame: bytes | None = None

    @one_thread()
    def run(self, progress: Progress) -> object:
        """Make the call and return what it returns."""
        module, _, name = self.function.partition(":")
        function: Callable[..., Any] = getattr(importlib.import_module(module), name)
        return function(**self.arguments, progress=progress)


@dataclass(frozen=True)
class Job:
    """A snapshot of one job.

    Attributes
    ----------
    id, owner, title : str
        The owner is a session's id; a job is shown to its owner only.
    state : {"waiting", "running", "done", "failed", "cancelled"}
    fraction : float
        Share of the work done, 0 to 1.
    message : str
        What is being done.
    seconds_left : float or None
        None until it can be told.
    ahead : int
        Jobs that run before this one while it waits.
    result : object
        What the task returned, once done; of a cancelled one, what its `Cancelled` had as
        ``partial``, if it came to that.
    error : HetvizError or None
        Why it failed; an unexpected failure is wrapped in a plain sentence.
    note : mapping
        What the submitter wanted to find again beside the result.
    seq : int
        Partial layouts so far.
    parts : tuple of (title, fraction, state)
        The parts of work that has several, as the task last told of them; see `normalise_parts`.
    processor_s : float
        Processor seconds that it took, once over; 0 where its process did not live to tell.
    """

    id: str
    owner: str
    title: str
    state: JobState = "waiting"
    fraction: float = 0.0
    message: str = ""
    seconds_left: float | None = None
    ahead: int = 0
    result: Any = None
    error: HetvizError | None = None
    note: Mapping[str, Any] = field(default_factory=dict)
    seq: int = 0
    parts: tuple[JobPart, ...] = ()
    processor_s: float = 0.0

    @property
    def is_active(self) -> bool:
        """Whether it waits or runs."""
        return self.state in LIVE


class Runner(Protocol):
    """Runs tasks one at a time, in the order in which they came."""

    def warm(self) -> None:
        """Get ready for the first task; returns at once."""
        ...

    def submit(
        self,
        owner: str,
        title: str,
        task: Task,
        note: Mapping[str, object] | None = None,
        id: str | None = None,
    ) -> str:
        """Queue a task and return the job's id, which the caller may choose (a new one)."""
        ...

    def get(self, id: str, owner: str) -> Job | None:
        """Return a job of this owner, or None."""
        ...

    def frame(self, id: str, owner: str, after: int = 0) -> Frame | None:
        """Return the newest partial layout of a job of this owner if it is later than `after`."""
        ...

    def cancel(self, id: str, owner: str) -> None:
        """Ask a job of this owner to stop; a waiting one does not start any more."""
        ...

    def jobs(self, owner: str) -> list[Job]:
        """Return the owner's jobs, oldest first."""
        ...

    def load(self) -> tuple[int, int]:
        """Return how many jobs run and how many wait."""
        ...

    def take(self, id: str, owner: str) -> Job | None:
        """Return a job of this owner that is over, once: it is forgotten then."""
        ...


def seconds_left(fraction: float, elapsed: float) -> float | None:
    """Estimate the seconds left from the share done; None before there is a basis for it."""
    if fraction < 0.02 or elapsed < 0.5:
        return None
    return elapsed * (1.0 - fraction) / fraction


def normalise_parts(parts: object) -> tuple[JobPart, ...]:
    """Return the parts that a task told of (title, fraction, state), in their plain form."""
    return tuple(
        (str(title), min(max(float(fraction), 0.0), 1.0), str(state))
        for title, fraction, state in cast("Iterable[JobPart]", parts)
    )
