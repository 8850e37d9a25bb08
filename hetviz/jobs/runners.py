"""Two runners: at once in the caller (tests, scripts), and on one thread behind a queue."""

from __future__ import annotations

import logging
import secrets
import threading
import time
from collections import deque
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from hetviz.errors import Cancelled, HetvizError
from hetviz.jobs.runner import UNEXPECTED, Job, Task, seconds_left

log = logging.getLogger(__name__)


class _Jobs:
    """The book of jobs: snapshots by id, replaced under a lock, seen by their owner only."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._book: dict[str, Job] = {}
        self._stop: dict[str, threading.Event] = {}

    def get(self, id: str, owner: str) -> Job | None:
        """Return a job of this owner, or None."""
        with self._lock:
            job = self._book.get(id)
        return job if job is not None and job.owner == owner else None

    def jobs(self, owner: str) -> list[Job]:
        """Return the owner's jobs, oldest first."""
        with self._lock:
            return [job for job in self._book.values() if job.owner == owner]

    def take(self, id: str, owner: str) -> Job | None:
        """Return a job of this owner that is over, once: it is forgotten then."""
        with self._lock:
            job = self._book.get(id)
            if job is None or job.owner != owner or job.live:
                return None
            del self._stop[id]
            return self._book.pop(id)

    def _new(self, owner: str, title: str, note: Mapping[str, Any] | None) -> str:
        id = secrets.token_hex(8)
        with self._lock:
            self._book[id] = Job(id, owner, title, note=dict(note or {}))
            self._stop[id] = threading.Event()
        return id

    def _change(self, id: str, **fields: Any) -> None:
        with self._lock:
            self._book[id] = replace(self._book[id], **fields)

    def _run(self, id: str, task: Task) -> None:
        began = time.monotonic()
        self._change(id, state="running", ahead=0)

        def progress(fraction: float, message: str = "", **figures: Any) -> None:
            if self._stop[id].is_set():
                raise Cancelled("Stopped.")
            left = seconds_left(fraction, time.monotonic() - began)
            self._change(id, fraction=fraction, message=message, seconds_left=left)

        try:
            progress(0.0, "Starting")
            result = task.run(progress)
        except Cancelled:
            self._change(id, state="cancelled", seconds_left=None)
        except HetvizError as error:
            self._change(id, state="failed", error=error, seconds_left=None)
        except Exception:
            log.exception("A task failed: %s", task.function)
            self._change(id, state="failed", error=HetvizError(UNEXPECTED), seconds_left=None)
        else:
            self._change(id, state="done", fraction=1.0, result=result, seconds_left=None)


class InlineRunner(_Jobs):
    """Runs each task inside `submit`; it can be stopped only from within the task."""

    def submit(
        self, owner: str, title: str, task: Task, note: Mapping[str, Any] | None = None
    ) -> str:
        """Run the task and return the job's id; the job is over by then."""
        id = self._new(owner, title, note)
        self._run(id, task)
        return id

    def cancel(self, id: str, owner: str) -> None:
        """Do nothing: a job is over before its id is known."""


class ThreadRunner(_Jobs):
    """Runs tasks on one daemon thread, in order; cancel works at the next progress report."""

    def __init__(self) -> None:
        super().__init__()
        self._queue: deque[tuple[str, Task]] = deque()
        self._work = threading.Condition(self._lock)
        self._thread: threading.Thread | None = None

    def submit(
        self, owner: str, title: str, task: Task, note: Mapping[str, Any] | None = None
    ) -> str:
        """Queue a task and return the job's id."""
        id = self._new(owner, title, note)
        with self._work:
            self._queue.append((id, task))
            if self._thread is None:
                self._thread = threading.Thread(target=self._loop, name="hetviz-jobs", daemon=True)
                self._thread.start()
            self._tell_places()
            self._work.notify()
        return id

    def cancel(self, id: str, owner: str) -> None:
        """Ask a job of this owner to stop; a waiting one stops at once."""
        with self._work:
            job = self._book.get(id)
            if job is None or job.owner != owner or not job.live:
                return
            self._stop[id].set()
            if job.state == "waiting":
                self._queue = deque(entry for entry in self._queue if entry[0] != id)
                self._book[id] = replace(job, state="cancelled", ahead=0)
                self._tell_places()

    def _loop(self) -> None:
        while True:
            with self._work:
                while not self._queue:
                    self._work.wait()
                id, task = self._queue.popleft()
                # Under the same lock, so that a cancel finds it either waiting or running.
                self._book[id] = replace(self._book[id], state="running")
                self._tell_places()
            self._run(id, task)

    def _tell_places(self) -> None:
        running = sum(job.state == "running" for job in self._book.values())
        for place, (id, _) in enumerate(self._queue):
            self._book[id] = replace(self._book[id], ahead=place + running)
