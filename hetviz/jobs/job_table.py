"""Table of jobs: snapshots by id, visible to their owner only."""

from __future__ import annotations

import logging
import secrets
import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from hetviz.jobs.frame import Frame
from hetviz.jobs.runner import Job, Task

log = logging.getLogger(__name__)

# Maximum number of finished jobs; the oldest are removed first.
_MAX_FINISHED = 100


class JobTable:
    """Base of runners: the jobs and their partial layouts."""

    def __init__(self, on_end: Callable[[Job], None] | None = None) -> None:
        self._on_end = on_end
        self._lock = threading.RLock()
        self._jobs: dict[str, Job] = {}
        self._frames: dict[str, Frame] = {}
        # Jobs to stop.
        self._cancelled: set[str] = set()

    def get(self, id: str, owner: str) -> Job | None:
        """Return a job of this owner, or None."""
        with self._lock:
            job = self._jobs.get(id)
        return job if job is not None and job.owner == owner else None

    def load(self) -> tuple[int, int]:
        """Return the number of running and of waiting jobs."""
        with self._lock:
            states = [job.state for job in self._jobs.values()]
        return states.count("running"), states.count("waiting")

    def jobs(self, owner: str) -> list[Job]:
        """Return the owner's jobs, oldest first."""
        with self._lock:
            return [job for job in self._jobs.values() if job.owner == owner]

    def frame(self, id: str, owner: str, after: int = 0) -> Frame | None:
        """Return the newest partial layout of a job of this owner if it is later than `after`."""
        with self._lock:
            frame = self._frames.get(id) if self.get(id, owner) is not None else None
        return frame if frame is not None and frame.seq > after else None

    def take(self, id: str, owner: str) -> Job | None:
        """Return and remove a finished job of this owner."""
        with self._lock:
            job = self.get(id, owner)
            if job is None or job.is_active:
                return None
            self._forget(id)
            return job

    def cancel(self, id: str, owner: str) -> None:
        """Ask a job of this owner to stop. A waiting job never starts."""
        with self._lock:
            job = self.get(id, owner)
            if job is not None and job.is_active:
                self._cancelled.add(id)

    def _add_job(
        self, owner: str, title: str, task: Task, note: Mapping[str, object] | None, id: str | None
    ) -> str:
        id = id or secrets.token_hex(8)
        with self._lock:
            if id in self._jobs:
                raise ValueError(f"Job {id!r} already exists.")
            self._jobs[id] = Job(id, owner, title, note=dict(note or {}))
            if task.first_frame is not None:
                self._keep_frame(id, task.first_frame)
        return id

    def _forget(self, id: str) -> None:
        del self._jobs[id]
        self._frames.pop(id, None)
        self._cancelled.discard(id)

    def _change(self, id: str, **fields: Any) -> None:
        with self._lock:
            self._jobs[id] = replace(self._jobs[id], **fields)

    def _keep_frame(self, id: str, layout: bytes) -> None:
        with self._lock:
            seq = self._jobs[id].seq + 1
            self._frames[id] = Frame(seq, layout)
            self._change(id, seq=seq)

    def _end_job(self, id: str, **fields: Any) -> None:
        """Call `on_end` with the finished job, then publish it."""
        with self._lock:
            job = replace(self._jobs[id], ahead=0, seconds_left=None, **fields)
        if self._on_end is not None:
            try:
                self._on_end(job)
            except Exception:
                log.exception("The handler for the end of a job failed: %s", job.title)
        with self._lock:
            self._jobs[id] = job
            finished = [id for id, job in self._jobs.items() if not job.is_active]
            for old in finished[: max(0, len(finished) - _MAX_FINISHED)]:
                self._forget(old)
