"""Several workers behind one queue that is fair to every visitor.

A job is assigned only when a worker is free. The next job belongs to the visitor with the fewest
running jobs, and among these to the one whose last job started longest ago, so a visitor with many
jobs does not block others.
"""

from __future__ import annotations

import os
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace

from hetviz.jobs.process.runner import ProcessRunner
from hetviz.jobs.results import Frame
from hetviz.jobs.runner import Job, Task

_MIN_WORKERS, _MAX_WORKERS = 2, 8


def n_workers(requested: int = 0) -> int:
    """Return the number of workers: as requested, or half of the processors, 2 to 8."""
    return requested or max(_MIN_WORKERS, min(_MAX_WORKERS, (os.cpu_count() or 1) // 2))


class Pool:
    """Runs tasks in several worker processes; see `hetviz.jobs.runner.Runner`.

    The first worker stays ready. Others start when needed, and `end_idle_workers` ends them.

    Parameters
    ----------
    on_end : callable, optional
        See `ProcessRunner`; called on the thread of the worker's manager.
    workers : int
        Number of workers; 0 for the default of `n_workers`.
    """

    def __init__(self, on_end: Callable[[Job], None] | None = None, workers: int = 0) -> None:
        self._on_end = on_end
        self._lock = threading.RLock()
        self._workers = [self._make_worker(number) for number in range(n_workers(workers))]
        self._worker_of_job: dict[str, ProcessRunner] = {}
        self._waiting: dict[str, tuple[Job, Task]] = {}
        self._busy: dict[int, str] = {}
        self._started_at: dict[str, float] = {}
        self._idle_since = [time.monotonic()] * len(self._workers)
        self._closed = False

    @property
    def worker_pids(self) -> list[int]:
        """Process ids of the running workers."""
        return [worker.worker_pid for worker in self._workers if worker.worker_pid is not None]

    def load(self) -> tuple[int, int]:
        """Return the number of running and of waiting jobs."""
        with self._lock:
            return len(self._busy), len(self._waiting)

    def warm(self) -> None:
        """Prepare the first worker, without waiting."""
        self._workers[0].warm()

    def submit(
        self,
        owner: str,
        title: str,
        task: Task,
        note: Mapping[str, object] | None = None,
        id: str | None = None,
    ) -> str:
        """Queue a task and return the job's id."""
        seq = 0 if task.first_frame is None else 1
        job = Job(id or os.urandom(8).hex(), owner, title, note=dict(note or {}), seq=seq)
        with self._lock:
            if job.id in self._waiting or self._find_job(job.id, owner) is not None:
                raise ValueError(f"Job {job.id!r} already exists.")
            self._waiting[job.id] = (job, task)
            self._dispatch()
        return job.id

    def get(self, id: str, owner: str) -> Job | None:
        """Return a job of this owner, or None."""
        with self._lock:
            if id in self._waiting:
                job = self._waiting[id][0]
                return self._with_position(job) if job.owner == owner else None
            return self._find_job(id, owner)

    def jobs(self, owner: str) -> list[Job]:
        """Return the owner's jobs, oldest first."""
        with self._lock:
            begun = [job for worker in self._workers for job in worker.jobs(owner)]
            order = {id: position for position, id in enumerate(self._worker_of_job)}
            begun.sort(key=lambda job: order.get(job.id, -1))
            mine = [job for job, _ in self._waiting.values() if job.owner == owner]
            return [*begun, *map(self._with_position, mine)]

    def frame(self, id: str, owner: str, after: int = 0) -> Frame | None:
        """Return the newest partial layout of a job of this owner if it is later than `after`."""
        with self._lock:
            job, task = self._waiting.get(id, (None, None))
            if job is not None and task is not None:
                is_new = job.owner == owner and after < job.seq and task.first_frame is not None
                return Frame(job.seq, task.first_frame or b"") if is_new else None
        worker = self._worker_of_job.get(id)
        return None if worker is None else worker.frame(id, owner, after)

    def take(self, id: str, owner: str) -> Job | None:
        """Return and remove a finished job of this owner."""
        with self._lock:
            worker = self._worker_of_job.get(id)
            job = None if worker is None else worker.take(id, owner)
            if job is not None:
                del self._worker_of_job[id]
            return job

    def cancel(self, id: str, owner: str) -> None:
        """Ask a job of this owner to stop. A waiting job never starts."""
        with self._lock:
            worker = self._worker_of_job.get(id)
            waiting = self._waiting.get(id)
            if waiting is not None and waiting[0].owner == owner:
                # A worker takes it as cancelled, so that its end is reported as usual.
                job, _ = self._waiting.pop(id)
                self._worker_of_job[id] = worker = self._workers[0]
                worker.add_cancelled(job)
        if worker is not None:
            worker.cancel(id, owner)

    def end_idle_workers(self, after: float) -> int:
        """End the workers, except the first, that were idle for `after` seconds."""
        n, now = 0, time.monotonic()
        with self._lock:
            # Owners without recent jobs have the same priority as new ones.
            self._started_at = {
                owner: started_at
                for owner, started_at in self._started_at.items()
                if now - started_at <= after
            }
            for number in range(1, len(self._workers)):
                worker = self._workers[number]
                idle = number not in self._busy and now - self._idle_since[number] > after
                if idle and worker.worker_pid is not None:
                    worker.end_worker()
                    n += 1
        return n

    def close(self) -> None:
        """End all workers."""
        self._closed = True
        for worker in self._workers:
            worker.close()

    def _make_worker(self, number: int) -> ProcessRunner:
        return ProcessRunner(lambda job: self._on_worker_end(number, job))

    def _on_worker_end(self, number: int, job: Job) -> None:
        try:
            if self._on_end is not None:
                self._on_end(job)
        finally:
            with self._lock:
                if self._busy.get(number) == job.id:
                    del self._busy[number]
                    self._idle_since[number] = time.monotonic()
                if not self._closed:
                    self._dispatch()

    def _dispatch(self) -> None:
        while self._waiting:
            free = [number for number in range(len(self._workers)) if number not in self._busy]
            if not free:
                return
            # Prefer workers that are already running.
            number = min(free, key=lambda n: (self._workers[n].worker_pid is None, n))
            job, task = self._waiting.pop(self._order()[0])
            self._busy[number], self._started_at[job.owner] = job.id, time.monotonic()
            self._worker_of_job[job.id] = self._workers[number]
            for old in [id for id, worker in self._worker_of_job.items() if not worker.has_job(id)]:
                if old != job.id:
                    del self._worker_of_job[old]
            self._workers[number].submit(job.owner, job.title, task, job.note, job.id)

    def _order(self) -> list[str]:
        """Return the waiting jobs in the order in which they would start."""
        running = Counter(
            owner for owner in (self._owner(id) for id in self._busy.values()) if owner
        )
        last_start = dict(self._started_at)
        remaining = {id: job.owner for id, (job, _) in self._waiting.items()}
        order = []
        while remaining:
            first_job: dict[str, str] = {}
            for id, owner in remaining.items():
                first_job.setdefault(owner, id)
            owner = min(
                first_job,
                key=lambda candidate: (running[candidate], last_start.get(candidate, 0.0)),
            )
            order.append(first_job[owner])
            del remaining[first_job[owner]]
            running[owner] += 1
            last_start[owner] = float("inf")
        return order

    def _owner(self, id: str) -> str:
        worker = self._worker_of_job.get(id)
        return "" if worker is None else worker.owner_of(id)

    def _with_position(self, job: Job) -> Job:
        ahead = self._order().index(job.id) + 1
        return replace(job, ahead=ahead)

    def _find_job(self, id: str, owner: str) -> Job | None:
        worker = self._worker_of_job.get(id)
        return None if worker is None else worker.get(id, owner)
