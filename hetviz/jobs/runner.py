"""Tasks and jobs of runners: tasks go in, snapshots of jobs come out.

A task is an id and arguments, so it can run in any process.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from hetviz.errors import HetvizError
from hetviz.jobs.registry import TASKS
from hetviz.progress import Progress
from hetviz.workers.progress import Part
from hetviz.workers.worker import run_function

# No time is estimated before this share of the work and this time.
_MIN_FRACTION, _MIN_ELAPSED_S = 0.05, 1.0
# An estimate follows a change of speed within this time, or this share of the time left.
_MIN_REACTION_S, _REACTION_SHARE = 3.0, 0.1
# The time left rises only by more than this.
_RISE_RATIO, _MIN_RISE_S = 1.25, 5.0

JobState = Literal["waiting", "running", "done", "failed", "cancelled"]
LIVE: frozenset[JobState] = frozenset({"waiting", "running"})


@dataclass(frozen=True)
class Task:
    """A task of the registry with its arguments, to run as a job."""

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
        return self.state in LIVE


class TimeLeft:
    """A steady estimate of the seconds left of one job."""

    def __init__(self) -> None:
        self._started_at = self._updated_at = time.monotonic()
        self._smoothed = 0.0
        self._shown: float | None = None

    def update(self, fraction: float, now: float | None = None) -> float | None:
        """Return the seconds left at a share of the work done; None while it is too early."""
        at = time.monotonic() if now is None else now
        elapsed, passed = at - self._started_at, at - self._updated_at
        if fraction < _MIN_FRACTION or elapsed < _MIN_ELAPSED_S:
            return None
        self._updated_at = at
        estimate = elapsed * (1.0 - fraction) / fraction
        if self._shown is None:
            self._smoothed = self._shown = estimate
            return estimate
        expected = max(0.0, self._smoothed - passed)
        reaction = max(_MIN_REACTION_S, _REACTION_SHARE * estimate)
        self._smoothed = expected + (1.0 - math.exp(-passed / reaction)) * (estimate - expected)
        is_longer = self._smoothed > max(_RISE_RATIO * self._shown, self._shown + _MIN_RISE_S)
        if is_longer or self._smoothed < self._shown:
            self._shown = self._smoothed
        return self._shown
