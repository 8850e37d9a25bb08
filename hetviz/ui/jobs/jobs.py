"""Jobs of all visitors of a server: start, follow, cancel, and what happens at their end."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable, Mapping
from enum import Enum

from hetviz.jobs import Job, Pool, Task
from hetviz.jobs.frame import Frame

OnEnd = Callable[[Job], None]


class Kind(Enum):
    """Purpose of a job. Jobs that nobody requested yield to requested ones."""

    REQUESTED = "requested"
    PREVIEW = "preview"
    SEARCH = "search"
    RESULT = "result"
    SPREAD = "spread"
    REVIEW = "review"  # Requested for files that are not opened yet.


class Jobs:
    """Jobs of a server. Owners are project ids, and only the owner sees a job.

    `runner`: None outside a server, for example in notebooks.
    """

    def __init__(self) -> None:
        self.runner: Pool | None = None
        self._lock = threading.Lock()
        # Jobs whose end was not handled yet.
        self._open: dict[str, tuple[Kind, OnEnd]] = {}

    def use_pool(self, workers: int) -> None:
        """Run jobs in worker processes; see `Pool`."""
        self.runner = Pool(self.on_end, workers)

    def start(
        self,
        owner: str,
        kind: Kind,
        title: str,
        task: Task,
        on_end: OnEnd,
        note: Mapping[str, object] | None = None,
        id: str | None = None,
    ) -> None:
        """Queue a task; `on_end` is called on another thread before its owner sees the end."""
        id = id or secrets.token_hex(8)
        with self._lock:
            self._open[id] = kind, on_end
        self._runner().submit(owner, title, task, note, id)

    def on_end(self, job: Job) -> None:
        """Call what the starter of a job gave for its end; called by the runner."""
        with self._lock:
            _, on_end = self._open.get(job.id, (None, None))
        try:
            if on_end is not None:
                on_end(job)
        finally:
            with self._lock:
                self._open.pop(job.id, None)

    def active(self, owner: str, *kinds: Kind) -> list[Job]:
        """Return the owner's jobs of these kinds that have not ended, oldest first."""
        return [job for job in self.forget_ended(owner) if self._kind(job.id) in kinds]

    def forget_ended(self, owner: str) -> list[Job]:
        """Drop the owner's ended jobs, whose results are stored elsewhere; return the others."""
        jobs = self._runner().jobs(owner)
        for job in jobs:
            if not job.is_active:
                self._runner().take(job.id, owner)
        return [job for job in jobs if job.is_active]

    def get(self, id: str, owner: str) -> Job | None:
        return self._runner().get(id, owner)

    def frame(self, id: str, owner: str, after: int) -> Frame | None:
        """Return the newest partial layout of a job if it is later than `after`."""
        return self._runner().frame(id, owner, after)

    def cancel(self, owner: str, *kinds: Kind) -> None:
        """Stop the owner's jobs of these kinds."""
        for job in self.active(owner, *kinds):
            self._runner().cancel(job.id, owner)

    def cancel_all(self, owner: str) -> None:
        self.cancel(owner, *Kind)

    def cancel_job(self, id: str, owner: str) -> None:
        self._runner().cancel(id, owner)

    def warm(self) -> None:
        """Prepare for the first job, without waiting."""
        self._runner().warm()

    def load(self) -> tuple[int, int, int]:
        """Return the number of workers, of running and of waiting jobs."""
        workers = len(self.runner.worker_pids) if isinstance(self.runner, Pool) else 1
        return (workers, *self._runner().load())

    def end_idle_workers(self, after: float) -> None:
        """End workers that were idle for `after` seconds."""
        if isinstance(self.runner, Pool):
            self.runner.end_idle_workers(after)

    def close(self) -> None:
        """End all workers."""
        if isinstance(self.runner, Pool):
            self.runner.close()

    def _kind(self, id: str) -> Kind | None:
        with self._lock:
            kind, _ = self._open.get(id, (None, None))
        return kind

    def _runner(self) -> Pool:
        if self.runner is None:
            raise RuntimeError("Jobs need a server.")
        return self.runner


# One for the server. A module value, so that clearing a cache cannot drop it.
JOBS = Jobs()
