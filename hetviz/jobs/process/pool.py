"""Several workers behind one queue that is fair to each visitor.

A job goes to a worker only when one is free, so that no job waits behind a long one while another
worker has nothing to do. Of those that wait, the next is of the visitor with the fewest jobs under
way, and among these of the one whose last job began longest ago: a visitor with fifty jobs does not
hold up one with a single job.
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
    """Return how many workers to run: as asked, or half of the processors, 2 to 8."""
    return requested or max(_MIN_WORKERS, min(_MAX_WORKERS, (os.cpu_count() or 1) // 2))


class Pool:
    """Runs tasks in several worker processes; see `hetviz.jobs.runner.Runner`.

    The first worker is kept ready; the others start when they are needed, and `end_idle_workers` ends them.

    Parameters
    ----------
    on_end : callable, optional
        As for `ProcessRunner`; called on the thread of the worker's manager.
    workers : int
        0 takes what `n_workers` returns.
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
        """The process numbers of the workers that are there."""
        return [lane.worker_pid for lane in self._workers if lane.worker_pid is not None]

    def load(self) -> tuple[int, int]:
        """Return how many jobs run and how many wait."""
        with self._lock:
            return len(self._busy), len(self._waiting)

    def warm(self) -> None:
        """Get the first worker ready; returns at once."""
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
                raise ValueError(f"There is a job {job.id!r} already.")
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
            begun = [job for lane in self._workers for job in lane.jobs(owner)]
            order = {id: place for place, id in enumerate(self._worker_of_job)}
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
        lane = self._worker_of_job.get(id)
        return None if lane is None else lane.frame(id, owner, after)

    def take(self, id: str, owner: str) -> Job | None:
        """Return a job of this owner that is over, once: it is forgotten then."""
        with self._lock:
            lane = self._worker_of_job.get(id)
            taken = None if lane is None else lane.take(id, owner)
            if taken is not None:
                del self._worker_of_job[id]
            return taken

    def cancel(self, id: str, owner: str) -> None:
        """Ask a job of this owner to stop; a waiting one does not start any more."""
        with self._lock:
            lane = self._worker_of_job.get(id)
            waiting = self._waiting.get(id)
            if waiting is not None and waiting[0].owner == owner:
                # It ends as a job of a worker that never begins, so that all is told as usual.
                job, _ = self._waiting.pop(id)
                self._worker_of_job[id] = lane = self._workers[0]
                lane.add_cancelled(job)
        if lane is not None:
            lane.cancel(id, owner)

    def end_idle_workers(self, after: float) -> int:
        """End the workers beyond the first that had nothing to do for `after` seconds."""
        n, now = 0, time.monotonic()
        with self._lock:
            # Those who began nothing for so long go first, as those do who never began anything.
            self._started_at = {
                owner: started_at
                for owner, started_at in self._started_at.items()
                if now - started_at <= after
            }
            for number in range(1, len(self._workers)):
                lane = self._workers[number]
                idle = number not in self._busy and now - self._idle_since[number] > after
                if idle and lane.worker_pid is not None:
                    lane.end_worker()
                    n += 1
        return n

    def close(self) -> None:
        """End all workers."""
        self._closed = True
        for lane in self._workers:
            lane.close()

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
            # One that is there already is ready sooner.
            number = min(free, key=lambda n: (self._workers[n].worker_pid is None, n))
            job, task = self._waiting.pop(self._order()[0])
            self._busy[number], self._started_at[job.owner] = job.id, time.monotonic()
            self._worker_of_job[job.id] = self._workers[number]
            for old in [id for id, lane in self._worker_of_job.items() if not lane.has_job(id)]:
                if old != job.id:
                    del self._worker_of_job[old]
            self._workers[number].submit(job.owner, job.title, task, job.note, job.id)

    def _order(self) -> list[str]:
        """Return the waiting jobs in the order in which they would begin."""
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
        lane = self._worker_of_job.get(id)
        return "" if lane is None else lane.owner_of(id)

    def _with_position(self, job: Job) -> Job:
        ahead = self._order().index(job.id) + 1
        return replace(job, ahead=ahead)

    def _find_job(self, id: str, owner: str) -> Job | None:
        lane = self._worker_of_job.get(id)
        return None if lane is None else lane.get(id, owner)
