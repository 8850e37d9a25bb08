"""Interface of job runners: tasks go in, snapshots of jobs come out.

A task is an id and arguments, so it can run in any process.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from hetviz.errors import HetvizError
from hetviz.jobs.frame import Frame
from hetviz.jobs.registry import TASKS
from hetviz.progress import Progress
from hetviz.workers.progress import Part
from hetviz.workers.worker import run_function

JobState = Literal["waiting", "running", "done", "failed", "cancelled"]
LIVE: frozenset[JobState] = frozenset({"waiting", "running"})


@dataclass(frozen=True)
class Task:
    """A task of the registry with its arguments, to run as a job.

    Attributes
    ----------
    task : str
        Its id in `hetviz.jobs.registry.TASKS`.
    arguments : mapping of str to object
    first_frame : bytes or None
        First partial layout, available as soon as the job is submitted; see `Frame`.
    """

    task: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    first_frame: bytes | None = None

    @property
    def function(self) -> str:
        """The function that a worker calls, as ``module:function``."""
        return TASKS[self.task].function

    def run(self, progress: Progress) -> object:
        """Call the function and return its result."""
        return run_function(self.function, self.arguments, progress)


@dataclass(frozen=True)
class Job:
    """A snapshot of one job."""

    # `id`, `owner`, `title`: the owner is a session id. Only the owner sees a job.
    id: str
    owner: str
    title: str
    state: JobState = "waiting"  # One of {"waiting", "running", "done", "failed", "cancelled"}.
    fraction: float = 0.0  # Share of the work done, 0 to 1.
    message: str = ""  # Current step.
    seconds_left: float | None = None  # None until it can be estimated.
    ahead: int = 0  # Number of jobs before this one in the queue.
    # Result of a finished task; of a cancelled one, ``partial`` of its `Cancelled`.
    result: Any = None
    error: HetvizError | None = None  # Reason of the failure, in plain words.
    # Information of the submitter, returned with the job.
    note: Mapping[str, Any] = field(default_factory=dict)
    seq: int = 0  # Number of partial layouts so far.
    # Latest state of the parts of the work; see `hetviz.workers.progress.normalise_parts`.
    parts: tuple[Part, ...] = ()
    processor_s: float = 0.0  # Processor seconds of a finished job; 0 if its process crashed.

    @property
    def is_active(self) -> bool:
        """Whether the job is waiting or running."""
        return self.state in LIVE


class Runner(Protocol):
    """Runs tasks one at a time, in the order of submission."""

    def warm(self) -> None:
        """Prepare for the first task, without waiting."""
        ...

    def submit(
        self,
        owner: str,
        title: str,
        task: Task,
        note: Mapping[str, object] | None = None,
        id: str | None = None,
    ) -> str:
        """Queue a task and return the job's id, which the caller may choose."""
        ...

    def get(self, id: str, owner: str) -> Job | None:
        """Return a job of this owner, or None."""
        ...

    def frame(self, id: str, owner: str, after: int = 0) -> Frame | None:
        """Return the newest partial layout of a job of this owner if it is later than `after`."""
        ...

    def cancel(self, id: str, owner: str) -> None:
        """Ask a job of this owner to stop. A waiting job never starts."""
        ...

    def jobs(self, owner: str) -> list[Job]:
        """Return the owner's jobs, oldest first."""
        ...

    def load(self) -> tuple[int, int]:
        """Return the number of running and of waiting jobs."""
        ...

    def take(self, id: str, owner: str) -> Job | None:
        """Return and remove a finished job of this owner."""
        ...


def seconds_left(fraction: float, elapsed: float) -> float | None:
    """Estimate the seconds left from the share done; None while it is too early."""
    if fraction < 0.02 or elapsed < 0.5:
        return None
    return elapsed * (1.0 - fraction) / fraction
